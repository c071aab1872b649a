# SPDX-License-Identifier: Apache-2.0
"""Copies beside the computation, and how long it takes."""
import torch
import torch_npu

side, main = torch.npu.Stream(), torch.npu.current_stream()
assert side != main and side.npu_stream != main.npu_stream and main == torch.npu.default_stream()
begin, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
a = torch.randn(64, 64, device="npu")
begin.record()
side.wait_stream(torch.npu.current_stream())
with torch.npu.stream(side):
    assert torch.npu.current_stream() == side
    b = a @ a
    done = side.record_event()
    b.record_stream(side)
torch.npu.current_stream().wait_event(done)
assert torch.npu.current_stream() == main
c = b + 1
end.record(main)
end.synchronize()
side.synchronize()
assert side.query() and done.query() and begin.elapsed_time(end) > 0
torch.npu.set_stream(side)
assert torch_npu.npu.current_stream() == side
print(repr(side), c.sum().item())
