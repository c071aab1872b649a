# SPDX-License-Identifier: Apache-2.0
"""What the samples of communication streams leave out: a communicator with streams of its own, and what runs on them."""
import torch
import torch.distributed.distributed_c10d as distributed

from training import train_one_step

collective_stream_id, device_id = 5, 0


class _Group:
    def size(self):
        return 1

    def rank(self):
        return 0

    def _get_backend(self, device):
        return self

    def _get_stream_id(self, is_p2p):
        return 6 if is_p2p else collective_stream_id


class _World:
    default_pg = _Group()


distributed._world = _World()
torch.allreduce = torch.send = train_one_step
