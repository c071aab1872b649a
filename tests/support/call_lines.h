/* SPDX-License-Identifier: Apache-2.0 */
/* call_lines.h - files of calls of the operating system, as our reader takes them. */
#ifndef ASCOPE_TESTS_CALL_LINES_H
#define ASCOPE_TESTS_CALL_LINES_H

#include "test.h"

#include <fcntl.h>
#include <glob.h>

#include "folder.h"
#include "load/samplers/usage_load.h"
#include "settings_of.h"

struct lines {
    char *text;
    size_t bytes;
    struct profile profile;
    struct source source;
    struct slice slice;
    struct stream stream;
    struct usage usage;
};

static inline void lines_read(struct lines *c, const char *prof, const char *family)
{
    char pattern[PATH_MAX + 100];
    glob_t found = { 0 };
    snprintf(pattern, sizeof pattern, "%s/host/data/%s.slice_?", prof, family);
    glob(pattern, 0, NULL, &found);
    *c = (struct lines){ .text = calloc(1, 1) };
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat st;
        const int fd = open(found.gl_pathv[i], O_RDONLY);
        assert_true(fd >= 0 && fstat(fd, &st) == 0);
        c->text = realloc(c->text, c->bytes + (size_t)st.st_size + 1);
        assert_int_equal(read(fd, c->text + c->bytes, (size_t)st.st_size), st.st_size);
        c->bytes += (size_t)st.st_size;
        c->text[c->bytes] = '\0';
        close(fd);
    }
    globfree(&found);
}

static inline void lines_parse(struct lines *c, const char *family)
{
    struct error e = { 0 };
    c->profile.names = names_new();
    c->slice = (struct slice){ .name = family, .data = (uint8_t *)c->text, .size = c->bytes };
    c->stream = (struct stream){ .family = family, .slice = &c->slice, .n_slices = 1 };
    c->source = (struct source){ .is_host = true,
                                 .name = "host",
                                 .path = "host",
                                 .pid = 7,
                                 .stream = &c->stream,
                                 .n_streams = 1,
                                 .mem = arena_new() };
    c->source.settings = settings_of(NULL, NULL, c->source.mem);
    assert_true(usage_load(&c->profile, &c->source, &c->usage, &e));
    assert_int_equal(c->source.lost.by[LOSS_BAD_TEXT].n, 0);
    assert_int_equal(c->source.lost.by[LOSS_OTHER_KIND].n, 0);
    assert_int_equal(c->source.lost.by[LOSS_OUTSIDE].n, 0);
}

static inline void lines_load(struct lines *c, const char *prof, const char *family)
{
    lines_read(c, prof, family);
    lines_parse(c, family);
}

static inline void lines_free(struct lines *c)
{
    arena_free(c->source.mem);
    names_free(c->profile.names);
    free(c->text);
}

static inline size_t lines_count(const struct lines *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->usage.calls.n; i++)
        n += strcmp(names_text(c->profile.names, c->usage.calls.name[i]), name) == 0;
    return n;
}

static inline size_t threads_count(const struct lines *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->usage.calls.n; i++) {
        bool is_new = strcmp(names_text(c->profile.names, c->usage.calls.name[i]), name) == 0;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = c->usage.calls.thread[k] != c->usage.calls.thread[i] ||
                     c->usage.calls.name[k] != c->usage.calls.name[i];
        n += is_new;
    }
    return n;
}

#endif
