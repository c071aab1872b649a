/* SPDX-License-Identifier: Apache-2.0 */
/* view_categories.h - memory of a collection by category over time, for the viewer: the analysis of
 * export-memory-timeline. */
#ifndef ASCOPE_CLI_VIEW_CATEGORIES_H
#define ASCOPE_CLI_VIEW_CATEGORIES_H

#include "profile/collection.h"
#include "view/view_input.h"

bool view_categories_can(const struct collection *s); /* whether everything that the analysis needs was recorded */
/* A `categorise` of struct view_input: reads the collection again, with its tensors. */
bool view_categories_load(const struct view_input *in, struct view_categories *out, struct error *e);

#endif
