/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_names.h - facts about the machine from /proc, and the vendor and name of its CPU, as the reference's collector
 * writes them.
 *
 * On x86, /proc/cpuinfo has vendor and name as texts. On aarch64 it has numbers for both.
 */
#ifndef ASCOPE_COLLECT_DESCRIBE_CPU_NAMES_H
#define ASCOPE_COLLECT_DESCRIBE_CPU_NAMES_H

#include <stddef.h>

/* "vendor_id	: AuthenticAMD" of /proc/cpuinfo, "MemTotal:  24682416 kB" of /proc/meminfo: the first one's value. "": there is
 * none. */
void proc_field(const char *path, const char *name, char *value, size_t size);

struct cpu_names {
    char maker[80];
    char type[160];
};
struct cpu_names cpu_names(const char *cpuinfo); /* the path of /proc/cpuinfo; "" for an unknown vendor or name */

#endif
