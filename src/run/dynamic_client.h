/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic_client.h - the vendor's profiling library inside a program that runs already (PROFILING_MODE=dynamic): it listens on a socket in the
 * user's home directory, and starts and stops on command. Programs without it have no such socket.
 */
#ifndef ASCOPE_RUN_DYNAMIC_CLIENT_H
#define ASCOPE_RUN_DYNAMIC_CLIENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

enum { DYNAMIC_NONE = -1 };
enum dynamic_request { DYNAMIC_START = 1, DYNAMIC_STOP = 3, DYNAMIC_QUIT = 5 };

/* A connection to the library in this process, which has got the parameters (a JSON text); DYNAMIC_NONE without an error: there is no such
 * library. `home`: where the socket lies; NULL: the home directory of the user database. */
int dynamic_connect(pid_t pid, const char *home, const char *parameters, struct error *e);

/* Waits for the answer. False: e has what the library answers, or why it does not. */
bool dynamic_request(int fd, pid_t pid, enum dynamic_request what, struct error *e);

#endif
