/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic_client.h - starts and stops the vendor's profiling library in a running program (PROFILING_MODE=dynamic).
 *
 * The library listens on a socket in the user's home directory. Programs without it have no such socket.
 */
#ifndef ASCOPE_RUN_DYNAMIC_CLIENT_H
#define ASCOPE_RUN_DYNAMIC_CLIENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/text/error.h"

enum { DYNAMIC_NONE = -1 };
enum dynamic_request { DYNAMIC_START = 1, DYNAMIC_STOP = 3, DYNAMIC_QUIT = 5 };

/* Connects to the library in the process and sends it the parameters, a JSON text. Returns a descriptor, or
 * DYNAMIC_NONE: with an error in e, or without one if the process has no such library. `home`: the directory of the
 * socket; NULL: the home directory in the user database. */
int dynamic_connect(pid_t pid, const char *home, const char *parameters, struct error *e);

/* Sends a request and waits for the answer. False: e has the error that the library reports, or why there is no
 * answer. */
bool dynamic_request(int fd, pid_t pid, enum dynamic_request what, struct error *e);

#endif
