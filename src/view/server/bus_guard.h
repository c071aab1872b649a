/* SPDX-License-Identifier: Apache-2.0 */
/* bus_guard.h - keeps the viewer running when a mapped file becomes shorter.
 *
 * An access to a page of a mapped file that no longer exists raises SIGBUS. The handler replaces the page by zeros,
 * which all readers accept: the data of the page is missing, and everything else is still shown.
 */
#ifndef ASCOPE_VIEW_SERVER_BUS_GUARD_H
#define ASCOPE_VIEW_SERVER_BUS_GUARD_H

#include <stdbool.h>

bool bus_guard_set(void);  /* installs the handler for the process; false: the system refused */
void bus_guard_here(void); /* unblocks SIGBUS in the calling thread; background threads block all signals */

#endif
