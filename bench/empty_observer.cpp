/* SPDX-License-Identifier: Apache-2.0 */
/* empty_observer.cpp - what PyTorch itself takes for observers that do nothing, for bench_torch.py: compiled as the
 * listener is. */
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <array>
#include <utility>

#define API extern "C" __attribute__((visibility("default")))

namespace
{

std::unique_ptr<at::ObserverContext> nothing_begins(const at::RecordFunction &)
{
    return nullptr;
}

void nothing_ends(const at::RecordFunction &, at::ObserverContext *) {}

struct silent : torch::profiler::impl::ProfilerStateBase {
    silent()
        : ProfilerStateBase(
              torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::Disabled, false, true))
    {
    }
    torch::profiler::impl::ActiveProfilerType profilerType() override
    {
        return torch::profiler::impl::ActiveProfilerType::NONE;
    }
    bool memoryProfilingEnabled() const override { return true; }
    /* The totals are signed in some versions of PyTorch, and not in others. */
    void reportMemoryUsage(void *, int64_t, int64_t, int64_t, c10::Device) {}
    void reportMemoryUsage(void *, int64_t, size_t, size_t, c10::Device) {}
};

at::CallbackHandle callback;
bool has_state;

} // namespace

API void empty_begin(bool inputs, bool memory)
{
    callback = at::addThreadLocalCallback(at::RecordFunctionCallback(nothing_begins, nothing_ends).needsInputs(inputs));
    has_state = memory;
    if (memory)
        c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<silent>());
}

API void empty_end(void)
{
    at::removeCallback(callback);
    if (std::exchange(has_state, false))
        c10::ThreadLocalDebugInfo::_pop(c10::DebugInfoKind::PROFILER_STATE);
}

/* Operators that compute nothing, with three inputs, for each a block of memory if asked for: what is measured is who
 * observes them. */
API void empty_operators(uint64_t n, bool memory)
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
            op.before("aten::add", c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()),
                      static_cast<int64_t>(i));
        else if (op.isActive())
            op.before("aten::add", static_cast<int64_t>(i));
        if (memory)
            allocator->allocate(64);
    }
}
