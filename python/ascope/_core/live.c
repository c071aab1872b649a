/* SPDX-License-Identifier: Apache-2.0 */
/* What this process is doing in its job, for readers outside: see ascope/live.h. Written with the GIL. */
#include "core.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ascope/live.h"

extern struct ascope_live ascope_live;
ASCOPE_API struct ascope_live ascope_live = {
    .magic = ASCOPE_LIVE_MAGIC, .version = ASCOPE_LIVE_VERSION, .bytes = sizeof ascope_live, .rank = -1
};

/* In a forked child nothing of the parent's holds. */
static void live_own(void)
{
    const int32_t pid = (int32_t)getpid();
    if (ascope_live.pid == pid)
        return;
    ascope_live.n_groups = ascope_live.n_members = 0;
    ascope_live.n_steps = ascope_live.n_calls = ascope_live.n_done = 0;
    memset(ascope_live.call, 0, sizeof ascope_live.call);
    ascope_live.pid = pid;
}

void live_step(void)
{
    live_own();
    __atomic_store_n(&ascope_live.n_steps, ascope_live.n_steps + 1, __ATOMIC_RELAXED);
}

static PyObject *core_live_rank(PyObject *module, PyObject *rank)
{
    (void)module;
    const long number = PyLong_AsLong(rank);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    live_own();
    ascope_live.rank = (int32_t)number;
    Py_RETURN_NONE;
}

static bool live_members(struct ascope_live_group *g, PyObject *ranks)
{
    const Py_ssize_t n = PyList_Check(ranks) ? PyList_GET_SIZE(ranks) : 0;
    g->first = ascope_live.n_members;
    g->n = 0;
    if (n > (Py_ssize_t)(ASCOPE_LIVE_MEMBERS - ascope_live.n_members))
        return true; /* a job that large is judged by the ranks that are here */
    for (Py_ssize_t i = 0; i < n; i++) {
        const long rank = PyLong_AsLong(PyList_GET_ITEM(ranks, i));
        if (rank == -1 && PyErr_Occurred())
            return false;
        ascope_live.member[g->first + i] = (uint32_t)rank;
    }
    g->n = (uint32_t)n;
    ascope_live.n_members += (uint32_t)n;
    return true;
}

/* Its number, the same again for a group that is known: -1 where there is no room. */
static PyObject *core_live_group(PyObject *module, PyObject *args)
{
    const char *name, *desc;
    PyObject *ranks;
    (void)module;
    if (!PyArg_ParseTuple(args, "ssO", &name, &desc, &ranks))
        return NULL;
    live_own();
    for (uint32_t i = 0; i < ascope_live.n_groups; i++)
        if (strncmp(ascope_live.group[i].name, name, ASCOPE_LIVE_NAME - 1) == 0)
            return PyLong_FromUnsignedLong(i);
    if (ascope_live.n_groups == ASCOPE_LIVE_GROUPS)
        return PyLong_FromLong(-1);
    struct ascope_live_group *const g = &ascope_live.group[ascope_live.n_groups];
    *g = (struct ascope_live_group){ 0 };
    snprintf(g->name, sizeof g->name, "%s", name);
    snprintf(g->desc, sizeof g->desc, "%s", desc);
    if (!live_members(g, ranks))
        return NULL;
    return PyLong_FromUnsignedLong(ascope_live.n_groups++);
}

/* Transfers are counted by pair, among those that are still in the ring. */
static uint64_t live_number(uint32_t group, int from, int to)
{
    if (from == -2)
        return ascope_live.group[group].n_calls++;
    for (uint64_t i = ascope_live.n_calls; i-- > 0 && i + ASCOPE_LIVE_CALLS > ascope_live.n_calls;) {
        const struct ascope_live_call *const c = &ascope_live.call[i % ASCOPE_LIVE_CALLS];
        if (c->group == group && c->from == from && c->to == to)
            return c->number + 1;
    }
    return 0;
}

static PyObject *core_live_call(PyObject *module, PyObject *args)
{
    int group, from, to;
    const char *kind, *type;
    unsigned long long n_elements;
    (void)module;
    if (!PyArg_ParseTuple(args, "isiiKs", &group, &kind, &from, &to, &n_elements, &type))
        return NULL;
    if (group < 0 || (uint32_t)group >= ascope_live.n_groups || ascope_live.pid != (int32_t)getpid())
        return PyLong_FromLong(-1);
    const uint64_t at = ascope_live.n_calls;
    struct ascope_live_call *const c = &ascope_live.call[at % ASCOPE_LIVE_CALLS];
    const uint64_t number = live_number((uint32_t)group, from, to);
    *c = (struct ascope_live_call){ .group = (uint32_t)group,
                                    .number = number,
                                    .from = from,
                                    .to = to,
                                    .thread = (uint32_t)syscall(SYS_gettid),
                                    .n_elements = n_elements };
    snprintf(c->kind, sizeof c->kind, "%s", kind);
    snprintf(c->type, sizeof c->type, "%s", type);
    c->state = ASCOPE_LIVE_WAITS;
    __atomic_store_n(&ascope_live.n_calls, at + 1, __ATOMIC_RELEASE); /* the call before its number */
    return PyLong_FromUnsignedLongLong(at);
}

static PyObject *core_live_state(PyObject *module, PyObject *args)
{
    long long at;
    int state;
    (void)module;
    if (!PyArg_ParseTuple(args, "Li", &at, &state))
        return NULL;
    if (at >= 0 && (uint64_t)at < ascope_live.n_calls && (uint64_t)at + ASCOPE_LIVE_CALLS >= ascope_live.n_calls) {
        struct ascope_live_call *const c = &ascope_live.call[at % ASCOPE_LIVE_CALLS];
        c->thread = (uint32_t)syscall(SYS_gettid);
        c->state = (uint32_t)state;
    }
    ascope_live.n_done += state == ASCOPE_LIVE_DONE;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    { "live_rank", core_live_rank, METH_O, "live_rank(rank)\n\nFor `ascope hang`: the rank of this process." },
    { "live_group", core_live_group, METH_VARARGS,
      "live_group(name, desc, ranks) -> int\n\nThe number of a process group for live_call(); -1: there is no room." },
    { "live_call", core_live_call, METH_VARARGS,
      "live_call(group, kind, source, destination, elements, type) -> int\n\nA collective (source and destination are "
      "-2) or transfer begins. The number is for live_state()." },
    { "live_state", core_live_state, METH_VARARGS, "live_state(call, state)\n\nLIVE_ISSUED, LIVE_WAITS or LIVE_DONE." },
    { NULL, NULL, 0, NULL },
};

bool live_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0 &&
           PyModule_AddIntConstant(module, "LIVE_ISSUED", ASCOPE_LIVE_ISSUED) == 0 &&
           PyModule_AddIntConstant(module, "LIVE_WAITS", ASCOPE_LIVE_WAITS) == 0 &&
           PyModule_AddIntConstant(module, "LIVE_DONE", ASCOPE_LIVE_DONE) == 0;
}
