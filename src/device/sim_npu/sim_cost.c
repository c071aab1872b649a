/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_cost.h"

#include <math.h>
#include <string.h>

/* Amounts per nanosecond. Single precision is four times slower than half precision. */
static const double FLOPS_HALF = (double)SIM_CUBE_OPERATIONS * SIM_CUBES * SIM_CORE_MHZ / 1000,
                    FLOPS_SINGLE = FLOPS_HALF / 4;
static const double ELEMENTS = 64.0 * SIM_VECTORS * SIM_CORE_MHZ / 1000; /* of two bytes, simple arithmetic */
static const double HBM_BYTES = 1200, PCIE_BYTES = 24, LOCAL_BYTES = 400, LINK_BYTES = 20, AICPU_BYTES = 2;

enum sim_cost_rule {
    RULE_BYTES,     /* element by element */
    RULE_MATMUL,    /* a[.., m, k] b[.., k, n], either transposed */
    RULE_CONV,      /* x, filter[out, ..] */
    RULE_ATTENTION, /* q[.., s, d] k[.., s, d] */
    RULE_CPU        /* bytes, by the AI CPU */
};
struct cost_row {
    const char *type, *call;
    uint8_t kind, rule; /* enum task_kind, enum rule */
    /* Of products: percent of the cubes' peak that they reach. Of RULE_BYTES: arithmetic per element in percent of an
     * addition. */
    uint16_t percent;
};
/* clang-format off */
static const struct cost_row rows[] = {
    { "MatMul", "aclnnMatmul", TASK_CUBE, RULE_MATMUL, 65 },
    { "MatMulV2", "aclnnMatmul", TASK_CUBE, RULE_MATMUL, 65 },
    { "MatMulV3", "aclnnMm", TASK_CUBE, RULE_MATMUL, 72 },
    { "BatchMatMul", "aclnnBatchMatMul", TASK_CUBE, RULE_MATMUL, 60 },
    { "BatchMatMulV2", "aclnnBatchMatMul", TASK_CUBE, RULE_MATMUL, 60 },
    { "GroupedMatmul", "aclnnGroupedMatmul", TASK_MIX_CUBE, RULE_MATMUL, 55 },
    { "Conv2D", "aclnnConvolution", TASK_CUBE, RULE_CONV, 50 },
    { "Conv3D", "aclnnConvolution", TASK_CUBE, RULE_CONV, 45 },
    { "Conv2DBackpropInput", "aclnnConvolutionBackward", TASK_CUBE, RULE_CONV, 45 },
    { "Conv2DBackpropFilter", "aclnnConvolutionBackward", TASK_CUBE, RULE_CONV, 40 },
    { "FlashAttentionScore", "aclnnFlashAttentionScore", TASK_MIX_CUBE, RULE_ATTENTION, 50 },
    { "FlashAttentionScoreGrad", "aclnnFlashAttentionScoreGrad", TASK_MIX_CUBE, RULE_ATTENTION, 20 },
    { "Add", "aclnnAdd", TASK_VECTOR, RULE_BYTES, 100 },
    { "Sub", "aclnnSub", TASK_VECTOR, RULE_BYTES, 100 },
    { "Mul", "aclnnMul", TASK_VECTOR, RULE_BYTES, 100 },
    { "RealDiv", "aclnnDiv", TASK_VECTOR, RULE_BYTES, 400 },
    { "Relu", "aclnnRelu", TASK_VECTOR, RULE_BYTES, 100 },
    { "Gelu", "aclnnGelu", TASK_VECTOR, RULE_BYTES, 1500 },
    { "Sigmoid", "aclnnSigmoid", TASK_VECTOR, RULE_BYTES, 1000 },
    { "Tanh", "aclnnTanh", TASK_VECTOR, RULE_BYTES, 1000 },
    { "Swiglu", "aclnnSwiGlu", TASK_VECTOR, RULE_BYTES, 1200 },
    { "Cast", "aclnnCast", TASK_VECTOR, RULE_BYTES, 100 },
    { "Transpose", "aclnnPermute", TASK_VECTOR, RULE_BYTES, 300 },
    { "ConcatD", "aclnnCat", TASK_VECTOR, RULE_BYTES, 100 },
    { "StridedSlice", "aclnnSlice", TASK_VECTOR, RULE_BYTES, 100 },
    { "ZerosLike", "aclnnInplaceZero", TASK_VECTOR, RULE_BYTES, 50 },
    { "SoftmaxV2", "aclnnSoftmax", TASK_VECTOR, RULE_BYTES, 1500 },
    { "LogSoftmaxV2", "aclnnLogSoftmax", TASK_VECTOR, RULE_BYTES, 1600 },
    { "RmsNorm", "aclnnRmsNorm", TASK_VECTOR, RULE_BYTES, 600 },
    { "LayerNormV3", "aclnnLayerNorm", TASK_VECTOR, RULE_BYTES, 800 },
    { "RotaryMul", "aclnnRotaryPositionEmbedding", TASK_VECTOR, RULE_BYTES, 400 },
    { "ReduceSum", "aclnnReduceSum", TASK_VECTOR, RULE_BYTES, 200 },
    { "ReduceMean", "aclnnMean", TASK_VECTOR, RULE_BYTES, 200 },
    { "ReduceMax", "aclnnMaxDim", TASK_VECTOR, RULE_BYTES, 200 },
    { "ArgMaxV2", "aclnnArgMax", TASK_VECTOR, RULE_BYTES, 400 },
    { "TopKV2", "aclnnTopk", TASK_VECTOR, RULE_BYTES, 3000 },
    { "GatherV2", "aclnnEmbedding", TASK_VECTOR, RULE_BYTES, 300 },
    { "ApplyAdamWV2", "aclnnApplyAdamWV2", TASK_VECTOR, RULE_BYTES, 1200 },
    { "MoeInitRouting", "aclnnMoeInitRouting", TASK_MIX_VECTOR, RULE_BYTES, 2000 },
    { "DropOutDoMask", "aclnnDropoutGenMask", TASK_DSA, RULE_BYTES, 200 },
    { "IndexPutV2", "aclnnIndexPutImpl", TASK_AICPU, RULE_CPU, 100 },
    { "Unique", "aclnnUnique", TASK_AICPU, RULE_CPU, 300 },
    { "GetNext", "GetNext", TASK_AICPU, RULE_CPU, 10 },
    { "DynamicGetNext", "DynamicGetNext", TASK_AICPU, RULE_CPU, 10 },
    { "DynamicGetNextV2", "DynamicGetNextV2", TASK_AICPU, RULE_CPU, 10 },
    { "IteratorV2", "IteratorV2", TASK_AICPU, RULE_CPU, 10 },
};
/* clang-format on */
static const struct cost_row unknown = { NULL, NULL, TASK_VECTOR, RULE_BYTES, 100 };

static const struct cost_row *sim_cost_row_of(const char *type)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(type, rows[i].type) == 0)
            return &rows[i];
    return &unknown;
}

const struct sim_element *sim_element_of(uint32_t type)
{
    enum { INT8, INT16, INT32, FP16, FP32, INT64, UINT64, UINT8, UINT16, UINT32, FP64, BFP16 }; /* of HCCL */
    static const struct sim_element row[] = {
        [ASCOPE_SIM_FLOAT] = { "float", 4, FP32 },         [ASCOPE_SIM_FLOAT16] = { "float16", 2, FP16 },
        [ASCOPE_SIM_INT8] = { "int8", 1, INT8 },           [ASCOPE_SIM_INT32] = { "int32", 4, INT32 },
        [ASCOPE_SIM_UINT8] = { "uint8", 1, UINT8 },        [ASCOPE_SIM_INT16] = { "int16", 2, INT16 },
        [ASCOPE_SIM_UINT16] = { "uint16", 2, UINT16 },     [ASCOPE_SIM_UINT32] = { "uint32", 4, UINT32 },
        [ASCOPE_SIM_INT64] = { "int64", 8, INT64 },        [ASCOPE_SIM_UINT64] = { "uint64", 8, UINT64 },
        [ASCOPE_SIM_DOUBLE] = { "double", 8, FP64 },       [ASCOPE_SIM_BOOL] = { "bool", 1, UINT8 },
        [ASCOPE_SIM_COMPLEX64] = { "complex64", 8, FP32 }, [ASCOPE_SIM_COMPLEX128] = { "complex128", 16, FP64 },
        [ASCOPE_SIM_BF16] = { "bf16", 2, BFP16 },
    };
    static const struct sim_element other = { "undefined", 4, FP32 };
    return type < sizeof row / sizeof *row && row[type].name ? &row[type] : &other;
}

unsigned sim_dims_of(const struct ascope_sim_tensor *t)
{
    return t->n_dims < ASCOPE_SIM_DIMS ? t->n_dims : ASCOPE_SIM_DIMS;
}

static double elements_of(const struct ascope_sim_tensor *t)
{
    double n = 1;
    for (unsigned i = 0; i < sim_dims_of(t); i++)
        n *= t->dim[i];
    return n;
}

/* A dimension counted from the end: 0 is the last one. 1 if the tensor has no such dimension. */
static double dim_from_end(const struct ascope_sim_tensor *t, unsigned i)
{
    return i < sim_dims_of(t) ? t->dim[sim_dims_of(t) - 1 - i] : 1;
}

static double bytes_of(const struct ascope_sim_tensor *t, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += elements_of(&t[i]) * sim_element_of(t[i].type)->bytes;
    return sum;
}

/* 2 m n k. k is computed so that it does not matter which inputs are transposed: (elements of a) * (elements of a
 * matrix of b) / (elements of the result) = k * k. */
static double matmul_flops(const struct ascope_sim_kernel *k)
{
    const struct ascope_sim_tensor *a = &k->in[0], *b = &k->in[1];
    const double of_b = dim_from_end(b, 0) * dim_from_end(b, 1);
    if (k->n_out == 0)
        return 2 * elements_of(a) * dim_from_end(b, 0);
    const double out = elements_of(&k->out[0]);
    return out > 0 ? 2 * out * sqrt(elements_of(a) * of_b / out) : 0;
}

static double flops_of(const struct ascope_sim_kernel *k, enum sim_cost_rule rule)
{
    const struct ascope_sim_tensor *a = &k->in[0], *b = &k->in[1];
    switch (rule) {
    case RULE_MATMUL: return matmul_flops(k);
    case RULE_CONV:
        return sim_dims_of(b) > 0 && b->dim[0] > 0
                   ? 2 * elements_of(k->n_out > 0 ? &k->out[0] : a) * elements_of(b) / b->dim[0]
                   : 0;
    default:
        return 4 * elements_of(a) * dim_from_end(b, 1); /* attention: each query with each key, and with each value */
    }
}

static uint64_t sim_cost_ns_of(double amount, double per_ns)
{
    const double ns = amount / per_ns;
    return ns < SIM_WORK_NS_MOST ? (uint64_t)ns : SIM_WORK_NS_MOST;
}

static uint64_t bytes_counted(double bytes)
{
    return bytes < 9e18 ? (uint64_t)bytes : (uint64_t)9e18;
}

/* One block for each piece of the result, at most one for each core. */
static uint16_t blocks_of(enum task_kind kind, const struct ascope_sim_kernel *k, double bytes)
{
    enum { CUBE_PIECE = 128 * 128, VECTOR_PIECE = 16384 };
    const bool is_cube = sim_kind_is_of_cubes(kind);
    if (kind == TASK_AICPU || kind == TASK_DSA)
        return 1;
    const double pieces =
        is_cube ? (k->n_out > 0 ? elements_of(&k->out[0]) : bytes) / CUBE_PIECE : bytes / VECTOR_PIECE;
    const unsigned most = is_cube ? SIM_CUBES : SIM_VECTORS;
    return (uint16_t)(pieces >= most ? most : pieces < 1 ? 1 : (unsigned)ceil(pieces));
}

struct sim_work sim_work_of(const struct ascope_sim_kernel *k)
{
    enum { START_NS = 1500, START_CPU_NS = 40000 };
    const struct cost_row *row = sim_cost_row_of(k->type);
    const double in = bytes_of(k->in, k->n_in), out = bytes_of(k->out, k->n_out), bytes = in + out;
    const bool is_half = k->n_in > 0 && sim_element_of(k->in[0].type)->bytes == 2;
    struct sim_work w = { .call = row->call,
                          .kind = (enum task_kind)row->kind,
                          .blocks = blocks_of((enum task_kind)row->kind, k, bytes),
                          .start_ns = START_NS,
                          .memory_ns = sim_cost_ns_of(bytes, HBM_BYTES),
                          .read_bytes = bytes_counted(in),
                          .write_bytes = bytes_counted(out) };
    if (row->rule == RULE_CPU) {
        w.start_ns = START_CPU_NS;
        w.memory_ns = sim_cost_ns_of(bytes * row->percent / 100, AICPU_BYTES);
    } else if (row->rule == RULE_BYTES || k->n_in < 2) {
        w.core_ns = sim_cost_ns_of(bytes / 2 * row->percent / 100, ELEMENTS);
    } else {
        w.core_ns = sim_cost_ns_of(flops_of(k, (enum sim_cost_rule)row->rule) * 100 / row->percent,
                                   is_half ? FLOPS_HALF : FLOPS_SINGLE);
        w.is_eligible = k->in[0].type == ASCOPE_SIM_FLOAT;
        w.has_attributes = row->rule == RULE_MATMUL;
    }
    return w;
}

struct sim_work sim_work_copy(enum ascope_sim_copy direction, uint64_t bytes)
{
    const bool is_local = direction == ASCOPE_SIM_DEVICE_TO_DEVICE;
    return (struct sim_work){ .kind = is_local ? TASK_COPY_LOCAL : TASK_COPY_PCIE,
                              .start_ns = is_local ? 1000 : 3000,
                              .memory_ns = sim_cost_ns_of((double)bytes, is_local ? LOCAL_BYTES : PCIE_BYTES),
                              .read_bytes = direction == ASCOPE_SIM_HOST_TO_DEVICE ? 0 : bytes,
                              .write_bytes = direction == ASCOPE_SIM_DEVICE_TO_HOST ? 0 : bytes };
}

struct sim_work sim_work_small(enum small what, uint64_t bytes)
{
    const struct sim_small *s = &sim_smalls[what];
    const double speed = s->transport == 2 ? LOCAL_BYTES : LINK_BYTES;
    return (struct sim_work){ .kind = s->kind,
                              .start_ns = s->moves ? 2000 : 1200,
                              .memory_ns = s->moves ? sim_cost_ns_of((double)bytes, speed) : 0,
                              .read_bytes = s->moves ? bytes : 0,
                              .write_bytes = s->moves ? bytes : 0 };
}

static uint64_t core_ns_at(const struct sim_work *w, uint32_t core_mhz)
{
    return w->core_ns * SIM_CORE_MHZ / core_mhz;
}

uint64_t sim_work_ns(const struct sim_work *w, uint32_t core_mhz)
{
    const uint64_t core_ns = core_ns_at(w, core_mhz);
    return w->start_ns + (core_ns > w->memory_ns ? core_ns : w->memory_ns);
}

/* What an event counts: cycles in which a unit was busy, or units of the bytes that were moved. */
enum counts { CYCLES_CORE, CYCLES_READ, CYCLES_WRITE, CYCLES_OTHER, BYTES_READ, BYTES_WRITTEN, NOTHING };
static const struct {
    uint16_t event;
    uint8_t counts;
    uint16_t part; /* of cycles: per mille of them; of bytes: bytes for each count */
} events[] = {
    /* pipelines */
    { 0x416, CYCLES_CORE, 960 },
    { 0x417, CYCLES_CORE, 20 },
    { 0x49, CYCLES_CORE, 950 },
    { 0x4a, NOTHING, 0 },
    { 0x8, CYCLES_CORE, 900 },
    { 0xa, CYCLES_CORE, 960 },
    { 0x12c, CYCLES_CORE, 900 },
    { 0x4b, CYCLES_CORE, 300 },
    { 0x4c, CYCLES_CORE, 550 },
    { 0x4d, CYCLES_CORE, 50 },
    { 0x4e, CYCLES_OTHER, 20 },
    { 0x4f, CYCLES_OTHER, 60 },
    { 0x9, CYCLES_OTHER, 120 },
    { 0xb, CYCLES_CORE, 500 },
    { 0x302, CYCLES_CORE, 500 },
    { 0xc, CYCLES_READ, 900 },
    { 0xd, CYCLES_WRITE, 900 },
    { 0x303, CYCLES_WRITE, 900 },
    { 0x54, CYCLES_OTHER, 30 },
    { 0x55, CYCLES_OTHER, 1 },
    { 0x64, CYCLES_CORE, 15 },
    { 0x65, CYCLES_CORE, 8 },
    { 0x66, CYCLES_CORE, 25 },
    /* memories: a count stands for so many bytes */
    { 0x12, BYTES_READ, 8 },
    { 0x13, BYTES_WRITTEN, 8 },
    { 0xf, BYTES_READ, 256 },
    { 0x10, BYTES_WRITTEN, 256 },
    { 0x15, BYTES_READ, 128 },
    { 0x16, BYTES_WRITTEN, 128 },
    { 0x31, BYTES_READ, 512 },
    { 0x32, BYTES_READ, 128 },
    { 0x1b, BYTES_READ, 512 },
    { 0x1c, BYTES_READ, 512 },
    { 0x21, BYTES_READ, 512 },
    { 0x22, BYTES_READ, 256 },
    { 0x27, BYTES_WRITTEN, 256 },
    { 0x28, BYTES_WRITTEN, 1024 },
    { 0x29, BYTES_WRITTEN, 256 },
    { 0x2a, BYTES_WRITTEN, 1024 },
    { 0x37, BYTES_READ, 4096 },
    { 0x38, BYTES_WRITTEN, 4096 },
    { 0x3d, BYTES_WRITTEN, 128 },
    { 0x3e, BYTES_READ, 128 },
    { 0x43, BYTES_READ, 32 },
    { 0x44, BYTES_WRITTEN, 32 },
    { 0x206, NOTHING, 0 },
    { 0x20c, BYTES_WRITTEN, 128 },
    { 0x50c, BYTES_WRITTEN, 128 },
    { 0x50d, BYTES_READ, 256 },
    { 0x50e, BYTES_READ, 256 },
    /* the cache: a line has 128 bytes; most of what is read was there */
    { 0x500, BYTES_WRITTEN, 160 },
    { 0x502, BYTES_WRITTEN, 640 },
    { 0x504, BYTES_READ, 320 },
    { 0x506, BYTES_READ, 1280 },
    { 0x508, BYTES_READ, 320 },
    { 0x50a, BYTES_READ, 1280 },
};

static uint64_t share(uint64_t cycles, uint64_t part_ns, uint64_t whole_ns)
{
    return whole_ns > 0 ? (uint64_t)((double)cycles * (double)part_ns / (double)whole_ns) : 0;
}

void sim_count(const struct sim_work *w, uint64_t cycles, const uint16_t *event, unsigned n, uint64_t *out)
{
    const uint64_t whole_ns = sim_work_ns(w, SIM_CORE_MHZ), bytes = w->read_bytes + w->write_bytes;
    const uint64_t moving = share(cycles, w->memory_ns, whole_ns);
    const uint64_t of[] = {
        [CYCLES_CORE] = share(cycles, w->core_ns, whole_ns),
        [CYCLES_READ] = share(moving, w->read_bytes, bytes),
        [CYCLES_WRITE] = share(moving, w->write_bytes, bytes),
        [CYCLES_OTHER] = cycles,
        [BYTES_READ] = w->read_bytes,
        [BYTES_WRITTEN] = w->write_bytes,
        [NOTHING] = 0,
    };
    for (unsigned i = 0; i < n; i++) {
        out[i] = 0;
        for (size_t k = 0; k < sizeof events / sizeof *events; k++)
            if (events[k].event == event[i] && events[k].counts < BYTES_READ)
                out[i] =
                    of[events[k].counts] / 1000 * events[k].part + of[events[k].counts] % 1000 * events[k].part / 1000;
            else if (events[k].event == event[i] && events[k].counts < NOTHING)
                out[i] = of[events[k].counts] / events[k].part;
    }
}
