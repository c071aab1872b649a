/* SPDX-License-Identifier: Apache-2.0 */
/* listener_memory.h - allocations and releases of memory, as PyTorch reports them to profilers. */
#pragma once

#include <c10/core/Allocator.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <atomic>

#include "ascope/record.h"
#include "ascope/session.h"

namespace
{

enum : int64_t { POOL_PIECE = 2 << 20 };
std::atomic<int64_t> sim_reserved{ 0 };

/* What PyTorch takes for a profiler is of this class, whoever pushed it: it looks at the configuration, which says that
 * PyTorch's own profiler is not at work. */
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
        const ascope_memory_kind kind = {
            static_cast<uint8_t>(device.type()), static_cast<uint8_t>(device.index()),
            static_cast<uint8_t>(is_cpu || bytes >= 0 ? ASCOPE_MALLOC
                                                      : ASCOPE_FREE), /* the format knows one event of the host */
            false, 0
        };
        ascope_memory_changed(kind, reinterpret_cast<uintptr_t>(pointer), bytes, allocated, reserved);
        if (__builtin_expect(is_cpu && is_sim, 0))
            mirror(pointer, bytes, allocated);
    }

    /* A pool that grows by pieces, and gives nothing back. */
    static __attribute__((noinline)) void mirror(void *pointer, int64_t bytes, int64_t allocated) noexcept
    {
        struct ascope_memory m = {};
        m.size = sizeof m;
        m.pointer = reinterpret_cast<uintptr_t>(pointer);
        m.size_bytes = bytes;
        m.allocated_bytes = allocated;
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

} // namespace
