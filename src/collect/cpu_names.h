/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_names.h - what files of /proc say of the machine, and who made its CPU, as the reference's collector writes it.
 *
 * On x86 the CPU says both in words. On aarch64 it has numbers: of who made it, and of the part.
 */
#ifndef ASCOPE_COLLECT_CPU_NAMES_H
#define ASCOPE_COLLECT_CPU_NAMES_H

#include <stddef.h>

/* "vendor_id	: AuthenticAMD" of /proc/cpuinfo, "MemTotal:  24682416 kB" of /proc/meminfo: the first one's value. "": there is
 * none. */
void proc_field(const char *path, const char *name, char *value, size_t size);

struct cpu_names {
    char maker[80];
    char type[160];
};
struct cpu_names cpu_names(const char *cpuinfo); /* the path of /proc/cpuinfo; "" for what nobody knows */

#endif
