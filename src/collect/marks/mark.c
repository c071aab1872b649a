/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/mark.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/marks/mark_domain.h"
#include "collect/marks/mark_put.h"
#include "collect/options/sized.h"
#include "collect/ring/ring.h"
#include "collect/session/devices.h"
#include "collect/session/host_clock.h"
#include "collect/session/recording.h"

/* Before the mark is recorded, to be as close as possible to its place in the program. */
static void launch_on(void *stream, uint64_t id)
{
    if (stream)
        device_mark(stream, id);
}

/* ---- points and ranges ---- */

void ascope_mark_record(struct ascope_domain *d, const char *message, void *stream)
{
    const uint64_t now = host_clock_now();
    const struct ascope_domain *domain = domain_that_records(d);
    if (!domain || !mark_text_is_allowed(message))
        return;
    const struct mark_head m = {
        .id = mark_id_next(), .begin = now, .end = now, .thread = ring_thread(), .event = MARK_POINT
    };
    launch_on(stream, m.id);
    mark_put(&m, domain, message, mark_message_bytes(message));
}

uint64_t ascope_range_record(struct ascope_domain *d, const char *message, void *stream)
{
    const struct ascope_domain *domain = domain_that_records(d);
    if (!domain || !mark_text_is_allowed(message))
        return 0;
    struct mark_head m = { .id = mark_id_next(), .stream = stream, .thread = ring_thread(), .event = MARK_RANGE };
    const size_t n = mark_message_bytes(message);
    m.begin = host_clock_now(); /* late, to exclude the library's own work, but before the device can reach the mark */
    launch_on(stream, m.id);
    return ring_range_open(domain->hash, &m, sizeof m, message, n);
}

void ascope_range_record_end(struct ascope_domain *d, uint64_t id)
{
    const uint64_t now = host_clock_now();
    const struct ascope_domain *domain = domain_that_records(d);
    struct {
        struct mark_head m;
        char message[RING_OPEN_MOST - sizeof(struct mark_head)];
    } kept;
    const size_t n = domain ? ring_range_take(id, domain->hash, &kept, sizeof kept) : 0;
    if (n < sizeof kept.m || kept.m.begin < atomic_load_explicit(&recording_began, memory_order_relaxed))
        return;
    kept.m.end = now;
    launch_on(kept.m.stream, kept.m.id);
    mark_put(&kept.m, domain, kept.message, n - sizeof kept.m);
}

void mark_range_drop(uint64_t id)
{
    const struct ascope_domain *domain = domain_that_records(NULL);
    char kept[RING_OPEN_MOST];
    if (domain)
        ring_range_take(id, domain->hash, kept, sizeof kept);
}

/* ---- collectives ---- */

/* With a backslash before every quote: the reference puts messages into its JSON as they are, and so those of
 * collectives come to it escaped. What would end the text, or the piece of JSON that it is, is left out of names. */
static size_t field_put(char *out, size_t most, const char *key, const char *value, bool is_first)
{
    char plain[256];
    size_t n = 0;
    for (const char *c = value; *c && n < sizeof plain - 1; c++)
        if ((unsigned char)*c >= ' ' && *c != '"' && *c != '\\')
            plain[n++] = *c;
    plain[n] = '\0';
    const int wrote = snprintf(out, most, "%s\\\"%s\\\": \\\"%s\\\"", is_first ? "{" : ",", key, plain);
    return wrote < 0 || (size_t)wrote >= most ? 0 : (size_t)wrote;
}

uint64_t ascope_collective_record(const struct ascope_collective *from, void *stream)
{
    struct ascope_collective whole = { .source_rank = -1, .destination_rank = -1 }, *const c = &whole;
    if (!sized_over(&whole, sizeof whole, from)) {
        ring_put(STREAM_MARK, 0, 0); /* counted as dropped */
        return 0;
    }
    char stream_id[24], count[24], source[16], destination[16], text[MARK_MESSAGE_MOST];
    snprintf(stream_id, sizeof stream_id, "%lld", (long long)c->stream_id);
    snprintf(count, sizeof count, "%llu", (unsigned long long)c->count);
    snprintf(source, sizeof source, "%d", c->source_rank);
    snprintf(destination, sizeof destination, "%d", c->destination_rank);
    const struct {
        const char *key, *value;
    } field[] = {
        { "streamId", stream_id },
        { "count", count },
        { "dataType", c->data_type ? c->data_type : "na" },
        { "srcRank", c->source_rank >= 0 ? source : NULL },
        { "destRank", c->destination_rank >= 0 ? destination : NULL },
        { "groupName", c->group ? c->group : "" },
        { "opName", c->name ? c->name : "" },
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        if (field[i].value)
            n += field_put(text + n, sizeof text - n, field[i].key, field[i].value, i == 0);
    snprintf(text + n, sizeof text - n, "}");
    return ascope_range_record(ascope_domain_get(ASCOPE_COLLECTIVES), text, stream);
}
