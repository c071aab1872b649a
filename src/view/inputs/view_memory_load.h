/* SPDX-License-Identifier: Apache-2.0 */
/* view_memory_load.h - loads the memory of a collection for the viewer: totals of allocators over time, their
 * blocks, and who allocated them. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_MEMORY_LOAD_H
#define ASCOPE_VIEW_INPUTS_VIEW_MEMORY_LOAD_H

#include "profile/collection.h"
#include "view/rows/view_input.h"

bool view_memory_load(struct view_input *in, const struct collection *s); /* false: no memory */

#endif
