/* SPDX-License-Identifier: Apache-2.0 */
/* remote_memory.h - memory of another process, read while it runs, hangs or is stopped.
 *
 * The kernel copies (process_vm_readv): the process executes nothing, is not stopped and gets no signal. It may change
 * meanwhile, so that nothing that was read is trusted. Needs the same user, and ptrace_scope 0 or an ancestor.
 */
#ifndef ASCOPE_LIVE_REMOTE_MEMORY_H
#define ASCOPE_LIVE_REMOTE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

bool remote_read(pid_t pid, uint64_t at, void *to, size_t n); /* all of it; false: errno */

/* Where the first mapped file that has the symbol has it, of those whose names begin with one of these prefixes. 0: none
 * has. */
uint64_t remote_symbol(pid_t pid, const char *const *prefix, size_t n_prefixes, const char *symbol);

#endif
