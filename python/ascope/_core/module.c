/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <stdatomic.h>
#include <stdio.h>

#include "ascope/record.h"
#include "ascope/schedule.h"

PyMODINIT_FUNC PyInit__core(void);

PyObject *core_error;
static atomic_bool is_closed; /* Python is shutting down and must not be called */
static PyObject *at_exit;     /* a list */

/* ---- to Python and back ---- */

bool core_enter(PyGILState_STATE *state)
{
    if (atomic_load(&is_closed) || !Py_IsInitialized() || !PyGILState_GetThisThreadState())
        return false;
    *state = PyGILState_Ensure();
    return true;
}

void core_leave(PyGILState_STATE state)
{
    PyGILState_Release(state);
}

/* The first exception of the nested calls into libascope of this thread. */
static __thread PyObject *kept_type, *kept_value, *kept_trace;

void core_report_exception(const char *what)
{
    PyObject *type, *value, *trace;
    if (!PyErr_Occurred())
        return;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Fetch(&type, &value, &trace);
        if (!kept_type) {
            kept_type = type;
            kept_value = value;
            kept_trace = trace;
        } else {
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(trace);
        }
        return;
    }
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *const said = value ? PyObject_Str(value) : NULL;
    const char *const words = said ? PyUnicode_AsUTF8(said) : NULL;
    char text[900];
    snprintf(text, sizeof text, "%s: %s: %s", what, type ? ((PyTypeObject *)type)->tp_name : "an error",
             words ? words : "(no text)");
    PyErr_Clear();
    Py_XDECREF(said);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    core_message(ASCOPE_ERROR, text);
}

bool core_raise_kept(void)
{
    core_messages_deliver();
    if (!kept_type)
        return !PyErr_Occurred();
    PyErr_Restore(kept_type, kept_value, kept_trace);
    kept_type = kept_value = kept_trace = NULL;
    return false;
}

/* ---- the end ---- */

static PyObject *core_at_exit(PyObject *module, PyObject *call)
{
    (void)module;
    if (!PyCallable_Check(call))
        return PyErr_Format(PyExc_TypeError, "at_exit: expected a callable, got %s", Py_TYPE(call)->tp_name);
    if (PyList_Append(at_exit, call) != 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *core_close(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (atomic_load(&is_closed))
        Py_RETURN_NONE;
    core_close_dynamic();
    core_close_flight();
    core_close_profilers();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(at_exit); i++) {
        PyObject *const result = PyObject_CallNoArgs(PyList_GET_ITEM(at_exit, i));
        if (!result)
            core_report_exception("at exit");
        Py_XDECREF(result);
    }
    core_close_sessions(); /* those that no front end has ended */
    core_close_tracer();
    core_close_messages();
    core_close_listening();
    atomic_store(&is_closed, true);
    return core_raise_kept() ? Py_NewRef(Py_None) : NULL;
}

/* Handlers run in reverse order: later handlers of the program run before it and may still record. */
static bool close_at_exit(PyObject *module)
{
    PyObject *const handlers = PyImport_ImportModule("atexit");
    PyObject *const close = PyObject_GetAttrString(module, "_close");
    PyObject *const done = handlers && close ? PyObject_CallMethod(handlers, "register", "O", close) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(close);
    Py_XDECREF(handlers);
    return done;
}

/* ---- small things ---- */

static PyObject *core_version(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(ascope_version());
}

static PyObject *core_recording(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromUnsignedLong(__atomic_load_n(&ascope_recording, __ATOMIC_RELAXED));
}

static PyObject *core_now(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromUnsignedLongLong(ascope_now());
}

static PyMethodDef functions[] = {
    { "version", core_version, METH_NOARGS, "version() -> str\n\nThe version of libascope." },
    { "recording", core_recording, METH_NOARGS,
      "recording() -> int\n\nWhat is being recorded: bits of RECORDS_...; 0: nothing." },
    { "now", core_now, METH_NOARGS, "now() -> int\n\nThe time of records: ticks of the host's counter." },
    { "at_exit", core_at_exit, METH_O,
      "at_exit(call)\n\nCalled at interpreter exit, after running profilers were stopped." },
    { "_close", core_close, METH_NOARGS, "Stops running profilers; called at interpreter exit." },
    { NULL, NULL, 0, NULL },
};

static const struct constant {
    const char *name;
    long value;
} constants[] = {
    { "CPU", ASCOPE_CPU },
    { "NPU", ASCOPE_NPU },
    { "RECORDS_OPERATORS", ASCOPE_RECORDS_OPERATORS },
    { "RECORDS_MEMORY", ASCOPE_RECORDS_MEMORY },
    { "RECORDS_PYTHON", ASCOPE_RECORDS_PYTHON },
    { "RECORDS_GC", ASCOPE_RECORDS_GC },
    { "RECORDS_MARKS", ASCOPE_RECORDS_MARKS },
    { "RECORDS_DEVICE", ASCOPE_RECORDS_DEVICE },
    { "INFO", ASCOPE_INFO },
    { "WARNING", ASCOPE_WARNING },
    { "ERROR", ASCOPE_ERROR },
    { "EVERY_STEP", ASCOPE_EVERY_STEP },
};

static bool (*const parts[])(PyObject *) = {
    messages_add, options_add, listening_add, tracer_add, marks_add,      profiler_add, session_add,
    graphs_add,   dynamic_add, flight_add,    ranges_add, monitor_add_to, live_add,
};

static struct PyModuleDef core_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "ascope._core",
    .m_doc = "libascope for Python: sessions, schedules, marks. ascope.torch is what programs import.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *const module = PyModule_Create(&core_module);
    if (!module)
        return NULL;
    core_error = PyErr_NewExceptionWithDoc("ascope._core.Error", "One line: the problem and what to do.",
                                           PyExc_RuntimeError, NULL);
    at_exit = PyList_New(0);
    bool is_well = core_error && at_exit && PyModule_AddObjectRef(module, "Error", core_error) == 0;
    for (size_t i = 0; is_well && i < sizeof constants / sizeof *constants; i++)
        is_well = PyModule_AddIntConstant(module, constants[i].name, constants[i].value) == 0;
    for (size_t i = 0; is_well && i < sizeof parts / sizeof *parts; i++)
        is_well = parts[i](module);
    if (is_well && close_at_exit(module))
        return module;
    Py_DECREF(module);
    return NULL;
}
