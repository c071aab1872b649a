/* SPDX-License-Identifier: Apache-2.0 */
/* view_any.h - which loader an input of the viewer has. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_ANY_H
#define ASCOPE_VIEW_INPUTS_VIEW_ANY_H

#include "view/inputs/view_inputs.h"

/* A trace, a database, or a folder of tables. */
struct view_input view_any_file(const char *path, const char *steps_by);
struct view_input view_any_collection(const struct view_collection *c); /* lent until it is closed */

#endif
