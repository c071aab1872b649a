/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic_session.h - the hooks of a program that has none: collections are sessions of libascope, analysed by the
 * command `ascope`. */
#ifndef ASCOPE_DYNAMIC_DYNAMIC_SESSION_H
#define ASCOPE_DYNAMIC_DYNAMIC_SESSION_H

#include "ascope/dynamic.h"

/* As in struct ascope_dynamic_setup. */
bool dynamic_session_begin(const struct ascope_dynamic_request *r, void *unused);
void dynamic_session_step(void *unused);
const char *dynamic_session_end(bool is_cut, void *unused);

#endif
