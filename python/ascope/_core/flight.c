/* SPDX-License-Identifier: Apache-2.0 */
/* flight.h for Python. Saving and stopping release the GIL: neither needs Python, and a save may come while another
 * thread has it. */
#include "core.h"

#include <limits.h>

#include "ascope/flight.h"

static PyObject *raise_error(const struct ascope_error *e)
{
    if (core_raise_kept()) /* warnings come first */
        PyErr_SetString(core_error, e->text);
    return NULL;
}

static PyObject *flight_start(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = { "options", "keep_ns",    "memory_bytes", "slow_step",
                            "signal",  "between_ns", "listen_dir",   NULL };
    struct ascope_flight how = { .size = sizeof how };
    struct ascope_options o;
    struct ascope_error e = { "" };
    PyObject *options = NULL, *listen_dir = NULL;
    unsigned long long keep_ns = 0, memory_bytes = 0, between_ns = 0;
    int number = 0;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OKKdiKO&:flight_start", keys, &options, &keep_ns, &memory_bytes,
                                     &how.slow_step, &number, &between_ns, PyUnicode_FSConverter, &listen_dir))
        return NULL;
    if (!options_of_dict(&o, options)) {
        Py_XDECREF(listen_dir);
        return NULL;
    }
    how.keep_ns = keep_ns;
    how.memory_bytes = memory_bytes;
    how.between_ns = between_ns;
    how.signal = number;
    how.listen_dir = listen_dir ? PyBytes_AS_STRING(listen_dir) : NULL;
    bool done;
    Py_BEGIN_ALLOW_THREADS done = ascope_flight_start(&o, &how, &e);
    Py_END_ALLOW_THREADS Py_XDECREF(listen_dir);
    if (!done)
        return raise_error(&e);
    return core_raise_kept() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *flight_save(PyObject *module, PyObject *args)
{
    unsigned long long last_ns = 0;
    const char *trigger = NULL;
    char path[PATH_MAX];
    struct ascope_error e = { "" };
    bool done;
    (void)module;
    if (!PyArg_ParseTuple(args, "|Kz:flight_save", &last_ns, &trigger))
        return NULL;
    Py_BEGIN_ALLOW_THREADS done = ascope_flight_save(last_ns, trigger, path, sizeof path, &e);
    Py_END_ALLOW_THREADS if (!done) return raise_error(&e);
    return core_raise_kept() ? PyUnicode_DecodeFSDefault(path) : NULL;
}

static PyObject *flight_step(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    live_step();
    ascope_flight_step();
    Py_RETURN_NONE;
}

static PyObject *flight_metadata(PyObject *module, PyObject *args)
{
    const char *key, *json;
    struct ascope_error e = { "" };
    bool done;
    (void)module;
    if (!PyArg_ParseTuple(args, "ss:flight_metadata", &key, &json))
        return NULL;
    Py_BEGIN_ALLOW_THREADS done = ascope_flight_metadata(key, json, &e);
    Py_END_ALLOW_THREADS if (!done) return raise_error(&e);
    return core_raise_kept() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *flight_saves(PyObject *module, PyObject *unused)
{
    char path[PATH_MAX];
    (void)module, (void)unused;
    const unsigned long long n = ascope_flight_saves(path, sizeof path);
    return Py_BuildValue("(KN)", n, PyUnicode_DecodeFSDefault(path));
}

static PyObject *flight_path(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    const char *const path = ascope_flight_path();
    return path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

static PyObject *flight_stop(PyObject *module, PyObject *unused)
{
    struct ascope_error e = { "" };
    bool done;
    (void)module, (void)unused;
    Py_BEGIN_ALLOW_THREADS done = ascope_flight_stop(&e);
    Py_END_ALLOW_THREADS if (!done) return raise_error(&e);
    return core_raise_kept() ? Py_NewRef(Py_None) : NULL;
}

void core_close_flight(void)
{
    if (!ascope_flight_path())
        return;
    PyObject *const result = flight_stop(NULL, NULL);
    if (!result)
        core_report_exception("flight_recorder: at exit");
    Py_XDECREF(result);
}

static PyMethodDef functions[] = {
    { "flight_start", (PyCFunction)(void (*)(void))flight_start, METH_VARARGS | METH_KEYWORDS,
      "flight_start(options={}, keep_ns=0, memory_bytes=0, slow_step=0.0, signal=0, between_ns=0, listen_dir=...)\n\n"
      "Records from now on, and keeps the last keep_ns within memory_bytes. 0: the default, or off." },
    { "flight_save", flight_save, METH_VARARGS,
      "flight_save(last_ns=0, trigger=None) -> str\n\nThe last last_ns as a collection: its directory. 0: all that is kept." },
    { "flight_step", flight_step, METH_NOARGS, "flight_step()\n\nA step ends, and the next one begins." },
    { "flight_metadata", flight_metadata, METH_VARARGS,
      "flight_metadata(key, json)\n\nFor profiler_metadata.json of each save." },
    { "flight_saves", flight_saves, METH_NOARGS,
      "flight_saves() -> (int, str)\n\nThe number of saves so far, and the directory of the last one." },
    { "flight_path", flight_path, METH_NOARGS, "flight_path() -> str or None\n\nIts home; None: none is running." },
    { "flight_stop", flight_stop, METH_NOARGS, "flight_stop()\n\nEnds the recording. What was saved stays." },
    { NULL, NULL, 0, NULL },
};

bool flight_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
