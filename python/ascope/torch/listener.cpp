/* SPDX-License-Identifier: Apache-2.0 */
/* listener.cpp - the observer of PyTorch that records with libascope.
 *
 * PyTorch calls observers around every operator (RecordFunction) and for every allocation and release of memory. They are
 * registered for the profiled threads only, propagate with the thread's state to autograd's threads, and are removed when nothing is
 * recorded. This is the only file that uses PyTorch's C++ interface; it is compiled on first use for the installed PyTorch
 * (_build.py), and offers C functions to the rest.
 *
 * Nothing in here throws into PyTorch: an operator whose inputs cannot be read is recorded without them.
 *
 * With the simulated device, operators are passed to it with their tensors and become kernels. Blocks of host memory are also recorded
 * as device memory.
 */
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "ascope/mark.h"
#include "ascope/record.h"
#include "ascope/session.h"
#include "ascope/sim.h"
#include "flops.h"

namespace
{

enum wanted : unsigned { SHAPES = 1, TENSORS = 2, STACK = 4, MODULES = 8, SIM = 16, FLOPS = 32, WANTED_ALL = 64 };
enum : size_t {
    TEXT_ROOM = 2048,
    STACK_MOST = 16384,
    MODULES_MOST = 4096,
    TEXTS_MOST = 60000
}; /* a record has 64 KiB */

using text_fn = size_t (*)(char *, size_t);
using frame_fn = uint32_t (*)();
std::atomic<text_fn> stack_source{ nullptr }, modules_source{ nullptr };
std::atomic<frame_fn> frame_source{ nullptr };

/* ---- texts of an operator, in memory that is used again ---- */

struct text_piece {
    uint32_t at, n;
};

/* Lies before each context, and stays when that is gone: memory of an operator is given to the next one of the thread. */
struct alignas(16) memory {
    memory *next;
    char *text;
    size_t used, room;
    ascope_sim_op *sim;
    bool is_on_sim;
    uint64_t exchange, flops; /* on the simulated device; a range: 0: none */
    unsigned wants;           /* of the recording that had it last: only those texts have bytes */
    ascope_op op;

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

enum : unsigned { SPARE_MOST = 64 }; /* operators inside of each other, as a rule */

/* Plain data, reached without a constructor's guard. */
struct mine {
    memory *spare;
    unsigned n_spare;
    at::CallbackHandle callback;
    at::CallbackHandle mark_callback; /* of collectives; 0: none */
    torch::profiler::impl::ProfilerStateBase *reporter;
    bool is_child;   /* asked for it by itself, and ends it by itself */
    bool is_known;   /* to the key that cleans up when the thread ends */
    bool is_counted; /* inside an operator whose FLOPs are recorded */
};
__thread mine here __attribute__((tls_model("initial-exec")));
pthread_key_t thread_end;

void memory_free(memory *m)
{
    free(m->text);
    free(m->sim);
    free(m);
}

void spare_free(void *)
{
    while (memory *const m = here.spare) {
        here.spare = m->next;
        memory_free(m);
    }
    here.n_spare = 0;
    here.is_known = false;
}

struct context : at::ObserverContext {
    static void *operator new(size_t bytes) noexcept
    {
        memory *m = here.spare;
        if (m) {
            here.spare = m->next;
            here.n_spare--;
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
        if (here.n_spare == SPARE_MOST) { /* collectives end in threads where none begins */
            memory_free(m);
            return;
        }
        if (!here.is_known)
            here.is_known = pthread_setspecific(thread_end, &here) == 0;
        m->next = here.spare;
        here.spare = m;
        here.n_spare++;
    }
    memory *own() { return reinterpret_cast<memory *>(this) - 1; }
};

/* ---- inputs ---- */

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

/* Names of PyTorch's types that can be copied in one go; filled by names_prepare(). */
struct type_name {
    char text[24];
    uint32_t n; /* 0: longer, or none of PyTorch's */
};
type_name type_names[static_cast<size_t>(c10::ScalarType::NumOptions)];

void names_prepare()
{
    for (size_t i = 0; i < static_cast<size_t>(c10::ScalarType::Undefined); i++) {
        const auto name = c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(i)).name();
        if (name.size() > sizeof type_names[i].text)
            continue;
        memcpy(type_names[i].text, name.data(), name.size());
        type_names[i].n = static_cast<uint32_t>(name.size());
    }
}

char *add_type(char *to, const at::Tensor &t)
{
    const type_name &known = type_names[static_cast<size_t>(t.scalar_type())];
    if (known.n > 0) {
        memcpy(to, known.text, sizeof known.text);
        return to + known.n;
    }
    const auto name = t.dtype().name();
    return add(to, name.data(), name.size() < TYPE_MOST ? name.size() : size_t{ TYPE_MOST });
}

char *add_type(char *to, const c10::IValue &v)
{
    if (v.isScalar())
        return add(to, "Scalar", 6);
    if (v.isTensorList())
        return add(to, "TensorList", 10);
    if (v.isList() && (v.toListRef().empty() || v.toListRef()[0].isScalar()))
        return add(to, "ScalarList", 10);
    return add(to, "None", 4);
}

/* Types and shapes in one go, the former in room that is large enough for them. Apart from what most recordings do not want, it has
 * the registers for itself. */
__attribute__((noinline)) void put_inputs(memory *m, c10::ArrayRef<const c10::IValue> inputs, text_piece *types,
                                          text_piece *shapes)
{
    const size_t begin = m->used, room = inputs.size() * (TYPE_MOST + 1);
    if (!m->reserve(room))
        return;
    size_t type = begin, shape = begin + room;
    m->used = shape;
    for (size_t i = 0; i < inputs.size(); i++) {
        const c10::IValue &v = inputs[i];
        const bool is_plain_tensor = v.isTensor() && is_plain(v.toTensor());
        const auto sizes = is_plain_tensor ? v.toTensor().sizes() : c10::IntArrayRef();
        if (!m->reserve(sizes.size() * (SIZE_MOST + 1) + 1))
            break;
        char *to_type = m->text + type, *to = m->text + shape;
        if (i > 0)
            *to_type++ = *to++ = ';';
        to_type = is_plain_tensor ? add_type(to_type, v.toTensor()) : add_type(to_type, v);
        for (size_t k = 0; k < sizes.size(); k++) {
            if (k > 0)
                *to++ = ',';
            to = add_number(to, sizes[k]);
        }
        type = static_cast<size_t>(to_type - m->text);
        m->used = shape = static_cast<size_t>(to - m->text);
    }
    if (m->used > TEXTS_MOST) {
        m->used = begin;
        return;
    }
    *types = { static_cast<uint32_t>(begin), static_cast<uint32_t>(type - begin) };
    *shapes = { static_cast<uint32_t>(begin + room), static_cast<uint32_t>(shape - begin - room) };
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

/* ---- the simulated device ---- */

uint32_t sim_type_of(c10::ScalarType type)
{
    switch (type) {
    case c10::ScalarType::Half: return ASCOPE_SIM_FLOAT16;
    case c10::ScalarType::BFloat16: return ASCOPE_SIM_BF16;
    case c10::ScalarType::Char: return ASCOPE_SIM_INT8;
    case c10::ScalarType::Int: return ASCOPE_SIM_INT32;
    case c10::ScalarType::Byte: return ASCOPE_SIM_UINT8;
    case c10::ScalarType::Short: return ASCOPE_SIM_INT16;
    case c10::ScalarType::Long: return ASCOPE_SIM_INT64;
    case c10::ScalarType::Double: return ASCOPE_SIM_DOUBLE;
    case c10::ScalarType::Bool: return ASCOPE_SIM_BOOL;
    case c10::ScalarType::ComplexFloat: return ASCOPE_SIM_COMPLEX64;
    case c10::ScalarType::ComplexDouble: return ASCOPE_SIM_COMPLEX128;
    default: return ASCOPE_SIM_FLOAT;
    }
}

/* One more of a list, unless it is full. */
void sim_add(ascope_sim_operand *list, uint32_t *n, uint32_t most, const at::Tensor &t)
{
    if (!is_plain(t) || *n == most)
        return;
    ascope_sim_operand &o = list[(*n)++];
    o.tensor = {};
    o.tensor.type = sim_type_of(t.scalar_type());
    for (const int64_t size : t.sizes())
        if (o.tensor.n_dims < ASCOPE_SIM_DIMS)
            o.tensor.dim[o.tensor.n_dims++] = static_cast<uint32_t>(size);
    o.bytes = static_cast<uint64_t>(t.numel()) * t.dtype().itemsize();
    o.storage = t.has_storage() ? t.storage().unsafeGetStorageImpl() : nullptr;
    o.is_dense = t.layout() == c10::kStrided && t.is_contiguous();
}

template <typename VALUES> void sim_add_all(ascope_sim_operand *list, uint32_t *n, uint32_t most, const VALUES &values)
{
    for (const c10::IValue &v : values)
        if (v.isTensor())
            sim_add(list, n, most, v.toTensor());
        else if (v.isTensorList())
            for (const c10::IValue &element : v.toListRef())
                sim_add(list, n, most, element.toTensor());
}

/* Scopes other than operators, some of which end on another thread, are not passed on. */
void sim_begin(memory *m, const at::RecordFunction &fn)
{
    m->is_on_sim = false;
    if (fn.scope() != at::RecordScope::FUNCTION)
        return;
    if (!m->sim)
        m->sim = static_cast<ascope_sim_op *>(malloc(sizeof(ascope_sim_op)));
    if (!m->sim)
        return;
    ascope_sim_op_begin(m->sim, fn.name());
    m->is_on_sim = true;
    if (m->sim->wants_tensors)
        sim_add_all(m->sim->in, &m->sim->n_in, ASCOPE_SIM_OP_INPUTS, fn.inputs());
}

void sim_end(memory *m, const at::RecordFunction &fn)
{
    if (!m->is_on_sim)
        return;
    try {
        if (m->sim->wants_tensors)
            sim_add_all(m->sim->out, &m->sim->n_out, ASCOPE_SIM_OP_OUTPUTS, fn.outputs());
    } catch (...) {
    }
    if (!ascope_sim_op_end(m->sim))
        m->sim = nullptr; /* another thread has it, and may look at it whenever it wants */
}

std::atomic<uint32_t> world_rank{ 0 }, world_ranks{ 1 };

/* The group that a collective is called of. It travels to the backend's threads, as observers do. */
struct group : c10::DebugInfoBase {
    std::string name;
    uint32_t rank, ranks;
    int32_t peer;
};
constexpr auto GROUP = c10::DebugInfoKind::TEST_INFO_2; /* unused elsewhere */

/* What a backend says of a collective, and what is known of its group. */
ascope_sim_exchange exchange_of(const at::RecordFunction &fn, const group *of)
{
    ascope_sim_exchange x = {};
    x.name = fn.name();
    x.group = of ? of->name.c_str() : "default_group";
    x.rank = of ? of->rank : world_rank.load();
    x.ranks = of ? of->ranks : world_ranks.load();
    x.peer = of ? of->peer : -1;
    for (const c10::IValue &v : fn.inputs())
        if (v.isTensor() && is_plain(v.toTensor())) {
            x.bytes += static_cast<uint64_t>(v.toTensor().numel()) * v.toTensor().dtype().itemsize();
            x.type = sim_type_of(v.toTensor().scalar_type());
        }
    return x;
}

const group *group_here()
{
    return static_cast<const group *>(c10::ThreadLocalDebugInfo::get(GROUP));
}

/* Collectives: PyTorch's backends report when one begins and when it has ended, in some thread. */
void exchange_begin(memory *m, const at::RecordFunction &fn)
{
    if (fn.scope() != at::RecordScope::USER_SCOPE || !fn.isAsync())
        return;
    const ascope_sim_exchange x = exchange_of(fn, group_here());
    m->exchange = ascope_sim_exchange_begin(&x);
}

/* ---- marks of collectives, where no device is simulated ---- */

struct marked : at::ObserverContext {
    uint64_t range = 0;
};

/* Those that torch.distributed is called for have their marks from Python, and a group; these are DistributedDataParallel's. */
std::unique_ptr<at::ObserverContext> mark_begin(const at::RecordFunction &fn)
{
    if (!fn.isAsync() || !ascope_records(ASCOPE_RECORDS_MARKS) || group_here())
        return nullptr;
    try {
        auto m = std::make_unique<marked>();
        const ascope_sim_exchange x = exchange_of(fn, nullptr);
        m->range = ascope_sim_exchange_mark(&x);
        return m;
    } catch (...) {
        return nullptr;
    }
}

void mark_end(const at::RecordFunction &, at::ObserverContext *context)
{
    if (context)
        ascope_range_end(ascope_domain_get(ASCOPE_COLLECTIVES), static_cast<marked *>(context)->range);
}

/* ---- FLOPs, as ranges of marks ---- */

ascope_domain *flops_domain()
{
    static ascope_domain *const domain = ascope_domain_get("mfu_flops");
    return domain;
}

/* What an operator calls is part of it. */
void flops_begin(memory *m, const at::RecordFunction &fn)
{
    static const char prefix[] = "aten::";
    const size_t n = sizeof prefix - 1;
    if (here.is_counted || fn.scope() != at::RecordScope::FUNCTION || strncmp(fn.name(), prefix, n) != 0)
        return;
    const int64_t flops = flops_of(fn.name() + n, fn.inputs());
    if (flops < 0)
        return;
    char text[128];
    snprintf(text, sizeof text, "%lld-%s", static_cast<long long>(flops), fn.name() + n);
    m->flops = ascope_range_begin(flops_domain(), text, nullptr);
    here.is_counted = m->flops != 0;
}

void flops_end(memory *m)
{
    if (m->flops == 0)
        return;
    ascope_range_end(flops_domain(), m->flops);
    here.is_counted = false;
}

/* ---- operators ---- */

void leave();

ascope_text text_at(const memory *m, text_piece piece)
{
    return { m->text + piece.at, piece.n };
}

/* What is wanted besides name and times. */
void look(memory *m, const at::RecordFunction &fn, unsigned wants)
{
    text_piece types{}, shapes{}, tensors{}, lists{}, scalars{}, stack{}, modules{};
    m->exchange = m->flops = 0;
    m->op.frame = 0;
    try {
        if (wants & SIM)
            sim_begin(m, fn);
        if (wants & FLOPS)
            flops_begin(m, fn);
        if (ascope_records(ASCOPE_RECORDS_OPERATORS)) {
            const auto inputs = fn.inputs();
            const bool is_sim = (wants & SIM) != 0;
            if ((wants & SHAPES) && !inputs.empty())
                put_inputs(m, inputs, &types, &shapes);
            if ((wants & STACK) && fn.scope() != at::RecordScope::BACKWARD_FUNCTION) {
                const frame_fn source = frame_source.load(std::memory_order_relaxed);
                m->op.frame = source && !fn.isAsync() ? source() : 0; /* else another thread ends it */
                if (m->op.frame == 0)
                    stack = piece_from(m, stack_source.load(std::memory_order_relaxed), STACK_MOST);
            }
            if (wants & MODULES)
                modules = piece_from(m, modules_source.load(std::memory_order_relaxed), MODULES_MOST);
            if ((wants & TENSORS) && !inputs.empty()) {
                scalars = piece_of(m, [&] { put_scalars(m, inputs); });
                tensors = piece_of(m, [&] { put_tensors(m, inputs, is_sim); });
                lists = piece_of(m, [&] { put_tensor_lists(m, inputs, is_sim); });
            }
        }
    } catch (...) {
    }
    ascope_op *const op = &m->op; /* now that the texts are where they stay */
    if (wants & SHAPES) {
        op->types = text_at(m, types);
        op->shapes = text_at(m, shapes);
    }
    if (wants & TENSORS) {
        op->tensors = text_at(m, tensors);
        op->tensor_lists = text_at(m, lists);
        op->scalars = text_at(m, scalars);
    }
    if (wants & STACK)
        op->stack = text_at(m, stack);
    if (wants & MODULES)
        op->modules = text_at(m, modules);
}

/* Types and shapes alone: what most recordings want, without the room for all else. */
void look_at_shapes(memory *m, const at::RecordFunction &fn)
{
    text_piece types{}, shapes{};
    try {
        const auto inputs = fn.inputs();
        if (!inputs.empty() && ascope_records(ASCOPE_RECORDS_OPERATORS))
            put_inputs(m, inputs, &types, &shapes);
    } catch (...) {
    }
    m->op.types = text_at(m, types);
    m->op.shapes = text_at(m, shapes);
}

template <unsigned WANTS> std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction &fn)
{
    if (!ascope_records(ASCOPE_RECORDS_OPERATORS | ASCOPE_RECORDS_DEVICE |
                        (WANTS & FLOPS ? ASCOPE_RECORDS_MARKS : 0))) {
        if (!here.is_child)
            leave();
        return nullptr;
    }
    context *const c = new context;
    if (!c)
        return nullptr;
    memory *const m = c->own();
    ascope_op *const op = &m->op;
    if (m->wants != WANTS) {
        *op = {};
        m->wants = WANTS;
    }
    op->size = sizeof *op;
    op->begin = 0;
    op->sequence = fn.seqNr();
    op->scope = static_cast<uint8_t>(fn.scope());
    op->forward_thread = fn.forwardThreadId();
    if (WANTS == SHAPES)
        look_at_shapes(m, fn);
    else if (WANTS != 0)
        look(m, fn, WANTS);
    if (ascope_records(ASCOPE_RECORDS_OPERATORS))
        ascope_op_record_begin(op);
    if (WANTS & SIM) {
        try {
            exchange_begin(m, fn);
        } catch (...) {
        }
    }
    return std::unique_ptr<at::ObserverContext>(c);
}

template <unsigned WANTS> void on_end(const at::RecordFunction &fn, at::ObserverContext *context_)
{
    context *const c = static_cast<context *>(context_);
    if (!c)
        return;
    memory *const m = c->own();
    if (WANTS & SIM) {
        sim_end(m, fn);
        if (m->exchange != 0)
            ascope_sim_exchange_end(m->exchange);
    }
    ascope_op *const op = &m->op;
    if (op->begin != 0) {
        op->name = ascope_text_of(fn.name());
        op->is_async = fn.isAsync();
        ascope_op_record_end(op);
    }
    if (WANTS & FLOPS)
        flops_end(m);
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
        : ProfilerStateBase(
              torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::Disabled, false, true)),
          is_sim(sim)
    {
    }
    torch::profiler::impl::ActiveProfilerType profilerType() override
    {
        return torch::profiler::impl::ActiveProfilerType::NONE;
    }
    bool memoryProfilingEnabled() const override { return ascope_records(ASCOPE_RECORDS_MEMORY); }

    void record(void *pointer, int64_t bytes, int64_t allocated, int64_t reserved, c10::Device device) const noexcept
    {
        const bool is_cpu = device.type() == c10::DeviceType::CPU;
        struct ascope_memory m = {};
        m.size = sizeof m;
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
        record(pointer, bytes, allocated, reserved, device);
    }
    void reportMemoryUsage(void *pointer, int64_t bytes, size_t allocated, size_t reserved, c10::Device device)
    {
        record(pointer, bytes, static_cast<int64_t>(allocated), static_cast<int64_t>(reserved), device);
    }
};

/* ---- threads that are listened to ---- */

std::atomic<bool> is_on_sim{ false };

/* Not while PyTorch's own profiler is the one of this thread: it takes every state for its own. */
void memory_begin()
{
    if (c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE))
        return;
    auto state = std::make_shared<reporter>(is_on_sim);
    here.reporter = state.get();
    c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE, std::move(state));
}

/* Another state may have been pushed onto ours and still be in use: then ours stays below it and records nothing. */
void memory_end()
{
    torch::profiler::impl::ProfilerStateBase *const state = std::exchange(here.reporter, nullptr);
    if (state && c10::ThreadLocalDebugInfo::_peek(c10::DebugInfoKind::PROFILER_STATE).get() == state)
        c10::ThreadLocalDebugInfo::_pop(c10::DebugInfoKind::PROFILER_STATE);
}

void join(unsigned wants, bool memory, bool is_child)
{
    try {
        const bool needs_inputs = (wants & (SHAPES | TENSORS | SIM | FLOPS)) != 0;
        here.callback = at::addThreadLocalCallback(at::RecordFunctionCallback(pairs[wants].begin, pairs[wants].end)
                                                       .needsInputs(needs_inputs)
                                                       .needsOutputs((wants & SIM) != 0));
        if (!(wants & SIM) && ascope_records(ASCOPE_RECORDS_MARKS))
            here.mark_callback = at::addThreadLocalCallback(at::RecordFunctionCallback(mark_begin, mark_end)
                                                                .needsInputs(true)
                                                                .scopes({ at::RecordScope::USER_SCOPE }));
        here.is_child = is_child;
        if (memory)
            memory_begin();
    } catch (...) {
    }
}

void leave()
{
    try {
        if (here.callback)
            at::removeCallback(std::exchange(here.callback, 0));
        if (here.mark_callback)
            at::removeCallback(std::exchange(here.mark_callback, 0));
        memory_end();
    } catch (...) {
    }
    here.is_child = here.is_counted = false;
}

unsigned wanted_of(bool shapes, bool memory, bool stack, bool modules, bool flops)
{
    return (flops ? unsigned{ FLOPS } : 0u) | (shapes ? unsigned{ SHAPES } : 0u) |
           (shapes && memory && (stack || modules) ? unsigned{ TENSORS } : 0u) | (stack ? unsigned{ STACK } : 0u) |
           (modules ? unsigned{ MODULES } : 0u);
}

std::atomic<uint32_t> of_children{ 0 }; /* what threads have asked for, beyond what is recorded of all */

void started(const ascope_options *o, void *)
{
    const bool cpu = (o->activities & ASCOPE_CPU) != 0;
    const bool sim = (o->activities & ASCOPE_NPU) != 0 && o->device && strcmp(o->device, "sim") == 0;
    ascope_record_also(of_children);
    is_on_sim = sim;
    sim_reserved = 0;
    const bool flops = o->with_flops && ascope_records(ASCOPE_RECORDS_MARKS);
    leave(); /* from a session that ended on another thread */
    if (!cpu && !is_on_sim && !flops)
        return;
    join((cpu ? wanted_of(o->record_shapes, o->profile_memory, o->with_stack, o->with_modules, flops)
              : wanted_of(false, false, false, false, flops)) |
             (is_on_sim ? unsigned{ SIM } : 0u),
         o->profile_memory, false);
}

void stopping(void *)
{
    leave();
    if (is_on_sim.exchange(false))
        ascope_sim_ops_wait();
}

const ascope_listener listener = { sizeof(ascope_listener), started, stopping, nullptr };

} // namespace

extern "C" {

/* 1: it listens; 0: the library has no room for another listener. */
ASCOPE_API int ascope_torch_listen(void)
{
    static const int is_listening =
        (names_prepare(), pthread_key_create(&thread_end, spare_free) == 0 && ascope_listen(&listener));
    return is_listening;
}

ASCOPE_API void ascope_torch_stack_source(size_t (*stack)(char *, size_t), size_t (*modules)(char *, size_t),
                                          uint32_t (*frame)())
{
    frame_source = frame;
    stack_source = stack;
    modules_source = modules;
}

ASCOPE_API void ascope_torch_enable_thread(bool shapes, bool memory, bool stack, bool modules, bool flops)
{
    const uint32_t also = (shapes ? uint32_t{ ASCOPE_RECORDS_SHAPES } : 0u) |
                          (stack ? uint32_t{ ASCOPE_RECORDS_STACK } : 0u) |
                          (modules ? uint32_t{ ASCOPE_RECORDS_MODULES } : 0u);
    of_children |= also;
    ascope_record_also(also);
    if (!here.callback)
        join(wanted_of(shapes, memory, stack, modules, flops) | (is_on_sim ? unsigned{ SIM } : 0u), memory, true);
}

/* Switches the recording of this thread's memory, if it is observed; PyTorch's own profiler cannot begin while it is on. */
ASCOPE_API void ascope_torch_memory(bool is_on)
{
    try {
        if (!is_on)
            memory_end();
        else if (here.callback)
            memory_begin();
    } catch (...) {
    }
}

/* Who this process is among all, for collectives on the simulated device. */
ASCOPE_API void ascope_torch_world(uint32_t rank, uint32_t ranks)
{
    world_rank = rank;
    world_ranks = ranks;
}

/* Collectives that this thread calls from now on are of that group; false: nothing has changed. NULL: no longer. */
ASCOPE_API bool ascope_torch_group(const char *name, uint32_t rank, uint32_t ranks, int32_t peer)
{
    try {
        if (name) {
            auto g = std::make_shared<group>();
            g->name = name;
            g->rank = rank;
            g->ranks = ranks;
            g->peer = peer;
            c10::ThreadLocalDebugInfo::_push(GROUP, std::move(g));
        } else {
            c10::ThreadLocalDebugInfo::_pop(GROUP);
        }
        return true;
    } catch (...) {
        return false;
    }
}

ASCOPE_API void ascope_torch_disable_thread(void)
{
    if (here.is_child)
        leave();
}
}
