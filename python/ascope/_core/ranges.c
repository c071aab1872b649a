/* SPDX-License-Identifier: Apache-2.0 */
/* Range: a named range of the program among the operators (record.h), for front ends. */
#include "core.h"

#include "ascope/record.h"

struct range {
    PyObject_HEAD PyObject *name, *modules, *more; /* texts; the last two may be NULL */
    struct ascope_op op;
};

static int range_init(struct range *self, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = { "name", "modules", "more", NULL };
    PyObject *name, *modules = NULL, *more = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|UU:Range", keys, &name, &modules, &more))
        return -1;
    Py_XSETREF(self->name, Py_NewRef(name));
    Py_XSETREF(self->modules, Py_XNewRef(modules));
    Py_XSETREF(self->more, Py_XNewRef(more));
    self->op.begin = 0;
    return 0;
}

static void range_dealloc(struct range *self)
{
    Py_CLEAR(self->name);
    Py_CLEAR(self->modules);
    Py_CLEAR(self->more);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* False: half of a character, or no memory; the Python error is set. */
static bool text_of(PyObject *text, struct ascope_text *out)
{
    Py_ssize_t n = 0;
    const char *const at = text ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
    *out = (struct ascope_text){ at, (uint32_t)n };
    return at || !text;
}

static PyObject *range_start(struct range *self, PyObject *unused)
{
    struct ascope_text name, modules, more;
    (void)unused;
    if (!self->name || !text_of(self->name, &name) || !text_of(self->modules, &modules) || !text_of(self->more, &more))
        return PyErr_Occurred() ? NULL : PyErr_Format(core_error, "Range: not initialised");
    ascope_op_begin(&self->op, "");
    if (self->op.begin != 0) {
        self->op.scope = ASCOPE_SCOPE_USER;
        self->op.name = name;
        self->op.modules = modules;
        self->op.more = more;
    }
    Py_RETURN_NONE;
}

static PyObject *range_stop(struct range *self, PyObject *unused)
{
    (void)unused;
    ascope_op_end(&self->op);
    self->op.begin = 0;
    Py_RETURN_NONE;
}

static PyObject *range_enter(PyObject *self, PyObject *unused)
{
    PyObject *const started = range_start((struct range *)self, unused);
    Py_XDECREF(started);
    return started ? Py_NewRef(self) : NULL;
}

static PyObject *range_exit(PyObject *self, PyObject *unused)
{
    return range_stop((struct range *)self, unused);
}

#define METHOD(fn) (PyCFunction)(void (*)(void)) fn
static PyMethodDef methods[] = {
    { "start", METHOD(range_start), METH_NOARGS, "start()\n\nThe range begins, if operators are recorded." },
    { "stop", METHOD(range_stop), METH_NOARGS, "stop()\n\nIt ends, and is recorded; without a begin nothing happens." },
    { "__enter__", METHOD(range_enter), METH_NOARGS, NULL },
    { "__exit__", METHOD(range_exit), METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyTypeObject range_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ascope._core.Range",
    .tp_doc =
        "Range(name, modules=None, more=None)\n\nA range among the operators, from start() to stop(), on any threads. Layout\n"
        "mindspore: modules is 'MODULE;EVENT' in front of its name, more its custom_info.",
    .tp_basicsize = sizeof(struct range),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)(void (*)(void))range_init,
    .tp_dealloc = (destructor)(void (*)(void))range_dealloc,
    .tp_methods = methods,
};

bool ranges_add(PyObject *module)
{
    return PyType_Ready(&range_type) == 0 && PyModule_AddObjectRef(module, "Range", (PyObject *)&range_type) == 0;
}
