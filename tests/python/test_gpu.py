# SPDX-License-Identifier: Apache-2.0
"""A real NVIDIA GPU, beside torch.profiler: the same kernels, names, calls and operators. Left out on machines without one."""
import collections
import concurrent.futures
import csv
import glob
import json
import os
import re
import sqlite3
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ["ASCOPE_PROGRAM"]
JOBS = os.path.join(HERE, "gpu_jobs.py")
WORK = "kernel", "gpu_memcpy", "gpu_memset"
CALLS = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaGraphLaunch", "cudaMemcpyAsync",
         "cudaMemsetAsync", "cudaStreamSynchronize")
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("RANK", "LOCAL_RANK", "ASCOPE_DEVICE"))}


def run(place, *command, ends=0, **env):
    done = subprocess.run([str(word) for word in command], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**ENVIRONMENT, **env}, timeout=300)
    assert ends is None or done.returncode == ends, done.stdout + done.stderr
    return done


def python(place, code, *arguments, **more):
    return run(place, sys.executable, "-c", textwrap.dedent(code), *arguments, **more)


def only(pattern):
    found = glob.glob(str(pattern))
    assert len(found) == 1, (pattern, found)
    return found[0]


def table(results, name):
    with open(os.path.join(results, name), encoding="utf-8") as f:
        return list(csv.DictReader(f))


def analysed(place):
    """The results of the only collection, which is analysed now if it was not."""
    collection = only(os.path.join(str(place), "*_ascend_pt"))
    results = os.path.join(collection, "ASCEND_PROFILER_OUTPUT")
    if not os.path.exists(os.path.join(results, "kernel_details.csv")):
        done = run(place, PROGRAM, "analyse", "-q", collection, ends=None)
        assert done.returncode in (0, 3), done.stdout + done.stderr
    return results


Recorded = collections.namedtuple("Recorded", "tasks micros links calls")


def of_torch(path):
    with open(path, encoding="utf-8") as f:
        events = [e for e in json.load(f)["traceEvents"] if e.get("ph") == "X"]
    operators = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    tasks, micros, links, calls = (collections.Counter() for _ in range(4))
    for e in events:
        if e.get("cat") in WORK:
            tasks[e["name"]] += 1
            micros[e["name"]] += e["dur"]
            links[operators.get(e["args"].get("External id")), e["name"]] += 1
        elif e.get("cat") in ("cuda_runtime", "cuda_driver"):
            calls[e["name"]] += 1
    return Recorded(tasks, micros, links, {name: calls[name] for name in CALLS})


def of_ascope(results):
    with open(os.path.join(results, "trace_view.json"), encoding="utf-8") as f:
        events = json.load(f)
    tasks, micros, links = (collections.Counter() for _ in range(3))
    operators = {(e["pid"], e["tid"], e["ts"]): e["name"] for e in events if e["ph"] == "X" and e.get("cat") == "cpu_op"}
    begins = {e["id"]: operators[e["pid"], e["tid"], e["ts"]] for e in events if e["ph"] == "s" and e["cat"] == "async_gpu"}
    ends = {(e["pid"], e["tid"], e["ts"]): begins[e["id"]] for e in events if e["ph"] == "f" and e["cat"] == "async_gpu"}
    for e in events:
        if e["ph"] == "X" and "correlation" in e["args"]:
            tasks[e["name"]] += 1
            micros[e["name"]] += e["dur"]
            links[ends.get((e["pid"], e["tid"], e["ts"])), e["name"]] += 1
    calls = {row["API Name"]: int(row["Count"]) for row in table(results, "api_statistic.csv")}
    return Recorded(tasks, micros, links, {name: calls.get(name, 0) for name in CALLS})


def links_of_database(results):
    with sqlite3.connect(only(results + "/ascend*.db")) as db:
        rows = db.execute("""SELECT o.value, k.value, count(*) FROM PYTORCH_API p JOIN CONNECTION_IDS c ON c.id = p.connectionId
                             JOIN TASK t ON t.connectionId = c.connectionId JOIN COMPUTE_TASK_INFO i ON i.globalTaskId = t.globalTaskId
                             JOIN STRING_IDS o ON o.id = p.name JOIN STRING_IDS k ON k.id = i.name GROUP BY 1, 2""").fetchall()
    return {(operator, kernel): n for operator, kernel, n in rows}


# ---- beside torch.profiler ----

@pytest.mark.parametrize("job", ["linear", "transformer", "compiled"])
def test_the_same_as_torch_profiler(job, tmp_path):
    run(tmp_path, sys.executable, JOBS, job, "torch", "theirs.json")
    run(tmp_path, sys.executable, JOBS, job, "ascope", "ours")
    results = analysed(tmp_path / "ours")
    ours, theirs = of_ascope(results), of_torch(tmp_path / "theirs.json")
    print(job, sum(ours.tasks.values()), "tasks", len(ours.tasks), "names, ours", round(sum(ours.micros.values())), "us, theirs",
          round(sum(theirs.micros.values())), "us,", sum(n for (op, _), n in ours.links.items() if op), "links; calls", ours.calls)
    assert ours.tasks == theirs.tasks
    assert ours.calls == theirs.calls
    for name, n in ours.tasks.items():  # of two runs: units and clocks are right
        assert 1 / 3 < (ours.micros[name] / n + 1) / (theirs.micros[name] / n + 1) < 3, name
    if job == "compiled":  # PyTorch names an operator for each kernel of Triton only while its own profiler is active
        triton = [{k: n for k, n in links.items() if not k[1].startswith("triton_")} for links in (ours.links, theirs.links)]
        assert triton[0] == triton[1]
    else:
        assert ours.links == theirs.links
    kernels = {row["Name"] for row in table(results, "kernel_details.csv")}
    assert links_of_database(results) == {(op, kernel): n for (op, kernel), n in ours.links.items() if op and kernel in kernels}
    if job == "transformer":
        assert len({row["Graph Node ID"] for row in table(results, "kernel_details.csv")}) > 2
    if job == "compiled":
        assert len({row["Stream ID"] for row in table(results, "kernel_details.csv")}) == 2


def test_a_script_for_torch_profiler_is_not_changed(tmp_path):
    (tmp_path / "train.py").write_text(textwrap.dedent("""
        import torch
        from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
        layer = torch.nn.Linear(64, 64).cuda()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=schedule(wait=1, warmup=1, active=2, repeat=1),
                     on_trace_ready=tensorboard_trace_handler("theirs")) as prof:
            for _ in range(6):
                layer(torch.randn(8, 64, device="cuda")).sum().backward()
                prof.step()
        print("trained", torch.cuda.is_available())
        """))
    done = run(tmp_path, sys.executable, "-m", "ascope", "run", "--profile", "--out", "ours", "train.py")
    assert "trained True" in done.stdout
    assert len(table(analysed(tmp_path / "ours"), "kernel_details.csv")) >= 6
    assert glob.glob(str(tmp_path / "theirs/*.json*"))


def test_inside_of_torch_profiler_the_host_is_recorded(tmp_path):
    done = python(tmp_path, """
        import torch
        from torch.profiler import ProfilerActivity, profile
        from ascope.torch import profiler
        ones = torch.ones(64, device="cuda")
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as theirs:
            with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("ours")):
                ones.mul(2)
            torch.cuda.synchronize()
        print([e.name for e in theirs.events() if "elementwise" in e.name])
        """)
    assert "elementwise" in done.stdout, "torch.profiler lost its kernels: " + done.stdout
    assert done.stderr.count("CUPTI") + done.stdout.count("CUPTI") >= 1
    results = os.path.join(only(tmp_path / "ours/*_ascend_pt"), "ASCEND_PROFILER_OUTPUT")
    assert "aten::mul" in {row["Name"] for row in table(results, "operator_details.csv")}


# ---- memory, marks, communication ----

def test_memory_of_the_allocator(tmp_path):
    done = python(tmp_path, """
        import torch
        from ascope.torch import profiler
        torch.ones(1, device="cuda")
        with profiler.profile(profile_memory=True, on_trace_ready=profiler.tensorboard_trace_handler("ours")) as prof:
            kept = [torch.empty(1 << 20, device="cuda") for _ in range(50)]
            del kept[10:]
            kept.append(torch.empty(1 << 28, device="cuda"))
            most = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
            del kept
        print(*most)
        """)
    allocated, reserved = (int(word) / 2**20 for word in done.stdout.splitlines()[-1].split())
    rows = [row for row in table(analysed(tmp_path / "ours"), "memory_record.csv") if row["Device Type"].endswith(":0")]
    assert max(float(row["Total Allocated(MB)"]) for row in rows) == pytest.approx(allocated, abs=0.001)
    assert max(float(row["Total Reserved(MB)"]) for row in rows) == pytest.approx(reserved, abs=0.001)


def test_ranges_of_nvtx(tmp_path):
    python(tmp_path, """
        import ascope.torch
        import torch
        from ascope.torch import profiler
        config = profiler._ExperimentalConfig(mstx=True)
        ones = torch.ones(64, device="cuda")
        with profiler.profile(experimental_config=config, on_trace_ready=profiler.tensorboard_trace_handler("ours")):
            for i in range(50):
                torch.cuda.nvtx.range_push("step")
                ones.mul(2)
                torch.cuda.nvtx.mark("mark")
                torch.cuda.nvtx.range_pop()
        """)
    with open(os.path.join(analysed(tmp_path / "ours"), "trace_view.json"), encoding="utf-8") as f:
        names = collections.Counter(e["name"] for e in json.load(f) if e["ph"] in "Xi")
    assert (names["step"], names["mark"]) == (50, 50)


def test_collectives_of_two_ranks(tmp_path):
    """Both on the one GPU, which NCCL accepts of hosts that it takes for different ones."""
    (tmp_path / "rank.py").write_text(textwrap.dedent("""
        import os, torch, torch.distributed as dist
        os.environ["NCCL_HOSTID"] = "host" + os.environ["RANK"]
        from ascope.torch import profiler
        dist.init_process_group("nccl")
        torch.cuda.set_device(0)
        x = torch.ones(1 << 20, device="cuda")
        many = [torch.empty_like(x) for _ in range(2)]
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(256, 256).cuda())
        def step():
            dist.all_reduce(x)
            dist.all_gather(many, x)
            model(torch.ones(4, 256, device="cuda")).sum().backward()
        step(), step()  # in the second one DistributedDataParallel arranges its buckets anew, and announces them
        torch.cuda.synchronize()
        with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("ours")) as prof:
            for _ in range(3):
                step()
                prof.step()
            torch.cuda.synchronize()
        dist.destroy_process_group()
        """))
    ranks = [subprocess.Popen([sys.executable, "rank.py"], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                              env={**ENVIRONMENT, "RANK": str(rank), "LOCAL_RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29531",
                                   "NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_SOCKET_IFNAME": "lo"}) for rank in range(2)]
    said = [rank.communicate(timeout=300)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], said
    found = []
    for path in sorted(glob.glob(str(tmp_path / "ours/*_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json"))):
        with open(path, encoding="utf-8") as f:
            found.append(sorted((step, name) for step, kinds in json.load(f).items() for kind in kinds.values() for name in kind if "Total" not in name))
    assert len(found) == 2 and found[0] == found[1], found
    kinds = collections.Counter(name.split("_")[0] for _, name in found[0])
    assert kinds == {"AllReduce": 6, "AllGather": 3}, kinds


# ---- endings ----

JOB = """
    import os, signal, sys, time
    import torch
    mode, is_recorded = sys.argv[1], sys.argv[2] == "recorded"
    torch.manual_seed(1)
    layer = torch.nn.Linear(64, 64).cuda()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    batch = torch.randn(8, 64, device="cuda")
    def step():
        optimizer.zero_grad()
        loss = layer(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss
    step()
    torch.cuda.synchronize()
    if is_recorded:
        from ascope.torch import profiler
        prof = profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("ours", analyse_flag=False))
        prof.start()
    for _ in range(50):
        loss = step()
    print("loss", loss.item(), flush=True)
    torch.cuda.synchronize()
    if mode != "abort at once":
        time.sleep(0.3)  # CUPTI is asked every 20 ms for what is complete
    if mode == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    if mode == "terminate":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    if mode == "exception":
        raise ValueError("not today")
    if mode == "exit":
        sys.exit(3)
    if mode == "at once":
        os._exit(4)
    if mode.startswith("abort"):
        os.abort()
    if mode == "memory":
        torch.empty(1 << 50, device="cuda")
    if mode == "assertion":
        batch[torch.full((8,), 1000, device="cuda")].sum().item()
    if mode == "stop" and is_recorded:
        prof.stop()
    """
WHOLE = "end", "exception", "exit", "memory", "interrupt", "terminate", "kill", "at once", "abort", "assertion"


def kernels_of(place, mode):
    """How many kernels were recorded; the job's own result is the same as without a recorder, beside it."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        plain, done = pool.map(lambda how: python(place, JOB, mode, how, ends=None), ("plain", "recorded"))
    losses = [re.findall(r"^loss .*", run.stdout, re.M) for run in (plain, done)]
    assert len(losses[0]) == 1 and losses[0] == losses[1] and plain.returncode == done.returncode, done.stdout + done.stderr
    n = len(table(analysed(place / "ours"), "kernel_details.csv"))
    print(mode, done.returncode, n)
    return n


@pytest.fixture(scope="module")
def n_whole(tmp_path_factory):
    return kernels_of(tmp_path_factory.mktemp("stop"), "stop")


@pytest.mark.parametrize("mode", WHOLE)
def test_what_was_reported_is_there(mode, n_whole, tmp_path):
    assert n_whole >= 50 and n_whole % 50 == 0
    assert n_whole <= kernels_of(tmp_path, mode) < n_whole + 50  # an assertion has a few of its own


def test_what_was_not_reported_yet_may_be_lost(n_whole, tmp_path):
    assert 0 < kernels_of(tmp_path, "abort at once") <= n_whole


# ---- programs ----

def test_a_program_without_python(tmp_path):
    run(tmp_path, "cc", "-O1", os.path.join(HERE, "plain_gpu.c"), "-o", "plain_gpu", "-ldl")
    plain = run(tmp_path, "./plain_gpu", 500)
    library = os.path.join(os.path.dirname(PROGRAM), "libascope.so.0")
    done = run(tmp_path, PROGRAM, "run", "--host-sys", "none", "--out", "ours", "--", "./plain_gpu", 500, ASCOPE_CUDA_LIBRARY=library)
    assert done.stdout.startswith(plain.stdout), done.stdout
    with open(only(tmp_path / "ours/PROF_*/mindstudio_profiler_output/op_summary_*.csv"), encoding="utf-8") as f:
        assert collections.Counter(row["Op Name"] for row in csv.DictReader(f)) == {"add_one": 500}
