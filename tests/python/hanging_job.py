# SPDX-License-Identifier: Apache-2.0
"""hanging_job.py DIR: for each line of standard input, "SCENARIO", starts three ranks that hang in that way, and prints their pids; for the
next line it kills them. PyTorch is imported once."""
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

from ascope.torch import dynamic_profile

WORLD, ODD = 3, 1


class Data(torch.utils.data.Dataset):
    def __init__(self, hangs):
        self.hangs = hangs

    def __len__(self):
        return 4

    def __getitem__(self, i):
        if self.hangs and i == 2:
            time.sleep(1e6)  # LOADER
        return i


def spin():
    while True:  # SPIN
        pass


def odd(what, groups):
    """What the odd rank does instead of the last collective."""
    if what == "sleep":
        time.sleep(1e6)  # SLEEP
    if what == "spin":
        spin()
    if what == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)  # STOP
    if what == "mismatch":
        dist.broadcast(torch.ones(4), 0)  # MISMATCH
    if what == "cycle":
        dist.all_reduce(torch.ones(4), group=groups[1])  # CYCLE
    if what == "dead":
        os._exit(0)
    if what == "async":
        work = dist.all_reduce(torch.ones(4), async_op=True)
        time.sleep(1e6)  # ASYNC
        work.wait()
    if what == "transfer":
        dist.recv(torch.ones(4), 0)  # RECV


def others(what, rank, groups):
    if what == "cycle" and rank == 0:
        dist.all_reduce(torch.ones(4), group=groups[0])  # FIRST
    if what == "async":
        dist.all_reduce(torch.ones(4))
    if what == "dead":
        time.sleep(1e6)


def train(what, rank, place):
    dist.init_process_group("gloo", init_method="file://%s/store" % place, rank=rank, world_size=WORLD)
    dynamic_profile.init(place)
    groups = [dist.new_group([0, 1]), dist.new_group([0, 1])]
    for _ in torch.utils.data.DataLoader(Data(what == "loader" and rank == ODD), num_workers=1):  # NEXT
        dist.all_reduce(torch.ones(4))
        dynamic_profile.step()
    dist.barrier()
    if what == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
        if rank == ODD:
            time.sleep(1e6)  # DDP
        model(torch.ones(2, 4)).sum().backward()  # BACKWARD
    odd(what, groups) if rank == ODD else others(what, rank, groups)
    dist.all_reduce(torch.ones(4))  # LAST


def main():
    n = 0
    for line in sys.stdin:
        place = os.path.join(sys.argv[1], str(n))
        n += 1
        os.mkdir(place)
        pids = []
        for rank in range(WORLD):
            pid = os.fork()
            if pid == 0:
                try:
                    os.setpgid(0, 0)  # with the processes that load data
                    os.environ["RANK"] = str(rank)
                    train(line.strip(), rank, place)
                finally:
                    os._exit(1)
            pids.append(pid)
        print(place, *pids, flush=True)
        sys.stdin.readline()
        for pid in pids:
            for kill, whom in ((os.killpg, pid), (os.kill, pid)):
                try:
                    kill(whom, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            os.waitpid(pid, 0)
        print("gone", flush=True)


main()
