# SPDX-License-Identifier: Apache-2.0
"""ascope.monitor() in a PyTorch loop: which steps it counts, what it knows of them, and that it leaves PyTorch as it was."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import monitor_files  # noqa: E402

TRAINING = """
    import glob, sys, time, torch
    import ascope
    from torch.utils.data import DataLoader, TensorDataset, dataloader

    was = dataloader._BaseDataLoaderIter.__next__
    model = torch.nn.Linear(4, 4)
    data = TensorDataset(torch.randn(64, 4))

    class Slow(TensorDataset):
        def __getitem__(self, i):
            time.sleep(0.002)
            return super().__getitem__(i)

    def train(optimizer, after=lambda: None):
        for x, in DataLoader(Slow(torch.randn(8, 4)), batch_size=2):  # 4 steps
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            after()
"""


def records(folder):
    name, = os.listdir(folder)
    return monitor_files.read(os.path.join(folder, name))[1]


def test_counts_steps_of_the_optimizer(script, tmp_path):
    pytest.importorskip("torch")
    script(TRAINING + """
    monitor = ascope.monitor("mon", every=0.001)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    train(sgd)
    train(sgd)
    monitor.stop()
    assert dataloader._BaseDataLoaderIter.__next__ is was and monitor.path is None
    train(sgd)  # nothing happens any more
    """)
    found = records(tmp_path / "mon")
    assert sum(one["n_steps"] for one in found) == 7  # the first one only begins
    assert all(one["communication"] is None and one["allocated"] is None for one in found), found
    waited = sum(one["data"] for one in found)
    assert 7 * 2 * 2_000_000 <= waited <= sum(one["time"] for one in found)
    assert all(one["gc"] is not None for one in found)


def test_what_the_script_calls_has_priority(script, tmp_path):
    pytest.importorskip("torch")
    script(TRAINING + """
    with ascope.monitor("mon", every=0.001) as monitor:
        sgd = torch.optim.SGD(model.parameters(), lr=0.1)
        train(sgd)
        train(sgd, after=lambda: (monitor.tokens(10), monitor.step()))
        train(sgd, after=lambda: (monitor.tokens(10), monitor.step()))
    """)
    found = [one for one in records(tmp_path / "mon") if one["tokens"] is not None]  # those before are of the optimizer
    assert sum(one["n_steps"] for one in found) == 7  # of the first one it is not known where it began
    assert sum(one["tokens"] for one in found) == 70


def test_trouble_never_reaches_the_training(script, tmp_path):
    done = script("""
    import ascope
    monitor = ascope.monitor("/dev/null/here")
    monitor.step()
    monitor.tokens(3)
    monitor.stop()
    ascope.monitor(7)
    print("goes on")
    """)
    assert done.stdout.splitlines()[-1] == "goes on"
    assert "/dev/null" in done.stdout


def test_an_unchanged_script(script, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text("""
import torch
model = torch.nn.Linear(4, 4)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    model(torch.randn(2, 4)).sum().backward()
    sgd.step()
print("trained")
""")
    done = script("""
    import os, subprocess, sys
    one = subprocess.run([os.environ["ASCOPE_PROGRAM"], "run", "--monitor", "mon", sys.executable, "train.py"], stdout=subprocess.PIPE, text=True)
    two = subprocess.run([sys.executable, "-m", "ascope", "run", "--monitor", "mon2", "train.py"], stdout=subprocess.PIPE, text=True)
    assert one.stdout == two.stdout == "trained\\n", (one.stdout, two.stdout)
    """)
    assert done.returncode == 0
    for folder in ("mon", "mon2"):
        assert sum(one["n_steps"] for one in records(tmp_path / folder)) == 19


def test_two_ranks_and_their_communication(script, tmp_path):
    torch = pytest.importorskip("torch")
    if not torch.distributed.is_available():
        pytest.skip("PyTorch without torch.distributed")
    script("""
    import os, sys, time, torch
    import torch.multiprocessing
    import torch.distributed as dist

    def train(rank):
        import ascope
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://%s/store" % os.getcwd(), rank=rank, world_size=2)
        monitor = ascope.monitor("mon", every=0.001)
        model = torch.nn.Linear(4, 4)
        sgd = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(30):
            model(torch.randn(2, 4)).sum().backward()
            time.sleep(0.02 if rank == 1 else 0.001)
            for p in model.parameters():
                dist.all_reduce(p.grad)
            sgd.step()
        monitor.stop()

    torch.multiprocessing.start_processes(train, nprocs=2, start_method="fork")
    """)
    ranks = {}
    for name in os.listdir(tmp_path / "mon"):
        for one in monitor_files.read(os.path.join(tmp_path, "mon", name))[1][2:]:  # known from the second record on
            ranks.setdefault(one["rank"], []).append(one)
    assert sorted(ranks) == [0, 1]
    waits = {rank: sum(one["communication"] for one in found) / sum(one["time"] for one in found) for rank, found in ranks.items()}
    assert waits[0] > 0.3 and all(one["world"] == 2 for found in ranks.values() for one in found), waits


def test_a_forked_child_writes_nothing_and_holds_no_lock(script, tmp_path):
    script("""
    import os, time
    from ascope import _core
    _core.monitor_start("mon", every_ms=1)

    def train():
        for _ in range(5):
            time.sleep(0.002)
            _core.monitor_step()

    train()
    child = os.fork()
    if child == 0:
        train()
        os._exit(_core.monitor_path() is not None)
    assert os.waitpid(child, 0)[1] == 0
    train()
    _core.monitor_stop()
    """)
    assert sum(one["n_steps"] for one in records(tmp_path / "mon")) == 9
