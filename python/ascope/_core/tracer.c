/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends the tracing of Python calls: when a recording starts that has stacks or modules, or when a thread
 * asks for stacks. */
#include "tracer.h"

#include <string.h>

#include "ascope/record.h"
#include "calls.h"
#include "core.h"
#include "garbage.h"
#include "parameters.h"
#include "stacks.h"
#include "traced.h"

PyThreadState *tracer_newest_thread;
static atomic_bool may_trace;           /* a session records */
static bool has_remains;                /* notes and known callables: of the recording that is traced, or of one that
                                 stopped where Python could not be called */
static bool records_parameters, is_sim; /* of the session */
static unsigned n_asking;               /* threads that want stacks, where the session records no Python calls */

/* ---- which threads ---- */

#if PY_VERSION_HEX < 0x030c0000
static void profile_set(PyThreadState *state, Py_tracefunc fn, PyObject *with)
{
    PyThreadState *const me = PyThreadState_Swap(state);
    PyEval_SetProfile(fn, with);
    PyThreadState_Swap(me);
}
#endif

void tracer_set_all_threads(void)
{
    PyInterpreterState *const interpreter = PyInterpreterState_Get();
    bool has_new = false, has_others = false;
    const int collects = PyGC_Disable(); /* a collection could run Python, and threads could end meanwhile */
    tracer_newest_thread = PyInterpreterState_ThreadHead(interpreter);
    for (PyThreadState *s = tracer_newest_thread; s; s = PyThreadState_Next(s)) {
        const bool is_noted = note_of(s);
        /* The program has set another profiler there, or removed the tracer. */
        has_others |= s->c_profilefunc ? s->c_profilefunc != calls_trace : is_noted;
        if (s->c_profilefunc || is_noted || !note_add(s, PyThreadState_GetFrame(s)))
            continue;
        has_new = true;
#if PY_VERSION_HEX < 0x030c0000
        profile_set(s, calls_trace, calls_hook);
#endif
    }
    (void)has_new, (void)has_others;
    if (collects)
        PyGC_Enable();
#if PY_VERSION_HEX >= 0x030c0000
    if (has_new && !has_others)
        PyEval_SetProfileAllThreads(calls_trace, calls_hook);
    else if (has_new && !PyThreadState_Get()->c_profilefunc)
        PyEval_SetProfile(calls_trace, calls_hook);
#endif
}

static void tracer_remove(void)
{
    bool has_ours = false, has_others = false;
    for (PyThreadState *s = PyInterpreterState_ThreadHead(PyInterpreterState_Get()); s; s = PyThreadState_Next(s)) {
        has_ours |= s->c_profilefunc == calls_trace;
        has_others |= s->c_profilefunc && s->c_profilefunc != calls_trace;
#if PY_VERSION_HEX < 0x030c0000
        if (s->c_profilefunc == calls_trace)
            profile_set(s, NULL, NULL);
#endif
    }
    (void)has_ours, (void)has_others;
#if PY_VERSION_HEX >= 0x030c0000
    if (has_ours && !has_others)
        PyEval_SetProfileAllThreads(NULL, NULL);
    else if (PyThreadState_Get()->c_profilefunc == calls_trace)
        PyEval_SetProfile(NULL, NULL); /* each of the others removes it with its next call */
#endif
}

/* The module threading sets the hook in each thread that it starts. */
static void hook_set(bool is_set)
{
    PyObject *const threading = PyImport_ImportModule("threading");
    PyObject *const now = threading ? threading_profile(threading) : NULL;
    PyObject *done = NULL;
    if (now && now == (is_set ? Py_None : calls_hook))
        done = PyObject_CallMethod(threading, "setprofile", "O", is_set ? calls_hook : Py_None);
    if (PyErr_Occurred())
        core_report_exception("threads that begin now are not traced");
    Py_XDECREF(done);
    Py_XDECREF(now);
    Py_XDECREF(threading);
}

/* ---- on and off ---- */

static void remains_clear(void)
{
    has_remains = false;
    traced_wait();
    notes_clear();
    known_end();
    parameters_end();
}

/* Several threads may call it at the same time: importing a module and calling Python may release the GIL. From the
 * check behind that until is_on is set, nothing releases it. */
static void trace_on(bool is_mindspore)
{
    PyObject *module_call = NULL, *optimizer_step = NULL;
    PyObject *const modules = PyImport_GetModuleDict();
    PyObject *words = NULL, *watched = NULL;
    if (has_remains && !atomic_load(&tracing.is_on))
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
    if (has_remains || !atomic_load(&may_trace)) { /* another thread was faster, or the recording has ended meanwhile */
        Py_XDECREF(watched);
        Py_XDECREF(words);
        if (atomic_load(&tracing.is_on))
            tracer_set_all_threads(); /* the other thread may not have done so yet */
        return;
    }
    parameters_begin(words, records_parameters && ascope_records(ASCOPE_RECORDS_PYTHON), is_sim);
    known_begin(is_mindspore, module_call, optimizer_step);
    tracing.session++;
    has_remains = true;
    atomic_store(&tracing.is_on, true);
    Py_XDECREF(watched);
    hook_set(true);
    tracer_set_all_threads();
    if (PyThreadState_Get()->c_profilefunc != calls_trace)
        core_message(ASCOPE_WARNING, "Python calls of this thread are not recorded: another profiler is set in it");
}

static void trace_off(void)
{
    if (!atomic_exchange(&tracing.is_on, false))
        return;
    tracer_remove();
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
    if (has_remains && !atomic_load(&tracing.is_on))
        remains_clear();
    const bool is_mindspore = o->layout == ASCOPE_LAYOUT_MINDSPORE; /* whose files have no place for parameters */
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
        atomic_store(&tracing.is_on, false); /* each thread removes the tracer with its next call */
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

/* The child has one thread, and does not record. */
static PyObject *forked(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    traced_forked();
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
                         (unsigned long long)(uintptr_t)stack_module_words, (unsigned long long)(uintptr_t)stack_frame);
}

static PyObject *core_trace_for_thread(PyObject *module, PyObject *is_wanted)
{
    (void)module;
    const int is_true = PyObject_IsTrue(is_wanted);
    if (is_true < 0)
        return NULL;
    if (is_true) {
        n_asking++;
        if (atomic_load(&tracing.is_on))
            tracer_set_all_threads();
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
    if (!calls_prepare() || PyModule_AddFunctions(module, functions) != 0 || !register_fork_handler())
        return false;
    if (!traced_prepare() || !ascope_listen(&listener)) {
        PyErr_SetString(core_error, "Python calls cannot be recorded: no room for another listener");
        return false;
    }
    return true;
}
