/* SPDX-License-Identifier: Apache-2.0 */
/* view_advice.h - what `ascope advise` finds, on the overview of the viewer: its JSON, with times that pages can count in. */
#ifndef ASCOPE_CLI_VIEW_ADVICE_H
#define ASCOPE_CLI_VIEW_ADVICE_H

#include <jansson.h>

#include "answers/advise.h"
#include "cli/loaded.h"
#include "view/view_input.h"

struct view_advice {
    LIST(struct advise_rank) ranks;
    LIST(int64_t) shift_ns; /* of each: is added to its times */
};

/* The checks of one device; NULL: no memory. */
struct advise_rank *advise_look(const struct loaded *l, const struct device *d, struct arena *mem);

/* All devices of a directory. False: no memory. */
bool view_advice_add(struct view_advice *a, const struct loaded *l, const char *path, int64_t shift_ns,
                     struct arena *mem);
/* The text "advice" of the input. False: no memory. */
bool view_advice_put(const struct view_advice *a, struct view_input *in);

/* Takes the value, whose text is kept under a key. False: no memory. */
bool view_text_put(struct view_input *in, const char *key, json_t *value);

#endif
