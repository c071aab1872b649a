/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.h for Python. */
#include "core.h"

#include "ascope/monitor.h"

static PyObject *monitor_start(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = { "dir", "rank", "world_size", "every_ms", "file_bytes", NULL };
    struct ascope_monitor how = { .size = sizeof how, .rank = -1 };
    struct ascope_error e = { "" };
    PyObject *dir = NULL;
    unsigned long long file_bytes = 0;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&iIIK:monitor_start", keys, PyUnicode_FSConverter, &dir,
                                     &how.rank, &how.world_size, &how.every_ms, &file_bytes))
        return NULL;
    how.dir = dir ? PyBytes_AS_STRING(dir) : NULL;
    how.file_bytes = file_bytes;
    const bool done = ascope_monitor_start(&how, &e);
    Py_XDECREF(dir);
    if (!done && core_raise_kept())
        PyErr_SetString(core_error, e.text);
    return done && core_raise_kept() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *monitor_step(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    ascope_monitor_step();
    Py_RETURN_NONE;
}

static PyObject *monitor_iteration(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(ascope_monitor_iteration());
}

static PyObject *monitor_add(PyObject *module, PyObject *args)
{
    int value;
    long long n;
    (void)module;
    if (!PyArg_ParseTuple(args, "iL:monitor_add", &value, &n))
        return NULL;
    ascope_monitor_add((enum ascope_monitor_value)value, n);
    Py_RETURN_NONE;
}

static PyObject *monitor_set(PyObject *module, PyObject *args)
{
    int value;
    long long n;
    (void)module;
    if (!PyArg_ParseTuple(args, "iL:monitor_set", &value, &n))
        return NULL;
    ascope_monitor_set((enum ascope_monitor_value)value, n);
    Py_RETURN_NONE;
}

static PyObject *monitor_rank(PyObject *module, PyObject *args)
{
    int rank;
    unsigned world_size;
    (void)module;
    if (!PyArg_ParseTuple(args, "iI:monitor_rank", &rank, &world_size))
        return NULL;
    ascope_monitor_rank(rank, world_size);
    Py_RETURN_NONE;
}

static PyObject *monitor_path(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    const char *const path = ascope_monitor_path();
    return path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

static PyObject *monitor_stop(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    ascope_monitor_stop();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    { "monitor_start", (PyCFunction)(void (*)(void))monitor_start, METH_VARARGS | METH_KEYWORDS,
      "monitor_start(dir=..., rank=-1, world_size=0, every_ms=0, file_bytes=0)\n\n"
      "Records of the steps from now on, in a file in dir." },
    { "monitor_step", monitor_step, METH_NOARGS, "monitor_step()\n\nA step ends, and the next one begins." },
    { "monitor_iteration", monitor_iteration, METH_NOARGS,
      "monitor_iteration() -> bool\n\nThe same, unless steps are marked by a better function. True: there is a new record." },
    { "monitor_add", monitor_add, METH_VARARGS, "monitor_add(value, n)\n\nAdds to a value of the current step." },
    { "monitor_set", monitor_set, METH_VARARGS, "monitor_set(value, n)\n\nSets a value that is no sum." },
    { "monitor_rank", monitor_rank, METH_VARARGS,
      "monitor_rank(rank, world_size)\n\n"
      "Known later than the start." },
    { "monitor_path", monitor_path, METH_NOARGS,
      "monitor_path() -> str or None\n\n"
      "Its file; None: it does not run." },
    { "monitor_stop", monitor_stop, METH_NOARGS, "monitor_stop()\n\nWrites the last steps. The file stays." },
    { NULL, NULL, 0, NULL },
};

static const struct constant {
    const char *name;
    int value;
} constants[] = {
    { "MONITOR_COMMUNICATION", ASCOPE_MONITOR_COMMUNICATION },
    { "MONITOR_DATA", ASCOPE_MONITOR_DATA },
    { "MONITOR_GC", ASCOPE_MONITOR_GC },
    { "MONITOR_TOKENS", ASCOPE_MONITOR_TOKENS },
    { "MONITOR_ALLOCATED", ASCOPE_MONITOR_ALLOCATED },
    { "MONITOR_RESERVED", ASCOPE_MONITOR_RESERVED },
    { "MONITOR_PEAK", ASCOPE_MONITOR_PEAK },
};

bool monitor_add_to(PyObject *module)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) != 0)
            return false;
    return PyModule_AddFunctions(module, functions) == 0;
}
