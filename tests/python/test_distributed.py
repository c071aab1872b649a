# SPDX-License-Identifier: Apache-2.0
"""Two ranks of torch.distributed: two directories, the right ranks, marks of the collectives; on the simulated device their tasks."""
import csv
import glob
import json
import os
import sqlite3
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
    rank = int(sys.argv[1])
    dist.init_process_group("gloo", init_method=sys.argv[2], rank=rank, world_size=2)
    linear = torch.nn.Linear(4, 4)
    model = torch.nn.parallel.DistributedDataParallel(linear)
    config = profiler._ExperimentalConfig(mstx=True, profiler_level="Level1", export_type=["text", "db"])
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("result"), experimental_config=config):
        tensor = torch.ones(8) * (rank + 1)
        dist.all_reduce(tensor)
        if rank == 0:
            dist.send(torch.ones(3), dst=1)
        else:
            dist.recv(torch.zeros(3), src=0)
        pair, alone = dist.new_group([0, 1]), dist.new_group([1])
        dist.all_reduce(torch.ones(2), group=pair)
        if rank == 1:
            dist.all_reduce(torch.ones(5), group=alone)
        work = dist.all_reduce(torch.ones(3), async_op=True)
        model(torch.ones(2, 4)).sum().backward()
        work.wait()
        dist.barrier()
    assert linear.weight.grad.tolist() == [[2.0] * 4] * 4
    assert tensor.tolist() == [3.0] * 8
    dist.destroy_process_group()
    """)


def marks_of(collection):
    with open(os.path.join(collection, "ASCEND_PROFILER_OUTPUT/trace_view.json"), encoding="utf-8") as f:
        return [json.loads(e["name"]) for e in json.load(f) if e["ph"] == "X" and "opName" in e["name"]]


def run(place, code, codes=[0, 0]):
    """Collections by the rank that they say they are of. The ranks meet in a file: a port that is free now may not be free later."""
    store = "file://%s/store" % place
    environment = {name: value for name, value in os.environ.items() if name != "RANK"}
    environment["ASCOPE_DEVICE"] = "sim"
    jobs = [subprocess.Popen([sys.executable, "-c", code, str(rank), store], cwd=place, env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True) for rank in range(2)]
    said = [job.communicate(timeout=120)[0] for job in jobs]
    assert [job.returncode for job in jobs] == codes, "\n".join(said)
    found = {}
    for collection in glob.glob(str(place / "result/*_ascend_pt")):
        for name in glob.glob(os.path.join(collection, "profiler_info_*.json")):
            with open(name, encoding="utf-8") as f:
                found[int(json.load(f)["rank_id"])] = collection  # a text where $RANK says it
    return found


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    return run(tmp_path_factory.mktemp("ranks"), RANK)


def result(collection, name):
    with open(os.path.join(collection, "ASCEND_PROFILER_OUTPUT", name), encoding="utf-8") as f:
        return json.load(f) if name.endswith("json") else list(csv.DictReader(f))


def metadata_of(collection):
    with open(os.path.join(collection, "profiler_metadata.json"), encoding="utf-8") as f:
        return json.load(f)


def test_each_rank_has_its_directory(ranks):
    assert set(ranks) == {0, 1}
    assert ranks[0] != ranks[1]


def test_collectives_are_marked(ranks):
    """On the host and on the device: those that the script calls, and that of DistributedDataParallel, of 20 gradients."""
    for rank, other in ((0, {"opName": "HcclSend", "destRank": "1"}), (1, {"opName": "HcclRecv", "srcRank": "0"})):
        wanted = [{"count": count, "groupName": group, "opName": "HcclAllreduce"} for count, group in (
            ("8", "default_group"), ("2", "group_name_1"), ("3", "default_group"), ("20", "default_group"))]
        wanted += [{"count": "3", "groupName": "default_group", **other}]
        wanted += [{"count": "5", "groupName": "group_name_2", "opName": "HcclAllreduce"}] if rank else []
        marks = marks_of(ranks[rank])
        assert {m.pop("dataType") for m in marks} == {"fp32"} and all(int(m.pop("streamId")) > 0 for m in marks)
        assert sorted(map(str, (sorted(m.items()) for m in marks))) == sorted(map(str, (sorted(m.items()) for m in wanted * 2)))


EXCHANGE = textwrap.dedent("""
    import sys
    import torch
    import torch.distributed as dist
    from ascope.torch import profiler
    rank = int(sys.argv[1])
    dist.init_process_group("gloo", init_method=sys.argv[2], rank=rank, world_size=2)

    def exchange(send, receive):
        got = torch.zeros(3)
        assert send == dist.isend and send != dist.irecv
        for work in dist.batch_isend_irecv([dist.P2POp(send, torch.ones(3) + rank, 1 - rank), dist.P2POp(receive, got, 1 - rank)]):
            work.wait()
        assert got.tolist() == [2.0 - rank] * 3, got

    before = dist.isend, dist.irecv
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("result", analyse_flag=False),
                          experimental_config=profiler._ExperimentalConfig(mstx=True)):
        during = dist.isend, dist.irecv
        assert during[0] is not before[0]
        exchange(*before)
        exchange(*during)
    assert (dist.isend, dist.irecv) == before and dist.isend is before[0]
    exchange(*during)
    """)


def test_batches_of_sends_work_while_they_are_marked_and_after(tmp_path):
    """P2POp takes nothing but isend and irecv, whichever of the functions the script has in its hand."""
    assert set(run(tmp_path, EXCHANGE)) == {0, 1}


# As tools for clusters find collectives in a database that has marks alone.
FROM_MARKS = """
    SELECT json_extract(s.value, '$.count'), t.startNs, t.endNs, t.streamId, json_extract(s.value, '$.streamId'), m.startNs
    FROM MSTX_EVENTS m JOIN STRING_IDS s ON s.id = m.message JOIN TASK t ON t.connectionId = m.connectionId
    WHERE s.value LIKE '%HcclAllreduce%' ORDER BY t.startNs"""

ALONE = """
    import os, sys, torch, torch.distributed as dist
    from ascope.torch import profiler
    dist.init_process_group("gloo", init_method="file://" + os.path.abspath("store"), rank=0, world_size=1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    config = profiler._ExperimentalConfig(mstx=True, profiler_level="Level_none", export_type=["text", "db"])
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("result"), experimental_config=config,
                          schedule=profiler.schedule(wait=0, warmup=0, active=2, repeat=1)) as prof:
        for _ in range(2):
            dist.all_reduce(torch.ones(8))
            model(torch.ones(2, 4)).sum().backward()
            prof.step()
    dist.destroy_process_group()
    """


def database_of(place):
    (path,) = glob.glob(str(place / "result/*_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db"))
    return sqlite3.connect(path)


def test_collectives_are_found_by_their_marks(script, tmp_path):
    script(ALONE, env={"ASCOPE_DEVICE": "sim"})
    with database_of(tmp_path) as db:
        assert not db.execute("SELECT name FROM sqlite_master WHERE name = 'COMMUNICATION_OP'").fetchall()
        types = {name.lower() for name, in db.execute("SELECT name FROM ENUM_HCCL_DATA_TYPE")}
        found = db.execute(FROM_MARKS).fetchall()
        steps = db.execute("""SELECT s.value, t.startNs, t.endNs, t.streamId FROM MSTX_EVENTS m JOIN STRING_IDS s ON s.id = m.message
                              JOIN TASK t ON t.connectionId = m.connectionId WHERE s.value LIKE 'ProfilerStep#%' ORDER BY 2""").fetchall()
    assert "fp32" in types
    assert [row[0] for row in found] == ["8", "20", "8", "20"]
    assert all(begin < end and stream == int(said) and host <= begin for _, begin, end, stream, said, host in found)
    assert [name for name, _, _, _ in steps] == ["ProfilerStep#0", "ProfilerStep#1"]
    for i, (_, begin, end, stream) in enumerate(steps):  # on the stream of the operators; collectives may end behind it, on theirs
        assert begin < found[2 * i][1] and begin < end and stream != found[0][3]


def test_gradients_of_parallel_modules_are_marked_on_the_host_alone(script, tmp_path):
    script(ALONE, env={"ASCOPE_DEVICE": "none"})
    (collection,) = glob.glob(str(tmp_path / "result/*_ascend_pt"))
    assert [(m["opName"], m["count"], m["groupName"]) for m in marks_of(collection)
            if m["opName"] != "HcclBroadcast"] == [  # of buckets that DistributedDataParallel makes anew
        ("HcclAllreduce", "8", "default_group"), ("HcclAllreduce", "20", "default_group")] * 2
    report = subprocess.run([os.environ["ASCOPE_PROGRAM"], "analyse", collection, "--top", "100"], capture_output=True, text=True, check=True).stdout
    assert "    HcclAllreduce 20 fp32 " in report and "streamId" not in report


def test_groups_are_recorded(ranks):
    both = {"group_name": "default_group", "global_ranks": [0, 1]}
    for rank in range(2):
        groups = metadata_of(ranks[rank])["parallel_group_info"]
        assert groups["default_group"] == {**both, "group_rank": rank}
        assert groups["group_name_1"] == {**both, "group_name": "group_name_1", "group_rank": rank}
        assert ("group_name_2" in groups) == (rank == 1)
    assert groups["group_name_2"] == {"group_name": "group_name_2", "group_rank": 0, "global_ranks": [1]}


def test_collectives_are_on_the_simulated_device(ranks):
    for rank, other in ((0, "send"), (1, "receive")):
        kinds = next(iter(result(ranks[rank], "communication.json").values()))
        assert [name.split("__")[0] for name in kinds["p2p"] if "@" in name] == ["hcom_" + other]
        # one of its own, one of a pair of ranks, one that is not waited for, the gradients, the barrier, and that of rank 1 alone
        reduced = [name for name in kinds["collective"] if name.startswith("hcom_allReduce__")]
        assert len(reduced) == 5 + rank
        assert len({name.split("@")[1] for name in reduced}) == 2 + rank
        links = next(iter(result(ranks[rank], "communication_matrix.json").values()))["collective"]
        assert {link for name, row in links.items() if "total" in name for link in row} - {"0-0"} == {("0-1", "1-0")[rank]}
        assert float(result(ranks[rank], "step_trace_time.csv")[0]["Communication"]) > 0
        assert "simulated" in metadata_of(ranks[rank])


def test_groups_are_what_the_database_calls_them(ranks):
    """As tools for clusters join them."""
    for rank in range(2):
        with sqlite3.connect(os.path.join(ranks[rank], "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_%d.db" % rank)) as db:
            found = dict(db.execute("SELECT s.value, count(*) FROM COMMUNICATION_OP c JOIN STRING_IDS s ON s.id = c.groupName GROUP BY 1"))
            (groups,), = db.execute("SELECT value FROM META_DATA WHERE name = 'parallel_group_info'")
        assert found == {"default_group": 5, "group_name_1": 1, **({"group_name_2": 1} if rank else {})}
        assert set(found) == set(json.loads(groups))


FROM_OUTSIDE = textwrap.dedent("""
    import os
    import sys
    from ascope import _run
    with open("train.py", "w") as f:
        f.write('''import os, sys, torch, torch.distributed as dist
    dist.init_process_group("gloo", init_method=sys.argv[1], rank=int(os.environ["RANK"]), world_size=2)
    dist.destroy_process_group(dist.new_group([0, 1]))
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(2):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    dist.destroy_process_group()
    ''')
    os.environ.update(RANK=sys.argv[1], WORLD_SIZE="2")
    sys.exit(_run.main(["--profile", "--level", "Level1", "train.py", sys.argv[2]]))
    """)


def test_groups_that_come_and_go_in_the_recording(tmp_path):
    ranks = run(tmp_path, FROM_OUTSIDE)
    for rank in range(2):
        groups = metadata_of(ranks[rank])["parallel_group_info"]
        assert groups == {name: {"group_name": name, "group_rank": rank, "global_ranks": [0, 1]}
                          for name in ("default_group", "group_name_1")}
        links = next(iter(result(ranks[rank], "communication_matrix.json").values()))["collective"]
        assert {link for name, row in links.items() if "allreduce-total" in name.lower() for link in row} - {"0-0", "1-1"} == {
            ("0-1", "1-0")[rank]}


DYING = textwrap.dedent("""
    import os
    import sys
    import time
    import torch
    import torch.distributed as dist
    from ascope.torch import profiler
    rank = int(sys.argv[1])
    dist.init_process_group("gloo", init_method=sys.argv[2], rank=rank, world_size=2)
    config = profiler._ExperimentalConfig(profiler_level="Level1")
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("result"), experimental_config=config):
        dist.all_reduce(torch.ones(8))
        if rank == 1:
            while not os.path.exists("waiting"):
                time.sleep(0.001)
            os._exit(7)
        left = dist.irecv(torch.zeros(3), src=1)  # never comes; rank 1 is alive until the file is there
        open("waiting", "w").close()
        try:
            for i in range(100):
                dist.all_reduce(torch.ones(8))
        except RuntimeError as trouble:
            print("caught", trouble)
        else:
            sys.exit("nobody is missed")
        torch.ones(2).sum().item()
    os._exit(0)  # gloo's own end would wait
    """)


def test_a_rank_that_dies_is_no_trouble_of_ours(tmp_path):
    found = run(tmp_path, DYING, [0, 7])
    assert 0 in found
    kinds = next(iter(result(found[0], "communication.json").values()))
    assert len([name for name in kinds["collective"] if "@" in name]) >= 2  # one that was, one that was tried
