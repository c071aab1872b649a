/* SPDX-License-Identifier: Apache-2.0 */
/* view_collection.h - loads a directory into the viewer: its timeline, its steps, and why slow steps are slow. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_COLLECTION_H
#define ASCOPE_VIEW_INPUTS_VIEW_COLLECTION_H

#include "open/inputs.h"
#include "view/rows/view_input.h"

struct view_collection {
    const struct input *input;
    const struct output_options *options;
};

/* A `load` of view_input.h; its context is a struct view_collection. */
bool view_collection_load(struct view_input *in, struct error *e);

#endif
