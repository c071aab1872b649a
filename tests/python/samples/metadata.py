# SPDX-License-Identifier: Apache-2.0
import torch_npu

from training import *

key, value = "batch", '{"size": 16}'
with torch_npu.profiler.profile(on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("./result")) as prof:
    prof.add_metadata("model", "small")
    prof.add_metadata_json(key, value)
    train_one_step()

with torch_npu.profiler._KinetoProfile() as prof:
    prof.add_metadata_json(key, value)
    train_one_step()
prof.export_chrome_trace("trace.json")
