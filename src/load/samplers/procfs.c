/* SPDX-License-Identifier: Apache-2.0 */
#include "load/samplers/usage_load.h"

#include <string.h>

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
