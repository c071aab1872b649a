/* core.h - ascope._core: libascope for Python. What the parts of the extension share.
 *
 * Functions that may take their time (start, step, stop) let other threads of Python run meanwhile. libascope calls back on the
 * thread that called it, or, with messages, on its own writer's thread: whoever wants to run Python from there asks
 * core_enter(), and goes without when that says no, which it does once the interpreter is on its way out and in threads that
 * Python does not know. What a callback raises never crosses C: an Exception becomes a message, and a KeyboardInterrupt or
 * SystemExit is kept and raised again when the call that led there returns.
 *
 * The state that an extension keeps for the process is static: there is one session in a process, too, and one interpreter.
 */
#ifndef ASCOPE_PYTHON_CORE_H
#define ASCOPE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
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

/* ---- to Python and back ---- */

/* True: Python can be called until core_leave(). */
bool core_enter(PyGILState_STATE *state);
void core_leave(PyGILState_STATE state);

/* Where Python has raised, inside of core_enter(): `what` is whose function it was. Nothing is raised afterwards. */
void core_tell_exception(const char *what);
/* When the call into libascope has returned: false with the Python error set when something was kept to be raised. */
bool core_raise_kept(void);

extern PyObject *core_error; /* ascope._core.Error: one line that says what is wrong */

/* Runs while Python ends, with everything still there. */
void core_close_profilers(void);
void core_close_sessions(void);
void core_close_messages(void);
void core_close_tracer(void);
void core_close_listening(void);

/* ---- messages ---- */

void core_message(enum ascope_severity severity, const char *text);
/* Those that other threads have left. With the GIL. */
void core_messages_deliver(void);

/* ---- metadata ---- */

/* Of Python's arguments (key, text). NULL as the session: nothing is being recorded. NULL is returned with the Python error set. */
typedef bool (*metadata_fn)(struct ascope_session *, const char *, const char *, struct ascope_error *);
PyObject *core_metadata(struct ascope_session *s, PyObject *args, metadata_fn fn);

/* ---- options ---- */

/* From a dict: names as docs/recorder-options.md has them; values are texts, numbers, booleans, lists of texts, or None for the default.
 * False: the Python error is set. */
bool options_of_dict(struct ascope_options *o, PyObject *dict);
PyObject *options_to_dict(const struct ascope_options *o); /* all of them; None: nothing is set */

#endif
