/* SPDX-License-Identifier: Apache-2.0 */
#include "load/samplers/usage_load.h"

#include <string.h>

#include "load/prof/text.h"

/* A sample is a line "time <ns>" and one line for each memory node or port: its name, and its counters as
 * "name=number". */

enum { COUNTS_MOST = 1024 }; /* of one file; a machine has fewer */

struct counts_reader {
    struct profile *profile;
    struct source *source;
    LIST(struct host_count) list;
    size_t next; /* where the next search begins: all samples have the same order */
};

/* The row of a counter; NULL: there are too many, or no memory. */
static struct host_count *host_counts_row_of(struct counts_reader *r, name_id thing, name_id counter)
{
    for (size_t i = 0; i < r->list.n; i++) {
        const size_t at = (r->next + i) % r->list.n;
        if (r->list.at[at].thing == thing && r->list.at[at].counter == counter) {
            r->next = at + 1;
            return &r->list.at[at];
        }
    }
    struct host_count *const row = r->list.n < COUNTS_MOST ? list_add(&r->list, r->source->mem) : NULL;
    if (row)
        *row = (struct host_count){ .thing = thing, .counter = counter };
    r->next = r->list.n;
    return row;
}

static bool count_add(struct counts_reader *r, name_id thing, struct word word)
{
    const char *const sign = memchr(word.at, '=', word.len);
    uint64_t value;
    if (!sign || sign == word.at ||
        !word_u64((struct word){ sign + 1, word.len - (size_t)(sign + 1 - word.at) }, &value))
        return false;
    struct host_count *const row =
        host_counts_row_of(r, thing, names_add(r->profile->names, word.at, (size_t)(sign - word.at)));
    if (!row)
        return false;
    row->first = row->n == 0 ? value : row->first;
    row->last = value;
    row->most = value > row->most ? value : row->most;
    row->sum += (double)value;
    row->n++;
    return true;
}

static bool thing_line(struct counts_reader *r, struct word line)
{
    enum { WORDS_MOST = 64 };
    struct word word[WORDS_MOST];
    const size_t n = line_words(line.at, line.len, word, WORDS_MOST);
    if (n < 2 || memchr(word[0].at, '=', word[0].len))
        return false;
    const name_id thing = names_add(r->profile->names, word[0].at, word[0].len);
    bool is_valid = true;
    for (size_t i = 1; i < n; i++)
        is_valid &= count_add(r, thing, word[i]);
    return is_valid;
}

bool host_counts_load(struct profile *p, struct source *s, struct usage *u, struct error *e)
{
    static const char *const family[HOST_COUNTS] = {
        [COUNTS_NUMA] = "host_numa.data", [COUNTS_ROCE] = "host_roce.data"
    };
    for (size_t k = 0; k < HOST_COUNTS; k++) {
        struct counts_reader r = { .profile = p, .source = s };
        size_t n;
        const struct stream *const stream = source_streams(s, family[k], &n);
        struct text t;
        if (!stream)
            continue;
        if (!text_open(&t, s, stream, e))
            return false;
        int64_t at_ns = NO_TIME;
        for (struct word line; text_next(&t, &line);)
            if (line.len > 0 &&
                (gauge_head(s, line, &at_ns) ? at_ns == NO_TIME : at_ns == NO_TIME || !thing_line(&r, line)))
                text_lost(&t, LOSS_BAD_TEXT);
        u->counts[k] = (struct host_counts){ r.list.n, r.list.at };
    }
    return !arena_failed(s->mem) || error_no_memory(e, s->path);
}

/* Numbers of the fields behind the name; the state is field 0. */
enum { STAT_USER = 11, STAT_SYS, STAT_CHILD_USER, STAT_CHILD_SYS, STAT_CPU = 36, STAT_WORDS };

bool proc_stat(struct word line, bool wants_cpu, struct proc_stat *out)
{
    size_t close = line.len;
    while (close > 0 && line.at[close - 1] != ')')
        close--;
    const char *open = memchr(line.at, '(', close);
    if (!open || !word_u64(word_trim((struct word){ line.at, (size_t)(open - line.at) }), &out->id))
        return false;
    out->name = (struct word){ open + 1, (size_t)(line.at + close - open) - 2 };
    struct word word[STAT_WORDS];
    const size_t n = line_words(line.at + close, line.len - close, word, STAT_WORDS);
    uint64_t cpu = 0;
    if (n <= (wants_cpu ? STAT_CPU : STAT_CHILD_SYS) || !word_u64(word[STAT_USER], &out->user) ||
        !word_u64(word[STAT_SYS], &out->sys) || !word_u64(word[STAT_CHILD_USER], &out->child_user) ||
        !word_u64(word[STAT_CHILD_SYS], &out->child_sys))
        return false;
    if (wants_cpu && (!word_u64(word[STAT_CPU], &cpu) || cpu >= UINT32_MAX))
        return false;
    out->cpu = (uint32_t)cpu;
    return true;
}

void cpu_list_read(const char *list, struct cpu_list *out)
{
    *out = (struct cpu_list){ 0 };
    for (const char *at = list; *at;) {
        const size_t len = strcspn(at, ",");
        uint64_t cpu;
        if (word_u64(word_trim((struct word){ at, len }), &cpu) && cpu < CPUS_MOST)
            out->bits[cpu / 64] |= (uint64_t)1 << cpu % 64;
        at += len + (at[len] == ',');
    }
}
