/* SPDX-License-Identifier: Apache-2.0 */
/* full_disk.h - a disk on which no ring can grow (src/collect/ring/ring_growth.c), as long as disk_is_full is set. */
#ifndef ASCOPE_TESTS_FULL_DISK_H
#define ASCOPE_TESTS_FULL_DISK_H

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static _Atomic bool disk_is_full;

/* In place of the C library's. It takes six arguments, however many there are. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_madvise && a[2] == MADV_POPULATE_WRITE && atomic_load(&disk_is_full)) {
        errno = EFAULT;
        return -1;
    }
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
