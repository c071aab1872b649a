/* SPDX-License-Identifier: Apache-2.0 */
/* procfs.h - parses texts of /proc, as collectors copy them. */
#ifndef ASCOPE_LOAD_SAMPLERS_PROCFS_H
#define ASCOPE_LOAD_SAMPLERS_PROCFS_H

#include "load/prof/text.h"

/* The line of /proc/<pid>/stat, or of one of its threads. Names may hold blanks and parentheses: fields are counted
 * from the last closing one. */
struct proc_stat {
    uint64_t id;
    struct word name;
    uint64_t user, sys, child_user, child_sys; /* clock ticks */
    uint32_t cpu;                              /* on which it ran last; 0 unless requested */
};
bool proc_stat(struct word line, bool wants_cpu, struct proc_stat *out);

/* Which CPUs of a device do what: lists of numbers in its info.json, "1,2,3". */
enum { CPUS_MOST = 1024 };
struct cpu_list {
    uint64_t bits[CPUS_MOST / 64];
};
void cpu_list_read(const char *list, struct cpu_list *out);
static inline bool cpu_list_has(const struct cpu_list *l, uint64_t cpu)
{
    return cpu < CPUS_MOST && (l->bits[cpu / 64] >> cpu % 64 & 1);
}

#endif
