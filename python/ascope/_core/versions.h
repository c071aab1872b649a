/* SPDX-License-Identifier: Apache-2.0 */
/* versions.h - Python.h of every Python from 3.8 on: what later ones have and earlier ones lack, under the later names.
 *
 * The core uses what changes between versions (frames, thread states), so it is built for each version of Python.
 */
#ifndef ASCOPE_PYTHON_VERSIONS_H
#define ASCOPE_PYTHON_VERSIONS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *new_reference(PyObject *o)
{
    Py_XINCREF(o);
    return o;
}
#define Py_NewRef(o)  new_reference((PyObject *)(o)) /* of any object, as the later ones are */
#define Py_XNewRef(o) new_reference((PyObject *)(o))

static inline int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *value)
{
    Py_XINCREF(value);
    const int result = value ? PyModule_AddObject(module, name, value) : -1;
    if (result < 0)
        Py_XDECREF(value);
    return result;
}

/* The hook that the module threading gives to new threads. */
static inline PyObject *threading_profile(PyObject *threading)
{
    return PyObject_GetAttrString(threading, "_profile_hook");
}

static inline int garbage_call(const char *method)
{
    PyObject *const gc = PyImport_ImportModule("gc");
    PyObject *const result = gc ? PyObject_CallMethod(gc, method, NULL) : NULL;
    const int is_true = result ? PyObject_IsTrue(result) : 0;
    Py_XDECREF(result);
    Py_XDECREF(gc);
    PyErr_Clear();
    return is_true;
}

static inline int PyGC_Disable(void)
{
    const int was_enabled = garbage_call("isenabled");
    garbage_call("disable");
    return was_enabled;
}

static inline void PyGC_Enable(void)
{
    garbage_call("enable");
}
#else
static inline PyObject *threading_profile(PyObject *threading)
{
    return PyObject_CallMethod(threading, "getprofile", NULL);
}
#endif

#if PY_VERSION_HEX < 0x03090000
#undef PyMODINIT_FUNC
#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject * /* everything else is hidden */

static inline PyObject *PyObject_CallNoArgs(PyObject *function)
{
    return PyObject_CallObject(function, NULL);
}

static inline PyObject *PyObject_CallOneArg(PyObject *function, PyObject *argument)
{
    return PyObject_CallFunctionObjArgs(function, argument, NULL);
}

static inline PyCodeObject *PyFrame_GetCode(PyFrameObject *frame)
{
    return (PyCodeObject *)Py_NewRef(frame->f_code);
}

static inline PyFrameObject *PyFrame_GetBack(PyFrameObject *frame)
{
    return (PyFrameObject *)Py_XNewRef(frame->f_back);
}

static inline PyFrameObject *PyThreadState_GetFrame(PyThreadState *state)
{
    return (PyFrameObject *)Py_XNewRef(state->frame);
}

static inline uint64_t PyThreadState_GetID(PyThreadState *state)
{
    return state->id;
}

static inline PyInterpreterState *PyInterpreterState_Get(void)
{
    return _PyInterpreterState_Get();
}
#endif

#endif
