# SPDX-License-Identifier: Apache-2.0
import torch
import torch_npu

from training import *
from training_streams import *

prof = torch_npu.profiler.profile(
    on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("./result"),
    experimental_config=torch_npu.profiler._ExperimentalConfig(mstx=True))
prof.start()

# Mark IDs on the collective communication stream:
from torch.distributed.distributed_c10d import _world
if (torch.__version__ != '1.11.0') :
    stream_id = _world.default_pg._get_backend(torch.device('npu'))._get_stream_id(False)
    collective_stream = torch.npu.Stream(stream_id=collective_stream_id, device_type=20, device_index=device_id)  # Use device_index to specify device IDs of actual services.
else:
    stream_id = _world.default_pg._get_stream_id(False)
    current_stream = torch.npu.current_stream()
    cdata = current_stream._cdata & 0xffff000000000000
    collective_stream = torch.npu.Stream(_cdata=( stream_id + cdata), device_index=device_id)  # Use device_index to specify device IDs of actual services.
id = torch_npu.npu.mstx.range_start("allreduce", collective_stream)    # Set the second input parameter to a valid stream, record the range durations on the host and devices.
torch.allreduce()    # Collective communication stream operations.
torch_npu.npu.mstx.range_end(id)

torch.__version__ = '1.11.0'

# Mark IDs on the P2P communication stream:
from torch.distributed.distributed_c10d import _world
if (torch.__version__ != '1.11.0') :
    stream_id = _world.default_pg._get_backend(torch.device('npu'))._get_stream_id(True)
    p2p_stream = torch.npu.Stream(stream_id=collective_stream_id, device_type=20, device_index=device_id)  # Use device_index to specify device IDs of actual services.
else:
    stream_id = _world.default_pg._get_stream_id(True)
    current_stream = torch.npu.current_stream()
    cdata = current_stream._cdata & 0xffff000000000000
    p2p_stream = torch.npu.Stream(_cdata=( stream_id + cdata), device_index=device_id)  # Use device_index to specify device IDs of actual services.
id = torch_npu.npu.mstx.range_start("send", p2p_stream)  # Set the second input parameter to a valid stream, record the range durations on the host and devices.
torch.send()
torch_npu.npu.mstx.range_end(id)

prof.stop()
