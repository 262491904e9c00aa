/* The compiled kernel: PlainKernel of kernel.py, and fill of render.py, in C. kernels.py loads it.

   kernel.py is the definition. This file has the same functions under the same names, in the same
   order, and gives the same bits; comments that kernel.py has are not repeated here.

   Python code must not be able to make this file read or write outside of its arrays:
   - Tables are copied when a block is attached, and every index in them is checked then.
   - The state of the envs is in this file. Values that Python sets are checked before use.
   - Logs are arrays of Python, which can change them at any time. They must be views of bytearrays
     (`carved` in blocks.py), which stay locked. The only indices read from them are the types of
     the trials, and these are checked.
   - Actions, and the values of hooks, are checked on every step.
   - Any call that can run Python (a callback, an attribute, the __index__ of a number, making a
     dict) can attach other blocks and set any state. No pointer to rules is kept across such a
     call. While a thread is in a step, all calls of other threads but `get` are refused: they could
     run during its callbacks, and, in a step of many envs, at any time. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <math.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
/* Observations and names of periods are a few words long. GCC would turn the loops that copy them
   into calls of memcpy, which take longer than the loops. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

#include "_noise.h"

/* Equal to VERSION in kernels.py; raise both when the interface between the two files changes. */
#define KERNEL_VERSION 10

enum { STAY = -1, END = -2 };
enum { NONE, CORRECT, ERROR, ABORT, MISS, OTHER, OUTCOMES };
static const int BADNESS[OUTCOMES] = {0, 1, 4, 5, 3, 2};
#define NEVER ((int64_t)1 << 52)
#define MANY 256         /* from so many envs on, a step releases the GIL */
#define NOISE_CELLS 16385
#define MANY_BLOCKS 4096 /* largest number of blocks; a larger index is a mistake of the caller */
#define MANY_SEGMENTS 32000
#define MANY_UNITS (1 << 22)

/* ------------------------------------------------------------------ arrays from Python */

/* Memory of an array. Python can free it at any time (ndarray.resize, ndarray.data,
   ndarray.__setstate__), even while a reference or a buffer of the array exists. So `hold` is for
   memory that is read before Python runs again, and `lock` for memory that is used later, too. */
typedef struct {
    struct {
        void *buf;
        Py_ssize_t len; /* bytes */
    } view;
    PyObject *object;
    Py_buffer lock;
} Array;

static void release(Array *array)
{
    Py_CLEAR(array->object);
    if (array->lock.obj != NULL)
        PyBuffer_Release(&array->lock);
}

/* Return the product of two sizes, or, if it overflows, PY_SSIZE_T_MAX, which no array can have. */
static Py_ssize_t times(Py_ssize_t a, Py_ssize_t b)
{
    return b == 0 || a <= PY_SSIZE_T_MAX / b ? a * b : PY_SSIZE_T_MAX;
}

static int same_type(PyArrayObject *array, char kind, Py_ssize_t size)
{
    const char group = kind == '?' ? 'b' : kind == 'd' || kind == 'f' ? 'f' : 'i';
    return PyArray_DESCR(array)->kind == group && PyArray_ITEMSIZE(array) == size && PyArray_ISNOTSWAPPED(array);
}

/* Hold a C-contiguous array of `count` items (any number if negative) of a kind. It does not call
   Python, so arrays that were held before stay valid. */
static int hold(Array *array, PyObject *object, const char *name, char kind, Py_ssize_t size, Py_ssize_t count,
                int writable)
{
    PyArrayObject *values = (PyArrayObject *)object;
    if (!PyArray_Check(object) || !same_type(values, kind, size)) {
        PyErr_Format(PyExc_TypeError, "%s is no array of items of format '%c'.", name, kind);
        return -1;
    }
    if (!(writable ? PyArray_ISCARRAY(values) : PyArray_ISCARRAY_RO(values))) {
        PyErr_Format(PyExc_ValueError, "%s is not contiguous, not aligned, or cannot be written.", name);
        return -1;
    }
    if (count >= 0 && PyArray_SIZE(values) != count) {
        PyErr_Format(PyExc_ValueError, "%s has %zd items; expected %zd.", name, (Py_ssize_t)PyArray_SIZE(values), count);
        return -1;
    }
    array->object = Py_NewRef(object);
    array->view.buf = PyArray_DATA(values);
    array->view.len = PyArray_SIZE(values) * size;
    return 0;
}

/* Hold an array permanently. It must be a view of a bytearray (`carved` in blocks.py): exporting a
   buffer of a bytearray locks its size, and thereby its memory. */
static int lock(Array *array, PyObject *object, const char *name, char kind, Py_ssize_t size, Py_ssize_t count)
{
    PyObject *root = object;
    const char *begin, *at;
    if (hold(array, object, name, kind, size, count, 1) < 0)
        return -1;
    /* From view to base, down to the owner of the memory. */
    for (int depth = 0; root != NULL && depth < 16; ++depth) {
        if (PyArray_Check(root))
            root = PyArray_BASE((PyArrayObject *)root);
        else if (PyMemoryView_Check(root))
            root = PyMemoryView_GET_BUFFER(root)->obj;
        else
            break;
    }
    if (root == NULL || !PyByteArray_CheckExact(root)) {
        PyErr_Format(PyExc_TypeError, "%s does not lie in a bytearray; blocks make such arrays.", name);
        return -1;
    }
    if (PyObject_GetBuffer(root, &array->lock, PyBUF_WRITABLE) < 0)
        return -1;
    /* An array can be made to point anywhere, whatever its base is. */
    begin = array->lock.buf, at = array->view.buf;
    if (array->view.len && (at < begin || at - begin > array->lock.len - array->view.len)) {
        PyErr_Format(PyExc_ValueError, "%s lies outside of its bytearray.", name);
        return -1;
    }
    Py_CLEAR(array->object);
    return 0;
}

static int lock_attribute(Array *array, PyObject *owner, const char *name, char kind, Py_ssize_t size,
                          Py_ssize_t count)
{
    PyObject *object = PyObject_GetAttrString(owner, name);
    int failed;
    if (object == NULL)
        return -1;
    failed = lock(array, object, name, kind, size, count);
    Py_DECREF(object);
    return failed;
}

/* ------------------------------------------------------------------ a block */

/* Tables of one entry are interleaved, so that a step reads few lines of the cache. `leads` is
   `goto` of kernel.py, which is a keyword of C. */

/* One action on one segment of one type. */
typedef struct {
    double reward, score;
    int16_t leads;
    int8_t slot, outcome;
    uint8_t aborts, acts;
} Cell;

/* One slot of one type. */
typedef struct {
    double miss_reward, error_reward, due, tolerance;
    int32_t graded_from;
    int16_t error_leads;
    int8_t miss_outcome;
    uint8_t asked;
} Terms;

/* One segment of one type. */
typedef struct {
    int32_t duration, period;
    int32_t noise_from, noise_to; /* range of the units with noise; noise_to is 0 without */
    int64_t target, script;
} Spot;

enum { ENV, NUMBER, SESSION, STEPS, ABORTS, REWARD, PERFORMANCE, OUTCOME, ENDED, OPENED, SLOT_OUTCOME, SLOT_CHOICE,
       SLOT_TIME, SLOT_SCORE, VALUES, ONSET, OFFSET, KIND, ARRAYS };

typedef struct {
    PyObject *block;
    Py_ssize_t types, segments, actions, slots, grades, units, periods, dimensions, rows, script_rows;
    int continuous, trigger;
    int64_t stride, first_serial, cursor;
    double dt;
    char *memory; /* one allocation for all tables below */
    Cell *cells;
    Spot *spots;
    Terms *terms;
    double *graded, *best;
    float *shown, *sd, *script;
    int32_t *limit, *follows, *period, *entry, *needs, *first_action;
    uint8_t *window, *endless, *again;
    int sd_per_type;
    Array arrays[ARRAYS];
} Rules;

#define LOGGED(rules, type, name) ((type *)(rules)->arrays[name].view.buf)

static void free_rules(Rules *rules)
{
    if (rules == NULL)
        return;
    for (int i = 0; i < ARRAYS; ++i)
        release(&rules->arrays[i]);
    Py_XDECREF(rules->block);
    PyMem_Free(rules->memory);
    PyMem_Free(rules);
}

enum { T_PERIOD, T_FOLLOWS, T_ENDLESS, T_ENTRY, T_DURATION, T_LIMIT, T_SHOWN, T_SD, T_SCRIPT, T_SCRIPT_AT, T_TARGET,
       T_REWARD, T_ABORTS, T_GOTO, T_SLOT, T_OUTCOME, T_SCORE, T_WINDOW, T_ASKED, T_MISS_REWARD, T_MISS_OUTCOME,
       T_ERROR_REWARD, T_ERROR_GOTO, T_DUE, T_TOLERANCE, T_GRADED, T_GRADED_FROM, T_BEST, T_NEEDS, T_FIRST_ACTION,
       T_AGAIN, TABLES };

static const struct {
    const char *name;
    char kind;
    int size;
} TABLE[TABLES] = {
    {"period", 'i', 4}, {"follows", 'i', 4}, {"endless", '?', 1}, {"entry", 'i', 4}, {"duration", 'i', 4},
    {"limit", 'i', 4}, {"shown", 'f', 4}, {"sd", 'f', 4}, {"script", 'f', 4}, {"script_at", 'q', 8},
    {"target", 'q', 8}, {"reward", 'd', 8}, {"aborts", '?', 1}, {"goto", 'h', 2}, {"slot", 'b', 1},
    {"outcome", 'b', 1}, {"score", 'd', 8}, {"window", '?', 1}, {"asked", '?', 1}, {"miss_reward", 'd', 8},
    {"miss_outcome", 'b', 1}, {"error_reward", 'd', 8}, {"error_goto", 'h', 2}, {"due", 'd', 8},
    {"tolerance", 'd', 8}, {"graded", 'd', 8}, {"graded_from", 'i', 4}, {"best", 'd', 8}, {"needs", 'i', 4},
    {"first_action", 'i', 4}, {"again", '?', 1},
};

/* Read the shape of a table; return -1 with an error. */
static int shape_of(PyObject *tables, const char *name, int dimensions, Py_ssize_t *shape)
{
    PyObject *object = PyObject_GetAttrString(tables, name);
    int fits;
    if (object == NULL)
        return -1;
    fits = PyArray_Check(object) && PyArray_NDIM((PyArrayObject *)object) == dimensions;
    for (int i = 0; fits && i < dimensions; ++i)
        shape[i] = (Py_ssize_t)PyArray_DIM((PyArrayObject *)object, i);
    Py_DECREF(object);
    if (!fits)
        PyErr_Format(PyExc_TypeError, "tables.%s is no array of %d dimensions.", name, dimensions);
    return fits ? 0 : -1;
}

static int bad_table(const char *name)
{
    PyErr_Format(PyExc_ValueError, "tables.%s holds an index that is out of range.", name);
    return -1;
}

#define IN(value, low, high) ((value) >= (low) && (value) < (high))

/* Copy the tables into one allocation, and check every index in them. */
static int copy_tables(Rules *r, Array *t)
{
    const Py_ssize_t k = r->types, S = r->segments, A = r->actions, K = r->slots, U = r->units, P = r->periods;
    const Py_ssize_t G = r->grades, R = r->script_rows, sds = (r->sd_per_type ? k : 1) * S * U;
    size_t doubles = (size_t)(k * K * G + k), floats = (size_t)(k * S * U + sds + R * U);
    size_t whole = (size_t)(k + 2 * S + P + 2 * K), bytes = (size_t)(k * S * K + S + K);
    char *at = r->memory = PyMem_Calloc(1, (size_t)(k * S * A) * sizeof(Cell) + (size_t)(k * S) * sizeof(Spot) +
                                               (size_t)(k * K) * sizeof(Terms) + 8 * doubles + 4 * floats +
                                               4 * whole + bytes + 64);
#define DATA(type, index) ((const type *)t[index].view.buf)
#define TAKE(field, type, count) r->field = (type *)at; at += (size_t)(count) * sizeof(type)
#define COPY(field, type, index, count) TAKE(field, type, count); memcpy(r->field, t[index].view.buf, (size_t)t[index].view.len)
    if (at == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    /* Types in order of their alignment, so that none needs padding. */
    TAKE(cells, Cell, k * S * A);
    TAKE(spots, Spot, k * S);
    TAKE(terms, Terms, k * K);
    COPY(graded, double, T_GRADED, k * K * G);
    COPY(best, double, T_BEST, k);
    COPY(shown, float, T_SHOWN, k * S * U);
    COPY(sd, float, T_SD, sds);
    COPY(script, float, T_SCRIPT, R * U);
    COPY(limit, int32_t, T_LIMIT, k);
    COPY(follows, int32_t, T_FOLLOWS, S);
    COPY(period, int32_t, T_PERIOD, S);
    COPY(entry, int32_t, T_ENTRY, P);
    COPY(needs, int32_t, T_NEEDS, K);
    COPY(first_action, int32_t, T_FIRST_ACTION, K);
    COPY(window, uint8_t, T_WINDOW, k * S * K);
    COPY(endless, uint8_t, T_ENDLESS, S);
    COPY(again, uint8_t, T_AGAIN, K);

    for (Py_ssize_t s = 0; s < S; ++s) {
        if (!IN(r->period[s], 0, P))
            return bad_table("period");
        if (r->follows[s] != END && !IN(r->follows[s], 0, S))
            return bad_table("follows");
    }
    for (Py_ssize_t p = 0; p < P; ++p)
        if (!IN(r->entry[p], 0, S))
            return bad_table("entry");
    for (Py_ssize_t q = 0; q < K; ++q)
        if (!IN(r->needs[q], -1, K))
            return bad_table("needs");
    for (Py_ssize_t i = 0; i < k * S * A; ++i) {
        Cell *cell = &r->cells[i];
        cell->reward = DATA(double, T_REWARD)[i];
        cell->score = DATA(double, T_SCORE)[i];
        cell->leads = DATA(int16_t, T_GOTO)[i];
        cell->slot = DATA(int8_t, T_SLOT)[i];
        cell->outcome = DATA(int8_t, T_OUTCOME)[i];
        cell->aborts = DATA(uint8_t, T_ABORTS)[i] != 0;
        cell->acts = cell->slot >= 0 || cell->leads != STAY;
        if (!IN(cell->leads, END, P))
            return bad_table("goto");
        if (!IN(cell->slot, -1, K))
            return bad_table("slot");
        if (!IN(cell->outcome, 0, OUTCOMES))
            return bad_table("outcome");
    }
    for (Py_ssize_t i = 0; i < k * S; ++i) {
        Spot *spot = &r->spots[i];
        const float *sd = r->sd + (size_t)(r->sd_per_type ? i : i % S) * (size_t)U;
        spot->duration = DATA(int32_t, T_DURATION)[i];
        spot->period = r->period[i % S];
        spot->target = r->continuous ? 0 : DATA(int64_t, T_TARGET)[i];
        spot->script = DATA(int64_t, T_SCRIPT_AT)[i];
        if (spot->duration < 0)
            return bad_table("duration");
        if (!IN(spot->script, -1, R + 1))
            return bad_table("script_at");
        /* Only units between the first and the last one with noise draw numbers. */
        spot->noise_from = (int32_t)U;
        for (Py_ssize_t u = 0; u < U; ++u)
            if (sd[u] != 0) {
                if (spot->noise_from == (int32_t)U)
                    spot->noise_from = (int32_t)u;
                spot->noise_to = (int32_t)u + 1;
            }
    }
    for (Py_ssize_t i = 0; i < k * K; ++i) {
        Terms *terms = &r->terms[i];
        terms->miss_reward = DATA(double, T_MISS_REWARD)[i];
        terms->error_reward = DATA(double, T_ERROR_REWARD)[i];
        terms->due = DATA(double, T_DUE)[i];
        terms->tolerance = DATA(double, T_TOLERANCE)[i];
        terms->graded_from = DATA(int32_t, T_GRADED_FROM)[i];
        terms->error_leads = DATA(int16_t, T_ERROR_GOTO)[i];
        terms->miss_outcome = DATA(int8_t, T_MISS_OUTCOME)[i];
        terms->asked = DATA(uint8_t, T_ASKED)[i] != 0;
        if (terms->graded_from != 0 && G == 0)
            return bad_table("graded_from");
        if (!IN(terms->error_leads, END, P))
            return bad_table("error_goto");
        if (!IN(terms->miss_outcome, 0, OUTCOMES))
            return bad_table("miss_outcome");
    }
    return 0;
}

static int read_tables(Rules *r, PyObject *tables)
{
    Array held[TABLES];
    PyObject *objects[TABLES], *value;
    Py_ssize_t shape[3], counts[TABLES], sds[3], k, U, S, each;
    int failed = -1;
    memset(held, 0, sizeof held);
    memset(objects, 0, sizeof objects);
    if (shape_of(tables, "reward", 3, shape) < 0)
        return -1;
    k = r->types = shape[0], S = r->segments = shape[1], r->actions = shape[2];
    if (shape_of(tables, "graded", 3, shape) < 0)
        return -1;
    r->slots = shape[1], r->grades = shape[2];
    if (shape_of(tables, "shown", 3, shape) < 0)
        return -1;
    U = r->units = shape[2];
    if (shape_of(tables, "entry", 1, shape) < 0)
        return -1;
    r->periods = shape[0];
    if (shape_of(tables, "script", 2, shape) < 0 || shape_of(tables, "aim", 3, sds) < 0)
        return -1;
    r->script_rows = shape[0], r->dimensions = sds[2];
    if (shape_of(tables, "sd", 3, sds) < 0)
        return -1;
    r->sd_per_type = sds[0] != 1;
    r->continuous = r->dimensions > 0;
    /* Limits far above any task, so that indices fit into the types of the structs above. */
    if (k < 1 || S < 1 || r->actions < 1 || k > (1 << 28) || S > MANY_SEGMENTS || r->actions > (1 << 24) ||
        r->slots > 127 || r->periods < 1 || U < 1 || U > MANY_UNITS) {
        PyErr_SetString(PyExc_ValueError, "tables are empty, or too large to be played.");
        return -1;
    }
    each = times(k, r->slots);
    for (int i = 0; i < TABLES; ++i)
        counts[i] = i <= T_ENDLESS ? S : i <= T_TARGET ? times(k, S) : i <= T_SCORE ? times(times(k, S), r->actions) : each;
    counts[T_ENTRY] = r->periods;
    counts[T_LIMIT] = counts[T_BEST] = k;
    counts[T_SHOWN] = times(times(k, S), U);
    counts[T_SD] = times(times(r->sd_per_type ? k : 1, S), U);
    counts[T_SCRIPT] = times(r->script_rows, U);
    counts[T_WINDOW] = times(times(k, S), r->slots);
    counts[T_GRADED] = times(each, r->grades);
    counts[T_NEEDS] = counts[T_FIRST_ACTION] = counts[T_AGAIN] = r->slots;
    /* First everything that can run Python; after it the memory of the arrays can be held. */
    value = PyObject_GetAttrString(tables, "dt");
    r->dt = value == NULL ? -1 : PyFloat_AsDouble(value);
    Py_XDECREF(value);
    if (PyErr_Occurred())
        return -1;
    value = PyObject_GetAttrString(tables, "trigger");
    r->trigger = value == NULL ? -1 : PyObject_IsTrue(value);
    Py_XDECREF(value);
    if (r->trigger < 0)
        return -1;
    for (int i = 0; i < TABLES; ++i)
        if ((objects[i] = PyObject_GetAttrString(tables, TABLE[i].name)) == NULL)
            goto done;
    for (int i = 0; i < TABLES; ++i) {
        if (i == T_TARGET && r->continuous)
            continue; /* the stepper reads targets of continuous actions from the tables itself */
        if (hold(&held[i], objects[i], TABLE[i].name, TABLE[i].kind, TABLE[i].size, counts[i], 0) < 0)
            goto done;
    }
    failed = copy_tables(r, held);
done:
    for (int i = 0; i < TABLES; ++i) {
        release(&held[i]);
        Py_XDECREF(objects[i]);
    }
    return failed;
}

static int read_whole(PyObject *owner, const char *name, int64_t *result)
{
    PyObject *value = PyObject_GetAttrString(owner, name);
    *result = value == NULL ? -1 : PyLong_AsLongLong(value);
    Py_XDECREF(value);
    return PyErr_Occurred() ? -1 : 0;
}

static int read_log(Rules *r, PyObject *block)
{
    static const struct {
        const char *name;
        char kind;
        int size;
        enum { PER_TRIAL, PER_SLOT, PER_DIMENSION, PER_PERIOD } shape;
    } LOG[KIND] = {
        {"env", 'q', 8, PER_TRIAL}, {"number", 'q', 8, PER_TRIAL}, {"session", 'q', 8, PER_TRIAL},
        {"steps", 'q', 8, PER_TRIAL}, {"aborts", 'q', 8, PER_TRIAL}, {"reward", 'd', 8, PER_TRIAL},
        {"performance", 'd', 8, PER_TRIAL}, {"outcome", 'b', 1, PER_TRIAL}, {"ended", '?', 1, PER_TRIAL},
        {"opened", 'q', 8, PER_SLOT}, {"slot_outcome", 'b', 1, PER_SLOT}, {"slot_choice", 'q', 8, PER_SLOT},
        {"slot_time", 'd', 8, PER_SLOT}, {"slot_score", 'd', 8, PER_SLOT}, {"values", 'd', 8, PER_DIMENSION},
        {"onset", 'q', 8, PER_PERIOD}, {"offset", 'q', 8, PER_PERIOD},
    };
    PyObject *log;
    if (lock_attribute(&r->arrays[KIND], block, "kind", 'q', 8, -1) < 0)
        return -1;
    r->rows = r->arrays[KIND].view.len / 8;
    log = PyObject_GetAttrString(block, "log");
    if (log == NULL)
        return -1;
    for (int i = 0; i < KIND; ++i) {
        const Py_ssize_t columns[] = {1, r->slots, times(r->slots, r->dimensions), r->periods};
        const Py_ssize_t count = times(r->rows, columns[LOG[i].shape]);
        if (lock_attribute(&r->arrays[i], log, LOG[i].name, LOG[i].kind, LOG[i].size, count) < 0) {
            Py_DECREF(log);
            return -1;
        }
    }
    Py_DECREF(log);
    return 0;
}

static Rules *make_rules(PyObject *block)
{
    Rules *r = PyMem_Calloc(1, sizeof *r);
    PyObject *tables;
    if (r == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_INCREF(block);
    r->block = block;
    tables = PyObject_GetAttrString(block, "tables");
    if (tables == NULL || read_tables(r, tables) < 0 || read_log(r, block) < 0 ||
        read_whole(block, "stride", &r->stride) < 0 || read_whole(block, "first_serial", &r->first_serial) < 0) {
        Py_XDECREF(tables);
        free_rules(r);
        return NULL;
    }
    Py_DECREF(tables);
    if (r->stride < 0) {
        PyErr_SetString(PyExc_ValueError, "The stride of a block is negative; expected 0 or more.");
        free_rules(r);
        return NULL;
    }
    return r;
}

/* ------------------------------------------------------------------ the kernel */

/* Place of kernel.py. The fields of an ordinary step come first, in one line of the cache. */
typedef struct {
    Rules *rules; /* of the block; NULL: no block, or a state set by Python that was not checked */
    int64_t here; /* type * segments + segment */
    int64_t clock, until;
    int64_t row;
    double total; /* reward so far; written to the log when the trial ends */
    int64_t waiting;
    int64_t entered;
    int64_t block, type, segment, period_at, number, session, left, last_block, last_row, ended;
} Place;

enum { STATES = 14 };
static const struct {
    const char *name;
    size_t offset;
    int place; /* whether it is part of the position within the trial (WHERE in kernel.py) */
} STATE[STATES] = {
    {"block", offsetof(Place, block), 1},           {"row", offsetof(Place, row), 1},
    {"type", offsetof(Place, type), 1},             {"segment", offsetof(Place, segment), 1},
    {"entered", offsetof(Place, entered), 1},       {"clock", offsetof(Place, clock), 1},
    {"period_at", offsetof(Place, period_at), 0},   {"number", offsetof(Place, number), 0},
    {"session", offsetof(Place, session), 0},       {"left", offsetof(Place, left), 0},
    {"waiting", offsetof(Place, waiting), 0},       {"last_block", offsetof(Place, last_block), 0},
    {"last_row", offsetof(Place, last_row), 0},     {"ended", offsetof(Place, ended), 0},
};
#define STATE_ENDED (STATES - 1)

enum { GIVEN_REWARD, GIVEN_EXTRA, GIVEN_GOTO, GIVEN_OUTCOME, GIVEN_DISTANCE, GIVEN_GRADED, GIVEN_SCORE, GIVEN_VALUES,
       GIVEN };

typedef struct {
    const double *reward, *extra, *distance, *graded, *score, *values;
    const int64_t *leads, *outcome;
    Py_ssize_t slots, dimensions;
} Given;

typedef struct {
    PyObject_HEAD
    Py_ssize_t n, blocks;
    Rules **rules;
    Place *places;
    unsigned long long key;
    Py_ssize_t current;
    int64_t per_session;
    int next_step, once;
    unsigned long owner; /* the thread that is in a step; 0: none */
    int depth;           /* number of its calls that are under way */
    Py_ssize_t ended;    /* number of envs whose trial has ended, and whose next one has not begun */
    PyObject *names, *deal, *check, *check_all;
    PyObject *period_names; /* tuple of str */
    PyObject *info, *info_ended; /* templates of `info`: a copy of a dict is faster than a new one */
    PyObject *last_reward;
    float *noise;           /* room for the numbers of NOISE_LANES rows */
    Py_ssize_t noise_units;
} Kernel;

static PyObject *text_gt, *text_period, *text_new_trial, *text_trial, *text_mask, *text_performance;
static PyObject *mask_gt, *mask_period, *mask_new_trial, *mask_performance;
static PyObject *TrialInfo, *VectorInfo, *TrialResults, *Moved;
static float *noise_table;

/* Errors within a step. They are raised after it, since the GIL may be released during it. */
enum { FINE, BAD_STATE, BAD_GIVEN };

static int fail(int code)
{
    if (code == BAD_STATE)
        PyErr_SetString(PyExc_IndexError, "The state of an env was changed: it stands outside of its tables. Reset it.");
    else
        PyErr_SetString(PyExc_ValueError, "A hook or a continuous action gave values that the tables do not have.");
    return -1;
}

/* Return whether the kernel is initialised, and no other thread is in a step of it; else set an
   error. */
static int idle(const Kernel *kernel)
{
    if (kernel->n && (!kernel->owner || kernel->owner == PyThread_get_thread_ident()))
        return 1;
    PyErr_SetString(PyExc_RuntimeError, kernel->n ? "The env was used from two threads at once; give each its own env."
                                                  : "The kernel was not made; call Kernel(...).");
    return 0;
}

/* Keep other threads out until `leave`; return 0 with an error if one is in already. Calls nest. */
static int come(Kernel *kernel)
{
    if (!idle(kernel))
        return 0;
    kernel->owner = PyThread_get_thread_ident();
    ++kernel->depth;
    return 1;
}

static void leave(Kernel *kernel)
{
    if (kernel->depth && --kernel->depth == 0)
        kernel->owner = 0;
}

/* Return whether every env is in a trial; else set an error. */
static int standing(const Kernel *kernel)
{
    if (!kernel->ended)
        return 1;
    PyErr_SetString(PyExc_RuntimeError, "The last step was interrupted after a trial had ended, before the next one was"
                                        " drawn. Expected envs that are in a trial. Call reset(), or restart()"
                                        " of a Dataset.");
    return 0;
}

static Rules *rules_of(const Kernel *kernel, int64_t block)
{
    return IN(block, 0, (int64_t)kernel->blocks) ? kernel->rules[block] : NULL;
}

/* Set the clock at which the segment or the trial runs out of time. */
static void set_time(Place *place)
{
    const Rules *r = place->rules;
    const int64_t duration = r->endless[place->segment] ? NEVER : r->spots[place->here].duration;
    place->until = place->entered + duration < r->limit[place->type] ? place->entered + duration
                                                                     : r->limit[place->type];
}

/* Return the rules of a place; NULL if it is outside of its tables. A state that Python has set is
   checked here, once, and not on every step. */
static Rules *rules_at(const Kernel *kernel, Place *place)
{
    Rules *r = place->rules;
    if (r != NULL)
        return r;
    r = rules_of(kernel, place->block);
    if (r == NULL || !IN(place->row, 0, (int64_t)r->rows) || !IN(place->type, 0, (int64_t)r->types) ||
        !IN(place->segment, 0, (int64_t)r->segments) || !IN(place->clock, 0, NEVER) ||
        !IN(place->entered, 0, place->clock + 1))
        return NULL;
    place->rules = r;
    place->here = place->type * r->segments + place->segment;
    place->total = LOGGED(r, double, REWARD)[place->row];
    set_time(place);
    return r;
}

static int64_t landing(const Rules *r, int64_t type, int64_t segment)
{
    for (Py_ssize_t i = 0; i < 2 * r->segments; ++i) {
        if (segment < 0 || r->spots[type * r->segments + segment].duration)
            return segment;
        segment = r->follows[segment];
    }
    return END; /* a cycle of periods without steps */
}

static void enter(Place *place, int64_t segment, int64_t before)
{
    const Rules *r = place->rules;
    const uint8_t *window = r->window + place->type * r->segments * r->slots;
    int64_t *onset = LOGGED(r, int64_t, ONSET) + place->row * r->periods;
    if (before < 0 || r->period[segment] != r->period[before])
        place->period_at = place->clock;
    /* A trial begins at clock 0, when `place->segment` is still one of the last trial. */
    if (place->clock)
        LOGGED(r, int64_t, OFFSET)[place->row * r->periods + r->period[place->segment]] = place->clock;
    if (onset[r->period[segment]] < 0)
        onset[r->period[segment]] = place->clock;
    for (Py_ssize_t q = 0; q < r->slots; ++q)
        if (window[segment * r->slots + q] && (before < 0 || !window[before * r->slots + q])) {
            const int64_t at = place->row * r->slots + q;
            if (r->again[q]) {
                LOGGED(r, int8_t, SLOT_OUTCOME)[at] = NONE;
                LOGGED(r, int64_t, SLOT_CHOICE)[at] = -1;
                LOGGED(r, double, SLOT_TIME)[at] = Py_NAN;
                LOGGED(r, double, SLOT_SCORE)[at] = 0.0;
            }
            if (!LOGGED(r, int8_t, SLOT_OUTCOME)[at])
                LOGGED(r, int64_t, OPENED)[at] = place->clock;
        }
    place->segment = segment;
    place->here = place->type * r->segments + segment;
    place->entered = place->clock;
    set_time(place);
}

static int begin(Kernel *kernel, Py_ssize_t env, int64_t index, int64_t row)
{
    Rules *r = rules_of(kernel, index);
    Place *place;
    int64_t type, segment;
    if (r == NULL || !IN(env, 0, kernel->n) || !IN(row, 0, (int64_t)r->rows))
        return BAD_STATE;
    type = LOGGED(r, int64_t, KIND)[row];
    if (!IN(type, 0, (int64_t)r->types))
        return BAD_STATE;
    segment = landing(r, type, 0);
    if (segment < 0)
        return BAD_STATE;
    place = &kernel->places[env];
    place->rules = r;
    place->block = index;
    place->row = row;
    place->type = type;
    place->clock = 0;
    place->total = 0.0;
    kernel->ended -= place->ended != 0;
    place->ended = 0;
    enter(place, segment, -1);
    return FINE;
}

/* ------------------------------------------------------------------ one step of one env */

static int answer(Place *place, Py_ssize_t env, const Cell *cell, int64_t action, const Given *given, double *reward,
                  int64_t *leads)
{
    const Rules *r = place->rules;
    const int k = cell->slot;
    const Py_ssize_t at = place->row * r->slots + k;
    const Terms *terms = &r->terms[place->type * r->slots + k];
    const int64_t steps = place->clock - LOGGED(r, int64_t, OPENED)[at];
    int outcome = cell->outcome, wrong = 0;
    double score = cell->score, pay = NAN;
    if (LOGGED(r, int8_t, SLOT_OUTCOME)[at]) {
        *reward = 0.0;
        *leads = STAY;
        return FINE;
    }
    *leads = cell->leads;
    if (!isnan(terms->due)) {
        if (outcome == CORRECT || r->continuous) { /* a wrong choice is wrong at any moment */
            wrong = fabs((double)steps * r->dt - terms->due) > terms->tolerance + 1e-9;
            if (terms->graded_from) {
                int64_t entry = steps - terms->graded_from;
                entry = entry < 0 ? 0 : entry < r->grades ? entry : r->grades - 1;
                pay = r->graded[(place->type * r->slots + k) * r->grades + entry];
            }
        }
    } else if (given != NULL && given->distance != NULL) {
        if (given->slots != r->slots)
            return BAD_GIVEN;
        wrong = given->distance[env * r->slots + k] > terms->tolerance + 1e-9;
        if (given->graded != NULL && given->score != NULL) {
            pay = given->graded[env * r->slots + k];
            score = isnan(pay) ? score : given->score[env * r->slots + k]; /* graded by distance */
        }
    }
    if (r->needs[k] >= 0 && outcome == CORRECT &&
        LOGGED(r, int8_t, SLOT_OUTCOME)[place->row * r->slots + r->needs[k]] != CORRECT)
        wrong = 1;
    if (wrong) {
        outcome = ERROR;
        score = 0.0;
        *reward = terms->error_reward;
        *leads = terms->error_leads;
    } else if (!isnan(pay)) {
        *reward = pay;
    }
    LOGGED(r, int8_t, SLOT_OUTCOME)[at] = (int8_t)outcome;
    LOGGED(r, double, SLOT_SCORE)[at] = score;
    LOGGED(r, double, SLOT_TIME)[at] = (double)steps * r->dt;
    LOGGED(r, int64_t, SLOT_CHOICE)[at] = r->continuous ? 0 : action - r->first_action[k];
    if (given != NULL && given->values != NULL) {
        if (given->dimensions != r->dimensions)
            return BAD_GIVEN;
        memcpy(LOGGED(r, double, VALUES) + at * r->dimensions, given->values + env * r->dimensions,
               (size_t)r->dimensions * sizeof(double));
    }
    return FINE;
}

static int close_windows(Place *place, Py_ssize_t env, int64_t coming, const Given *given, double *reward)
{
    const Rules *r = place->rules;
    const uint8_t *window = r->window + place->type * r->segments * r->slots;
    for (Py_ssize_t q = 0; q < r->slots; ++q) {
        const Py_ssize_t at = place->row * r->slots + q;
        const Terms *terms = &r->terms[place->type * r->slots + q];
        int outcome;
        double score;
        if (!window[place->segment * r->slots + q] || LOGGED(r, int8_t, SLOT_OUTCOME)[at])
            continue;
        if (coming >= 0 && window[coming * r->slots + q])
            continue;
        if (r->trigger) {
            outcome = terms->miss_outcome;
            score = outcome == CORRECT;
            *reward += terms->miss_reward;
        } else { /* without a trigger, the values on the last step of the window are the answer */
            if (given == NULL || given->distance == NULL || given->graded == NULL || given->score == NULL ||
                given->values == NULL || given->slots != r->slots || given->dimensions != r->dimensions)
                return BAD_GIVEN;
            outcome = given->distance[env * r->slots + q] <= terms->tolerance + 1e-9 ? CORRECT : ERROR;
            score = given->score[env * r->slots + q];
            *reward += given->graded[env * r->slots + q];
            LOGGED(r, int64_t, SLOT_CHOICE)[at] = 0;
            memcpy(LOGGED(r, double, VALUES) + at * r->dimensions, given->values + env * r->dimensions,
                   (size_t)r->dimensions * sizeof(double));
        }
        LOGGED(r, int8_t, SLOT_OUTCOME)[at] = (int8_t)outcome;
        LOGGED(r, double, SLOT_SCORE)[at] = score;
    }
    return FINE;
}

static void end(Kernel *kernel, Py_ssize_t env, int aborted)
{
    Place *place = &kernel->places[env];
    const Rules *r = place->rules;
    const int64_t row = place->row;
    double score = 0.0, best = r->best[place->type], performance;
    int asked = 0, worst = NONE;
    for (Py_ssize_t q = 0; q < r->slots; ++q)
        if (r->terms[place->type * r->slots + q].asked) {
            /* Python can write into the log, and BADNESS is indexed by the outcome. */
            int outcome = LOGGED(r, int8_t, SLOT_OUTCOME)[row * r->slots + q];
            outcome = IN(outcome, 0, OUTCOMES) ? outcome : NONE;
            ++asked;
            score += LOGGED(r, double, SLOT_SCORE)[row * r->slots + q];
            worst = BADNESS[outcome] > BADNESS[worst] ? outcome : worst;
        }
    if (asked && worst == NONE)
        worst = MISS;
    if (isnan(best))
        performance = asked ? score / asked : 0.0;
    else
        performance = best > 0 ? place->total / best : 0.0;
    performance = performance > 0.0 ? performance : 0.0;
    LOGGED(r, int8_t, OUTCOME)[row] = (int8_t)(aborted ? ABORT : worst);
    LOGGED(r, double, PERFORMANCE)[row] = performance < 1.0 ? performance : 1.0;
    LOGGED(r, double, REWARD)[row] = place->total;
    LOGGED(r, int64_t, ENV)[row] = env;
    LOGGED(r, int64_t, NUMBER)[row] = place->number;
    LOGGED(r, int64_t, SESSION)[row] = place->session;
    LOGGED(r, int64_t, STEPS)[row] = place->clock;
    LOGGED(r, int64_t, OFFSET)[row * r->periods + r->period[place->segment]] = place->clock;
    LOGGED(r, uint8_t, ENDED)[row] = 1;
    place->last_block = place->block;
    place->last_row = row;
    kernel->ended += !place->ended;
    place->ended = 1;
    ++place->number;
    if (!--place->left) {
        ++place->session;
        place->left = kernel->per_session;
        place->waiting = kernel->next_step;
    }
}

/* Play one step of an env; the caller has checked its place and action. kernel.py explains the
   order of the parts. `by_hold` is `leaves` there. */
static int advance_one(Kernel *kernel, Py_ssize_t env, int64_t action, const Given *given, double *paid, int *ended)
{
    Place *place = &kernel->places[env];
    const Rules *r = place->rules;
    const Cell *cell = &r->cells[place->here * r->actions + action];
    const int64_t clock = ++place->clock, from = place->segment;
    double reward = cell->reward;
    int64_t leads = STAY, segment = from;
    int moves = 1, by_hold = 0, aborted, code;
    *ended = 0;
    if (cell->aborts)
        ++LOGGED(r, int64_t, ABORTS)[place->row];
    if (clock < place->until && !cell->acts && given == NULL) {
        place->total += reward;
        *paid = reward;
        return FINE;
    }

    if (given != NULL) {
        if (given->extra != NULL)
            reward += given->extra[env];
        if (given->outcome != NULL && r->slots && given->outcome[env] &&
            !LOGGED(r, int8_t, SLOT_OUTCOME)[place->row * r->slots]) {
            if (!IN(given->outcome[env], 0, OUTCOMES))
                return BAD_GIVEN;
            LOGGED(r, int8_t, SLOT_OUTCOME)[place->row * r->slots] = (int8_t)given->outcome[env];
            LOGGED(r, double, SLOT_SCORE)[place->row * r->slots] = given->outcome[env] == CORRECT;
        }
    }
    if (cell->slot >= 0) {
        code = answer(place, env, cell, action, given, &reward, &leads);
        if (code != FINE)
            return code;
    } else if (cell->leads != STAY) {
        leads = cell->leads;
        by_hold = 1;
    }
    if (given != NULL && given->leads != NULL && given->leads[env] != STAY) {
        leads = given->leads[env];
        by_hold = 0;
        if (!IN(leads, END, (int64_t)r->periods))
            return BAD_GIVEN;
    }

    if (leads >= 0) {
        segment = landing(r, place->type, r->entry[leads]);
    } else if (leads == END) {
        segment = END;
    } else if (!r->endless[from] && clock - place->entered >= r->spots[place->here].duration) {
        segment = landing(r, place->type, r->follows[from]);
        code = close_windows(place, env, segment, given, &reward);
        if (code != FINE)
            return code;
    } else {
        moves = 0;
    }
    aborted = by_hold && segment < 0;
    if (segment >= 0 && clock >= r->limit[place->type]) {
        segment = END;
        code = close_windows(place, env, END, given, &reward);
        if (code != FINE)
            return code;
    }

    if (given != NULL && given->reward != NULL)
        reward = given->reward[env];
    place->total += reward;
    *paid = reward;
    if (segment < 0) {
        end(kernel, env, aborted);
        *ended = 1;
    } else if (moves) {
        enter(place, segment, segment > from ? from : -1);
    }
    return FINE;
}

/* ------------------------------------------------------------------ the next trials */

/* Start the next trials of envs; return -1 with an error. */
static int begin_next(Kernel *kernel, const Py_ssize_t *envs, Py_ssize_t count)
{
    PyObject *dry = NULL, *result;
    for (Py_ssize_t i = 0; i < count; ++i) {
        const Py_ssize_t env = envs[i];
        int64_t index = kernel->places[env].block, row;
        Rules *r = rules_of(kernel, index);
        if (r != NULL && r->stride == 1) {
            index = kernel->current;
            r = rules_of(kernel, index);
        }
        if (r == NULL)
            goto outside;
        row = r->stride == 1 ? r->cursor : kernel->places[env].row + r->stride;
        if (r->stride && IN(row, 0, (int64_t)r->rows)) {
            r->cursor = row + 1;
            if (begin(kernel, env, index, row) != FINE)
                goto outside;
        } else {
            PyObject *number = PyLong_FromSsize_t(env);
            if (dry == NULL)
                dry = PyList_New(0);
            if (dry == NULL || number == NULL || PyList_Append(dry, number) < 0) {
                Py_XDECREF(number);
                Py_XDECREF(dry);
                return -1;
            }
            Py_DECREF(number);
        }
    }
    if (dry == NULL)
        return 0;
    result = PyObject_CallOneArg(kernel->deal, dry);
    Py_DECREF(dry);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
outside:
    Py_XDECREF(dry);
    return fail(BAD_STATE);
}

static int deal_all(Kernel *kernel)
{
    PyObject *envs = PyList_New(kernel->n), *result;
    if (envs == NULL)
        return -1;
    for (Py_ssize_t env = 0; env < kernel->n; ++env) {
        PyObject *number = PyLong_FromSsize_t(env);
        if (number == NULL) {
            Py_DECREF(envs);
            return -1;
        }
        PyList_SET_ITEM(envs, env, number);
    }
    result = PyObject_CallOneArg(kernel->deal, envs);
    Py_DECREF(envs);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* ------------------------------------------------------------------ observations */

/* Write the observations of all envs to out (n, units). Noise is made for many rows at once: rows
   wait until there are NOISE_LANES of them, or until the range of noisy units changes. */
static int observe_into(Kernel *kernel, float *out, Py_ssize_t units)
{
    uint64_t serial[NOISE_LANES];
    uint32_t step[NOISE_LANES];
    float *rows[NOISE_LANES];
    const float *levels[NOISE_LANES];
    int waiting = 0, from = 0, to = 0;
    for (Py_ssize_t env = 0; env <= kernel->n; ++env) {
        Place *place = env < kernel->n ? &kernel->places[env] : NULL;
        const Rules *r = NULL;
        const Spot *spot = NULL;
        if (place != NULL) {
            const float *shown;
            float *row = out + env * units;
            r = rules_at(kernel, place);
            if (r == NULL || r->units != units)
                return BAD_STATE;
            spot = &r->spots[place->here];
            shown = r->shown + place->here * units;
            if (spot->script >= 0) {
                const int64_t within = place->clock - place->entered;
                if (!IN(within, 0, (int64_t)r->script_rows - spot->script))
                    return BAD_STATE;
                shown = r->script + (spot->script + within) * units;
            }
            for (Py_ssize_t u = 0; u < units; ++u)
                row[u] = shown[u];
            if (!spot->noise_to)
                spot = NULL;
        }
        if (waiting && (place == NULL || waiting == NOISE_LANES ||
                        (spot != NULL && (spot->noise_from != from || spot->noise_to != to)))) {
            const int width = to - from;
            const float *z = kernel->noise;
            noise_rows(noise_table, kernel->key, (size_t)waiting, serial, step, from, to, kernel->noise);
            for (int i = 0; i < waiting; ++i, z += width)
                for (int u = 0; u < width; ++u)
                    rows[i][from + u] += levels[i][from + u] * z[u];
            waiting = 0;
        }
        if (spot != NULL) {
            from = spot->noise_from;
            to = spot->noise_to;
            serial[waiting] = (uint64_t)(r->first_serial + place->row);
            step[waiting] = (uint32_t)place->clock;
            rows[waiting] = out + env * units;
            levels[waiting] = r->sd + (r->sd_per_type ? place->here : place->segment) * units;
            ++waiting;
        }
    }
    return FINE;
}

static PyObject *new_observations(Kernel *kernel, int dimensions)
{
    const Rules *r = rules_at(kernel, &kernel->places[0]);
    npy_intp shape[2];
    PyObject *seen;
    int code;
    if (r == NULL) {
        fail(BAD_STATE);
        return NULL;
    }
    shape[0] = dimensions == 1 ? r->units : kernel->n;
    shape[1] = r->units;
    seen = PyArray_SimpleNew(dimensions, shape, NPY_FLOAT32);
    if (seen == NULL)
        return NULL;
    code = observe_into(kernel, PyArray_DATA((PyArrayObject *)seen), r->units);
    if (code != FINE) {
        Py_DECREF(seen);
        fail(code);
        return NULL;
    }
    return seen;
}

/* ------------------------------------------------------------------ one step of all envs */

typedef struct {
    PyObject *reward, *ended, *over, *target, *period, *performance, *finished;
} Results;

static void drop(Results *results)
{
    Py_CLEAR(results->reward);
    Py_CLEAR(results->ended);
    Py_CLEAR(results->over);
    Py_CLEAR(results->target);
    Py_CLEAR(results->period);
    Py_CLEAR(results->performance);
    Py_CLEAR(results->finished);
}

/* Make the TrialResults of the trials that have just ended, before the next ones replace them. */
static PyObject *results_of(Kernel *kernel, const Py_ssize_t *envs, npy_intp count)
{
    PyObject *rows = PyArray_SimpleNew(1, &count, NPY_INT64), *blocks = NULL, *results = NULL;
    const int64_t first = kernel->places[envs[0]].block;
    int same = 1;
    if (rows == NULL)
        return NULL;
    for (npy_intp i = 0; i < count; ++i) {
        ((int64_t *)PyArray_DATA((PyArrayObject *)rows))[i] = kernel->places[envs[i]].row;
        same &= kernel->places[envs[i]].block == first;
    }
    if (!same)
        blocks = PyList_New(count);
    for (npy_intp i = 0; i < count && (same ? blocks == NULL : blocks != NULL); ++i) {
        const Rules *r = rules_of(kernel, kernel->places[envs[i]].block);
        if (r == NULL) {
            fail(BAD_STATE);
            Py_CLEAR(blocks);
            break;
        }
        if (same)
            blocks = Py_NewRef(r->block);
        else
            PyList_SET_ITEM(blocks, i, Py_NewRef(r->block));
    }
    if (blocks != NULL) {
        PyObject *arguments[2] = {rows, blocks};
        results = PyObject_Vectorcall(TrialResults, arguments, 2, NULL);
    }
    Py_DECREF(rows);
    Py_XDECREF(blocks);
    return results;
}

/* Play a step of all envs. It must not touch Python: other threads may run meanwhile. */
static int play(Kernel *kernel, const int64_t *actions, const Given *given, Results *results, Py_ssize_t *envs,
                Py_ssize_t *count)
{
    double *reward = PyArray_DATA((PyArrayObject *)results->reward);
    npy_bool *ended = PyArray_DATA((PyArrayObject *)results->ended);
    int64_t *target = PyArray_DATA((PyArrayObject *)results->target);
    int64_t *period = PyArray_DATA((PyArrayObject *)results->period);
    for (Py_ssize_t env = 0; env < kernel->n; ++env) {
        Place *place = &kernel->places[env];
        const Rules *r = rules_at(kernel, place);
        const int64_t action = actions[env];
        int over, code;
        if (r == NULL || !IN(action, 0, (int64_t)r->actions))
            return BAD_STATE;
        target[env] = r->spots[place->here].target;
        period[env] = r->spots[place->here].period;
        if (place->waiting) {
            place->waiting = 0;
            reward[env] = 0.0;
            ended[env] = 0;
            continue;
        }
        code = advance_one(kernel, env, action, given, &reward[env], &over);
        if (code != FINE)
            return code;
        ended[env] = (npy_bool)over;
        if (over)
            envs[(*count)++] = env;
    }
    return FINE;
}

static PyObject *zeros(Py_ssize_t n, int type)
{
    npy_intp shape = n;
    return PyArray_ZEROS(1, &shape, type, 0);
}

static PyObject *empty(Py_ssize_t n, int type)
{
    npy_intp shape = n;
    return PyArray_SimpleNew(1, &shape, type);
}

/* Play a step of all envs, and start the next trials. `performance` and `finished` stay NULL if no
   trial ended. */
static int step_all(Kernel *kernel, const int64_t *actions, const Given *given, Results *results)
{
    Py_ssize_t few[64], *envs = few, count = 0;
    int code, failed = -1;
    int64_t *own = NULL; /* a copy of the actions, which other threads cannot change */
    results->reward = empty(kernel->n, NPY_FLOAT64);
    results->ended = empty(kernel->n, NPY_BOOL);
    results->over = zeros(kernel->n, NPY_BOOL);
    results->target = empty(kernel->n, NPY_INT64);
    results->period = empty(kernel->n, NPY_INT64);
    if (kernel->n > 64)
        envs = PyMem_Malloc((size_t)kernel->n * sizeof *envs);
    if (kernel->n >= MANY && given == NULL)
        own = PyMem_Malloc((size_t)kernel->n * sizeof *own);
    if (envs == NULL || (kernel->n >= MANY && given == NULL && own == NULL))
        PyErr_NoMemory();
    if (PyErr_Occurred())
        goto done;
    if (own != NULL) {
        memcpy(own, actions, (size_t)kernel->n * sizeof *own);
        Py_BEGIN_ALLOW_THREADS
        code = play(kernel, own, given, results, envs, &count);
        Py_END_ALLOW_THREADS
    } else {
        code = play(kernel, actions, given, results, envs, &count);
    }
    if (code != FINE) {
        fail(code);
        goto done;
    }
    if (count) {
        double *performance;
        npy_bool *over = PyArray_DATA((PyArrayObject *)results->over);
        results->performance = zeros(kernel->n, NPY_FLOAT64);
        results->finished = results_of(kernel, envs, count);
        if (results->performance == NULL || results->finished == NULL)
            goto done;
        performance = PyArray_DATA((PyArrayObject *)results->performance);
        for (Py_ssize_t i = 0; i < count; ++i) {
            Place *place = &kernel->places[envs[i]];
            const Rules *r = rules_at(kernel, place);
            if (r == NULL) {
                fail(BAD_STATE);
                goto done;
            }
            performance[envs[i]] = LOGGED(r, double, PERFORMANCE)[place->row];
            over[envs[i]] = place->left == kernel->per_session;
        }
        if (begin_next(kernel, envs, count) < 0)
            goto done;
    }
    Py_XSETREF(kernel->last_reward, Py_NewRef(results->reward));
    failed = 0;
done:
    PyMem_Free(own);
    if (envs != few)
        PyMem_Free(envs);
    if (failed)
        drop(results);
    return failed;
}

/* Hold (N,) int64 actions, in a copy if they are not contiguous; return -1 with an error. */
static int hold_actions(Kernel *kernel, PyObject *actions, Array *array)
{
    PyObject *straight = NULL;
    int failed;
    if (PyArray_Check(actions) && same_type((PyArrayObject *)actions, 'q', 8) &&
        PyArray_SIZE((PyArrayObject *)actions) == kernel->n && !PyArray_ISCARRAY_RO((PyArrayObject *)actions)) {
        straight = PyArray_FromArray((PyArrayObject *)actions, NULL, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_ENSUREARRAY);
        if (straight == NULL)
            return -1;
    }
    failed = hold(array, straight == NULL ? actions : straight, "actions", 'q', 8, kernel->n, 0);
    Py_XDECREF(straight);
    return failed;
}

static int read_given(Kernel *kernel, PyObject *values, Given *given, Array *held)
{
    static const char *NAMES[GIVEN] = {"reward", "extra", "goto", "outcome", "distance", "graded", "score",
                                        "values"};
    const void *data[GIVEN] = {0};
    memset(given, 0, sizeof *given);
    if (!PyTuple_Check(values) || PyTuple_GET_SIZE(values) != GIVEN) {
        PyErr_SetString(PyExc_TypeError, "advance() was given something that is no Given.");
        return -1;
    }
    for (int i = 0; i < GIVEN; ++i) {
        PyObject *value = PyTuple_GET_ITEM(values, i);
        const int whole = i == GIVEN_GOTO || i == GIVEN_OUTCOME, wide = i >= GIVEN_DISTANCE;
        if (value == Py_None)
            continue;
        if (hold(&held[i], value, NAMES[i], whole ? 'q' : 'd', 8, wide ? -1 : kernel->n, 0) < 0)
            return -1;
        data[i] = held[i].view.buf;
        if (wide) {
            Py_ssize_t columns = held[i].view.len / 8 / kernel->n;
            Py_ssize_t *expected = i == GIVEN_VALUES ? &given->dimensions : &given->slots;
            if (held[i].view.len != 8 * columns * kernel->n || ((i == GIVEN_GRADED || i == GIVEN_SCORE) && columns != given->slots)) {
                PyErr_Format(PyExc_ValueError, "%s has %zd items, which %zd envs cannot share.", NAMES[i],
                             held[i].view.len / 8, kernel->n);
                return -1;
            }
            *expected = columns;
        }
    }
    given->reward = data[GIVEN_REWARD], given->extra = data[GIVEN_EXTRA];
    given->leads = data[GIVEN_GOTO], given->outcome = data[GIVEN_OUTCOME];
    given->distance = data[GIVEN_DISTANCE], given->graded = data[GIVEN_GRADED];
    given->score = data[GIVEN_SCORE], given->values = data[GIVEN_VALUES];
    return 0;
}

static PyObject *Kernel_advance(Kernel *kernel, PyObject *arguments)
{
    PyObject *actions, *values = Py_None, *moved = NULL;
    Array array = {0}, held[GIVEN];
    Given given;
    Results results = {0};
    int failed;
    memset(held, 0, sizeof held);
    if (!PyArg_ParseTuple(arguments, "O|O", &actions, &values) || !come(kernel))
        return NULL;
    failed = !standing(kernel) || hold_actions(kernel, actions, &array) < 0 ||
             (values != Py_None && read_given(kernel, values, &given, held) < 0) ||
             step_all(kernel, array.view.buf, values == Py_None ? NULL : &given, &results) < 0;
    leave(kernel);
    release(&array);
    for (int i = 0; i < GIVEN; ++i)
        release(&held[i]);
    if (failed)
        return NULL;
    if (results.performance == NULL)
        results.performance = zeros(kernel->n, NPY_FLOAT64);
    if (results.performance != NULL)
        moved = PyObject_CallFunctionObjArgs(Moved, results.reward, results.ended, results.over, results.target,
                                             results.period, results.performance,
                                             results.finished ? results.finished : Py_None, NULL);
    drop(&results);
    return moved;
}

/* Make the (N,) names of periods. */
static PyObject *named(Kernel *kernel, PyObject *period)
{
    PyArrayObject *names = (PyArrayObject *)kernel->names;
    npy_intp n = kernel->n, size = PyArray_ITEMSIZE(names) / 4, many = PyArray_SIZE(names);
    PyObject *result;
    const int64_t *index = PyArray_DATA((PyArrayObject *)period);
    Py_INCREF(PyArray_DESCR(names));
    result = PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(names), 1, &n, NULL, NULL, 0, NULL);
    if (result == NULL)
        return NULL;
    for (npy_intp i = 0; i < n; ++i) {
        int64_t p = index[i] < many ? index[i] : many - 1;
        const uint32_t *name = (const uint32_t *)PyArray_DATA(names) + p * size;
        uint32_t *copy = (uint32_t *)PyArray_DATA((PyArrayObject *)result) + i * size;
        for (npy_intp c = 0; c < size; ++c)
            copy[c] = name[c];
    }
    return result;
}

static PyObject *vector_step(Kernel *kernel, PyObject *given_actions)
{
    PyObject *actions = NULL, *info = NULL, *names = NULL, *never = NULL, *always = NULL, *seen = NULL, *result = NULL;
    Array array = {0};
    Results results = {0};
    const int64_t *chosen;
    int in_range = 1, failed;
    if (!standing(kernel) || (kernel->places[0].block < 0 && deal_all(kernel) < 0))
        return NULL;
    if (PyArray_CheckExact(given_actions) && PyArray_TYPE((PyArrayObject *)given_actions) == NPY_INT64 &&
        PyArray_NDIM((PyArrayObject *)given_actions) == 1 &&
        PyArray_DIM((PyArrayObject *)given_actions, 0) == kernel->n &&
        PyArray_IS_C_CONTIGUOUS((PyArrayObject *)given_actions) && PyArray_ISALIGNED((PyArrayObject *)given_actions)) {
        const Rules *r = rules_at(kernel, &kernel->places[0]);
        chosen = PyArray_DATA((PyArrayObject *)given_actions);
        for (Py_ssize_t env = 0; r != NULL && env < kernel->n; ++env)
            in_range &= IN(chosen[env], 0, (int64_t)r->actions);
        if (r != NULL && in_range)
            actions = Py_NewRef(given_actions);
    }
    if (actions == NULL && (actions = PyObject_CallOneArg(kernel->check_all, given_actions)) == NULL)
        return NULL;
    failed = hold_actions(kernel, actions, &array) < 0 || !idle(kernel) || !standing(kernel) ||
             step_all(kernel, array.view.buf, NULL, &results) < 0;
    release(&array);
    Py_DECREF(actions);
    if (failed)
        return NULL;
    info = PyDict_New();
    names = named(kernel, results.period);
    never = zeros(kernel->n, NPY_BOOL);
    always = zeros(kernel->n, NPY_BOOL);
    seen = new_observations(kernel, 2);
    if (info == NULL || names == NULL || never == NULL || always == NULL || seen == NULL)
        goto done;
    memset(PyArray_DATA((PyArrayObject *)always), 1, (size_t)kernel->n);
    if (PyDict_SetItem(info, text_gt, results.target) < 0 || PyDict_SetItem(info, mask_gt, always) < 0 ||
        PyDict_SetItem(info, text_period, names) < 0 || PyDict_SetItem(info, mask_period, always) < 0 ||
        PyDict_SetItem(info, text_new_trial, results.ended) < 0 || PyDict_SetItem(info, mask_new_trial, always) < 0)
        goto done;
    if (results.finished != NULL) {
        PyObject *number = PyLong_FromSsize_t(kernel->n), *trial = NULL;
        if (number != NULL) {
            PyObject *arguments2[2] = {results.finished, number};
            trial = PyObject_Vectorcall(VectorInfo, arguments2, 2, NULL);
            Py_DECREF(number);
        }
        if (trial == NULL)
            goto done;
        failed = PyDict_SetItem(info, text_trial, trial) < 0 || PyDict_SetItem(info, text_mask, results.ended) < 0 ||
                 PyDict_SetItem(info, text_performance, results.performance) < 0 ||
                 PyDict_SetItem(info, mask_performance, results.ended) < 0;
        Py_DECREF(trial);
        if (failed)
            goto done;
    }
    result = kernel->once ? PyTuple_Pack(5, seen, results.reward, results.over, never, info)
                          : PyTuple_Pack(5, seen, results.reward, never, results.over, info);
done:
    Py_XDECREF(info);
    Py_XDECREF(names);
    Py_XDECREF(never);
    Py_XDECREF(always);
    Py_XDECREF(seen);
    drop(&results);
    return result;
}

static PyObject *Kernel_vector_step(Kernel *kernel, PyObject *actions)
{
    PyObject *result;
    if (!come(kernel))
        return NULL;
    result = vector_step(kernel, actions);
    leave(kernel);
    return result;
}

/* ------------------------------------------------------------------ one step of the only env */

static PyObject *step(Kernel *kernel, PyObject *given_action)
{
    PyObject *info = NULL, *seen = NULL, *pay = NULL, *value, *result = NULL, *flag;
    Py_ssize_t env = 0;
    Place *place = kernel->places;
    Rules *r;
    long long action = -1;
    double reward;
    int64_t target, period;
    int ended, over = 0, code, failed;
    if (kernel->n != 1) {
        PyErr_SetString(PyExc_ValueError, "step() plays one env; use vector_step() for several.");
        return NULL;
    }
    if (!standing(kernel) || (kernel->places[0].block < 0 && deal_all(kernel) < 0))
        return NULL;
    if (PyLong_Check(given_action) || PyArray_IsScalar(given_action, Integer)) {
        action = PyLong_AsLongLong(given_action);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            action = -1;
        }
    }
    r = rules_at(kernel, place);
    if (r == NULL) {
        fail(BAD_STATE);
        return NULL;
    }
    if (!IN(action, 0, (long long)r->actions)) {
        value = PyObject_CallOneArg(kernel->check, given_action);
        if (value == NULL)
            return NULL;
        action = PyLong_AsLongLong(value);
        Py_DECREF(value);
        r = rules_at(kernel, place);
        if (PyErr_Occurred())
            return NULL;
        if (r == NULL || !IN(action, 0, (long long)r->actions)) {
            fail(BAD_STATE);
            return NULL;
        }
        if (!standing(kernel)) /* checking the action can have run Python */
            return NULL;
    }
    target = r->spots[place->here].target;
    period = r->spots[place->here].period;
    code = advance_one(kernel, 0, action, NULL, &reward, &ended);
    if (code != FINE || period >= PyTuple_GET_SIZE(kernel->period_names)) {
        fail(code == FINE ? BAD_STATE : code);
        return NULL;
    }
    info = PyDict_Copy(ended ? kernel->info_ended : kernel->info);
    value = PyLong_FromLongLong(target);
    failed = info == NULL || value == NULL || PyDict_SetItem(info, text_gt, value) < 0 ||
             PyDict_SetItem(info, text_period, PyTuple_GET_ITEM(kernel->period_names, period)) < 0 ||
             PyDict_SetItem(info, text_new_trial, ended ? Py_True : Py_False) < 0;
    Py_XDECREF(value);
    if (failed)
        goto done;
    if (ended) {
        PyObject *number, *trial = NULL;
        const int64_t row = place->row;
        r = rules_at(kernel, place); /* filling the dict can have run Python */
        if (r == NULL) {
            fail(BAD_STATE);
            goto done;
        }
        value = PyFloat_FromDouble(LOGGED(r, double, PERFORMANCE)[row]);
        number = PyLong_FromLongLong(row);
        if (number != NULL) {
            PyObject *arguments[2] = {Py_NewRef(r->block), number}; /* the call can detach the block */
            trial = PyObject_Vectorcall(TrialInfo, arguments, 2, NULL);
            Py_DECREF(arguments[0]);
        }
        failed = trial == NULL || value == NULL || PyDict_SetItem(info, text_trial, trial) < 0 ||
                 PyDict_SetItem(info, text_performance, value) < 0;
        Py_XDECREF(number);
        Py_XDECREF(trial);
        Py_XDECREF(value);
        over = place->left == kernel->per_session;
        if (failed || begin_next(kernel, &env, 1) < 0)
            goto done;
    }
    seen = new_observations(kernel, 1);
    pay = PyFloat_FromDouble(reward);
    if (seen == NULL || pay == NULL)
        goto done;
    flag = over ? Py_True : Py_False;
    result = kernel->once ? PyTuple_Pack(5, seen, pay, flag, Py_False, info)
                          : PyTuple_Pack(5, seen, pay, Py_False, flag, info);
done:
    Py_XDECREF(info);
    Py_XDECREF(seen);
    Py_XDECREF(pay);
    return result;
}

static PyObject *Kernel_step(Kernel *kernel, PyObject *action)
{
    PyObject *result;
    if (!come(kernel))
        return NULL;
    result = step(kernel, action);
    leave(kernel);
    return result;
}

/* ------------------------------------------------------------------ the other methods */

static PyObject *Kernel_claim(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    return come(kernel) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *Kernel_release(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    if (!idle(kernel))
        return NULL;
    leave(kernel);
    Py_RETURN_NONE;
}

/* Return the index of a name of the state, or -1 with an error. */
static int state_named(PyObject *name)
{
    for (int i = 0; i < STATES; ++i)
        if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, STATE[i].name) == 0)
            return i;
    PyErr_Format(PyExc_AttributeError, "An env has no state %R.", name);
    return -1;
}

static PyObject *Kernel_get(Kernel *kernel, PyObject *name)
{
    const int which = state_named(name);
    PyObject *values = which < 0 ? NULL : empty(kernel->n, NPY_INT64);
    if (values != NULL)
        for (Py_ssize_t env = 0; env < kernel->n; ++env)
            memcpy((int64_t *)PyArray_DATA((PyArrayObject *)values) + env,
                   (const char *)&kernel->places[env] + STATE[which].offset, sizeof(int64_t));
    return values;
}

static PyObject *Kernel_set(Kernel *kernel, PyObject *arguments)
{
    PyObject *name, *values;
    Array array = {0};
    int which;
    if (!PyArg_ParseTuple(arguments, "OO", &name, &values) || (which = state_named(name)) < 0 || !idle(kernel) ||
        hold(&array, values, "values", 'q', 8, kernel->n, 0) < 0)
        return NULL;
    for (Py_ssize_t env = 0; env < kernel->n; ++env) {
        memcpy((char *)&kernel->places[env] + STATE[which].offset, (const int64_t *)array.view.buf + env,
               sizeof(int64_t));
        if (STATE[which].place)
            kernel->places[env].rules = NULL;
    }
    if (which == STATE_ENDED) {
        kernel->ended = 0;
        for (Py_ssize_t env = 0; env < kernel->n; ++env)
            kernel->ended += kernel->places[env].ended != 0;
    }
    release(&array);
    Py_RETURN_NONE;
}

static PyObject *Kernel_sync(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    if (!idle(kernel))
        return NULL;
    for (Py_ssize_t env = 0; env < kernel->n; ++env) {
        const Place *place = &kernel->places[env];
        if (place->rules != NULL)
            LOGGED(place->rules, double, REWARD)[place->row] = place->total;
    }
    Py_RETURN_NONE;
}

static PyObject *Kernel_observe(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    return idle(kernel) ? new_observations(kernel, 2) : NULL;
}

/* Copy the table of noise.py. It is loaded on first use: making it takes a while, and not every
   task has noise. */
static int load_noise(void)
{
    PyObject *module, *table;
    Array array = {0};
    if (noise_table != NULL)
        return 0;
    module = PyImport_ImportModule("neurogym_core.trials.noise");
    table = module == NULL ? NULL : PyObject_CallMethod(module, "table", NULL);
    Py_XDECREF(module);
    if (table == NULL)
        return -1;
    if (hold(&array, table, "table", 'f', 4, 2 * NOISE_CELLS, 0) == 0) {
        float *copy = PyMem_RawMalloc((size_t)array.view.len);
        if (copy == NULL)
            PyErr_NoMemory();
        else
            memcpy(copy, array.view.buf, (size_t)array.view.len);
        if (noise_table == NULL)
            noise_table = copy;
        else /* making the table has called this function, too */
            PyMem_RawFree(copy);
    }
    release(&array);
    Py_DECREF(table);
    return noise_table == NULL ? -1 : 0;
}

/* Make room for the noise of the widest segment of a block. */
static int ensure_noise(Kernel *kernel, const Rules *r)
{
    Py_ssize_t width = 0;
    float *room;
    for (Py_ssize_t i = 0; i < r->types * r->segments; ++i)
        if (r->spots[i].noise_to - r->spots[i].noise_from > width)
            width = r->spots[i].noise_to - r->spots[i].noise_from;
    if (width && load_noise() < 0)
        return -1;
    if (width <= kernel->noise_units)
        return 0;
    room = PyMem_Realloc(kernel->noise, (size_t)width * NOISE_LANES * sizeof(float));
    if (room == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    kernel->noise = room;
    kernel->noise_units = width;
    return 0;
}

static PyObject *Kernel_attach(Kernel *kernel, PyObject *arguments)
{
    Py_ssize_t index;
    PyObject *block;
    Rules *r = NULL, *old;
    if (!PyArg_ParseTuple(arguments, "nO", &index, &block))
        return NULL;
    if (!IN(index, 0, MANY_BLOCKS)) {
        PyErr_Format(PyExc_ValueError, "A block was attached under the index %zd, which is out of range.", index);
        return NULL;
    }
    if (block != Py_None) {
        r = make_rules(block);
        if (r == NULL || ensure_noise(kernel, r) < 0) {
            free_rules(r);
            return NULL;
        }
    }
    if (!idle(kernel)) { /* checked after making the rules, during which other threads may run */
        free_rules(r);
        return NULL;
    }
    if (index >= kernel->blocks) {
        Rules **more = PyMem_Realloc(kernel->rules, (size_t)(index + 1) * sizeof *more);
        if (more == NULL) {
            free_rules(r);
            return PyErr_NoMemory();
        }
        kernel->rules = more;
        while (kernel->blocks <= index)
            kernel->rules[kernel->blocks++] = NULL;
    }
    old = kernel->rules[index];
    kernel->rules[index] = r;
    for (Py_ssize_t env = 0; env < kernel->n; ++env)
        if (kernel->places[env].block == index)
            kernel->places[env].rules = NULL; /* rules_at checks it against the new block */
    free_rules(old);
    Py_RETURN_NONE;
}

static PyObject *Kernel_begin(Kernel *kernel, PyObject *arguments)
{
    Py_ssize_t env, index, row;
    if (!PyArg_ParseTuple(arguments, "nnn", &env, &index, &row))
        return NULL;
    if (!idle(kernel))
        return NULL;
    if (begin(kernel, env, index, row) != FINE) {
        PyErr_Format(PyExc_IndexError, "Env %zd cannot begin with row %zd of block %zd.", env, row, index);
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *Kernel_cursor(Kernel *kernel, PyObject *arguments)
{
    Py_ssize_t index;
    PyObject *row = Py_None;
    long long value = 0;
    Rules *r;
    if (!PyArg_ParseTuple(arguments, "n|O", &index, &row))
        return NULL;
    if (row != Py_None) {
        value = PyLong_AsLongLong(row);
        if (PyErr_Occurred())
            return NULL;
    }
    r = idle(kernel) ? rules_of(kernel, index) : NULL;
    if (PyErr_Occurred())
        return NULL;
    if (r == NULL) {
        PyErr_Format(PyExc_IndexError, "There is no block under the index %zd.", index);
        return NULL;
    }
    if (row != Py_None)
        r->cursor = value;
    return PyLong_FromLongLong(r->cursor);
}

/* Return the envs of a list, checked; NULL with an error. */
static Py_ssize_t *listed(Kernel *kernel, PyObject *list, Py_ssize_t *count)
{
    Py_ssize_t *envs;
    if (!idle(kernel))
        return NULL;
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "Expected a list of envs.");
        return NULL;
    }
    *count = PyList_GET_SIZE(list);
    envs = PyMem_Malloc((size_t)(*count + 1) * sizeof *envs);
    if (envs == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < *count; ++i) {
        envs[i] = PyLong_AsSsize_t(PyList_GET_ITEM(list, i));
        if (PyErr_Occurred() || !IN(envs[i], 0, kernel->n)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_IndexError, "An env of the list is out of range.");
            PyMem_Free(envs);
            return NULL;
        }
    }
    return envs;
}

static PyObject *Kernel_begin_next(Kernel *kernel, PyObject *list)
{
    Py_ssize_t count, *envs = listed(kernel, list, &count);
    int failed;
    if (envs == NULL)
        return NULL;
    failed = !come(kernel);
    if (!failed) {
        failed = begin_next(kernel, envs, count);
        leave(kernel);
    }
    PyMem_Free(envs);
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *Kernel_stop(Kernel *kernel, PyObject *list)
{
    Py_ssize_t count, *envs = listed(kernel, list, &count);
    int failed = 0;
    if (envs == NULL)
        return NULL;
    if (!come(kernel)) {
        PyMem_Free(envs);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count && !failed; ++i) {
        if (rules_at(kernel, &kernel->places[envs[i]]) == NULL)
            failed = fail(BAD_STATE);
        else
            end(kernel, envs[i], 0);
    }
    failed = failed || begin_next(kernel, envs, count) < 0;
    leave(kernel);
    PyMem_Free(envs);
    return failed ? NULL : Py_NewRef(Py_None);
}

static int Kernel_init(Kernel *kernel, PyObject *arguments, PyObject *keywords)
{
    PyObject *names, *deal, *check, *check_all, *list;
    Py_ssize_t n;
    long long per_session;
    unsigned long long key;
    int next_step;
    if (keywords != NULL && PyDict_GET_SIZE(keywords)) {
        PyErr_SetString(PyExc_TypeError, "Kernel() takes no keywords.");
        return -1;
    }
    if (!PyArg_ParseTuple(arguments, "nKO!LpOOO", &n, &key, &PyArray_Type, &names, &per_session, &next_step,
                          &deal, &check, &check_all))
        return -1;
    if (kernel->places != NULL) { /* checked after parsing, which can run Python, and __init__ */
        PyErr_SetString(PyExc_TypeError, "A kernel is made once.");
        return -1;
    }
    if (n < 1 || n > (1 << 28) || PyArray_NDIM((PyArrayObject *)names) != 1 ||
        PyArray_SIZE((PyArrayObject *)names) < 1 || PyArray_TYPE((PyArrayObject *)names) != NPY_UNICODE ||
        !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)names) || per_session < 1) {
        PyErr_SetString(PyExc_ValueError, "Kernel() was given envs, names or sessions that it cannot play.");
        return -1;
    }
    kernel->places = PyMem_Calloc((size_t)n, sizeof(Place));
    if (kernel->places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t env = 0; env < n; ++env) {
        Place *place = &kernel->places[env];
        place->block = place->last_block = place->last_row = -1;
        place->left = per_session;
    }
    kernel->info = Py_BuildValue("{OsOsOs}", text_gt, "", text_period, "", text_new_trial, "");
    kernel->info_ended = Py_BuildValue("{OsOsOsOsOs}", text_gt, "", text_period, "", text_new_trial, "", text_trial, "",
                                       text_performance, "");
    Py_XSETREF(kernel->last_reward, zeros(n, NPY_FLOAT64)); /* Python can have set the attribute */
    if (kernel->info == NULL || kernel->info_ended == NULL || kernel->last_reward == NULL)
        return -1;
    /* A private copy, never of a subclass: no other code can change its size. */
    kernel->names = PyArray_FromArray((PyArrayObject *)names, NULL,
                                      NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY | NPY_ARRAY_ENSUREARRAY);
    if (kernel->names == NULL)
        return -1;
    list = PyArray_ToList((PyArrayObject *)kernel->names);
    kernel->period_names = list == NULL ? NULL : PyList_AsTuple(list);
    Py_XDECREF(list);
    if (kernel->period_names == NULL)
        return -1;
    kernel->key = key;
    kernel->per_session = per_session;
    kernel->once = per_session == 1;
    kernel->next_step = next_step;
    kernel->deal = Py_NewRef(deal);
    kernel->check = Py_NewRef(check);
    kernel->check_all = Py_NewRef(check_all);
    kernel->n = n;
    return 0;
}

static int Kernel_traverse(Kernel *kernel, visitproc visit, void *arg)
{
    Py_VISIT(kernel->last_reward);
    Py_VISIT(kernel->deal);
    Py_VISIT(kernel->check);
    Py_VISIT(kernel->check_all);
    for (Py_ssize_t i = 0; i < kernel->blocks; ++i)
        if (kernel->rules[i] != NULL)
            Py_VISIT(kernel->rules[i]->block);
    return 0;
}

static int Kernel_clear(Kernel *kernel)
{
    kernel->n = 0; /* `idle` refuses calls from now on: clearing can run Python, and frees the rules */
    Py_CLEAR(kernel->last_reward);
    Py_CLEAR(kernel->deal);
    Py_CLEAR(kernel->check);
    Py_CLEAR(kernel->check_all);
    for (Py_ssize_t i = 0; i < kernel->blocks; ++i) {
        Rules *r = kernel->rules[i];
        kernel->rules[i] = NULL;
        free_rules(r);
    }
    return 0;
}

static void Kernel_dealloc(Kernel *kernel)
{
    PyObject_GC_UnTrack(kernel);
    Kernel_clear(kernel);
    PyMem_Free(kernel->rules);
    PyMem_Free(kernel->noise);
    Py_XDECREF(kernel->names);
    Py_XDECREF(kernel->period_names);
    Py_XDECREF(kernel->info);
    Py_XDECREF(kernel->info_ended);
    PyMem_Free(kernel->places);
    Py_TYPE(kernel)->tp_free((PyObject *)kernel);
}

/* ------------------------------------------------------------------ fill of render.py */

static int out_of_range(const char *name)
{
    PyErr_Format(PyExc_ValueError, "fill() was given %s out of range.", name);
    return -1;
}

enum { F_SHOWN, F_SD, F_SCRIPT, F_SCRIPT_AT, F_TARGET, F_TARGET_SCRIPT, F_WEIGHT, F_KIND, F_SERIAL, F_PATH, F_SKIP,
       F_PLAYED, F_OFFSET, F_INPUTS, F_TARGETS, F_WEIGHTS, F_REAL, FILLED };

typedef struct {
    Py_ssize_t types, segments, columns, units, dimensions, trials, places, script_rows, target_rows;
    int sd_per_type, continuous, padded;
    unsigned long long key;
    float *noise;
    Array a[FILLED];
} Filling;

#define F(type, name) ((type *)f->a[name].view.buf)

static int overlap(const Array *a, const Array *b)
{
    const char *x = a->view.buf, *y = b->view.buf;
    return a->view.len && b->view.len && x < y + b->view.len && y < x + a->view.len;
}

/* Largest number of steps of a path: sums of two such numbers cannot overflow. */
#define LONGEST_PATH ((int64_t)1 << 60)

static int fill_trial(Filling *f, Py_ssize_t i)
{
    const int64_t kind = F(int64_t, F_KIND)[i], skip = F(int64_t, F_SKIP)[i], played = F(int64_t, F_PLAYED)[i];
    const int64_t *path = F(int64_t, F_PATH) + i * f->columns;
    const int64_t rows = f->script_rows > f->target_rows ? f->script_rows : f->target_rows;
    int64_t clock = skip, onset = 0, at = F(int64_t, F_OFFSET)[i], stop;
    const Py_ssize_t U = f->units;
    if (!IN(kind, 0, (int64_t)f->types))
        return out_of_range("types");
    if (!IN(skip, 0, LONGEST_PATH) || !IN(played, 0, LONGEST_PATH) || at < 0 || played > f->places - at)
        return out_of_range("places");
    stop = skip + played;
    for (Py_ssize_t column = 0; column < f->columns && clock < stop; ++column) {
        const Py_ssize_t s = column % f->segments, here = kind * f->segments + s;
        int64_t edge, last, script = F(int64_t, F_SCRIPT_AT)[here];
        int from = -1, to = 0;
        if (!IN(path[column], 0, LONGEST_PATH - onset))
            return out_of_range("path");
        if (rows && !IN(script, -1, rows + 1)) /* before any sum with it, which could overflow */
            return out_of_range("script_at");
        edge = onset + path[column];
        last = edge < stop ? edge : stop;
        if (clock < last) {
            const Py_ssize_t steps = (Py_ssize_t)(last - clock);
            const float *sd = F(float, F_SD) + (f->sd_per_type ? here : s) * U;
            float *out = F(float, F_INPUTS) + at * U;
            const int64_t within = clock - onset;
            if (script >= 0 && f->script_rows) {
                if (within < 0 || steps > f->script_rows - script - within)
                    return out_of_range("script_at");
                memcpy(out, F(float, F_SCRIPT) + (script + within) * U, (size_t)(steps * U) * sizeof(float));
            } else {
                const float *shown = F(float, F_SHOWN) + here * U;
                for (Py_ssize_t j = 0; j < steps; ++j)
                    for (Py_ssize_t u = 0; u < U; ++u)
                        out[j * U + u] = shown[u];
            }
            for (Py_ssize_t u = 0; u < U; ++u)
                if (sd[u] != 0) {
                    from = from < 0 ? (int)u : from;
                    to = (int)u + 1;
                }
            if (to) {
                const int width = to - from;
                for (Py_ssize_t j = 0; j < steps; j += NOISE_LANES) {
                    Py_ssize_t some = steps - j < NOISE_LANES ? steps - j : NOISE_LANES;
                    const float *z = f->noise;
                    noise_run(noise_table, f->key, (uint64_t)F(int64_t, F_SERIAL)[i], (uint32_t)(clock + j),
                              (size_t)some, from, to, f->noise);
                    for (Py_ssize_t step = j; step < j + some; ++step, z += width)
                        for (int u = 0; u < width; ++u)
                            out[step * U + from + u] += sd[from + u] * z[u];
                }
            }
            for (Py_ssize_t j = 0; j < steps; ++j)
                F(float, F_WEIGHTS)[at + j] = F(float, F_WEIGHT)[here];
            if (f->padded)
                memset(F(uint8_t, F_REAL) + at, 1, (size_t)steps);
            if (!f->continuous) {
                for (Py_ssize_t j = 0; j < steps; ++j)
                    F(int64_t, F_TARGETS)[at + j] = F(int64_t, F_TARGET)[here];
            } else {
                const Py_ssize_t D = f->dimensions;
                for (Py_ssize_t j = 0; j < steps; ++j) {
                    const float *target = F(float, F_TARGET) + here * D;
                    if (f->target_rows) {
                        if (!IN(script + within + j, 0, (int64_t)f->target_rows))
                            return out_of_range("script_at");
                        target = F(float, F_TARGET_SCRIPT) + (script + within + j) * D;
                    }
                    memcpy(F(float, F_TARGETS) + (at + j) * D, target, (size_t)D * sizeof(float));
                }
            }
            at += steps;
            clock = last;
        }
        onset = edge;
    }
    if (clock < stop)
        return out_of_range("played");
    return 0;
}

static PyObject *fill(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    static const char *NAMES[FILLED] = {"shown", "sd", "script", "script_at", "target", "target_script", "weight",
                                        "kind", "serial", "path", "skip", "played", "offset", "inputs", "targets",
                                        "weights", "real"};
    PyObject *tables, *steps, *objects[FILLED], *played = NULL, *skip = NULL;
    Filling filling, *f = &filling;
    Py_ssize_t shape[3], counts[FILLED], k, S;
    int failed = -1, noisy = 0;
    memset(f, 0, sizeof *f);
    memset(objects, 0, sizeof objects);
    if (!PyArg_ParseTuple(arguments, "OOOKOOOO", &tables, &steps, &objects[F_OFFSET], &f->key, &objects[F_INPUTS],
                          &objects[F_TARGETS], &objects[F_WEIGHTS], &objects[F_REAL]))
        return NULL;
    for (int i = F_OFFSET; i < FILLED; ++i)
        Py_INCREF(objects[i]);
    if (shape_of(tables, "shown", 3, shape) < 0)
        goto done;
    k = f->types = shape[0], S = f->segments = shape[1], f->units = shape[2];
    if (shape_of(tables, "sd", 3, shape) < 0)
        goto done;
    f->sd_per_type = shape[0] != 1;
    if (shape_of(tables, "target_script", 2, shape) < 0)
        goto done;
    f->target_rows = shape[0];
    f->continuous = shape_of(tables, "target", 3, shape) == 0;
    PyErr_Clear();
    f->dimensions = f->continuous ? shape[2] : 0;
    if (shape_of(tables, "script", 2, shape) < 0)
        goto done;
    f->script_rows = shape[0];
    if (shape_of(steps, "path", 2, shape) < 0)
        goto done;
    f->trials = shape[0];
    f->columns = shape[1]; /* one for each segment, once for every round */
    if (S < 1 || f->columns % S || S > MANY_SEGMENTS || f->units > MANY_UNITS) {
        out_of_range("path");
        goto done;
    }
    for (int i = 0; i < F_OFFSET; ++i) {
        objects[i] = PyObject_GetAttrString(i < F_KIND ? tables : steps, NAMES[i]);
        if (objects[i] == NULL)
            goto done;
    }
again:
    if (objects[F_SKIP] == Py_None || objects[F_PLAYED] == Py_None) { /* default: whole trials */
        npy_intp n = f->trials;
        skip = PyArray_ZEROS(1, &n, NPY_INT64, 0);
        played = PyArray_ZEROS(1, &n, NPY_INT64, 0);
        if (skip == NULL || played == NULL || hold(&f->a[F_PATH], objects[F_PATH], "path", 'q', 8, times(n, f->columns), 0) < 0)
            goto done;
        for (Py_ssize_t i = 0; i < f->trials * f->columns; ++i) {
            int64_t *sum = (int64_t *)PyArray_DATA((PyArrayObject *)played) + i / f->columns;
            if (!IN(F(int64_t, F_PATH)[i], 0, LONGEST_PATH - *sum)) {
                out_of_range("path");
                goto done;
            }
            *sum += F(int64_t, F_PATH)[i];
        }
        release(&f->a[F_PATH]);
        Py_SETREF(objects[F_SKIP], Py_NewRef(skip));
        Py_SETREF(objects[F_PLAYED], Py_NewRef(played));
    }
    if (hold(&f->a[F_WEIGHTS], objects[F_WEIGHTS], "weights", 'f', 4, -1, 1) < 0)
        goto done;
    f->places = f->a[F_WEIGHTS].view.len / 4;
    release(&f->a[F_WEIGHTS]);
    f->padded = objects[F_REAL] != Py_None;
    if (f->padded && hold(&f->a[F_REAL], objects[F_REAL], "real", '?', 1, f->places, 1) < 0)
        goto done;
    counts[F_SCRIPT_AT] = counts[F_WEIGHT] = times(k, S);
    counts[F_SHOWN] = times(times(k, S), f->units), counts[F_SD] = times(times(f->sd_per_type ? k : 1, S), f->units);
    counts[F_SCRIPT] = times(f->script_rows, f->units), counts[F_TARGET_SCRIPT] = times(f->target_rows, f->dimensions);
    counts[F_TARGET] = times(times(k, S), f->continuous ? f->dimensions : 1);
    counts[F_KIND] = counts[F_SERIAL] = counts[F_SKIP] = counts[F_PLAYED] = counts[F_OFFSET] = f->trials;
    counts[F_PATH] = times(f->trials, f->columns), counts[F_INPUTS] = times(f->places, f->units), counts[F_WEIGHTS] = f->places;
    counts[F_TARGETS] = times(f->places, f->continuous ? f->dimensions : 1);
    for (int i = 0; i < F_REAL; ++i) {
        const int whole = (i >= F_KIND && i <= F_OFFSET) || i == F_SCRIPT_AT;
        const int id = (i == F_TARGET || i == F_TARGETS) && !f->continuous;
        if (hold(&f->a[i], objects[i], NAMES[i], whole || id ? 'q' : 'f', whole || id ? 8 : 4, counts[i], i >= F_INPUTS) < 0)
            goto done;
    }
    for (int out = F_INPUTS; out < FILLED; ++out)
        for (int i = 0; i < F_INPUTS; ++i)
            if (overlap(&f->a[out], &f->a[i])) {
                PyErr_Format(PyExc_ValueError, "fill() cannot write %s over %s.", NAMES[out], NAMES[i]);
                goto done;
            }
    for (Py_ssize_t i = 0; i < counts[F_SD] && !noisy; ++i)
        noisy = F(float, F_SD)[i] != 0;
    if (noisy && noise_table == NULL) { /* making the table runs Python: hold the arrays again */
        for (int i = 0; i < FILLED; ++i)
            release(&f->a[i]);
        if (load_noise() < 0)
            goto done;
        goto again;
    }
    if (noisy) {
        f->noise = PyMem_Malloc((size_t)f->units * NOISE_LANES * sizeof(float));
        if (f->noise == NULL) {
            PyErr_NoMemory();
            goto done;
        }
    }
    failed = 0;
    for (Py_ssize_t i = 0; i < f->trials && !failed; ++i)
        failed = fill_trial(f, i);
done:
    for (int i = 0; i < FILLED; ++i) {
        release(&f->a[i]);
        Py_XDECREF(objects[i]);
    }
    Py_XDECREF(skip);
    Py_XDECREF(played);
    PyMem_Free(f->noise);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------ the module */

static PyMethodDef methods[] = {
    {"attach", (PyCFunction)Kernel_attach, METH_VARARGS, "attach(index, block)"},
    {"get", (PyCFunction)Kernel_get, METH_O, "get(name)"},
    {"set", (PyCFunction)Kernel_set, METH_VARARGS, "set(name, values)"},
    {"sync", (PyCFunction)Kernel_sync, METH_NOARGS, "sync()"},
    {"begin", (PyCFunction)Kernel_begin, METH_VARARGS, "begin(env, index, row)"},
    {"begin_next", (PyCFunction)Kernel_begin_next, METH_O, "begin_next(envs)"},
    {"stop", (PyCFunction)Kernel_stop, METH_O, "stop(envs)"},
    {"cursor", (PyCFunction)Kernel_cursor, METH_VARARGS, "cursor(index, row=None)"},
    {"advance", (PyCFunction)Kernel_advance, METH_VARARGS, "advance(actions, given=None)"},
    {"observe", (PyCFunction)Kernel_observe, METH_NOARGS, "observe()"},
    {"step", (PyCFunction)Kernel_step, METH_O, "step(action)"},
    {"vector_step", (PyCFunction)Kernel_vector_step, METH_O, "vector_step(actions)"},
    {"claim", (PyCFunction)Kernel_claim, METH_NOARGS, "claim()"},
    {"release", (PyCFunction)Kernel_release, METH_NOARGS, "release()"},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"n", T_PYSSIZET, offsetof(Kernel, n), READONLY, "number of envs"},
    {"key", T_ULONGLONG, offsetof(Kernel, key), 0, "key of the noise"},
    {"last_reward", T_OBJECT_EX, offsetof(Kernel, last_reward), 0, "(N,) rewards of the last step"},
    {"current", T_PYSSIZET, offsetof(Kernel, current), 0, "index of the block that is dealt from"},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject KernelType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "neurogym_core.play._kernel.Kernel",
    .tp_basicsize = sizeof(Kernel),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "PlainKernel of kernel.py, compiled.",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)Kernel_init,
    .tp_dealloc = (destructor)Kernel_dealloc,
    .tp_traverse = (traverseproc)Kernel_traverse,
    .tp_clear = (inquiry)Kernel_clear,
    .tp_methods = methods,
    .tp_members = members,
};

static PyMethodDef functions[] = {
    {"fill", fill, METH_VARARGS, "fill(tables, steps, offset, key, inputs, targets, weights, real)"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "The compiled kernel.", -1, functions, NULL, NULL, NULL, NULL,
};

static PyObject *from_module(const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name), *value;
    value = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    Py_XDECREF(module);
    return value;
}

PyMODINIT_FUNC PyInit__kernel(void)
{
    PyObject *module;
    import_array();
    if (PyType_Ready(&KernelType) < 0)
        return NULL;
    text_gt = PyUnicode_InternFromString("gt");
    text_period = PyUnicode_InternFromString("period");
    text_new_trial = PyUnicode_InternFromString("new_trial");
    text_trial = PyUnicode_InternFromString("trial");
    text_mask = PyUnicode_InternFromString("_trial");
    mask_gt = PyUnicode_InternFromString("_gt");
    mask_period = PyUnicode_InternFromString("_period");
    mask_new_trial = PyUnicode_InternFromString("_new_trial");
    mask_performance = PyUnicode_InternFromString("_performance");
    text_performance = PyUnicode_InternFromString("performance");
    if (PyErr_Occurred() || (TrialInfo = from_module("neurogym_core.play.results", "TrialInfo")) == NULL ||
        (VectorInfo = from_module("neurogym_core.play.results", "VectorInfo")) == NULL ||
        (TrialResults = from_module("neurogym_core.play.results", "TrialResults")) == NULL ||
        (Moved = from_module("neurogym_core.play.kernel", "Moved")) == NULL)
        return NULL;
    module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    if (PyModule_AddObjectRef(module, "Kernel", (PyObject *)&KernelType) < 0 ||
        PyModule_AddIntConstant(module, "version", KERNEL_VERSION) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
