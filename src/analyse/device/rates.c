/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/device_analysis.h"

#include <string.h>

#include "base/memory/keys.h"
#include "base/text/table.h"
#include "profile/counters.h"
#include "raw/cuda_records.h"
#include "raw/sampler.h"

/* How much memory of each kind a program holds, counting allocations during the recording only. */

struct gpu_held_block {
    uint64_t bytes; /* 0: released */
    unsigned kind;
};

static void release(uint64_t held[CUDA_MEMORY_KINDS], struct gpu_held_block *b)
{
    held[b->kind] -= b->bytes;
    b->bytes = 0;
}

/* Adds the column CUDA_MEMORY_HELD: the bytes of the row's kind after the event. The release of a block that was
 * allocated before the recording changes nothing. False: no memory. */
static bool gpu_held_analyse(struct samples *s, struct arena *mem)
{
    if (s->n == 0)
        return true;
    struct arena *scratch = arena_new();
    struct keys address = { 0 };
    struct gpu_held_block *block = scratch ? arena_take(scratch, s->n, sizeof *block) : NULL;
    uint64_t *out = arena_take(mem, s->n, sizeof *out), held[CUDA_MEMORY_KINDS] = { 0 };
    bool done = block && out;
    for (size_t i = 0; done && i < s->n; i++) {
        const uint64_t operation = samples_uint(s, CUDA_MEMORY_OPERATION, i);
        uint64_t kind = samples_uint(s, CUDA_MEMORY_KIND, i);
        kind = kind < CUDA_MEMORY_KINDS ? kind : 0;
        if (operation == CUDA_ALLOCATES || operation == CUDA_RELEASES) {
            const uint32_t place = keys_add(&address, samples_uint(s, CUDA_MEMORY_ADDRESS, i), scratch);
            done = place != KEYS_NO_MEMORY;
            if (!done)
                break;
            release(held, &block[place]);
            if (operation == CUDA_ALLOCATES) {
                block[place] = (struct gpu_held_block){ samples_uint(s, CUDA_MEMORY_BYTES, i), (unsigned)kind };
                held[kind] += block[place].bytes;
            }
        }
        out[i] = held[kind];
    }
    arena_free(scratch);
    s->column[CUDA_MEMORY_HELD].at = out;
    s->column[CUDA_MEMORY_HELD].width = sizeof *out;
    return done;
}

static const double MB = 1048576, NS_PER_S = 1e9;

/* Room for n rows of columns that are all real numbers but the first n_whole. */
static bool rates_take(struct arena *mem, struct samples *out, size_t n, unsigned n_columns, unsigned n_whole)
{
    *out = (struct samples){ 0 };
    out->at_ns = arena_take(mem, n, sizeof *out->at_ns);
    for (unsigned c = 0; c < n_columns; c++) {
        out->column[c].at = arena_take(mem, n, sizeof(uint64_t));
        out->column[c].width = sizeof(uint64_t);
        out->column[c].is_real = c >= n_whole;
    }
    return !arena_failed(mem);
}

static void put_uint(struct samples *t, unsigned column, uint64_t v)
{
    ((uint64_t *)t->column[column].at)[t->n] = v;
}

static void put_real(struct samples *t, unsigned column, double v)
{
    ((double *)t->column[column].at)[t->n] = v;
}

static void end_row(struct samples *t, int64_t at_ns, bool is_early)
{
    t->n_early += is_early;
    t->at_ns[t->n++] = at_ns;
}

/* The time of the sample before, for each of a few parts of a device: in ns, or in any other unit. */
enum { HBM_MOST_UNITS = 64, SIO_DIES = 2, SIO_HEAD_DIES = 4, MOST_PARTS = 2 * HBM_MOST_UNITS };
struct last_seen {
    int64_t at[MOST_PARTS];
    bool is_known[MOST_PARTS];
};

/* How long ago the part's last sample was; 0 for the first one, or when time does not advance. */
static uint64_t since_last(struct last_seen *l, size_t part, int64_t at)
{
    const uint64_t gap = l->is_known[part] ? count_since(at, l->at[part]) : 0;
    l->is_known[part] = true;
    l->at[part] = at;
    return gap;
}

/* a / b, rounded to thousandths, halves to even. Computed with integers, because the reference uses decimal arithmetic,
 * in which 0.0125 is exactly a half; the nearest double is slightly larger. */
static double decimal_ratio(unsigned __int128 a, unsigned __int128 b)
{
    const unsigned __int128 q = a * 1000 / b, twice_rest = a * 1000 % b * 2;
    return (double)(q + (twice_rest > b || (twice_rest == b && q % 2))) / 1000;
}

bool rates_hbm(const struct samples *in, struct arena *mem, struct samples *out)
{
    static const double MB_PER_COUNT = 256.0 / 8 / 1048576; /* a count is a burst of 256 bits */
    struct last_seen last = { 0 };
    if (!rates_take(mem, out, in->n, HBM_RATE_COLUMNS, HBM_RATE_MBS))
        return false;
    for (size_t i = 0; i < in->n; i++) {
        const uint64_t unit = samples_uint(in, TRAFFIC_UNIT, i);
        const bool is_write = samples_uint(in, TRAFFIC_EVENT, i) != TRAFFIC_READ;
        if (unit >= HBM_MOST_UNITS)
            continue;
        const uint64_t gap = since_last(&last, unit * 2 + is_write, in->at_ns[i]);
        const double moved = samples_real(in, TRAFFIC_COUNT, i) * MB_PER_COUNT;
        put_uint(out, HBM_RATE_UNIT, unit);
        put_uint(out, HBM_RATE_IS_WRITE, is_write);
        put_real(out, HBM_RATE_MBS, gap > 0 ? moved / (double)gap * NS_PER_S : 0);
        end_row(out, in->at_ns[i], i < in->n_early);
    }
    return true;
}

bool rates_ddr(const struct samples *in, int64_t begin_ns, unsigned width, struct arena *mem, struct samples *out)
{
    if (!rates_take(mem, out, in->n, DDR_RATE_COLUMNS, 0))
        return false;
    for (size_t i = 0, next; i < in->n; i = next) {
        double moved[2] = { 0 };
        for (next = i; next < in->n && in->at_ns[next] == in->at_ns[i]; next++)
            if (samples_uint(in, DDR_MASTER, next) == DDR_MASTER_ALL)
                moved[samples_uint(in, TRAFFIC_EVENT, next) != TRAFFIC_READ] += samples_real(in, TRAFFIC_COUNT, next);
        const int64_t gap = in->at_ns[i] - (i == 0 ? begin_ns : in->at_ns[i - 1]);
        for (unsigned k = 0; k < 2; k++)
            put_real(out, DDR_RATE_READ_MBS + k, gap > 0 ? moved[k] * width / ((double)gap * MB * 8) * NS_PER_S : 0);
        end_row(out, in->at_ns[i], i < in->n_early);
    }
    return true;
}

enum { LLC_EVENTS = 8 };
static const uint8_t llc_events[2][LLC_EVENTS] = {
    { 0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36 }, /* of reads */
    { 0x00, 0x01, 0x03, 0x14, 0x21, 0x23, 0x35, 0x37 }, /* of writes */
};

/* The counters of one cache slice at one time. A sum with a counter that was not reported is 0. */
struct llc_counts {
    uint64_t of[LLC_EVENTS];
    unsigned seen; /* a bit for each */
};

static unsigned __int128 llc_sum(const struct llc_counts *c, unsigned events)
{
    unsigned __int128 sum = 0;
    for (unsigned k = 0; k < LLC_EVENTS; k++)
        sum += events >> k & 1 ? c->of[k] : 0;
    return (c->seen & events) == events ? sum : 0;
}

bool rates_llc(const struct samples *in, unsigned n_units, bool is_write, struct arena *mem, struct samples *out)
{
    /* Transfers are lines of 64 bytes. The reference counts each of them 64 times over (llc_read_write.csv, LLC in the
     * db and the timeline), and so do we: 64 * 64 bytes are 2^-8 MB. */
    enum { MOST_UNITS = 4, TRANSFERS = 0x03, HITS = 0xAC, REQUESTS = 0x50, TRANSFERS_PER_MB = 256 };
    struct last_seen last = { 0 };
    n_units = n_units < MOST_UNITS ? n_units : MOST_UNITS;
    if (!rates_take(mem, out, in->n, LLC_RATE_COLUMNS, LLC_RATE_HITS))
        return false;
    for (size_t i = 0, next; i < in->n; i = next) {
        struct llc_counts counts[MOST_UNITS] = { 0 };
        for (next = i; next < in->n && in->at_ns[next] == in->at_ns[i]; next++) {
            const uint64_t unit = samples_uint(in, TRAFFIC_UNIT, next), event = samples_uint(in, TRAFFIC_EVENT, next);
            for (unsigned k = 0; unit < n_units && k < LLC_EVENTS; k++)
                if (llc_events[is_write][k] == event) {
                    counts[unit].of[k] = samples_uint(in, TRAFFIC_COUNT, next);
                    counts[unit].seen |= 1u << k;
                }
        }
        for (unsigned unit = 0; unit < n_units; unit++) {
            const struct llc_counts *c = &counts[unit];
            if (!c->seen)
                continue;
            const uint64_t gap = since_last(&last, unit, in->at_ns[i]);
            const unsigned __int128 requests = llc_sum(c, REQUESTS), moved = llc_sum(c, TRANSFERS) * 1000000000;
            put_uint(out, LLC_RATE_UNIT, unit);
            put_uint(out, LLC_RATE_IS_WRITE, is_write);
            put_real(out, LLC_RATE_HITS, requests > 0 ? decimal_ratio(llc_sum(c, HITS), requests) : 0);
            put_real(out, LLC_RATE_MBS, gap > 0 ? decimal_ratio(moved, (unsigned __int128)gap * TRANSFERS_PER_MB) : 0);
            end_row(out, in->at_ns[i], i < in->n_early);
        }
    }
    return true;
}

bool rates_hccs(const struct samples *in, struct arena *mem, struct samples *out)
{
    if (!rates_take(mem, out, in->n, HCCS_RATE_COLUMNS, 0))
        return false;
    bool is_constant = true;
    for (size_t i = 1; i < in->n; i++) {
        const int64_t gap = in->at_ns[i] - in->at_ns[i - 1];
        bool has_grown = true;
        for (unsigned k = 0; k < 2; k++) {
            const uint64_t now = samples_uint(in, HCCS_TX + k, i), then = samples_uint(in, HCCS_TX + k, i - 1);
            const unsigned __int128 grown = now >= then ? now - then : 0;
            has_grown = has_grown && now >= then; /* otherwise the counters began anew */
            is_constant = is_constant && now == then;
            put_real(out, HCCS_RATE_TX_MBS + k,
                     gap > 0 ? decimal_ratio(grown * 1000000000, (unsigned __int128)gap * 1048576) : 0);
        }
        if (has_grown)
            end_row(out, in->at_ns[i], i < in->n_early);
    }
    /* The reference also joins the last sample with the first one, and later removes the last row, which need not be
     * that one: so the last interval is missing in hccs.csv, in HCCS of the database and in the timeline. */
    if (out->n > 1 && !is_constant)
        out->n--;
    out->n_early = out->n_early < out->n ? out->n_early : out->n; /* the removed row may have been an early one */
    return true;
}

bool rates_port(const struct samples *in, struct arena *mem, struct samples *out)
{
    static const struct {
        uint8_t bytes, packet_rate, packets, errors, dropped, to;
    } direction[] = {
        { PORT_RX_BYTE_RATE, PORT_RX_PACKET_RATE, PORT_RX_PACKETS, PORT_RX_ERRORS, PORT_RX_DROPPED, PORT_RATE_RX },
        { PORT_TX_BYTE_RATE, PORT_TX_PACKET_RATE, PORT_TX_PACKETS, PORT_TX_ERRORS, PORT_TX_DROPPED, PORT_RATE_TX }
    };
    if (!rates_take(mem, out, in->n, PORT_RATE_COLUMNS, PORT_RATE_RX))
        return false;
    for (size_t i = 0; i < in->n; i++) {
        const double bandwidth = (double)samples_uint(in, PORT_BANDWIDTH, i); /* Mb/s */
        if (bandwidth == 0 || samples_uint(in, PORT_FUNCTION, i) >= PORT_MOST_FUNCTIONS)
            continue;
        put_uint(out, PORT_RATE_FUNCTION, samples_uint(in, PORT_FUNCTION, i));
        for (unsigned k = 0; k < 2; k++) {
            const double bits = (double)samples_uint(in, direction[k].bytes, i) * 8;
            const double packets = samples_real(in, direction[k].packets, i);
            const unsigned to = direction[k].to;
            put_real(out, to + PORT_RATE_EFFICIENCY, round_exact(bits / (bandwidth * MB), 3));
            put_real(out, to + PORT_RATE_PACKETS, samples_real(in, direction[k].packet_rate, i));
            put_real(out, to + PORT_RATE_ERRORS, packets > 0 ? samples_real(in, direction[k].errors, i) / packets : 0);
            put_real(out, to + PORT_RATE_DROPPED,
                     packets > 0 ? samples_real(in, direction[k].dropped, i) / packets : 0);
        }
        end_row(out, in->at_ns[i], i < in->n_early);
    }
    return true;
}

bool rates_netdev(const struct samples *in, struct arena *mem, struct samples *out)
{
    if (!rates_take(mem, out, in->n, NETDEV_RATE_COLUMNS, 0))
        return false;
    for (size_t before = 0, i = 1; i < in->n; i++) {
        const double gap_s = (double)(in->at_ns[i] - in->at_ns[before]) / NS_PER_S;
        if (gap_s <= 0)
            continue;
        unsigned to = NETDEV_RATE_FIRST;
        for (unsigned c = NETDEV_MAC_TX_PFC; c < NETDEV_WORDS; c++) {
            const double now = samples_real(in, c, i), then = samples_real(in, c, before);
            const double grown = now > then ? now - then : 0;
            put_real(out, to++, grown);
            if (c == NETDEV_MAC_TX_BYTES || c == NETDEV_MAC_RX_BYTES || c >= NETDEV_NIC_TX_BYTES)
                put_real(out, to++, grown / gap_s);
        }
        end_row(out, in->at_ns[i], i < in->n_early);
        before = i;
    }
    return true;
}

/* A number that has no die on the chip counts as SIO_HEAD_DIES. */
static uint64_t sio_die(const struct samples *in, size_t row)
{
    const uint64_t die =
        in->column[SIO_DIE].at ? samples_uint(in, SIO_DIE, row) >> SOC_HEAD_TYPE_SHIFT : samples_uint(in, SOC_ID, row);
    const bool is_known = in->column[SIO_DIE].at ? die < SIO_HEAD_DIES && die != 1 : die < SIO_DIES;
    return is_known ? die : SIO_HEAD_DIES;
}

bool rates_sio(const struct samples *in, struct ticks tick, struct arena *mem, struct samples *out)
{
    struct last_seen last = { 0 };
    if (!rates_take(mem, out, in->n, SIO_RATE_COLUMNS, SIO_RATE_FIRST))
        return false;
    for (size_t i = 0; i < in->n; i++) {
        const uint64_t die = sio_die(in, i);
        const uint64_t gap = die < SIO_HEAD_DIES ? since_last(&last, die, (int64_t)samples_uint(in, SOC_TIME, i)) : 0;
        if (gap == 0) /* nothing to compare the first sample with */
            continue;
        const double gap_ns = ticks_to_ns_exact(tick, gap);
        put_uint(out, SIO_RATE_DIE, die);
        for (unsigned k = 0; k < SIO_VALUES; k++)
            put_real(out, SIO_RATE_FIRST + k, samples_real(in, SOC_FIRST + k, i) * (NS_PER_S / MB) / gap_ns);
        end_row(out, in->at_ns[i], i < in->n_early);
    }
    return true;
}

bool rates_qos(const struct samples *in, size_t n_events, struct arena *mem, struct samples *out)
{
    const bool has_dies = in->column[QOS_DIE_HEAD].at && in->column[QOS_DIE_HEAD].width == W16;
    const size_t most = has_dies ? QOS_DIE_VALUES : QOS_VALUES;
    n_events = n_events < most ? n_events : most;
    if (!rates_take(mem, out, in->n * n_events, QOS_RATE_COLUMNS, QOS_RATE_COLUMNS))
        return false;
    for (size_t i = 0; i < in->n; i++)
        for (unsigned k = 0; k < n_events; k++) {
            put_uint(out, QOS_RATE_EVENT, k);
            put_uint(out, QOS_RATE_MBS, samples_uint(in, QOS_FIRST + k, i));
            put_uint(out, QOS_RATE_DIE,
                     has_dies ? samples_uint(in, QOS_DIE_HEAD, i) >> SOC_HEAD_TYPE_SHIFT : QOS_NO_DIE);
            end_row(out, in->at_ns[i], i < in->n_early);
        }
    return true;
}

bool rates_acc(const struct samples *a, const struct samples *b, struct arena *mem, struct samples *out)
{
    if (!rates_take(mem, out, a->n + b->n, ACC_FIELDS, ACC_FIELDS))
        return false;
    for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
        const bool of_a = k == b->n || (i < a->n && a->at_ns[i] <= b->at_ns[k]);
        const struct samples *in = of_a ? a : b;
        const size_t row = of_a ? i++ : k++;
        for (unsigned c = 0; c < ACC_FIELDS; c++)
            put_uint(out, c, samples_uint(in, c, row));
        end_row(out, in->at_ns[row], row < in->n_early);
    }
    return true;
}

bool rates_changes(const struct samples *in, int64_t begin_ns, uint64_t otherwise, struct arena *mem,
                   struct samples *out)
{
    if (!rates_take(mem, out, in->n + 1, LPM_ENTRY_FIELDS, LPM_ENTRY_FIELDS))
        return false;
    size_t first = 0;
    while (first < in->n && in->at_ns[first] < begin_ns)
        first++;
    put_uint(out, LPM_ENTRY_VALUE, first > 0 ? samples_uint(in, LPM_ENTRY_VALUE, first - 1) : otherwise);
    end_row(out, begin_ns, false);
    for (size_t i = first; i < in->n; i++) {
        put_uint(out, LPM_ENTRY_VALUE, samples_uint(in, LPM_ENTRY_VALUE, i));
        end_row(out, in->at_ns[i], false);
    }
    return true;
}

/* Samples of units that no report shows: collectors list more of them than a chip has. */
static void count_unknown(struct source *s, const struct samples *in, unsigned column, unsigned n_parts,
                          const char *stream)
{
    uint64_t n = 0;
    for (size_t i = 0; i < in->n; i++)
        n += samples_uint(in, column, i) >= n_parts;
    losses_add(&s->lost, LOSS_OTHER_KIND, n, stream, 0);
}

static void name_qos(struct profile *p, struct device *d)
{
    struct counters *c = &d->counters;
    const char *list = d->source.settings.qos_events;
    while (*list && c->n_qos_events < QOS_MOST_EVENTS) {
        const size_t len = strcspn(list, ",");
        char name[128] = "QoS ";
        const size_t most = sizeof name - 4, take_len = len < most ? len : most;
        memcpy(name + 4, list, take_len);
        c->qos_event[c->n_qos_events++] = names_add(p->names, name, 4 + take_len);
        list += len + (list[len] == ',');
    }
}

bool counters_analyse(struct profile *p, struct device *d, struct error *e)
{
    enum { DEFAULT_MV = 900 };
    struct source *s = &d->source;
    struct arena *mem = s->mem;
    struct counters *c = &d->counters;
    const struct samples *raw = c->raw;
    struct samples *rate = c->rate;
    const int64_t clock_read_ns = source_relative_us_ns(s, 0);
    c->llc_is_write = s->settings.llc_is_write;
    name_qos(p, d);
    count_unknown(s, &raw[SAMPLER_HBM], TRAFFIC_UNIT, HBM_MOST_UNITS, "hbm.data");
    count_unknown(s, &raw[SAMPLER_LLC], TRAFFIC_UNIT, s->chip->llc_units, "llc.data");
    count_unknown(s, &raw[SAMPLER_NIC], PORT_FUNCTION, PORT_MOST_FUNCTIONS, "nic.data");
    count_unknown(s, &raw[SAMPLER_ROCE], PORT_FUNCTION, PORT_MOST_FUNCTIONS, "roce.data");
    uint64_t n_unknown = 0;
    for (size_t i = 0; i < raw[SAMPLER_SIO].n; i++)
        n_unknown += sio_die(&raw[SAMPLER_SIO], i) == SIO_HEAD_DIES;
    losses_add(&s->lost, LOSS_OTHER_KIND, n_unknown, "stars_soc_profile.data", 0);
    count_unknown(s, &raw[SAMPLER_GPU_MEMORY], CUDA_MEMORY_OPERATION, CUDA_POOL_IS_TRIMMED + 1,
                  "ascope_cuda_memory.data");
    bool done = rates_hbm(&raw[SAMPLER_HBM], mem, &rate[SAMPLER_HBM]) &&
                rates_ddr(&raw[SAMPLER_DDR], clock_read_ns, s->chip->ddr_bits, mem, &rate[SAMPLER_DDR]) &&
                rates_hccs(&raw[SAMPLER_HCCS], mem, &rate[SAMPLER_HCCS]) &&
                rates_port(&raw[SAMPLER_NIC], mem, &rate[SAMPLER_NIC]) &&
                rates_port(&raw[SAMPLER_ROCE], mem, &rate[SAMPLER_ROCE]) &&
                rates_netdev(&raw[SAMPLER_NETDEV], mem, &rate[SAMPLER_NETDEV]) &&
                rates_sio(&raw[SAMPLER_SIO], s->device_clock.tick, mem, &rate[SAMPLER_SIO]) &&
                rates_qos(&raw[SAMPLER_QOS], c->n_qos_events, mem, &rate[SAMPLER_QOS]) &&
                rates_acc(&raw[SAMPLER_ACC], &raw[SAMPLER_ACC_LOG], mem, &rate[SAMPLER_ACC]) &&
                rates_changes(&raw[SAMPLER_FREQ], clock_read_ns, (uint64_t)s->aic_mhz, mem, &rate[SAMPLER_FREQ]);
    if (done && (c->llc_is_write || s->settings.llc_is_read))
        done = rates_llc(&raw[SAMPLER_LLC], s->chip->llc_units, c->llc_is_write, mem, &rate[SAMPLER_LLC]);
    for (unsigned k = SAMPLER_CORE_VOLTAGE; k <= SAMPLER_BUS_VOLTAGE && done; k++)
        if (raw[k].n > 0)
            done = rates_changes(&raw[k], clock_read_ns, DEFAULT_MV, mem, &rate[k]);
    done = done && gpu_held_analyse(&c->raw[SAMPLER_GPU_MEMORY], mem);
    return done || error_no_memory(e, s->path);
}
