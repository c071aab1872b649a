/* SPDX-License-Identifier: Apache-2.0 */
/* One Python function that is called when recording begins and ends. */
#include "core.h"

static PyObject *receiver;

static void call(PyObject *is_on, PyObject *options) /* takes the options */
{
    PyObject *const fn = receiver ? Py_NewRef(receiver) : Py_NewRef(Py_None); /* it may be exchanged meanwhile */
    PyObject *const result = fn == Py_None ? Py_NewRef(Py_None)
                             : options     ? PyObject_CallFunctionObjArgs(fn, is_on, options, NULL)
                                           : NULL;
    if (!result)
        core_report_exception(is_on == Py_True ? "when recording began" : "when recording ended");
    Py_XDECREF(result);
    Py_DECREF(fn);
    Py_XDECREF(options);
}

static void started(const struct ascope_options *o, void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    if (!core_enter(&state))
        return;
    call(Py_True, receiver ? options_to_dict(o) : Py_NewRef(Py_None));
    core_leave(state);
}

static void stopping(void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    if (!core_enter(&state))
        return;
    call(Py_False, Py_NewRef(Py_None));
    core_leave(state);
}

static const struct ascope_listener listener = { .size = sizeof listener, .started = started, .stopping = stopping };

static PyObject *core_on_recording(PyObject *module, PyObject *fn)
{
    (void)module;
    if (fn != Py_None && !PyCallable_Check(fn))
        return PyErr_Format(PyExc_TypeError, "on_recording: expected a callable or None, got %s", Py_TYPE(fn)->tp_name);
    PyObject *const before = receiver;
    receiver = fn == Py_None ? NULL : Py_NewRef(fn);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

void core_close_listening(void)
{
    ascope_unlisten(&listener);
    Py_CLEAR(receiver);
}

static PyMethodDef functions[] = {
    { "on_recording", core_on_recording, METH_O,
      "on_recording(call)\n\ncall(True, options) when recording has begun, with the checked options as a dict, and\n"
      "call(False, None) before it ends, while it is still active; on the thread that starts and stops. None: no calls." },
    { NULL, NULL, 0, NULL },
};

bool listening_add(PyObject *module)
{
    if (PyModule_AddFunctions(module, functions) != 0)
        return false;
    if (!ascope_listen(&listener)) {
        PyErr_SetString(core_error, "too many listeners; at most eight");
        return false;
    }
    return true;
}
