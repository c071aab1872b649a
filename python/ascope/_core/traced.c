/* SPDX-License-Identifier: Apache-2.0 */
#include "traced.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN_FIRST = 128 };

__thread struct traced *traced_here __attribute__((tls_model("initial-exec")));
struct tracing tracing;

static pthread_key_t thread_end;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static struct traced *threads;

/* ---- threads ---- */

static void traced_leave(void *of)
{
    struct traced *const t = of;
    t->session = 0;
    t->n_notes_seen = 0;
    atomic_store(&t->state, NULL);
    atomic_store(&t->is_free, true);
}

struct traced *traced_make(void)
{
    struct traced *t = NULL;
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
    return traced_here = t;
}

bool traced_prepare(void)
{
    tracing.has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    return pthread_key_create(&thread_end, traced_leave) == 0;
}

void traced_wait(void)
{
    pthread_mutex_lock(&threads_lock);
    if (tracing.has_barrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    for (const struct traced *t = threads; t; t = t->next)
        while (atomic_load(&t->is_reading))
            sched_yield();
    pthread_mutex_unlock(&threads_lock);
}

void traced_forked(void)
{
    pthread_mutex_init(&threads_lock, NULL); /* whoever held it does not exist here */
    for (struct traced *t = threads; t; t = t->next)
        if (t != traced_here) {
            atomic_store(&t->is_reading, false);
            traced_leave(t);
        }
}

static void state_ends(PyObject *capsule)
{
    struct traced *const t = PyCapsule_GetPointer(capsule, NULL);
    atomic_store(&t->state, NULL);
}

/* What lies in the dict of a thread state ends before the state does. Asking Python for the state at each operator
 * would cost as much as the rest of stack_frame(). */
APART void traced_keep_state(struct traced *t)
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

APART bool traced_grow(struct traced *t)
{
    const uint32_t more = t->room ? t->room * 2 : OPEN_FIRST;
    struct open_call *const grown = realloc(t->at, more * sizeof *grown);
    if (!grown)
        return false;
    t->at = grown;
    t->room = more;
    return true;
}

/* ---- notes ---- */

struct stack_note {
    struct stack_note *next;
    uint64_t state_id; /* PyThreadState_GetID() of the thread */
    uint64_t time;
    uint32_t n;
    struct open_call at[]; /* the outermost first */
};

static _Atomic(struct stack_note *) notes;
static _Atomic(uint64_t) n_notes; /* ever made */

const struct stack_note *note_of(PyThreadState *state)
{
    const uint64_t id = PyThreadState_GetID(state);
    for (const struct stack_note *n = atomic_load(&notes); n; n = n->next)
        if (n->state_id == id)
            return n;
    return NULL;
}

static uint32_t depth_of(PyFrameObject *innermost)
{
    uint32_t n = 0;
    for (PyFrameObject *f = (PyFrameObject *)Py_XNewRef(innermost); f; n++) {
        PyFrameObject *const back = PyFrame_GetBack(f);
        Py_DECREF(f);
        f = back;
    }
    return n;
}

const struct stack_note *note_add(PyThreadState *state, PyFrameObject *innermost)
{
    const uint32_t depth = depth_of(innermost);
    struct stack_note *const note = malloc(sizeof *note + depth * sizeof *note->at);
    if (!note) {
        Py_XDECREF(innermost);
        return NULL;
    }
    *note = (struct stack_note){ .state_id = PyThreadState_GetID(state), .time = ascope_now() };
    uint32_t at = depth;
    for (PyFrameObject *frame = innermost; frame;) {
        PyFrameObject *const back = PyFrame_GetBack(frame);
        const struct known *const known = known_frame(frame, NULL);
        if (known)
            note->at[--at] = (struct open_call){ .frame = frame, .known = known };
        Py_DECREF(frame);
        frame = back;
    }
    note->n = depth - at;
    memmove(note->at, note->at + at, note->n * sizeof *note->at);
    note->next = atomic_load(&notes);
    atomic_store(&notes, note);
    atomic_fetch_add(&n_notes, 1);
    return note;
}

void notes_clear(void)
{
    for (struct stack_note *n = atomic_exchange(&notes, NULL), *next; n; n = next) {
        next = n->next;
        free(n);
    }
}

void traced_begin(struct traced *t, const struct stack_note *note)
{
    t->session = tracing.session;
    t->n = t->n_worded = t->n_skipped = t->n_framed = t->n_announced = 0;
    if (t->announced)
        memset(t->announced, 0, t->announced_room * sizeof *t->announced);
    t->is_modules_worded = false;
    for (uint32_t i = 0; note && i < note->n; i++)
        if (traced_push(t, note->at[i].frame, note->at[i].known) && !note->at[i].known->is_ours)
            ascope_python_event_at(ASCOPE_PYTHON_CALL, note->at[i].known->key, note->time, (uint64_t)gettid());
}

/* By the thread state, whose number is never given again. A pthread_t is: the frames of a thread that has ended are
 * gone. */
APART bool traced_begin_from_note(struct traced *t)
{
    const uint64_t n = atomic_load(&n_notes);
    if (t->n_notes_seen == n)
        return false;
    t->n_notes_seen = n;
    PyThreadState *const state = PyGILState_GetThisThreadState();
    const struct stack_note *const note = state ? note_of(state) : NULL;
    if (note)
        traced_begin(t, note);
    return note != NULL;
}
