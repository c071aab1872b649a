/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic.h for Python: the library decides, functions of a front end record. A step with nothing to do returns without
 * a call of Python, and without releasing the GIL: it takes nanoseconds. */
#include "core.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ascope/dynamic.h"

enum hook { HOOK_RANK, HOOK_BEGIN, HOOK_STEP, HOOK_END, HOOK_MESSAGE, HOOKS };
static PyObject *hooks[HOOKS]; /* NULL: the library's own */
static const char *const hook_names[HOOKS] = { "rank", "begin", "step", "end", "message" };
static bool is_inside; /* a call of the library: a function of ours may release the GIL, and another thread call step */
static bool was_called;      /* a hook, in this call */
static char ended[PATH_MAX]; /* what HOOK_END has returned */

/* ---- hooks ---- */

/* Steals `args`; NULL: none could be made. NULL: the exception is a message. */
static PyObject *call(enum hook which, PyObject *args)
{
    was_called = true;
    PyObject *const function = Py_XNewRef(hooks[which]); /* it may be exchanged meanwhile */
    PyObject *const result = args && function ? PyObject_Call(function, args, NULL) : NULL;
    if (!result) {
        char what[40];
        snprintf(what, sizeof what, "dynamic_profile: %s", hook_names[which]);
        core_report_exception(what);
    }
    Py_XDECREF(function);
    Py_XDECREF(args);
    return result;
}

static int32_t on_rank(void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    if (!core_enter(&state))
        return -1;
    PyObject *const result = call(HOOK_RANK, PyTuple_New(0));
    const long rank = result && PyLong_Check(result) ? PyLong_AsLong(result) : -1;
    PyErr_Clear();
    Py_XDECREF(result);
    core_leave(state);
    return rank >= 0 && rank <= INT32_MAX ? (int32_t)rank : -1;
}

/* False: the Python error is set. Takes the value. */
static bool put(PyObject *dict, const char *name, PyObject *value)
{
    PyObject *const key = value ? PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace") : NULL;
    const bool done = key && PyDict_SetItem(dict, key, value) == 0;
    Py_XDECREF(key);
    Py_XDECREF(value);
    return done;
}

static PyObject *text_of(const char *text)
{
    return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape") : Py_NewRef(Py_None);
}

static PyObject *metadata_of(const struct ascope_dynamic_request *r)
{
    PyObject *const dict = PyDict_New();
    bool is_well = dict;
    for (size_t i = 0; is_well && i < r->n_metadata; i++)
        is_well = put(dict, r->metadata[i].key, text_of(r->metadata[i].json));
    if (is_well)
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *request_of(const struct ascope_dynamic_request *r)
{
    PyObject *const dict = PyDict_New();
    if (dict && put(dict, "step", PyLong_FromLongLong(r->step)) &&
        put(dict, "warmup", PyLong_FromLongLong(r->warmup)) && put(dict, "active", PyLong_FromLongLong(r->active)) &&
        put(dict, "analyse", PyBool_FromLong(r->analyse)) && put(dict, "async_mode", PyBool_FromLong(r->async_mode)) &&
        put(dict, "is_from_start", PyBool_FromLong(r->is_from_start)) &&
        put(dict, "is_late", PyBool_FromLong(r->is_late)) && put(dict, "rank", PyLong_FromLong(r->rank)) &&
        put(dict, "is_rank", PyBool_FromLong(r->is_rank)) && put(dict, "options", options_to_dict(r->options)) &&
        put(dict, "metadata", metadata_of(r)) && put(dict, "json", text_of(r->json)) &&
        put(dict, "file", text_of(r->file)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static bool on_begin(const struct ascope_dynamic_request *r, void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    if (!core_enter(&state))
        return false;
    PyObject *const request = request_of(r);
    PyObject *const result = call(HOOK_BEGIN, request ? PyTuple_Pack(1, request) : NULL);
    const bool has_begun = result && PyObject_IsTrue(result) == 1;
    Py_XDECREF(result);
    Py_XDECREF(request);
    core_leave(state);
    return has_begun;
}

static void on_step(void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    if (!core_enter(&state))
        return;
    Py_XDECREF(call(HOOK_STEP, PyTuple_New(0)));
    core_leave(state);
}

static const char *on_end(bool is_cut, void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    if (!core_enter(&state))
        return NULL;
    PyObject *const result = call(HOOK_END, PyTuple_Pack(1, is_cut ? Py_True : Py_False));
    PyObject *const path = result && PyUnicode_Check(result) ? PyUnicode_EncodeFSDefault(result) : NULL;
    if (path)
        snprintf(ended, sizeof ended, "%s", PyBytes_AS_STRING(path));
    PyErr_Clear();
    Py_XDECREF(path);
    Py_XDECREF(result);
    core_leave(state);
    return path ? ended : NULL;
}

static void on_message(enum ascope_severity severity, const char *text, void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    if (!core_enter(&state))
        return;
    PyObject *const words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    Py_XDECREF(call(HOOK_MESSAGE, words ? Py_BuildValue("(iO)", (int)severity, words) : NULL));
    Py_XDECREF(words);
    core_leave(state);
}

/* ---- functions ---- */

/* False: another call has not returned yet. */
static bool enter(const char *what)
{
    if (is_inside) {
        char text[100];
        snprintf(text, sizeof text, "dynamic_profile: %s() ignored: another call has not returned yet", what);
        core_message(ASCOPE_WARNING, text);
        return false;
    }
    is_inside = true;
    was_called = false;
    return true;
}

/* Exceptions such as KeyboardInterrupt, which were kept by a hook, reach the program. */
static PyObject *leave(PyObject *result)
{
    is_inside = false;
    if (!was_called || core_raise_kept())
        return result;
    Py_XDECREF(result);
    return NULL;
}

static bool take_hooks(PyObject *const *given)
{
    for (size_t i = 0; i < HOOKS; i++)
        if (given[i] && given[i] != Py_None && !PyCallable_Check(given[i])) {
            PyErr_Format(PyExc_TypeError, "dynamic_init: %s: expected a callable or None, got %s", hook_names[i],
                         Py_TYPE(given[i])->tp_name);
            return false;
        }
    for (size_t i = 0; i < HOOKS; i++)
        Py_XSETREF(hooks[i], given[i] && given[i] != Py_None ? Py_NewRef(given[i]) : NULL);
    return true;
}

static PyObject *dynamic_init(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = { "path", "rank", "begin", "step", "end", "message", "kind", "world_size", "poll_ms", NULL };
    PyObject *path = NULL, *given[HOOKS] = { NULL };
    unsigned kind = ASCOPE_DYNAMIC_PYTORCH, world_size = 0, poll_ms = 0;
    struct ascope_error e = { 0 };
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$OOOOOIII:dynamic_init", keys, PyUnicode_FSConverter, &path,
                                     &given[HOOK_RANK], &given[HOOK_BEGIN], &given[HOOK_STEP], &given[HOOK_END],
                                     &given[HOOK_MESSAGE], &kind, &world_size, &poll_ms))
        return NULL;
    const bool is_first =
        ascope_dynamic_state() == ASCOPE_DYNAMIC_OFF; /* else the library warns, and nothing changes */
    if ((is_first && !take_hooks(given)) || !enter("init")) {
        Py_DECREF(path);
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    const struct ascope_dynamic_setup setup = {
        .size = sizeof setup,
        .kind = kind,
        .path = PyBytes_AS_STRING(path),
        .rank = hooks[HOOK_RANK] ? on_rank : NULL,
        .begin = hooks[HOOK_BEGIN] ? on_begin : NULL,
        .step = hooks[HOOK_STEP] ? on_step : NULL,
        .end = hooks[HOOK_END] ? on_end : NULL,
        .message = hooks[HOOK_MESSAGE] ? on_message : NULL,
        .world_size = world_size,
        .poll_ms = poll_ms,
    };
    const bool done = ascope_dynamic_init(&setup, &e);
    Py_DECREF(path);
    PyObject *const result = leave(Py_NewRef(Py_None));
    if (done || !result)
        return result;
    Py_DECREF(result);
    PyErr_SetString(core_error, e.text);
    return NULL;
}

static PyObject *dynamic_step(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!enter("step"))
        Py_RETURN_NONE;
    live_step();
    ascope_dynamic_step();
    return leave(Py_NewRef(Py_None));
}

static PyObject *dynamic_start(PyObject *module, PyObject *args)
{
    PyObject *file = NULL;
    struct ascope_error e = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "|O&:dynamic_start", PyUnicode_FSConverter, &file))
        return NULL;
    if (!enter("start")) {
        Py_XDECREF(file);
        Py_RETURN_FALSE;
    }
    const bool done = ascope_dynamic_start(file ? PyBytes_AS_STRING(file) : NULL, &e);
    Py_XDECREF(file);
    return leave(PyBool_FromLong(done));
}

static PyObject *dynamic_set_step(PyObject *module, PyObject *number)
{
    (void)module;
    const long long step = PyLong_AsLongLong(number);
    if (step == -1 && PyErr_Occurred())
        return NULL;
    return PyBool_FromLong(ascope_dynamic_set_step(step));
}

static PyObject *dynamic_current_step(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLongLong(ascope_dynamic_current_step());
}

static PyObject *dynamic_state(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLong((long)ascope_dynamic_state());
}

static PyObject *dynamic_end(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!enter("end"))
        Py_RETURN_NONE;
    ascope_dynamic_end();
    return leave(Py_NewRef(Py_None));
}

void core_close_dynamic(void)
{
    PyObject *const result = dynamic_end(NULL, NULL);
    if (!result)
        core_report_exception("dynamic_profile: end");
    Py_XDECREF(result);
    for (size_t i = 0; i < HOOKS; i++)
        Py_CLEAR(hooks[i]);
}

#define WITH_KEYWORDS(fn) (PyCFunction)(void (*)(void)) fn
static PyMethodDef functions[] = {
    { "dynamic_init", WITH_KEYWORDS(dynamic_init), METH_VARARGS | METH_KEYWORDS,
      "dynamic_init(path, *, rank=None, begin=None, step=None, end=None, message=None, kind=DYNAMIC_PYTORCH, "
      "world_size=0, poll_ms=0)\n\n"
      "Listens to a directory. rank() -> int; begin(request) -> bool, with a dict; step(); end(is_cut) -> path or None;\n"
      "message(severity, text). None: what the library does by itself." },
    { "dynamic_step", dynamic_step, METH_NOARGS,
      "dynamic_step()\n--\n\nAt the end of each iteration, once: counts it, and begins and ends the collections that were asked for." },
    { "dynamic_start", dynamic_start, METH_VARARGS,
      "dynamic_start([file]) -> bool\n\nBegins a collection now, by this file, or by the one that is watched." },
    { "dynamic_set_step", dynamic_set_step, METH_O,
      "dynamic_set_step(number) -> bool\n\nOf the current step, from 0." },
    { "dynamic_current_step", dynamic_current_step, METH_NOARGS, "dynamic_current_step() -> int" },
    { "dynamic_state", dynamic_state, METH_NOARGS,
      "dynamic_state() -> int\n\n0 off, 1 idle, 2 ready (a request waits for its step), 3 running." },
    { "dynamic_end", dynamic_end, METH_NOARGS, "dynamic_end()\n\nEnds a running collection, and stops listening." },
    { NULL, NULL, 0, NULL },
};

static void in_child(void)
{
    is_inside = false; /* by a thread that does not exist here */
}

bool dynamic_add(PyObject *module)
{
    pthread_atfork(NULL, NULL, in_child);
    return PyModule_AddFunctions(module, functions) == 0 &&
           PyModule_AddIntConstant(module, "DYNAMIC_PYTORCH", ASCOPE_DYNAMIC_PYTORCH) == 0 &&
           PyModule_AddIntConstant(module, "DYNAMIC_MINDSPORE", ASCOPE_DYNAMIC_MINDSPORE) == 0;
}
