/* SPDX-License-Identifier: Apache-2.0 */
#include "load/samplers/usage_load.h"

#include <stdlib.h>
#include <string.h>

/* Files of blocks, each of them what the kernel showed at one time:
 *     TimeStamp:<ns>
 *     Index:<n>            (newer collectors)
 *     DataLen:<bytes>      (newer collectors)
 *     … lines of /proc …
 *     <empty line>
 * A block is complete with its empty line; without it, it does not count. */
struct snapshot {
    struct source *source;
    struct names *names;
    struct usage *usage;
    struct cpu_list ai, ctrl;
    /* of the block that is being read */
    struct cpu_ticks ticks[CPU_KINDS];
    uint64_t memory[MEM_LINES];
    bool has_memory[MEM_LINES];
    struct word process; /* its name */
    struct proc_stat stat;
    double machine_ticks;
    uint64_t pages[PAGES];
    bool has_stat, has_machine, has_pages;
    /* of the file */
    struct process_use use;
};

struct snapshot_kind {
    const char *family;                                 /* that of a process is "<pid>" and this */
    enum process_report process;                        /* PROCESS_REPORTS: the file is about the machine */
    bool (*line)(struct snapshot *b, struct word line); /* false: it does not follow its grammar */
    bool (*end)(struct snapshot *b);                    /* adds the block; false: something is missing in it */
};

static void add_capped(uint64_t *sum, uint64_t v)
{
    if (__builtin_add_overflow(*sum, v, sum))
        *sum = UINT64_MAX;
}

/* "cpu3 <ticks> …" of /proc/stat; the line without a number is their sum. */
static bool read_ticks(struct word line, struct word *name, double *ticks)
{
    struct word word[1 + CPU_TIMES];
    if (line_words(line.at, line.len, word, 1 + CPU_TIMES) < 1 + CPU_TIMES || !word_starts(word[0], "cpu"))
        return false;
    *name = word_skip(word[0], 3);
    for (size_t i = 0; i < CPU_TIMES; i++) {
        uint64_t v;
        if (!word_u64(word[1 + i], &v))
            return false;
        ticks[i] = (double)v;
    }
    return true;
}

static bool cpu_line(struct snapshot *b, struct word line)
{
    struct word name;
    double ticks[CPU_TIMES];
    uint64_t cpu;
    if (!read_ticks(line, &name, ticks))
        return false;
    const bool is_one = word_u64(name, &cpu);
    enum cpu_kind kind = CPU_KINDS;
    if (b->source->is_host)
        kind = CPU_HOST; /* also the line of their sum, which does not change the shares */
    else if (is_one && cpu_list_has(&b->ctrl, cpu))
        kind = CPU_CTRL;
    else if (is_one && cpu_list_has(&b->ai, cpu))
        kind = CPU_AI;
    if (kind == CPU_KINDS)
        return true;
    b->ticks[kind].is_sampled = true;
    for (size_t i = 0; i < CPU_TIMES; i++)
        b->ticks[kind].of[i] += ticks[i];
    return true;
}

static bool cpu_end(struct snapshot *b)
{
    for (size_t k = 0; k < CPU_KINDS; k++) {
        b->usage->ticks[k].is_sampled |= b->ticks[k].is_sampled;
        for (size_t i = 0; i < CPU_TIMES; i++)
            b->usage->ticks[k].of[i] += b->ticks[k].of[i];
    }
    return true;
}

static bool memory_line(struct snapshot *b, struct word line)
{
    static const char *const name[MEM_LINES] = {
        [MEM_TOTAL] = "MemTotal:",
        [MEM_FREE] = "MemFree:",
        [MEM_BUFFERS] = "Buffers:",
        [MEM_CACHED] = "Cached:",
        [MEM_SHARED] = "Shmem:",
        [MEM_COMMIT_LIMIT] = "CommitLimit:",
        [MEM_COMMITTED] = "Committed_AS:",
        [MEM_HUGE_TOTAL] = "HugePages_Total:",
        [MEM_HUGE_FREE] = "HugePages_Free:",
    };
    struct word word[2];
    const size_t n = line_words(line.at, line.len, word, 2);
    for (size_t i = 0; i < MEM_LINES; i++)
        if (word_is(word[0], name[i]))
            return n == 2 && (b->has_memory[i] = word_u64(word[1], &b->memory[i]));
    return memchr(word[0].at, ':', word[0].len) != NULL; /* another line of the file */
}

static bool memory_end(struct snapshot *b)
{
    struct mem_lines *m = &b->usage->memory;
    bool has_any = false;
    for (size_t i = 0; i < MEM_LINES; i++) {
        add_capped(&m->sum[i], b->memory[i]);
        m->n_with[i] += b->has_memory[i];
        has_any |= b->has_memory[i];
    }
    m->n += has_any;
    return has_any;
}

static bool is_name(struct snapshot *b, struct word line)
{
    static const char key[] = "ProcessName:";
    if (!word_starts(line, key))
        return false;
    b->process = word_skip(line, sizeof key - 1);
    return true;
}

static void add_use(struct snapshot *b)
{
    b->use.n++;
    b->use.name = names_add(b->names, b->process.at, b->process.len);
}

static bool process_cpu_line(struct snapshot *b, struct word line)
{
    struct word name;
    double ticks[CPU_TIMES];
    if (is_name(b, line))
        return true;
    if (!word_starts(line, "cpu"))
        return b->has_stat = proc_stat(line, false, &b->stat);
    if (!(b->has_machine = read_ticks(line, &name, ticks)))
        return false;
    for (size_t i = 0; i < CPU_TIMES; i++)
        b->machine_ticks += ticks[i];
    return true;
}

static bool process_cpu_end(struct snapshot *b)
{
    if (!b->has_stat || !b->has_machine)
        return false;
    const struct proc_stat *s = &b->stat;
    if (b->machine_ticks > 0)
        b->use.cpu_share +=
            ((double)s->user + (double)s->sys + (double)s->child_user + (double)s->child_sys) / b->machine_ticks;
    add_use(b);
    return true;
}

static bool process_memory_line(struct snapshot *b, struct word line)
{
    enum { STATM_WORDS = 7 };
    struct word word[STATM_WORDS];
    if (is_name(b, line))
        return true;
    if (line_words(line.at, line.len, word, STATM_WORDS) < STATM_WORDS)
        return false;
    b->has_pages = true;
    for (size_t i = 0; i < PAGES; i++)
        b->has_pages = b->has_pages && word_u64(word[i], &b->pages[i]);
    return b->has_pages;
}

static bool process_memory_end(struct snapshot *b)
{
    if (!b->has_pages)
        return false;
    for (size_t i = 0; i < PAGES; i++)
        add_capped(&b->use.pages[i], b->pages[i]);
    add_use(b);
    return true;
}

static void begin_block(struct snapshot *b)
{
    memset(b->ticks, 0, sizeof b->ticks);
    memset(b->memory, 0, sizeof b->memory);
    memset(b->has_memory, 0, sizeof b->has_memory);
    b->process = (struct word){ "", 0 };
    b->machine_ticks = 0;
    b->has_stat = b->has_machine = b->has_pages = false;
}

static void read_blocks(struct snapshot *b, const struct snapshot_kind *kind, struct text *t)
{
    bool is_open = false;
    for (struct word line; text_next(t, &line);) {
        if (line.len == 0) {
            if (is_open && !kind->end(b))
                text_lost(t, LOSS_BAD_TEXT);
            is_open = false;
        } else if (word_starts(line, "TimeStamp:")) {
            if (is_open)
                text_lost(t, LOSS_CUT_SHORT);
            begin_block(b);
            is_open = true;
        } else if (!is_open ||
                   (!word_starts(line, "Index:") && !word_starts(line, "DataLen:") && !kind->line(b, line))) {
            text_lost(t, LOSS_BAD_TEXT);
        }
    }
    if (is_open)
        text_lost(t, LOSS_CUT_SHORT);
}

static const struct snapshot_kind kinds[] = {
    { "SystemCpuUsage.data", PROCESS_REPORTS, cpu_line, cpu_end },
    { "host_sys_cpu.data", PROCESS_REPORTS, cpu_line, cpu_end },
    { "Memory.data", PROCESS_REPORTS, memory_line, memory_end },
    { "host_sys_mem.data", PROCESS_REPORTS, memory_line, memory_end },
    { "-CpuUsage.data", PROCESS_CPU, process_cpu_line, process_cpu_end },
    { "-Memory.data", PROCESS_MEMORY, process_memory_line, process_memory_end },
};

static const struct snapshot_kind *snapshots_kind_of(const char *family, uint64_t *pid)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t digits = strspn(family, "0123456789");
        const bool is_process = kinds[i].process != PROCESS_REPORTS;
        if (strcmp(family + (is_process ? digits : 0), kinds[i].family) == 0 &&
            (!is_process || word_u64((struct word){ family, digits }, pid)))
            return &kinds[i];
    }
    return NULL;
}

static int by_pid(const void *a, const void *b)
{
    const struct process_use *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

bool snapshots_load(struct profile *p, struct source *s, struct usage *u, struct error *e)
{
    struct snapshot b = { .source = s, .names = p->names, .usage = u };
    LIST(struct process_use) use[PROCESS_REPORTS] = { 0 };
    cpu_list_read(s->settings.ai_cpus, &b.ai);
    cpu_list_read(s->settings.ctrl_cpus, &b.ctrl);
    for (size_t i = 0; i < s->n_streams; i++) {
        struct text t;
        b.use = (struct process_use){ 0 };
        const struct snapshot_kind *kind = snapshots_kind_of(s->stream[i].family, &b.use.pid);
        if (!kind)
            continue;
        if (!text_open(&t, s, &s->stream[i], e))
            return false;
        read_blocks(&b, kind, &t);
        struct process_use *row = b.use.n > 0 ? list_add(&use[kind->process], s->mem) : NULL;
        if (row)
            *row = b.use;
    }
    for (size_t k = 0; k < PROCESS_REPORTS; k++) {
        if (use[k].n > 0)
            qsort(use[k].at, use[k].n, sizeof *use[k].at, by_pid);
        u->process[k] = (struct process_uses){ use[k].n, use[k].at };
    }
    return !arena_failed(s->mem) || error_no_memory(e, s->path);
}
