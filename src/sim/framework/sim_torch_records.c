/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_torch.h"

#include <stdio.h>
#include <string.h>

#include "sim/device/sim_records.h"
#include "sim/framework/sim_tlv.h"

static const char *const file_names[TORCH_FILES] = {
    [TORCH_FILE_OPS] = "torch.op_range",
    [TORCH_FILE_MARKS] = "torch.op_mark",
    [TORCH_FILE_MEMORY] = "torch.memory_usage",
    [TORCH_FILE_KEYS] = "torch.python_tracer_hash",
    [TORCH_FILE_PARAMS] = "torch.param_tensor_info",
    [TORCH_FILE_CALLS] = "torch.python_tracer_func",
    [TORCH_FILE_GC] = "torch.gc_record",
};

enum { RECORD_OP = 1, RECORD_MARK, RECORD_MEMORY, RECORD_KEY, RECORD_PARAMS };

void torch_files_open(struct sim_torch *t)
{
    folder_create(&t->base.writer, FOLDER_FRAMEWORK);
    for (size_t i = 0; i < TORCH_FILES; i++)
        slices_init(&t->out[i], &t->base.writer, FOLDER_FRAMEWORK, file_names[i], CUT_NEVER);
}

/* A text that grows. What does not fit is left out: the tables are written so that everything fits. */
struct sim_torch_records_text {
    size_t n;
    char at[2048];
};

static void text_add(struct sim_torch_records_text *t, const char *more)
{
    const size_t n = strlen(more), room = sizeof t->at - t->n;
    const size_t fits = n < room ? n : room;
    memcpy(t->at + t->n, more, fits);
    t->n += fits;
}

static void text_number(struct sim_torch_records_text *t, uint64_t value, unsigned base)
{
    char digit[24], *at = digit + sizeof digit - 1;
    *at = 0;
    do
        *--at = "0123456789abcdef"[value % base];
    while ((value /= base) > 0);
    text_add(t, at);
}

static void field_put(struct sim_tlv *r, uint8_t type, const char *text, size_t n)
{
    if (n > 0)
        tlv_text(r, type, text, n);
}

struct sim_torch_records_tensor {
    uint64_t object, storage;
    enum torch_type type;
    unsigned n;
    uint32_t dim[4];
};

static const struct {
    const char *name, *bytes;
} types[] = {
    [TORCH_TYPE_FLOAT] = { "float", "4" },
    [TORCH_TYPE_BF16] = { "c10::BFloat16", "2" },
    [TORCH_TYPE_LONG] = { "long int", "8" },
};

/* Objects of Python lie where their storage does, only closer together. */
static const uint64_t objects_at = 0x7f3a00000000, weights_at = 0x12c100000000;

static struct sim_torch_records_tensor tensor_at(uint64_t storage, enum torch_type type)
{
    enum { APART = 18 };
    return (
        struct sim_torch_records_tensor){ objects_at + (storage >> APART << 6) % 0x40000000, storage, type, 0, { 0 } };
}

static struct sim_torch_records_tensor parameter(const struct sim_torch *t, uint32_t layer, bool is_bias)
{
    enum { PARAMETER_BYTES = 32 << 20 };
    const struct torch_unit *u = &t->unit;
    const size_t which = u->network ? (size_t)(u->network - torch_networks) : 0;
    const uint64_t number = (which * TORCH_LAYERS + layer % TORCH_LAYERS) * 2 + is_bias;
    struct sim_torch_records_tensor x = tensor_at(weights_at + number * PARAMETER_BYTES, TORCH_TYPE_FLOAT);
    x.n = is_bias ? 1 : 2;
    x.dim[0] = x.dim[1] = u->columns;
    return x;
}

static struct sim_torch_records_tensor tensor_of(const struct sim_torch *t, char letter)
{
    const struct torch_unit *u = &t->unit;
    if (letter == 'w' || letter == 'b')
        return parameter(t, u->layer, letter == 'b');
    struct sim_torch_records_tensor x = tensor_at(u->input, letter == 'i' ? TORCH_TYPE_LONG : u->type);
    switch (letter) {
    case 'q': x.n = 4, x.dim[0] = 2, x.dim[1] = 16, x.dim[2] = u->rows, x.dim[3] = 128; break;
    case 'i': x.n = 1, x.dim[0] = u->rows; break;
    default: x.n = 2, x.dim[0] = u->rows, x.dim[1] = u->columns; break;
    }
    return x;
}

static void sizes_add(struct sim_torch_records_text *out, const struct sim_torch_records_tensor *x)
{
    for (unsigned i = 0; i < x->n; i++) {
        text_add(out, i > 0 ? "," : "");
        text_number(out, x->dim[i], 10);
    }
}

static void tensor_add(struct sim_torch_records_text *out, const struct sim_torch *t,
                       const struct sim_torch_records_tensor *x)
{
    text_add(out, "0x");
    text_number(out, x->object, 16);
    text_add(out, ";0x");
    text_number(out, x->storage, 16);
    text_add(out, ";");
    text_add(out, types[x->type].name);
    text_add(out, ";");
    text_add(out, types[x->type].bytes);
    text_add(out, ";");
    sizes_add(out, x);
    text_add(out, ";");
    uint64_t stride = 1;
    for (unsigned i = 1; i < x->n; i++)
        stride *= x->dim[i];
    for (unsigned i = 0; i < x->n; i++) {
        text_add(out, i > 0 ? "," : "");
        text_number(out, stride, 10);
        stride /= i + 1 < x->n ? x->dim[i + 1] : 1;
    }
    text_add(out, ";20;"); /* an NPU */
    text_number(out, sim_device_number(t->base.of), 10);
}

static void list_add(struct sim_torch_records_text *out, const struct sim_torch *t)
{
    if (out->n > 0)
        text_add(out, "}");
    for (uint32_t i = 0; i < 3; i++) {
        const struct sim_torch_records_tensor x = parameter(t, t->unit.layer + i, false);
        tensor_add(out, t, &x);
        text_add(out, ")");
    }
}

static void inputs_write(const struct sim_torch *t, struct sim_tlv *r, const char *inputs)
{
    enum { KINDS = 4 };
    static const char *const scalar[KINDS] = { "Bool", "Int", "Double", "Int" };
    struct sim_torch_records_text type = { .n = 0 }, shape = { .n = 0 }, tensors = { .n = 0 }, lists = { .n = 0 },
                                  scalars = { .n = 0 };
    for (const char *c = inputs; *c; c++) {
        text_add(&type, c > inputs ? ";" : "");
        text_add(&shape, c > inputs ? ";" : "");
        switch (*c) {
        case 's':
            text_add(&type, "Scalar");
            text_add(&scalars, scalars.n > 0 ? ";" : "");
            text_add(&scalars, scalar[(size_t)(c - inputs) % KINDS]);
            break;
        case 'L': text_add(&type, "ScalarList"); break;
        case 'N': text_add(&type, "None"); break;
        case 'T':
            text_add(&type, "TensorList");
            list_add(&lists, t);
            break;
        default: {
            const struct sim_torch_records_tensor x = tensor_of(t, *c);
            text_add(&type, types[x.type].name);
            sizes_add(&shape, &x);
            text_add(&tensors, tensors.n > 0 ? ")" : "");
            tensor_add(&tensors, t, &x);
        }
        }
    }
    field_put(r, TORCH_TEXT_TYPES, type.at, type.n);
    field_put(r, TORCH_TEXT_SHAPES, shape.at, shape.n);
    field_put(r, TORCH_TEXT_TENSORS, tensors.at, tensors.n);
    field_put(r, TORCH_TEXT_TENSOR_LISTS, lists.at, lists.n);
    field_put(r, TORCH_TEXT_SCALARS, scalars.at, scalars.n);
}

#define PACKAGES "/opt/"
#define MODULES  "torch/nn/modules/"
#define STEP     "train.py(61): train_one_step"
#define MAIN     "train.py(133): main"
#define TOP      "train.py(210): <module>"
#define MODEL    "model.py(42): forward"

static const char *const frames[TORCH_FRAMES] = {
    [TORCH_FRAME_TOP] = TOP,
    [TORCH_FRAME_MAIN] = MAIN,
    [TORCH_FRAME_STEP] = STEP,
    [TORCH_FRAME_MODEL] = MODEL,
    [TORCH_FRAME_BACKWARD] = "torch/_tensor.py(428): backward",
    [TORCH_FRAME_ENGINE] = "<built-in method run_backward of torch._C._EngineBase object>",
    [TORCH_FRAME_OPTIMIZER] = "torch/optim/optimizer.py(470): wrapper",
    [TORCH_FRAME_PROFILER] = "torch_npu/profiler/profiler.py(283): step",
    [TORCH_FRAME_EXIT] = "__torch_npu_profiler_python_tracer_exit",
};

static void stack_write(const struct sim_torch *t, struct sim_tlv *r)
{
    struct sim_torch_records_text stack = { .n = 0 };
    if (t->unit.network) {
        text_add(&stack, PACKAGES MODULES);
        text_add(&stack, t->unit.network->file);
        text_add(&stack, ": forward;" PACKAGES MODULES "module.py(1518): _call_impl;" MODEL ";");
    }
    text_add(&stack, STEP ";" MAIN ";" TOP);
    field_put(r, TORCH_TEXT_STACK, stack.at, stack.n);
}

static void modules_write(const struct sim_torch *t, struct sim_tlv *r)
{
    struct sim_torch_records_text modules = { .n = 0 };
    text_add(&modules, "Transformer;Layer;");
    text_add(&modules, t->unit.network->module);
    field_put(r, TORCH_TEXT_MODULES, modules.at, modules.n);
}

void torch_op_write(struct sim_torch *t, const struct torch_thread *th, const struct torch_op *op)
{
    const struct layout *l = &torch_op_layout;
    struct sim_tlv r;
    uint8_t *rec = tlv_begin(&r, l, RECORD_OP);
    record_fill(l, rec, { TORCH_OP_BEGIN, op->begin }, { TORCH_OP_END, th->now },
                { TORCH_OP_SEQUENCE, (uint64_t)op->sequence }, { TORCH_OP_PROCESS, t->base.of->pid },
                { TORCH_OP_THREAD, th->id }, { TORCH_OP_END_THREAD, th->id },
                { TORCH_OP_FORWARD_THREAD, op->forward_thread }, { TORCH_OP_SCOPE, op->scope });
    field_put(&r, TORCH_TEXT_NAME, op->name, strlen(op->name));
    if (op->inputs)
        inputs_write(t, &r, op->inputs);
    if (op->has_stack)
        stack_write(t, &r);
    if (op->has_stack && op->sequence >= 0 && t->unit.network)
        modules_write(t, &r);
    tlv_end(&r, &t->out[TORCH_FILE_OPS]);
    t->n_ops++;
}

void torch_mark_write(struct sim_torch *t, uint64_t time, unsigned kind, uint64_t id, uint32_t thread, const char *name)
{
    const struct layout *l = &torch_mark_layout;
    struct sim_tlv r;
    uint8_t *rec = tlv_begin(&r, l, RECORD_MARK);
    record_fill(l, rec, { TORCH_MARK_TIME, time }, { TORCH_MARK_KIND, kind },
                { TORCH_MARK_ID, kind == TORCH_MARK_ENQUEUE_BEGIN ? 0 : id }, { TORCH_MARK_THREAD, thread },
                { TORCH_MARK_PROCESS, t->base.of->pid });
    field_put(&r, TORCH_MARK_TEXT_NAME, name, strlen(name));
    tlv_end(&r, &t->out[TORCH_FILE_MARKS]);
}

static void key_write(struct sim_torch *t, uint64_t key, const char *text)
{
    struct sim_tlv r;
    layout_put(&python_key_layout, PYTHON_KEY, tlv_begin(&r, &python_key_layout, RECORD_KEY), key);
    field_put(&r, PYTHON_KEY_TEXT, text, strlen(text));
    tlv_end(&r, &t->out[TORCH_FILE_KEYS]);
}

enum { FORWARD_FRAME, FUNCTION_FRAME, NETWORK_FRAMES };

static void network_frame(const struct torch_network *n, unsigned which, char *out, size_t size)
{
    if (which == FORWARD_FRAME)
        snprintf(out, size, MODULES "%s: forward", n->file);
    else
        snprintf(out, size, "<built-in function %s>", n->function);
}

/* Operators of one module share its frames: they are written with the first. */
void torch_frames_write(struct sim_torch *t)
{
    for (size_t i = 0; i < TORCH_FRAMES; i++)
        key_write(t, name_hash(frames[i]), frames[i]);
    for (size_t i = 0; i < sim_n_operators; i++) {
        const struct torch_network *n = &torch_networks[i];
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first = is_first && strcmp(torch_networks[k].module, n->module) != 0;
        for (unsigned f = 0; is_first && f < NETWORK_FRAMES; f++) {
            char text[96];
            network_frame(n, f, text, sizeof text);
            key_write(t, name_hash(text), text);
        }
    }
}

static void call_write(struct sim_torch *t, uint64_t time, uint64_t key, unsigned tag)
{
    const struct layout *l = &python_call_layout;
    uint8_t *rec = slices_record(&t->out[TORCH_FILE_CALLS], l);
    record_fill(l, rec, { PYTHON_CALL_TIME, time }, { PYTHON_CALL_THREAD, t->main.id },
                { PYTHON_CALL_PROCESS, t->base.of->pid }, { PYTHON_CALL_KEY, key }, { PYTHON_CALL_TAG, tag });
}

void torch_frame_enter(struct sim_torch *t, enum torch_frame f)
{
    t->main.now += 12;
    call_write(t, t->main.now, name_hash(frames[f]), f == TORCH_FRAME_ENGINE ? PYTHON_C_CALL : PYTHON_CALL);
}

void torch_frame_leave(struct sim_torch *t, enum torch_frame f)
{
    t->main.now += 8;
    call_write(t, t->main.now, name_hash(frames[TORCH_FRAME_EXIT]),
               f == TORCH_FRAME_ENGINE ? PYTHON_C_RETURN : PYTHON_RETURN);
}

/* Frames that were open when the collection began become known at its end. */
void torch_frames_end(struct sim_torch *t)
{
    call_write(t, t->base.begin, name_hash(frames[TORCH_FRAME_TOP]), PYTHON_CALL);
    call_write(t, t->base.begin, name_hash(frames[TORCH_FRAME_MAIN]), PYTHON_CALL);
}

/* At the first call of a module its name and its parameters are recorded; only every other has a gradient by then. */
static void module_record(struct sim_torch *t, uint64_t key, const char *text)
{
    const struct torch_network *n = t->unit.network;
    struct sim_tlv r;
    struct sim_torch_records_text all = { .n = 0 };
    key_write(t, key, text);
    if (!strchr(n->inner_inputs, 'w'))
        return;
    for (unsigned is_bias = 0; is_bias < 2; is_bias++) {
        const struct sim_torch_records_tensor x = parameter(t, t->unit.layer, is_bias);
        text_add(&all, is_bias ? "}bias)" : "weight)");
        tensor_add(&all, t, &x);
        text_add(&all, ")");
        if (t->unit.layer % 2 == 0)
            tensor_add(&all, t, &x);
    }
    layout_put(&python_key_layout, PYTHON_KEY, tlv_begin(&r, &python_key_layout, RECORD_PARAMS), key);
    field_put(&r, PYTHON_KEY_MODULE_PARAMETERS, all.at, all.n);
    tlv_end(&r, &t->out[TORCH_FILE_PARAMS]);
}

/* The module, its forward(), and what that calls in C. */
void torch_module_enter(struct sim_torch *t)
{
    const struct torch_network *n = t->unit.network;
    const size_t which = (size_t)(n - torch_networks);
    char text[96];
    snprintf(text, sizeof text, "%s######%llu", n->module,
             140332419260416 + 80ull * (which * TORCH_LAYERS + t->unit.layer));
    const uint64_t key = name_hash(text);
    if (!t->is_known[which][t->unit.layer]) {
        t->is_known[which][t->unit.layer] = true;
        module_record(t, key, text);
    }
    call_write(t, t->main.now += 10, key, PYTHON_CALL);
    network_frame(n, FORWARD_FRAME, text, sizeof text);
    call_write(t, t->main.now += 12, name_hash(text), PYTHON_CALL);
    network_frame(n, FUNCTION_FRAME, text, sizeof text);
    call_write(t, t->main.now += 14, name_hash(text), PYTHON_C_CALL);
}

void torch_module_leave(struct sim_torch *t)
{
    const uint64_t key = name_hash(frames[TORCH_FRAME_EXIT]);
    call_write(t, t->main.now += 3, key, PYTHON_C_RETURN);
    call_write(t, t->main.now += 9, key, PYTHON_RETURN);
    call_write(t, t->main.now += 7, key, PYTHON_RETURN);
}

void torch_optimizer_record(struct sim_torch *t)
{
    static const char *const state[] = { "exp_avg>", "exp_avg_sq>" };
    struct sim_tlv r;
    struct sim_torch_records_text all = { .n = 0 };
    for (uint32_t layer = 0; layer < 4; layer++) {
        struct sim_torch_records_tensor x = parameter(t, layer, false);
        text_add(&all, layer > 0 ? "}" : "");
        tensor_add(&all, t, &x);
        text_add(&all, "))");
        for (size_t i = 0; i < sizeof state / sizeof *state; i++) {
            x.storage += 4 << 20; /* behind the weight */
            x.object += 64;
            text_add(&all, state[i]);
            tensor_add(&all, t, &x);
            text_add(&all, "]");
        }
    }
    layout_put(&python_key_layout, PYTHON_KEY, tlv_begin(&r, &python_key_layout, RECORD_PARAMS),
               name_hash(frames[TORCH_FRAME_OPTIMIZER]));
    field_put(&r, PYTHON_KEY_OPTIMIZER_PARAMETERS, all.at, all.n);
    tlv_end(&r, &t->out[TORCH_FILE_PARAMS]);
}

void torch_gc_write(struct sim_torch *t, uint64_t begin, uint64_t end)
{
    const struct layout *l = &python_gc_layout;
    uint8_t *rec = slices_record(&t->out[TORCH_FILE_GC], l);
    record_fill(l, rec, { PYTHON_GC_PROCESS, t->base.of->pid }, { PYTHON_GC_BEGIN, begin }, { PYTHON_GC_END, end });
}

/* clang-format off */
const struct torch_network torch_networks[] = {
    { "Linear", "linear.py(114)", "linear", "aten::linear", "xwb", true, "aten::addmm", "bxwss",
      "AddmmBackward0", "aten::mm", "gw" },
    { "Linear", "linear.py(114)", "linear", "aten::linear", "xwN", true, "aten::mm", "xw", "MmBackward0", "aten::mm", "gw" },
    { "Attention", "attention.py(88)", "matmul", "aten::matmul", "qq", false, "aten::bmm", "qq",
      "BmmBackward0", "aten::bmm", "gq" },
    { "Conv2d", "conv.py(463)", "conv2d", "aten::conv2d", "qwbLLLs", false, "aten::convolution", "qwbLLLsLs",
      "ConvolutionBackward0", "aten::convolution_backward", "gqwLLLLsLsL" },
    { "Residual", "block.py(57)", "add", NULL, NULL, false, "aten::add", "xxs", "AddBackward0", "aten::sum", "gLs" },
    { "Gate", "block.py(63)", "mul", NULL, NULL, false, "aten::mul", "xx", "MulBackward0", "aten::mul", "gx" },
    { "Cast", "amp.py(20)", "to", "aten::to", "xsssN", false, "aten::_to_copy", "xsssssN",
      "ToCopyBackward0", "aten::_to_copy", "gsssssN" },
    { "Permute", "block.py(71)", "contiguous", "aten::contiguous", "xs", false, "aten::clone", "xs",
      "CloneBackward0", "aten::clone", "gs" },
    { "RMSNorm", "normalization.py(372)", "npu_rms_norm", NULL, NULL, false, "npu::npu_rms_norm", "xbs",
      "NpuRmsNormBackward0", "npu::npu_rms_norm_backward", "gxbx" },
    { "Softmax", "activation.py(1515)", "softmax", "aten::softmax", "qsN", false, "aten::_softmax", "qss",
      "SoftmaxBackward0", "aten::_softmax_backward_data", "gqss" },
    { "SwiGLU", "activation.py(1702)", "npu_swiglu", NULL, NULL, false, "npu::npu_swiglu", "xs",
      "NpuSwigluBackward0", "npu::npu_swiglu_backward", "gxs" },
    { "RotaryEmbedding", "embedding.py(231)", "npu_rotary_mul", NULL, NULL, false, "npu::npu_rotary_mul", "qxxs",
      "NpuRotaryMulBackward0", "npu::npu_rotary_mul_backward", "gqxx" },
    { "Mask", "block.py(90)", "zero_", NULL, NULL, false, "aten::zero_", "x", "ZeroBackward0", "aten::zero_", "g" },
    { "FlashAttention", "fused.py(31)", "npu_fusion_attention", NULL, NULL, false, "npu::npu_fusion_attention",
      "qqqssNNqss", "NpuFusionAttentionBackward0", "npu::npu_fusion_attention_grad", "qqqgsNNq" },
    { "FlashAttention", "fused.py(31)", "npu_fusion_attention", NULL, NULL, false, "npu::npu_fusion_attention",
      "qqqssNNqss", "NpuFusionAttentionBackward0", "npu::npu_fusion_attention_grad", "qqqgsNNq" },
    { "Experts", "moe.py(55)", "npu_grouped_matmul", NULL, NULL, false, "npu::npu_grouped_matmul", "TTNs",
      "NpuGroupedMatmulBackward0", "npu::npu_grouped_matmul", "TTNs" },
    { "Router", "moe.py(21)", "npu_moe_init_routing", NULL, NULL, false, "npu::npu_moe_init_routing", "xiis",
      "NpuMoeInitRoutingBackward0", "npu::npu_moe_init_routing_grad", "gis" },
    { "Dropout", "dropout.py(59)", "dropout", "aten::dropout", "xss", false, "aten::native_dropout", "xss",
      "NativeDropoutBackward0", "aten::native_dropout_backward", "gxs" },
    { "Scatter", "block.py(82)", "index_put_", "aten::index_put_", "xTxs", false, "aten::_index_put_impl_", "xTxss",
      "IndexPutBackward0", "aten::index", "gT" },
};
/* clang-format on */
