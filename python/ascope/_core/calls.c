/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <string.h>

#include "parameters.h"
#include "traced.h"
#include "tracer.h"

PyObject *calls_hook;

/* Ends the call, and those inside of it whose returns were not reported. */
static APART void returned(struct traced *t, const PyFrameObject *frame)
{
    uint32_t n = t->n;
    while (n > 0 && t->at[n - 1].frame != frame)
        n--;
    while (n > 0 && t->n >= n)
        traced_pop(t);
}

/* The frame whose call is already open when an event is reported. A new reference, or NULL. */
static PyFrameObject *frame_around(PyFrameObject *frame, int what)
{
    return what == PyTrace_CALL ? PyFrame_GetBack(frame) : (PyFrameObject *)Py_NewRef(frame);
}

/* The first event of a thread in a recording. */
static APART struct traced *thread_begin(PyFrameObject *frame, int what)
{
    struct traced *const t = traced_here ? traced_here : traced_make();
    PyThreadState *const state = PyThreadState_Get();
    if (!t)
        return NULL;
    const struct stack_note *note = note_of(state);
    if (!note)
        note = note_add(state, frame_around(frame, what));
    traced_begin(t, note);
    return t;
}

/* -1: an exception is set that the program has to see. */
static APART int called(struct traced *t, PyFrameObject *frame)
{
    if (__builtin_expect(PyInterpreterState_ThreadHead(PyThreadState_Get()->interp) != tracer_newest_thread, 0))
        tracer_set_all_threads();
    if (__builtin_expect(!atomic_load_explicit(&t->state, memory_order_relaxed), 0))
        traced_keep_state(t);
    const struct known *code;
    struct known *const known = known_frame(frame, &code);
    if (known && traced_push(t, frame, known) && !known->is_ours)
        ascope_python_event(ASCOPE_PYTHON_CALL, known->key);
    const bool has_parameters = known && (known->steps_optimizer || known->module);
    if (__builtin_expect(has_parameters && parameters_are_recorded && !known->is_recorded, 0) &&
        !parameters_record(frame, known, code)) {
        returned(t, frame); /* Python reports no return of a call whose profile function failed */
        return -1;
    }
    return 0;
}

int calls_trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg)
{
    struct traced *t = traced_here;
    (void)unused;
    if (__builtin_expect(!atomic_load_explicit(&tracing.is_on, memory_order_relaxed), 0)) {
        PyEval_SetProfile(NULL, NULL);
        return 0;
    }
    if (__builtin_expect(!t || t->session != tracing.session, 0) && !(t = thread_begin(frame, what)))
        return 0;
    switch (what) {
    case PyTrace_CALL: return called(t, frame);
    case PyTrace_RETURN: returned(t, frame); break;
    case PyTrace_C_CALL: {
        if (t->n > 0 && t->at[t->n - 1].known->is_ours)
            break;
        const struct known *const known = known_c(arg);
        if (known && traced_push(t, NULL, known))
            ascope_python_event(ASCOPE_PYTHON_C_CALL, known->key);
        break;
    }
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
        if (t->n > 0 && !t->at[t->n - 1].frame)
            traced_pop(t);
        break;
    default: break;
    }
    return 0;
}

/* ---- the tracer comes back to a thread ---- */

/* The copy of the stack is that of the frames which are open now. */
static bool is_current(const struct traced *t, PyFrameObject *innermost)
{
    uint32_t n = t->n;
    bool is_same = true;
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef(innermost);
    while (frame && is_same) {
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

/* The program had replaced the tracer in this thread, and has set it again: events in between are missing. */
static void thread_resume(PyFrameObject *frame, int what)
{
    struct traced *const t = traced_here;
    if (!t || t->session != tracing.session)
        return;
    PyFrameObject *const innermost = frame_around(frame, what);
    if (!is_current(t, innermost)) {
        while (t->n > 0)
            traced_pop(t);
        traced_begin(t, note_add(PyThreadState_Get(), (PyFrameObject *)Py_XNewRef(innermost)));
    }
    Py_XDECREF(innermost);
}

static PyObject *hook_call(PyObject *module, PyObject *args)
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
    if (!atomic_load(&tracing.is_on)) {
        PyEval_SetProfile(NULL, NULL);
        Py_RETURN_NONE;
    }
    PyEval_SetProfile(calls_trace, calls_hook);
    for (size_t i = 0; i < sizeof event / sizeof *event; i++)
        if (strcmp(event[i].name, name) == 0) {
            thread_resume((PyFrameObject *)frame, event[i].what);
            if (calls_trace(NULL, (PyFrameObject *)frame, event[i].what, arg) != 0)
                return NULL;
        }
    Py_RETURN_NONE;
}

static PyMethodDef hook_method = { "ascope_tracer", hook_call, METH_VARARGS,
                                   "Traces the calls of a thread for ascope." };

bool calls_prepare(void)
{
    calls_hook = PyCFunction_New(&hook_method, NULL);
    return calls_hook;
}
