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

static bool draw_prof(const struct output_options *options, const struct profile *p, const char *path,
                      uint64_t *n_events, struct arena *mem, struct error *e)
{
    struct export x = { .profile = p, .registry = &prof_registry, .options = options, .mem = mem };
    struct out o;
    if (!scope_resolve(&x, e) || !out_open_named(&o, path, e))
        return false;
    if (prof_trace_draw(&x, NULL, &o, n_events, e))
        return out_close(&o, e);
    out_discard(&o);
    return false;
}

static bool draw_collection(const struct output_options *options, const struct collection *s, const char *path,
                            uint64_t *n_events, struct arena *mem, struct error *e)
{
    struct collection_export x = collection_export_of(s, options, mem);
    x.is_named = true;
    return trace_view_write(&x, path, n_events, e);
}

bool drawn_read(struct mapped *text, struct chrome_trace *trace, int fd, const char *of, struct error *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !memory_map(text, fd, (size_t)st.st_size))
        return error_set(e, FAULT_IO, "%s: its timeline cannot be mapped: %s", of, strerror(errno));
    return chrome_parse(trace, text->at, text->bytes, of, e);
}

bool drawn_make(struct mapped *text, struct chrome_trace *trace, const struct collection *collection,
                const struct profile *profile, const struct output_options *options, struct error *e)
{
    const char *of = collection ? collection->path : profile->path;
    struct arena *mem = arena_new();
    const int fd = drawn_file(of);
    char path[32];
    uint64_t n_events = 0;
    bool is_made = false;
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (!mem)
        error_no_memory(e, of);
    else if (fd < 0)
        error_set(e, FAULT_IO, "%s: no room for its timeline: %s", of, strerror(errno));
    else
        is_made = (collection ? draw_collection(options, collection, path, &n_events, mem, e)
                              : draw_prof(options, profile, path, &n_events, mem, e)) &&
                  (n_events > 0 || error_set(e, FAULT_ASKED, "%s: no data for a timeline", of)) &&
                  drawn_read(text, trace, fd, of, e);
    arena_free(mem);
    if (fd >= 0)
        close(fd);
    return is_made;
}
