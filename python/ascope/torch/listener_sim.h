/* SPDX-License-Identifier: Apache-2.0 */
/* listener_sim.h - operators and collectives for the simulated device; marks of collectives where no device is
 * simulated. */
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <atomic>
#include <memory>
#include <string>

#include "ascope/mark.h"
#include "ascope/session.h"
#include "flops.h"
#include "listener_context.h"

namespace
{

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

/* Those that torch.distributed is called for have their marks from Python, and a group; these are
 * DistributedDataParallel's. */
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

} // namespace
