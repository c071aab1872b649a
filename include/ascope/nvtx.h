/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.h - NVTX: ranges and marks of programs for NVIDIA's tools are recorded as marks (mark.h), with their domains.
 *
 * Nothing of it is called by programs: NVTX's own headers load the library that NVTX_INJECTION64_PATH names, at a
 * program's first call of NVTX, and call this function, which fills their tables. With another tool in that variable,
 * its tool has them.
 */
#ifndef ASCOPE_NVTX_H
#define ASCOPE_NVTX_H

#include "ascope/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef const void *(*ascope_nvtx_export)(uint32_t table);

/* 1: the tables are filled. Errors: 0: they are not those of NVTX 2 or 3. Threads: any. */
ASCOPE_API int InitializeInjectionNvtx2(ascope_nvtx_export export_table);

#ifdef __cplusplus
}
#endif
#endif
