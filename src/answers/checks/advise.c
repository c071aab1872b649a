/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/checks/advise_checks.h"
#include "answers/checks/findings.h"
#include "answers/checks/job_checks.h"
#include "base/text/readable.h"
#include "answers/judge/job_peers.h"
#include "raw/chip.h"

#define COLLECTIVES "collectives with their transfers: profiler_level Level1 or higher (msprof --hccl=on)"
#define FRAMEWORK   "the framework's own events: activities with CPU"
#define CALLS       "calls of the software stack: profiler_level Level1 or higher (msprof --ascendcl=on --runtime-api=on)"
#define CUDA_CALLS  "calls of CUDA: activities with CUDA"
#define DEVICE      "the device: activities with NPU"
#define GPU         "the GPU: activities with CUDA"

static check_of_job check_slow_rank;

/* clang-format off */
const struct check advise_checks[] = {
    { "slow_rank", "a rank that the others wait for", "all ranks of the job, with steps", NULL,
      "see ascope why for the operators; check the clock, temperature and memory of its device, other processes on its host, and whether it gets more work",
      "see ascope why for the kernels; check the clock, temperature and power limit of its GPU, other processes on its host, and whether it gets more work",
      CHECK_OF_HOST | CHECK_OF_JOB, NULL, check_slow_rank },
    { "slow_host", "the host of a rank is slow in everything", "operators of all ranks of the job: activities with CPU", NULL,
      "pin the rank to cores of its own (CPU_AFFINITY_CONF, taskset), move interrupts away from them, stop other processes on its host, check the governor of its clock",
      "pin the rank to cores of its own (taskset, numactl), move interrupts away from them, stop other processes on its host, check the governor of its clock",
      CHECK_OF_HOST | CHECK_OF_JOB, NULL, check_slow_host },
    { "data_loader", "waiting for data", FRAMEWORK, NULL,
      "more workers of the data loader (num_workers, persistent_workers, prefetch_factor), pinned memory, cheaper or cached preprocessing, faster storage",
      "more workers of the data loader (num_workers, persistent_workers, prefetch_factor), pinned memory, cheaper or cached preprocessing, faster storage", CHECK_OF_HOST, check_data_loader, NULL },
    { "gc", "Python garbage collection", "garbage collections: gc_detect_threshold of _ExperimentalConfig", "garbage collections: record_python_gc_info of _ExperimentalConfig (PyTorch 2.9 or later)",
      "gc.freeze() after the first step, gc.disable() with gc.collect() between steps of all ranks, or a higher gc.set_threshold()",
      "gc.freeze() after the first step, gc.disable() with gc.collect() between steps of all ranks, or a higher gc.set_threshold()", CHECK_OF_HOST, check_gc, NULL },
    { "memory_operators", "allocating device memory in a step", CALLS, CUDA_CALLS,
      "no torch.npu.empty_cache() in the step; PYTORCH_NPU_ALLOC_CONF=expandable_segments:True, or a smaller peak: the pool frees memory and allocates it again",
      "no torch.cuda.empty_cache() in the step; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or a smaller peak: the pool frees memory and allocates it again", CHECK_SMALL, check_memory_operators, NULL },
    { "checkpoint", "a checkpoint in a step", DEVICE, GPU,
      "write checkpoints asynchronously (torch.distributed.checkpoint.async_save: copy to pinned memory, write from another thread), less often, to faster storage",
      "write checkpoints asynchronously (torch.distributed.checkpoint.async_save: copy to pinned memory, write from another thread), less often, to faster storage", 0, check_checkpoint, NULL },
    { "recompilation", "compiling in a step", FRAMEWORK, NULL,
      "fixed or bucketed shapes, torch.npu.set_compile_mode(jit_compile=False), binary operators and their cache; warm up all shapes before the run",
      "fixed or bucketed shapes, torch.compile(dynamic=True), TORCH_LOGS=recompiles for the reason; warm up all shapes before the run", CHECK_OF_FREE, check_recompilation, NULL },
    { "scheduling", "scheduling between iterations", FRAMEWORK, NULL,
      "asynchronous scheduling (the next iteration is prepared while the device computes), fewer running requests, several steps per scheduling",
      "asynchronous scheduling (the next iteration is prepared while the GPU computes), fewer running requests, several steps per scheduling", CHECK_OF_HOST, check_scheduling, NULL },
    { "post_processing", "handling results between iterations", FRAMEWORK, NULL,
      "detokenise and send results in another process or thread, asynchronous output",
      "detokenise and send results in another process or thread, asynchronous output", CHECK_OF_HOST, check_post_processing, NULL },
    { "between_iterations", "other work between iterations", FRAMEWORK, NULL,
      "see what it is (with_stack names Python functions), and move it off the thread of the engine; gc.freeze() after the start",
      "see what it is (with_stack names Python functions), and move it off the thread of the engine; gc.freeze() after the start", CHECK_OF_HOST, check_between_iterations, NULL },
    { "sampling", "slow sampling", FRAMEWORK, NULL,
      "a fused sampler, top-k before top-p (no sort of the whole vocabulary), log probabilities only for requests that ask for them",
      "a fused sampler, top-k before top-p (no sort of the whole vocabulary), log probabilities only for requests that ask for them", CHECK_OF_HOST, check_sampling, NULL },
    { "long_prompt", "a long prompt stalls decodes", FRAMEWORK, NULL,
      "chunked prefill with a smaller budget of tokens for each iteration, or prompts on engines of their own",
      "chunked prefill with a smaller budget of tokens for each iteration, or prompts on engines of their own", CHECK_OF_HOST, check_long_prompt, NULL },
    { "preemption", "preempted requests are computed again", "requests with their tokens: ascope.request()", NULL,
      "more memory for keys and values (gpu_memory_utilization, quantised cache), fewer running requests (max_num_seqs), prefix caching",
      "more memory for keys and values (gpu_memory_utilization, quantised cache), fewer running requests (max_num_seqs), prefix caching", CHECK_OF_HOST, check_preemption, NULL },
    { "decode_launches", "decodes are bound by launches", CALLS, CUDA_CALLS,
      "ACL graphs for decodes, asynchronous scheduling, larger batches", "CUDA graphs for decodes, asynchronous scheduling, larger batches", CHECK_OF_FREE, check_decode_launches, NULL },
    { "decode_host", "other work in decodes", FRAMEWORK, NULL,
      "see what it is (with_stack names Python functions), and move it out of the decode, vectorise it or cache its result",
      "see what it is (with_stack names Python functions), and move it out of the decode, vectorise it or cache its result", CHECK_OF_HOST, check_decode_host, NULL },
    { "graph_fallback", "large decodes without a captured graph", CALLS, CUDA_CALLS,
      "capture graphs for these sizes (cudagraph_capture_sizes, cuda_graph_max_bs), or limit the batch", "capture graphs for these sizes (cudagraph_capture_sizes, cuda_graph_max_bs), or limit the batch", CHECK_SMALL, check_graph_fallback, NULL },
    { "slow_python", "slow Python code in the step", "Python functions: with_stack=True", NULL,
      "move the function out of the step or into another process, call it every N steps, vectorise it, cache its result",
      "move the function out of the step or into another process, call it every N steps, vectorise it, cache its result", CHECK_OF_FREE, check_slow_python, NULL },
    { "gil", "another thread holds Python's lock (GIL)", FRAMEWORK, NULL,
      "move the other thread's Python code into a process (multiprocessing), or into code that releases the lock; a smaller sys.setswitchinterval()",
      "move the other thread's Python code into a process (multiprocessing), or into code that releases the lock; a smaller sys.setswitchinterval()", CHECK_OF_FREE, check_gil, NULL },
    { "host_starved", "the host is interrupted again and again", FRAMEWORK, NULL,
      "look for other processes on the host (load average, top), give the job cores of its own (CPU_AFFINITY_CONF=1, taskset, cgroup limits), fewer threads (OMP_NUM_THREADS); ascope run --host-sys records who ran",
      "look for other processes on the host (load average, top), give the job cores of its own (taskset, numactl, cgroup limits), fewer threads (OMP_NUM_THREADS); ascope run --host-sys records who ran", CHECK_OF_FREE | CHECK_OF_HOST, check_host_starved, NULL },
    { "unrecorded", "the host does something that was not recorded", FRAMEWORK, NULL,
      "record with with_stack=True to see the Python function, then move it out of the step, vectorise it or cache its result",
      "record with with_stack=True to see the Python function, then move it out of the step, vectorise it or cache its result", CHECK_OF_FREE, check_unrecorded, NULL },
    { "launch_blocking", "the host waits for the device after each launch", CALLS, CUDA_CALLS,
      "unset ASCEND_LAUNCH_BLOCKING; no stream synchronisation after each operator", "unset CUDA_LAUNCH_BLOCKING; no synchronisation after each kernel", CHECK_OF_FREE, check_launch_blocking, NULL },
    { "synchronisation", "the host waits for the device in the step", CALLS, CUDA_CALLS,
      "avoid .item(), .cpu(), bool(tensor) and stream synchronisation in the step: log every N steps, keep values on the device, copy with non_blocking=True and an event",
      "avoid .item(), .cpu(), bool(tensor) and stream synchronisation in the step: log every N steps, keep values on the GPU, copy with non_blocking=True and an event", CHECK_OF_FREE | CHECK_SMALL, check_synchronisation, NULL },
    { "launch_outlier", "a launch call takes milliseconds", CALLS, CUDA_CALLS,
      "look for what holds the driver's lock: another process or thread on the device, loading of code, allocation of page-locked memory; warm up all kernels",
      "look for what holds the driver's lock: another process or thread on the GPU, loading of modules (CUDA_MODULE_LOADING=EAGER), allocation of page-locked memory", CHECK_OF_FREE, check_launch_outlier, NULL },
    { "launch_bound", "small kernels, bound by launches", CALLS, CUDA_CALLS,
      "fewer and larger operators (fusion, larger batches), graph mode (torch.compile, ACL graphs), TASK_QUEUE_ENABLE=2, CPU affinity (CPU_AFFINITY_CONF=1)",
      "fewer and larger kernels (fusion, torch.compile, larger batches), CUDA graphs (mode=\"reduce-overhead\")", CHECK_OF_FREE, check_launch_bound, NULL },
    { "free_time", "the device waits for the host", DEVICE, GPU,
      "fewer and larger operators (fusion, larger batches), graph mode, TASK_QUEUE_ENABLE=2, CPU affinity (CPU_AFFINITY_CONF=1); move the listed work out of the step (with_stack names Python functions)",
      "fewer and larger kernels (fusion, torch.compile, larger batches), CUDA graphs; move the listed work out of the step (with_stack names Python functions)", 0, check_free_time, NULL },
    { "pageable", "copies from pageable memory", DEVICE, GPU,
      "pin_memory=True of the data loader (or tensor.pin_memory()), and .to(device, non_blocking=True)",
      "pin_memory=True of the data loader (or tensor.pin_memory()), and .to(device, non_blocking=True)", CHECK_SMALL, check_pageable, NULL },
    { "offload", "copies to the host that are not overlapped", DEVICE, GPU,
      "keep on the device what is copied back in every step; else copy on a stream of its own into pinned memory with non_blocking=True, and overlap offloading with computing",
      "keep on the GPU what is copied back in every step; else copy on a stream of its own into pinned memory with non_blocking=True, and overlap offloading with computing", 0, check_offload, NULL },
    { "copies", "copies that are not overlapped", DEVICE, GPU,
      "prefetch on a stream of its own with non_blocking=True; keep on the device what is copied in every step",
      "prefetch on a stream of its own with non_blocking=True; keep on the GPU what is copied in every step", 0, check_copies, NULL },
    { "throttling", "all kernels are slower by one factor", DEVICE, GPU,
      "check power limit, temperature and fan of the device (npu-smi info); reduce its load",
      "check power limit, temperature and clocks of the GPU (nvidia-smi -q -d PERFORMANCE,CLOCK,POWER); cooling, power cap, lock of the clock", 0, check_throttling, NULL },
    { "frequency", "the cores run below their nominal clock", "changes of the clock: profiler_level Level1 or higher on Atlas A2/A3", NULL,
      "check power limit, temperature and fan of the device (npu-smi info); reduce its load", NULL, 0, check_frequency, NULL },
    { "tensor_cores", "matrix products without tensor cores", DEVICE, GPU, NULL,
      "torch.autocast(dtype=torch.bfloat16), or TF32: torch.set_float32_matmul_precision(\"high\"), torch.backends.cudnn.allow_tf32 = True", 0, check_tensor_cores, NULL },
    { "optimizer", "an optimizer that is not fused", "the optimizer's range and calls: activities with CPU, profiler_level Level1 or higher", "the optimizer's range and calls: activities with CPU and CUDA",
      "fused optimizers: torch_npu.optim.NpuFusedAdamW and others", "fused=True (or foreach=True) of the optimizer", 0, check_optimizer, NULL },
    { "conversions", "conversions of formats", DEVICE, GPU,
      "keep the format that the operators need (ND or NZ, channels_last), one type throughout; no casts and .contiguous() in the step",
      "keep the layout that the kernels need (channels_last), one type throughout; no casts and .contiguous() in the step", 0, check_conversions, NULL },
    { "ai_cpu", "operators on the AI CPU", "types of tasks: profiler_level Level1 or higher", NULL,
      "data types that the AI cores support (int32 instead of int64, float instead of double), or another operator", NULL, 0, check_ai_cpu, NULL },
    { "block_dim", "numbers of blocks that leave cores idle", "types and blocks of kernels: profiler_level Level1 or higher", NULL,
      "shapes whose outer dimensions are multiples of the number of cores; for your own kernels, another tiling", NULL, 0, check_block_dim, NULL },
    { "waves", "numbers of blocks that leave SMs idle", DEVICE, "kernels with their grids: activities with CUDA", NULL,
      "pad dimensions so that the number of blocks fits the SMs (multiples of 64 to 256 for matrix products), another batch size, persistent or split-k kernels", 0, check_waves, NULL },
    { "exposed_communication", "communication that is not overlapped", DEVICE, GPU,
      "overlap: buckets of DistributedDataParallel (bucket_cap_mb), prefetch of FSDP or ZeRO, asynchronous collectives on a stream of their own; larger batches per rank",
      "overlap: buckets of DistributedDataParallel (bucket_cap_mb), prefetch of FSDP or ZeRO, asynchronous collectives on a stream of their own; larger batches per rank", CHECK_OF_JOB, NULL, check_exposed_communication },
    { "no_sync", "gradients reduced after each micro batch", DEVICE, GPU,
      "with model.no_sync(): for all but the last micro batch of a step; gradient_as_bucket_view=True",
      "with model.no_sync(): for all but the last micro batch of a step; gradient_as_bucket_view=True", CHECK_OF_COMM, check_no_sync, NULL },
    { "sync_batchnorm", "synchronised batch normalisation", DEVICE, GPU,
      "plain BatchNorm or GroupNorm if the batch of a rank is large enough; a larger batch per rank",
      "plain BatchNorm or GroupNorm if the batch of a rank is large enough; a larger batch per rank", CHECK_OF_COMM, check_sync_batchnorm, NULL },
    { "small_collectives", "many small collectives", "sizes of collectives: profiler_level Level1 or higher", "sizes of collectives: record_shapes, and PyTorch 2.2 or later",
      "larger buckets (bucket_cap_mb, gradient accumulation), coalesced collectives; ZeRO with larger reduce_bucket_size and allgather_bucket_size",
      "larger buckets (bucket_cap_mb, gradient accumulation), coalesced collectives; ZeRO with larger reduce_bucket_size and allgather_bucket_size", CHECK_OF_COMM, check_small_collectives, NULL },
    { "hanging_collective", "a collective that hangs", DEVICE, GPU,
      "check the network: optical modules, PFC settings, HCCL_RDMA_TC and HCCL_RDMA_SL, counters of retransmissions",
      "check the network: optical modules, PFC settings, NCCL_IB_TC, NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT, counters of retransmissions", CHECK_OF_COMM | CHECK_ALL_RANKS, check_hanging, NULL },
    { "small_packets", "small transfers", COLLECTIVES, NULL,
      "larger buckets (bucket_cap_mb, gradient accumulation), fewer and larger collectives; ZeRO with larger reduce_bucket_size", NULL, CHECK_OF_COMM, check_small_packets, NULL },
    { "byte_alignment", "unaligned transfers", COLLECTIVES, NULL,
      "pad tensors of collectives to multiples of 512 bytes", NULL, CHECK_OF_COMM, check_byte_alignment, NULL },
    { "slow_link", "a slow link", COLLECTIVES, NULL,
      "check cable, port and its error counters; ascope cluster compares the links of all ranks", NULL, CHECK_OF_COMM, check_slow_link, NULL },
    { "retransmission", "retransmitted packets", COLLECTIVES, NULL,
      "check the network: optical modules, PFC settings, HCCL_RDMA_TC and HCCL_RDMA_SL; HCCL_RDMA_TIMEOUT sets the time", NULL, CHECK_OF_COMM, check_retransmission, NULL },
};
/* clang-format on */
const size_t n_advise_checks = sizeof advise_checks / sizeof *advise_checks;

static const double LEAST_SHARE = 0.03;       /* of a step: a smaller gain is not worth a change */
static const double LEAST_SMALL_SHARE = 0.01; /* unless the change is one word in the program, or it happens once */
static const double LEAST_ONCE_SHARE = 0.1;   /* of a step, of what happens once */
static const double LEAST_REST_SHARE = 0.1;   /* of a step, of what other findings do not explain */

const char *check_state_key(enum check_state state)
{
    static const char *const key[CHECK_STATES] = { "found", "fine", "not recorded", "not applicable" };
    return key[state];
}

/* The recorder looked for devices and found none, or was not to use one: no option of the profiler would have recorded
 * it. */
static bool is_without_device(const struct advise_subject *s)
{
    const struct collection *c = s->q.collection;
    const char *device = !s->has_device && c ? c->collector.device : NULL;
    return device && strcmp(device, "none") == 0;
}

/* "once, in step 8", "in steps 11 and 19", "in steps 12 to 16". *last: row of the last one. NULL: no memory, or none. */
static const char *steps_text(const struct advise_subject *s, const bool *is_in, size_t *n, size_t *last)
{
    enum { MOST = 4 };
    const char *text = "";
    size_t first = s->series.n, left;
    *n = 0;
    for (size_t i = s->n_startup; i < s->series.n; i++)
        if (is_in[i]) {
            first = *n == 0 ? i : first;
            *last = i;
            ++*n;
        }
    left = *n;
    if (*n == 0)
        return NULL;
    const char *const from = names_text(s->q.names, s->series.name[first]),
                      *to = names_text(s->q.names, s->series.name[*last]);
    if (*n > 2 && *last - first + 1 == *n)
        return arena_printf(s->mem, "in steps %.60s to %.60s", from, to);
    if (*n > MOST)
        return arena_printf(s->mem, "in %zu steps from %.60s to %.60s", *n, from, to);
    for (size_t i = first; i <= *last && text; i++) {
        if (!is_in[i])
            continue;
        const char *before = left == *n ? "" : left > 1 ? ", " : " and ";
        text = arena_printf(s->mem, "%s%s%.60s", text, before, names_text(s->q.names, s->series.name[i]));
        left--;
    }
    return text ? arena_printf(s->mem, *n == 1 ? "once, in step %s" : "in steps %s", text) : NULL;
}

/* Marks the steps that lose nearly all of it, if they are a few of many. False: they are not. */
static bool few_steps(const struct advise_subject *s, const double *step_ns, double sum, bool *is_in)
{
    enum { MOST = 4, OF_ALL = 4 };
    const double most_of = 0.8, alike = 0.1; /* of the sum; of the mean of the steps so far */
    double in = 0;
    for (size_t n = 0; n < MOST && (n + 1) * OF_ALL <= s->n_steps; n++) {
        size_t at = s->series.n;
        for (uint32_t i = 0; i < s->series.n; i++)
            at = advise_counts(s, i) && !is_in[i] && (at == s->series.n || step_ns[i] > step_ns[at]) ? i : at;
        if (at == s->series.n || (in >= most_of * sum && step_ns[at] * (double)n < alike * in))
            break;
        is_in[at] = true;
        in += step_ns[at];
    }
    return sum > 0 && in >= most_of * sum;
}

static void finding_locate(const struct advise_subject *s, struct finding *f, const bool *is_in)
{
    size_t n = 0, last = 0;
    f->where = steps_text(s, is_in, &n, &last);
    if (f->where && n == 1) {
        const char *name = names_text(s->q.names, s->series.name[last]);
        f->once = arena_text(s->mem, name, strlen(name));
    }
}

static double sum_of_steps(const struct advise_subject *s, const double *step_ns)
{
    double sum = 0;
    for (size_t i = s->n_startup; step_ns && i < s->series.n; i++)
        sum += step_ns[i];
    return sum;
}

/* Makes the gain of what steps lose; and if nearly all of that is in a few of many steps, says which. */
static void finding_sum(const struct advise_subject *s, struct finding *f)
{
    bool *is_in = arena_take(s->spare, s->series.n, sizeof *is_in);
    const double sum = sum_of_steps(s, f->step_ns);
    f->gain_ns = sum / (double)s->n_steps;
    if (is_in && few_steps(s, f->step_ns, sum, is_in))
        finding_locate(s, f, is_in);
}

/* Whether a finding is worth a change: in each step, or once. */
static bool is_worth(const struct advise_subject *s, const struct check *c, const struct finding *f)
{
    const double least = c->flags & CHECK_SMALL || f->once ? LEAST_SMALL_SHARE : LEAST_SHARE;
    const bool is_worth_once = !f->once || f->gain_ns * (double)s->n_steps >= LEAST_ONCE_SHARE * s->step_ns;
    return c->flags & CHECK_NO_TIME || (s->step_ns > 0 && f->gain_ns >= least * s->step_ns && is_worth_once);
}

static void run_check(const struct advise_subject *s, const struct check *c, struct finding *out)
{
    *out = (struct finding){ .state = CHECK_ELSEWHERE };
    if (!c->run || !(s->is_gpu ? c->gpu_change : c->change) || (!(c->flags & CHECK_OF_HOST) && is_without_device(s)))
        return;
    out->state = !(c->flags & CHECK_OF_HOST) && !s->has_device ? CHECK_UNRECORDED : c->run(s, out);
    out->of_ns = s->step_ns;
    out->n_of = s->n_steps;
    if (out->state != CHECK_FOUND)
        return;
    if (out->step_ns)
        finding_sum(s, out);
    if (!is_worth(s, c, out))
        out->state = CHECK_FINE;
    if (out->gain_ns > s->step_ns) /* an estimate cannot exceed the step itself */
        out->gain_ns = s->step_ns;
}

/* What other findings name is not reported a second time: the rest counts, if it is still a tenth of a step. */
static void advise_explain(struct finding *general, double named_ns, double step_ns, struct arena *mem)
{
    if (!general || general->state != CHECK_FOUND || !(named_ns > 0))
        return;
    general->gain_ns -= named_ns;
    if (general->gain_ns < LEAST_REST_SHARE * step_ns)
        general->state = CHECK_FINE;
    char text[600], time[READABLE_MOST];
    snprintf(text, sizeof text, "%.500s; other findings name %s of it", general->found,
             readable_duration(time, named_ns));
    general->found = arena_text(mem, text, strlen(text));
}

/* The free time that small kernels are launched in is what other causes leave. */
static void explain_free_time(struct finding *finding, double step_ns, struct arena *mem)
{
    struct finding *free_time = NULL, *launches = NULL;
    double named_ns = 0;
    for (size_t i = 0; i < n_advise_checks; i++) {
        free_time = advise_checks[i].run == check_free_time ? &finding[i] : free_time;
        launches = advise_checks[i].run == check_launch_bound ? &finding[i] : launches;
        if (finding[i].state == CHECK_FOUND && &finding[i] != launches)
            named_ns += advise_checks[i].flags & CHECK_OF_FREE ? finding[i].gain_ns : finding[i].free_ns;
    }
    const bool has_launches = launches && launches->state == CHECK_FOUND;
    const double launch_ns = has_launches ? launches->gain_ns : 0;
    advise_explain(free_time, named_ns + launch_ns, step_ns, mem);
    const double unnamed_ns = free_time ? free_time->gain_ns + launch_ns : 0; /* what the others leave of it */
    if (has_launches && unnamed_ns < launch_ns)
        advise_explain(launches, launch_ns - unnamed_ns, step_ns, mem);
}

/* ---- what is lost in each step, and what once ------------------------------------------------------------------- */

/* The steps that are neither slow once nor shorter because of that. False: nothing is slow once, or too few are left. */
static bool usual_counts(const struct advise_subject *s, bool *counts)
{
    enum { FEWEST = 2 };
    size_t n = 0, n_once = 0;
    for (size_t i = s->n_startup; i < s->series.n; i++) {
        counts[i] = !s->series.is_once[i] && !s->series.is_catch_up[i];
        n += counts[i];
        n_once += s->series.is_once[i];
    }
    return n_once > 0 && n >= FEWEST;
}

/* What the steps that are slow once lose beyond the usual ones, in all; marks those that lose enough to be worth it. */
static double once_lost(const struct advise_subject *s, const struct finding *usual, const struct finding *all,
                        bool *is_in)
{
    const double usual_ns = usual->step_ns ? sum_of_steps(s, usual->step_ns) / (double)usual->n_of : 0;
    double sum = 0;
    for (size_t i = s->n_startup; all->found && all->step_ns && i < s->series.n; i++) {
        is_in[i] = s->series.is_once[i] && all->step_ns[i] - usual_ns >= LEAST_ONCE_SHARE * usual->of_ns;
        sum += is_in[i] ? all->step_ns[i] - usual_ns : 0;
    }
    return sum >= LEAST_SMALL_SHARE * all->of_ns * (double)all->n_of ? sum : 0;
}

/* A finding about the slow steps alone speaks of them, not of a mean: "163 ms in step 8". */
static bool once_say(struct advise_subject *s, const struct check *c, struct finding *f, const bool *is_in)
{
    struct finding few;
    if (!advise_subject_count(s, is_in, true))
        return false;
    s->per = f->once ? arena_printf(s->mem, "in step %.60s", f->once) : "in each of these steps";
    if (s->per)
        run_check(s, c, &few);
    if (!s->per || !few.found)
        return true;
    f->found = few.found;
    f->n = few.n;
    memcpy(f->evidence, few.evidence, sizeof few.evidence);
    return true;
}

/* Adds to the findings of usual steps what is lost in those that are slow once. `all`: the findings of all steps. False:
 * no memory. */
static bool once_add(struct advise_subject *s, struct finding *usual, const struct finding *all)
{
    double free_ns = 0; /* that has a name in these steps */
    bool *is_in = arena_take(s->spare, n_advise_checks * s->series.n, sizeof *is_in), done = is_in != NULL;
    double *lost = arena_take(s->spare, n_advise_checks, sizeof *lost);
    for (size_t i = 0; done && lost && i < n_advise_checks; i++) {
        lost[i] = once_lost(s, &usual[i], &all[i], is_in + i * s->series.n);
        free_ns += advise_checks[i].flags & CHECK_OF_FREE && advise_checks[i].run != check_free_time ? lost[i] : 0;
    }
    for (size_t i = 0; done && lost && i < n_advise_checks; i++) {
        const struct check *const c = &advise_checks[i];
        struct finding *const f = &usual[i];
        const bool *const in = is_in + i * s->series.n;
        size_t n, last;
        if (c->run == check_free_time)
            lost[i] = lost[i] - free_ns < LEAST_REST_SHARE * f->of_ns ? 0 : lost[i] - free_ns;
        if (lost[i] <= 0)
            continue;
        if (f->state == CHECK_FOUND) {
            f->more_ns = lost[i];
            f->more = steps_text(s, in, &n, &last);
            continue;
        }
        *f = all[i];
        f->state = CHECK_FOUND;
        f->is_verdict = true;
        f->gain_ns = lost[i] / (double)f->n_of;
        finding_locate(s, f, in);
        done = once_say(s, c, f, in);
    }
    return done && lost;
}

static void run_checks(const struct advise_subject *s, struct finding *finding, struct arena *mem)
{
    for (size_t i = 0; i < n_advise_checks; i++)
        run_check(s, &advise_checks[i], &finding[i]);
    explain_free_time(finding, s->step_ns, mem);
}

static void sum_parts(struct advise_rank *out, const struct advise_subject *s)
{
    for (size_t i = 0; i < s->mean.n; i++) {
        const struct spent *x = &s->mean.at[i];
        out->requests_ns += x->kind == SPENT_REQUESTS ? x->ns : 0;
        out->part_ns[x->kind] += x->ns;
    }
}

/* Of all steps that count: garbage collections and communication, which are compared step by step. */
static bool look_at_all(struct advise_rank *out, struct advise_subject *s, struct finding *all)
{
    const double *gc_ns = NULL;
    run_checks(s, all, s->mem);
    for (size_t i = 0; i < n_advise_checks; i++)
        gc_ns = advise_checks[i].run == check_gc ? all[i].step_ns : gc_ns;
    if (gc_ns && (out->gc_ns = arena_take(s->mem, s->series.n, sizeof *out->gc_ns)))
        memcpy(out->gc_ns, gc_ns, s->series.n * sizeof *gc_ns);
    out->has_collectives = s->spans.n[SPAN_COLLECTIVE] > 0;
    out->comm_ns = exposed_collectives(s);
    out->without_collectives = is_without_device(s) ? CHECK_ELSEWHERE
                               : s->has_device      ? state_without_collectives(s)
                                                    : CHECK_UNRECORDED;
    return out->comm_ns && host_speed_find(&out->host, s);
}

bool advise_look_at(struct advise_rank *out, const struct run_rank *q, struct arena *mem)
{
    struct advise_subject s = { .q = *q, .mem = mem, .spare = arena_new() };
    struct finding *all = s.spare ? arena_take(s.spare, n_advise_checks, sizeof *all) : NULL;
    bool done = all && advise_subject_begin(&s) && advise_subject_count(&s, NULL, false) && look_at_all(out, &s, all);
    bool *counts = done ? arena_take(mem, s.series.n, sizeof *counts) : NULL;
    done = done && counts;
    const bool has_once = done && usual_counts(&s, counts);
    if (has_once) {
        done = advise_subject_count(&s, counts, false);
        run_checks(&s, out->finding, mem);
        out->counts = counts;
    } else if (done) {
        memcpy(out->finding, all, n_advise_checks * sizeof *all);
    }
    if (done)
        sum_parts(out, &s);
    done = done && step_use_find(&out->use, &s);
    out->step_ns = s.step_ns;
    out->n_steps = s.n_steps;
    out->n_startup = s.n_startup;
    out->is_gpu = s.is_gpu;
    out->has_device = s.has_device;
    done = done && (!has_once || once_add(&s, out->finding, all));
    for (size_t i = 0; i < n_advise_checks; i++)
        out->finding[i].step_ns = NULL;
    done = done && !arena_failed(s.spare) && !arena_failed(mem);
    arena_free(s.spare);
    return done;
}

/* ---- the job --------------------------------------------------------------------------------------------------- */

/* The verdict of the judge about ranks: slow in each step, or in turns. */
static bool check_slow_rank(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem)
{
    struct run_member *all = arena_take(mem, n, sizeof *all);
    struct job_steps job;
    if (!all)
        return false;
    size_t n_with_steps = 0;
    for (size_t i = 0; i < n; i++) {
        all[i] = rank[i].rank;
        n_with_steps += all[i].n > 0;
    }
    out->finding.state = n < 2 ? CHECK_ELSEWHERE : n_with_steps < 2 ? CHECK_UNRECORDED : CHECK_FINE;
    if (out->finding.state != CHECK_FINE)
        return true;
    if ((!all->stages && !job_peers_find(all, n, mem)) || !job_judge(&job, all, n, mem))
        return false;
    for (size_t i = 0; i < run_findings(&job.run) && out->finding.state == CHECK_FINE; i++) {
        const struct slow *f = &job.run.of.at[i];
        if (f->shape != SLOW_ALWAYS)
            continue;
        out->finding = (struct finding){ .state = CHECK_FOUND,
                                         .gain_ns = f->excess_ns,
                                         .is_verdict = true,
                                         .found = run_finding_text(&job.run, f, mem) };
        out->rank = f->rank;
        out->n_ranks = 1;
        return out->finding.found != NULL;
    }
    return true;
}

/* Merges the findings of all ranks: the largest one, or else the state of the rank that knows most. */
static void merge(struct advice *out, size_t check, const struct advise_rank *rank, size_t n)
{
    out->finding.state = CHECK_ELSEWHERE;
    for (uint32_t i = 0; i < n; i++) {
        const struct finding *f = &rank[i].finding[check];
        out->n_ranks += f->state == CHECK_FOUND;
        const bool is_better = f->state < out->finding.state ||
                               (f->state == CHECK_FOUND && finding_lost_ns(f) > finding_lost_ns(&out->finding));
        if (!is_better)
            continue;
        out->finding = *f;
        out->rank = f->state == CHECK_FOUND ? i : NO_ROW;
    }
    if (out->check->flags & CHECK_ALL_RANKS && out->finding.state == CHECK_FOUND && out->n_ranks < n) {
        out->finding.state = CHECK_FINE;
        out->rank = NO_ROW;
    }
}

/* Communication that nothing overlaps, and the free time of a slow host, without what other findings say of them. */
static void explain_job(struct advice *advice, const struct advise_rank *rank, struct arena *mem)
{
    struct advice *exposed = NULL, *free_time = NULL, *slow_host = NULL;
    double named_ns = 0;
    for (size_t i = 0; i < n_advise_checks; i++) {
        free_time = advice[i].check->run == check_free_time ? &advice[i] : free_time;
        slow_host = advice[i].check->run_job == check_slow_host ? &advice[i] : slow_host;
        exposed = advice[i].check->run_job == check_exposed_communication ? &advice[i] : exposed;
        if (advice[i].check->flags & CHECK_OF_COMM && advice[i].finding.state == CHECK_FOUND)
            named_ns += advice[i].finding.gain_ns;
    }
    if (free_time && slow_host && free_time->rank == slow_host->rank && slow_host->finding.state == CHECK_FOUND)
        advise_explain(&free_time->finding, slow_host->finding.gain_ns, rank[free_time->rank].step_ns, mem);
    if (exposed && exposed->finding.state == CHECK_FOUND)
        advise_explain(&exposed->finding, named_ns, rank[exposed->rank].step_ns, mem);
}

static int by_gain(const void *a, const void *b)
{
    const struct advice *x = a, *y = b;
    const double x_ns = finding_lost_ns(&x->finding), y_ns = finding_lost_ns(&y->finding);
    if (x->finding.state != y->finding.state)
        return x->finding.state < y->finding.state ? -1 : 1;
    if (x->finding.state == CHECK_FOUND && x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    return x->check < y->check ? -1 : x->check > y->check;
}

bool advise_job(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem)
{
    for (size_t i = 0; i < n_advise_checks; i++) {
        struct advice *a = &out[i];
        *a = (struct advice){ .check = &advise_checks[i], .rank = NO_ROW };
        if (a->check->run)
            merge(a, i, rank, n);
        else if (!a->check->run_job(a, rank, n, mem))
            return false;
        a->is_gpu = n > 0 && rank[a->rank == NO_ROW ? 0 : a->rank].is_gpu;
    }
    explain_job(out, rank, mem);
    for (size_t i = 0; i < n_advise_checks; i++) {
        struct finding *const f = &out[i].finding;
        if (out[i].rank == NO_ROW)
            continue;
        if (out[i].check->run_job) { /* about the job: means over the steps of that rank */
            f->of_ns = rank[out[i].rank].step_ns;
            f->n_of = rank[out[i].rank].n_steps;
        }
        out[i].share = f->of_ns > 0 ? f->gain_ns / f->of_ns : 0;
    }
    qsort(out, n_advise_checks, sizeof *out, by_gain);
    return true;
}
