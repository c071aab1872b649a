# SPDX-License-Identifier: Apache-2.0
"""Traces of training jobs with a planted fault, and the same jobs without it, to measure `ascope advise` by.

A simulation of events: each rank has a host thread that launches, streams that run in order, and collectives that end when the last rank has
come. What a fault costs is the difference to the same job without it. All durations vary by `noise` (a relative standard deviation).

usage: fault_traces.py FAULT [SEED [NOISE]] OUT: writes OUT/with and OUT/without, one trace for each rank.
"""
import json
import os
import random
import shutil
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


class Rank:
    """What one process records. Host time is self.t; self.free has when each stream is free."""
    def __init__(self, number, job, noise, seed):
        self.rng = random.Random(f"{seed} {number}")
        self.number, self.job, self.noise = number, job, noise
        self.t, self.free, self.events, self.correlation, self.slow_host = 1000.0, {COMPUTE: 0.0, COMM: 0.0}, [], 0, 1.0
        self.clock, self.step_us = 1.0, []

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
        self.run("kernel", name, self.about(us) * self.clock, launched, grid=[grid, 1, 1], block=[128, 1, 1], **{"registers per thread": 64, "shared memory": shared}, **args)
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
        end = (yield begin) + self.about(us)
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
            for view in ("aten::view", "aten::transpose", "aten::empty"):
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


def timeline(r):
    """As torch_npu writes trace_view.json."""
    python, cann, hardware, gc = 1, 2, 3, 4
    events = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
              for pid, name in ((python, "Python"), (cann, "CANN"), (hardware, "Ascend Hardware"), (gc, "Python GC"))]
    calls = {"cudaLaunchKernel": "Node@launch", "cudaLaunchKernelExC": "Node@launch", "cudaStreamSynchronize": "AscendCL@aclrtSynchronizeStream",
             "cudaMemcpyAsync": "AscendCL@aclrtMemcpyAsync"}
    for cat, name, begin, duration, tid, args in r.events:
        one = {"ph": "X", "name": NPU_NAMES.get(name, name), "pid": python, "tid": 100, "ts": f"{begin:.3f}", "dur": round(duration, 3), "args": {}}
        connection = {"connection_id": str(args["correlation"])} if "correlation" in args else {}
        if cat == "cuda_runtime":
            one.update(name=calls.get(name, name), pid=cann, args=connection)
        elif cat in ("kernel", "gpu_memcpy"):
            task = args.get("task", "AI_CORE" if cat == "kernel" else "MEMCPY_ASYNC")
            one.update(pid=hardware, tid=tid, args={"Task Type": task, "Physic Stream Id": tid, **connection})
            one["name"] = "MEMCPY_ASYNC" if cat == "gpu_memcpy" else one["name"]
        elif name == "Python GC":
            one.update(pid=gc, tid=0, cat="GC")
        else:
            one["cat"] = "cpu_op"
        events.append(one)
    return events


def write(job, seed, noise, folder):
    """-> the path to give to ascope, and the duration of each step of the job."""
    ranks = simulate({**HEALTHY, **job}, seed, noise)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    is_npu = ranks[0].job["npu"]
    for r in ranks:
        name = "trace_view.json" if is_npu else f"rank{r.number}.pt.trace.json"
        with open(os.path.join(folder, name), "w") as f:
            json.dump(timeline(r) if is_npu else chrome(r), f)
    one = len(ranks) == 1
    return os.path.join(folder, name) if one else folder, [max(times) for times in zip(*(r.step_us for r in ranks))]


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


def throttled(r, n, place):
    r.clock = 1.25 if n >= 6 else 1.0


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
LITTLE = {"gemm": 6, "elementwise": 2, "layers": 40, "optimizer_us": 10, "data": 40, "batch_copy": 8}
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
    "L01 launch bound": ("launch_bound", {**LITTLE}, {**LITTLE, "op_host": 0, "call": 0.1, "elementwise": 1, "gemm": 4}, True),
    "L02 launch blocking": ("launch_blocking", {"blocking": True, "op_host": 60}, {"op_host": 60}, True),
    "L03 .item() in each layer": ("synchronisation", {"fault": at("layer", Rank.item), "op_host": 60}, {"op_host": 60}, True),
    "L04 a launch call": ("launch_outlier", {"fault": at("begin", late_call, (6,))}, {}, True),
    "K02 a lower clock": ("throttling", {"fault": throttled}, {}, True),
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


def main(fault, *rest):
    seed, noise = (list(map(float, rest[:-1])) + [0, 0.03][len(rest) - 1:])[:2]
    _, job, without, _ = FAULTS[fault] if fault in FAULTS else (None, TRAPS[fault], {}, None)
    for name, one in (("with", job), ("without", without)):
        path, times = write(one, seed, noise, os.path.join(rest[-1], name))
        print(f"{path}: {sum(times) / len(times):.0f} us a step")


if __name__ == "__main__":
    main(*sys.argv[1:])
