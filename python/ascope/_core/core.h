/* SPDX-License-Identifier: Apache-2.0 */
/* core.h - ascope._core: libascope for Python. Declarations shared by the parts of the extension.
 *
 * Slow functions (start, step, stop) release the GIL. libascope calls back on the calling thread or, for messages, on
 * its writer thread. Callbacks run Python only between core_enter() and core_leave(); core_enter() fails when the
 * interpreter is shutting down and in threads unknown to Python. Exceptions never cross C: an Exception becomes a
 * message, a KeyboardInterrupt or SystemExit is kept and raised again when the outer call returns.
 *
 * The state of the extension is static: a process has one session and one interpreter.
 */
#ifndef ASCOPE_PYTHON_CORE_H
#define ASCOPE_PYTHON_CORE_H

#include "versions.h"
#include <stdbool.h>
#include <sys/types.h>

#include "ascope/session.h"

/* ---- parts: each adds its names to the module. False: a Python error is set ---- */

bool messages_add(PyObject *module);
bool options_add(PyObject *module);
bool listening_add(PyObject *module);
bool tracer_add(PyObject *module);
bool marks_add(PyObject *module);
bool profiler_add(PyObject *module);
bool session_add(PyObject *module);
bool graphs_add(PyObject *module);
bool dynamic_add(PyObject *module);
bool flight_add(PyObject *module);
bool monitor_add_to(PyObject *module);
bool ranges_add(PyObject *module);
bool live_add(PyObject *module);

void live_step(void); /* a step has ended */

/* ---- to Python and back ---- */

/* True: Python can be called until core_leave(). */
bool core_enter(PyGILState_STATE *state);
void core_leave(PyGILState_STATE state);

/* Reports the current Python exception as a message and clears it; inside of core_enter(). `what` names the function
 * that raised it. */
void core_report_exception(const char *what);
/* After the call into libascope: false with the Python error set if an exception was kept. */
bool core_raise_kept(void);

extern PyObject *core_error; /* ascope._core.Error: one line that says what is wrong */

/* Called at interpreter exit, while everything still exists. */
void core_close_dynamic(void);
void core_close_flight(void);
void core_close_profilers(void);
void core_close_sessions(void);
void core_close_messages(void);
void core_close_tracer(void);
void core_close_listening(void);

/* ---- messages ---- */

void core_message(enum ascope_severity severity, const char *text);
/* Delivers messages of other threads. With the GIL. */
void core_messages_deliver(void);

/* ---- metadata ---- */

/* Of Python's arguments (key, text). NULL as the session: nothing is being recorded. NULL is returned with the Python
 * error set. */
typedef bool (*metadata_fn)(struct ascope_session *, const char *, const char *, struct ascope_error *);
PyObject *core_metadata(struct ascope_session *s, PyObject *args, metadata_fn fn);

/* ---- options ---- */

/* From a dict: names as docs/recorder-options.md has them; values are strings, numbers, booleans, lists of strings, or
 * None for the default. False: the Python error is set. */
bool options_of_dict(struct ascope_options *o, PyObject *dict);
PyObject *options_to_dict(const struct ascope_options *o); /* all of them; None: nothing is set */

#endif
