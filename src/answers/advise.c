/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/advise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/device/overlap.h"
#include "answers/comm_checks.h"
#include "answers/device_checks.h"
#include "answers/waiting_checks.h"
#include "base/readable.h"
#include "raw/chip.h"

#define COLLECTIVES "collectives with their transfers: profiler_level Level1 or higher (msprof --hccl=on)"
#define FRAMEWORK   "the framework's own events: activities with CPU"
#define CALLS       "calls of the software stack: profiler_level Level1 or higher (msprof --ascendcl=on --runtime-api=on)"
#define CUDA_CALLS  "calls of CUDA: activities with CUDA"

/* clang-format off */
const struct check advise_checks[] = {
    { "slow_rank", "a rank that the others wait for", "all ranks of the job, with steps", NULL,
      "see ascope why for the operators; check the clock, temperature and memory of its device, other processes on its host, and whether it gets more work",
      "see ascope why for the kernels; check the clock, temperature and power limit of its GPU, other processes on its host, and whether it gets more work", true, NULL },
    { "data_loader", "waiting for data", FRAMEWORK, NULL,
      "more workers of the data loader (num_workers, persistent_workers, prefetch_factor), pinned memory, cheaper or cached preprocessing, faster storage",
      "more workers of the data loader (num_workers, persistent_workers, prefetch_factor), pinned memory, cheaper or cached preprocessing, faster storage", true, check_data_loader },
    { "free_time", "the device waits for the host", "the device: activities with NPU", "the GPU: activities with CUDA",
      "fewer and larger operators (fusion, larger batches), graph mode, TASK_QUEUE_ENABLE=2, CPU affinity (CPU_AFFINITY_CONF=1); move the listed work out of the step (with_stack names Python functions)",
      "fewer and larger kernels (fusion, torch.compile, larger batches), CUDA graphs; move the listed work out of the step (with_stack names Python functions)", false, check_free_time },
    { "synchronisation", "the host waits for the device after each launch", CALLS, CUDA_CALLS,
      "unset ASCEND_LAUNCH_BLOCKING; avoid .item(), .cpu() and stream synchronisation in the step",
      "unset CUDA_LAUNCH_BLOCKING; avoid .item(), .cpu() and stream synchronisation in the step", false, check_synchronisation },
    { "gc", "Python garbage collection", "garbage collections: gc_detect_threshold of _ExperimentalConfig", NULL,
      "gc.freeze() after the first step, gc.disable() with gc.collect() between steps of all ranks, or a higher gc.set_threshold()",
      "gc.freeze() after the first step, gc.disable() with gc.collect() between steps of all ranks, or a higher gc.set_threshold()", true, check_gc },
    { "memory_operators", "allocating device memory in a step", CALLS, CUDA_CALLS,
      "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True, or a smaller peak: the pool frees memory and allocates it again",
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or a smaller peak: the pool frees memory and allocates it again", false, check_memory_operators },
    { "copies", "copies that are not overlapped", "the device: activities with NPU", "the GPU: activities with CUDA",
      "pinned memory and non_blocking=True for inputs; keep on the device what is copied in every step",
      "pinned memory and non_blocking=True for inputs; keep on the GPU what is copied in every step", false, check_copies },
    { "frequency", "the cores run below their nominal clock", "changes of the clock: profiler_level Level1 or higher on Atlas A2/A3", NULL,
      "check power limit, temperature and fan of the device (npu-smi info); reduce its load", NULL, false, check_frequency },
    { "ai_cpu", "operators on the AI CPU", "types of tasks: profiler_level Level1 or higher", NULL,
      "data types that the AI cores support (int32 instead of int64, float instead of double), or another operator", NULL, false, check_ai_cpu },
    { "block_dim", "numbers of blocks that leave cores idle", "types and blocks of kernels: profiler_level Level1 or higher", NULL,
      "shapes whose outer dimensions are multiples of the number of cores; for your own kernels, another tiling", NULL, false, check_block_dim },
    { "small_packets", "small transfers", COLLECTIVES, NULL,
      "larger buckets (bucket_cap_mb, gradient accumulation), fewer and larger collectives; ZeRO with larger reduce_bucket_size", NULL, false, check_small_packets },
    { "byte_alignment", "unaligned transfers", COLLECTIVES, NULL,
      "pad tensors of collectives to multiples of 512 bytes", NULL, false, check_byte_alignment },
    { "slow_link", "a slow link", COLLECTIVES, NULL,
      "check cable, port and its error counters; ascope cluster compares the links of all ranks", NULL, false, check_slow_link },
    { "retransmission", "retransmitted packets", COLLECTIVES, NULL,
      "check the network: optical modules, PFC settings, HCCL_RDMA_TC and HCCL_RDMA_SL; HCCL_RDMA_TIMEOUT sets the time", NULL, false, check_retransmission },
};
/* clang-format on */
const size_t n_advise_checks = sizeof advise_checks / sizeof *advise_checks;

static const double LEAST_SHARE = 0.03; /* of a step: a smaller gain is not worth a change */

const char *check_state_key(enum check_state state)
{
    static const char *const key[CHECK_STATES] = { "found", "fine", "not recorded", "not applicable" };
    return key[state];
}

/* Fills alone_ns. Tasks are sorted by begin, so that a task is alone after the latest end so far. */
static bool find_alone(struct advise_subject *s)
{
    const struct tasks *t = &s->d->tasks;
    const struct step_series *series = &s->series;
    int64_t reach_ns = INT64_MIN;
    s->alone_ns = arena_take(s->spare, t->n, sizeof *s->alone_ns);
    for (size_t i = 0; s->alone_ns && i < t->n; i++) {
        if (t->op[i] == NO_ROW || t->is_hidden[i] || !task_is_computing(s->p, t, i) || t->begin_ns[i] < s->from_ns ||
            step_series_at(series->begin_ns, series->end_ns, series->n, t->begin_ns[i]) == NO_ROW)
            continue;
        const int64_t end_ns = t->begin_ns[i] + (int64_t)t->dur_ns[i],
                      from_ns = t->begin_ns[i] > reach_ns ? t->begin_ns[i] : reach_ns;
        s->alone_ns[i] = (double)span_ns(from_ns, end_ns);
        reach_ns = end_ns > reach_ns ? end_ns : reach_ns;
    }
    return s->alone_ns != NULL;
}

/* How many steps at the begin of a recording are slow: start-up (imports, compilation, first allocations), which is paid once. */
static size_t startup_steps(const struct step_series *s)
{
    size_t n = 0;
    while (n + 1 < s->n && s->is_slow[n])
        n++;
    return n;
}

/* The mean of the steps. Slow ones count, because what makes them slow is worth advice; those of the start-up do not. */
static bool find_mean(struct advise_subject *s)
{
    struct step_division division;
    struct step_series counted = s->series;
    counted.n_slow = s->n_startup = startup_steps(&s->series);
    counted.is_slow = arena_take(s->spare, counted.n + 1, sizeof *counted.is_slow);
    for (size_t i = 0; counted.is_slow && i < s->n_startup; i++)
        counted.is_slow[i] = true;
    if (!counted.is_slow || !step_division_find(&division, &counted, s->p, s->d, s->collection, NULL, 0, s->spare))
        return false;
    s->mean = division.usual;
    s->step_ns = division.usual.time_ns;
    s->n_steps = counted.n > s->n_startup ? counted.n - s->n_startup : 1;
    s->from_ns = s->n_startup > 0 ? counted.begin_ns[s->n_startup] : INT64_MIN;
    s->per = counted.is_whole ? "in all" : "a step";
    return true;
}

/* The recorder looked for devices and found none, or was not to use one: no option of the profiler would have recorded it. */
static bool is_without_device(const struct advise_subject *s)
{
    const char *device = !s->d && s->collection ? s->collection->collector.device : NULL;
    return device && strcmp(device, "none") == 0;
}

static void run_check(const struct advise_subject *s, const struct check *c, struct finding *out)
{
    *out = (struct finding){ .state = CHECK_ELSEWHERE };
    if (!c->run || (s->is_gpu && !c->gpu_change) || (!c->is_of_host && is_without_device(s)))
        return;
    out->state = c->run(s, out);
    if (out->state == CHECK_FOUND && !(s->step_ns > 0 && out->gain_ns >= LEAST_SHARE * s->step_ns))
        out->state = CHECK_FINE;
    if (out->gain_ns > s->step_ns) /* an estimate cannot exceed the step itself */
        out->gain_ns = s->step_ns;
}

bool advise_device(struct advise_rank *out, const struct profile *p, const struct device *d,
                   const struct collection *collection, struct arena *mem)
{
    struct advise_subject s = { .p = p,
                                .d = d,
                                .collection = collection,
                                .is_gpu = d && d->source.platform == PLATFORM_CUDA,
                                .mem = mem,
                                .spare = arena_new() };
    bool done = s.spare && (collection ? step_series_of_collection(&s.series, collection, d, NULL, s.spare)
                                       : step_series_of_profile(&s.series, p, d, NULL, s.spare));
    done = done && find_mean(&s) && (!d || find_alone(&s));
    for (size_t i = 0; done && i < n_advise_checks; i++)
        run_check(&s, &advise_checks[i], &out->finding[i]);
    out->step_ns = s.step_ns;
    out->n_startup = s.n_startup;
    out->is_gpu = s.is_gpu;
    done = done && !arena_failed(s.spare) && !arena_failed(mem);
    arena_free(s.spare);
    return done;
}

/* ---- the job --------------------------------------------------------------------------------------------------- */

static bool check_slow_rank(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem)
{
    struct job_rank *all = arena_take(mem, n, sizeof *all);
    struct job_choice choice = { 0 };
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
    if (!job_rank_slow(&choice, all, n, mem))
        return false;
    if (choice.mode != WHY_RANK || (double)choice.waited_ns < LEAST_SHARE * rank[choice.rank].step_ns)
        return true;
    const struct job_rank *slow = &all[choice.rank], *middle = &all[choice.reference];
    char text[300], more[60] = "", own[READABLE_MOST], usual[READABLE_MOST];
    if (choice.n_waited_for > 1)
        snprintf(more, sizeof more, " and for %zu more", choice.n_waited_for - 1);
    snprintf(text, sizeof text,
             "without communication a step takes %s on this rank and %s on the median rank; the others wait for it%s",
             readable_duration(own, (double)slow->own_median_ns),
             readable_duration(usual, (double)middle->own_median_ns), more);
    out->finding = (struct finding){ .state = CHECK_FOUND,
                                     .gain_ns = (double)choice.waited_ns,
                                     .found = arena_text(mem, text, strlen(text)) };
    out->rank = choice.rank;
    out->n_ranks = 1;
    return out->finding.found != NULL;
}

/* Merges the findings of all ranks: the largest one, or else the state of the rank that knows most. */
static void merge(struct advice *out, size_t check, const struct advise_rank *rank, size_t n)
{
    out->finding.state = CHECK_ELSEWHERE;
    for (uint32_t i = 0; i < n; i++) {
        const struct finding *f = &rank[i].finding[check];
        out->n_ranks += f->state == CHECK_FOUND;
        const bool is_better =
            f->state < out->finding.state || (f->state == CHECK_FOUND && f->gain_ns > out->finding.gain_ns);
        if (!is_better)
            continue;
        out->finding = *f;
        out->rank = f->state == CHECK_FOUND ? i : NO_ROW;
    }
}

static int by_gain(const void *a, const void *b)
{
    const struct advice *x = a, *y = b;
    if (x->finding.state != y->finding.state)
        return x->finding.state < y->finding.state ? -1 : 1;
    if (x->finding.state == CHECK_FOUND && x->finding.gain_ns != y->finding.gain_ns)
        return x->finding.gain_ns > y->finding.gain_ns ? -1 : 1;
    return x->check < y->check ? -1 : x->check > y->check;
}

bool advise_job(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem)
{
    for (size_t i = 0; i < n_advise_checks; i++) {
        struct advice *a = &out[i];
        *a = (struct advice){ .check = &advise_checks[i], .rank = NO_ROW };
        if (a->check->run)
            merge(a, i, rank, n);
        else if (!check_slow_rank(a, rank, n, mem))
            return false;
        a->is_gpu = n > 0 && rank[a->rank == NO_ROW ? 0 : a->rank].is_gpu;
        if (a->rank != NO_ROW && rank[a->rank].step_ns > 0)
            a->share = a->finding.gain_ns / rank[a->rank].step_ns;
    }
    qsort(out, n_advise_checks, sizeof *out, by_gain);
    return true;
}
