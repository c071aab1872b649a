# SPDX-License-Identifier: Apache-2.0
"""Traces of training jobs with a planted fault, and the same jobs without it, to measure `ascope why` and `ascope advise` by.

A simulation of events: each rank has a host thread that launches, streams that run in order, and collectives that end when the last rank has
come. What a fault costs is the difference to the same job without it. All durations vary by `noise` (a relative standard deviation), and the steps of
all ranks together by as much.

usage: fault_traces.py FAULT [SEED [NOISE]] OUT: writes OUT/with and OUT/without, one trace for each rank.
"""
import contextlib
import json
import math
import os
import random
import shutil
import sqlite3
import sys

GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel__5x_cublas"
SGEMM = "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>(cutlass_80_simt_sgemm_128x64_8x5_nt_align1::Params)"
ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::GeluFunctor<float>, std::array<char*, 2ul> >"
FUSED = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>"
NPU_NAMES = {GEMM: "MatMulV3", ELEMENTWISE: "Gelu", FUSED: "ApplyAdamWV2"}
COMPUTE, COMM = 7, 13
DEVICE = {"id": 0, "name": "NVIDIA H200", "numSms": 132, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerMultiprocessor": 2048,
          "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 233472, "warpSize": 32}

# A job of some layers, bound by its device, whose only synchronisation is the loss at the end of the step. Times are microseconds.
HEALTHY = {"ranks": 1, "steps": 12, "layers": 12, "gemm": 260, "elementwise": 40, "op_host": 14, "call": 6, "data": 120, "batch_bytes": 1 << 22, "batch_copy": 60,
           "micro": 1, "buckets": 4, "bucket_us": 330, "bucket_bytes": 25 << 20, "npu": False, "stack": False}


def weather(seed, noise, job):
    """What all ranks of a job have in common: how much longer each step takes. Independent, or like the one before, or with a long tail."""
    rng, kind, paces, was = random.Random(f"{seed} weather"), job.get("weather", "independent"), [], 0.0
    for n in range(job["steps"]):
        was = (0.7 * was + math.sqrt(1 - 0.49) * rng.gauss(0, 1)) if kind == "like the one before" else rng.gauss(0, 1)
        tail = rng.expovariate(1) if kind == "long tail" else 0
        paces.append(max(0.5, 1 + noise * (was + tail) + job.get("drift", 0) * n))
    return paces


class Rank:
    """What one process records. Host time is self.t; self.free has when each stream is free."""
    def __init__(self, number, job, noise, seed):
        self.rng = random.Random(f"{seed} {number}")
        self.number, self.job, self.noise = number, job, noise
        self.t, self.free, self.events, self.correlation, self.slow_host = 1000.0, {COMPUTE: 0.0, COMM: 0.0}, [], 0, 1.0
        self.clock, self.step_us = 1.0, []
        self.weather = weather(seed, noise, job)
        self.network = random.Random(f"{seed} network")  # the same on all ranks: a collective ends for all of them
        self.pace = 1.0  # of this step

    def about(self, us):
        return us * max(0.2, self.rng.gauss(1, self.noise))

    def emit(self, cat, name, begin, end, tid="1", **args):
        self.events.append((cat, name, begin, end - begin, tid, args))

    def host(self, cat, name, us):
        begin = self.t
        self.t += self.about(us) * self.slow_host
        self.emit(cat, name, begin, self.t)

    def call(self, name, us, **args):
        """A call of the driver; -> its correlation."""
        self.correlation += 1
        begin = self.t
        self.t += self.about(us)
        self.emit("cuda_runtime", name, begin, self.t, correlation=self.correlation, **args)
        return self.correlation

    def run(self, cat, name, us, launched, stream=COMPUTE, after=0.0, **args):
        begin = max(self.t + 4, self.free[stream], after)
        self.free[stream] = begin + us
        self.emit(cat, name, begin, self.free[stream], stream, correlation=launched, stream=stream, device=0, **args)

    def kernel(self, name, us, grid=264, shared=16384, **args):
        launched = self.call("cudaLaunchKernel", self.job.get("launch_us", self.job["call"]))
        self.run("kernel", name, self.about(us) * self.clock * self.pace, launched, grid=[grid, 1, 1], block=[128, 1, 1], **{"registers per thread": 64, "shared memory": shared}, **args)
        if self.job.get("blocking"):
            self.wait()

    def op(self, name, *kernels, us=None, **args):
        """An operator of the host that launches kernels: (name, microseconds)."""
        begin = self.t
        self.t += self.about(us if us is not None else self.job["op_host"]) * self.slow_host
        for kernel, duration in kernels:
            self.kernel(kernel, duration, **args)
        self.emit("cpu_op", name, begin, self.t + 1)
        self.t += 1

    def wait(self, stream=COMPUTE):
        begin = self.t
        self.t = max(self.t + 2, self.free[stream] + 3)
        self.emit("cuda_runtime", "cudaStreamSynchronize", begin, self.t)

    def item(self):
        begin = self.t
        self.t += self.about(5)
        launched = self.call("cudaMemcpyAsync", self.job["call"])
        self.run("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 1.5, launched, bytes=4)
        self.wait()
        self.emit("cpu_op", "aten::_local_scalar_dense", begin + 1, self.t)
        self.emit("cpu_op", "aten::item", begin, self.t + 1)
        self.t += 1

    def copy(self, name, us, size, blocking=False):
        launched = self.call("cudaMemcpyAsync", self.job["call"])
        self.run("gpu_memcpy", name, self.about(us), launched, bytes=size)
        if blocking:  # the call ends with the copy
            cat, call, begin, _, tid, args = self.events[-2]
            self.t = self.free[COMPUTE] + 2
            self.events[-2] = (cat, call, begin, self.t - begin, tid, args)

    def collective(self, kind, size, us):
        """All ranks come, then it takes so long. Waits for what was launched before, and nothing waits for it yet."""
        launched = self.call("cudaLaunchKernelExC", self.job["call"])
        begin = max(self.t + 4, self.free[COMM], self.free[COMPUTE])
        end = (yield begin) + us * max(0.2, self.network.gauss(1, self.noise))
        self.free[COMM] = end
        self.emit("kernel", f"ncclDevKernel_{kind}_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", begin, end, COMM, correlation=launched, stream=COMM, device=0,
                  **{"Collective name": kind.lower(), "In msg nelems": size // 2, "Out msg nelems": size // 2, "Group size": self.job["ranks"], "dtype": "BFloat16"})

    def join(self):
        self.free[COMPUTE] = max(self.free.values())


def step(r, n):
    j, fault = r.job, r.job.get("fault", lambda *_: ())
    gemm = j.get("gemm_name", GEMM)
    grid = {"grid": j.get("grid", 264), "shared": j.get("shared", 16384)}
    is_job = j["ranks"] > 1
    yield from fault(r, n, "begin") or ()
    r.host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", j["data"])
    r.copy(f"Memcpy HtoD ({j.get('memory', 'Pinned')} -> Device)", j["batch_copy"], j["batch_bytes"], "memory" in j)
    yield from fault(r, n, "data") or ()
    for micro in range(j["micro"]):
        for layer in range(j["layers"]):
            for view in j.get("views", ("aten::view", "aten::transpose", "aten::empty")):
                r.op(view, us=1)
            r.op("aten::linear", (gemm, j["gemm"]), **grid)
            r.op("aten::gelu", (ELEMENTWISE, j["elementwise"]))
            yield from fault(r, n, "layer") or ()
        for layer in range(j["layers"]):
            r.op("autograd::engine::evaluate_function: GeluBackward0", (ELEMENTWISE.replace("Gelu", "GeluBackward"), j["elementwise"]))
            r.op("autograd::engine::evaluate_function: AddmmBackward0", (gemm, j["gemm"]), (gemm, j["gemm"]), **grid)
            if is_job and (layer + 1) % (j["layers"] // j["buckets"]) == 0 and (j.get("reduces_always") or micro == j["micro"] - 1):
                yield from r.collective("AllReduce", j["bucket_bytes"], j["bucket_us"])
                if j.get("serial"):
                    r.join()
        r.join()
    begin = r.t
    yield from fault(r, n, "optimizer") or ()
    for _ in range(j.get("optimizer_kernels", 1)):
        r.op("aten::_fused_adamw_", (j.get("optimizer_name", FUSED), j.get("optimizer_us", 180)))
    r.emit("user_annotation", "Optimizer.step#AdamW.step", begin, r.t)
    yield from fault(r, n, "end") or ()
    if not j.get("runs_ahead"):
        r.item()


def program(r):
    for n in range(r.job["steps"]):
        begin = r.t
        r.pace = r.weather[n]
        yield from step(r, n)
        r.t += 5
        r.emit("user_annotation", f"ProfilerStep#{n + 3}", begin, r.t)
        r.step_us.append(r.t - begin)
    r.join()
    r.wait()


def next_arrival(rank, answer):
    """When a rank comes to its next collective; None: it has ended."""
    try:
        return rank.send(answer)
    except StopIteration:
        return None


def simulate(job, seed, noise):
    ranks = [Rank(i, job, noise, seed) for i in range(job["ranks"])]
    running = [program(r) for r in ranks]
    answers = [None] * len(ranks)
    while running:  # all ranks have the same collectives: they come together, and end together
        came = [next_arrival(one, answer) for one, answer in zip(running, answers)]
        if None in came:
            break
        answers = [max(came)] * len(ranks)
    return ranks


def chrome(r):
    """As torch.profiler writes it."""
    events = [{"ph": "M", "name": "process_labels", "pid": 100, "args": {"labels": "CPU"}}, {"ph": "M", "name": "process_labels", "pid": 0, "args": {"labels": "GPU 0"}}]
    for cat, name, begin, duration, tid, args in r.events:
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 100 if tid == "1" else 0, "tid": 100 if tid == "1" else tid, "ts": round(begin, 3),
                       "dur": round(duration, 3), "args": args})
    trace = {"schemaVersion": 1, "deviceProperties": [DEVICE], "traceEvents": events}
    if r.job["ranks"] > 1:
        trace["distributedInfo"] = {"backend": "nccl", "rank": r.number, "world_size": r.job["ranks"]}
    return trace


CALLS = {"cudaLaunchKernel": "Node@launch", "cudaLaunchKernelExC": "Node@launch", "cudaStreamSynchronize": "AscendCL@aclrtSynchronizeStream",
         "cudaMemcpyAsync": "AscendCL@aclrtMemcpyAsync"}


def on_npu(r):
    """The slices as an NPU has them: (what it is, name, begin, duration, stream, its args). Collectives have the same names on all ranks."""
    n_collectives = 0
    for cat, name, begin, duration, tid, args in r.events:
        kind = {"cuda_runtime": "call", "gpu_memcpy": "task"}.get(cat, "host")
        if cat == "kernel":
            kind = "collective" if "Collective name" in args else "task"
        if kind == "collective":
            n_collectives += 1
            name = f"hcom_allReduce__517_{n_collectives}_1"
        elif name == "Python GC":
            kind = "gc"
        task = args.get("task", "AI_CORE" if cat == "kernel" else "MEMCPY_ASYNC")
        yield kind, "MEMCPY_ASYNC" if cat == "gpu_memcpy" else CALLS.get(name, NPU_NAMES.get(name, name)), begin, duration, tid, {**args, "task": task}


def timeline(r):
    """As torch_npu writes trace_view.json."""
    pids = {"host": 1, "call": 2, "task": 3, "gc": 4, "collective": 5}
    names = ("Python", "CANN", "Ascend Hardware", "Python GC", "Communication", "Overlap Analysis")
    events = [{"ph": "M", "name": "process_name", "pid": i + 1, "tid": 0, "args": {"name": name}} for i, name in enumerate(names)]
    events.append({"ph": "M", "name": "thread_name", "pid": 5, "tid": 1, "args": {"name": "Group 10.0.0.1%eth0_0_0 Communication"}})
    for kind, name, begin, duration, tid, args in on_npu(r):
        connection = {"connection_id": str(args["correlation"])} if "correlation" in args else {}
        if kind == "task":
            connection.update({"Task Type": args["task"], "Physic Stream Id": tid})
        events.append({"ph": "X", "name": name, "pid": pids[kind], "tid": {"host": 100, "call": 100, "task": tid, "gc": 0, "collective": 1}[kind],
                       "ts": f"{begin:.3f}", "dur": round(duration, 3), "args": connection, **({"cat": "cpu_op"} if kind == "host" else {"cat": "GC"} if kind == "gc" else {})})
        if kind == "collective" or args["task"] == "AI_CORE" and kind == "task":
            events.append({"ph": "X", "name": "Computing" if kind == "task" else "Communication", "pid": 6, "tid": 0 if kind == "task" else 1, "ts": f"{begin:.3f}",
                           "dur": round(duration, 3), "args": {}})
    return events


TABLES = {
    "ENUM_API_TYPE": "id, name",
    "STRING_IDS": "id, value", "RANK_DEVICE_MAP": "rankId, deviceId", "STEP_TIME": "id, startNs, endNs", "GC_RECORD": "startNs, endNs, globalTid",
    "PYTORCH_API": "startNs, endNs, globalTid, connectionId, name, sequenceNumber, fwdThreadId, inputDtypes, inputShapes, callchainId, type",
    "CANN_API": "startNs, endNs, type, globalTid, connectionId, name", "CONNECTION_IDS": "id, connectionId",
    "TASK": "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, taskId, modelId",
    "COMPUTE_TASK_INFO": "name, globalTaskId, blockNum, mixBlockNum, taskType, opType",
    "COMMUNICATION_OP": "opName, startNs, endNs, connectionId, groupName, opId, relay, retry, dataType, algType, count, opType, deviceId, rankSize",
}


def database(r, path):
    """As torch_npu writes ascend_pytorch_profiler_N.db: the tables that this job has."""
    rows, texts, thread = {name: [] for name in TABLES}, {}, (100 << 32) + 100

    def text(value):
        return texts.setdefault(value, len(texts))

    rows["ENUM_API_TYPE"] = [(20000, "acl"), (10000, "node"), (50001, "op")]
    rows["RANK_DEVICE_MAP"].append((r.number, r.number))
    for kind, name, begin, duration, stream, args in on_npu(r):
        at = int(1_700_000_000e9 + begin * 1000)
        times, connection = (at, at + int(duration * 1000)), args.get("correlation")
        if kind == "host" and name.startswith("ProfilerStep#"):
            rows["STEP_TIME"].append((int(name.split("#")[1]), *times))
        if kind == "host":
            rows["PYTORCH_API"].append((str(times[0]), str(times[1]), thread, None, text(name), *[None] * 5, 50001))
        elif kind == "call":
            level, _, call = name.partition("@")
            rows["CANN_API"].append((*times, 10000 if level == "Node" else 20000, thread, connection, text(call or name)))
        elif kind == "gc":
            rows["GC_RECORD"].append((*times, thread))
        elif kind == "collective":
            n = len(rows["COMMUNICATION_OP"])
            rows["COMMUNICATION_OP"].append((text(name), *times, connection, text("10.0.0.1%eth0_0_0"), n, 0, 0, 4, text("RING"), 1 << 20, text("hcom_allReduce_"), r.number, r.job["ranks"]))
        else:
            n, is_core = len(rows["TASK"]), args["task"] != "MEMCPY_ASYNC"
            rows["TASK"].append((*times, r.number, connection, n, 100, text("KERNEL_AICORE" if args["task"] == "AI_CORE" else args["task"]), 2**32 - 1, stream, n % 65536, 2**32 - 1))
            if is_core:
                rows["COMPUTE_TASK_INFO"].append((text(name), n, 24, 0, text(args["task"]), text(name)))
    rows["STRING_IDS"] = [(i, value) for value, i in texts.items()]
    with contextlib.closing(sqlite3.connect(path)) as db:
        for name, columns in TABLES.items():
            db.execute(f"CREATE TABLE {name} ({columns})")
            db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * (columns.count(',') + 1))})", rows[name])
        db.commit()


def write(job, seed, noise, folder):
    """-> the path to give to ascope, and the duration of each step of the job. The form is that of a job on GPUs; with npu: True or "database"."""
    ranks = simulate({**HEALTHY, **job}, seed, noise)
    shutil.rmtree(folder, ignore_errors=True)
    is_npu = ranks[0].job["npu"]
    for r in ranks:
        out = os.path.join(folder, f"rank{r.number}_ascend_pt", "ASCEND_PROFILER_OUTPUT") if is_npu and len(ranks) > 1 else folder
        os.makedirs(out, exist_ok=True)
        if out != folder:
            with open(os.path.join(os.path.dirname(out), f"profiler_info_{r.number}.json"), "w") as f:
                json.dump({"config": {}, "rank_id": r.number}, f)
        path = os.path.join(out, f"ascend_pytorch_profiler_{r.number}.db" if is_npu == "database" else "trace_view.json" if is_npu else f"rank{r.number}.pt.trace.json")
        if is_npu == "database":
            database(r, path)
            continue
        with open(path, "w") as f:
            json.dump(timeline(r) if is_npu else chrome(r), f)
    return path if len(ranks) == 1 else folder, [max(times) for times in zip(*(r.step_us for r in ranks))]


# ---- faults ----------------------------------------------------------------------------------------------------------------------------

def at(where, does, steps=None):
    """A fault that does something at one place of some steps."""
    def fault(r, n, place):
        return does(r) if place == where and (steps is None or n in steps) else None
    return fault


def gc(r):
    r.host("python_function", "Python GC", 9000)


def python(r):
    r.host("python_function", "train.py(26): tokenize", 1800)


def quiet(r):
    r.t += r.about(1800)


def checkpoint(r):
    for _ in range(16):
        r.copy("Memcpy DtoH (Device -> Pageable)", 150, 1 << 20, True)
    r.t += r.about(9000)


def pauses(r, n, place, us):
    """A pause in different operators, at random."""
    if place == "layer" and r.rng.random() < 0.2:
        r.wait()  # else the device would not notice
        begin = r.t
        r.t += us(r)
        r.emit("cpu_op", r.rng.choice(("aten::view", "aten::empty", "aten::t")), begin, r.t)
        r.t += 1


def gil(r, n, place):
    return pauses(r, n, place, lambda r: 5000 * r.rng.choice((1, 1, 1, 2)) + r.rng.uniform(20, 300))


def starved(r, n, place):
    return pauses(r, n, place, lambda r: r.rng.uniform(1500, 12000))


def compiles(r):
    r.host("user_annotation", "Torch-Compiled Region: 1/0, compile_fx.compile_inner", 16000)


def late_call(r):
    r.call("cudaLaunchKernel", 9000)


def slow_host(r, n, place):
    r.slow_host = 20.0 if r.number == 1 else 1.0


def throttles(r, n, place):
    r.clock = 1 + max(0.25, 5 * r.noise) if n >= 12 else 1.0


def malloc(r):
    for name, us in (("cudaFree", 300), ("cudaFree", 200), ("cudaMalloc", 300), ("cudaMalloc", 250)):
        r.call(name, us)


def offload(r):
    r.copy("Memcpy DtoH (Device -> Pinned)", 140, 16 << 20)


def small(r, n, place):
    for _ in range(4 if place == "layer" else 0):
        yield from r.collective("AllReduce", 100 << 10, 34)
        r.join()


def batchnorm(r, n, place):
    if place == "layer":
        r.op("aten::batch_norm_gather_stats_with_counts", us=4)
        for _ in range(2):
            yield from r.collective("AllGather", 8 << 10, 36)
            r.join()


def hang(r, n, place):
    if place == "optimizer":
        yield from r.collective("AllReduce", 25 << 20, 180000 if n == 8 else 330)
        r.join()


def ai_cpu(r):
    r.op("aten::nonzero", ("NonZero", 900), task="AI_CPU")


def trans_data(r):
    r.op("aten::npu_format_cast", ("TransData", 70))


def idle(r):
    begin = r.t
    r.t += 2
    r.host("cpu_op", "zmq::poll", 5000)
    r.emit("user_annotation", "recv_requests", begin, r.t + 1)
    r.t += 2


MULTI = {"ranks": 2}
LITTLE = {"gemm": 6, "elementwise": 2, "layers": 40, "optimizer_us": 10, "data": 4, "batch_copy": 8}
# What is planted: the check that names it, the job with it and without it, and whether the estimated gain is that of leaving it out.
FAULTS = {
    "H01 garbage collections": ("gc", {"fault": at("begin", gc, (5, 6, 9))}, {}, True),
    "H03 slow Python in each step": ("slow_python", {"fault": at("begin", python)}, {}, True),
    "H03 the same, not recorded": ("unrecorded", {"fault": at("begin", quiet)}, {}, True),
    "H04 a checkpoint every four steps": ("checkpoint", {"fault": at("end", checkpoint, (3, 7, 11))}, {}, True),
    "H05 a slow host": ("slow_host", {"fault": slow_host, "ranks": 4}, {"ranks": 4}, True),
    "H06 the GIL": ("gil", {"fault": gil}, {}, True),
    "H07 compiling": ("recompilation", {"fault": at("begin", compiles, (6,))}, {}, True),
    "H08 garbage collections, NPU": ("gc", {"fault": at("begin", gc, (5, 6, 9)), "npu": True}, {"npu": True}, True),
    "no processor for the host": ("host_starved", {"fault": starved}, {}, True),
    "L01 launch bound": ("launch_bound", {**LITTLE}, {**LITTLE, "views": (), "op_host": 0, "call": 0.1}, True),
    "L02 launch blocking": ("launch_blocking", {"blocking": True, "op_host": 60}, {"op_host": 60}, True),
    "L03 .item() in each layer": ("synchronisation", {"fault": at("layer", Rank.item), "op_host": 60}, {"op_host": 60}, True),
    "L04 a launch call": ("launch_outlier", {"fault": at("begin", late_call, (6,))}, {}, True),
    "K02 a lower clock": ("throttling", {"fault": throttles, "steps": 24}, {"steps": 24}, True),
    "K03 no tensor cores": ("tensor_cores", {"gemm_name": SGEMM, "gemm": 1560}, {}, True),
    "K05 optimizer not fused": ("optimizer", {"optimizer_kernels": 150, "optimizer_us": 3, "optimizer_name": ELEMENTWISE}, {}, True),
    "K07 AI CPU": ("ai_cpu", {"fault": at("data", ai_cpu), "npu": True}, {"npu": True}, True),
    "K08 format conversions": ("conversions", {"fault": at("layer", trans_data), "npu": True}, {"npu": True}, True),
    "K09 waves": ("waves", {"grid": 133, "shared": 200000, "gemm": 520}, {"grid": 132, "shared": 200000}, True),
    "D02 waiting for data": ("data_loader", {"data": 2600}, {}, True),
    "D03 pageable memory": ("pageable", {"memory": "Pageable", "batch_copy": 900}, {}, True),
    "D04 offload": ("offload", {"fault": at("layer", offload)}, {}, True),
    "C01 exposed communication": ("exposed_communication", {**MULTI, "serial": True, "bucket_us": 900}, {**MULTI, "bucket_us": 20}, True),
    "C03 small collectives": ("small_collectives", {**MULTI, "fault": small}, MULTI, True),
    "C04 a hanging collective": ("hanging_collective", {**MULTI, "fault": hang}, MULTI, True),
    "C05 SyncBatchNorm": ("sync_batchnorm", {**MULTI, "fault": batchnorm}, MULTI, True),
    "C06 no_sync is missing": ("no_sync", {**MULTI, "micro": 4, "reduces_always": True, "layers": 8, "gemm": 200, "bucket_us": 500}, {**MULTI, "micro": 4, "layers": 8, "gemm": 200, "bucket_us": 500}, True),
    "M02 allocating in each step": ("memory_operators", {"fault": at("data", malloc)}, {}, True),
}
# Not faults: nothing may be found.
TRAPS = {
    "T01 a warm-up step": {"fault": at("begin", compiles, (0,))},
    "T03 a loader that the device hides": {"data": 2500, "runs_ahead": True},
    "T05 an idle server": {"fault": at("begin", idle, range(0, 12, 2))},
    "healthy, four ranks": {"ranks": 4},
    "healthy, NPU": {"npu": True},
}


# ---- faults in some steps, and of some ranks: what the judge names -------------------------------------------------------------------------

STEP, AGAIN = 9, 5  # where it is, and how often
USUAL = {"steps": 24}
JOB = {"steps": 24, "ranks": 4}


def size(r):
    """Of what is planted in one step: far above the noise, of a step of 10.7 ms."""
    return 10700 * max(0.45, 15 * r.noise)


def in_step(does, rank=None, place="begin", steps=(STEP,)):
    def fault(r, n, where):
        return does(r) if where == place and (steps is None or n in steps) and rank in (None, r.number) else None
    return fault


def host_for(cat, name, share=1.0):
    return lambda r: r.host(cat, name, share * size(r))


def silent(r):
    r.t += size(r)


def longer_kernel(r):
    r.op("aten::index_put", ("void at::native::index_put_kernel", size(r)))


def more_kernels(r):
    for _ in range(round(size(r) / r.job["gemm"])):
        r.op("aten::linear", (GEMM, r.job["gemm"]))


def autotune(r):
    for i in range(12):
        r.op("triton::autotune", (f"triton_mm_{i}", size(r) / 12))


def mallocs(r):
    for _ in range(4):
        r.call("cudaMalloc", size(r) / 4)


def copies(r):
    r.copy("Memcpy DtoH (Device -> Pageable)", size(r), 1 << 26)


def planted(r, n):
    return size(r) if n == STEP and not r.job.get("usual") else 0


def one_longer(r, n, place):
    if place == "optimizer":
        r.op("aten::sort", ("void at::native::radix_sort", 300 + planted(r, n)))


def network(r, n, place):
    """All-reduces that are longer in a step, for all ranks."""
    if place == "optimizer":
        yield from r.collective("AllReduce", 25 << 20, 330 + planted(r, n))
        r.join()


def slow_device(r, n, place):
    r.clock = 1.1 if r.number == r.job["ranks"] // 2 else 1.0


def slow_once(r, n, place):
    r.clock = 1 + size(r) / 10700 if r.number == 2 and n == STEP else 1.0


def moves(r, n, place):
    r.clock = 1.4 if random.Random(n).randrange(r.job["ranks"]) == r.number else 1.0


def slow_loader(r):
    r.wait()
    r.host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1500)


def logs(r):
    r.wait()
    r.host("python_function", "train.py(77): log_metrics", 1500)


def drifts(r, n, place):
    if place == "begin":
        r.clock = 1 + max(0.006, r.noise / 4) * n


DATA = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
ONCE = f"once {STEP + 3}"
# (what the judge says: shape, step or rank, and the cause that `why` finds), the job with the fault, the job without it.
JUDGED = {
    "H01 a garbage collection": (f"{ONCE} gc", {"fault": in_step(host_for("python_function", "Python GC"))}, {}),
    "H01 a garbage collection, trace_view.json": (f"{ONCE} gc", {"fault": in_step(host_for("python_function", "Python GC")), "npu": True}, {"npu": True}),
    "H01 a garbage collection, database": (f"{ONCE} gc", {"fault": in_step(host_for("python_function", "Python GC")), "npu": "database"}, {"npu": "database"}),
    "H02 a pause of which nothing was recorded": (f"{ONCE} host", {"fault": in_step(silent)}, {}),
    "H03 Python in a step": (f"{ONCE} host", {"fault": in_step(host_for("python_function", "train.py(26): tokenize"))}, {}),
    "H03 Python in some steps in a row": ("steps 12 16 host", {"fault": in_step(host_for("python_function", "train.py(26): tokenize"), steps=range(9, 14))}, {}),
    "H04 a checkpoint every sixth step": ("period 6 memory", {"fault": in_step(copies, place="end", steps=range(5, 24, 6))}, {}),
    "H07 compiling in a step": (f"{ONCE} host", {"fault": in_step(host_for("user_annotation", "compile_fx.compile_inner"))}, {}),
    "K01 a kernel longer in a step": (f"{ONCE} longer", {"fault": one_longer}, {"fault": one_longer, "usual": True}),
    "K02 a lower clock since a step": ("since 15 longer", {"fault": throttles}, {}),
    "K02 a lower clock of an NPU": ("since 15 longer", {"fault": throttles, "npu": "database"}, {"npu": "database"}),
    "K04 more kernels in a step": (f"{ONCE} runs", {"fault": in_step(more_kernels)}, {}),
    "K06 autotuning in a step": (f"{ONCE} runs", {"fault": in_step(autotune)}, {}),
    "D01 a step waits for data": (f"{ONCE} data", {"fault": in_step(host_for("user_annotation", DATA))}, {}),
    "D05 the loader of a rank": ("rank 2 data", {**JOB, "fault": in_step(slow_loader, 2, steps=None)}, JOB),
    "D05 the loader of a rank, database": ("rank 2 data", {**JOB, "fault": in_step(slow_loader, 2, steps=None), "npu": "database"}, {**JOB, "npu": "database"}),
    "C02 the network in a step": (f"{ONCE} transfer", {**JOB, "fault": network}, {**JOB, "fault": network, "usual": True}),
    "C07 the network in a step, trace_view.json": (f"{ONCE} transfer", {**JOB, "fault": network, "npu": True}, {**JOB, "fault": network, "usual": True, "npu": True}),
    "R01 a slow device": ("rank 2 longer", {**JOB, "fault": slow_device}, JOB),
    "R01 a slow device of two": ("rank 1 longer", {**JOB, "fault": slow_device, "ranks": 2}, {**JOB, "ranks": 2}),
    "R02 a rank slow in a step": (f"{ONCE} rank 2 longer", {**JOB, "fault": slow_once}, JOB),
    "R03 another rank in each step": ("in_turns", {**JOB, "fault": moves}, JOB),
    "R06 rank 0 does more": ("rank 0 host", {**JOB, "fault": in_step(logs, 0, "end", None)}, JOB),
    "R08 a slow device, trace_view.json": ("rank 2 longer", {**JOB, "fault": slow_device, "npu": True}, {**JOB, "npu": True}),
    "R08 a slow device, databases": ("rank 2 longer", {**JOB, "fault": slow_device, "npu": "database"}, {**JOB, "npu": "database"}),
    "M01 allocating in a step": (f"{ONCE} memory", {"fault": in_step(mallocs)}, {}),
    "a drift": ("drift longer", {"fault": drifts}, {}),
}
# Jobs without a fault that are less even than noise: nothing may be found.
UNEVEN = {
    "steps like the one before": {"steps": 40, "weather": "like the one before"},
    "steps like the one before, four ranks": {**JOB, "weather": "like the one before"},
    "noise with a long tail": {"steps": 40, "weather": "long tail"},
}


def main(fault, *rest):
    seed, noise = (list(map(float, rest[:-1])) + [0, 0.03][len(rest) - 1:])[:2]
    job, without = (FAULTS.get(fault) or JUDGED[fault])[1:3] if fault in {**FAULTS, **JUDGED} else ({**TRAPS, **UNEVEN}[fault], {})
    job, without = ({**USUAL, **one} if fault in JUDGED else one for one in (job, without))
    for name, one in (("with", job), ("without", without)):
        path, times = write(one, int(seed), noise, os.path.join(rest[-1], name))
        print(f"{path}: {sum(times) / len(times):.0f} us a step")


if __name__ == "__main__":
    main(*sys.argv[1:])
