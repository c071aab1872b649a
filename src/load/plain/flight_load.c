/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/path_name.h"
#include "load/plain/plain_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/snapshot/program_file.h"

enum { RANKS_MOST = 1 << 20, FRAMES_MOST = 256, SIZES_TEXT = 160 };

struct flight_reader {
    struct flight_job *job;
    struct flight_rank *rank;
    const struct plain *p;
    struct arena *mem;
};

/* The number behind the last character that is no digit, an ending like .json left out. */
static int64_t flight_rank_of_name(const char *path)
{
    const char *name = path_name(path);
    size_t end = strcspn(name, ".");
    size_t begin = end;
    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9')
        begin--;
    return begin < end && end - begin < 8 ? strtol(name + begin, NULL, 10) : -1;
}

/* "[0, 1, 2]", a text, or a list of numbers. */
static bool flight_members(struct flight_reader *r, plain_id ranks, struct flight_group *g)
{
    LIST(uint32_t) member = { 0 };
    const char *at = plain_text(r->p, ranks, r->mem);
    if (!at)
        return false;
    const size_t n_items = plain_n(r->p, ranks);
    for (size_t i = 0; i < n_items || *at; i++) {
        int64_t v = i < n_items ? plain_integer(r->p, plain_item(r->p, ranks, i), -1) : -1;
        if (n_items == 0) {
            at += strcspn(at, "0123456789");
            if (!*at)
                break;
            char *end;
            v = strtol(at, &end, 10);
            at = end;
        }
        uint32_t *to = v >= 0 && v < RANKS_MOST ? list_add(&member, r->mem) : NULL;
        if (!to)
            return !arena_failed(r->mem);
        *to = (uint32_t)v;
    }
    g->rank = member.at;
    g->n_ranks = member.n;
    return true;
}

/* The group of this name and these members in the job, which is added if it is new. */
static uint32_t flight_group_of(struct flight_reader *r, const struct flight_group *g)
{
    for (size_t i = 0; i < r->job->group.n; i++) {
        const struct flight_group *old = &r->job->group.at[i];
        if (strcmp(old->name, g->name) == 0 && old->n_ranks == g->n_ranks &&
            (g->n_ranks == 0 || memcmp(old->rank, g->rank, g->n_ranks * sizeof *g->rank) == 0))
            return (uint32_t)i;
    }
    struct flight_group *to = list_add(&r->job->group, r->mem);
    if (!to)
        return UINT32_MAX;
    *to = *g;
    return (uint32_t)(r->job->group.n - 1);
}

/* The groups of a rank: those of pg_config, in its order. NULL: no memory. */
static uint32_t *flight_groups(struct flight_reader *r, plain_id config)
{
    const size_t n = plain_n(r->p, config);
    uint32_t *of = arena_take(r->mem, n + 1, sizeof *of);
    for (size_t i = 0; of && i < n; i++) {
        const plain_id v = plain_value(r->p, config, i), name = plain_member(r->p, v, "name");
        struct flight_group g = { .name = plain_text(r->p, name ? name : plain_key(r->p, config, i), r->mem),
                                  .desc = plain_text(r->p, plain_member(r->p, v, "desc"), r->mem) };
        if (!g.name || !g.desc || !flight_members(r, plain_member(r->p, v, "ranks"), &g))
            return NULL;
        if ((of[i] = flight_group_of(r, &g)) == UINT32_MAX)
            return NULL;
    }
    return of;
}

static uint32_t flight_entry_group(struct flight_reader *r, plain_id config, const uint32_t *of, plain_id entry)
{
    const plain_id named = plain_member(r->p, entry, "process_group");
    const char *name = plain_text(r->p, plain_item(r->p, named, 0), r->mem);
    const int64_t id = plain_integer(r->p, plain_member(r->p, entry, "pg_id"), -1);
    if (!name)
        return UINT32_MAX;
    for (size_t i = 0; i < plain_n(r->p, config); i++)
        if (*name && strcmp(r->job->group.at[of[i]].name, name) == 0)
            return of[i];
    for (size_t i = 0; i < plain_n(r->p, config); i++)
        if (plain_integer(r->p, plain_key(r->p, config, i), -2) == id)
            return of[i];
    struct flight_group g = { .name = *name ? name : arena_printf(r->mem, "%" PRId64, id),
                              .desc = plain_text(r->p, plain_item(r->p, named, 1), r->mem) };
    return g.name && g.desc ? flight_group_of(r, &g) : UINT32_MAX;
}

/* The elements of all tensors; their shapes are added to the text. */
static uint64_t flight_sizes(const struct plain *p, plain_id shapes, char text[SIZES_TEXT])
{
    uint64_t all = 0;
    size_t used = strlen(text);
    for (size_t i = 0; i < plain_n(p, shapes); i++) {
        const plain_id shape = plain_item(p, shapes, i);
        uint64_t n = 1;
        for (size_t k = 0; k < plain_n(p, shape); k++) {
            const int64_t dim = plain_integer(p, plain_item(p, shape, k), 0);
            n *= (uint64_t)dim;
            if (used < SIZES_TEXT - 24)
                used += (size_t)snprintf(text + used, SIZES_TEXT - used, "%s%" PRId64, k ? ", " : "[", dim);
        }
        if (used < SIZES_TEXT - 24)
            used += (size_t)snprintf(text + used, SIZES_TEXT - used, plain_n(p, shape) ? "]" : "[]");
        all += n;
    }
    return all;
}

static const char *flight_types(struct flight_reader *r, plain_id input, plain_id output)
{
    const plain_id of[] = { input, output };
    const char *text = "";
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < plain_n(r->p, of[k]) && text; i++) {
            const char *type = plain_text(r->p, plain_item(r->p, of[k], i), r->mem);
            if (!type)
                return NULL;
            const size_t n = strlen(text), m = strlen(type);
            const bool is_last = n >= m && strcmp(text + n - m, type) == 0 && (n == m || text[n - m - 1] == ' ');
            if (!is_last && n < SIZES_TEXT)
                text = *text ? arena_printf(r->mem, "%s %s", text, type) : type;
        }
    return text;
}

static bool flight_frame(struct flight_reader *r, plain_id frames, struct flight_entry *out)
{
    out->file = out->function = "";
    for (size_t i = 0; i < plain_n(r->p, frames) && i < FRAMES_MOST; i++) {
        const plain_id frame = plain_item(r->p, frames, i);
        const char *file = plain_text(r->p, plain_member(r->p, frame, "filename"), r->mem);
        if (!file)
            return false;
        const bool is_program = program_file(file);
        if (i > 0 && !is_program)
            continue;
        out->file = file;
        out->function = plain_text(r->p, plain_member(r->p, frame, "name"), r->mem);
        out->line = plain_integer(r->p, plain_member(r->p, frame, "line"), 0);
        if (is_program)
            break;
    }
    return out->function;
}

/* "nccl:recv 0<-2", "nccl:send 0->1": ranks within the group. */
static bool flight_name(struct flight_reader *r, const char *name, struct flight_entry *out)
{
    const char *kind = strchr(name, ':') ? strchr(name, ':') + 1 : name;
    const size_t n = strcspn(kind, " ");
    const struct flight_group *g = &r->job->group.at[out->group];
    long a, b;
    char sign[3];
    out->from = out->to = -1;
    out->kind = arena_text(r->mem, kind, n);
    if (out->is_p2p && sscanf(kind + n, " %9ld%2[-<>]%9ld", &a, sign, &b) == 3 && a >= 0 && b >= 0) {
        const bool is_send = strcmp(sign, "->") == 0;
        const long from = is_send ? a : b, to = is_send ? b : a;
        out->from = g->n_ranks == 0 ? from : (size_t)from < g->n_ranks ? (int64_t)g->rank[from] : -1;
        out->to = g->n_ranks == 0 ? to : (size_t)to < g->n_ranks ? (int64_t)g->rank[to] : -1;
    }
    return out->kind;
}

static bool flight_entry_read(struct flight_reader *r, plain_id config, const uint32_t *of, plain_id v)
{
    const struct plain *p = r->p;
    struct flight_entry entry = { .group = flight_entry_group(r, config, of, v) };
    char sizes[SIZES_TEXT] = "";
    const plain_id state = plain_member(p, v, "state");
    const char *name = plain_text(p, plain_member(p, v, "profiling_name"), r->mem);
    if (entry.group == UINT32_MAX || !name)
        return false;
    entry.is_p2p = plain_integer(p, plain_member(p, v, "is_p2p"), 0) != 0;
    entry.number = plain_integer(p, plain_member(p, v, entry.is_p2p ? "p2p_seq_id" : "collective_seq_id"), -1);
    entry.is_completed = plain_equals(p, state, "completed");
    entry.is_started = entry.is_completed || plain_equals(p, state, "started");
    entry.n_input = flight_sizes(p, plain_member(p, v, "input_sizes"), sizes);
    if (sizes[0])
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), " -> ");
    entry.n_output = flight_sizes(p, plain_member(p, v, "output_sizes"), sizes);
    entry.sizes = arena_text(r->mem, sizes, strlen(sizes));
    entry.types = flight_types(r, plain_member(p, v, "input_dtypes"), plain_member(p, v, "output_dtypes"));
    if (!entry.sizes || !entry.types || !flight_name(r, name, &entry) ||
        !flight_frame(r, plain_member(p, v, "frames"), &entry))
        return false;
    struct flight_entry *to = list_add(&r->rank->entry, r->mem);
    if (to)
        *to = entry;
    return to;
}

/* The parts of a coalesced call are never marked as completed; the entry that ends them, of the same number, is. */
static void flight_coalesce(struct flight_rank *rank)
{
    size_t n = 0;
    for (size_t i = 0; i < rank->entry.n; i++) {
        const struct flight_entry *end = &rank->entry.at[i];
        if (strcmp(end->kind, "coalesced") != 0) {
            rank->entry.at[n++] = *end;
            continue;
        }
        for (size_t k = n; k-- > 0;) {
            struct flight_entry *part = &rank->entry.at[k];
            if (part->group != end->group || part->is_p2p != end->is_p2p)
                continue;
            if (part->number != end->number)
                break;
            part->is_completed = end->is_completed;
            part->is_started = end->is_started;
        }
    }
    rank->entry.n = n;
}

static bool flight_statuses(struct flight_reader *r, plain_id config, const uint32_t *of, plain_id statuses)
{
    for (size_t i = 0; i < plain_n(r->p, config); i++) {
        const char *id = plain_text(r->p, plain_key(r->p, config, i), r->mem);
        struct flight_status *to = id ? list_add(&r->rank->status, r->mem) : NULL;
        if (!to)
            return false;
        const plain_id status = plain_member(r->p, statuses, id);
        *to = (struct flight_status){ of[i],
                                      plain_integer(r->p, plain_member(r->p, status, "last_enqueued_collective"), -1) };
    }
    return true;
}

static bool flight_is_member(const struct flight_group *g, int64_t rank)
{
    for (size_t i = 0; i < g->n_ranks; i++)
        if (g->rank[i] == rank)
            return true;
    return g->n_ranks == 0;
}

/* A rank is a member of all of its groups. That of the file's name, or the only one that is; -1: several are, or
 * none. */
static int64_t flight_rank_of(const struct flight_reader *r, int64_t of_name)
{
    int64_t only = -1;
    size_t n = 0;
    if (r->rank->status.n == 0)
        return of_name;
    const struct flight_group *first = &r->job->group.at[r->rank->status.at[0].group];
    for (size_t i = 0; i < (first->n_ranks ? first->n_ranks : 1); i++) {
        const int64_t rank = first->n_ranks ? first->rank[i] : of_name;
        bool is_of_all = true;
        for (size_t j = 0; j < r->rank->status.n; j++)
            is_of_all &= flight_is_member(&r->job->group.at[r->rank->status.at[j].group], rank);
        if (is_of_all && rank == of_name)
            return rank;
        n += is_of_all;
        only = is_of_all ? rank : only;
    }
    return n == 1 ? only : -1;
}

static bool flight_read(struct flight_reader *r)
{
    const plain_id config = plain_member(r->p, r->p->root, "pg_config"),
                   entries = plain_member(r->p, r->p->root, "entries");
    const uint32_t *of = flight_groups(r, config);
    if (!of || !flight_statuses(r, config, of, plain_member(r->p, r->p->root, "pg_status")))
        return false;
    for (size_t i = 0; i < plain_n(r->p, entries); i++)
        if (plain_is(r->p, plain_item(r->p, entries, i), PLAIN_DICT) &&
            !flight_entry_read(r, config, of, plain_item(r->p, entries, i)))
            return false;
    flight_coalesce(r->rank);
    return true;
}

bool flight_load(struct flight_job *job, const uint8_t *bytes, size_t n, const char *path, struct arena *mem,
                 struct error *e)
{
    struct plain p;
    if (!plain_read(&p, bytes, n, path, mem, e))
        return false;
    if (!plain_is(&p, plain_member(&p, p.root, "entries"), PLAIN_LIST))
        return error_set(e, FAULT_FORMAT, "%s: no dump of a flight recorder; wanted a dictionary with \"entries\"",
                         path);
    struct flight_rank *to = list_add(&job->rank, mem);
    if (!to)
        return error_no_memory(e, path);
    *to = (struct flight_rank){ .path = path };
    struct flight_reader r = { job, to, &p, mem };
    bool is_read = flight_read(&r) || error_no_memory(e, path);
    const int64_t named = plain_integer(&p, plain_member(&p, p.root, "rank"), -1);
    const int64_t rank = named >= 0 ? named : flight_rank_of(&r, flight_rank_of_name(path));
    if (is_read && (rank < 0 || rank >= RANKS_MOST))
        is_read = error_set(e, FAULT_FORMAT, "%s: of which rank? A dump names it, or ends with its number", path);
    for (size_t i = 0; is_read && i + 1 < job->rank.n; i++)
        if (job->rank.at[i].rank == rank)
            is_read = error_set(e, FAULT_FORMAT, "%s: a second dump of rank %" PRId64 "; the first is %s", path, rank,
                                job->rank.at[i].path);
    to->rank = (uint32_t)rank;
    job->rank.n -= !is_read;
    return is_read;
}
