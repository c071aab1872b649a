/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/seal.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/checksum.h"
#include "base/text/path_name.h"

enum { NUMBERS = 20 + 1 + 16 + 1 };

bool seal_lists(const char *path)
{
    static const char *const listed[] = {
        "profiler_info*.json",
        "profiler_metadata.json",
        "FRAMEWORK/*",
        "host/*",
        "host/data/*",
        "device_*/*",
        "device_*/data/*",
        "PROF_*/host/*",
        "PROF_*/host/data/*",
        "PROF_*/device_*/*",
        "PROF_*/device_*/data/*",
    };
    if (strncmp(path_name(path), "ascope.", 7) == 0 ||
        strchr(path, '\n')) /* of the recorder itself: removed at the end */
        return false;
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        if (fnmatch(listed[i], path, FNM_PATHNAME | FNM_PERIOD) == 0)
            return true;
    return false;
}

static bool is_listed(const struct tree_file *f)
{
    return f->is_there && f->has_sum && seal_lists(f->path);
}

/* NULL: no memory. */
static char *seal_list_text(const struct file_tree *t, size_t *n)
{
    size_t room = 1;
    for (size_t i = 0; i < t->n; i++)
        room += is_listed(&t->file[i]) ? NUMBERS + strlen(t->file[i].path) + 1 : 0;
    char *const text = malloc(room), *at = text;
    for (size_t i = 0; text && i < t->n; i++) {
        const struct tree_file *f = &t->file[i];
        if (is_listed(f))
            at +=
                snprintf(at, room - (size_t)(at - text), "%" PRIu64 " %016" PRIx64 " %s\n", f->bytes, f->sum, f->path);
    }
    *n = (size_t)(at - text);
    return text;
}

int seal_make(int dir, const struct new_owner *owner, void (*known)(struct file_tree *t), struct seal *out)
{
    struct file_tree t;
    size_t n = 0;
    int why = tree_list(&t, dir);
    if (!why && known)
        known(&t);
    why = why ? why : tree_sync(&t, seal_lists);
    char *const text = why ? NULL : seal_list_text(&t, &n);
    if (!why)
        why = text ? durable_put(dir, SEAL_NAME, text, n, owner, true) : ENOMEM;
    why = why ? why : durable_dir(dir, "."); /* its name, before that of a file that says that it is there */
    *out = (struct seal){ n, text ? checksum_of(text, n) : 0 };
    free(text);
    tree_free(&t);
    return why;
}

static bool number_take(const char **at, const char *end, unsigned base, size_t most, uint64_t *out)
{
    size_t n = 0;
    for (*out = 0; *at < end && n < most; (*at)++, n++) {
        static const char digits[] = "0123456789abcdef";
        const char *const digit = memchr(digits, **at, base);
        if (!digit)
            break;
        *out = *out * base + (uint64_t)(digit - digits);
    }
    return n > 0 && *at < end && *(*at)++ == ' ';
}

bool seal_next(struct bytes *in, struct seal_line *line)
{
    size_t len;
    const char *at = bytes_line(in, &len);
    const char *const end = at ? at + len : NULL;
    if (!at || !number_take(&at, end, 10, 19, &line->bytes) || !number_take(&at, end, 16, 16, &line->sum))
        return false;
    line->path = at;
    line->path_len = (size_t)(end - at);
    return line->path_len > 0;
}
