/* SPDX-License-Identifier: Apache-2.0 */
/* starting.h - becomes another program of the tests, which may be of an architecture that needs an emulator. */
#ifndef ASCOPE_TESTS_STARTING_H
#define ASCOPE_TESTS_STARTING_H

#include <unistd.h>

/* Returns only when that is impossible. Meson names the emulator. */
static inline void program_become(const char *program, const char *argument)
{
    execl("/bin/sh", "sh", "-c", "exec $MESON_EXE_WRAPPER \"$0\" \"$@\"", program, argument, (char *)NULL);
}

#endif
