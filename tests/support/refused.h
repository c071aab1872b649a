/* SPDX-License-Identifier: Apache-2.0 */
/* refused.h - filters that let system calls fail in the calling thread, and in all threads and children that it
 * starts. False: there are no filters here, as in an emulator. */
#ifndef ASCOPE_TESTS_REFUSED_H
#define ASCOPE_TESTS_REFUSED_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>

static inline bool calls_fail(unsigned one, unsigned other, unsigned why)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | why),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = { sizeof code / sizeof *code, code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static inline bool calls_refuse(unsigned one, unsigned other)
{
    return calls_fail(one, other, EPERM);
}

/* As on an old kernel, or with the filter of a container. */
static inline bool openat2_fails(unsigned why)
{
    enum { OPENAT2 = 437 };
    return calls_fail(OPENAT2, OPENAT2, why);
}

#endif
