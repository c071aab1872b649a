/* SPDX-License-Identifier: Apache-2.0 */
/* The Python tracer: calls and returns of all threads while a session with stacks or modules records, and for
 * operators the stack that they were called from.
 *
 * Each thread has a copy of its stack that it alone touches: with the GIL where Python calls and returns, without it
 * where an operator asks for the words. What frames were open when a thread came to be traced is noted by whoever
 * made it so, and taken by the thread itself. A stop waits for readers, which never wait for anybody; what lies in a
 * thread's own memory stays for the next session.
 */
#include "core.h"
#include "garbage.h"
#include "known.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ascope/record.h"

enum {
    STACK_ROOM = 1 << 16,
    MODULES_ROOM = 4096,
    FRAME_MOST = 2 * KNOWN_TEXT_MOST + 12,
    OPEN_FIRST = 128,
    ANNOUNCED_FIRST = 1024
};

struct open_call {
    PyFrameObject *frame; /* NULL: a C function. Alive as long as the call is open */
    const struct known *known;
    int instruction; /* when its words were made */
    uint32_t words_at;
    int frame_instruction; /* when its frame was looked up */
    uint32_t frame_id;     /* of it, or of the call around it where it is not shown; 0: none */
};

/* The stack of a thread when it came to be traced. Does not change. */
struct noted {
    struct noted *next;
    uint64_t state_id;
    unsigned long thread;
    uint64_t time;
    uint32_t n;
    struct open_call at[];
};

/* A frame that was announced: which call at which instruction, from where. */
struct announced {
    const struct known *known; /* NULL: free */
    uint32_t caller, id;
    int instruction;
};

struct thread {
    struct thread *next; /* all that there ever were */
    atomic_bool is_reading, is_free;
    _Atomic(const PyThreadState *) state; /* NULL: to be asked for */
    unsigned session;                     /* that the rest is of */
    uint64_t asked;                       /* how many notes there were when this thread found none of its own */
    struct open_call *at;                 /* outermost first */
    uint32_t n, room;
    uint32_t n_worded;           /* of the calls; their words lie at the end of `stack`, the innermost first */
    uint32_t n_skipped;          /* of these the outermost, which have no words */
    uint32_t n_framed;           /* of the calls; their frame_id is right but for the innermost, which has gone on */
    struct announced *announced; /* open addressing */
    uint32_t announced_room, n_announced;
    bool is_modules_worded; /* modules has those of now */
    uint32_t modules_n;
    char modules[MODULES_ROOM];
    char stack[STACK_ROOM];
};

static __thread struct thread *here __attribute__((tls_model("initial-exec")));
static pthread_key_t thread_end;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *threads;

static atomic_bool is_on, may_trace; /* may_trace: a session records */
static unsigned session;             /* the number of the one that is traced */
/* The kernel makes all threads agree on what they have stored; else each reader does so itself. */
static bool has_barrier;
static _Atomic(struct noted *) notes;
static _Atomic(uint64_t) n_notes; /* ever */
static bool has_remains;          /* tables of a session: the one that is traced, or one that stopped without Python */
static bool records_parameters, is_sim;
static unsigned n_asking;        /* threads that want stacks, where the session records no Python calls */
static PyObject *hook;           /* what new threads are given; sys.getprofile() shows it */
static PyObject *words_of_torch; /* ascope._modules; NULL: there is no PyTorch */
static PyThreadState *newest;    /* of the interpreter's threads when they were looked at last */

static int trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg);

/* ---- a thread's own ---- */

static void thread_ends(void *of)
{
    struct thread *const t = of;
    t->session = 0;
    atomic_store(&t->state, NULL);
    atomic_store(&t->is_free, true);
}

static struct thread *thread_make(void)
{
    struct thread *t = NULL;
    pthread_mutex_lock(&threads_lock);
    for (t = threads; t && !atomic_load(&t->is_free); t = t->next)
        ;
    if (!t && (t = calloc(1, sizeof *t))) {
        t->next = threads;
        threads = t;
    }
    if (t)
        atomic_store(&t->is_free, false);
    pthread_mutex_unlock(&threads_lock);
    if (t)
        pthread_setspecific(thread_end, t);
    return here = t;
}

static void state_ends(PyObject *capsule)
{
    struct thread *const t = PyCapsule_GetPointer(capsule, NULL);
    atomic_store(&t->state, NULL);
}

/* With the GIL. What lies in a state's dict ends before the state does; asking Python for it at each operator would
 * cost as much as the rest of stack_frame(). */
static APART void state_keep(struct thread *t)
{
    PyThreadState *const state = PyGILState_GetThisThreadState();
    PyObject *const dict = state == PyThreadState_Get() ? PyThreadState_GetDict() : NULL;
    PyObject *const capsule = dict ? PyCapsule_New(t, NULL, state_ends) : NULL;
    if (capsule && PyDict_SetItemString(dict, "ascope.tracer", capsule) == 0)
        atomic_store(&t->state, state);
    else
        PyErr_Clear();
    Py_XDECREF(capsule);
}

static APART bool open_grow(struct thread *t)
{
    const uint32_t more = t->room ? t->room * 2 : OPEN_FIRST;
    struct open_call *const grown = realloc(t->at, more * sizeof *grown);
    if (!grown)
        return false;
    t->at = grown;
    t->room = more;
    return true;
}

static inline bool push(struct thread *t, PyFrameObject *frame, const struct known *known)
{
    if (__builtin_expect(t->n == t->room, 0) && !open_grow(t))
        return false;
    t->at[t->n++] = (struct open_call){ .frame = frame, .known = known };
    if (known->module)
        t->is_modules_worded = false;
    return true;
}

static inline void pop(struct thread *t)
{
    const struct open_call *const top = &t->at[--t->n];
    if (top->known->module)
        t->is_modules_worded = false;
    if (t->n_worded > t->n)
        t->n_worded = t->n;
    if (t->n_framed > t->n)
        t->n_framed = t->n;
    if (!top->known->is_ours)
        ascope_python_event(top->frame ? ASCOPE_PYTHON_RETURN : ASCOPE_PYTHON_C_RETURN, known_exit()->key);
}

/* From here on it is of this session. What was open is recorded as if it had been called when it was noted; threads
 * that never call or return do not come here, and leave nothing. */
static void thread_takes(struct thread *t, const struct noted *noted)
{
    t->session = session;
    t->n = t->n_worded = t->n_skipped = t->n_framed = t->n_announced = 0;
    if (t->announced)
        memset(t->announced, 0, t->announced_room * sizeof *t->announced);
    t->is_modules_worded = false;
    for (uint32_t i = 0; noted && i < noted->n; i++)
        if (push(t, noted->at[i].frame, noted->at[i].known) && !noted->at[i].known->is_ours)
            ascope_python_event_at(ASCOPE_PYTHON_CALL, noted->at[i].known->key, noted->time, (uint64_t)gettid());
}

/* ---- notes, with the GIL ---- */

static struct known *known_frame(PyFrameObject *frame, const struct known **code);

static const struct noted *note_of(uint64_t state_id)
{
    for (const struct noted *n = atomic_load(&notes); n; n = n->next)
        if (n->state_id == state_id)
            return n;
    return NULL;
}

/* The frames from `frame` (taken) on outwards. */
static const struct noted *note(PyThreadState *state, PyFrameObject *frame)
{
    uint32_t n = 0;
    for (PyFrameObject *f = (PyFrameObject *)Py_XNewRef(frame); f; n++) {
        PyFrameObject *const back = PyFrame_GetBack(f);
        Py_DECREF(f);
        f = back;
    }
    struct noted *const noted = malloc(sizeof *noted + n * sizeof *noted->at);
    if (!noted) {
        Py_XDECREF(frame);
        return NULL;
    }
    *noted = (struct noted){ .state_id = PyThreadState_GetID(state), .thread = state->thread_id, .time = ascope_now() };
    uint32_t at = n;
    while (frame) {
        PyFrameObject *const back = PyFrame_GetBack(frame);
        const struct known *const known = known_frame(frame, NULL);
        if (known) /* the interpreter has a reference of its own while the call is open */
            noted->at[--at] = (struct open_call){ .frame = frame, .known = known };
        Py_DECREF(frame);
        frame = back;
    }
    noted->n = n - at;
    memmove(noted->at, noted->at + at, noted->n * sizeof *noted->at);
    noted->next = atomic_load(&notes);
    atomic_store(&notes, noted);
    atomic_fetch_add(&n_notes, 1);
    return noted;
}

/* ---- which threads ---- */

#if PY_VERSION_HEX < 0x030c0000
static void profile_set(PyThreadState *state, Py_tracefunc fn, PyObject *with)
{
    PyThreadState *const me = PyThreadState_Swap(state);
    PyEval_SetProfile(fn, with);
    PyThreadState_Swap(me);
}
#endif

/* All threads that are not traced yet and have no other profiler. */
static void threads_trace(void)
{
    PyInterpreterState *const interpreter = PyInterpreterState_Get();
    bool has_new = false, has_others = false;
    const int collects = PyGC_Disable(); /* it could run Python, and threads end meanwhile */
    newest = PyInterpreterState_ThreadHead(interpreter);
    for (PyThreadState *s = newest; s; s = PyThreadState_Next(s)) {
        const bool is_noted = note_of(PyThreadState_GetID(s));
        has_others |= s->c_profilefunc ? s->c_profilefunc != trace : is_noted; /* it wants none, or another */
        if (s->c_profilefunc || is_noted || !note(s, PyThreadState_GetFrame(s)))
            continue;
        has_new = true;
#if PY_VERSION_HEX < 0x030c0000
        profile_set(s, trace, hook);
#endif
    }
    (void)has_new, (void)has_others;
    if (collects)
        PyGC_Enable();
#if PY_VERSION_HEX >= 0x030c0000
    if (has_new && !has_others)
        PyEval_SetProfileAllThreads(trace, hook);
    else if (has_new && !PyThreadState_Get()->c_profilefunc)
        PyEval_SetProfile(trace, hook);
#endif
}

static void threads_leave(void)
{
    bool has_ours = false, has_others = false;
    for (PyThreadState *s = PyInterpreterState_ThreadHead(PyInterpreterState_Get()); s; s = PyThreadState_Next(s)) {
        has_ours |= s->c_profilefunc == trace;
        has_others |= s->c_profilefunc && s->c_profilefunc != trace;
#if PY_VERSION_HEX < 0x030c0000
        if (s->c_profilefunc == trace)
            profile_set(s, NULL, NULL);
#endif
    }
    (void)has_ours, (void)has_others;
#if PY_VERSION_HEX >= 0x030c0000
    if (has_ours && !has_others)
        PyEval_SetProfileAllThreads(NULL, NULL);
    else if (PyThreadState_Get()->c_profilefunc == trace)
        PyEval_SetProfile(NULL, NULL); /* the others do it themselves, with their next call */
#endif
}

/* The module threading gives its hook to each thread that it starts. */
static void hook_set(bool is_set)
{
    PyObject *const threading = PyImport_ImportModule("threading");
    PyObject *const now = threading ? threading_profile(threading) : NULL;
    PyObject *done = NULL;
    if (now && now == (is_set ? Py_None : hook))
        done = PyObject_CallMethod(threading, "setprofile", "O", is_set ? hook : Py_None);
    if (PyErr_Occurred())
        core_report_exception("threads that begin now are not traced");
    Py_XDECREF(done);
    Py_XDECREF(now);
    Py_XDECREF(threading);
}

/* ---- parameters ---- */

/* What a program's tensors may raise when they are asked stays with us. All else is not about them: somebody has
 * pressed Ctrl-C, or a handler of signals says that time is up. */
static bool is_of_tensors(void)
{
    PyObject *const kinds[] = { PyExc_AttributeError, PyExc_TypeError, PyExc_ValueError, PyExc_RuntimeError,
                                PyExc_LookupError };
    bool is_one = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        is_one |= PyErr_ExceptionMatches(kinds[i]) != 0;
    return is_one;
}

/* False: something is raised that the program has to see. */
static bool call_parameters(PyObject *of, const struct known *known, const struct known *code)
{
    const bool is_optimizer = !known->module;
    PyObject *type, *value, *trouble;
    PyErr_Fetch(&type, &value, &trouble);
    PyObject *const texts = PyObject_CallMethod(
        words_of_torch, is_optimizer ? "optimizer_parameters" : "module_parameters", "Oi", of, (int)is_sim);
    const Py_ssize_t n = texts && PyList_Check(texts) ? PyList_GET_SIZE(texts) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t bytes = 0;
        const char *const words = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(texts, i), &bytes);
        /* A record has an end: what is beyond goes to calls of the same name, made up for it. */
        const struct known *const to = i == 0 ? known : known_again(code);
        if (!words || !to)
            continue;
        ascope_python_parameters(to->key, is_optimizer, (struct ascope_text){ words, (uint32_t)bytes });
        if (i > 0) {
            ascope_python_event(ASCOPE_PYTHON_CALL, to->key);
            ascope_python_event(ASCOPE_PYTHON_RETURN, known_exit()->key);
        }
    }
    Py_XDECREF(texts);
    if (PyErr_Occurred() && !type && !is_of_tensors())
        return false;
    PyErr_Restore(type, value, trouble);
    return true;
}

/* ---- events, with the GIL ---- */

/* A module's where it is the call of one; `code` is what it is the call of. */
static struct known *known_frame(PyFrameObject *frame, const struct known **code)
{
    PyCodeObject *const of = PyFrame_GetCode(frame);
    struct known *const known = known_code(of);
    Py_DECREF(of);
    if (code)
        *code = known;
    if (__builtin_expect(!known || !known->calls_module, 1))
        return known;
    PyObject *const self = frame_first_argument(frame);
    struct known *const module = self ? known_module(known, self) : NULL;
    Py_XDECREF(self);
    return module ? module : known;
}

static bool parameters_record(PyFrameObject *frame, struct known *known, const struct known *code)
{
    PyObject *const self = frame_first_argument(frame);
    known->is_recorded = true;
    const bool is_well = !self || call_parameters(self, known, code);
    Py_XDECREF(self);
    return is_well;
}

static APART void returned(struct thread *t, const PyFrameObject *frame)
{
    uint32_t n = t->n;
    while (n > 0 && t->at[n - 1].frame != frame)
        n--; /* returns that were not reported */
    while (n > 0 && t->n >= n)
        pop(t);
}

static APART struct thread *thread_join(PyFrameObject *frame, int what)
{
    struct thread *const t = here ? here : thread_make();
    PyThreadState *const state = PyThreadState_Get();
    if (!t)
        return NULL;
    const struct noted *noted = note_of(PyThreadState_GetID(state));
    if (!noted)
        noted = note(state, what == PyTrace_CALL ? PyFrame_GetBack(frame) : (PyFrameObject *)Py_NewRef(frame));
    thread_takes(t, noted);
    return t;
}

/* -1: something is raised that the program has to see. */
static APART int called(struct thread *t, PyFrameObject *frame)
{
    if (__builtin_expect(PyInterpreterState_ThreadHead(PyThreadState_Get()->interp) != newest, 0))
        threads_trace();
    if (__builtin_expect(!atomic_load_explicit(&t->state, memory_order_relaxed), 0))
        state_keep(t);
    const struct known *code;
    struct known *const known = known_frame(frame, &code);
    if (known && push(t, frame, known) && !known->is_ours)
        ascope_python_event(ASCOPE_PYTHON_CALL, known->key);
    const bool is_holder = known && (known->steps_optimizer || known->module);
    if (__builtin_expect(is_holder && records_parameters && words_of_torch && !known->is_recorded, 0) &&
        !parameters_record(frame, known, code)) {
        returned(t, frame); /* the call ends here without a return event */
        return -1;
    }
    return 0;
}

static int trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg)
{
    struct thread *t = here;
    (void)unused;
    if (__builtin_expect(!atomic_load_explicit(&is_on, memory_order_relaxed), 0)) {
        PyEval_SetProfile(NULL, NULL);
        return 0;
    }
    if (__builtin_expect(!t || t->session != session, 0) && !(t = thread_join(frame, what)))
        return 0;
    switch (what) {
    case PyTrace_CALL: return called(t, frame);
    case PyTrace_RETURN: returned(t, frame); break;
    case PyTrace_C_CALL: {
        if (t->n > 0 && t->at[t->n - 1].known->is_ours)
            break;
        const struct known *const known = known_c(arg);
        if (known && push(t, NULL, known))
            ascope_python_event(ASCOPE_PYTHON_C_CALL, known->key);
        break;
    }
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
        if (t->n > 0 && !t->at[t->n - 1].frame)
            pop(t);
        break;
    default: break;
    }
    return 0;
}

/* Of the copy what is still true: the program had taken the tracer away and has put it back. */
static bool is_still_open(const struct thread *t, PyFrameObject *frame)
{
    uint32_t n = t->n;
    bool is_same = true;
    Py_XINCREF(frame);
    while (frame && is_same) { /* from the inside out */
        PyFrameObject *const back = PyFrame_GetBack(frame);
        while (n > 0 && !t->at[n - 1].frame)
            n--;
        is_same = n > 0 && t->at[n - 1].frame == frame && t->at[n - 1].known == known_frame(frame, NULL);
        n -= n > 0;
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    return is_same && n == 0;
}

static void thread_returns(PyFrameObject *frame, int what)
{
    struct thread *const t = here;
    if (!t || t->session != session)
        return;
    PyFrameObject *const from = what == PyTrace_CALL ? PyFrame_GetBack(frame) : (PyFrameObject *)Py_NewRef(frame);
    if (!is_still_open(t, from)) {
        while (t->n > 0)
            pop(t);
        const struct noted *const noted = note(PyThreadState_Get(), (PyFrameObject *)Py_XNewRef(from));
        thread_takes(t, noted);
    }
    Py_XDECREF(from);
}

/* The first that a new thread calls: from there on it is traced like the others. */
static PyObject *thread_hook(PyObject *module, PyObject *args)
{
    static const struct {
        const char *name;
        int what;
    } event[] = { { "call", PyTrace_CALL },
                  { "return", PyTrace_RETURN },
                  { "c_call", PyTrace_C_CALL },
                  { "c_return", PyTrace_C_RETURN },
                  { "c_exception", PyTrace_C_EXCEPTION } };
    PyObject *frame, *arg;
    const char *name;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!sO", &PyFrame_Type, &frame, &name, &arg))
        return NULL;
    if (!atomic_load(&is_on)) {
        PyEval_SetProfile(NULL, NULL);
        Py_RETURN_NONE;
    }
    PyEval_SetProfile(trace, hook);
    for (size_t i = 0; i < sizeof event / sizeof *event; i++)
        if (strcmp(event[i].name, name) == 0) {
            thread_returns((PyFrameObject *)frame, event[i].what);
            trace(NULL, (PyFrameObject *)frame, event[i].what, arg);
        }
    Py_RETURN_NONE;
}

static PyMethodDef hook_method = { "ascope_tracer", thread_hook, METH_VARARGS,
                                   "Traces the calls of a thread for ascope." };

/* ---- words for operators, without the GIL ---- */

/* A thread that is in a session and has not called anything since: its note. False: it has none. */
static APART bool thread_takes_note(struct thread *t)
{
    const uint64_t asked = atomic_load(&n_notes);
    if (t->asked == asked)
        return false;
    t->asked = asked;
    const struct noted *n = atomic_load(&notes);
    while (n && n->thread != (unsigned long)pthread_self())
        n = n->next;
    if (n)
        thread_takes(t, n);
    return n != NULL;
}

/* NULL: this thread has no calls that are traced now. Else until reading_end(). */
static inline struct thread *reading_begin(void)
{
    struct thread *const t = here ? here : thread_make();
    if (!t)
        return NULL;
    /* Either a stop sees that this thread reads, or this thread sees the stop: readers_wait(). */
    if (__builtin_expect(has_barrier, 1))
        atomic_store_explicit(&t->is_reading, true, memory_order_relaxed);
    else
        atomic_store(&t->is_reading, true);
    atomic_signal_fence(memory_order_seq_cst);
    if (!atomic_load(&is_on))
        goto none;
    if (__builtin_expect(t->session != session, 0) && !thread_takes_note(t))
        goto none;
    /* Where somebody else has taken the place of the tracer, frames may be gone. */
    const PyThreadState *state = atomic_load_explicit(&t->state, memory_order_relaxed);
    if (__builtin_expect(!state, 0))
        state = PyGILState_GetThisThreadState();
    if (t->n > 0 && state && state->c_profilefunc == trace)
        return t;
none:
    atomic_store_explicit(&t->is_reading, false, memory_order_release);
    return NULL;
}

static void reading_end(struct thread *t)
{
    atomic_store_explicit(&t->is_reading, false, memory_order_release);
}

/* "/opt/train.py(12): main" */
static uint32_t frame_words(const struct open_call *call, char out[FRAME_MOST])
{
    const struct known *const k = call->known;
    char line[12];
    int number = PyFrame_GetLineNumber(call->frame);
    uint32_t digits = 0;
    number = number > 0 ? number : 0;
    do {
        line[sizeof line - ++digits] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    memcpy(out, k->path, k->path_n);
    memcpy(out + k->path_n, line + sizeof line - digits, digits);
    memcpy(out + k->path_n + digits, k->function, k->function_n);
    return k->path_n + digits + k->function_n;
}

/* Where it is, or belongs. */
static struct announced *announced_at(struct announced *table, uint32_t room, struct announced of)
{
    uint64_t hash = ((uint64_t)(uintptr_t)of.known >> 4) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ of.caller ^ (uint64_t)(uint32_t)of.instruction << 32) * 0x9E3779B97F4A7C15u;
    uint32_t i = (uint32_t)(hash >> 32) & (room - 1);
    while (table[i].known &&
           (table[i].known != of.known || table[i].caller != of.caller || table[i].instruction != of.instruction))
        i = (i + 1) & (room - 1);
    return &table[i];
}

static bool announced_grow(struct thread *t)
{
    const uint32_t room = t->announced_room ? t->announced_room * 2 : ANNOUNCED_FIRST;
    struct announced *const more = calloc(room, sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; i < t->announced_room; i++)
        if (t->announced[i].known)
            *announced_at(more, room, t->announced[i]) = t->announced[i];
    free(t->announced);
    t->announced = more;
    t->announced_room = room;
    return true;
}

static APART uint32_t announce(struct thread *t, const struct open_call *call, struct announced of)
{
    char words[FRAME_MOST];
    if (t->n_announced >= t->announced_room / 2 && !announced_grow(t))
        return 0;
    of.id = ascope_frame(of.caller, (struct ascope_text){ words, frame_words(call, words) });
    if (of.id != 0) {
        *announced_at(t->announced, t->announced_room, of) = of;
        t->n_announced++;
    }
    return of.id;
}

/* The number of a call's frame where it is now; 0: it has none, as there is no room for more. */
static uint32_t frame_number(struct thread *t, const struct open_call *call, uint32_t caller)
{
    const struct announced of = { .known = call->known, .caller = caller, .instruction = call->frame_instruction };
    const struct announced *const at = t->announced ? announced_at(t->announced, t->announced_room, of) : NULL;
    return __builtin_expect(at && at->known, 1) ? at->id : announce(t, call, of);
}

/* Of a call where it is now; those around it have theirs. False: there is no room for more. */
static inline bool frame_set(struct thread *t, uint32_t i)
{
    struct open_call *const call = &t->at[i];
    uint32_t id = i > 0 ? call[-1].frame_id : 0;
    if (call->frame && call->known->path_n > 0) {
        call->frame_instruction = frame_instruction(call->frame);
        id = frame_number(t, call, id);
        if (id == 0)
            return false;
    }
    call->frame_id = id;
    t->n_framed = i + 1;
    return true;
}

/* Of all up to it. The innermost that has one may have gone on before it called the next. */
static APART bool frames_set(struct thread *t, uint32_t last)
{
    uint32_t inner = t->n_framed;
    while (inner > 0 && !t->at[inner - 1].frame)
        inner--;
    if (inner > 0 && frame_instruction(t->at[inner - 1].frame) != t->at[inner - 1].frame_instruction)
        t->n_framed = inner - 1;
    while (t->n_framed <= last)
        if (!frame_set(t, t->n_framed))
            return false;
    return true;
}

/* The number of the innermost frame; 0: no frame, or stack_words() has to do. */
static uint32_t stack_frame(void)
{
    struct thread *const t = reading_begin();
    if (!t)
        return 0;
    uint32_t i = t->n - 1; /* C functions inside of it are not shown */
    while (i > 0 && !t->at[i].frame)
        i--;
    const struct open_call *const call = &t->at[i];
    bool is_set = true;
    if (t->n_framed <= i)
        is_set = frames_set(t, i);
    else if (call->frame && frame_instruction(call->frame) != call->frame_instruction)
        is_set = frame_set(t, i); /* those around it are where they were when they called it */
    const uint32_t id = is_set ? call->frame_id : 0;
    reading_end(t);
    return id;
}

/* The words of an inner call go before those of the outer ones. False: there is no room. */
static bool words_before(struct thread *t, uint32_t *at, struct open_call *call)
{
    char words[FRAME_MOST];
    const bool has_outer = *at < STACK_ROOM;
    const uint32_t n = frame_words(call, words) + has_outer;
    if (n > *at)
        return false;
    *at -= n;
    memcpy(t->stack + *at, words, n - has_outer);
    if (has_outer)
        t->stack[*at + n - 1] = ';';
    call->instruction = frame_instruction(call->frame);
    return true;
}

/* A thousand calls deep: as many of the inner ones as fill half of the room, and none of the others until it has
 * returned to them. */
static void words_skip(struct thread *t)
{
    uint32_t bytes = 0;
    for (t->n_worded = t->n; t->n_worded > 0 && bytes < STACK_ROOM / 2; t->n_worded--)
        bytes += t->at[t->n_worded - 1].known->path_n + t->at[t->n_worded - 1].known->function_n + 13;
    for (uint32_t i = 0; i < t->n_worded; i++)
        t->at[i].words_at = STACK_ROOM;
    t->n_skipped = t->n_worded;
}

static size_t copy_whole(char *out, size_t most, const char *words, size_t n)
{
    if (n > most) /* the innermost ones matter most */
        for (n = most; n > 0 && words[n] != ';'; n--)
            ;
    memcpy(out, words, n);
    return n;
}

/* Only what has changed since the last time is written again. While a call is inside of another, the outer one stays
 * at its line. */
static size_t stack_words(char *out, size_t most)
{
    struct thread *const t = reading_begin();
    if (!t)
        return 0;
    uint32_t inner = t->n_worded;
    while (inner > 0 && !t->at[inner - 1].frame)
        inner--;
    if (inner > 0 && frame_instruction(t->at[inner - 1].frame) != t->at[inner - 1].instruction)
        t->n_worded = inner - 1;
    if (t->n_worded <= t->n_skipped)
        t->n_worded = t->n_skipped = 0;
    uint32_t at = t->n_worded > 0 ? t->at[t->n_worded - 1].words_at : STACK_ROOM;
    while (t->n_worded < t->n) {
        struct open_call *const call = &t->at[t->n_worded];
        if (call->frame && call->known->path_n > 0 && !words_before(t, &at, call)) {
            words_skip(t);
            at = STACK_ROOM;
            continue;
        }
        call->words_at = at;
        t->n_worded++;
    }
    const size_t n = copy_whole(out, most, t->stack + at, STACK_ROOM - at);
    reading_end(t);
    return n;
}

static size_t modules_words(char *out, size_t most)
{
    struct thread *const t = reading_begin();
    if (!t)
        return 0;
    if (!t->is_modules_worded) {
        uint32_t n = 0;
        for (uint32_t i = t->n; i-- > 0;) {
            const struct known *const k = t->at[i].known;
            if (!k->module)
                continue;
            if (k->module_n + 1 > MODULES_ROOM - n)
                break;
            if (n > 0)
                t->modules[n++] = ';';
            memcpy(t->modules + n, k->module, k->module_n);
            n += k->module_n;
        }
        t->modules_n = n;
        t->is_modules_worded = true;
    }
    const size_t n = copy_whole(out, most, t->modules, t->modules_n);
    reading_end(t);
    return n;
}

/* ---- on and off ---- */

/* Of a stop: is_on is false by now. */
static void readers_wait(void)
{
    if (has_barrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    for (const struct thread *t = threads; t; t = t->next)
        while (atomic_load(&t->is_reading))
            sched_yield();
}

static void remains_clear(void)
{
    has_remains = false;
    pthread_mutex_lock(&threads_lock);
    readers_wait();
    pthread_mutex_unlock(&threads_lock);
    struct noted *n = atomic_exchange(&notes, NULL);
    while (n) {
        struct noted *const next = n->next;
        free(n);
        n = next;
    }
    known_end();
    Py_CLEAR(words_of_torch);
}

/* Where no calls are recorded it is for stacks alone. Several threads may ask at the same time: importing and calling
 * Python releases the interpreter lock, and from the check behind that until is_on is set, nothing does. */
static void trace_on(bool is_mindspore)
{
    PyObject *module_call = NULL, *optimizer_step = NULL;
    PyObject *const modules = PyImport_GetModuleDict();
    PyObject *words = NULL, *watched = NULL;
    if (has_remains && !atomic_load(&is_on))
        remains_clear();
    if (modules && PyDict_GetItemString(modules, is_mindspore ? "mindspore.nn" : "torch")) {
        words = PyImport_ImportModule("ascope._modules");
        watched = words ? PyObject_CallMethod(words, is_mindspore ? "watched_cells" : "watched", NULL) : NULL;
        if (watched && PyTuple_Check(watched) && PyTuple_GET_SIZE(watched) == 2) {
            module_call = PyTuple_GET_ITEM(watched, 0);
            optimizer_step = PyTuple_GET_ITEM(watched, 1);
        }
        if (!watched)
            core_report_exception("calls of modules are not recorded as such");
    }
    if (has_remains || !atomic_load(&may_trace)) { /* another thread was faster, or the recording has ended */
        Py_XDECREF(watched);
        Py_XDECREF(words);
        if (atomic_load(&is_on))
            threads_trace(); /* the other one has not come to it yet */
        return;
    }
    words_of_torch = words;
    known_begin(is_mindspore, module_call, optimizer_step);
    session++;
    has_remains = true;
    atomic_store(&is_on, true);
    Py_XDECREF(watched);
    hook_set(true);
    threads_trace();
    if (PyThreadState_Get()->c_profilefunc != trace)
        core_message(ASCOPE_WARNING, "Python calls of this thread are not recorded: another profiler is set in it");
}

static void trace_off(void)
{
    if (!atomic_exchange(&is_on, false))
        return;
    threads_leave();
    hook_set(false);
    remains_clear();
}

static void started(const struct ascope_options *o, void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    atomic_store(&may_trace, true);
    if ((!ascope_records(ASCOPE_RECORDS_PYTHON | ASCOPE_RECORDS_GC) && n_asking == 0) || !core_enter(&state))
        return;
    if (has_remains && !atomic_load(&is_on))
        remains_clear();
    const bool is_mindspore = o->layout == ASCOPE_LAYOUT_MINDSPORE; /* which has no place for parameters */
    records_parameters =
        ascope_records(ASCOPE_RECORDS_PYTHON) && o->record_shapes && o->profile_memory && !is_mindspore;
    is_sim = (o->activities & ASCOPE_NPU) && o->device && strcmp(o->device, "sim") == 0;
    if (ascope_records(ASCOPE_RECORDS_PYTHON) || n_asking > 0)
        trace_on(is_mindspore);
    if (ascope_records(ASCOPE_RECORDS_GC))
        garbage_on(o->gc_threshold_ms);
    core_leave(state);
}

static void stopping(void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    atomic_store(&may_trace, false);
    if (!core_enter(&state)) {
        atomic_store(&is_on, false); /* each thread leaves with its next call */
        return;
    }
    trace_off();
    garbage_off();
    core_leave(state);
}

static const struct ascope_listener listener = { .size = sizeof listener, .started = started, .stopping = stopping };

void core_close_tracer(void)
{
    trace_off();
    garbage_off();
    ascope_unlisten(&listener);
}

/* The child has one thread, and no part in the session. */
static PyObject *forked(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    pthread_mutex_init(&threads_lock, NULL);
    for (struct thread *t = threads; t; t = t->next)
        if (t != here) {
            atomic_store(&t->is_reading, false);
            thread_ends(t);
        }
    trace_off();
    garbage_off();
    Py_RETURN_NONE;
}

static PyMethodDef forked_method = { "forked", forked, METH_NOARGS, "In the child of a fork: nothing is traced." };

/* ---- the part of the module ---- */

static PyObject *core_stack_source(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return Py_BuildValue("KKK", (unsigned long long)(uintptr_t)stack_words,
                         (unsigned long long)(uintptr_t)modules_words, (unsigned long long)(uintptr_t)stack_frame);
}

static PyObject *core_trace_for_thread(PyObject *module, PyObject *is_wanted)
{
    (void)module;
    if (PyObject_IsTrue(is_wanted) == 1) {
        n_asking++;
        if (atomic_load(&is_on))
            threads_trace();
        else if (ascope_records(ASCOPE_RECORDS_OPERATORS))
            trace_on(false);
    } else if (n_asking > 0) {
        n_asking--;
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    { "trace_for_thread", core_trace_for_thread, METH_O,
      "trace_for_thread(is_wanted)\n\nA thread wants stacks of its operators, or no longer, where the recording has none." },
    { "stack_source", core_stack_source, METH_NOARGS,
      "stack_source() -> (int, int, int)\n\nAddresses of functions of C that do not need the interpreter: two,\n"
      "size_t (*)(char *out, size_t most), write the stack and the modules of the calling thread, innermost first; the\n"
      "third, uint32_t (*)(void), is the number of its innermost frame for operators (ascope_frame)." },
    { NULL, NULL, 0, NULL },
};

static bool register_fork_handler(void)
{
    PyObject *const os = PyImport_ImportModule("os");
    PyObject *const call = PyCFunction_New(&forked_method, NULL);
    PyObject *const fn = os ? PyObject_GetAttrString(os, "register_at_fork") : NULL;
    PyObject *const none = PyTuple_New(0);
    PyObject *const how = call ? Py_BuildValue("{s:O}", "after_in_child", call) : NULL;
    PyObject *const done = fn && none && how ? PyObject_Call(fn, none, how) : NULL;
    const bool is_done = done != NULL;
    Py_XDECREF(done);
    Py_XDECREF(how);
    Py_XDECREF(none);
    Py_XDECREF(fn);
    Py_XDECREF(call);
    Py_XDECREF(os);
    return is_done;
}

bool tracer_add(PyObject *module)
{
    hook = PyCFunction_New(&hook_method, NULL);
    if (!hook || PyModule_AddFunctions(module, functions) != 0 || !register_fork_handler())
        return false;
    has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    if (pthread_key_create(&thread_end, thread_ends) != 0 || !ascope_listen(&listener)) {
        PyErr_SetString(core_error, "Python calls cannot be recorded: no room for another listener");
        return false;
    }
    return true;
}
