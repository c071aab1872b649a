/* SPDX-License-Identifier: Apache-2.0 */
/* view_advice.h - the findings of `ascope advise` for the overview of the viewer: its JSON, with times relative to a
 * base. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_ADVICE_H
#define ASCOPE_VIEW_INPUTS_VIEW_ADVICE_H

#include <jansson.h>

#include "answers/checks/advise.h"
#include "open/recording_open.h"
#include "view/rows/view_input.h"

struct view_advice {
    LIST(struct advise_rank) ranks;
    LIST(int64_t) shift_ns; /* of each rank: added to its times */
};

/* Runs the checks of one rank; NULL: no memory. */
struct advise_rank *advise_look(const struct run_rank *q, struct arena *mem);

/* Runs the checks of a rank, or of all devices of a directory. False: no memory. */
bool view_advice_add(struct view_advice *a, const struct run_rank *q, size_t device_row, const char *path,
                     int64_t shift_ns, struct arena *mem);
bool view_advice_add_all(struct view_advice *a, const struct recording *l, const char *path, int64_t shift_ns,
                         struct arena *mem);
/* Stores the findings as the text "advice" of the input. False: no memory. */
bool view_advice_put(const struct view_advice *a, struct view_input *in);

/* Stores the JSON text of a value under a key. Takes the reference. False: no memory. */
bool view_text_put(struct view_input *in, const char *key, json_t *value);

#endif
