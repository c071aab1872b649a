/* SPDX-License-Identifier: Apache-2.0 */
/* listener_graphs.h - the operators of a thread that captures a graph: its nodes are of the innermost one
 * (ascope/graph.h).
 *
 * A callback of its own, for the time of a capture alone, with a recording or without. Where an operator was called from
 * is asked of Python. A backward operator has the module of its forward operator, and passes it on to what it calls.
 */
#pragma once

#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <unordered_map>

#include "ascope/graph.h"
#include "listener_context.h"
#include "listener_inputs.h"

namespace
{

/* Writes "NAME\x1fMODULES\x1fSTACK" of the calling thread, and "\x1fTYPES\x1fSHAPES" where it knows better than PyTorch;
 * returns its length. */
using graph_place_fn = size_t (*)(const char *name, char *out, size_t most);
std::atomic<graph_place_fn> graph_place{ nullptr };
std::mutex graph_lock;
std::unordered_map<int64_t, std::string> module_of_sequence;
thread_local std::string graph_modules; /* of the operator that is open */
thread_local at::CallbackHandle graph_callback;

struct graph_context : at::ObserverContext {
    uint32_t outer = 0;
    std::string modules; /* of the operator around it */
    memory inputs{};
    ~graph_context() override { free(inputs.text); }
};

void graph_modules_find(const at::RecordFunction &fn, std::string &modules)
{
    const std::lock_guard<std::mutex> guard(graph_lock);
    if (fn.scope() == at::RecordScope::BACKWARD_FUNCTION) {
        const auto forward = module_of_sequence.find(fn.seqNr());
        if (forward != module_of_sequence.end())
            modules = forward->second;
    } else if (fn.seqNr() >= 0 && !modules.empty()) {
        module_of_sequence.emplace(fn.seqNr(), modules);
    }
    if (modules.empty())
        modules = graph_modules;
}

std::unique_ptr<at::ObserverContext> graph_op_begin(const at::RecordFunction &fn)
{
    enum : size_t { PLACE_MOST = 24000 };
    try {
        auto c = std::make_unique<graph_context>();
        std::string place(PLACE_MOST, '\0');
        text_piece types{}, shapes{};
        const graph_place_fn asks = graph_place.load(std::memory_order_relaxed);
        place.resize(asks ? std::min<size_t>(asks(fn.name(), &place[0], PLACE_MOST), PLACE_MOST) : 0);
        std::array<std::string, 5> part; /* in that order */
        size_t n = 0;
        for (size_t at = 0; n < part.size() && at <= place.size() && !place.empty(); n++) {
            const size_t end = std::min(place.find('\x1f', at), place.size());
            part[n] = place.substr(at, end - at);
            at = end + 1;
        }
        const std::string name = n > 0 ? part[0] : fn.name(), &stack = part[2];
        std::string modules = part[1];
        graph_modules_find(fn, modules);
        if (n < part.size() && !fn.inputs().empty())
            put_inputs(&c->inputs, fn.inputs(), &types, &shapes);
        ascope_graph_op op{};
        op.size = sizeof op;
        op.name = { name.data(), static_cast<uint32_t>(name.size()) };
        op.types = n < part.size() ? ascope_text{ c->inputs.text + types.at, types.n }
                                   : ascope_text{ part[3].data(), static_cast<uint32_t>(part[3].size()) };
        op.shapes = n < part.size() ? ascope_text{ c->inputs.text + shapes.at, shapes.n }
                                    : ascope_text{ part[4].data(), static_cast<uint32_t>(part[4].size()) };
        op.stack = { stack.data(), static_cast<uint32_t>(stack.size()) };
        op.modules = { modules.data(), static_cast<uint32_t>(modules.size()) };
        c->outer = ascope_graph_op_begin(&op);
        c->modules = std::exchange(graph_modules, std::move(modules));
        return c;
    } catch (...) {
        return nullptr;
    }
}

void graph_op_end(const at::RecordFunction &, at::ObserverContext *context_)
{
    auto *const c = static_cast<graph_context *>(context_);
    if (!c)
        return;
    ascope_graph_op_end(c->outer);
    graph_modules.swap(c->modules);
}

void graph_observe(bool is_on)
{
    if (graph_callback)
        at::removeCallback(std::exchange(graph_callback, 0));
    if (is_on)
        graph_callback =
            at::addThreadLocalCallback(at::RecordFunctionCallback(graph_op_begin, graph_op_end).needsInputs(true));
    const std::lock_guard<std::mutex> guard(graph_lock);
    module_of_sequence.clear();
}

} // namespace
