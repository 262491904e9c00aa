# C types of kernel.py, where they cannot be inferred. `_memory.pxd` has the structs.

cimport cython
from neurogym_core.play._memory cimport (
    cell_t, given_t, place_t, room_t, rules_p, rules_t, spot_t, terms_t, turn_t,
)

cdef int STAY, END, NONE, CORRECT, ERROR, ABORT, MISS, RESTING, OUTCOMES
cdef int ON, OVER, DRY, BAD_STATE, BAD_GIVEN
cdef int POSITION, MANY, MOST_BLOCKS
cdef long long NEVER
cdef double NAN
cdef int[6] BADNESS

@cython.final
@cython.no_gc_clear
cdef class Kernel:
    cdef readonly Py_ssize_t n
    cdef public unsigned long long key
    cdef public Py_ssize_t current
    cdef public object last_reward
    cdef public bint full, own
    cdef long long per_session
    cdef bint next_step, once
    cdef object deal, check, check_all, lines
    cdef object names
    cdef list period_names, blocks, locks
    cdef place_t **places
    cdef rules_t **rules
    cdef rules_t *no_rules  # NULL
    cdef turn_t *turn
    cdef room_t *room
    cdef given_t *given
    cdef Py_ssize_t n_blocks, units, ended, count
    cdef bint unchecked
    cdef object out_reward, out_over, out_never, out_seen, seen, never
    cdef object reward, performance, has_ended, over, target, period, actions, envs, rows
    cdef double *o_reward
    cdef double *o_performance
    cdef unsigned char *o_ended
    cdef unsigned char *o_over
    cdef long long *o_target
    cdef long long *o_period
    cdef long long *o_actions
    cdef long long *o_envs
    cdef long long *o_rows

    cpdef claim(self)
    cpdef release(self)
    cdef int _check_standing(self) except -1
    cdef int _fail(self, int code) except -1
    @cython.locals(rules=rules_p, old=rules_p, env=Py_ssize_t)
    cdef int _attach(self, Py_ssize_t index, object block) except -1
    cdef int _prepare(self, rules_t *rules) except -1
    cdef int _state_named(self, name) except -1
    cdef rules_t *_rules_of(self, long long index) noexcept nogil
    cdef bint _settle(self, Py_ssize_t env) noexcept nogil
    cdef int _settle_all(self) noexcept nogil
    cdef object _cursor(self, Py_ssize_t index, long long row, bint moves)
    cdef int _begin(self, Py_ssize_t env, long long index, long long row) noexcept nogil
    @cython.locals(index=cython.longlong, row=cython.longlong)
    cdef int _begin_next(self, Py_ssize_t env) noexcept nogil
    @cython.locals(env=Py_ssize_t)
    cdef int _begin_all(self, Py_ssize_t count) except -1
    cdef list _listed(self, envs)
    @cython.locals(
        cell=cell_t, reward=cython.double, clock=cython.longlong, goto=cython.longlong, leaves=bint,
        segment=cython.longlong, before=cython.longlong, moves=bint, aborted=bint, outcome=cython.longlong,
        first=Py_ssize_t,
    )
    cdef int advance_one(self, Py_ssize_t env, long long action, given_t *given) noexcept nogil
    @cython.locals(
        cell=cell_t, terms=terms_t, outcome=cython.int, goto=cython.longlong, wrong=bint, pay=cython.double,
        score=cython.double, steps=cython.longlong, entry=cython.longlong, first=Py_ssize_t, at=Py_ssize_t,
    )
    cdef (double, long long) _answer(self, Py_ssize_t env, long long action, double reward, given_t *given) noexcept nogil
    @cython.locals(
        terms=terms_t, outcome=cython.int, score=cython.double, near=bint, at=Py_ssize_t, distance=cython.double,
    )
    cdef double _close(self, Py_ssize_t env, long long coming, double reward, given_t *given) noexcept nogil
    cdef long long _landing(self, rules_t *rules, long long kind, long long segment) noexcept nogil
    @cython.locals(clock=cython.longlong, at=Py_ssize_t)
    cdef void _enter(self, Py_ssize_t env, long long segment, long long before) noexcept nogil
    @cython.locals(spot=spot_t, duration=cython.longlong)
    cdef void _set_time(self, Py_ssize_t env) noexcept nogil
    @cython.locals(asked=cython.int, worst=cython.int, outcome=cython.int, performance=cython.double, score=cython.double, row=Py_ssize_t)
    cdef void _end(self, Py_ssize_t env, bint aborted) noexcept nogil
    @cython.locals(count=Py_ssize_t, code=cython.int, action=cython.longlong)
    cdef int _play(self, given_t *given) noexcept nogil
    @cython.locals(code=cython.int)
    cdef int _step_all(self, given_t *given) except -1
    @cython.locals(same=bint, first=cython.longlong)
    cdef object _finished(self)
    @cython.locals(done=bint)
    cdef int _observe(self, seen) except -1
    @cython.locals(done=bint)
    cdef bint _see(self, float *out) noexcept nogil
    @cython.locals(code=cython.int, chosen=cython.longlong, over=bint)
    cdef object _step(self, action)
    cdef object _vector_step(self, actions)
    @cython.locals(env=Py_ssize_t, n_actions=Py_ssize_t)
    cdef bint _take(self, actions) except? True
