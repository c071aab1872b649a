/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - messages of the recorder to the user while the program runs: see ascope_on_message(). */
#ifndef ASCOPE_COLLECT_SESSION_MESSAGE_H
#define ASCOPE_COLLECT_SESSION_MESSAGE_H

#include "ascope/base.h"
#include "base/text/error.h"

void message(enum ascope_severity severity, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* messages_hold(): for a thread with its own table of descriptors, which cannot write to the program's stderr. Its
 * messages wait in a queue, from which another thread passes them on to the user. */
void messages_hold(void);
void messages_pass(void);
bool messages_wait(void); /* waits for messages and passes them on; false: messages_end() was called */
void messages_end(bool is_over);
void messages_forget(void); /* in a forked child */

/* For functions of the interface: copies the text of an error to the caller, unless `to` is NULL. True: there is no
 * error. */
bool error_pass(const struct error *e, struct ascope_error *to);

#endif
