/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/drawn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/framework/framework_files.h"
#include "export/msprof/tracks/prof_trace.h"
#include "export/scope.h"
#include "load/trace/chrome_events.h"
#include "pipeline/collection_write.h"
#include "pipeline/registry.h"

static bool drawn_draw(struct chrome_sink *sink, const struct collection *s, const struct profile *p,
                       const struct output_options *options, uint64_t *n_events, struct error *e)
{
    struct arena *mem = arena_new();
    const char *of = s ? s->path : p->path;
    bool done = mem || error_no_memory(e, of);
    if (done && s) {
        const struct collection_export x = collection_export_of(s, options, mem);
        done = trace_view_draw(&x, sink, n_events, e);
    } else if (done) {
        struct export x = { .profile = p, .registry = &prof_registry, .options = options, .mem = mem };
        done = scope_resolve(&x, e) && prof_trace_draw(&x, NULL, NULL, sink, n_events, e);
    }
    arena_free(mem);
    return done && (*n_events > 0 || error_set(e, FAULT_ASKED, "%s: no data for a timeline", of));
}

/* Maps the contents of the file. */
static bool map(struct mapped *text, int fd, const char *of, struct error *e)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && (st.st_size == 0 || memory_map(text, fd, (size_t)st.st_size)))
        return true;
    return error_set(e, FAULT_IO, "%s: its timeline cannot be mapped: %s; free some memory and try again", of,
                     strerror(errno));
}

bool drawn_begin(struct drawn *d, struct chrome_trace *trace, const char *path, const struct collection *collection,
                 const struct profile *profile, const struct output_options *options, struct error *e)
{
    struct out args = { .fd = -1 }, event = { .fd = -1 };
    uint64_t n_events = 0;
    bool is_drawn = false;
    *d = (struct drawn){ .of = path, .events = calloc(1, sizeof *d->events), .fd = memory_file_near(path) };
    if (!d->events || !chrome_straight_begin(d->events, trace, d->of)) {
        error_no_memory(e, d->of);
    } else if (d->fd < 0) {
        error_set(e, FAULT_IO, "%s: no space for its timeline: %s", d->of, strerror(errno));
    } else if (out_open_memory(&event, e) && out_open_descriptor(&args, d->fd, d->of, e)) {
        d->events->sink.args = &args;
        d->events->sink.text = &event;
        is_drawn = drawn_draw(&d->events->sink, collection, profile, options, &n_events, e) &&
                   (!event.failed_errno || error_no_memory(e, d->of));
        if (is_drawn)
            is_drawn = out_close(&args, e);
        else
            out_discard(&args);
    }
    out_discard(&event);
    return is_drawn;
}

bool drawn_finish(struct drawn *d, struct mapped *text, struct error *e)
{
    return map(text, d->fd, d->of, e) &&
           (chrome_straight_finish(d->events, text->at, text->bytes) || error_no_memory(e, d->of));
}

void drawn_end(struct drawn *d)
{
    if (d->of && d->fd >= 0)
        close(d->fd);
    if (d->events)
        chrome_straight_end(d->events);
    free(d->events);
    *d = (struct drawn){ 0 };
}

bool drawn_make(struct mapped *text, struct chrome_trace *trace, const struct collection *collection,
                const struct profile *profile, const struct output_options *options, struct error *e)
{
    struct drawn d;
    const char *path = collection ? collection->path : profile->path;
    const bool done = drawn_begin(&d, trace, path, collection, profile, options, e) && drawn_finish(&d, text, e);
    drawn_end(&d);
    return done;
}
