/* SPDX-License-Identifier: Apache-2.0 */
/* injected_session.h - the session of a program that does not know ascope: libascope.so was loaded into it by `ascope
 * run`, which named in a variable of the environment where the collection is made ("{pid of the collector}:{directory}").
 * It is open until the process ends. */
#ifndef ASCOPE_COLLECT_SESSION_INJECTED_SESSION_H
#define ASCOPE_COLLECT_SESSION_INJECTED_SESSION_H

#include <stdbool.h>

/* Whether the variable asks for it, and the process does not record itself. *where: for the next call. */
bool injected_is_asked(const char *variable, const char **where);

/* Begins it with a kind of device. False: the device is not recorded, and nothing is left of the session. */
bool injected_begin(const char *where, const char *device);

#endif
