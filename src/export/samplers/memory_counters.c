/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "raw/enums.h"
#include "raw/sampler.h"

static struct cell value_direction(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_text(samples_uint(v->s, column, row) ? "write" : "read");
}

static struct cell value_percent(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real(samples_real(v->s, column, row) * 100);
}

/* The newer presentation converts to percent and back, which changes the last digit. */
static struct cell value_fraction(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real(samples_real(v->s, column, row) * 100 / 100);
}

static struct cell value_owner(const struct counter_view *v, size_t row, unsigned column)
{
    const uint64_t owner = samples_uint(v->s, column, row);
    return owner == NPU_MEM_OF_APP ? cell_text("app") : owner == NPU_MEM_OF_DEVICE ? cell_text("device") : cell_na();
}

static struct cell value_owner_report(const struct counter_view *v, size_t row, unsigned column)
{
    const uint64_t owner = samples_uint(v->s, column, row);
    return cell_text(owner == NPU_MEM_OF_APP ? "APP" : owner == NPU_MEM_OF_DEVICE ? "Device" : "UNKNOWN");
}

/* The column number that stands for the sum of DDR and HBM. */
enum { BOTH_MEMORIES = NPU_MEM_FIELDS };

static uint64_t memory_bytes(const struct counter_view *v, size_t row, unsigned column)
{
    if (column == BOTH_MEMORIES)
        return samples_uint(v->s, NPU_MEM_DDR, row) + samples_uint(v->s, NPU_MEM_HBM, row);
    return samples_uint(v->s, column, row);
}

static struct cell value_kib(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real((double)memory_bytes(v, row, column) / 1024);
}

static struct cell value_whole_kib(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_uint(memory_bytes(v, row, column) / 1024);
}

static struct cell value_round_kib(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real(round_exact((double)memory_bytes(v, row, column) / 1024, 3));
}

/* The bytes that a module holds, or -1: values beyond INT64_MAX mean unknown. */
static int64_t module_bytes(const struct counter_view *v, size_t row)
{
    const int64_t bytes = (int64_t)samples_uint(v->s, MODULE_MEM_BYTES, row);
    return bytes < 0 ? -1 : bytes;
}

static struct cell value_module_bytes(const struct counter_view *v, size_t row, unsigned column)
{
    (void)column;
    return cell_int(module_bytes(v, row));
}

static struct cell value_module_kib(const struct counter_view *v, size_t row, unsigned column)
{
    (void)column;
    const int64_t bytes = module_bytes(v, row);
    return cell_int(bytes > 0 ? bytes / 1024 : bytes);
}

static struct cell value_module_round_kib(const struct counter_view *v, size_t row, unsigned column)
{
    (void)column;
    const int64_t bytes = module_bytes(v, row);
    return bytes > 0 ? cell_real(round_exact((double)bytes / 1024, 3)) : cell_int(bytes);
}

static struct cell value_module(const struct counter_view *v, size_t row, unsigned column)
{
    const char *name = enum_text(&modules, (uint32_t)samples_uint(v->s, column, row));
    return cell_text(name ? name : "Unknown");
}

static struct cell value_npu(const struct counter_view *v, size_t row, unsigned column)
{
    char text[32];
    (void)row, (void)column;
    const int len = snprintf(text, sizeof text, "NPU:%u", v->device->source.device);
    return cell_name(names_add(v->x->profile->names, text, (size_t)len));
}

static uint64_t module_of(const struct samples *s, size_t row)
{
    return samples_uint(s, MODULE_MEM_MODULE, row);
}

/* clang-format off */
#define HBM_MBS(name) { { name, value_real, HBM_RATE_MBS, NULL } }
static const struct counter hbm_counter[] = {
    { "HBM ", "/Read", .when = HBM_RATE_IS_WRITE, .is = 0, .arg = HBM_MBS("Read(MB/s)") },
    { "HBM ", "/Write", .when = HBM_RATE_IS_WRITE, .is = 1, .arg = HBM_MBS("Write(MB/s)") },
};

static const struct counter ddr_counter[] = {
    { "DDR/Read", .when = ANY_SAMPLE, .arg = { { "Read(MB/s)", value_real, DDR_RATE_READ_MBS, NULL } } },
    { "DDR/Write", .when = ANY_SAMPLE, .arg = { { "Write(MB/s)", value_real, DDR_RATE_WRITE_MBS, NULL } } },
};

#define LLC_HITS(get) { "Hit Rate(%)", get, LLC_RATE_HITS, NULL }
#define LLC_MBS { "Throughput(MB/s)", value_real, LLC_RATE_MBS, NULL }
#define LLC_COUNTERS(hits)                                                                              \
    {                                                                                                   \
        { "LLC ", " Read/Hit Rate", .when = LLC_RATE_IS_WRITE, .is = 0, .arg = { hits } },              \
        { "LLC ", " Read/Throughput", .when = LLC_RATE_IS_WRITE, .is = 0, .arg = { LLC_MBS } },         \
        { "LLC ", " Write/Hit Rate", .when = LLC_RATE_IS_WRITE, .is = 1, .arg = { hits } },             \
        { "LLC ", " Write/Throughput", .when = LLC_RATE_IS_WRITE, .is = 1, .arg = { LLC_MBS } },        \
    }
static const struct counter llc_counter[] = LLC_COUNTERS(LLC_HITS(value_fraction));
static const struct counter llc_generic_counter[] = LLC_COUNTERS(LLC_HITS(value_real));

#define KB_OF(column) { { "KB", value_kib, (column), NULL } }
static const struct counter npu_mem_counter[] = {
    { "APP/DDR", .when = NPU_MEM_EVENT, .is = NPU_MEM_OF_APP, .arg = KB_OF(NPU_MEM_DDR) },
    { "APP/HBM", .when = NPU_MEM_EVENT, .is = NPU_MEM_OF_APP, .arg = KB_OF(NPU_MEM_HBM) },
    { "APP/Memory", .when = NPU_MEM_EVENT, .is = NPU_MEM_OF_APP, .arg = KB_OF(BOTH_MEMORIES) },
    { "Device/DDR", .when = NPU_MEM_EVENT, .is = NPU_MEM_OF_DEVICE, .arg = KB_OF(NPU_MEM_DDR) },
    { "Device/HBM", .when = NPU_MEM_EVENT, .is = NPU_MEM_OF_DEVICE, .arg = KB_OF(NPU_MEM_HBM) },
    { "Device/Memory", .when = NPU_MEM_EVENT, .is = NPU_MEM_OF_DEVICE, .arg = KB_OF(BOTH_MEMORIES) },
};

#define OF_HBM { { SAMPLER_HBM }, 1, .of_rates = true }
#define OF_DDR { { SAMPLER_DDR }, 1, .of_rates = true }
#define OF_LLC { { SAMPLER_LLC }, 1, .of_rates = true }
#define OF_NPU_MEM { { SAMPLER_NPU_MEM, SAMPLER_NPU_MEM_APP }, 2, .of_rates = false }
#define OF_MODULES { { SAMPLER_MODULE_MEM }, 1, .of_rates = false }

const struct counter_process hbm_process = {
    .name = "HBM", .sort = 24, .source = OF_HBM, .unit = HBM_RATE_UNIT, .counter = hbm_counter, .n_counters = 2,
};
const struct counter_process ddr_process = {
    .name = "DDR", .sort = 18, .source = OF_DDR, .counter = ddr_counter, .n_counters = 2,
};
const struct counter_process llc_process = {
    .name = "LLC", .sort = 27, .source = OF_LLC, .unit = LLC_RATE_UNIT, .counter = llc_counter,
    .generic = llc_generic_counter, .n_counters = 4,
};
const struct counter_process npu_mem_process = {
    .name = "NPU MEM", .sort = 17, .source = OF_NPU_MEM, .counter = npu_mem_counter, .n_counters = 6,
};

static const struct counter_value hbm_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "bandwidth", value_bytes, HBM_RATE_MBS, "NUMERIC" },
    { "hbmId", value_uint, HBM_RATE_UNIT, "INTEGER" },
    { "type", value_direction, HBM_RATE_IS_WRITE, "INTEGER" },
};

static const struct counter_value ddr_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "read", value_bytes, DDR_RATE_READ_MBS, "NUMERIC" },
    { "write", value_bytes, DDR_RATE_WRITE_MBS, "NUMERIC" },
};

static const struct counter_value llc_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "llcId", value_uint, LLC_RATE_UNIT, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "hitRate", value_percent, LLC_RATE_HITS, "REAL" },
    { "throughput", value_bytes, LLC_RATE_MBS, "INTEGER" },
    { "mode", value_direction, LLC_RATE_IS_WRITE, "INTEGER" },
};

static const struct counter_value npu_mem_column[] = {
    { "type", value_owner, NPU_MEM_EVENT, "INTEGER" },
    { "ddr", value_uint, NPU_MEM_DDR, "NUMERIC" },
    { "hbm", value_uint, NPU_MEM_HBM, "NUMERIC" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "deviceId", value_device, 0, "INTEGER" },
};

static const struct counter_value module_mem_column[] = {
    { "moduleId", value_uint, MODULE_MEM_MODULE, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "totalReserved", value_module_bytes, MODULE_MEM_BYTES, "NUMERIC" },
    { "deviceId", value_device, 0, "INTEGER" },
};

const struct family_table memory_tables[] = {
    { "HBM", OF_HBM, hbm_column, COUNT_OF(hbm_column) },
    { "DDR", OF_DDR, ddr_column, COUNT_OF(ddr_column) },
    { "LLC", OF_LLC, llc_column, COUNT_OF(llc_column) },
    { "NPU_MEM", OF_NPU_MEM, npu_mem_column, COUNT_OF(npu_mem_column) },
    { "NPU_MODULE_MEM", OF_MODULES, module_mem_column, COUNT_OF(module_mem_column) },
};
const size_t n_memory_tables = COUNT_OF(memory_tables);

/* The two presentations show KB with and without a fraction. */
#define NPU_MEM_REPORT(kib)                                 \
    {                                                       \
        { "Device_id", value_device, 0, NULL },             \
        { "event", value_owner_report, NPU_MEM_EVENT, NULL }, \
        { "ddr(KB)", kib, NPU_MEM_DDR, NULL },              \
        { "hbm(KB)", kib, NPU_MEM_HBM, NULL },              \
        { "memory(KB)", kib, BOTH_MEMORIES, NULL },         \
        { "timestamp(us)", value_time, 0, NULL },           \
    }
#define MODULE_MEM_REPORT(kib)                                        \
    {                                                                 \
        { "Device_id", value_device, 0, NULL },                       \
        { "Component", value_module, MODULE_MEM_MODULE, NULL },       \
        { "Timestamp(us)", value_time, 0, NULL },                     \
        { "Total Reserved(KB)", kib, MODULE_MEM_BYTES, NULL },        \
        { "Device", value_npu, 0, NULL },                             \
    }
enum { NPU_MEM_REPORT_COLUMNS = 6, MODULE_MEM_REPORT_COLUMNS = 5 };
static const struct counter_value npu_mem_report_column[2][NPU_MEM_REPORT_COLUMNS] = {
    NPU_MEM_REPORT(value_whole_kib), NPU_MEM_REPORT(value_round_kib),
};
static const struct counter_value module_mem_report_column[2][MODULE_MEM_REPORT_COLUMNS] = {
    MODULE_MEM_REPORT(value_module_kib), MODULE_MEM_REPORT(value_module_round_kib),
};
/* clang-format on */

bool npu_mem_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct family_source from = OF_NPU_MEM;
    return counters_report(x, &from, NULL, npu_mem_report_column[x->is_generic], NPU_MEM_REPORT_COLUMNS, out, e);
}

bool module_mem_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct family_source from = OF_MODULES;
    return counters_report(x, &from, module_of, module_mem_report_column[x->is_generic], MODULE_MEM_REPORT_COLUMNS, out,
                           e);
}

/* Sums of values by unit (an HBM stack, a part of the cache) and by direction or kind. The analysis drops higher
 * units. */
enum { MOST_PARTS = 64, MOST_KINDS = 2 };
struct means {
    double sum[MOST_PARTS][MOST_KINDS];
    size_t n[MOST_PARTS][MOST_KINDS];
};

static void means_add(struct means *m, uint64_t part, unsigned kind, double v)
{
    if (part < MOST_PARTS) {
        m->sum[part][kind] += v;
        m->n[part][kind]++;
    }
}

static double mean(const struct means *m, size_t part, unsigned kind)
{
    return m->n[part][kind] ? m->sum[part][kind] / (double)m->n[part][kind] : 0;
}

/* The sum of the means of all units, each rounded first if digits are given. */
static double sum_of_means(const struct means *m, unsigned kind, int digits, size_t *n_parts)
{
    double sum = 0;
    *n_parts = 0;
    for (size_t part = 0; part < MOST_PARTS; part++)
        if (m->n[part][0] || m->n[part][1]) {
            sum += digits ? round_away(mean(m, part, kind), digits) : mean(m, part, kind);
            ++*n_parts;
        }
    return sum;
}

/* sum / n as text with three decimals, halves rounded to even. The sum itself has at most three decimals. NULL: no
 * memory. */
static const char *decimal_mean(struct arena *mem, double sum, size_t n)
{
    if (!(sum < 0x1p52)) /* only damaged data: too large for the integers below */
        return arena_printf(mem, "%.3f", sum / (double)n);
    const uint64_t thousandths = (uint64_t)llround(sum * 1000), rest = thousandths % n;
    uint64_t mean_of = thousandths / n;
    mean_of += rest * 2 > n || (rest * 2 == n && mean_of % 2);
    return arena_printf(mem, "%" PRIu64 ".%03" PRIu64, mean_of / 1000, mean_of % 1000);
}

static const struct column hbm_report_column[] = {
    { "Device_id", NULL }, { "Metric", NULL }, { "Read(MB/s)", NULL }, { "Write(MB/s)", NULL }
};

/* As in the reference, summaries include samples from before the collection began. */
bool hbm_report(const struct export *x, struct table *out, struct error *e)
{
    (void)e;
    struct grid g = { .n_columns = 4, .mem = x->mem };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct samples *s = &d->counters.rate[SAMPLER_HBM];
        struct means m = { 0 };
        if (s->n == 0)
            continue;
        for (size_t row = 0; row < s->n; row++)
            means_add(&m, samples_uint(s, HBM_RATE_UNIT, row), samples_uint(s, HBM_RATE_IS_WRITE, row) != 0,
                      samples_real(s, HBM_RATE_MBS, row));
        /* The reference computes this row in decimals, rounded at every step, and writes it as text in JSON, too. */
        const char *text[MOST_KINDS];
        for (unsigned k = 0; k < MOST_KINDS; k++) {
            size_t n;
            const double sum = round_exact(sum_of_means(&m, k, 0, &n), 3);
            text[k] = decimal_mean(x->mem, sum, n);
        }
        if (!text[0] || !text[1])
            break;
        const struct cell device = cell_uint(d->source.device);
        grid_row(&g, (struct cell[]){ device, cell_text("Average"), cell_text(text[0]), cell_text(text[1]) });
        for (size_t part = 0; part < MOST_PARTS; part++)
            if (m.n[part][0] || m.n[part][1])
                grid_row(&g, (struct cell[]){ device, cell_uint(part), cell_real(round_exact(mean(&m, part, 0), 3)),
                                              cell_real(round_exact(mean(&m, part, 1), 3)) });
    }
    *out = grid_table(&g, "hbm", hbm_report_column, x->profile->names);
    return true;
}

bool ddr_report(const struct export *x, struct table *out, struct error *e)
{
    (void)e;
    struct grid g = { .n_columns = 4, .mem = x->mem };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct samples *s = &d->counters.rate[SAMPLER_DDR];
        struct means m = { 0 };
        if (s->n == 0)
            continue;
        for (size_t row = 0; row < s->n; row++)
            for (unsigned k = 0; k < MOST_KINDS; k++)
                means_add(&m, 0, k, samples_real(s, DDR_RATE_READ_MBS + k, row));
        grid_row(&g, (struct cell[]){ cell_uint(d->source.device), cell_text("Average"),
                                      cell_real(round_exact(mean(&m, 0, 0), 3)),
                                      cell_real(round_exact(mean(&m, 0, 1), 3)) });
    }
    *out = grid_table(&g, "ddr", hbm_report_column, x->profile->names);
    return true;
}

bool llc_report(const struct export *x, struct table *out, struct error *e)
{
    enum { LLC_DIGITS = 6 }; /* decimals to which the reference rounds means before it adds them */
    static const struct column column[] = {
        { "Device_id", NULL }, { "Mode", NULL }, { "Task", NULL }, { "Hit Rate(%)", NULL }, { "Throughput(MB/s)", NULL }
    };
    (void)e;
    struct grid g = { .n_columns = 5, .mem = x->mem };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct samples *s = &d->counters.rate[SAMPLER_LLC];
        struct means m = { 0 };
        if (s->n == 0)
            continue;
        for (size_t row = 0; row < s->n; row++)
            for (unsigned k = 0; k < MOST_KINDS; k++)
                means_add(&m, samples_uint(s, LLC_RATE_UNIT, row), k, samples_real(s, LLC_RATE_HITS + k, row));
        const struct cell device = cell_uint(d->source.device);
        const struct cell mode = cell_text(d->counters.llc_is_write ? "write" : "read");
        size_t n;
        const double hits = sum_of_means(&m, 0, LLC_DIGITS, &n) * 100, mbs = sum_of_means(&m, 1, LLC_DIGITS, &n);
        grid_row(&g, (struct cell[]){ device, mode, cell_text("Average"), cell_real(round_exact(hits / (double)n, 3)),
                                      cell_real(round_exact(mbs / (double)n, 3)) });
        for (size_t part = 0; part < MOST_PARTS; part++)
            if (m.n[part][0])
                grid_row(&g,
                         (struct cell[]){ device, mode, cell_uint(part),
                                          cell_real(round_exact(round_away(mean(&m, part, 0), LLC_DIGITS) * 100, 3)),
                                          cell_real(round_exact(round_away(mean(&m, part, 1), LLC_DIGITS), 3)) });
    }
    *out = grid_table(&g, "llc_read_write", column, x->profile->names);
    return true;
}
