/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view_categories.h"

#include <string.h>

#include "analyse/memory_timeline/memory_timeline.h"
#include "base/framework_names.h"
#include "base/inside.h"
#include "base/stamp.h"
#include "cli/view_collection.h"
#include "export/pages/memory_timeline_file.h"

_Static_assert((int)MEMORY_CATEGORIES == (int)VIEW_CATEGORIES, "one series for each category");

bool view_categories_can(const struct collection *s)
{
    const struct collection_settings *is = &s->settings;
    return s->framework_id == FRAMEWORK_PYTORCH && is->has_cpu && is->record_shapes && is->profile_memory &&
           (is->with_stack || is->with_modules);
}

static bool points_keep(struct view_categories *out, const struct memory_timeline *m, struct error *e, const char *path)
{
    char device[MEMORY_DEVICE_TEXT];
    struct memory_points p = memory_points_of(m);
    (void)memory_device_text(m->device, device);
    out->device = arena_text(out->mem, device, strlen(device));
    memcpy(out->name, memory_category_name, sizeof out->name);
    while (memory_points_next(&p)) {
        struct view_categorised *new = list_add(&out->points, out->mem);
        if (!new)
            return error_no_memory(e, path);
        new->ns = stamp_held((__int128)p.now.time_us * 1000);
        memcpy(new->bytes, p.now.bytes, sizeof new->bytes);
    }
    return out->device || error_no_memory(e, path);
}

bool view_categories_load(const struct view_input *in, struct view_categories *out, struct error *e)
{
    const struct view_collection *c = in->context;
    const struct collection_request request = { .keeps_tensors = true, .n_threads = c->options->n_threads };
    struct collection s = { 0 };
    struct memory_timeline m;
    struct losses lost = { 0 };
    struct arena *mem = arena_new();
    inside_again(); /* the user may have moved it since it was loaded */
    const bool is_done = (mem || error_no_memory(e, in->path)) && c->target->kind->load(&s, in->path, &request, e) &&
                         memory_timeline_find(&m, &s, memory_usual_device(&s), &lost, mem, e) &&
                         points_keep(out, &m, e, in->path);
    if (s.mem)
        collection_free(&s);
    arena_free(mem);
    return is_done;
}
