# SPDX-License-Identifier: Apache-2.0
"""What older scripts write, and what libraries ask for."""
import importlib.util

import torch
import torch_npu

for name in ("torch_npu", "torch_npu.npu", "torch_npu.npu.amp", "torch_npu.profiler", "torch_npu.contrib.transfer_to_npu"):
    assert importlib.util.find_spec(name), name
assert torch_npu.contrib and torch_npu.utils and torch_npu.profiler._KinetoProfile

torch.npu.set_option({"NPU_FUZZY_COMPILE_BLACKLIST": "Tril"})
torch_npu.npu.set_mm_bmm_format_nd(True)
assert torch.npu.get_mm_bmm_format_nd() and torch_npu.npu.is_jit_compile_false()
torch.npu.matmul.allow_hf32 = torch.npu.conv.allow_hf32 = False
a = torch.npu.FloatTensor([1, 2]) + torch.npu.HalfTensor([3, 4]).float()
b = a.type("torch.npu.LongTensor").type(torch.npu.IntTensor)
assert b.dtype == torch.int32 and a.tolist() == [4.0, 6.0]
with torch.npu.device(0), torch.npu.device_of(a), torch_npu.npu.device("npu:0"):
    c = torch.zeros(2).npu(0)
torch_npu.npu.set_device("npu:0")
assert torch.npu.is_initialized() and torch.npu.is_bf16_supported() and not torch.npu.get_npu_overflow_flag()
torch.npu.clear_npu_overflow_flag()
torch.npu.init()
with torch.npu.device("npu:1"):
    assert torch.npu.current_device() == 1
assert torch.npu.current_device() == 0
model = torch.nn.LSTM(4, 4).npu()
packed = torch.nn.utils.rnn.pack_sequence([torch.ones(2, 4), torch.ones(1, 4)]).npu()
model(packed)
script = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 2)).npu())
assert script(c).shape == (2,)


@torch.jit.script
def ramp(n: int):
    return torch.arange(n) + torch.ones(n)


assert ramp(3).tolist() == [1.0, 2.0, 3.0]
torch.npu.synchronize()
torch.npu.ipc_collect()
torch.npu.finalize_dump()
