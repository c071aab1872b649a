/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, delivered to one Python function. A thread unknown to Python (the writer) must not wait for Python,
 * which may be waiting for it: its messages are kept and delivered by the main thread a moment later. */
#include "core.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MOST = 64 };
struct kept {
    enum ascope_severity severity;
    char text[400];
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept kept[KEPT_MOST]; /* later messages are lost: the first ones matter most */
static unsigned n_kept;
static bool is_asked_for; /* the main thread will deliver them */

static PyObject *receiver; /* NULL: lines on stderr */

static void print(enum ascope_severity severity, const char *text)
{
    static const char *const word[] = { "note", "warning", "error" };
    if (severity > ASCOPE_INFO)
        fprintf(stderr, "ascope: %s: %s\n", word[severity], text);
}

/* With the GIL. Keeps the current exception. */
void core_message(enum ascope_severity severity, const char *text)
{
    if (!receiver) {
        print(severity, text);
        return;
    }
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *const call = Py_NewRef(receiver); /* it may be exchanged meanwhile */
    PyObject *const words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *const result = words ? PyObject_CallFunction(call, "iO", (int)severity, words) : NULL;
    if (!result) { /* the failure cannot be delivered, either */
        if (PyErr_ExceptionMatches(PyExc_Exception))
            PyErr_WriteUnraisable(call);
        else
            core_report_exception("message");
    }
    Py_XDECREF(result);
    Py_XDECREF(words);
    Py_DECREF(call);
    PyErr_Restore(type, value, trace);
}

void core_messages_deliver(void)
{
    for (;;) {
        struct kept one;
        pthread_mutex_lock(&lock);
        const bool is_one = n_kept > 0;
        if (is_one) {
            one = kept[0];
            memmove(kept, kept + 1, --n_kept * sizeof *kept);
        }
        pthread_mutex_unlock(&lock);
        if (!is_one)
            return;
        core_message(one.severity, one.text);
    }
}

static int deliver_soon(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    is_asked_for = false;
    pthread_mutex_unlock(&lock);
    core_messages_deliver();
    return 0;
}

static void keep(enum ascope_severity severity, const char *text)
{
    pthread_mutex_lock(&lock);
    if (n_kept < KEPT_MOST) {
        kept[n_kept].severity = severity;
        snprintf(kept[n_kept++].text, sizeof kept->text, "%s", text);
    }
    const bool asks = !is_asked_for;
    is_asked_for = true;
    pthread_mutex_unlock(&lock);
    if (asks && Py_AddPendingCall(deliver_soon, NULL) != 0) { /* the queue is full: the next call delivers it */
        pthread_mutex_lock(&lock);
        is_asked_for = false;
        pthread_mutex_unlock(&lock);
    }
}

static void on_message(enum ascope_severity severity, const char *text, void *unused)
{
    PyGILState_STATE state;
    (void)unused;
    if (core_enter(&state)) {
        core_message(severity, text);
        core_leave(state);
    } else if (Py_IsInitialized() && receiver) {
        keep(severity, text);
    } else {
        print(severity, text);
    }
}

static void in_child(void) /* no other thread exists: the lock is free, whatever its state */
{
    pthread_mutex_init(&lock, NULL);
    n_kept = 0;
    is_asked_for = false;
}

static PyObject *core_on_message(PyObject *module, PyObject *call)
{
    (void)module;
    if (call != Py_None && !PyCallable_Check(call))
        return PyErr_Format(PyExc_TypeError, "on_message: expected a callable or None, got %s", Py_TYPE(call)->tp_name);
    PyObject *const before = receiver;
    receiver = call == Py_None ? NULL : Py_NewRef(call);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

void core_close_messages(void)
{
    core_messages_deliver();
    ascope_on_message(NULL, NULL);
    Py_CLEAR(receiver);
}

static PyMethodDef functions[] = {
    { "on_message", core_on_message, METH_O,
      "on_message(call)\n\ncall(severity, text) for each message, on any thread; severity is INFO,\n"
      "WARNING or ERROR. None: warnings and errors are lines on stderr." },
    { NULL, NULL, 0, NULL },
};

bool messages_add(PyObject *module)
{
    pthread_atfork(NULL, NULL, in_child);
    ascope_on_message(on_message, NULL);
    return PyModule_AddFunctions(module, functions) == 0;
}
