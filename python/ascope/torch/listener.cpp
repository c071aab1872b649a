/* SPDX-License-Identifier: Apache-2.0 */
/* listener.cpp - the observer of PyTorch that records with libascope.
 *
 * PyTorch calls observers around every operator (RecordFunction) and for every allocation and release of memory. They
 * are registered for the profiled threads only, propagate with the thread's state to autograd's threads, and are
 * removed when nothing is recorded. This file and the headers beside it are all that uses PyTorch's C++ interface; they
 * are compiled as one on first use for the installed PyTorch (_build.py), and offer C functions to the rest.
 *
 * Nothing in here throws into PyTorch: an operator whose inputs cannot be read is recorded without them.
 *
 * With the simulated device, operators are passed to it with their tensors and become kernels. Blocks of host memory
 * are also recorded as device memory.
 */
#include <ATen/record_function.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "ascope/mark.h"
#include "ascope/record.h"
#include "ascope/session.h"
#include "ascope/sim.h"
#include "flops.h"
#include "listener_collectives.h"
#include "listener_context.h"
#include "listener_graphs.h"
#include "listener_inputs.h"
#include "listener_labels.h"
#include "listener_memory.h"
#include "listener_sim.h"

namespace
{

enum wanted : unsigned { SHAPES = 1, TENSORS = 2, STACK = 4, MODULES = 8, SIM = 16, FLOPS = 32, WANTED_ALL = 64 };
enum : size_t { STACK_MOST = 16384, MODULES_MOST = 4096 };

using text_fn = size_t (*)(char *, size_t);
using frame_fn = uint32_t (*)();
std::atomic<text_fn> stack_source{ nullptr }, modules_source{ nullptr };
std::atomic<frame_fn> frame_source{ nullptr };

/* ---- FLOPs, as ranges of marks ---- */

ascope_domain *flops_domain()
{
    static ascope_domain *const domain = ascope_domain_get("mfu_flops");
    return domain;
}

/* What an operator calls is part of it. */
void flops_begin(memory *m, const at::RecordFunction &fn)
{
    const char *const name = strncmp(fn.name(), "aten::", 6) == 0 || strncmp(fn.name(), "npu::", 5) == 0
                                 ? strchr(fn.name(), ':') + 2
                                 : nullptr;
    if (here.is_counted || fn.scope() != at::RecordScope::FUNCTION || !name)
        return;
    const int64_t flops = flops_of(name, fn.inputs());
    if (flops < 0)
        return;
    char text[128];
    snprintf(text, sizeof text, "%lld-%s", static_cast<long long>(flops), name);
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

text_piece piece_from(memory *m, text_fn source, size_t most)
{
    return piece_of(m, [&] {
        if (source && m->reserve(most))
            m->used += source(m->text + m->used, most);
    });
}

ascope_text text_at(const memory *m, text_piece piece)
{
    return { m->text + piece.at, piece.n };
}

using inputs_of = c10::ArrayRef<const c10::IValue>;

/* Where its label is, or will be; nullptr: it has none, as one that another thread may end. */
inline __attribute__((always_inline)) ascope_label *label_of(const at::RecordFunction &fn, bool with_shapes)
{
    static_assert(static_cast<int>(at::RecordScope::FUNCTION) == 0 &&
                  static_cast<int>(at::RecordScope::BACKWARD_FUNCTION) == 1);
    if (__builtin_expect(fn.scope() > at::RecordScope::BACKWARD_FUNCTION || fn.isAsync(), 0))
        return nullptr;
    label_table *const t = label_table_here();
    return t ? label_find(t, fn.name(), with_shapes ? fn.inputs() : inputs_of()) : nullptr;
}

/* The label of an operator that came before, else its types and shapes as texts; when it comes for the second time they
 * are announced. */
void put_label(memory *m, const at::RecordFunction &fn, ascope_label *label, bool with_shapes, text_piece *types,
               text_piece *shapes)
{
    ascope_op *const op = &m->op;
    if (label && label->number != 0) {
        op->label = label->number;
        op->label_turn = label->turn;
        return;
    }
    const inputs_of inputs = with_shapes ? fn.inputs() : inputs_of();
    if (!inputs.empty())
        put_inputs(m, inputs, types, shapes);
    if (!label || collective_is(fn.name()))
        return;
    op->name = ascope_text_of(fn.name());
    op->types = text_at(m, *types);
    op->shapes = text_at(m, *shapes);
    if (ascope_op_label(op)) {
        *label = { op->label, op->label_turn };
        *types = *shapes = {};
    }
}

/* What is wanted besides name and times. */
void look(memory *m, const at::RecordFunction &fn, unsigned wants, ascope_label *label)
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
            put_label(m, fn, label, (wants & SHAPES) != 0, &types, &shapes);
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
    op->types = text_at(m, types);
    op->shapes = text_at(m, shapes);
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

/* Everything but what is a number already. */
template <unsigned WANTS>
__attribute__((noinline)) void begin_whole(context *c, const at::RecordFunction &fn, ascope_label *label)
{
    memory *const m = c->own();
    ascope_op *const op = &m->op;
    if (m->wants != WANTS) {
        *op = {};
        m->wants = WANTS;
    }
    m->used = 0;
    op->size = sizeof *op;
    op->begin = 0;
    op->sequence = fn.seqNr();
    op->scope = static_cast<uint8_t>(fn.scope());
    op->forward_thread = fn.forwardThreadId();
    op->is_async = false;
    op->label = 0;
    look(m, fn, WANTS, label);
    if (!(WANTS & SIM)) {
        try {
            collective_note(fn.name());
        } catch (...) {
        }
    }
    if (ascope_records(ASCOPE_RECORDS_OPERATORS))
        ascope_op_record_begin(op);
    if (WANTS & SIM) {
        try {
            exchange_begin(m, fn);
        } catch (...) {
        }
    }
}

/* An operator that came before is its label, and the frame that called it. */
template <unsigned WANTS>
inline __attribute__((always_inline)) bool begin_again(context *c, const at::RecordFunction &fn,
                                                       const ascope_label *label)
{
    if ((WANTS & ~(SHAPES | STACK)) != 0 || !label || label->number == 0)
        return false;
    if (WANTS & STACK) {
        const frame_fn source = frame_source.load(std::memory_order_relaxed);
        const bool has_stack = fn.scope() != at::RecordScope::BACKWARD_FUNCTION;
        c->frame = has_stack && source ? source() : 0;
        if (has_stack && c->frame == 0)
            return false;
    }
    c->label = *label;
    c->sequence = fn.seqNr();
    c->forward_thread = fn.forwardThreadId();
    c->scope = static_cast<uint8_t>(fn.scope());
    c->begin = ascope_now(); /* last: what is done here is not the operator's */
    return true;
}

std::atomic<bool> has_own_steps{ false };

/* PyTorch's own profiler names the ranges of its steps as ours does. Where both mark steps, a step is what ours says:
 * the ranges of the other one begin and end elsewhere, and enclose everything. */
bool is_other_step(const at::RecordFunction &fn)
{
    static const char step[] = "ProfilerStep#";
    return fn.scope() == at::RecordScope::USER_SCOPE && strncmp(fn.name(), step, sizeof step - 1) == 0 &&
           has_own_steps.load(std::memory_order_relaxed);
}

template <unsigned WANTS> std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction &fn)
{
    const uint32_t what = __atomic_load_n(&ascope_recording, __ATOMIC_RELAXED);
    if (__builtin_expect(
            !(what & (ASCOPE_RECORDS_OPERATORS | ASCOPE_RECORDS_DEVICE | (WANTS & FLOPS ? ASCOPE_RECORDS_MARKS : 0))),
            0)) {
        if (!here.is_child)
            leave();
        return nullptr;
    }
    context *const c = new context;
    if (__builtin_expect(!c, 0))
        return nullptr;
    ascope_label *label = nullptr;
    try {
        if (__builtin_expect(what & ASCOPE_RECORDS_OPERATORS, 1))
            label = label_of(fn, (WANTS & SHAPES) != 0);
    } catch (...) {
    }
    if (__builtin_expect(!begin_again<WANTS>(c, fn, label), 0)) {
        if (is_other_step(fn)) {
            delete c;
            return nullptr;
        }
        c->label.number = 0;
        begin_whole<WANTS>(c, fn, label);
    }
    return std::unique_ptr<at::ObserverContext>(c);
}

template <unsigned WANTS> __attribute__((noinline)) void end_whole(memory *m, const at::RecordFunction &fn)
{
    if (WANTS & SIM) {
        sim_end(m, fn);
        if (m->exchange != 0)
            ascope_sim_exchange_end(m->exchange);
    }
    ascope_op *const op = &m->op;
    if (op->begin != 0) {
        if (op->label == 0) {
            op->name = ascope_text_of(fn.name());
            op->is_async = fn.isAsync();
        }
        ascope_op_record_end(op);
    }
    if (WANTS & FLOPS)
        flops_end(m);
}

template <unsigned WANTS> void on_end(const at::RecordFunction &fn, at::ObserverContext *context_)
{
    context *const c = static_cast<context *>(context_);
    if (!c)
        return;
    if (__builtin_expect(c->label.number != 0, 1))
        ascope_op_again(c->label, c->begin, c->sequence, c->forward_thread, WANTS & STACK ? c->frame : 0, c->scope);
    else
        end_whole<WANTS>(c->own(), fn);
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

/* Switches the recording of this thread's memory, if it is observed; PyTorch's own profiler cannot begin while it is
 * on. */
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

/* The profiler that listens marks steps itself. */
ASCOPE_API void ascope_torch_own_steps(bool marks)
{
    has_own_steps = marks;
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

/* A capture begins or ends on this thread. */
ASCOPE_API void ascope_torch_graph(graph_place_fn place, bool is_on)
{
    try {
        if (is_on)
            graph_place = place;
        graph_observe(is_on);
    } catch (...) {
    }
}

ASCOPE_API void ascope_torch_disable_thread(void)
{
    if (here.is_child)
        leave();
}
}
