/* SPDX-License-Identifier: Apache-2.0 */
/* bus_guard.h - going on when a file that is mapped becomes shorter.
 *
 * A page of a mapped file that is not there any more is a SIGBUS for whoever touches it. It is replaced by zeros, which no reader of
 * ours takes for anything: what stood there is missing, and all else is still shown.
 */
#ifndef ASCOPE_VIEW_BUS_GUARD_H
#define ASCOPE_VIEW_BUS_GUARD_H

#include <stdbool.h>

bool bus_guard_set(void);  /* for the whole process; false: the system refused */
void bus_guard_here(void); /* for a thread that takes no signals: this one it must take */

#endif
