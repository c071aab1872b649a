/* SPDX-License-Identifier: Apache-2.0 */
/* Marks and ranges of the user. The Python front end checks texts and domains. */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ascope/mark.h"
#include "ascope/request.h"
#include "ascope/sim.h"

/* ---- streams: a number for Python, a pointer for the device ---- */

enum { STREAMS_MOST = 256 };
static void *stream[STREAMS_MOST]; /* written with the GIL */
static bool is_simulated;          /* the device that is recorded */

/* NULL: a mark of the host alone. Streams of the simulated device are created on first use. */
static void *stream_of(int64_t id)
{
    if (id < 0 || id >= STREAMS_MOST || !is_simulated)
        return NULL;
    if (id == 0)
        return ascope_current_stream(); /* the one of the operators */
    if (!stream[id])
        stream[id] = ascope_sim_stream_new(0);
    return stream[id];
}

static void started(const struct ascope_options *o, void *unused)
{
    (void)unused;
    is_simulated = o->device && strcmp(o->device, "sim") == 0;
}

static void stopping(void *unused)
{
    (void)unused;
}

static const struct ascope_listener device_watch = { .size = sizeof device_watch,
                                                     .started = started,
                                                     .stopping = stopping };

static PyObject *core_synchronize(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (is_simulated) {
        Py_BEGIN_ALLOW_THREADS ascope_sim_synchronize(NULL);
        for (int i = 0; i < STREAMS_MOST; i++)
            if (stream[i])
                ascope_sim_synchronize(stream[i]);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

/* ---- points and ranges ---- */

static char *message_keys[] = { "message", "domain", "stream_id", NULL };

static bool is_on(void)
{
    return ascope_records(ASCOPE_RECORDS_MARKS);
}

/* NULL for the default domain; false: there is no such domain. */
static bool domain_of(const char *name, struct ascope_domain **d)
{
    *d = NULL;
    if (!name || strcmp(name, "default") == 0)
        return true;
    *d = ascope_domain_get(name);
    return *d;
}

static PyObject *core_mark(PyObject *module, PyObject *args, PyObject *kwargs)
{
    const char *message, *name = NULL;
    long long id = -1;
    struct ascope_domain *d;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|zL:mark", message_keys, &message, &name, &id))
        return NULL;
    if (is_on() && domain_of(name, &d))
        ascope_mark(d, message, stream_of(id));
    Py_RETURN_NONE;
}

static PyObject *core_request(PyObject *module, PyObject *args)
{
    int event;
    const char *id;
    unsigned long long range = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "is|K:request", &event, &id, &range))
        return NULL;
    return PyLong_FromUnsignedLongLong(
        event >= ASCOPE_REQUEST_BEGIN && event <= ASCOPE_REQUEST_END
            ? ascope_request_record((enum ascope_request_event)event, id, (uint64_t)range)
            : 0);
}

static PyObject *core_range_start(PyObject *module, PyObject *args, PyObject *kwargs)
{
    const char *message, *name = NULL;
    long long id = -1;
    struct ascope_domain *d;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|zL:range_start", message_keys, &message, &name, &id))
        return NULL;
    return PyLong_FromUnsignedLongLong(is_on() && domain_of(name, &d) ? ascope_range_begin(d, message, stream_of(id))
                                                                      : 0);
}

static PyObject *core_range_end(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = { "range_id", "domain", NULL };
    const char *name = NULL;
    unsigned long long id;
    struct ascope_domain *d;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "K|z:range_end", keys, &id, &name))
        return NULL;
    if (is_on() && id != 0 && domain_of(name, &d))
        ascope_range_end(d, id);
    Py_RETURN_NONE;
}

/* ---- ranges one inside the other: a stack for each thread and domain ---- */

struct stack {
    struct stack *next;
    const struct ascope_domain *domain;
    size_t n, room;
    uint64_t *id;
};
static pthread_key_t stacks_key; /* so that a thread's are freed with it */

static void stacks_free(void *of_thread)
{
    for (struct stack *s = of_thread, *next; s; s = next) {
        next = s->next;
        free(s->id);
        free(s);
    }
}

static struct stack *stack_of(const struct ascope_domain *d, bool makes)
{
    struct stack *const first = pthread_getspecific(stacks_key), *s = first;
    while (s && s->domain != d)
        s = s->next;
    if (s || !makes || !(s = calloc(1, sizeof *s)))
        return s;
    s->domain = d;
    s->next = first;
    if (pthread_setspecific(stacks_key, s) == 0)
        return s;
    free(s);
    return NULL;
}

static bool stack_has_room(struct stack *s)
{
    if (s->n < s->room)
        return true;
    const size_t room = s->room * 2 + 8;
    uint64_t *const more = realloc(s->id, room * sizeof *more);
    if (!more)
        return false;
    s->id = more;
    s->room = room;
    return true;
}

static PyObject *core_range_push(PyObject *module, PyObject *args, PyObject *kwargs)
{
    const char *message, *name = NULL;
    long long id = -1;
    struct ascope_domain *d;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|zL:range_push", message_keys, &message, &name, &id))
        return NULL;
    struct stack *const s = is_on() && domain_of(name, &d) ? stack_of(d, true) : NULL;
    const uint64_t range = s && stack_has_room(s) ? ascope_range_begin(d, message, stream_of(id)) : 0;
    if (range == 0)
        return PyLong_FromLong(-1);
    s->id[s->n] = range;
    return PyLong_FromSize_t(s->n++);
}

/* A pushed range is popped even if nothing is recorded any more: the next pop is the one outside of it. */
static PyObject *core_range_pop(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = { "domain", NULL };
    const char *name = NULL;
    struct ascope_domain *d;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|z:range_pop", keys, &name))
        return NULL;
    struct stack *const s = domain_of(name, &d) ? stack_of(d, false) : NULL;
    if (!s || s->n == 0)
        return PyLong_FromLong(-1);
    s->n--;
    if (!is_on())
        return PyLong_FromLong(-1);
    ascope_range_end(d, s->id[s->n]);
    return PyLong_FromSize_t(s->n);
}

#define KEYWORDS(fn) (PyCFunction)(void (*)(void)) fn, METH_VARARGS | METH_KEYWORDS
static PyMethodDef functions[] = {
    { "mark", KEYWORDS(core_mark),
      "mark(message, domain=None, stream_id=-1)\n\nA point in time; with a stream also the time on the device." },
    { "request", core_request, METH_VARARGS,
      "request(event, id, range=0) -> int\n\nWhat happened to a request: an event of request.h. Of a begin the range for its end." },
    { "range_start", KEYWORDS(core_range_start),
      "range_start(message, domain=None, stream_id=-1) -> int\n\nThe range's id for range_end; 0: it is not recorded." },
    { "range_end", KEYWORDS(core_range_end),
      "range_end(range_id, domain=None)\n\nOn any thread, with the domain that it began with." },
    { "range_push", KEYWORDS(core_range_push),
      "range_push(message, domain=None, stream_id=-1) -> int\n\nHow many ranges of this thread and domain are around it; -1: it is "
      "not recorded." },
    { "range_pop", KEYWORDS(core_range_pop),
      "range_pop(domain=None) -> int\n\nEnds what this thread pushed last in this domain; how many are left, or -1." },
    { "synchronize", core_synchronize, METH_NOARGS,
      "synchronize()\n\nWaits until the simulated device has run everything." },
    { NULL, NULL, 0, NULL },
};

bool marks_add(PyObject *module)
{
    if (pthread_key_create(&stacks_key, stacks_free) != 0 || !ascope_listen(&device_watch)) {
        PyErr_SetString(core_error, "marks: too many listeners");
        return false;
    }
    return PyModule_AddFunctions(module, functions) == 0;
}
