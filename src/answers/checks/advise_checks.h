/* SPDX-License-Identifier: Apache-2.0 */
/* advise_checks.h - registry: the table of checks of `ascope advise`: a row is all that it takes, besides its function.
 *
 * RANK(key, title, flags, needs, change): check_KEY() looks at one rank. JOB() of the same form: it compares all ranks.
 * `flags` are those of enum check_flags. `needs` is how to record what it needs, `change` what to do: each is
 * EACH(on an NPU, on a GPU), BOTH(the same text), NPU_ONLY(text) or GPU_ONLY(text), if it does not apply to the others.
 * The report lists checks in this order where their gains are equal.
 *
 * - collective_checks.c: which collectives a step has. They need no transfers, as those of comm_checks.c do.
 * - comm_checks.c: what collectives moved over links: sizes, alignment, bandwidth, retransmissions
 * - copy_checks.c: copies between memories that nothing overlaps
 * - device_checks.c: what the cores of a device did: their clock, AI CPU operators, block numbers
 * - job_checks.c: ranks beside each other
 * - kernel_checks.c: the kernels themselves: what units they use, what they are for, how fast all of them run
 * - launch_checks.c: whether the host waits after each launch, waits in between, is too slow, or hangs once
 * - serving_checks.c: iterations of inference engines
 * - stall_checks.c: what the host does while the device is free: Python, compilation, checkpoints, pauses
 * - waiting_checks.c: what the device waits for on the host
 */
#ifndef ASCOPE_ANSWERS_CHECKS_ADVISE_CHECKS_H
#define ASCOPE_ANSWERS_CHECKS_ADVISE_CHECKS_H

#include "answers/checks/advise.h"

/* clang-format off */
#define COLLECTIVES "collectives with their transfers: profiler_level Level1 or higher (msprof --hccl=on)"
#define FRAMEWORK   "the framework's own events: activities with CPU"
#define CALLS \
    "calls of the software stack: profiler_level Level1 or higher (msprof --ascendcl=on --runtime-api=on)"
#define CUDA_CALLS  "calls of CUDA: activities with CUDA"
#define DEVICE      "the device: activities with NPU"
#define GPU         "the GPU: activities with CUDA"

#define ADVISE_CHECKS(RANK, JOB) \
    JOB(slow_rank, "a rank that the others wait for", CHECK_OF_HOST, BOTH("all ranks of the job, with steps"), \
        EACH("see ascope why for the operators; check the clock, temperature and memory of its device, other " \
             "processes on its host, and whether it gets more work", \
             "see ascope why for the kernels; check the clock, temperature and power limit of its GPU, other " \
             "processes on its host, and whether it gets more work")) \
    JOB(slow_host, "the host of a rank is slow in everything", CHECK_OF_HOST, \
        BOTH("operators of all ranks of the job: activities with CPU"), \
        EACH("pin the rank to cores of its own (CPU_AFFINITY_CONF, taskset), move interrupts away from them, " \
             "stop other processes on its host, check the governor of its clock", \
             "pin the rank to cores of its own (taskset, numactl), move interrupts away from them, stop other " \
             "processes on its host, check the governor of its clock")) \
    RANK(data_loader, "waiting for data", CHECK_OF_HOST, BOTH(FRAMEWORK), \
        BOTH("more workers of the data loader (num_workers, persistent_workers, prefetch_factor), pinned " \
             "memory, cheaper or cached preprocessing, faster storage")) \
    RANK(gc, "Python garbage collection", CHECK_OF_HOST, \
        EACH("garbage collections: gc_detect_threshold of _ExperimentalConfig", \
             "garbage collections: record_python_gc_info of _ExperimentalConfig (PyTorch 2.9 or later)"), \
        BOTH("gc.freeze() after the first step, gc.disable() with gc.collect() between steps of all ranks, or a " \
             "higher gc.set_threshold()")) \
    RANK(memory_operators, "allocating device memory in a step", CHECK_SMALL, EACH(CALLS, CUDA_CALLS), \
        EACH("no torch.npu.empty_cache() in the step; PYTORCH_NPU_ALLOC_CONF=expandable_segments:True, or a " \
             "smaller peak: the pool frees memory and allocates it again", \
             "no torch.cuda.empty_cache() in the step; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or a " \
             "smaller peak: the pool frees memory and allocates it again")) \
    RANK(checkpoint, "a checkpoint in a step", 0, EACH(DEVICE, GPU), \
        BOTH("write checkpoints asynchronously (torch.distributed.checkpoint.async_save: copy to pinned memory, " \
             "write from another thread), less often, to faster storage")) \
    RANK(recompilation, "compiling in a step", CHECK_OF_FREE, BOTH(FRAMEWORK), \
        EACH("fixed or bucketed shapes, torch.npu.set_compile_mode(jit_compile=False), binary operators and " \
             "their cache; warm up all shapes before the run", \
             "fixed or bucketed shapes, torch.compile(dynamic=True), TORCH_LOGS=recompiles for the reason; warm " \
             "up all shapes before the run")) \
    RANK(scheduling, "scheduling between iterations", CHECK_OF_HOST, BOTH(FRAMEWORK), \
        EACH("asynchronous scheduling (the next iteration is prepared while the device computes), fewer running " \
             "requests, several steps per scheduling", \
             "asynchronous scheduling (the next iteration is prepared while the GPU computes), fewer running " \
             "requests, several steps per scheduling")) \
    RANK(post_processing, "handling results between iterations", CHECK_OF_HOST, BOTH(FRAMEWORK), \
        BOTH("detokenise and send results in another process or thread, asynchronous output")) \
    RANK(between_iterations, "other work between iterations", CHECK_OF_HOST, BOTH(FRAMEWORK), \
        BOTH("see what it is (with_stack names Python functions), and move it off the thread of the engine; " \
             "gc.freeze() after the start")) \
    RANK(sampling, "slow sampling", CHECK_OF_HOST, BOTH(FRAMEWORK), \
        BOTH("a fused sampler, top-k before top-p (no sort of the whole vocabulary), log probabilities only for " \
             "requests that ask for them")) \
    RANK(long_prompt, "a long prompt stalls decodes", CHECK_OF_HOST, BOTH(FRAMEWORK), \
        BOTH("chunked prefill with a smaller budget of tokens for each iteration, or prompts on engines of " \
             "their own")) \
    RANK(preemption, "preempted requests are computed again", CHECK_OF_HOST, \
        BOTH("requests with their tokens: ascope.request()"), \
        BOTH("more memory for keys and values (gpu_memory_utilization, quantised cache), fewer running requests " \
             "(max_num_seqs), prefix caching")) \
    RANK(decode_launches, "decodes are bound by launches", CHECK_OF_FREE, EACH(CALLS, CUDA_CALLS), \
        EACH("ACL graphs for decodes, asynchronous scheduling, larger batches", \
             "CUDA graphs for decodes, asynchronous scheduling, larger batches")) \
    RANK(decode_host, "other work in decodes", CHECK_OF_HOST, BOTH(FRAMEWORK), \
        BOTH("see what it is (with_stack names Python functions), and move it out of the decode, vectorise it " \
             "or cache its result")) \
    RANK(graph_fallback, "large decodes without a captured graph", CHECK_SMALL, EACH(CALLS, CUDA_CALLS), \
        BOTH("capture graphs for these sizes (cudagraph_capture_sizes, cuda_graph_max_bs), or limit the batch")) \
    RANK(slow_python, "slow Python code in the step", CHECK_OF_FREE, BOTH("Python functions: with_stack=True"), \
        BOTH("move the function out of the step or into another process, call it every N steps, vectorise it, " \
             "cache its result")) \
    RANK(gil, "another thread holds Python's lock (GIL)", CHECK_OF_FREE, BOTH(FRAMEWORK), \
        BOTH("move the other thread's Python code into a process (multiprocessing), or into code that releases " \
             "the lock; a smaller sys.setswitchinterval()")) \
    RANK(host_starved, "the host is interrupted again and again", CHECK_OF_FREE | CHECK_OF_HOST, BOTH(FRAMEWORK), \
        EACH("look for other processes on the host (load average, top), give the job cores of its own " \
             "(CPU_AFFINITY_CONF=1, taskset, cgroup limits), fewer threads (OMP_NUM_THREADS); ascope run " \
             "--host-sys records who ran", \
             "look for other processes on the host (load average, top), give the job cores of its own (taskset, " \
             "numactl, cgroup limits), fewer threads (OMP_NUM_THREADS); ascope run --host-sys records who ran")) \
    RANK(unrecorded, "the host does something that was not recorded", CHECK_OF_FREE, BOTH(FRAMEWORK), \
        BOTH("record with with_stack=True to see the Python function, then move it out of the step, vectorise " \
             "it or cache its result")) \
    RANK(launch_blocking, "the host waits for the device after each launch", CHECK_OF_FREE, EACH(CALLS, CUDA_CALLS), \
        EACH("unset ASCEND_LAUNCH_BLOCKING; no stream synchronisation after each operator", \
             "unset CUDA_LAUNCH_BLOCKING; no synchronisation after each kernel")) \
    RANK(synchronisation, "the host waits for the device in the step", CHECK_OF_FREE | CHECK_SMALL, \
        EACH(CALLS, CUDA_CALLS), \
        EACH("avoid .item(), .cpu(), bool(tensor) and stream synchronisation in the step: log every N steps, " \
             "keep values on the device, copy with non_blocking=True and an event", \
             "avoid .item(), .cpu(), bool(tensor) and stream synchronisation in the step: log every N steps, " \
             "keep values on the GPU, copy with non_blocking=True and an event")) \
    RANK(launch_outlier, "a launch call takes milliseconds", CHECK_OF_FREE, EACH(CALLS, CUDA_CALLS), \
        EACH("look for what holds the driver's lock: another process or thread on the device, loading of code, " \
             "allocation of page-locked memory; warm up all kernels", \
             "look for what holds the driver's lock: another process or thread on the GPU, loading of modules " \
             "(CUDA_MODULE_LOADING=EAGER), allocation of page-locked memory")) \
    RANK(launch_bound, "small kernels, bound by launches", CHECK_OF_FREE, EACH(CALLS, CUDA_CALLS), \
        EACH("fewer and larger operators (fusion, larger batches), graph mode (torch.compile, ACL graphs), " \
             "TASK_QUEUE_ENABLE=2, CPU affinity (CPU_AFFINITY_CONF=1)", \
             "fewer and larger kernels (fusion, torch.compile, larger batches), CUDA graphs " \
             "(mode=\"reduce-overhead\")")) \
    RANK(free_time, "the device waits for the host", 0, EACH(DEVICE, GPU), \
        EACH("fewer and larger operators (fusion, larger batches), graph mode, TASK_QUEUE_ENABLE=2, CPU " \
             "affinity (CPU_AFFINITY_CONF=1); move the listed work out of the step (with_stack names Python " \
             "functions)", \
             "fewer and larger kernels (fusion, torch.compile, larger batches), CUDA graphs; move the listed " \
             "work out of the step (with_stack names Python functions)")) \
    RANK(pageable, "copies from pageable memory", CHECK_SMALL, EACH(DEVICE, GPU), \
        BOTH("pin_memory=True of the data loader (or tensor.pin_memory()), and .to(device, non_blocking=True)")) \
    RANK(offload, "copies to the host that are not overlapped", 0, EACH(DEVICE, GPU), \
        EACH("keep on the device what is copied back in every step; else copy on a stream of its own into " \
             "pinned memory with non_blocking=True, and overlap offloading with computing", \
             "keep on the GPU what is copied back in every step; else copy on a stream of its own into pinned " \
             "memory with non_blocking=True, and overlap offloading with computing")) \
    RANK(copies, "copies that are not overlapped", 0, EACH(DEVICE, GPU), \
        EACH("prefetch on a stream of its own with non_blocking=True; keep on the device what is copied in " \
             "every step", \
             "prefetch on a stream of its own with non_blocking=True; keep on the GPU what is copied in every " \
             "step")) \
    RANK(throttling, "all kernels are slower by one factor", 0, EACH(DEVICE, GPU), \
        EACH("check power limit, temperature and fan of the device (npu-smi info); reduce its load", \
             "check power limit, temperature and clocks of the GPU (nvidia-smi -q -d PERFORMANCE,CLOCK,POWER); " \
             "cooling, power cap, lock of the clock")) \
    RANK(frequency, "the cores run below their nominal clock", 0, \
        BOTH("changes of the clock: profiler_level Level1 or higher on Atlas A2/A3"), \
        NPU_ONLY("check power limit, temperature and fan of the device (npu-smi info); reduce its load")) \
    RANK(tensor_cores, "matrix products without tensor cores", 0, EACH(DEVICE, GPU), \
        GPU_ONLY("torch.autocast(dtype=torch.bfloat16), or TF32: torch.set_float32_matmul_precision(\"high\"), " \
                 "torch.backends.cudnn.allow_tf32 = True")) \
    RANK(optimizer, "an optimizer that is not fused", 0, \
        EACH("the optimizer's range and calls: activities with CPU, profiler_level Level1 or higher", \
             "the optimizer's range and calls: activities with CPU and CUDA"), \
        EACH("fused optimizers: torch_npu.optim.NpuFusedAdamW and others", \
             "fused=True (or foreach=True) of the optimizer")) \
    RANK(conversions, "conversions of formats", 0, EACH(DEVICE, GPU), \
        EACH("keep the format that the operators need (ND or NZ, channels_last), one type throughout; no casts " \
             "and .contiguous() in the step", \
             "keep the layout that the kernels need (channels_last), one type throughout; no casts and " \
             ".contiguous() in the step")) \
    RANK(ai_cpu, "operators on the AI CPU", 0, BOTH("types of tasks: profiler_level Level1 or higher"), \
        NPU_ONLY("data types that the AI cores support (int32 instead of int64, float instead of double), or " \
                 "another operator")) \
    RANK(block_dim, "numbers of blocks that leave cores idle", 0, \
        BOTH("types and blocks of kernels: profiler_level Level1 or higher"), \
        NPU_ONLY("shapes whose outer dimensions are multiples of the number of cores; for your own kernels, " \
                 "another tiling")) \
    RANK(waves, "numbers of blocks that leave SMs idle", 0, \
        EACH(DEVICE, "kernels with their grids: activities with CUDA"), \
        GPU_ONLY("pad dimensions so that the number of blocks fits the SMs (multiples of 64 to 256 for matrix " \
                 "products), another batch size, persistent or split-k kernels")) \
    JOB(exposed_communication, "communication that is not overlapped", 0, EACH(DEVICE, GPU), \
        BOTH("overlap: buckets of DistributedDataParallel (bucket_cap_mb), prefetch of FSDP or ZeRO, " \
             "asynchronous collectives on a stream of their own; larger batches per rank")) \
    RANK(no_sync, "gradients reduced after each micro batch", CHECK_OF_COMM, EACH(DEVICE, GPU), \
        BOTH("with model.no_sync(): for all but the last micro batch of a step; gradient_as_bucket_view=True")) \
    RANK(sync_batchnorm, "synchronised batch normalisation", CHECK_OF_COMM, EACH(DEVICE, GPU), \
        BOTH("plain BatchNorm or GroupNorm if the batch of a rank is large enough; a larger batch per rank")) \
    RANK(small_collectives, "many small collectives", CHECK_OF_COMM, \
        EACH("sizes of collectives: profiler_level Level1 or higher", \
             "sizes of collectives: record_shapes, and PyTorch 2.2 or later"), \
        BOTH("larger buckets (bucket_cap_mb, gradient accumulation), coalesced collectives; ZeRO with larger " \
             "reduce_bucket_size and allgather_bucket_size")) \
    RANK(hanging_collective, "a collective that hangs", CHECK_OF_COMM | CHECK_ALL_RANKS, EACH(DEVICE, GPU), \
        EACH("check the network: optical modules, PFC settings, HCCL_RDMA_TC and HCCL_RDMA_SL, counters of " \
             "retransmissions", \
             "check the network: optical modules, PFC settings, NCCL_IB_TC, NCCL_IB_TIMEOUT and " \
             "NCCL_IB_RETRY_CNT, counters of retransmissions")) \
    RANK(small_packets, "small transfers", CHECK_OF_COMM, BOTH(COLLECTIVES), \
        NPU_ONLY("larger buckets (bucket_cap_mb, gradient accumulation), fewer and larger collectives; ZeRO " \
                 "with larger reduce_bucket_size")) \
    RANK(byte_alignment, "unaligned transfers", CHECK_OF_COMM, BOTH(COLLECTIVES), \
        NPU_ONLY("pad tensors of collectives to multiples of 512 bytes")) \
    RANK(slow_link, "a slow link", CHECK_OF_COMM, BOTH(COLLECTIVES), \
        NPU_ONLY("check cable, port and its error counters; ascope cluster compares the links of all ranks")) \
    RANK(retransmission, "retransmitted packets", CHECK_OF_COMM, BOTH(COLLECTIVES), \
        NPU_ONLY("check the network: optical modules, PFC settings, HCCL_RDMA_TC and HCCL_RDMA_SL; " \
                 "HCCL_RDMA_TIMEOUT sets the time"))
/* clang-format on */

#define CHECK_DECLARE(key, ...)     enum check_state check_##key(const struct checked_rank *s, struct finding *out);
#define CHECK_DECLARE_JOB(key, ...) check_of_job check_##key;
ADVISE_CHECKS(CHECK_DECLARE, CHECK_DECLARE_JOB)
#undef CHECK_DECLARE
#undef CHECK_DECLARE_JOB

/* By row of the series: the time of collectives in which nothing computes. Exchanges of two ranks (stages of a
 * pipeline) do not count, nor what is known to be waiting for other ranks. NULL: no memory. */
double *exposed_collectives(const struct checked_rank *s);

/* What a check of collectives answers where there are none: they do not apply to a job of one process; in a job of
 * several there was nothing to find; or they were not recorded. */
enum check_state state_without_collectives(const struct checked_rank *s);

/* Fills pays_ns: by how much the step gets shorter if a kernel takes no time. That is nothing if the device has to wait
 * for the host after it anyway: what the host launches next does not begin earlier. False: no memory. */
bool kernel_pays_find(struct checked_rank *s);

bool launch_waits_find(struct checked_rank *s); /* fills launches; false: no memory */

/* What checks of a job need of a rank, when it is looked at. False: no memory. */
bool host_speed_find(struct host_speed *out, const struct checked_rank *s);

/* The checks of a rank run before the other ranks are read: takes off comm_ns what `rank.waits` says by now. Before
 * advise_job(). False: no memory. */
bool advise_take_waits(struct advise_rank *r, struct arena *mem);

#endif
