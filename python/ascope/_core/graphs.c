/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of graphs: what a framework that hands whole graphs to the device does, for front ends. */
#include "core.h"

#include "ascope/graph.h"
#include "ascope/record.h"
#include "ascope/sim.h"

/* Of the raw format: calls of models. */
enum { LEVEL_MODEL = 15000, TYPE_MODEL_EXECUTE = 0xA5C0 };

static PyObject *core_graph_begin(PyObject *module, PyObject *model)
{
    const unsigned long id = PyLong_AsUnsignedLong(model);
    (void)module;
    if (PyErr_Occurred())
        return NULL;
    ascope_type_name(LEVEL_MODEL, TYPE_MODEL_EXECUTE, "ModelExecute");
    const uint64_t begin = ascope_now();
    ascope_sim_iteration_begin(NULL, (uint32_t)id);
    return PyLong_FromUnsignedLongLong(begin);
}

static PyObject *core_graph_end(PyObject *module, PyObject *args)
{
    unsigned long model;
    unsigned long long begin;
    int waits;
    (void)module;
    if (!PyArg_ParseTuple(args, "kKp:graph_end", &model, &begin, &waits))
        return NULL;
    ascope_sim_iteration_end(NULL, (uint32_t)model);
    Py_BEGIN_ALLOW_THREADS if (waits) ascope_sim_synchronize(NULL);
    Py_END_ALLOW_THREADS if (ascope_records(ASCOPE_RECORDS_DEVICE))
        ascope_call(LEVEL_MODEL, TYPE_MODEL_EXECUTE, begin, ascope_now(), model);
    Py_RETURN_NONE;
}

/* False with the Python error set. */
static bool tensor_of(struct ascope_sim_tensor *out, PyObject *shape)
{
    const Py_ssize_t n = PySequence_Size(shape);
    *out = (struct ascope_sim_tensor){ .type = ASCOPE_SIM_FLOAT };
    for (Py_ssize_t i = 0; i < n && i < ASCOPE_SIM_DIMS; i++) {
        PyObject *const dim = PySequence_GetItem(shape, i);
        const unsigned long size = dim ? PyLong_AsUnsignedLongMask(dim) : 0;
        Py_XDECREF(dim);
        out->dim[out->n_dims++] = (uint32_t)size;
    }
    return !PyErr_Occurred();
}

static PyObject *core_graph_operator(PyObject *module, PyObject *args)
{
    enum { INPUTS_MOST = 8 };
    struct ascope_sim_tensor in[INPUTS_MOST];
    struct ascope_sim_kernel k = { .in = in, .out = in };
    PyObject *shapes;
    (void)module;
    if (!PyArg_ParseTuple(args, "ssO:graph_operator", &k.type, &k.name, &shapes))
        return NULL;
    const Py_ssize_t n = PySequence_Size(shapes);
    for (Py_ssize_t i = 0; i < n && i < INPUTS_MOST; i++) {
        PyObject *const shape = PySequence_GetItem(shapes, i);
        const bool is_read = shape && tensor_of(&in[k.n_in++], shape);
        Py_XDECREF(shape);
        if (!is_read)
            return NULL;
    }
    if (n < 0)
        return NULL;
    k.n_out = k.n_in > 0;
    Py_BEGIN_ALLOW_THREADS ascope_sim_launch(NULL, &k);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject *core_graph_watch(PyObject *module, PyObject *is_on)
{
    const int on = PyObject_IsTrue(is_on);
    bool is_watched = false;
    (void)module;
    if (on < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS if (on) is_watched = ascope_graph_watch_begin();
    else ascope_graph_watch_end();
    Py_END_ALLOW_THREADS return PyBool_FromLong(is_watched);
}

static PyMethodDef functions[] = {
    { "graph_begin", core_graph_begin, METH_O,
      "graph_begin(model) -> int\n\nA run of a graph begins; the value is for graph_end()." },
    { "graph_end", core_graph_end, METH_VARARGS,
      "graph_end(model, begin, waits)\n\nIt has ended; waits: for the simulated device, too." },
    { "graph_operator", core_graph_operator, METH_VARARGS,
      "graph_operator(type, name, shapes)\n\nAn operator of it, on the simulated device." },
    { "graph_watch", core_graph_watch, METH_O,
      "graph_watch(is_on) -> bool\n\nWhether nodes of the graphs that are captured from now on are watched." },
    { NULL, NULL, 0, NULL },
};

bool graphs_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
