/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/drawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/framework/trace_view.h"
#include "export/msprof/prof_trace.h"
#include "export/scope.h"
#include "load/chrome_load.h"
#include "load/chrome_straight.h"
#include "pipeline/collection_write.h"
#include "pipeline/registry.h"

/* Beside the collection there is room for it; if that is not ours to write to, among temporary files; else in memory. */
int drawn_file(const char *beside)
{
    const char *const places[] = { beside, getenv("TMPDIR"), "/var/tmp", "/tmp" };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const int fd = places[i] ? open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
        if (fd >= 0)
            return fd;
    }
    return memfd_create("ascope-timeline", MFD_CLOEXEC);
}

static bool draw(struct chrome_sink *sink, const struct collection *s, const struct profile *p,
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

/* Maps what the file has. */
static bool map(struct mapped *text, int fd, const char *of, struct error *e)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && (st.st_size == 0 || memory_map(text, fd, (size_t)st.st_size)))
        return true;
    return error_set(e, FAULT_IO, "%s: its timeline cannot be mapped: %s", of, strerror(errno));
}

bool drawn_read(struct mapped *text, struct chrome_trace *trace, int fd, const char *of, struct error *e)
{
    return map(text, fd, of, e) && chrome_parse(trace, text->at, text->bytes, of, e);
}

bool drawn_make(struct mapped *text, struct chrome_trace *trace, const struct collection *collection,
                const struct profile *profile, const struct output_options *options, struct error *e)
{
    const char *of = collection ? collection->path : profile->path;
    struct chrome_straight *events = calloc(1, sizeof *events);
    struct out args = { .fd = -1 }, event = { .fd = -1 };
    const int fd = drawn_file(of);
    char path[32];
    uint64_t n_events = 0;
    bool is_made = false;
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (!events || !chrome_straight_begin(events, trace, of)) {
        error_no_memory(e, of);
    } else if (fd < 0) {
        error_set(e, FAULT_IO, "%s: no room for its timeline: %s", of, strerror(errno));
    } else if (out_open_memory(&event, e) && out_open_named(&args, path, e)) {
        events->sink.args = &args;
        events->sink.text = &event;
        is_made = draw(&events->sink, collection, profile, options, &n_events, e) &&
                  (!event.failed_errno || error_no_memory(e, of));
        if (!is_made)
            out_discard(&args);
        is_made = is_made && out_close(&args, e) && map(text, fd, of, e) &&
                  (chrome_straight_finish(events, text->at, text->bytes) || error_no_memory(e, of));
    }
    out_discard(&event);
    if (events)
        chrome_straight_end(events);
    free(events);
    if (fd >= 0)
        close(fd);
    return is_made;
}
