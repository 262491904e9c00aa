# The memory of the compiled kernel: what plain.py is for the plain one, under the same names.
#
# Python code must not be able to make the kernel read or write outside of its arrays:
# - Tables are copied when a block is attached, and every index in them is checked then.
# - The state of the envs is here. Values that Python sets are checked before use.
# - Logs are arrays of Python, which can change them at any time. They must be views of bytearrays
#   (`carved` in blocks.py), which stay locked. The only indices read from them are the types of the
#   trials and outcomes, and these are checked.
# - Actions, and the values of hooks, are checked on every step.
# - Any call that can run Python (a callback, an attribute, the __index__ of a number) can attach
#   other blocks and set any state. No pointer is kept across such a call. While a thread is in a
#   step, calls of other threads are refused.

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_CheckExact
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.long cimport PyLong_AsLongLong, PyLong_Check
from cpython.memoryview cimport PyMemoryView_Check, PyMemoryView_GET_BUFFER
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport (
    NPY_BOOL, NPY_CORDER, NPY_DOUBLE, NPY_FLOAT, NPY_INT64, NPY_UNICODE, PyArray_BASE, PyArray_Check,
    PyArray_CheckExact, PyArray_DATA, PyArray_DESCR, PyArray_DIM, PyArray_ISCARRAY, PyArray_ISCARRAY_RO,
    PyArray_ITEMSIZE, PyArray_NDIM, PyArray_NewCopy, PyArray_SimpleNew, PyArray_SIZE, PyArray_STRIDE, PyArray_TYPE,
    PyArray_ZEROS, dtype, import_array, ndarray, npy_intp,
)

cdef extern from "numpy/arrayobject.h" nogil:
    bint PyArray_ISNOTSWAPPED(ndarray array)
    bint PyArray_IsIntegerScalar(object value)

cdef extern from "numpy/arrayobject.h":
    object PyArray_Empty(int dimensions, npy_intp *shape, dtype kind, int fortran)

cdef extern from "pythread.h" nogil:
    unsigned long PyThread_get_thread_ident()

cdef extern from "_noise.h" nogil:
    enum: NOISE_LANES
    void noise_rows(
        const float *table, uint64_t key, size_t n, const uint64_t *serial, const uint32_t *step,
        int first, int stop, float *out,
    )
    void noise_run(
        const float *table, uint64_t key, uint64_t serial, uint32_t first_step,
        size_t n_steps, int first, int stop, float *out,
    )

cdef enum:
    BLOCKS = 4096  # largest number of blocks; a larger index is a mistake of the caller
    MOST_SEGMENTS = 32000
    MOST_UNITS = 1 << 22
    OUTCOMES = 6

# Tables of one entry are interleaved, so that a step reads few lines of the cache.

cdef struct cell_t:  # one action on one segment of one type
    double reward, score
    short goto "leads"  # a keyword of C
    signed char slot, outcome
    unsigned char aborts, acts

cdef struct terms_t:  # one slot of one type
    double miss_reward, error_reward, due, tolerance
    int graded_from
    short error_goto
    signed char miss_outcome
    unsigned char asked

cdef struct spot_t:  # one segment of one type
    int duration, period
    int noise_from, noise_to  # range of the units with noise; noise_to is 0 without
    long long target, script, shown, sd

cdef struct rules_t:
    Py_ssize_t types, n_segments, n_actions, n_slots, n_grades, units, n_periods, dimensions, rows
    Py_ssize_t script_rows, cells_apart, terms_apart, window_apart
    bint continuous, trigger
    long long stride, first_serial, cursor
    double dt
    char *memory  # one allocation for all tables
    cell_t *cells
    spot_t *spots
    terms_t *terms
    double *graded
    double *best
    float *shown
    float *sd
    float *script
    int *limit
    int *follows
    int *period
    int *entry
    int *needs
    int *first_action
    unsigned char *window
    unsigned char *endless
    unsigned char *again
    long long *kind
    long long *log_env
    long long *log_number
    long long *log_session
    long long *log_steps
    long long *log_aborts
    double *log_reward
    double *log_performance
    signed char *log_outcome
    unsigned char *log_ended
    long long *log_opened
    signed char *log_slot_outcome
    long long *log_slot_choice
    double *log_slot_time
    double *log_slot_score
    double *log_values
    long long *log_onset
    long long *log_offset
    long long *log_answers
    signed char *log_first_outcome
    long long *log_first_choice
    double *log_first_time

ctypedef rules_t *rules_p

# The fields of an ordinary step come first, in one line of the cache.
cdef struct place_t:
    rules_t *rules  # of the block; NULL: no block, or a state set by Python that was not checked
    Py_ssize_t cells  # of the segment
    long long clock, until, row
    double total
    long long waiting, entered
    Py_ssize_t here, terms, windows
    long long block, type, segment, period_at, number, session, left, last_block, last_row, ended

cdef struct given_t:
    bint used, whole  # whether anything is given; whether all that an answer without trigger needs
    Py_ssize_t slots, dimensions
    const double *reward
    const double *extra
    const long long *goto "leads"
    const double *distance
    const double *graded
    const double *score
    const double *values

cdef struct turn_t:  # the thread that is in a step (0: none), and the number of its calls
    unsigned long owner
    int depth

cdef struct room_t:
    const float *lines  # the table of noise.py
    float *z  # room for the numbers of NOISE_LANES rows
    Py_ssize_t width

# ---------------------------------------------------------------------- arrays from Python

# Memory of an array. Python can free it at any time (ndarray.resize, ndarray.data,
# ndarray.__setstate__), even while a reference or a buffer of the array exists. So `held` is for
# memory that is read before Python runs again, and `locked` for memory that is used later, too.

cdef inline Py_ssize_t times(Py_ssize_t a, Py_ssize_t b) noexcept:
    """Return the product of two sizes, or, if it overflows, one that no array can have."""
    cdef Py_ssize_t most = <Py_ssize_t>((<size_t>-1) >> 1)
    return a * b if b == 0 or a <= most // b else most


cdef inline char *held(object array, str name, char kind, int size, Py_ssize_t count, bint written) except? NULL:
    """Return the memory of a contiguous array of `count` items (any number if negative), checked.

    It does not call Python, so arrays that were held before stay valid.
    """
    cdef ndarray values
    if not PyArray_Check(array):
        raise TypeError(f"{name} is no array of items of {size} bytes of kind {chr(kind)}.")
    values = <ndarray>array
    if (<dtype>PyArray_DESCR(values)).kind != kind or PyArray_ITEMSIZE(values) != size or not PyArray_ISNOTSWAPPED(values):
        raise TypeError(f"{name} is no array of items of {size} bytes of kind {chr(kind)}.")
    if not (PyArray_ISCARRAY(values) if written else PyArray_ISCARRAY_RO(values)):
        raise ValueError(f"{name} is not contiguous, not aligned, or cannot be written.")
    if count >= 0 and PyArray_SIZE(values) != count:
        raise ValueError(f"{name} has {PyArray_SIZE(values)} items; expected {count}.")
    return <char *>PyArray_DATA(values)


cdef inline char *locked(object array, str name, char kind, int size, Py_ssize_t count, list locks) except? NULL:
    """Return the memory of an array that lies in a bytearray, and lock it in `locks`.

    Exporting a buffer of a bytearray locks its size, and thereby its memory.
    """
    cdef char *at
    cdef Py_ssize_t many
    cdef object root = array, lock = None
    cdef Py_buffer *view
    cdef void *owner
    cdef int depth
    for depth in range(16):  # from view to base, down to the owner of the memory
        if PyArray_Check(root):
            owner = <void *>PyArray_BASE(<ndarray>root)
            root = <object>owner if owner != NULL else None
        elif PyMemoryView_Check(root):
            owner = <void *>PyMemoryView_GET_BUFFER(root).obj
            root = <object>owner if owner != NULL else None
        else:
            break
    if PyByteArray_CheckExact(root):
        for known in locks:
            if <void *>PyMemoryView_GET_BUFFER(known).obj == <void *>root:
                lock = known
        if lock is None:
            lock = memoryview(root)
            locks.append(lock)
    # From here on no Python runs.
    at = held(array, name, kind, size, count, True)
    if lock is None:
        raise TypeError(f"{name} does not lie in a bytearray; blocks make such arrays.")
    view = PyMemoryView_GET_BUFFER(lock)
    many = PyArray_SIZE(<ndarray>array) * size
    # An array can be made to point anywhere, whatever its base is.
    if many and (at < <char *>view.buf or at - <char *>view.buf > view.len - many):
        raise ValueError(f"{name} lies outside of its bytearray.")
    return at


cdef inline Py_ssize_t dimension(object owner, str name, int dimensions, int axis) except -1:
    """Return a dimension of an array, whose number of dimensions is checked."""
    array = getattr(owner, name)
    if not PyArray_Check(array) or PyArray_NDIM(<ndarray>array) != dimensions:
        raise TypeError(f"tables.{name} is no array of {dimensions} dimensions.")
    return PyArray_DIM(<ndarray>array, axis)


cdef inline object stored(object values):
    """Return the only row of an array that repeats it in memory, else the array."""
    if PyArray_Check(values) and PyArray_NDIM(<ndarray>values) and PyArray_STRIDE(<ndarray>values, 0) == 0:
        return values[:1]
    return values


# ---------------------------------------------------------------------- a block

cdef inline int bad_table(str name) except -1:
    raise ValueError(f"tables.{name} holds an index that is out of range.")


cdef inline int read_tables(rules_t *r, object tables) except -1:
    """Copy the tables into one allocation, and check every index in them.

    An array with an entry per type has k rows in memory, or one for all.
    """
    cdef Py_ssize_t k = len(tables), S, A, K, G, U, P, R, i, s, u, row
    cdef Py_ssize_t n_cells, n_terms, n_windows
    cdef char *t[31]
    cdef bint apart[31]
    cdef Py_ssize_t each[31]
    cdef list arrays = []
    cdef char *at
    cdef cell_t *cell
    cdef spot_t *spot
    cdef terms_t *terms
    cdef float *sd
    cdef bint shown_apart, sd_apart
    S, A = dimension(tables, "reward", 3, 1), dimension(tables, "reward", 3, 2)
    K, G = dimension(tables, "graded", 3, 1), dimension(tables, "graded", 3, 2)
    U, P, R = dimension(tables, "shown", 3, 2), dimension(tables, "entry", 1, 0), dimension(tables, "script", 2, 0)
    r.types, r.n_segments, r.n_actions, r.n_slots, r.n_grades, r.units, r.n_periods = k, S, A, K, G, U, P
    r.script_rows, r.dimensions = R, dimension(tables, "aim", 3, 2)
    r.continuous = r.dimensions > 0
    # Limits far above any task, so that indices fit into the types of the structs above.
    if (
        not 0 < k <= 1 << 28 or not 0 < S <= MOST_SEGMENTS or not 0 < A <= 1 << 24 or K > 127 or P < 1
        or not 0 < U <= MOST_UNITS
    ):
        raise ValueError("tables are empty, or too large to be played.")
    # First everything that can run Python; after it the memory of the arrays can be held.
    r.dt, r.trigger = tables.dt, tables.trigger
    named = (
        ("period", b"i4", S, 0), ("follows", b"i4", S, 0), ("endless", b"b1", S, 0), ("entry", b"i4", P, 0),
        ("needs", b"i4", K, 0), ("first_action", b"i4", K, 0), ("again", b"b1", K, 0),
        ("script", b"f4", times(R, U), 0), ("limit", b"i4", 1, 1), ("best", b"f8", 1, 1),
        ("duration", b"i4", S, 1), ("script_at", b"i8", S, 1), ("shown", b"f4", times(S, U), 1),
        ("sd", b"f4", times(S, U), 1), ("window", b"b1", times(S, K), 1), ("reward", b"f8", times(S, A), 1),
        ("aborts", b"b1", times(S, A), 1), ("goto", b"i2", times(S, A), 1), ("slot", b"i1", times(S, A), 1),
        ("outcome", b"i1", times(S, A), 1), ("score", b"f8", times(S, A), 1), ("asked", b"b1", K, 1),
        ("miss_reward", b"f8", K, 1), ("miss_outcome", b"i1", K, 1), ("error_reward", b"f8", K, 1),
        ("error_goto", b"i2", K, 1), ("due", b"f8", K, 1), ("tolerance", b"f8", K, 1),
        ("graded", b"f8", times(K, G), 1), ("graded_from", b"i4", K, 1), ("target", b"i8", S, 1),
    )
    for name, _, _, per_type in named:
        values = getattr(tables, name)
        arrays.append(stored(values) if per_type else values)
    for i in range(31 - r.continuous):  # the stepper reads targets of continuous actions itself
        name, kind, each[i], per_type = named[i]
        t[i] = held(arrays[i], name, (<const char *>kind)[0], (<const char *>kind)[1] - 48, -1, False)
        row = PyArray_SIZE(<ndarray>arrays[i])
        apart[i] = per_type and k > 1 and row == times(k, each[i])
        if row != each[i] and not apart[i]:
            raise ValueError(f"{name} has {row} items; expected {each[i]}, or as many for each of {k} types.")
    shown_apart, sd_apart = apart[12], apart[13]
    r.window_apart = S * K if apart[14] else 0
    r.cells_apart = S * A if apart[15] or apart[16] or apart[17] or apart[18] or apart[19] or apart[20] else 0
    r.terms_apart = 0
    for i in range(21, 30):
        r.terms_apart = K if apart[i] else r.terms_apart
    n_cells, n_terms = times(k if r.cells_apart else 1, times(S, A)), k * K if r.terms_apart else K
    n_windows = k * S * K if r.window_apart else S * K
    if n_cells > 1 << 40:
        raise MemoryError()
    at = r.memory = <char *>PyMem_Calloc(
        1, n_cells * sizeof(cell_t) + k * S * sizeof(spot_t) + n_terms * sizeof(terms_t)
        + 8 * (n_terms * G + k) + 4 * (S * U * ((k if shown_apart else 1) + (k if sd_apart else 1)) + R * U)
        + 4 * (k + 2 * S + P + 2 * K) + n_windows + S + K + 64,
    )
    if at == NULL:
        raise MemoryError()
    # Types in order of their alignment, so that none needs padding.
    r.cells = <cell_t *>at
    at += n_cells * sizeof(cell_t)
    r.spots = <spot_t *>at
    at += k * S * sizeof(spot_t)
    r.terms = <terms_t *>at
    at += n_terms * sizeof(terms_t)
    r.graded = <double *>at
    at += n_terms * G * 8
    r.best = <double *>at
    at += k * 8
    r.shown = <float *>at
    at += (k if shown_apart else 1) * S * U * 4
    r.sd = <float *>at
    at += (k if sd_apart else 1) * S * U * 4
    r.script = <float *>at
    at += R * U * 4
    r.limit = <int *>at
    at += k * 4
    r.period = <int *>at
    at += S * 4
    r.follows = <int *>at
    at += S * 4
    r.entry = <int *>at
    at += P * 4
    r.needs = <int *>at
    at += K * 4
    r.first_action = <int *>at
    at += K * 4
    r.window = <unsigned char *>at
    at += n_windows
    r.endless = <unsigned char *>at
    at += S
    r.again = <unsigned char *>at
    memcpy(r.period, t[0], S * 4)
    memcpy(r.follows, t[1], S * 4)
    memcpy(r.endless, t[2], S)
    memcpy(r.entry, t[3], P * 4)
    memcpy(r.needs, t[4], K * 4)
    memcpy(r.first_action, t[5], K * 4)
    memcpy(r.again, t[6], K)
    memcpy(r.script, t[7], R * U * 4)
    memcpy(r.shown, t[12], (k if shown_apart else 1) * S * U * 4)
    memcpy(r.sd, t[13], (k if sd_apart else 1) * S * U * 4)
    memcpy(r.window, t[14], n_windows)
    for i in range(k):
        r.limit[i], r.best[i] = (<int *>t[8])[i * apart[8]], (<double *>t[9])[i * apart[9]]
    for s in range(S):
        if not 0 <= r.period[s] < P:
            bad_table("period")
        if r.follows[s] != -2 and not 0 <= r.follows[s] < S:
            bad_table("follows")
    for i in range(P):
        if not 0 <= r.entry[i] < S:
            bad_table("entry")
    for i in range(K):
        if not -1 <= r.needs[i] < K:
            bad_table("needs")
    for i in range(n_cells):
        s, cell = i % (S * A), r.cells + i
        cell.reward = (<double *>t[15])[i if apart[15] else s]
        cell.aborts = (<unsigned char *>t[16])[i if apart[16] else s] != 0
        cell.goto = (<short *>t[17])[i if apart[17] else s]
        cell.slot = (<signed char *>t[18])[i if apart[18] else s]
        cell.outcome = (<signed char *>t[19])[i if apart[19] else s]
        cell.score = (<double *>t[20])[i if apart[20] else s]
        cell.acts = cell.slot >= 0 or cell.goto != -1
        if not -2 <= cell.goto < P:
            bad_table("goto")
        if not -1 <= cell.slot < K:
            bad_table("slot")
        if not 0 <= cell.outcome < OUTCOMES:
            bad_table("outcome")
    for i in range(k * S):
        s, spot = i % S, r.spots + i
        spot.duration = (<int *>t[10])[i if apart[10] else s]
        spot.script = (<long long *>t[11])[i if apart[11] else s]
        spot.target = 0 if r.continuous else (<long long *>t[30])[i if apart[30] else s]
        spot.period = r.period[s]
        spot.shown, spot.sd = (i if shown_apart else s) * U, (i if sd_apart else s) * U
        if spot.duration < 0:
            bad_table("duration")
        if not -1 <= spot.script <= R:
            bad_table("script_at")
        # Only units between the first and the last one with noise draw numbers.
        spot.noise_from, sd = <int>U, r.sd + spot.sd
        for u in range(U):
            if sd[u] != 0:
                if spot.noise_from == U:
                    spot.noise_from = <int>u
                spot.noise_to = <int>u + 1
    for i in range(n_terms):
        s, terms = i % K, r.terms + i
        terms.asked = (<unsigned char *>t[21])[i if apart[21] else s] != 0
        terms.miss_reward = (<double *>t[22])[i if apart[22] else s]
        terms.miss_outcome = (<signed char *>t[23])[i if apart[23] else s]
        terms.error_reward = (<double *>t[24])[i if apart[24] else s]
        terms.error_goto = (<short *>t[25])[i if apart[25] else s]
        terms.due = (<double *>t[26])[i if apart[26] else s]
        terms.tolerance = (<double *>t[27])[i if apart[27] else s]
        terms.graded_from = (<int *>t[29])[i if apart[29] else s]
        memcpy(r.graded + i * G, (<double *>t[28]) + (i if apart[28] else s) * G, G * 8)
        if terms.graded_from != 0 and G == 0:
            bad_table("graded_from")
        if not -2 <= terms.error_goto < P:
            bad_table("error_goto")
        if not 0 <= terms.miss_outcome < OUTCOMES:
            bad_table("miss_outcome")
    return 0


cdef inline int read_log(rules_t *r, object block, list locks) except -1:
    """Lock the types of the trials, and the arrays that their results are written to."""
    cdef Py_ssize_t n, K = r.n_slots, P = r.n_periods
    r.kind = <long long *>locked(block.kind, "kind", c"i", 8, -1, locks)
    n = r.rows = PyArray_SIZE(<ndarray>block.kind)
    log = block.log
    r.log_env = <long long *>locked(log.env, "env", c"i", 8, n, locks)
    r.log_number = <long long *>locked(log.number, "number", c"i", 8, n, locks)
    r.log_session = <long long *>locked(log.session, "session", c"i", 8, n, locks)
    r.log_steps = <long long *>locked(log.steps, "steps", c"i", 8, n, locks)
    r.log_aborts = <long long *>locked(log.aborts, "aborts", c"i", 8, n, locks)
    r.log_reward = <double *>locked(log.reward, "reward", c"f", 8, n, locks)
    r.log_performance = <double *>locked(log.performance, "performance", c"f", 8, n, locks)
    r.log_outcome = <signed char *>locked(log.outcome, "outcome", c"i", 1, n, locks)
    r.log_ended = <unsigned char *>locked(log.ended, "ended", c"b", 1, n, locks)
    r.log_opened = <long long *>locked(log.opened, "opened", c"i", 8, times(n, K), locks)
    r.log_slot_outcome = <signed char *>locked(log.slot_outcome, "slot_outcome", c"i", 1, times(n, K), locks)
    r.log_slot_choice = <long long *>locked(log.slot_choice, "slot_choice", c"i", 8, times(n, K), locks)
    r.log_slot_time = <double *>locked(log.slot_time, "slot_time", c"f", 8, times(n, K), locks)
    r.log_slot_score = <double *>locked(log.slot_score, "slot_score", c"f", 8, times(n, K), locks)
    r.log_values = <double *>locked(log.values, "values", c"f", 8, times(n, times(K, r.dimensions)), locks)
    r.log_onset = <long long *>locked(log.onset, "onset", c"i", 8, times(n, P), locks)
    r.log_offset = <long long *>locked(log.offset, "offset", c"i", 8, times(n, P), locks)
    # Only slots that can be answered again have them.
    if not any([again != 0 for again in r.again[:K]]):
        K = 0
    r.log_answers = <long long *>locked(log.answers, "answers", c"i", 8, times(n, K), locks)
    r.log_first_outcome = <signed char *>locked(log.first_outcome, "first_outcome", c"i", 1, times(n, K), locks)
    r.log_first_choice = <long long *>locked(log.first_choice, "first_choice", c"i", 8, times(n, K), locks)
    r.log_first_time = <double *>locked(log.first_time, "first_time", c"f", 8, times(n, K), locks)
    return 0


cdef inline rules_t *new_rules(object block, unsigned long long key, list locks) except NULL:
    """Return a block in the form that the kernel reads; `locks` keeps the memory of its logs."""
    cdef rules_t *r = <rules_t *>PyMem_Calloc(1, sizeof(rules_t))
    if r == NULL:
        raise MemoryError()
    try:
        read_tables(r, block.tables)
        read_log(r, block, locks)
        r.stride, r.first_serial = block.stride, block.first_serial
        if r.stride < 0:
            raise ValueError("The stride of a block is negative; expected 0 or more.")
    except BaseException:
        free_rules(r)
        raise
    return r


cdef inline void free_rules(rules_t *r) noexcept:
    if r != NULL:
        PyMem_Free(r.memory)
        PyMem_Free(r)


cdef inline rules_t **more_rules(rules_t **rules, Py_ssize_t n, Py_ssize_t many) except NULL:
    """Make room for `many` blocks; there are n."""
    cdef rules_t **more = <rules_t **>PyMem_Realloc(rules, many * sizeof(rules_t *))
    if more == NULL:
        raise MemoryError()
    memset(more + n, 0, (many - n) * sizeof(rules_t *))
    return more


# ---------------------------------------------------------------------- state

cdef inline place_t **new_places(Py_ssize_t n, long long left) except NULL:
    """Return pointers to the states of n envs, which lie in one piece of memory."""
    cdef char *memory = <char *>PyMem_Calloc(n, sizeof(place_t) + sizeof(place_t *))
    cdef place_t **places = <place_t **>(memory + n * sizeof(place_t))
    cdef place_t *place
    cdef Py_ssize_t env
    if memory == NULL:
        raise MemoryError()
    for env in range(n):
        place = places[env] = <place_t *>memory + env
        place.block = place.last_block = place.last_row = -1
        place.left = left
    return places


cdef inline long long *state_of(place_t *place, int which) noexcept nogil:
    """Return the address of one of `STATE`."""
    if which == 0: return &place.block
    if which == 1: return &place.row
    if which == 2: return &place.type
    if which == 3: return &place.segment
    if which == 4: return &place.entered
    if which == 5: return &place.clock
    if which == 6: return &place.period_at
    if which == 7: return &place.number
    if which == 8: return &place.session
    if which == 9: return &place.left
    if which == 10: return &place.waiting
    if which == 11: return &place.last_block
    if which == 12: return &place.last_row
    return &place.ended


cdef inline object read_state(place_t **places, Py_ssize_t n, int which):
    cdef npy_intp shape = n
    cdef ndarray values = PyArray_SimpleNew(1, &shape, NPY_INT64)
    cdef long long *into = <long long *>PyArray_DATA(values)
    cdef Py_ssize_t env
    for env in range(n):
        into[env] = state_of(places[env], which)[0]
    return values


cdef inline int write_state(place_t **places, Py_ssize_t n, int which, object values) except -1:
    cdef long long *at = <long long *>held(values, "values", c"i", 8, n, False)
    cdef Py_ssize_t env
    for env in range(n):
        state_of(places[env], which)[0] = at[env]
    return 0


cdef inline void release_memory(
    place_t **places, rules_t **rules, Py_ssize_t n_blocks, given_t *given, turn_t *turn, room_t *room
) noexcept:
    cdef Py_ssize_t i
    for i in range(n_blocks):
        free_rules(rules[i])
    PyMem_Free(rules)
    if places != NULL:
        PyMem_Free(places[0])
    if room != NULL:
        PyMem_Free(room.z)
    PyMem_Free(room)
    PyMem_Free(given)
    PyMem_Free(turn)


cdef inline void follow(place_t *place) noexcept nogil:
    """Note that a place entered a segment: here, nothing is rendered ahead."""


# ---------------------------------------------------------------------- threads

cdef inline turn_t *new_turn() except NULL:
    cdef turn_t *turn = <turn_t *>PyMem_Calloc(1, sizeof(turn_t))
    if turn == NULL:
        raise MemoryError()
    return turn


cdef inline bint take(turn_t *turn) noexcept:
    """Keep other threads out until `leave`; return whether none was in. Calls nest."""
    cdef unsigned long me = PyThread_get_thread_ident()
    if turn.owner and turn.owner != me:
        return False
    turn.owner = me
    turn.depth += 1
    return True


cdef inline void leave(turn_t *turn) noexcept:
    if turn.owner == PyThread_get_thread_ident() and turn.depth:
        turn.depth -= 1
        if not turn.depth:
            turn.owner = 0


# ---------------------------------------------------------------------- arguments and results

cdef inline long long whole(object action) noexcept:
    """Return an action that is an int, or -1."""
    cdef long long value = -1
    if PyLong_Check(action) or PyArray_IsIntegerScalar(action):
        try:
            value = PyLong_AsLongLong(action)
        except Exception:
            return -1
    return value


cdef inline int read_actions(long long *actions, object values, Py_ssize_t n) except -1:
    """Copy (N,) int64 actions, which other threads could change."""
    if (
        PyArray_Check(values) and PyArray_TYPE(<ndarray>values) == NPY_INT64 and PyArray_SIZE(<ndarray>values) == n
        and not PyArray_ISCARRAY_RO(<ndarray>values)
    ):
        values = PyArray_NewCopy(<ndarray>values, NPY_CORDER)
    memcpy(actions, held(values, "actions", c"i", 8, n, False), n * 8)
    return 0


cdef inline bint are_actions(object values, Py_ssize_t n) noexcept:
    """Return whether values are (N,) int64 that lie in a row."""
    return (
        PyArray_CheckExact(values) and PyArray_TYPE(<ndarray>values) == NPY_INT64
        and PyArray_NDIM(<ndarray>values) == 1 and PyArray_DIM(<ndarray>values, 0) == n
        and PyArray_ISCARRAY_RO(<ndarray>values)
    )


cdef inline given_t *new_given() except NULL:
    cdef given_t *given = <given_t *>PyMem_Calloc(1, sizeof(given_t))
    if given == NULL:
        raise MemoryError()
    return given


cdef inline int read_given(given_t *given, object values, Py_ssize_t n) except -1:
    """Read the fields of a `Given`; the arrays are held until Python runs again."""
    cdef const void *data[7]
    cdef Py_ssize_t columns
    cdef int i
    memset(given, 0, sizeof(given_t))
    if values is None:
        return 0
    if not isinstance(values, tuple) or len(<tuple>values) != 7:
        raise TypeError("advance() was given something that is no Given.")
    named = ("reward", "extra", "goto", "distance", "graded", "score", "values")
    for i in range(7):
        value = (<tuple>values)[i]
        data[i] = NULL
        if value is None:
            continue
        data[i] = held(value, named[i], c"i" if i == 2 else c"f", 8, n if i < 3 else -1, False)
        if i >= 3:
            columns = PyArray_SIZE(<ndarray>value) // n
            if PyArray_SIZE(<ndarray>value) != columns * n or ((i == 4 or i == 5) and columns != given.slots):
                raise ValueError(f"{named[i]} has {PyArray_SIZE(<ndarray>value)} items, which {n} envs cannot share.")
            if i == 6:
                given.dimensions = columns
            else:
                given.slots = columns
    given.used = True
    given.reward, given.extra = <const double *>data[0], <const double *>data[1]
    given.goto = <const long long *>data[2]
    given.distance, given.graded = <const double *>data[3], <const double *>data[4]
    given.score, given.values = <const double *>data[5], <const double *>data[6]
    given.whole = data[3] != NULL and data[4] != NULL and data[5] != NULL and data[6] != NULL
    return 0


cdef inline double *reals(object array) noexcept:
    return <double *>PyArray_DATA(<ndarray>array)


cdef inline long long *wholes(object array) noexcept:
    return <long long *>PyArray_DATA(<ndarray>array)


cdef inline unsigned char *flags(object array) noexcept:
    return <unsigned char *>PyArray_DATA(<ndarray>array)


cdef inline float *singles(object array) noexcept:
    return <float *>PyArray_DATA(<ndarray>array)


cdef inline tuple twice(Py_ssize_t n, object kind):
    """Return n zeros, and the same memory as a second array; see plain.py."""
    from neurogym_core.play.plain import twice as made
    return made(n, kind)


cdef inline object fresh(object array):
    """Return a copy of an array of numbers, for the caller."""
    cdef ndarray values = <ndarray>array
    cdef ndarray new = PyArray_SimpleNew(PyArray_NDIM(values), values.shape, PyArray_TYPE(values))
    memcpy(PyArray_DATA(new), PyArray_DATA(values), PyArray_SIZE(values) * PyArray_ITEMSIZE(values))
    return new


cdef inline object truths(Py_ssize_t n, bint value):
    """Return (n,) bool, all of one value."""
    cdef npy_intp shape = n
    cdef ndarray new = PyArray_SimpleNew(1, &shape, NPY_BOOL)
    memset(PyArray_DATA(new), value, n)
    return new


cdef inline object named(object names, const long long *period, Py_ssize_t n):
    """Return the (n,) names of periods; an index past the last one gives the last name."""
    cdef npy_intp shape = n
    cdef Py_ssize_t size = PyArray_ITEMSIZE(<ndarray>names) // 4, many = PyArray_SIZE(<ndarray>names), i, c, at
    cdef ndarray new
    cdef const uint32_t *of = <const uint32_t *>PyArray_DATA(<ndarray>names)
    cdef uint32_t *to
    descr = <dtype>PyArray_DESCR(<ndarray>names)
    Py_INCREF(descr)
    new = <ndarray>PyArray_Empty(1, &shape, descr, 0)
    to = <uint32_t *>PyArray_DATA(new)
    for i in range(n):
        at = min(period[i], many - 1) * size
        for c in range(size):
            to[i * size + c] = of[at + c]
    return new


cdef inline object new_seen(Py_ssize_t n, Py_ssize_t units, int dimensions):
    """Return room for the observations of all envs, or (units,) for those of the only one."""
    cdef npy_intp[2] shape
    shape[0], shape[1] = units if dimensions == 1 else n, units
    return PyArray_SimpleNew(dimensions, shape, NPY_FLOAT)


# ---------------------------------------------------------------------- observations

cdef inline room_t *new_room() except NULL:
    cdef room_t *room = <room_t *>PyMem_Calloc(1, sizeof(room_t))
    if room == NULL:
        raise MemoryError()
    return room


cdef inline int make_room(room_t *room, rules_t *r, object lines) except -1:
    """Make room for the noise of the widest segment of a block; `lines` is the table of noise."""
    cdef Py_ssize_t i, width = 0
    cdef float *z
    for i in range(r.types * r.n_segments):
        width = max(width, r.spots[i].noise_to - r.spots[i].noise_from)
    room.lines = <const float *>PyBytes_AS_STRING(lines)
    if width > room.width:
        z = <float *>PyMem_Realloc(room.z, width * NOISE_LANES * sizeof(float))
        if z == NULL:
            raise MemoryError()
        room.z, room.width = z, width
    return 0


cdef inline bint has_noise(rules_t *r) noexcept:
    cdef Py_ssize_t i
    for i in range(r.types * r.n_segments):
        if r.spots[i].noise_to:
            return True
    return False


cdef inline bint observe(
    place_t **places, Py_ssize_t n, unsigned long long key, room_t *room, float *out, Py_ssize_t units
) noexcept nogil:
    """Write the observations of all envs; return False if a script has no such row.

    Noise is made for many rows at once: they wait until there are NOISE_LANES of them, or until the
    range of noisy units changes.
    """
    cdef uint64_t serial[NOISE_LANES]
    cdef uint32_t step[NOISE_LANES]
    cdef float *rows[NOISE_LANES]
    cdef const float *levels[NOISE_LANES]
    cdef int waiting = 0, first = 0, stop = 0
    cdef Py_ssize_t env, u
    cdef long long within
    cdef place_t *place
    cdef rules_t *r
    cdef spot_t *spot
    cdef const float *shown
    cdef float *row
    for env in range(n):
        place = places[env]
        r = place.rules
        spot = r.spots + place.here
        row = out + env * units
        if spot.script >= 0:
            within = 0 if r.endless[place.segment] else place.clock - place.entered
            if not 0 <= within < r.script_rows - spot.script:
                return False
            shown = r.script + (spot.script + within) * units
        else:
            shown = r.shown + spot.shown
        for u in range(units):
            row[u] = shown[u]
        if not spot.noise_to:
            continue
        if waiting and (waiting == NOISE_LANES or spot.noise_from != first or spot.noise_to != stop):
            add_noise(room, key, waiting, serial, step, first, stop, rows, levels)
            waiting = 0
        first, stop = spot.noise_from, spot.noise_to
        serial[waiting] = <uint64_t>r.first_serial + <uint64_t>place.row
        step[waiting] = <uint32_t>place.clock
        rows[waiting] = row + first
        levels[waiting] = r.sd + spot.sd + first
        waiting += 1
    if waiting:
        add_noise(room, key, waiting, serial, step, first, stop, rows, levels)
    return True


cdef inline void add_noise(
    room_t *room, unsigned long long key, int n, const uint64_t *serial, const uint32_t *step,
    int first, int stop, float **rows, const float **levels,
) noexcept nogil:
    cdef int i, u, width = stop - first
    cdef float *z = room.z
    cdef float *row
    cdef const float *level
    noise_rows(room.lines, key, n, serial, step, first, stop, z)
    for i in range(n):
        row, level = rows[i], levels[i]
        for u in range(width):
            row[u] += level[u] * z[u]
        z += width


# ---------------------------------------------------------------------- fill of render.py

cdef struct filling_t:
    Py_ssize_t types, segments, columns, units, dimensions, trials, places, script_rows, target_rows
    bint apart[5]  # whether shown, sd, target, weight, script_at have a row for each type
    bint continuous, padded
    unsigned long long key
    const float *lines
    float *noise
    char *a[18]


cdef enum:
    F_SHOWN, F_SD, F_TARGET, F_WEIGHT, F_SCRIPT_AT, F_SCRIPT, F_TARGET_SCRIPT, F_ENDLESS, F_KIND, F_SERIAL, F_PATH
    F_SKIP, F_PLAYED, F_OFFSET, F_INPUTS, F_TARGETS, F_WEIGHTS, F_REAL


cdef inline int out_of_range(str name) except -1:
    raise ValueError(f"fill() was given {name} out of range.")


cdef inline int fill_trial(filling_t *f, Py_ssize_t i) except -1:
    """Write the steps of one trial."""
    cdef long long longest = <long long>1 << 60  # sums of two such numbers cannot overflow
    cdef long long kind = (<long long *>f.a[F_KIND])[i], skip = (<long long *>f.a[F_SKIP])[i]
    cdef long long played = (<long long *>f.a[F_PLAYED])[i], at = (<long long *>f.a[F_OFFSET])[i]
    cdef long long serial = (<long long *>f.a[F_SERIAL])[i]
    cdef long long *path = (<long long *>f.a[F_PATH]) + i * f.columns
    cdef long long rows = max(f.script_rows, f.target_rows)
    cdef long long clock = skip, onset = 0, stop, edge, last, script, within
    cdef Py_ssize_t U = f.units, D = f.dimensions, column, s, here, j, u, steps, some
    cdef int first, end, width, forth
    cdef const float *sd
    cdef const float *shown
    cdef const float *target
    cdef const float *z
    cdef float *out
    if not 0 <= kind < f.types:
        out_of_range("types")
    if not 0 <= skip < longest or not 0 <= played < longest or at < 0 or played > f.places - at:
        out_of_range("places")
    stop = skip + played
    for column in range(f.columns):
        if clock >= stop:
            break
        s = column % f.segments
        here = kind * f.segments + s
        if not 0 <= path[column] < longest - onset:
            out_of_range("path")
        script = (<long long *>f.a[F_SCRIPT_AT])[here if f.apart[F_SCRIPT_AT] else s]
        if rows and not -1 <= script <= rows:  # before any sum with it, which could overflow
            out_of_range("script_at")
        edge = onset + path[column]
        last = min(edge, stop)
        if clock < last:
            # An endless segment has one row, for all of its steps.
            forth = not (<unsigned char *>f.a[F_ENDLESS])[s]
            steps, within = last - clock, clock - onset if forth else 0
            out = (<float *>f.a[F_INPUTS]) + at * U
            if script >= 0 and f.script_rows:
                if within < 0 or (steps if forth else 1) > f.script_rows - script - within:
                    out_of_range("script_at")
                for j in range(steps):
                    memcpy(out + j * U, (<float *>f.a[F_SCRIPT]) + (script + within + forth * j) * U, U * 4)
            else:
                shown = (<float *>f.a[F_SHOWN]) + (here if f.apart[F_SHOWN] else s) * U
                for j in range(steps):
                    for u in range(U):
                        out[j * U + u] = shown[u]
            sd, first, end = (<float *>f.a[F_SD]) + (here if f.apart[F_SD] else s) * U, -1, 0
            for u in range(U):
                if sd[u] != 0:
                    first = <int>u if first < 0 else first
                    end = <int>u + 1
            width, j = end - first, 0
            while end and j < steps:
                some = min(steps - j, NOISE_LANES)
                z = f.noise
                noise_run(f.lines, f.key, serial, <uint32_t>(clock + j), some, first, end, f.noise)
                for s in range(j, j + some):
                    for u in range(width):
                        out[s * U + first + u] += sd[first + u] * z[u]
                    z += width
                j += some
            s = column % f.segments
            for j in range(steps):
                (<float *>f.a[F_WEIGHTS])[at + j] = (<float *>f.a[F_WEIGHT])[here if f.apart[F_WEIGHT] else s]
            if f.padded:
                memset(f.a[F_REAL] + at, 1, steps)
            for j in range(steps):
                if not f.continuous:
                    (<long long *>f.a[F_TARGETS])[at + j] = (<long long *>f.a[F_TARGET])[here if f.apart[F_TARGET] else s]
                    continue
                target = (<float *>f.a[F_TARGET]) + (here if f.apart[F_TARGET] else s) * D
                if f.target_rows:
                    if not 0 <= script + within + forth * j < f.target_rows:
                        out_of_range("script_at")
                    target = (<float *>f.a[F_TARGET_SCRIPT]) + (script + within + forth * j) * D
                memcpy((<float *>f.a[F_TARGETS]) + (at + j) * D, target, D * 4)
            at += steps
            clock = last
        onset = edge
    if clock < stop:
        out_of_range("played")
    return 0


cdef inline int fill_trials(
    object shown, object steps, object offset, unsigned long long key, object inputs, object targets,
    object weights, object real, bytes lines,
) except -1:
    """Write the steps of m trials into the arrays of a batch; see `fill` of render.py."""
    cdef filling_t filling
    cdef filling_t *f = &filling
    cdef Py_ssize_t k = len(shown), S = dimension(shown, "shown", 3, 1), U = dimension(shown, "shown", 3, 2)
    cdef Py_ssize_t i, j, D, many
    cdef bint is_whole, is_flag
    cdef Py_ssize_t count[18]
    cdef Py_ssize_t bytes_of[18]
    cdef list arrays = []
    cdef tuple named = (
        "shown", "sd", "target", "weight", "script_at", "script", "target_script", "endless", "kind", "serial", "path",
        "skip", "played", "offset", "inputs", "targets", "weights", "real",
    )
    memset(f, 0, sizeof(filling_t))
    f.types, f.segments, f.units, f.key = k, S, U, key
    f.target_rows, f.script_rows = dimension(shown, "target_script", 2, 0), dimension(shown, "script", 2, 0)
    target = shown.target
    f.continuous = PyArray_Check(target) and PyArray_NDIM(<ndarray>target) == 3
    D = f.dimensions = PyArray_DIM(<ndarray>target, 2) if f.continuous else 0
    f.trials, f.columns = dimension(steps, "path", 2, 0), dimension(steps, "path", 2, 1)
    if S < 1 or f.columns % S or S > MOST_SEGMENTS or not 0 < U <= MOST_UNITS or k < 1:
        out_of_range("path")
    for i in range(F_OFFSET):
        values = getattr(shown if i < F_KIND else steps, named[i])
        arrays.append(stored(values) if i <= F_SCRIPT_AT else values)
    arrays.extend((offset, inputs, targets, weights, real))
    if arrays[F_SKIP] is None or arrays[F_PLAYED] is None:  # default: whole trials
        path = arrays[F_PATH]
        held(path, "path", c"i", 8, times(f.trials, f.columns), False)
        if (path < 0).any() or (path >= 1 << 40).any():
            out_of_range("path")
        played = path.sum(axis=1)
        arrays[F_SKIP], arrays[F_PLAYED] = played * 0, played
    room = None
    # `any` of a broadcast array may take days: those of another size are refused below.
    sd = arrays[F_SD]
    if PyArray_Check(sd) and PyArray_SIZE(<ndarray>sd) <= times(k, times(S, U)) and sd.any():
        room = bytearray(U * NOISE_LANES * 4)
    # From here on no Python runs.
    if room is not None:
        f.noise, f.lines = <float *>PyByteArray_AS_STRING(room), <const float *>PyBytes_AS_STRING(lines)
    f.padded = arrays[F_REAL] is not None
    held(arrays[F_WEIGHTS], "weights", c"f", 4, -1, True)
    f.places = PyArray_SIZE(<ndarray>arrays[F_WEIGHTS])
    count[F_SHOWN] = count[F_SD] = times(S, U)
    count[F_TARGET] = times(S, D if f.continuous else 1)
    count[F_WEIGHT] = count[F_ENDLESS] = count[F_SCRIPT_AT] = S
    count[F_SCRIPT] = times(f.script_rows, U)
    count[F_TARGET_SCRIPT], count[F_PATH] = times(f.target_rows, D), times(f.trials, f.columns)
    count[F_KIND] = count[F_SERIAL] = count[F_SKIP] = count[F_PLAYED] = count[F_OFFSET] = f.trials
    count[F_INPUTS], count[F_WEIGHTS] = times(f.places, U), f.places
    count[F_TARGETS], count[F_REAL] = times(f.places, D if f.continuous else 1), f.places
    for i in range(18 if f.padded else 17):
        is_whole = F_KIND <= i <= F_OFFSET or i == F_SCRIPT_AT or (not f.continuous and (i == F_TARGET or i == F_TARGETS))
        is_flag = i == F_REAL or i == F_ENDLESS
        bytes_of[i] = 1 if is_flag else 8 if is_whole else 4
        many = count[i]
        if i <= F_SCRIPT_AT and k > 1 and PyArray_Check(arrays[i]):
            f.apart[i] = PyArray_SIZE(<ndarray>arrays[i]) != many
            many = times(k, many) if f.apart[i] else many
        f.a[i] = held(
            arrays[i], named[i], c"b" if is_flag else c"i" if is_whole else c"f", <int>bytes_of[i], many, i >= F_INPUTS
        )
        count[i] = many
    for i in range(F_INPUTS, 18 if f.padded else 17):
        for j in range(F_INPUTS):
            if (
                count[i] and count[j] and f.a[i] < f.a[j] + count[j] * bytes_of[j]
                and f.a[j] < f.a[i] + count[i] * bytes_of[i]
            ):
                raise ValueError(f"fill() cannot write {named[i]} over {named[j]}.")
    # `any` above ran before the arrays were held.
    if room is None:
        for i in range(count[F_SD]):
            if (<float *>f.a[F_SD])[i] != 0:
                out_of_range("sd")
    for i in range(f.trials):
        fill_trial(f, i)
    return 0
