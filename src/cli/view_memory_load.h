/* SPDX-License-Identifier: Apache-2.0 */
/* view_memory_load.h - memory of a collection as the viewer shows it: what allocators held over time, their blocks, who took them. */
#ifndef ASCOPE_CLI_VIEW_MEMORY_LOAD_H
#define ASCOPE_CLI_VIEW_MEMORY_LOAD_H

#include "profile/collection.h"
#include "view/view_input.h"

bool view_memory_load(struct view_input *in, const struct collection *s); /* false: no memory */

#endif
