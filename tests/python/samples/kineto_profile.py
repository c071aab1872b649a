# SPDX-License-Identifier: Apache-2.0
import torch
import torch_npu

from training import *

prof = torch_npu.profiler._KinetoProfile(activities=None, record_shapes=False, profile_memory=False, with_stack=False,
                                         with_flops=False, with_modules=False, experimental_config=None)
for epoch in range(epochs):
    train_model_step()
    if epoch == 0:
        prof.start()
    if epoch == 1:
        prof.stop()
prof.export_chrome_trace("result_dir/trace.json")
