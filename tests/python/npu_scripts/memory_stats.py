# SPDX-License-Identifier: Apache-2.0
"""How much memory a step takes."""
import torch
import torch_npu  # noqa: F401

MB = 1024**2
torch.npu.empty_cache()
torch.npu.reset_peak_memory_stats()
torch.npu.reset_max_memory_allocated()
free, total = torch.npu.mem_get_info()
assert 0 <= free <= total and total > 0
properties = torch.npu.get_device_properties(torch.npu.current_device())
x = torch.empty(1000, 1000, device="npu:0")
print("%s: %.1f of %.1f MB" % (properties.name, torch.npu.memory_allocated() / MB, properties.total_memory / MB))
stats = torch.npu.memory_stats("npu:0")
print(stats["allocated_bytes.all.peak"], stats["reserved_bytes.large_pool.current"], stats.get("num_ooms", 0))
assert torch.npu.memory_stats_as_nested_dict()["active"]["all"]["peak"] == stats["active.all.peak"]
print(torch.npu.memory_summary(abbreviated=True))
assert torch.npu.max_memory_allocated() <= total and torch.npu.max_memory_reserved("npu:0") <= total
assert torch.npu.memory_reserved() >= 0 and isinstance(torch.npu.memory_snapshot(), list)
torch.npu.set_per_process_memory_fraction(0.9, 0)
try:
    torch.npu.memory._record_memory_history()
except torch.npu.OutOfMemoryError:
    raise AssertionError("there is enough")
except AttributeError as error:
    assert str(error) == "torch.npu.memory._record_memory_history: not available without an NPU"
