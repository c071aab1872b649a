/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/rank_parts.h"

#include <string.h>

#include "base/memory/sort.h"
#include "base/memory/tuples.h"
#include "profile/calls.h"

enum { KIND, GROUP, SRC, DST, PARTS };
enum { TOP1, MIDDLE, BOTTOM3, BOTTOM2, BOTTOM1, TOTAL, SAMPLES };
static const char *const sample_name[SAMPLES] = { "top1", "middle", "bottom3", "bottom2", "bottom1", "total" };

static name_id link_samples_kind_of(struct names *names, name_id op)
{
    const char *const text = names_text(names, op), *const end = strstr(text, "__");
    return end ? names_add(names, text, (size_t)(end - text)) : op;
}

/* Bits that ascend as the number does. */
static uint64_t ascending(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static bool make_room(struct rank_comm_matrix *m, size_t n, struct arena *mem)
{
    name_id **const name[] = { &m->op, &m->group, &m->step, &m->type, &m->transport, &m->op_name };
    int64_t **const rank[] = { &m->src, &m->dst };
    double **const real[] = { &m->transit_mb, &m->transit_ms, &m->gbs };
    bool works = true;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        works = (*name[i] = arena_take(mem, n, sizeof **name[i])) && works;
    for (size_t i = 0; i < sizeof rank / sizeof *rank; i++)
        works = (*rank[i] = arena_take(mem, n, sizeof **rank[i])) && works;
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        works = (*real[i] = arena_take(mem, n, sizeof **real[i])) && works;
    return works;
}

/* Row `i` of `from` as a sample of its kind. */
static void link_samples_put(struct rank_comm_matrix *out, const struct rank_comm_matrix *from, uint32_t i,
                             name_id sample)
{
    const size_t to = out->n++;
    out->op[to] = sample;
    out->group[to] = from->group[i];
    out->step[to] = from->step[i];
    out->type[to] = from->type[i];
    out->transport[to] = from->transport[i];
    out->op_name[to] = from->op[i];
    out->src[to] = from->src[i];
    out->dst[to] = from->dst[i];
    out->transit_mb[to] = from->transit_mb[i];
    out->transit_ms[to] = from->transit_ms[i];
    out->gbs[to] = from->gbs[i];
}

/* Uses of one link by operators of one kind, by bandwidth. */
static bool put_samples(struct rank_comm_matrix *out, const struct rank_comm_matrix *from, const uint32_t *use,
                        size_t n, const char *kind, struct names *names, struct arena *scratch)
{
    const size_t at[SAMPLES] = {
        [TOP1] = 0, [MIDDLE] = n / 2, [BOTTOM3] = n - 3, [BOTTOM2] = n - 2, [BOTTOM1] = n - 1
    };
    for (size_t k = 0; k < SAMPLES; k++) {
        const char *const text = arena_printf(scratch, "%s-%s", kind, sample_name[k]);
        if (!text)
            return false;
        if ((k == BOTTOM3 && n < 3) || (k == BOTTOM2 && n < 2))
            continue;
        link_samples_put(out, from, use[at[k]], names_addz(names, text));
    }
    const size_t total = out->n - 1;
    out->op_name[total] = NAME_EMPTY;
    for (size_t i = 1; i < n; i++) {
        out->transit_mb[total] += from->transit_mb[use[i]];
        out->transit_ms[total] += from->transit_ms[use[i]];
    }
    out->gbs[total] = out->transit_ms[total] > 0 ? out->transit_mb[total] / out->transit_ms[total] : 0;
    return true;
}

static bool sample(struct rank_comm_matrix *m, struct names *names, struct arena *mem, struct arena *scratch)
{
    const struct rank_comm_matrix from = *m;
    struct tuples links = { 0 };
    uint32_t *const link = arena_take(scratch, from.n, sizeof *link), *const use =
                                                                          arena_take(scratch, from.n, sizeof *use);
    uint64_t *const gbs = arena_take(scratch, from.n, sizeof *gbs);
    if (!link || !use || !gbs)
        return false;
    for (size_t i = 0; i < from.n; i++) {
        const uint32_t part[PARTS] = { link_samples_kind_of(names, from.op[i]), from.group[i], (uint32_t)from.src[i],
                                       (uint32_t)from.dst[i] };
        link[i] = tuple_add(&links, part, PARTS, scratch);
        gbs[i] = ascending(from.gbs[i]);
        if (link[i] == KEYS_NO_MEMORY)
            return false;
    }
    order_fill(use, from.n);
    if (!order_by_u64(use, from.n, gbs) || !order_by_u32(use, from.n, link) ||
        !make_room(m, tuples_n(&links, PARTS) * SAMPLES, mem))
        return false;
    m->n = 0;
    for (size_t i = 0, end; i < from.n; i = end) {
        uint32_t part[PARTS];
        tuple_parts(&links, link[use[i]], part, PARTS);
        for (end = i + 1; end < from.n && link[use[end]] == link[use[i]];)
            end++;
        if (!put_samples(m, &from, use + i, end - i, names_text(names, part[KIND]), names, scratch))
            return false;
    }
    return true;
}

bool links_by_kind(struct rank_comm_matrix *m, struct names *names, struct arena *mem)
{
    struct arena *const scratch = arena_new();
    const bool works = scratch && sample(m, names, mem, scratch);
    arena_free(scratch);
    return works;
}

/* The recorder counts connections: they are places of an array, unless a file has others. */
static bool by_connection_is_dense(const uint64_t *connection, size_t n, uint64_t *least, uint64_t *span)
{
    uint64_t most = 0;
    *least = UINT64_MAX;
    for (size_t i = 0; i < n; i++)
        if (connection[i] != CONNECTION_NONE) {
            *least = connection[i] < *least ? connection[i] : *least;
            most = connection[i] > most ? connection[i] : most;
        }
    *span = *least <= most ? most - *least : 0;
    return (*span)++ < 4 * (uint64_t)n;
}

bool by_connection_init(struct by_connection *b, const uint64_t *connection, size_t n, struct arena *mem)
{
    *b = (struct by_connection){ .n = n, .connection = connection };
    if (by_connection_is_dense(connection, n, &b->least, &b->span)) {
        b->place = arena_take(mem, (size_t)b->span, sizeof *b->place);
        for (size_t i = n; b->place && i-- > 0;) /* the first row is entered last */
            if (connection[i] != CONNECTION_NONE)
                b->place[connection[i] - b->least] = (uint32_t)i + 1;
        return b->place != NULL;
    }
    b->order = arena_take(mem, n, sizeof *b->order);
    if (!b->order)
        return false;
    order_fill(b->order, n);
    return order_by_u64(b->order, n, connection);
}

uint32_t by_connection_find(const struct by_connection *b, uint64_t connection)
{
    if (connection == CONNECTION_NONE)
        return NO_ROW;
    if (b->place)
        return connection - b->least < b->span ? b->place[connection - b->least] - 1 : NO_ROW; /* NO_ROW: 0 - 1 */
    const size_t at = order_first_u64(b->order, b->n, b->connection, connection);
    return at < b->n && b->connection[b->order[at]] == connection ? b->order[at] : NO_ROW;
}
