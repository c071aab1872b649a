/* SPDX-License-Identifier: Apache-2.0 */
/* Session: session.h as a type, for front ends without steps. As with Profiler, a forked process has no part in it. */
#include "core.h"

#include <string.h>
#include <unistd.h>

#include "ascope/load.h"
#include "ascope/session.h"

struct session {
    PyObject_HEAD struct session *before, *after; /* all that are open */
    struct ascope_session *s;                     /* NULL: ended */
    PyObject *path;
    pid_t pid;
    bool is_busy, has_started;
};
static struct session *first;

static void unlink_from_open(struct session *self)
{
    if (self->before)
        self->before->after = self->after;
    else if (first == self)
        first = self->after;
    if (self->after)
        self->after->before = self->before;
    self->before = self->after = NULL;
}

static int session_init(struct session *self, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = { "options", "profiling_options", NULL };
    const char *text = NULL;
    PyObject *options = NULL;
    struct ascope_options o;
    struct ascope_error e = { "" };
    struct ascope_session *s;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Oz:Session", keys, &options, &text) ||
        !options_of_dict(&o, options))
        return -1;
    if (self->s) {
        PyErr_SetString(PyExc_TypeError, "Session: already initialised");
        return -1;
    }
    if (text && !ascope_options_load_text(&o, text, strlen(text), ASCOPE_FRONT_END_TENSORFLOW, NULL, &e)) {
        PyErr_SetString(core_error, e.text);
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS s = ascope_session_new(&o, &e);
    Py_END_ALLOW_THREADS if (!core_raise_kept())
    {
        ascope_session_discard(s);
        return -1;
    }
    if (!s) {
        PyErr_SetString(core_error, e.text);
        return -1;
    }
    self->s = s;
    self->pid = getpid();
    Py_XSETREF(self->path, PyUnicode_DecodeFSDefault(ascope_session_path(s)));
    self->after = first;
    if (first)
        first->before = self;
    first = self;
    return 0;
}

/* False with the Python error set. */
static bool is_usable(const struct session *self, const char *what)
{
    if (!self->s)
        PyErr_Format(core_error, "%s: the session has ended", what);
    else if (self->pid != getpid())
        PyErr_Format(core_error, "%s: the session belongs to the parent process", what);
    else if (self->is_busy)
        PyErr_Format(core_error, "%s: the session is busy in another call", what);
    else
        return true;
    return false;
}

static PyObject *drive(struct session *self, const char *what,
                       bool (*fn)(struct ascope_session *, struct ascope_error *), bool ends)
{
    struct ascope_error e = { "" };
    bool is_well;
    if (!is_usable(self, what))
        return NULL;
    struct ascope_session *const s = self->s;
    Py_INCREF(self);
    self->is_busy = true;
    Py_BEGIN_ALLOW_THREADS is_well = fn(s, &e);
    Py_END_ALLOW_THREADS self->is_busy = false;
    if (ends) {
        self->s = NULL;
        unlink_from_open(self);
    }
    Py_DECREF(self);
    if (!core_raise_kept())
        return NULL;
    return is_well ? Py_NewRef(Py_None) : PyErr_Format(core_error, "%s", e.text);
}

static PyObject *session_warmup(struct session *self, PyObject *unused)
{
    (void)unused;
    return drive(self, "warm-up", ascope_session_warmup, false);
}

static PyObject *session_start(struct session *self, PyObject *unused)
{
    (void)unused;
    self->has_started = true;
    return drive(self, "start", ascope_session_start, false);
}

static PyObject *session_stop(struct session *self, PyObject *unused)
{
    (void)unused;
    return drive(self, "stop", ascope_session_stop, false);
}

static PyObject *session_end(struct session *self, PyObject *unused)
{
    (void)unused;
    return drive(self, "end", ascope_session_end, true);
}

static bool discard(struct ascope_session *s, struct ascope_error *e)
{
    (void)e;
    ascope_session_discard(s);
    return true;
}

static PyObject *session_discard(struct session *self, PyObject *unused)
{
    (void)unused;
    return drive(self, "discard", discard, true);
}

PyObject *core_metadata(struct ascope_session *s, PyObject *args, metadata_fn fn)
{
    const char *key, *text;
    struct ascope_error e = { "" };
    if (!PyArg_ParseTuple(args, "ss:metadata", &key, &text))
        return NULL;
    if (!s)
        return PyErr_Format(core_error, "metadata %.60s: no session is recording", key);
    if (!fn(s, key, text, &e))
        return PyErr_Format(core_error, "%s", e.text);
    Py_RETURN_NONE;
}

static PyObject *session_step(struct session *self, PyObject *number)
{
    const unsigned long long n = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() || !is_usable(self, "step"))
        return NULL;
    live_step();
    ascope_session_step(self->s, n);
    Py_RETURN_NONE;
}

static PyObject *session_metadata(struct session *self, PyObject *args)
{
    return is_usable(self, "metadata") ? core_metadata(self->s, args, ascope_metadata) : NULL;
}

static PyObject *session_metadata_json(struct session *self, PyObject *args)
{
    return is_usable(self, "metadata") ? core_metadata(self->s, args, ascope_metadata_json) : NULL;
}

/* A session that never recorded leaves no files. */
static void finish(struct session *self)
{
    PyObject *const result = self->has_started ? session_end(self, NULL) : session_discard(self, NULL);
    if (!result)
        core_report_exception("a session that was never ended");
    Py_XDECREF(result);
}

static void session_finalize(PyObject *object)
{
    struct session *const self = (struct session *)object;
    PyObject *type, *value, *trace;
    if (!self->s || self->pid != getpid() || self->is_busy)
        return;
    PyErr_Fetch(&type, &value, &trace);
    finish(self);
    PyErr_Restore(type, value, trace);
}

static void session_dealloc(struct session *self)
{
    if (PyObject_CallFinalizerFromDealloc((PyObject *)self) < 0)
        return;
    unlink_from_open(self);
    Py_CLEAR(self->path);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

void core_close_sessions(void)
{
    for (struct session *s = first; s;) {
        if (s->pid != getpid() || s->is_busy) {
            s = s->after;
            continue;
        }
        Py_INCREF(s);
        finish(s);
        Py_DECREF(s);
        s = first;
    }
}

static PyObject *session_path(struct session *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->path ? self->path : Py_None);
}

static PyObject *session_is_open(struct session *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(self->s && self->pid == getpid());
}

#define METHOD(fn) (PyCFunction)(void (*)(void)) fn
static PyMethodDef methods[] = {
    { "warmup", METHOD(session_warmup), METH_NOARGS, "warmup()\n\nStarts the devices; their records are discarded." },
    { "start", METHOD(session_start), METH_NOARGS, "start()\n\nBegins recording." },
    { "stop", METHOD(session_stop), METH_NOARGS, "stop()\n\nEverything recorded is on disk." },
    { "end", METHOD(session_end), METH_NOARGS, "end()\n\nCompletes the collection and frees the session." },
    { "discard", METHOD(session_discard), METH_NOARGS, "discard()\n\nDeletes the directory and frees the session." },
    { "step", METHOD(session_step), METH_O,
      "step(number)\n\nA training step begins; the range itself is the caller's." },
    { "metadata", METHOD(session_metadata), METH_VARARGS, "metadata(key, text)\n\nFor profiler_metadata.json." },
    { "metadata_json", METHOD(session_metadata_json), METH_VARARGS,
      "metadata_json(key, json)\n\nThe same with a JSON value." },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef members[] = {
    { "path", (getter)(void (*)(void))session_path, NULL, "The directory.", NULL },
    { "is_open", (getter)(void (*)(void))session_is_open, NULL, "Whether it has not ended yet.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyTypeObject session_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ascope._core.Session",
    .tp_doc =
        "Session(options=None, profiling_options=None)\n\nCreates the directory of a collection, records between start and stop, completes it at end.\n"
        "Failures raise Error.",
    .tp_basicsize = sizeof(struct session),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)(void (*)(void))session_init,
    .tp_dealloc = (destructor)(void (*)(void))session_dealloc,
    .tp_finalize = session_finalize,
    .tp_methods = methods,
    .tp_getset = members,
};

bool session_add(PyObject *module)
{
    return PyType_Ready(&session_type) == 0 && PyModule_AddObjectRef(module, "Session", (PyObject *)&session_type) == 0;
}
