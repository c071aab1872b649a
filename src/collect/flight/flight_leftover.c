/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/flight/flight_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/stamp.h"

bool leftover_open(struct flight_leftover *l, int beside, const char *rings_path, uid_t owner,
                   const struct rings_left *left, uint64_t last_ns, struct error *e)
{
    struct stat st;
    *l = (struct flight_leftover){ .beside = beside, .dir = -1, .history.kept_file = KEPT_NONE };
    l->last_ns = last_ns > 0 && last_ns < left->header.flight_ns ? last_ns : left->header.flight_ns;
    if (!flight_path(rings_path, l->path) || strlen(strrchr(l->path, '/') + 1) > NAME_MAX)
        return error_set(e, FAULT_IO, "%s: the path is too long", rings_path);
    strcpy(l->name, strrchr(l->path, '/') + 1);
    l->dir = (int)TEMP_FAILURE_RETRY(openat(beside, l->name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (l->dir < 0)
        return error_set(e, FAULT_IO, "%s: not recovered: %s; the rings are kept", l->path, read_trouble(errno));
    if (fstat(l->dir, &st) != 0 || st.st_uid != owner)
        return error_set(e, FAULT_IO, "%s: not recovered: it belongs to a different user than the collection", l->path);
    const struct history_of of = {
        .dir = l->dir, .path = l->path, .owner = owner, .id = left->header.id, .state = left->commit->flight
    };
    return history_open(&l->history, &of, l->last_ns, 0, e);
}

static json_int_t number(const json_t *of, const char *key)
{
    return json_integer_value(json_object_get(of, key));
}

/* A time of the history on the wall clock, by the two clocks that ascope.json has of the start: they may be
 * anything. */
static json_int_t wall_ns(uint64_t raw_ns, const json_t *was)
{
    return stamp_held((__int128)raw_ns + number(was, "began_unix_ns") - number(was, "began_raw_ns"));
}

json_t *leftover_facts(const struct flight_leftover *l, const json_t *was)
{
    const struct history *const h = &l->history;
    const uint64_t got_ns = h->end_ns - h->begin_ns;
    json_t *const facts =
        json_pack("{s:s, s:I, s:I, s:{s:I, s:I, s:I}}", "trigger", "killed", "skipped_triggers", (json_int_t)0,
                  "asked_ns", (json_int_t)l->last_ns, "window", "begin_unix_ns", wall_ns(h->begin_ns, was),
                  "end_unix_ns", wall_ns(h->end_ns, was), "records", (json_int_t)h->n_records);
    if (h->files_before > 0) {
        json_object_set_new(facts, "dropped_history",
                            json_pack("{s:I, s:I}", "begin_unix_ns", number(was, "began_unix_ns"), "end_unix_ns",
                                      wall_ns(h->oldest_ns, was)));
        json_object_set_new(facts, "short_ns",
                            json_integer(got_ns < l->last_ns ? (json_int_t)(l->last_ns - got_ns) : 0));
    }
    return facts;
}

void leftover_remove(const struct flight_leftover *l)
{
    const int fd = (int)TEMP_FAILURE_RETRY(openat(l->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *const dir = fd >= 0 ? fdopendir(fd) : NULL;
    int why = 0;
    for (const char *name; dir && (name = dir_next(dir, &why));)
        if (strcmp(name, FLIGHT_KEPT) == 0 || strncmp(name, "history.", 8) == 0)
            unlinkat(l->dir, name, 0);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    unlinkat(l->beside, l->name, AT_REMOVEDIR);
}

void leftover_close(struct flight_leftover *l)
{
    if (l->dir < 0)
        return;
    history_close(&l->history);
    close(l->dir);
    l->dir = -1;
}
