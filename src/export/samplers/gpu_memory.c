/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <inttypes.h>
#include <stdio.h>

#include "raw/cuda_records.h"

enum { NO_STREAM = UINT32_MAX };

static unsigned operation_of(const struct counter_view *v, size_t row)
{
    return (unsigned)samples_uint(v->s, CUDA_MEMORY_OPERATION, row);
}

static bool is_of_pool(const struct counter_view *v, size_t row)
{
    return operation_of(v, row) >= CUDA_POOL_IS_MADE;
}

static struct cell value_operation(const struct counter_view *v, size_t row, unsigned column)
{
    (void)column;
    return cell_text(cuda_memory_operation_name(operation_of(v, row)));
}

static struct cell value_kind(const struct counter_view *v, size_t row, unsigned column)
{
    return is_of_pool(v, row) ? cell_na() : cell_text(cuda_memory_name((unsigned)samples_uint(v->s, column, row)));
}

static double kib(const struct counter_view *v, size_t row, unsigned column)
{
    return (double)samples_uint(v->s, column, row) / 1024;
}

/* Columns of an allocation; N/A for operations on a pool. */
static struct cell value_kib(const struct counter_view *v, size_t row, unsigned column)
{
    return is_of_pool(v, row) ? cell_na() : cell_real(kib(v, row, column));
}

static struct cell value_bytes_of(const struct counter_view *v, size_t row, unsigned column)
{
    return is_of_pool(v, row) ? cell_na() : cell_uint(samples_uint(v->s, column, row));
}

static bool has_pool(const struct counter_view *v, size_t row)
{
    return samples_uint(v->s, CUDA_MEMORY_POOL, row) != 0;
}

static struct cell value_pool_kib(const struct counter_view *v, size_t row, unsigned column)
{
    return has_pool(v, row) ? cell_real(kib(v, row, column)) : cell_na();
}

static struct cell value_pool_bytes(const struct counter_view *v, size_t row, unsigned column)
{
    return has_pool(v, row) ? cell_uint(samples_uint(v->s, column, row)) : cell_na();
}

static struct cell value_stream(const struct counter_view *v, size_t row, unsigned column)
{
    const uint64_t stream = samples_uint(v->s, column, row);
    return is_of_pool(v, row) || stream == NO_STREAM ? cell_na() : cell_uint(stream);
}

static struct cell value_address(const struct counter_view *v, size_t row, unsigned column)
{
    char text[24];
    const uint64_t address = samples_uint(v->s, column, row);
    if (address == 0)
        return cell_na();
    const int n = snprintf(text, sizeof text, "0x%" PRIx64, address);
    return cell_name(names_add(v->x->profile->names, text, (size_t)n));
}

/* Records of unknown operations are counted as losses by counters_analyse(). */
static bool keeps_known(const struct samples *s, size_t row)
{
    return samples_uint(s, CUDA_MEMORY_OPERATION, row) <= CUDA_POOL_IS_TRIMMED;
}

/* A counter for each kind of memory with the bytes that are allocated, and one for each pool. */
static void gpu_memory_draw(const struct export *x, const struct counter_view *v, struct trace *t, uint32_t pid)
{
    (void)x;
    for (size_t i = 0; i < v->n; i++) {
        const size_t row = view_row(v, i);
        const int64_t at_ns = v->s->at_ns[row];
        if (!trace_wants(t, at_ns, at_ns))
            continue;
        if (!is_of_pool(v, row)) {
            trace_counter(t, cuda_memory_name((unsigned)samples_uint(v->s, CUDA_MEMORY_KIND, row)), pid, 0, at_ns);
            trace_arg_real(t, "KB", kib(v, row, CUDA_MEMORY_HELD));
            trace_end(t);
        }
        if (has_pool(v, row)) {
            char name[40];
            snprintf(name, sizeof name, "Pool 0x%" PRIx64, samples_uint(v->s, CUDA_MEMORY_POOL, row));
            trace_counter(t, name, pid, 0, at_ns);
            trace_arg_real(t, "Used(KB)", kib(v, row, CUDA_MEMORY_POOL_USED));
            trace_arg_real(t, "Size(KB)", kib(v, row, CUDA_MEMORY_POOL_BYTES));
            trace_end(t);
        }
    }
}

/* clang-format off */
#define OF_GPU_MEMORY { { SAMPLER_GPU_MEMORY }, 1, .of_rates = false, .keeps = keeps_known }

const struct counter_process gpu_memory_process = {
    .name = "GPU Memory", .sort = 17, .source = OF_GPU_MEMORY, .draw = gpu_memory_draw,
};

static const struct counter_value db_column[] = {
    { "operation", value_operation, 0, "INTEGER" },
    { "kind", value_kind, CUDA_MEMORY_KIND, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "size", value_bytes_of, CUDA_MEMORY_BYTES, "INTEGER" },
    { "held", value_bytes_of, CUDA_MEMORY_HELD, "INTEGER" },
    { "address", value_uint, CUDA_MEMORY_ADDRESS, "INTEGER" },
    { "streamId", value_stream, CUDA_MEMORY_STREAM, "INTEGER" },
    { "correlationId", value_uint, CUDA_MEMORY_CORRELATION, "INTEGER" },
    { "pool", value_pool_bytes, CUDA_MEMORY_POOL, "INTEGER" },
    { "poolSize", value_pool_bytes, CUDA_MEMORY_POOL_BYTES, "INTEGER" },
    { "poolUsed", value_pool_bytes, CUDA_MEMORY_POOL_USED, "INTEGER" },
    { "deviceId", value_device, 0, "INTEGER" },
};

const struct family_table gpu_memory_tables[] = {
    { "GPU_MEMORY", OF_GPU_MEMORY, db_column, COUNT_OF(db_column) },
};
const size_t n_gpu_memory_tables = COUNT_OF(gpu_memory_tables);

static const struct counter_value report_column[] = {
    { "Device_id", value_device, 0, NULL },
    { "Timestamp(us)", value_time, 0, NULL },
    { "Operation", value_operation, 0, NULL },
    { "Memory Kind", value_kind, CUDA_MEMORY_KIND, NULL },
    { "Size(KB)", value_kib, CUDA_MEMORY_BYTES, NULL },
    { "Held(KB)", value_kib, CUDA_MEMORY_HELD, NULL },
    { "Address", value_address, CUDA_MEMORY_ADDRESS, NULL },
    { "Stream ID", value_stream, CUDA_MEMORY_STREAM, NULL },
    { "Correlation ID", value_uint, CUDA_MEMORY_CORRELATION, NULL },
    { "Pool", value_address, CUDA_MEMORY_POOL, NULL },
    { "Pool Size(KB)", value_pool_kib, CUDA_MEMORY_POOL_BYTES, NULL },
    { "Pool Used(KB)", value_pool_kib, CUDA_MEMORY_POOL_USED, NULL },
};
/* clang-format on */

bool gpu_memory_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct family_source from = OF_GPU_MEMORY;
    return counters_report(x, &from, NULL, report_column, COUNT_OF(report_column), out, e);
}
