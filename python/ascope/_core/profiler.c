/* SPDX-License-Identifier: Apache-2.0 */
/* Profiler: schedule.h as a type. Threads are serialised; a reentrant call from a callback is rejected. A forked
 * process has no part in a profiler that was used before the fork. */
#include "core.h"

#include <pythread.h>
#include <stdint.h>
#include <unistd.h>

#include "ascope/schedule.h"

struct profiler {
    PyObject_HEAD struct profiler *before, *after; /* all that are alive */
    struct ascope_profiler *p;                     /* NULL: freed */
    PyObject *schedule, *ready;                    /* NULL: none */
    PyObject *path;                                /* of the last collection; NULL: none yet */
    PyObject *weak;
    PyThread_type_lock lock;
    unsigned long owner; /* the thread that holds it */
    pid_t pid;
    bool was_used, is_running;
};
static struct profiler *first;

/* ---- callbacks of libascope ---- */

static enum ascope_action asked(uint64_t step, void *user)
{
    struct profiler *const self = user;
    PyGILState_STATE state;
    if (!core_enter(&state))
        return ASCOPE_NONE;
    PyObject *const result = PyObject_CallFunction(self->schedule, "K", (unsigned long long)step);
    PyObject *const number =
        result && !PyLong_Check(result) ? PyObject_GetAttrString(result, "value") : Py_XNewRef(result);
    const long action = number ? PyLong_AsLong(number) : -1;
    if (!PyErr_Occurred() && (action < ASCOPE_NONE || action > ASCOPE_RECORD_AND_SAVE))
        PyErr_Format(PyExc_ValueError, "invalid action %ld; expected 0 to %d", action, ASCOPE_RECORD_AND_SAVE);
    const bool is_well = !PyErr_Occurred();
    if (!is_well && self->was_used) /* else it is raised to the creator */
        core_report_exception("schedule");
    Py_XDECREF(number);
    Py_XDECREF(result);
    core_leave(state);
    return is_well ? (enum ascope_action)action : ASCOPE_NONE;
}

static void ready(const char *path, void *user)
{
    struct profiler *const self = user;
    PyGILState_STATE state;
    if (!core_enter(&state))
        return;
    PyObject *const text = PyUnicode_DecodeFSDefault(path);
    if (text)
        Py_XSETREF(self->path, Py_NewRef(text));
    PyObject *const call = Py_XNewRef(self->ready);
    PyObject *const result = text && call ? PyObject_CallOneArg(call, text) : Py_XNewRef(text);
    if (!result)
        core_report_exception("on_trace_ready");
    Py_XDECREF(result);
    Py_XDECREF(call);
    Py_XDECREF(text);
    core_leave(state);
}

/* ---- locking ---- */

static bool is_of_parent(struct profiler *self)
{
    if (self->pid == getpid())
        return false;
    if (self->was_used)
        return true;
    self->pid = getpid(); /* created before the fork, unused */
    PyThread_free_lock(self->lock);
    self->lock = PyThread_allocate_lock();
    self->owner = 0;
    return false;
}

/* False with the Python error set. */
static bool enter(struct profiler *self, const char *what)
{
    const unsigned long me = PyThread_get_thread_ident();
    if (!self->p) {
        PyErr_Format(core_error, "%s: the profiler was freed", what);
        return false;
    }
    if (self->owner == me) {
        PyErr_Format(core_error, "%s: called by a callback of the profiler; ignored", what);
        return false;
    }
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    self->owner = me;
    if (self->p)
        return true;
    self->owner = 0;
    PyThread_release_lock(self->lock);
    PyErr_Format(core_error, "%s: the profiler was freed", what);
    return false;
}

static void leave(struct profiler *self)
{
    self->owner = 0;
    PyThread_release_lock(self->lock);
}

/* While it is open: a schedule may end it silently. */
static void path_keep(struct profiler *self)
{
    const struct ascope_session *const s = self->p ? ascope_profiler_session(self->p) : NULL;
    PyObject *const path = s ? PyUnicode_DecodeFSDefault(ascope_session_path(s)) : NULL;
    if (path)
        Py_XSETREF(self->path, path);
    else
        PyErr_Clear();
}

static PyObject *drive(struct profiler *self, const char *what, void (*fn)(struct ascope_profiler *), bool runs_after,
                       bool warns_child)
{
    if (is_of_parent(self)) {
        if (warns_child)
            core_message(ASCOPE_WARNING,
                         "the profiler runs in the parent process; create another one to record this process");
        Py_RETURN_NONE;
    }
    if (!enter(self, what))
        return NULL;
    Py_INCREF(self);
    self->was_used = true;
    self->is_running = true;
    struct ascope_profiler *const p = self->p;
    Py_BEGIN_ALLOW_THREADS fn(p);
    Py_END_ALLOW_THREADS self->is_running = runs_after;
    path_keep(self);
    leave(self);
    Py_DECREF(self);
    return core_raise_kept() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *profiler_start(struct profiler *self, PyObject *unused)
{
    (void)unused;
    return drive(self, "start", ascope_profiler_start, true, true);
}

static PyObject *profiler_step(struct profiler *self, PyObject *unused)
{
    (void)unused;
    live_step();
    return drive(self, "step", ascope_profiler_step, self->is_running || !self->was_used, true);
}

static PyObject *profiler_stop(struct profiler *self, PyObject *unused)
{
    (void)unused;
    return drive(self, "stop", ascope_profiler_stop, false, false);
}

/* ---- life ---- */

static bool plan_of(PyObject *tuple, struct ascope_schedule *plan)
{
    long long v[7] = { 0, 1, 0, 0, 0, 0, 0 };
    if (!PyArg_ParseTuple(
            tuple, "LL|LLLLL;a schedule is (wait, active, warmup, repeat, skip_first, skip_first_wait, first_step)",
            &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]))
        return false;
    *plan = (struct ascope_schedule){ .size = sizeof *plan,
                                      .wait = v[0],
                                      .active = v[1],
                                      .warmup = v[2],
                                      .repeat = v[3],
                                      .skip_first = v[4],
                                      .skip_first_wait = v[5],
                                      .first_step = v[6] };
    return true;
}

static int profiler_init(struct profiler *self, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = { "options", "schedule", "ready", NULL };
    PyObject *options = NULL, *schedule = Py_None, *call = Py_None;
    struct ascope_options o;
    struct ascope_schedule plan;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOO:Profiler", keys, &options, &schedule, &call))
        return -1;
    const bool is_plan = PyTuple_Check(schedule);
    if (self->p || (!is_plan && schedule != Py_None && !PyCallable_Check(schedule)) ||
        (call != Py_None && !PyCallable_Check(call))) {
        PyErr_SetString(PyExc_TypeError,
                        self->p
                            ? "Profiler: already initialised"
                            : "Profiler: expected None or a callable as schedule and ready; a schedule may be a tuple");
        return -1;
    }
    if (!options_of_dict(&o, options) || (is_plan && !plan_of(schedule, &plan)))
        return -1;
    self->ready = call == Py_None ? NULL : Py_NewRef(call);
    self->schedule = is_plan || schedule == Py_None ? NULL : Py_NewRef(schedule);
    self->pid = getpid();
    self->lock = PyThread_allocate_lock();
    if (!self->lock) {
        PyErr_NoMemory();
        return -1;
    }
    self->p = self->schedule ? ascope_profiler_new_with(&o, asked, ready, self)
                             : ascope_profiler_new(&o, is_plan ? &plan : NULL, ready, self);
    if (PyErr_Occurred())
        return -1;
    if (!self->p) {
        PyErr_SetString(core_error, "Profiler: cannot be created; a message has the reason");
        return -1;
    }
    self->after = first;
    if (first)
        first->before = self;
    first = self;
    return 0;
}

static void unlink_from_all(struct profiler *self)
{
    if (self->before)
        self->before->after = self->after;
    else if (first == self)
        first = self->after;
    if (self->after)
        self->after->before = self->before;
    self->before = self->after = NULL;
}

/* The parent's profiler is not touched: it is still in use there. */
static PyObject *profiler_free(struct profiler *self, PyObject *unused)
{
    (void)unused;
    if (!self->p)
        Py_RETURN_NONE;
    if (is_of_parent(self)) {
        self->p = NULL;
        Py_RETURN_NONE;
    }
    if (!enter(self, "free"))
        return NULL;
    struct ascope_profiler *const p = self->p;
    unlink_from_all(self);
    self->p = NULL;
    Py_BEGIN_ALLOW_THREADS ascope_profiler_free(p);
    Py_END_ALLOW_THREADS self->is_running = false;
    leave(self);
    return core_raise_kept() ? Py_NewRef(Py_None) : NULL;
}

static void profiler_finalize(PyObject *object)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *const result = profiler_free((struct profiler *)object, NULL);
    if (!result)
        PyErr_WriteUnraisable(object);
    Py_XDECREF(result);
    PyErr_Restore(type, value, trace);
}

static int profiler_traverse(struct profiler *self, visitproc visit, void *arg)
{
    Py_VISIT(self->schedule);
    Py_VISIT(self->ready);
    return 0;
}

static int profiler_clear(struct profiler *self)
{
    if (self->p) /* it may still ask */
        return 0;
    Py_CLEAR(self->schedule);
    Py_CLEAR(self->ready);
    return 0;
}

static void profiler_dealloc(struct profiler *self)
{
    if (PyObject_CallFinalizerFromDealloc((PyObject *)self) < 0)
        return;
    PyObject_GC_UnTrack(self);
    if (self->weak)
        PyObject_ClearWeakRefs((PyObject *)self);
    unlink_from_all(self);
    Py_CLEAR(self->schedule);
    Py_CLEAR(self->ready);
    Py_CLEAR(self->path);
    if (self->lock)
        PyThread_free_lock(self->lock);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Stopping one may end others: restart from the first running one. */
void core_close_profilers(void)
{
    for (struct profiler *p = first; p;) {
        if (!p->p || !p->is_running || p->pid != getpid() || p->owner == PyThread_get_thread_ident()) {
            p = p->after;
            continue;
        }
        Py_INCREF(p);
        PyObject *const result = profiler_stop(p, NULL);
        if (!result)
            core_report_exception("stop at interpreter exit");
        p->is_running = false;
        Py_XDECREF(result);
        Py_DECREF(p);
        p = first;
    }
}

/* ---- what is open ---- */

static struct ascope_session *session_of(struct profiler *self)
{
    return self->p && !is_of_parent(self) ? ascope_profiler_session(self->p) : NULL;
}

/* A step in another thread may end the session meanwhile; a callback of the profiler already holds the lock. */
static PyObject *metadata(struct profiler *self, PyObject *args, metadata_fn fn)
{
    const bool enters = session_of(self) && self->owner != PyThread_get_thread_ident();
    if (enters && !enter(self, "metadata"))
        return NULL;
    PyObject *const result = core_metadata(session_of(self), args, fn);
    if (enters)
        leave(self);
    return result;
}

static PyObject *profiler_metadata(struct profiler *self, PyObject *args)
{
    return metadata(self, args, ascope_metadata);
}

static PyObject *profiler_metadata_json(struct profiler *self, PyObject *args)
{
    return metadata(self, args, ascope_metadata_json);
}

static PyObject *profiler_discard(struct profiler *self, PyObject *unused)
{
    (void)unused;
    if (is_of_parent(self))
        Py_RETURN_NONE;
    if (!enter(self, "discard"))
        return NULL;
    struct ascope_session *const s = ascope_profiler_session(self->p);
    Py_BEGIN_ALLOW_THREADS ascope_session_discard(s);
    Py_END_ALLOW_THREADS if (s) Py_CLEAR(self->path);
    leave(self);
    return core_raise_kept() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *profiler_action(struct profiler *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(self->p ? (long)ascope_profiler_action(self->p) : 0);
}

static PyObject *profiler_path(struct profiler *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->path ? self->path : Py_None);
}

static PyObject *profiler_is_open(struct profiler *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(session_of(self) != NULL);
}

#define METHOD(fn) (PyCFunction)(void (*)(void)) fn
static PyMethodDef methods[] = {
    { "start", METHOD(profiler_start), METH_NOARGS, "start()\n\nBegins the first step." },
    { "step", METHOD(profiler_step), METH_NOARGS, "step()\n\nEnds a step and begins the next one." },
    { "stop", METHOD(profiler_stop), METH_NOARGS, "stop()\n\nEnds the last step; the recording is on disk." },
    { "free", METHOD(profiler_free), METH_NOARGS, "free()\n\nStops it if necessary; it cannot be used afterwards." },
    { "discard", METHOD(profiler_discard), METH_NOARGS, "discard()\n\nDeletes the open collection." },
    { "metadata", METHOD(profiler_metadata), METH_VARARGS,
      "metadata(key, text)\n\nFor profiler_metadata.json, while a collection is open." },
    { "metadata_json", METHOD(profiler_metadata_json), METH_VARARGS,
      "metadata_json(key, json)\n\nThe same with a JSON value." },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef members[] = {
    { "action", (getter)(void (*)(void))profiler_action, NULL, "The schedule's action for the current step: 0 to 3.",
      NULL },
    { "path", (getter)(void (*)(void))profiler_path, NULL,
      "The directory of the open collection, else of the last one, else None.", NULL },
    { "is_open", (getter)(void (*)(void))profiler_is_open, NULL, "Whether a collection is open.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyTypeObject profiler_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ascope._core.Profiler",
    .tp_doc =
        "Profiler(options=None, schedule=None, ready=None)\n\nRecords the steps that a schedule selects.\n\n"
        "options: a dict by the names of docs/collector.md. schedule: None (everything between start and stop), a tuple\n"
        "(wait, active, warmup, repeat, skip_first, skip_first_wait, first_step), or a function from a step number to its action.\n"
        "ready: called with the directory of each complete collection.",
    .tp_basicsize = sizeof(struct profiler),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)(void (*)(void))profiler_init,
    .tp_dealloc = (destructor)(void (*)(void))profiler_dealloc,
    .tp_finalize = profiler_finalize,
    .tp_traverse = (traverseproc)(void (*)(void))profiler_traverse,
    .tp_clear = (inquiry)(void (*)(void))profiler_clear,
    .tp_weaklistoffset = offsetof(struct profiler, weak),
    .tp_methods = methods,
    .tp_getset = members,
};

bool profiler_add(PyObject *module)
{
    return PyType_Ready(&profiler_type) == 0 &&
           PyModule_AddObjectRef(module, "Profiler", (PyObject *)&profiler_type) == 0;
}
