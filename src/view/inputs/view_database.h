/* SPDX-License-Identifier: Apache-2.0 */
/* view_database.h - loads a database of results into the viewer: timeline, steps, memory, and its tables. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_DATABASE_H
#define ASCOPE_VIEW_INPUTS_VIEW_DATABASE_H

#include "view/rows/view_input.h"

bool view_database_load(struct view_input *in, struct error *e); /* of a struct view_input */

#endif
