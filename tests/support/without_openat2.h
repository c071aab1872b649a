/* SPDX-License-Identifier: Apache-2.0 */
/* without_openat2.h - takes openat2() from a process and its children, as an old kernel or the filter of a container
 * does. */
#ifndef ASCOPE_TESTS_WITHOUT_OPENAT2_H
#define ASCOPE_TESTS_WITHOUT_OPENAT2_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>

/* False: this system has no filters, as emulators have none. */
static inline bool openat2_fails(unsigned why)
{
    enum { OPENAT2 = 437 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OPENAT2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | why),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof *code, code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#endif
