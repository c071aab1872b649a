/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include <string.h>

#include "base/memory/sort.h"
#include "load/prof/records.h"
#include "load/prof/text.h"
#include "raw/cuda_records.h"
#include "raw/family.h"
#include "raw/sampler.h"

/* The unit and the origin of a sampler's times. */
enum counters_load_time_base {
    RELATIVE_US, /* µs since the device's clock was read at the start */
    WALL_NS,     /* the wall clock already */
    DEVICE_NS,   /* the device's monotonic clock */
    HOST_NS,     /* the host's monotonic clock */
    DEVICE_TICK,
    HOST_TICK,
};

static int64_t wall_ns(const struct source *s, enum counters_load_time_base base, uint64_t t)
{
    /* An impossible time wraps; most such samples count as taken before the collection began. */
    switch (base) {
    case RELATIVE_US: return stamp_held((int64_t)(t * 1000 + (uint64_t)source_relative_us_ns(s, 0)));
    case WALL_NS: return stamp_held((int64_t)t);
    case DEVICE_NS: return stamp_held((int64_t)(t + (uint64_t)source_sampler_ns(s, 0)));
    case HOST_NS: return stamp_held((int64_t)(t + (uint64_t)s->wall_offset_ns));
    case DEVICE_TICK: return source_device_ns(s, t);
    default: return source_host_ns(s, t);
    }
}

enum {
    OF_CORES = 1,   /* only in collections that sample the cores: in others the stream holds something else */
    IN_THE_LOG = 2, /* only where the stream is a log of that form; read if its other records are */
    OF_CLOCKS = 4,  /* always read */
};

struct sampled {
    enum sampler sampler;
    const char *stream;
    const struct layout *layout; /* or lines, of a stream of text */
    enum counters_load_time_base time;
    unsigned flags;
    unsigned on; /* groups of chips that write records of this kind; 0: all */
    const struct lines *lines;
    const struct layout *v2; /* of collections of version 2.0, when it differs; its time may be another one */
    enum counters_load_time_base v2_time;
};

enum { NOT_950 = ON_EVERY & ~ON_950 };

/* clang-format off */
static const struct sampled families[] = {
    { SAMPLER_HBM, "hbm.data", &hbm_layout, .time = RELATIVE_US, .v2 = &hbm_v2_layout, .v2_time = WALL_NS },
    { SAMPLER_LLC, "llc.data", &llc_layout, .time = RELATIVE_US, .v2 = &llc_v2_layout, .v2_time = WALL_NS },
    { SAMPLER_DDR, "ddr.data", &ddr_layout, .time = RELATIVE_US },
    { SAMPLER_NPU_MEM_APP, "npu_mem.app", &npu_mem_layout, .time = RELATIVE_US, .v2 = &npu_mem_v2_layout },
    { SAMPLER_NPU_MEM, "npu_mem.data", &npu_mem_layout, .time = RELATIVE_US, .v2 = &npu_mem_v2_layout },
    { SAMPLER_MODULE_MEM, "npu_module_mem.data", &module_mem_layout, .time = HOST_TICK },
    { SAMPLER_PCIE, "pcie.data", &pcie_layout, .time = DEVICE_NS },
    { SAMPLER_HCCS, "hccs.data", NULL, .time = DEVICE_NS, .lines = &hccs_lines },
    { SAMPLER_NIC, "nic.data", NULL, .time = DEVICE_NS, .lines = &port_lines },
    { SAMPLER_ROCE, "roce.data", NULL, .time = DEVICE_NS, .lines = &port_lines },
    { SAMPLER_NETDEV, "netdev_stats.data", NULL, .time = HOST_NS, .lines = &netdev_lines },
    { SAMPLER_QOS, "qos.data", &qos_layout, .time = DEVICE_TICK },
    { SAMPLER_UB, "ub.data", &ub_layout, .time = RELATIVE_US },
    { SAMPLER_SIO, "stars_soc_profile.data", &sio_layout, .time = DEVICE_TICK, .on = NOT_950 },
    { SAMPLER_SIO, "stars_soc_profile.data", &sio_die_layout, .time = DEVICE_TICK, .on = ON_950 },
    { SAMPLER_QOS, "stars_soc_profile.data", &qos_die_layout, .time = DEVICE_TICK, .on = ON_950 },
    { SAMPLER_CHIP_TRANS, "stars_soc_profile.data", &chip_trans_die_layout, .time = DEVICE_TICK, .on = ON_950 },
    { SAMPLER_ACC, "stars_soc_profile.data", &acc_pmu_layout, .time = DEVICE_TICK },
    { SAMPLER_CHIP_TRANS, "stars_soc_profile.data", &chip_trans_layout, .time = DEVICE_TICK, .on = NOT_950 },
    { SAMPLER_SOC_BW, "stars_soc_profile.data", &soc_bw_layout, .time = DEVICE_TICK },
    { SAMPLER_LOW_POWER, "stars_soc_profile.data", &low_power_layout, .time = DEVICE_TICK },
    { SAMPLER_ACC_LOG, "stars_soc.data", &acc_pmu_layout, .time = DEVICE_TICK, .flags = IN_THE_LOG },
    { SAMPLER_CORE, "ffts_profile.data", &core_sample_layout, .time = DEVICE_NS, .flags = OF_CORES, .on = NOT_950 },
    { SAMPLER_CORE, "ffts_profile.data", &core_sample_ten_layout, .time = DEVICE_TICK, .flags = OF_CORES, .on = ON_950 },
    { SAMPLER_CORE, "aicore.data", &core_sample_layout, .time = DEVICE_NS, .flags = OF_CORES },
    { SAMPLER_VECTOR_CORE, "aiVectorCore.data", &core_sample_layout, .time = DEVICE_NS, .flags = OF_CORES },
    { SAMPLER_GPU_MEMORY, "ascope_cuda_memory.data", &cuda_memory_layout, .time = DEVICE_TICK },
    { SAMPLER_GPU, "ascope_gpu.data", &gpu_sample_layout, .time = HOST_TICK, .flags = OF_CLOCKS },
};
/* clang-format on */

/* Converts the times (column[0]) to wall-clock time, sorts the rows by time, and counts those before the collection
 * began. */
static bool counters_load_place(struct source *s, const char *stream, enum counters_load_time_base base,
                                struct samples *t, unsigned n_columns, struct error *e)
{
    t->at_ns = arena_take(s->mem, t->n, sizeof *t->at_ns);
    uint64_t *key = arena_take(s->mem, t->n, sizeof *key);
    uint32_t *order = arena_take(s->mem, t->n, sizeof *order);
    void *moved = arena_take(s->mem, t->n, sizeof(uint64_t));
    if (!t->at_ns || !key || !order || !moved || t->n > UINT32_MAX)
        return error_no_memory(e, s->path);
    bool is_sorted = true;
    for (size_t i = 0; i < t->n; i++) {
        t->at_ns[i] = wall_ns(s, base, samples_uint(t, 0, i));
        key[i] = (uint64_t)t->at_ns[i] ^ 1ull << 63; /* in the order of signed numbers */
        is_sorted = is_sorted && (i == 0 || key[i - 1] <= key[i]);
    }
    if (!is_sorted) {
        order_fill(order, t->n);
        if (!order_by_u64(order, t->n, key))
            return error_no_memory(e, s->path);
        order_apply(moved, t->at_ns, order, t->n, sizeof *t->at_ns);
        memcpy(t->at_ns, moved, t->n * sizeof *t->at_ns);
        for (unsigned c = 0; c < n_columns; c++) {
            order_apply(moved, t->column[c].at, order, t->n, t->column[c].width);
            memcpy(t->column[c].at, moved, t->n * t->column[c].width);
        }
    }
    while (t->n_early < t->n && t->at_ns[t->n_early] < s->begin_ns)
        t->n_early++;
    size_t n_streams;
    const struct stream *from = source_streams(s, stream, &n_streams);
    if (t->n_early > 0 && from)
        losses_add(&s->lost, LOSS_OUTSIDE, t->n_early, from->slice[0].name, 0);
    return true;
}

static bool load_records(struct source *s, const struct sampled *f, bool is_v2, struct samples *out, struct error *e)
{
    const struct layout *l = is_v2 && f->v2 ? f->v2 : f->layout;
    struct records r;
    if (!records_load(s, s->mem, f->stream, l, true, &r, e))
        return false;
    out->n = r.n;
    for (unsigned c = 0; c < l->n; c++) {
        out->column[c].at = r.column[c];
        out->column[c].width = l->field[c].width;
    }
    if (f->flags & OF_CORES)
        for (size_t i = 0; i < out->n; i++)
            if (samples_uint(out, CORE_MODE, i) == 0) /* unused space after the last sample */
                out->n = i;
    return out->n == 0 || counters_load_place(s, f->stream, is_v2 && f->v2 ? f->v2_time : f->time, out, l->n, e);
}

static bool line_numbers(const struct lines *l, const struct word *word, size_t n, const struct samples *t)
{
    struct word time = word[0];
    if (time.len > 0 && time.at[time.len - 1] == ':')
        time.len--;
    if (n < l->n_least || !word_u64(time, &((uint64_t *)t->column[0].at)[t->n]))
        return false;
    for (unsigned c = 1; c < l->n; c++) {
        double v = 0;
        if (c < n && (!word_real(word[c], &v) || v < 0 || v >= 0x1p63))
            return false;
        ((double *)t->column[c].at)[t->n] = v;
    }
    return true;
}

static bool load_lines(struct source *s, const struct sampled *f, struct samples *out, struct error *e)
{
    const struct lines *l = f->lines;
    size_t n_streams;
    const struct stream *stream = source_streams(s, f->stream, &n_streams);
    struct text text;
    if (!stream)
        return true;
    if (!text_open(&text, s, stream, e))
        return false;
    const size_t most = text_lines(&text);
    for (unsigned c = 0; c < l->n; c++) {
        out->column[c].at = arena_take(s->mem, most, sizeof(uint64_t));
        out->column[c].width = sizeof(uint64_t);
        out->column[c].is_real = c > 0; /* counts, but some collectors write fractions */
        if (!out->column[c].at)
            return error_no_memory(e, s->path);
    }
    for (struct word line, word[LINES_MOST_WORDS]; text_next(&text, &line);) {
        const size_t n = line_words(line.at, line.len, word, LINES_MOST_WORDS);
        if (n == 0 || (l->heading && memmem(line.at, line.len, l->heading, strlen(l->heading))))
            continue;
        if (line_numbers(l, word, n, out))
            out->n++;
        else
            text_lost(&text, LOSS_BAD_TEXT);
    }
    return out->n == 0 || counters_load_place(s, f->stream, f->time, out, l->n, e);
}

/* A record contains many changes: each becomes a row of the table of its kind. */
static bool load_changes(struct source *s, const char *stream, bool has_kinds, struct samples *of[LPM_KINDS],
                         struct error *e)
{
    struct records r;
    if (!records_load(s, s->mem, stream, &lpm_layout, true, &r, e))
        return false;
    const uint32_t *count = r.column[LPM_COUNT], *kind = r.column[LPM_KIND];
    for (size_t i = 0; i < r.n; i++) {
        const uint32_t k = has_kinds ? kind[i] : (uint32_t)LPM_FREQ;
        if (count[i] > LPM_MOST || k >= LPM_KINDS) {
            record_lost(s, stream, LOSS_BAD_VALUE, r.rest[i]);
            continue;
        }
        for (size_t c = 0; c < count[i]; c++, of[k]->n++) {
            const uint8_t *entry = r.rest[i] + LPM_FIRST + c * lpm_entry_layout.size;
            for (unsigned f = 0; f < LPM_ENTRY_FIELDS && of[k]->column[f].at; f++)
                ((uint64_t *)of[k]->column[f].at)[of[k]->n] = layout_get(&lpm_entry_layout, f, entry);
        }
    }
    return true;
}

static const struct {
    const char *stream;
    bool has_kinds; /* false: only frequencies */
} change_streams[] = { { "lpmFreqConv.data", false }, { "lpmInfoConv.data", true } };

static bool load_all_changes(struct source *s, struct counters *c, struct error *e)
{
    struct samples *of[LPM_KINDS] = { &c->raw[SAMPLER_FREQ], &c->raw[SAMPLER_CORE_VOLTAGE],
                                      &c->raw[SAMPLER_BUS_VOLTAGE] };
    size_t most = 0;
    for (size_t i = 0; i < 2; i++) {
        size_t n_streams, bytes = 0;
        const struct stream *stream = source_streams(s, change_streams[i].stream, &n_streams);
        for (size_t k = 0; k < n_streams; k++) /* the unaging stream of the family, too: records_load() reads both */
            for (size_t j = 0; j < stream[k].n_slices; j++)
                bytes += stream[k].slice[j].size;
        most += bytes / lpm_entry_layout.size;
    }
    for (unsigned k = 0; k < LPM_KINDS; k++)
        for (unsigned f = 0; f < LPM_ENTRY_FIELDS; f++) {
            of[k]->column[f].at = arena_take(s->mem, most, sizeof(uint64_t));
            of[k]->column[f].width = sizeof(uint64_t);
            if (!of[k]->column[f].at)
                return error_no_memory(e, s->path);
        }
    for (size_t i = 0; i < 2; i++)
        if (!load_changes(s, change_streams[i].stream, change_streams[i].has_kinds, of, e))
            return false;
    for (unsigned k = 0; k < LPM_KINDS; k++) /* an early change is no loss: it is the value at the beginning */
        if (of[k]->n > 0 && !counters_load_place(s, "", DEVICE_TICK, of[k], LPM_ENTRY_FIELDS, e))
            return false;
    return true;
}

static bool is_left_out(const struct sampled *f, unsigned without)
{
    return f->flags & IN_THE_LOG ? without & PROFILE_TASKS : !(f->flags & OF_CLOCKS) && without & PROFILE_SAMPLED;
}

bool counters_load(struct device *d, unsigned without, struct error *e)
{
    struct source *s = &d->source;
    const bool is_v2 = strcmp(s->settings.version, "2.0") == 0;
    const bool samples_cores = s->settings.samples_cores;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct sampled *f = &families[i];
        struct samples *out = &d->counters.raw[f->sampler];
        if ((f->on && !(f->on & s->chip->group)) || !family_is_read(f->stream, s->chip, samples_cores) ||
            ((f->flags & OF_CORES) && !samples_cores) ||
            ((f->flags & IN_THE_LOG) && s->chip->task_log != TASK_LOG_STARS) || is_left_out(f, without))
            continue;
        if (!(f->lines ? load_lines(s, f, out, e) : load_records(s, f, is_v2, out, e)))
            return false;
    }
    return load_all_changes(s, &d->counters, e);
}
