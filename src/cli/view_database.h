/* SPDX-License-Identifier: Apache-2.0 */
/* view_database.h - a database of results as an input of the viewer: timeline, steps, memory, and its tables as they are. */
#ifndef ASCOPE_CLI_VIEW_DATABASE_H
#define ASCOPE_CLI_VIEW_DATABASE_H

#include "view/view_input.h"

bool view_database_load(struct view_input *in, struct error *e); /* of a struct view_input */

#endif
