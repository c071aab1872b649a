/* listener.cpp - what PyTorch does, told to libascope while it does it.
 *
 * PyTorch calls observers around every operator (RecordFunction) and for every block that an allocator takes or gives back. They are
 * there for the threads that are profiled only, travel with the thread's state to autograd's threads, and are gone when nothing is
 * recorded. This is the only file that knows PyTorch's C++; it is compiled on first use for the PyTorch that is installed
 * (_build.py), and offers C functions to the rest.
 *
 * Nothing in here throws into PyTorch: an operator whose inputs cannot be looked at is recorded without them.
 *
 * On the simulated device, operators that compute become kernels: they go through a queue, as they do on a real one, to a thread that
 * launches them. Blocks of the host's memory are told as blocks of the device's, too.
 */
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ascope/record.h"
#include "ascope/session.h"
#include "ascope/sim.h"

namespace {

enum wanted : unsigned { SHAPES = 1, TENSORS = 2, STACK = 4, MODULES = 8, SIM = 16, WANTED_ALL = 32 };
enum : size_t { TEXT_ROOM = 2048, STACK_MOST = 16384, MODULES_MOST = 4096, TEXTS_MOST = 60000 }; /* a record has 64 KiB */
enum : unsigned { TASK_INPUTS = 12, TASK_OUTPUTS = 4 };

using text_fn = size_t (*)(char *, size_t);
std::atomic<text_fn> stack_source{ nullptr }, modules_source{ nullptr };

/* ---- texts of an operator, in memory that is used again ---- */

struct text_piece {
    uint32_t at, n;
};

/* What the simulated device wants to know of an operator when it ends. Inputs are gone by then. */
struct computation {
    struct context *parent;
    const char *type;                /* of the kernel, where the table has one */
    bool is_part_of_one, has_children; /* a kernel of the device is several operators of the host */
    unsigned n_in;
    ascope_sim_tensor in[TASK_INPUTS];
    const void *storage[TASK_INPUTS];
    bool is_dense[TASK_INPUTS];
};

/* Lies before each context, and stays when that is gone: memory of an operator is given to the next one of the thread. */
struct alignas(16) memory {
    memory *next;
    char *text;
    size_t used, room;
    computation *work;
    ascope_op op; /* its texts have no bytes but between begin and end */
    text_piece types, shapes, tensors, lists, scalars, stack, modules;

    bool reserve(size_t more)
    {
        if (used + more <= room)
            return true;
        const size_t wanted = (used + more) * 2 < TEXT_ROOM ? size_t{ TEXT_ROOM } : (used + more) * 2;
        char *const larger = static_cast<char *>(realloc(text, wanted));
        if (!larger)
            return false;
        text = larger;
        room = wanted;
        return true;
    }
    void put(const char *at, size_t n)
    {
        if (!reserve(n))
            return;
        memcpy(text + used, at, n);
        used += n;
    }
    void put(char c)
    {
        if (reserve(1))
            text[used++] = c;
    }
    void put_number(uint64_t value, unsigned base = 10)
    {
        char digits[20];
        unsigned n = 0;
        do
            digits[sizeof digits - ++n] = "0123456789abcdef"[value % base];
        while ((value /= base) != 0);
        put(digits + sizeof digits - n, n);
    }
    void put_signed(int64_t value)
    {
        if (value < 0)
            put('-');
        put_number(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
    }
    void put_pointer(const void *p)
    {
        put("0x", 2);
        put_number(reinterpret_cast<uintptr_t>(p), 16);
    }
    template <typename LIST> void put_list(const LIST &list)
    {
        bool is_first = true;
        for (const int64_t value : list) {
            if (!is_first)
                put(',');
            is_first = false;
            put_signed(value);
        }
    }
};

/* Plain data, reached without a constructor's guard. */
struct mine {
    memory *spare;
    context *innermost; /* of the simulated device's operators */
    at::CallbackHandle callback;
    torch::profiler::impl::ProfilerStateBase *reporter;
    bool is_child; /* asked for it by itself, and ends it by itself */
    bool is_known; /* to the key that cleans up when the thread ends */
};
__thread mine here __attribute__((tls_model("initial-exec")));
pthread_key_t thread_end;

void memory_free(void *)
{
    for (memory *m = here.spare; m;) {
        memory *const next = m->next;
        free(m->text);
        free(m->work);
        free(m);
        m = next;
    }
    here.spare = nullptr;
    here.is_known = false;
}

struct context : at::ObserverContext {
    static void *operator new(size_t bytes) noexcept
    {
        memory *m = here.spare;
        if (m) {
            here.spare = m->next;
        } else {
            m = static_cast<memory *>(calloc(1, sizeof(memory) + bytes));
            if (!m)
                return nullptr;
        }
        m->used = 0;
        return m + 1;
    }
    static void operator delete(void *p) noexcept
    {
        memory *const m = static_cast<memory *>(p) - 1;
        if (!here.is_known)
            here.is_known = pthread_setspecific(thread_end, &here) == 0;
        m->next = here.spare;
        here.spare = m;
    }
    memory *own()
    {
        return reinterpret_cast<memory *>(this) - 1;
    }
};

/* ---- inputs ---- */

bool is_plain(const at::Tensor &t)
{
    return t.defined() && !t.unsafeGetTensorImpl()->key_set().has(c10::DispatchKey::NestedTensor) &&
           !t.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

/* Room is looked after once for each input, not for each character: this is what shapes cost. */
enum : size_t { TYPE_MOST = 64, SIZE_MOST = 21 };

char *add(char *to, const char *text, size_t n)
{
    memcpy(to, text, n);
    return to + n;
}

char *add_number(char *to, int64_t value)
{
    if (value >= 0 && value < 10) {
        *to = static_cast<char>('0' + value);
        return to + 1;
    }
    char digits[SIZE_MOST];
    unsigned n = 0;
    uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    do
        digits[SIZE_MOST - ++n] = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        digits[SIZE_MOST - ++n] = '-';
    return add(to, digits + SIZE_MOST - n, n);
}

void put_types(memory *m, c10::ArrayRef<const c10::IValue> inputs)
{
    if (!m->reserve(inputs.size() * (TYPE_MOST + 1)))
        return;
    char *to = m->text + m->used;
    for (size_t i = 0; i < inputs.size(); i++) {
        const c10::IValue &v = inputs[i];
        if (i > 0)
            *to++ = ';';
        if (v.isTensor()) {
            if (!is_plain(v.toTensor())) {
                to = add(to, "None", 4);
            } else {
                const auto name = v.toTensor().dtype().name();
                to = add(to, name.data(), name.size() < TYPE_MOST ? name.size() : size_t{ TYPE_MOST });
            }
        } else if (v.isScalar()) {
            to = add(to, "Scalar", 6);
        } else if (v.isTensorList()) {
            to = add(to, "TensorList", 10);
        } else if (v.isList() && (v.toListRef().empty() || v.toListRef()[0].isScalar())) {
            to = add(to, "ScalarList", 10);
        } else {
            to = add(to, "None", 4);
        }
    }
    m->used = static_cast<size_t>(to - m->text);
}

void put_shapes(memory *m, c10::ArrayRef<const c10::IValue> inputs)
{
    for (size_t i = 0; i < inputs.size(); i++) {
        const bool has_sizes = inputs[i].isTensor() && is_plain(inputs[i].toTensor());
        const auto sizes = has_sizes ? inputs[i].toTensor().sizes() : c10::IntArrayRef();
        if (!m->reserve(sizes.size() * (SIZE_MOST + 1) + 1))
            return;
        char *to = m->text + m->used;
        if (i > 0)
            *to++ = ';';
        for (size_t k = 0; k < sizes.size(); k++) {
            if (k > 0)
                *to++ = ',';
            to = add_number(to, sizes[k]);
        }
        m->used = static_cast<size_t>(to - m->text);
    }
}

void put_tensor(memory *m, const at::Tensor &t, bool is_sim)
{
    const auto name = t.dtype().name();
    const bool is_strided = t.layout() == c10::kStrided;
    const c10::Device device = t.device();
    m->put_pointer(t.unsafeGetTensorImpl());
    m->put(';');
    if (t.has_storage() && t.storage().data())
        m->put_pointer(t.storage().data());
    m->put(';');
    m->put(name.data(), name.size());
    m->put(';');
    m->put_number(t.dtype().itemsize());
    m->put(';');
    m->put_list(t.sizes());
    m->put(';');
    if (is_strided)
        m->put_list(t.strides());
    m->put(';');
    const bool is_on_sim = is_sim && device.type() == c10::DeviceType::CPU;
    m->put_signed(is_on_sim ? int64_t{ ASCOPE_ON_NPU } : static_cast<int64_t>(device.type()));
    m->put(';');
    m->put_signed(is_on_sim ? 0 : device.index());
}

void put_tensors(memory *m, c10::ArrayRef<const c10::IValue> inputs, bool is_sim)
{
    const size_t begin = m->used;
    for (const c10::IValue &v : inputs)
        if (v.isTensor() && is_plain(v.toTensor())) {
            if (m->used > begin)
                m->put(')');
            put_tensor(m, v.toTensor(), is_sim);
        }
}

void put_tensor_lists(memory *m, c10::ArrayRef<const c10::IValue> inputs, bool is_sim)
{
    const size_t begin = m->used;
    for (const c10::IValue &v : inputs)
        if (v.isTensorList()) {
            for (const c10::IValue &element : v.toListRef())
                if (is_plain(element.toTensor())) {
                    put_tensor(m, element.toTensor(), is_sim);
                    m->put(')');
                }
            m->put('}');
        }
    if (m->used > begin)
        m->used--; /* the last one is not closed */
}

void put_scalars(memory *m, c10::ArrayRef<const c10::IValue> inputs)
{
    const size_t begin = m->used;
    for (const c10::IValue &v : inputs)
        if (v.isScalar()) {
            const char *const kind = v.isBool()            ? "Bool"
                                     : v.isInt()           ? "Int"
                                     : v.isDouble()        ? "Double"
                                     : v.isComplexDouble() ? "Complex"
                                                           : "Others";
            if (m->used > begin)
                m->put(';');
            m->put(kind, strlen(kind));
        }
}

template <typename PUT> text_piece piece_of(memory *m, PUT put)
{
    const size_t begin = m->used;
    put();
    if (m->used > TEXTS_MOST) /* rather the operator without it than no operator */
        m->used = begin;
    return { static_cast<uint32_t>(begin), static_cast<uint32_t>(m->used - begin) };
}

text_piece piece_from(memory *m, text_fn source, size_t most)
{
    return piece_of(m, [&] {
        if (source && m->reserve(most))
            m->used += source(m->text + m->used, most);
    });
}

/* ---- the simulated device: a queue, and a thread that launches ---- */

/* Numbers of the device's own interface. */
uint32_t sim_type_of(c10::ScalarType type)
{
    switch (type) {
    case c10::ScalarType::Half: return ASCOPE_SIM_FLOAT16;
    case c10::ScalarType::BFloat16: return ASCOPE_SIM_BF16;
    case c10::ScalarType::Char: return 2;
    case c10::ScalarType::Int: return ASCOPE_SIM_INT32;
    case c10::ScalarType::Byte: return 4;
    case c10::ScalarType::Short: return 6;
    case c10::ScalarType::Long: return ASCOPE_SIM_INT64;
    case c10::ScalarType::Double: return 11;
    case c10::ScalarType::Bool: return 12;
    case c10::ScalarType::ComplexFloat: return 16;
    case c10::ScalarType::ComplexDouble: return 17;
    default: return ASCOPE_SIM_FLOAT;
    }
}

ascope_sim_tensor sim_tensor_of(const at::Tensor &t)
{
    ascope_sim_tensor s{};
    s.type = sim_type_of(t.scalar_type());
    for (const int64_t size : t.sizes())
        if (s.n_dims < ASCOPE_SIM_DIMS)
            s.dim[s.n_dims++] = static_cast<uint32_t>(size);
    return s;
}

enum class work : uint8_t { KERNEL, TO_DEVICE, TO_HOST, COPY };
struct task {
    work what;
    std::string type; /* of the kernel; also what the queue calls it */
    uint64_t id, bytes;
    unsigned n_in, n_out;
    ascope_sim_tensor in[TASK_INPUTS], out[TASK_OUTPUTS];
};

/* How operators of PyTorch are called on the device. Others that compute get a name made from their own. */
const std::unordered_map<std::string, const char *> &sim_types()
{
    static const auto *const types = new std::unordered_map<std::string, const char *>{
        { "mm", "MatMulV3" },
        { "addmm", "MatMulV3" },
        { "mv", "MatMulV2" },
        { "addmv", "MatMulV2" },
        { "dot", "Dot" },
        { "bmm", "BatchMatMulV2" },
        { "baddbmm", "BatchMatMulV2" },
        { "mkldnn_convolution", "Conv2D" },
        { "_slow_conv2d_forward", "Conv2D" },
        { "thnn_conv2d", "Conv2D" },
        { "slow_conv3d_forward", "Conv3D" },
        { "convolution_backward", "Conv2DBackpropInput" },
        { "convolution_overrideable", "Conv2D" },
        { "convolution_backward_overrideable", "Conv2DBackpropInput" },
        { "_scaled_dot_product_flash_attention_for_cpu", "FlashAttentionScore" },
        { "_scaled_dot_product_flash_attention_for_cpu_backward", "FlashAttentionScoreGrad" },
        { "add", "Add" },
        { "add_", "Add" },
        { "sub", "Sub" },
        { "sub_", "Sub" },
        { "rsub", "Sub" },
        { "mul", "Mul" },
        { "mul_", "Mul" },
        { "div", "RealDiv" },
        { "div_", "RealDiv" },
        { "relu", "Relu" },
        { "relu_", "Relu" },
        { "clamp_min", "Relu" },
        { "clamp_min_", "Relu" },
        { "threshold_backward", "ReluGrad" },
        { "gelu", "Gelu" },
        { "gelu_backward", "GeluGrad" },
        { "silu", "Swish" },
        { "silu_backward", "SwishGrad" },
        { "sigmoid", "Sigmoid" },
        { "sigmoid_backward", "SigmoidGrad" },
        { "tanh", "Tanh" },
        { "tanh_backward", "TanhGrad" },
        { "_softmax", "SoftmaxV2" },
        { "_softmax_backward_data", "SoftmaxGrad" },
        { "_log_softmax", "LogSoftmaxV2" },
        { "_log_softmax_backward_data", "LogSoftmaxGrad" },
        { "native_layer_norm", "LayerNormV3" },
        { "native_layer_norm_backward", "LayerNormGradV3" },
        { "native_batch_norm", "BatchNorm" },
        { "native_batch_norm_backward", "BatchNormGrad" },
        { "native_dropout", "DropOutDoMask" },
        { "bernoulli_", "DropOutDoMask" },
        { "nll_loss_forward", "NLLLoss" },
        { "nll_loss_backward", "NLLLossGrad" },
        { "mse_loss", "MseLoss" },
        { "mse_loss_backward", "MseLossGrad" },
        { "max_pool2d_with_indices", "MaxPoolWithArgmaxV1" },
        { "max_pool2d_with_indices_backward", "MaxPoolGradWithArgmaxV1" },
        { "avg_pool2d", "AvgPoolV2" },
        { "sum", "ReduceSum" },
        { "mean", "ReduceMean" },
        { "max", "ReduceMax" },
        { "argmax", "ArgMaxV2" },
        { "topk", "TopKV2" },
        { "cat", "ConcatD" },
        { "_cat", "ConcatD" },
        { "index_select", "GatherV2" },
        { "index", "Index" },
        { "index_put_", "IndexPutV2" },
        { "_index_put_impl_", "IndexPutV2" },
        { "embedding_dense_backward", "EmbeddingDenseGrad" },
        { "_unique2", "Unique" },
        { "zero_", "ZerosLike" },
        { "fill_", "Fill" },
        { "where", "Select" },
        { "masked_fill_", "MaskedFill" },
        { "addcmul_", "Addcmul" },
        { "addcdiv_", "Addcdiv" },
        { "lerp_", "Lerp" },
        { "uniform_", "DSARandomUniform" },
        { "normal_", "DSARandomNormal" },
        { "eq", "Equal" },
        { "ne", "NotEqual" },
        { "gt", "Greater" },
        { "lt", "Less" },
    };
    return *types;
}

/* Look at tensors, or say what they are like, and compute nothing. Views are recognised by their storage. */
const std::unordered_set<std::string> &sim_idle()
{
    static const auto *const idle = new std::unordered_set<std::string>{
        "empty",        "empty_like",     "empty_strided", "new_empty", "new_empty_strided", "resize_",   "resize_as_",
        "set_",         "as_strided_",    "detach_",       "t_",        "transpose_",        "squeeze_",  "unsqueeze_",
        "item",         "is_nonzero",     "is_pinned",     "result_type", "can_cast",        "_nnpack_available",
        "requires_grad_", "retain_grad",  "_version",      "output_nr", "is_same_size",      "size",      "stride",
        "lift",         "lift_fresh",     "alias",         "_has_compatible_shallow_copy_type",
    };
    return *idle;
}

/* "aten::native_group_norm" becomes "NativeGroupNorm". */
std::string type_from(const std::string &name)
{
    std::string type;
    bool is_begin = true;
    for (const char c : name) {
        if (c == '_' || c == '.')
            is_begin = true;
        else
            type += is_begin && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (c != '_' && c != '.')
            is_begin = false;
    }
    return type;
}

/* Bounded: who is faster than the device waits for it, as on a real one. */
struct queue {
    enum : unsigned { TASKS = 1024 };
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER, drained = PTHREAD_COND_INITIALIZER;
    task tasks[TASKS];
    uint64_t n_put = 0, n_done = 0;
    pid_t process = 0;
};
std::atomic<queue *> sim_queue{ nullptr };

void launch(const task &t)
{
    const ascope_sim_kernel kernel = { t.type.c_str(), nullptr, t.in, t.out, t.n_in, t.n_out };
    switch (t.what) {
    case work::KERNEL: ascope_sim_launch(nullptr, &kernel); break;
    case work::TO_DEVICE: ascope_sim_copy(nullptr, ASCOPE_SIM_HOST_TO_DEVICE, t.bytes); break;
    case work::TO_HOST: ascope_sim_copy(nullptr, ASCOPE_SIM_DEVICE_TO_HOST, t.bytes); break;
    case work::COPY: ascope_sim_copy(nullptr, ASCOPE_SIM_DEVICE_TO_DEVICE, t.bytes); break;
    }
}

void *queue_run(void *arg)
{
    queue *const q = static_cast<queue *>(arg);
    pthread_setname_np(pthread_self(), "ascope sim queue");
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (q->n_done == q->n_put)
            pthread_cond_wait(&q->changed, &q->lock);
        const task &t = q->tasks[q->n_done % queue::TASKS]; /* nobody writes it before n_done is beyond it */
        pthread_mutex_unlock(&q->lock);
        const ascope_text name = { t.type.data(), static_cast<uint32_t>(t.type.size()) };
        ascope_queue_point(ASCOPE_DEQUEUE_BEGIN, t.id, name);
        launch(t);
        ascope_queue_point(ASCOPE_DEQUEUE_END, t.id, name);
        pthread_mutex_lock(&q->lock);
        q->n_done++;
        pthread_cond_broadcast(&q->drained);
    }
    return nullptr;
}

/* The queue of this process: a child of fork() has its parent's memory, but not its threads. */
queue *queue_get()
{
    queue *q = sim_queue.load(std::memory_order_acquire);
    if (q && q->process == getpid())
        return q;
    q = new queue;
    q->process = getpid();
    pthread_t thread;
    if (pthread_create(&thread, nullptr, queue_run, q) != 0) {
        delete q;
        return nullptr;
    }
    pthread_detach(thread);
    sim_queue.store(q, std::memory_order_release);
    return q;
}

void queue_put(queue *q, task &&t)
{
    const std::string type = t.type;
    const ascope_text name = { type.data(), static_cast<uint32_t>(type.size()) };
    ascope_queue_point(ASCOPE_ENQUEUE_BEGIN, 0, name);
    pthread_mutex_lock(&q->lock);
    while (q->n_put - q->n_done == queue::TASKS)
        pthread_cond_wait(&q->drained, &q->lock);
    t.id = q->n_put;
    const uint64_t id = t.id;
    q->tasks[id % queue::TASKS] = std::move(t);
    q->n_put++;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
    ascope_queue_point(ASCOPE_ENQUEUE_END, id, name);
}

void queue_drain(queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->n_done != q->n_put)
        pthread_cond_wait(&q->drained, &q->lock);
    pthread_mutex_unlock(&q->lock);
    ascope_sim_synchronize(nullptr);
}

void sim_begin(context *c, const at::RecordFunction &fn)
{
    memory *const m = c->own();
    if (!m->work)
        m->work = static_cast<computation *>(malloc(sizeof(computation)));
    computation *const w = m->work;
    if (!w)
        return;
    w->parent = here.innermost;
    w->has_children = w->is_part_of_one = false;
    w->type = nullptr;
    w->n_in = 0;
    here.innermost = c;
    if (w->parent) {
        computation *const of_parent = w->parent->own()->work;
        of_parent->has_children = true;
        w->is_part_of_one = of_parent->type || of_parent->is_part_of_one;
    }
    if (w->is_part_of_one || strncmp(fn.name(), "aten::", 6) != 0)
        return;
    const auto known = sim_types().find(fn.name() + 6);
    if (known != sim_types().end())
        w->type = known->second;
    const auto add = [w](const at::Tensor &t) {
        if (!is_plain(t) || w->n_in == TASK_INPUTS)
            return;
        w->storage[w->n_in] = t.has_storage() ? t.storage().unsafeGetStorageImpl() : nullptr;
        w->is_dense[w->n_in] = t.layout() == c10::kStrided && t.is_contiguous();
        w->in[w->n_in++] = sim_tensor_of(t);
    };
    for (const c10::IValue &v : fn.inputs())
        if (v.isTensor())
            add(v.toTensor());
        else if (v.isTensorList())
            for (const c10::IValue &element : v.toListRef())
                add(element.toTensor());
}

uint64_t bytes_of(const ascope_sim_tensor &t, uint64_t of_element)
{
    for (unsigned i = 0; i < t.n_dims; i++)
        of_element *= t.dim[i];
    return of_element;
}

/* Which task an operator is, if it is one; false: it computes nothing, or others do it for it. */
bool task_of(const at::RecordFunction &fn, const computation *w, task *t)
{
    const char *const full = fn.name();
    if (w->is_part_of_one || fn.scope() != at::RecordScope::FUNCTION || strncmp(full, "aten::", 6) != 0)
        return false;
    const std::string name = full + 6;
    bool is_new = false; /* memory that no input has */
    uint64_t out_bytes = 0;
    const auto add = [&](const at::Tensor &tensor) {
        if (!is_plain(tensor) || t->n_out == TASK_OUTPUTS)
            return;
        const void *const storage = tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
        bool is_input = false;
        for (unsigned i = 0; i < w->n_in; i++)
            is_input |= storage && storage == w->storage[i];
        is_new |= !is_input;
        t->out[t->n_out++] = sim_tensor_of(tensor);
        out_bytes += bytes_of(t->out[t->n_out - 1], tensor.dtype().itemsize());
    };
    for (const c10::IValue &v : fn.outputs())
        if (v.isTensor())
            add(v.toTensor());
        else if (v.isTensorList())
            for (const c10::IValue &element : v.toListRef())
                add(element.toTensor());
    t->n_in = w->n_in;
    memcpy(t->in, w->in, w->n_in * sizeof *w->in);
    t->bytes = out_bytes;
    t->what = work::KERNEL;
    if (name == "_local_scalar_dense" || name == "lift_fresh") {
        const bool is_down = name[0] == '_';
        t->what = is_down ? work::TO_HOST : work::TO_DEVICE;
        t->type = is_down ? "acl_memcpy_device_to_host" : "acl_memcpy_host_to_device";
        if (is_down)
            t->bytes = 8;
        return is_down || out_bytes > 0;
    }
    if (name == "copy_" && w->n_in >= 2) {
        const bool is_cast = w->in[0].type != w->in[1].type;
        const bool is_straight = w->is_dense[0] && w->is_dense[1];
        t->what = !is_cast && is_straight ? work::COPY : work::KERNEL;
        t->type = is_cast ? "Cast" : is_straight ? "acl_memcpy_device_to_device" : "ViewCopy";
        return out_bytes > 0;
    }
    if (w->type) {
        t->type = w->type;
        return out_bytes > 0;
    }
    if (w->has_children || out_bytes == 0 || sim_idle().count(name) > 0 || (!is_new && name.back() != '_'))
        return false;
    t->type = type_from(name);
    return true;
}

void sim_end(context *c, const at::RecordFunction &fn)
{
    computation *const w = c->own()->work;
    if (!w || here.innermost != c) /* ended on another thread, or out of turn: no place in the tree */
        return;
    queue *const q = sim_queue.load(std::memory_order_acquire);
    task t{};
    const bool is_task = q && ascope_records(ASCOPE_RECORDS_DEVICE) && task_of(fn, w, &t);
    const work what = t.what;
    here.innermost = w->parent;
    if (is_task) {
        queue_put(q, std::move(t));
        if (what == work::TO_HOST)
            queue_drain(q); /* the program reads a number that the device has not computed before */
    }
}

/* ---- operators ---- */

void leave();

void begin(context *c, const at::RecordFunction &fn, unsigned wants)
{
    memory *const m = c->own();
    ascope_op *const op = &m->op;
    op->begin = 0;
    op->sequence = fn.seqNr();
    op->scope = static_cast<uint8_t>(fn.scope());
    op->forward_thread = fn.forwardThreadId();
    if (wants != 0) {
        m->types = m->shapes = m->tensors = m->lists = m->scalars = m->stack = m->modules = { 0, 0 };
        try {
            if (wants & SIM)
                sim_begin(c, fn);
            if (ascope_records(ASCOPE_RECORDS_OPERATORS)) {
                const auto inputs = fn.inputs();
                const bool is_sim = (wants & SIM) != 0;
                if ((wants & SHAPES) && !inputs.empty()) {
                    m->types = piece_of(m, [&] { put_types(m, inputs); });
                    m->shapes = piece_of(m, [&] { put_shapes(m, inputs); });
                }
                if ((wants & STACK) && fn.scope() != at::RecordScope::BACKWARD_FUNCTION)
                    m->stack = piece_from(m, stack_source.load(std::memory_order_relaxed), STACK_MOST);
                if (wants & MODULES)
                    m->modules = piece_from(m, modules_source.load(std::memory_order_relaxed), MODULES_MOST);
                if ((wants & TENSORS) && !inputs.empty()) {
                    m->scalars = piece_of(m, [&] { put_scalars(m, inputs); });
                    m->tensors = piece_of(m, [&] { put_tensors(m, inputs, is_sim); });
                    m->lists = piece_of(m, [&] { put_tensor_lists(m, inputs, is_sim); });
                }
            }
        } catch (...) {
        }
    }
    if (ascope_records(ASCOPE_RECORDS_OPERATORS))
        ascope_op_record_begin(op);
}

template <unsigned WANTS> std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction &fn)
{
    if (!ascope_records(ASCOPE_RECORDS_OPERATORS | ASCOPE_RECORDS_DEVICE)) {
        if (!here.is_child)
            leave();
        return nullptr;
    }
    context *const c = new context;
    if (c)
        begin(c, fn, WANTS);
    return std::unique_ptr<at::ObserverContext>(c);
}

ascope_text text_at(const memory *m, text_piece piece)
{
    return { m->text + piece.at, piece.n };
}

template <unsigned WANTS> void on_end(const at::RecordFunction &fn, at::ObserverContext *context_)
{
    context *const c = static_cast<context *>(context_);
    if (!c)
        return;
    if (WANTS & SIM) {
        try {
            sim_end(c, fn);
        } catch (...) {
        }
    }
    memory *const m = c->own();
    ascope_op *const op = &m->op;
    if (op->begin == 0)
        return;
    op->name = ascope_text_of(fn.name());
    op->is_async = fn.isAsync();
    if (WANTS & ~SIM) {
        op->types = text_at(m, m->types);
        op->shapes = text_at(m, m->shapes);
        op->tensors = text_at(m, m->tensors);
        op->tensor_lists = text_at(m, m->lists);
        op->scalars = text_at(m, m->scalars);
        op->stack = text_at(m, m->stack);
        op->modules = text_at(m, m->modules);
    }
    ascope_op_record_end(op);
    if (WANTS & ~SIM)
        op->types.n = op->shapes.n = op->tensors.n = op->tensor_lists.n = op->scalars.n = op->stack.n = op->modules.n = 0;
}

struct pair {
    at::RecordFunctionCallback::StartCallback begin;
    at::RecordFunctionCallback::EndCallback end;
};
template <size_t... I> constexpr std::array<pair, WANTED_ALL> pairs_of(std::index_sequence<I...>)
{
    return { pair{ on_begin<I>, on_end<I> }... };
}
/* What is wanted is part of the function: it has to travel to autograd's threads, and functions do. */
constexpr auto pairs = pairs_of(std::make_index_sequence<WANTED_ALL>());

/* ---- memory ---- */

enum : int64_t { POOL_PIECE = 2 << 20 };
std::atomic<int64_t> sim_reserved{ 0 };

/* What PyTorch takes for a profiler is of this class, whoever pushed it: it looks at the configuration, which says that PyTorch's own
 * profiler is not at work. */
struct reporter : torch::profiler::impl::ProfilerStateBase {
    const bool is_sim;

    explicit reporter(bool sim)
        : ProfilerStateBase(torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::Disabled, false,
                                                                  true)),
          is_sim(sim)
    {
    }
    torch::profiler::impl::ActiveProfilerType profilerType() override
    {
        return torch::profiler::impl::ActiveProfilerType::NONE;
    }
    bool memoryProfilingEnabled() const override
    {
        return ascope_records(ASCOPE_RECORDS_MEMORY);
    }

    void told(void *pointer, int64_t bytes, int64_t allocated, int64_t reserved, c10::Device device) const noexcept
    {
        const bool is_cpu = device.type() == c10::DeviceType::CPU;
        struct ascope_memory m = {};
        m.pointer = reinterpret_cast<uintptr_t>(pointer);
        m.size_bytes = bytes;
        m.allocated_bytes = allocated;
        m.reserved_bytes = reserved;
        m.device_type = static_cast<uint8_t>(device.type());
        m.device = static_cast<uint8_t>(device.index());
        m.event = is_cpu || bytes >= 0 ? ASCOPE_MALLOC : ASCOPE_FREE; /* the format knows one event of the host */
        ::ascope_memory(&m);
        if (is_cpu && is_sim)
            mirror(m);
    }

    /* A pool that grows by pieces, and gives nothing back. */
    static void mirror(struct ascope_memory m) noexcept
    {
        const int64_t wanted = (m.allocated_bytes + POOL_PIECE - 1) / POOL_PIECE * POOL_PIECE;
        int64_t reserved = sim_reserved.load(std::memory_order_relaxed);
        while (reserved < wanted && !sim_reserved.compare_exchange_weak(reserved, wanted, std::memory_order_relaxed))
            ;
        m.reserved_bytes = reserved < wanted ? wanted : reserved;
        m.active_bytes = m.allocated_bytes;
        m.device_type = ASCOPE_ON_NPU;
        m.device = 0;
        m.event = m.size_bytes < 0 ? ASCOPE_BLOCK_FREE : ASCOPE_MALLOC;
        ::ascope_memory(&m);
        if (m.event == ASCOPE_BLOCK_FREE) {
            m.event = ASCOPE_FREE;
            ::ascope_memory(&m);
        }
    }

    /* The totals are signed in some versions of PyTorch, and not in others: one of these is the one that is called. */
    void reportMemoryUsage(void *pointer, int64_t bytes, int64_t allocated, int64_t reserved, c10::Device device)
    {
        told(pointer, bytes, allocated, reserved, device);
    }
    void reportMemoryUsage(void *pointer, int64_t bytes, size_t allocated, size_t reserved, c10::Device device)
    {
        told(pointer, bytes, static_cast<int64_t>(allocated), static_cast<int64_t>(reserved), device);
    }
};

/* ---- threads that are listened to ---- */

void join(unsigned wants, bool memory, bool is_child)
{
    try {
        const bool needs_inputs = (wants & (SHAPES | TENSORS | SIM)) != 0;
        here.callback = at::addThreadLocalCallback(at::RecordFunctionCallback(pairs[wants].begin, pairs[wants].end)
                                                       .needsInputs(needs_inputs)
                                                       .needsOutputs((wants & SIM) != 0));
        here.is_child = is_child;
        if (memory) {
            auto state = std::make_shared<reporter>((wants & SIM) != 0);
            here.reporter = state.get();
            c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE, std::move(state));
        }
    } catch (...) {
    }
}

/* Somebody else may have pushed a state onto ours and still need it: then ours stays below it, and tells nothing. */
void leave()
{
    try {
        if (here.callback)
            at::removeCallback(std::exchange(here.callback, 0));
        torch::profiler::impl::ProfilerStateBase *const state = std::exchange(here.reporter, nullptr);
        if (state && c10::ThreadLocalDebugInfo::_peek(c10::DebugInfoKind::PROFILER_STATE).get() == state)
            c10::ThreadLocalDebugInfo::_pop(c10::DebugInfoKind::PROFILER_STATE);
    } catch (...) {
    }
    here.is_child = false;
    here.innermost = nullptr;
}

unsigned wanted_of(bool shapes, bool memory, bool stack, bool modules)
{
    return (shapes ? unsigned{ SHAPES } : 0u) | (shapes && memory && (stack || modules) ? unsigned{ TENSORS } : 0u) |
           (stack ? unsigned{ STACK } : 0u) | (modules ? unsigned{ MODULES } : 0u);
}

std::atomic<bool> is_on_sim{ false };

void started(const ascope_options *o, void *)
{
    const bool cpu = (o->activities & ASCOPE_CPU) != 0;
    const bool sim = (o->activities & ASCOPE_NPU) != 0 && o->device && strcmp(o->device, "sim") == 0;
    is_on_sim = sim && queue_get();
    sim_reserved = 0;
    if (!cpu && !is_on_sim)
        return;
    leave(); /* from a session that ended on another thread */
    join((cpu ? wanted_of(o->record_shapes, o->profile_memory, o->with_stack, o->with_modules) : 0u) |
             (is_on_sim ? unsigned{ SIM } : 0u),
         o->profile_memory, false);
}

void stopping(void *)
{
    leave();
    queue *const q = sim_queue.load(std::memory_order_acquire);
    if (is_on_sim.exchange(false) && q && q->process == getpid())
        queue_drain(q);
}

const ascope_listener listener = { started, stopping, nullptr };

/* ---- for the bench: what PyTorch itself takes for observers that do nothing ---- */

std::unique_ptr<at::ObserverContext> nothing_begins(const at::RecordFunction &)
{
    return nullptr;
}
void nothing_ends(const at::RecordFunction &, at::ObserverContext *)
{
}
struct silent : reporter {
    silent() : reporter(false)
    {
    }
    bool memoryProfilingEnabled() const override
    {
        return true;
    }
    void reportMemoryUsage(void *, int64_t, int64_t, int64_t, c10::Device)
    {
    }
    void reportMemoryUsage(void *, int64_t, size_t, size_t, c10::Device)
    {
    }
};

} // namespace

extern "C" {

/* 1: it listens; 0: the library has no room for another listener. */
ASCOPE_API int ascope_torch_listen(void)
{
    static const int is_listening = pthread_key_create(&thread_end, memory_free) == 0 && ascope_listen(&listener);
    return is_listening;
}

ASCOPE_API void ascope_torch_stack_source(size_t (*stack)(char *, size_t), size_t (*modules)(char *, size_t))
{
    stack_source = stack;
    modules_source = modules;
}

ASCOPE_API void ascope_torch_enable_thread(bool shapes, bool memory, bool stack, bool modules)
{
    if (!here.callback)
        join(wanted_of(shapes, memory, stack, modules) | (is_on_sim ? unsigned{ SIM } : 0u), memory, true);
}

ASCOPE_API void ascope_torch_disable_thread(void)
{
    if (here.is_child)
        leave();
}

ASCOPE_API void ascope_torch_empty_begin(bool inputs, bool memory)
{
    here.callback =
        at::addThreadLocalCallback(at::RecordFunctionCallback(nothing_begins, nothing_ends).needsInputs(inputs));
    if (memory) {
        auto state = std::make_shared<silent>();
        here.reporter = state.get();
        c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE, std::move(state));
    }
}

ASCOPE_API void ascope_torch_empty_end(void)
{
    leave();
}

/* Operators that compute nothing, with three inputs, for each a block of memory if asked for: what is measured is who observes them. */
ASCOPE_API void ascope_torch_operators(uint64_t n, bool memory)
{
    c10::Allocator *const allocator = c10::GetCPUAllocator();
    at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
        c10::Storage(c10::Storage::use_byte_size_t(), 64, allocator, false), c10::DispatchKeySet(c10::DispatchKey::CPU),
        caffe2::TypeMeta::Make<float>());
    tensor.unsafeGetTensorImpl()->set_sizes_contiguous({ 4, 4 });
    const std::array<c10::IValue, 3> inputs = { tensor, tensor, 1.0 };
    for (uint64_t i = 0; i < n; i++) {
        at::RecordFunction op(at::RecordScope::FUNCTION);
        if (op.isActive() && op.needsInputs())
            op.before("aten::add", c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()), static_cast<int64_t>(i));
        else if (op.isActive())
            op.before("aten::add", static_cast<int64_t>(i));
        if (memory)
            allocator->allocate(64);
    }
}
}
