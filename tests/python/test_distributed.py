"""Two ranks of torch.distributed: two directories, the right ranks, marks of the collectives."""
import glob
import json
import os
import socket
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("this PyTorch has no torch.distributed", allow_module_level=True)

RANK = textwrap.dedent("""
    import sys
    import torch
    import torch.distributed as dist
    from ascope.torch import profiler
    rank, port = int(sys.argv[1]), sys.argv[2]
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:" + port, rank=rank, world_size=2)
    config = profiler._ExperimentalConfig(mstx=True)
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("result"), experimental_config=config):
        tensor = torch.ones(8) * (rank + 1)
        dist.all_reduce(tensor)
        if rank == 0:
            dist.send(torch.ones(3), dst=1)
        else:
            dist.recv(torch.zeros(3), src=0)
        pair, alone = dist.new_group([0, 1]), dist.new_group([1])
        dist.all_reduce(torch.ones(2), group=pair)
        dist.barrier()
    assert tensor.tolist() == [3.0] * 8
    dist.destroy_process_group()
    """)


def marks_of(collection):
    with open(os.path.join(collection, "ASCEND_PROFILER_OUTPUT/trace_view.json"), encoding="utf-8") as f:
        return [json.loads(e["name"].replace('\\"', '"')) for e in json.load(f) if e["ph"] == "X" and "opName" in e["name"]]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    place = tmp_path_factory.mktemp("ranks")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    environment = {name: value for name, value in os.environ.items() if name != "RANK"}
    environment["ASCOPE_DEVICE"] = "none"
    jobs = [subprocess.Popen([sys.executable, "-c", RANK, str(rank), port], cwd=place, env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True) for rank in range(2)]
    said = [job.communicate(timeout=240)[0] for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0], "\n".join(said)
    found = {}
    for collection in glob.glob(str(place / "result/*_ascend_pt")):
        for name in glob.glob(os.path.join(collection, "profiler_info_*.json")):
            with open(name, encoding="utf-8") as f:
                found[json.load(f)["rank_id"]] = collection
    return found


def test_each_rank_has_its_directory(ranks):
    assert set(ranks) == {0, 1}
    assert ranks[0] != ranks[1]


def test_collectives_are_marked(ranks):
    for rank, other in ((0, "HcclSend"), (1, "HcclRecv")):
        marks = marks_of(ranks[rank])
        assert [m["opName"] for m in marks] == ["HcclAllreduce", other, "HcclAllreduce"]
        assert marks[0]["count"] == "8" and marks[0]["dataType"] == "fp32" and marks[0]["groupName"] == "default_group"
        assert marks[2]["count"] == "2" and marks[2]["groupName"] == "group_name_1"
    assert marks_of(ranks[0])[1]["destRank"] == "1"
    assert marks_of(ranks[1])[1]["srcRank"] == "0"


def test_groups_are_told(ranks):
    both = {"group_name": "default_group", "global_ranks": [0, 1]}
    for rank in range(2):
        with open(os.path.join(ranks[rank], "profiler_metadata.json"), encoding="utf-8") as f:
            groups = json.load(f)["parallel_group_info"]
        assert groups["default_group"] == {**both, "group_rank": rank}
        assert groups["group_name_1"] == {**both, "group_name": "group_name_1", "group_rank": rank}
        assert ("group_name_2" in groups) == (rank == 1)
    assert groups["group_name_2"] == {"group_name": "group_name_2", "group_rank": 0, "global_ranks": [1]}
