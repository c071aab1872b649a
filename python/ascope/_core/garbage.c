/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collections of Python above a threshold, through gc.callbacks. */
#include "core.h"
#include "garbage.h"

#include <time.h>

#include "ascope/record.h"

static double threshold_ns = -1;
static uint64_t began; /* 0: outside of a collection */
static uint64_t began_ns;
static PyObject *callback;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static PyObject *collected(PyObject *module, PyObject *args)
{
    const char *phase;
    PyObject *info;
    (void)module;
    if (!PyArg_ParseTuple(args, "sO", &phase, &info))
        return NULL;
    if (phase[2] == 'a') { /* "start" */
        began_ns = now_ns();
        began = ascope_now();
    } else if (began != 0) {
        if (threshold_ns >= 0 && (double)(now_ns() - began_ns) >= threshold_ns)
            ascope_python_gc(began, ascope_now());
        began = 0;
    }
    Py_RETURN_NONE;
}

static PyMethodDef collected_method = { "collected", collected, METH_VARARGS, "Called by the garbage collector." };

static PyObject *callbacks(void)
{
    PyObject *const gc = PyImport_ImportModule("gc");
    PyObject *const list = gc ? PyObject_GetAttrString(gc, "callbacks") : NULL;
    Py_XDECREF(gc);
    if (list && PyList_Check(list))
        return list;
    PyErr_Clear();
    Py_XDECREF(list);
    return NULL;
}

void garbage_on(double threshold_ms)
{
    PyObject *const list = callbacks();
    threshold_ns = threshold_ms * 1e6;
    began = 0;
    if (!callback)
        callback = PyCFunction_New(&collected_method, NULL);
    if (!list || !callback || PyList_Append(list, callback) != 0)
        core_report_exception("garbage collections are not recorded");
    Py_XDECREF(list);
}

void garbage_off(void)
{
    PyObject *const list = callback ? callbacks() : NULL;
    for (Py_ssize_t i = list ? PyList_GET_SIZE(list) : 0; i-- > 0;)
        if (PyList_GET_ITEM(list, i) == callback && PyList_SetSlice(list, i, i + 1, NULL) != 0)
            PyErr_Clear();
    threshold_ns = -1;
    Py_XDECREF(list);
    Py_CLEAR(callback);
}
