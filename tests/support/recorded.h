/* SPDX-License-Identifier: Apache-2.0 */
/* recorded.h - a collection of libascope in a test's folder, and what our own loaders find in it. */
#ifndef ASCOPE_TESTS_RECORDED_H
#define ASCOPE_TESTS_RECORDED_H

#include "ascope/ascope.h"
#include "folder.h"
#include "load/framework/collection_load.h"

static inline struct ascope_session *recorded_new(void (*choose)(struct ascope_options *o))
{
    struct ascope_options o;
    struct ascope_error e = { "" };
    ascope_options_init(&o);
    o.parent_dir = folder;
    o.device = "none";
    o.level = ASCOPE_LEVEL2;
    o.mstx = o.profile_memory = o.record_shapes = o.with_stack = o.with_modules = true;
    o.gc_threshold_ms = 0;
    if (choose)
        choose(&o);
    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static inline struct ascope_session *recorded_begin(void (*choose)(struct ascope_options *o))
{
    struct ascope_error e = { "" };
    struct ascope_session *s = recorded_new(choose);
    if (!ascope_session_start(s, &e))
        fail_msg("%s", e.text);
    return s;
}

/* collection_free() is the caller's. */
static inline void recorded_end(struct ascope_session *s, struct collection *out)
{
    char path[PATH_MAX];
    struct ascope_error why = { "" };
    struct error e = { 0 };
    snprintf(path, sizeof path, "%s", ascope_session_path(s));
    if (!ascope_session_stop(s, &why) || !ascope_session_end(s, &why))
        fail_msg("%s", why.text);
    const struct collection_request all = { .keeps_tensors = true, .n_threads = 1 };
    if (!pt_load(out, path, &all, &e))
        fail_msg("%s", e.text);
}

/* Lines of host/data/unaging.additional.{family}.* that are this one. */
static inline unsigned recorded_lines(const struct collection *s, const char *family, const char *wanted)
{
    unsigned n = 0;
    char dir[PATH_MAX], line[8192];
    snprintf(dir, sizeof dir, "%s/host/data", s->profile.path);
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        char path[PATH_MAX + 300];
        const size_t length = strlen(entry->d_name);
        if (!strstr(entry->d_name, family) || (length > 5 && strcmp(entry->d_name + length - 5, ".done") == 0))
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        while (fgets(line, sizeof line, f)) {
            line[strcspn(line, "\n")] = '\0';
            n += strcmp(line, wanted) == 0;
        }
        fclose(f);
    }
    closedir(d);
    return n;
}

#endif
