/* SPDX-License-Identifier: Apache-2.0 */
/* libc.h - definitions of glibc that other C libraries, or the headers of older kernels, do not have.
 *
 * Included before everything else where a symbol is missing (meson.build); no file includes it by itself.
 */
#ifndef ASCOPE_BASE_PROCESS_LIBC_H
#define ASCOPE_BASE_PROCESS_LIBC_H

#include <dirent.h>
#include <errno.h>

#ifndef TEMP_FAILURE_RETRY
#define TEMP_FAILURE_RETRY(call)                                                                                       \
    (__extension__({                                                                                                   \
        long result_of_call;                                                                                           \
        do                                                                                                             \
            result_of_call = (long)(call);                                                                             \
        while (result_of_call == -1 && errno == EINTR);                                                                \
        result_of_call;                                                                                                \
    }))
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#ifndef __GLIBC__
#define M_MMAP_THRESHOLD      0
#define M_TOP_PAD             0
#define M_TRIM_THRESHOLD      0
#define mallopt(option, size) ((void)(option), (void)(size)) /* large blocks are mappings of their own anyway */
#ifndef dirent64
#define dirent64   dirent
#define getdents64 getdents
#endif
#endif

#endif
