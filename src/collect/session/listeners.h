/* SPDX-License-Identifier: Apache-2.0 */
/* listeners.h - notifies listeners (ascope_listen) that recording begins and ends. */
#ifndef ASCOPE_COLLECT_SESSION_LISTENERS_H
#define ASCOPE_COLLECT_SESSION_LISTENERS_H

#include "ascope/session.h"

bool listeners_any(void); /* a framework feeds what is recorded */
void listeners_started(const struct ascope_options *o);
void listeners_stopping(void); /* in the opposite order; only those that were notified of the start */

#endif
