/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "load/samplers/usage_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "load/prof/records.h"
#include "raw/counter.h"
#include "raw/cpu_events.h"

static bool take_rows(struct source *s, struct cpu_samples *c, size_t most)
{
    arena_columns(s->mem, most, c->event, c->count, c->function, c->module);
    return !arena_failed(s->mem);
}

static void cpu_samples_add_row(struct cpu_samples *c, uint32_t event, uint64_t count, name_id function, name_id module)
{
    c->event[c->n] = event;
    c->count[c->n] = count;
    c->function[c->n] = function;
    c->module[c->n] = module;
    c->n++;
}

/* ---- ai_ctrl_cpu.data: what `perf script` prints of the CPUs that run AI CPU kernels, and of those that control ----
 *
 *     <command> <pid>/<thread> [<cpu>] <s>: <count> [raw] <event>:
 *         <address> <function>+<offset> (<module>)       the frame that was interrupted
 *         …                                              its callers
 *     <empty line>
 */

struct perf_head {
    uint64_t cpu, count;
    uint32_t event;
};

/* The hexadecimal number of an event: r11, or 0x11 after the word raw. */
static bool read_event(struct word w, uint32_t *out)
{
    if (word_starts(w, "0x"))
        w = word_skip(w, 2);
    else if (word_starts(w, "r"))
        w = word_skip(w, 1);
    else
        return false;
    uint32_t v = 0;
    for (size_t i = 0; i < w.len; i++) {
        const char c = w.at[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0 || v >> 28)
            return false;
        v = v << 4 | (uint32_t)digit;
    }
    *out = v;
    return w.len > 0;
}

/* Commands may hold blanks: the words are counted from the end. */
static bool read_head(struct word line, struct perf_head *out)
{
    enum { MOST = 24, EVENT = 1, COUNT, TIME, CPU, THREAD, COMMAND };
    struct word word[MOST];
    size_t n = line_words(line.at, line.len, word, MOST);
    if (n < COMMAND || line.at[line.len - 1] != ':')
        return false;
    struct word event = word[n - EVENT];
    event.len--;
    n -= word_is(word[n - COUNT], "raw");
    if (n < COMMAND)
        return false;
    const struct word cpu = word[n - CPU], thread = word[n - THREAD];
    return word[n - TIME].at[word[n - TIME].len - 1] == ':' && cpu.len > 2 && cpu.at[0] == '[' &&
           cpu.at[cpu.len - 1] == ']' && word_u64((struct word){ cpu.at + 1, cpu.len - 2 }, &out->cpu) &&
           memchr(thread.at, '/', thread.len) && word_u64(word[n - COUNT], &out->count) &&
           read_event(event, &out->event);
}

/* Functions may hold blanks, plus signs and parentheses: C++ has operators. */
static bool read_frame(struct word line, struct word *function, struct word *module)
{
    size_t address = 0, open = line.len;
    while (address < line.len && line.at[address] != ' ' && line.at[address] != '\t')
        address++;
    while (open > address && !(line.at[open - 1] == '(' && line.at[open - 2] == ' '))
        open--;
    if (open <= address + 1)
        return false;
    *module = (struct word){ line.at + open, line.len - open };
    while (module->len > 0 && module->at[module->len - 1] == ')')
        module->len--;
    *function = word_trim(word_skip((struct word){ line.at, open - 1 }, address));
    const char *offset = memrchr(function->at, '+', function->len);
    if (word_is(*function, "[unknown]"))
        *function = (struct word){ "unknown", 7 };
    else if (offset)
        function->len = (size_t)(offset - function->at);
    return function->len > 0;
}

static void read_perf(struct profile *p, struct source *s, struct usage *u, struct text *t)
{
    struct cpu_list ai, ctrl;
    cpu_list_read(s->settings.ai_cpus, &ai);
    cpu_list_read(s->settings.ctrl_cpus, &ctrl);
    enum { WANTS_HEAD, WANTS_FRAME, HAS_ALL } state = WANTS_HEAD;
    struct perf_head head;
    struct word line, function, module;
    while (text_next(t, &line)) {
        if (line.len == 0) {
            if (state == WANTS_FRAME)
                text_lost(t, LOSS_BAD_TEXT);
            state = WANTS_HEAD;
        } else if (state == WANTS_HEAD && read_head(line, &head)) {
            state = WANTS_FRAME;
        } else if (state == WANTS_HEAD) {
            text_lost(t, LOSS_BAD_TEXT);
            state = HAS_ALL; /* skip its frames */
        } else if (state == WANTS_FRAME && read_frame(line, &function, &module)) {
            const bool is_ctrl = cpu_list_has(&ctrl, head.cpu);
            if (is_ctrl || cpu_list_has(&ai, head.cpu))
                cpu_samples_add_row(&u->samples[is_ctrl ? SAMPLED_CTRL : SAMPLED_AI], head.event, head.count,
                                    names_add(p->names, function.at, function.len),
                                    names_add(p->names, module.at, module.len));
            else
                text_lost(t, LOSS_OTHER_KIND); /* a CPU that neither computes nor controls */
            state = HAS_ALL;
        }
    }
    if (state == WANTS_FRAME)
        text_lost(t, LOSS_CUT_SHORT);
}

static bool load_perf(struct profile *p, struct source *s, struct usage *u, struct error *e)
{
    size_t n;
    const struct stream *stream = source_streams(s, "ai_ctrl_cpu.data", &n);
    struct text t;
    if (!stream)
        return true;
    if (!text_open(&t, s, stream, e))
        return false;
    const size_t most = text_lines(&t) / 2; /* a head and a frame at least */
    if (!take_rows(s, &u->samples[SAMPLED_AI], most) || !take_rows(s, &u->samples[SAMPLED_CTRL], most))
        return error_no_memory(e, s->path);
    read_perf(p, s, u, &t);
    return true;
}

/* ---- tscpu.data: records of the scheduler's CPU ---- */

/* Finds the requested events, because the device always fills all seven counters. Without a list, all are requested. */
static void read_asked(const struct source *s, bool asked[CPU_EVENT_MOST + 1])
{
    const char *at = s->settings.ts_cpu_events;
    memset(asked, *at == 0, CPU_EVENT_MOST + 1);
    while (*at) {
        const size_t len = strcspn(at, ",");
        uint32_t event;
        if (read_event(word_trim((struct word){ at, len }), &event) && event <= CPU_EVENT_MOST)
            asked[event] = true;
        at += len + (at[len] == ',');
    }
}

static bool load_ts(struct profile *p, struct source *s, struct cpu_samples *c, struct error *e)
{
    struct records r;
    bool asked[CPU_EVENT_MOST + 1];
    if (!records_load(s, s->mem, "tscpu.data", &ts_cpu_layout, false, &r, e))
        return false;
    if (!take_rows(s, c, r.n * TS_CPU_PAIRS))
        return error_no_memory(e, s->path);
    read_asked(s, asked);
    for (size_t i = 0; i < r.n; i++) {
        char pc[24];
        bool is_good = true;
        for (size_t k = 0; k < TS_CPU_PAIRS; k++)
            is_good = is_good && ((const uint64_t *)r.column[TS_CPU_FIRST + 2 * k])[i] <= CPU_EVENT_MOST;
        if (!is_good)
            record_lost(s, "tscpu.data", LOSS_BAD_VALUE, r.rest[i]);
        const int len = snprintf(pc, sizeof pc, "0x%" PRIx64, ((const uint64_t *)r.column[TS_CPU_PC])[i]);
        const name_id function = is_good ? names_add(p->names, pc, (size_t)len) : NAME_EMPTY;
        for (size_t k = 0; k < TS_CPU_PAIRS && is_good; k++) {
            const uint64_t event = ((const uint64_t *)r.column[TS_CPU_FIRST + 2 * k])[i];
            if (asked[event])
                cpu_samples_add_row(c, (uint32_t)event, ((const uint64_t *)r.column[TS_CPU_FIRST + 2 * k + 1])[i],
                                    function, NAME_EMPTY);
        }
    }
    return true;
}

bool cpu_samples_load(struct profile *p, struct source *s, struct usage *u, struct error *e)
{
    return load_perf(p, s, u, e) && load_ts(p, s, &u->samples[SAMPLED_TS], e);
}
