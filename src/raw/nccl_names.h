/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_names.h - what the names of NCCL's kernels say.
 *
 * Newer ones: ncclDevKernel_AllReduce_Sum_f32_RING_LL(...), ncclDevKernel_SendRecv(...),
 * ncclSymkDevKernel_AllGather_LL(...); before them ncclKernel_AllReduce_RING_LL_Sum_float(...),
 * ncclAllReduceRingLLKernel_sum_f32(...). A generic kernel does not say what it does. Those of HCCL, as MSPTI reports them,
 * are hcom_allReduce__483_3_ccu_483_2_1.
 */
#ifndef ASCOPE_RAW_NCCL_NAMES_H
#define ASCOPE_RAW_NCCL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool nccl_is_kernel(const char *name); /* of NCCL or HCCL */

struct nccl_name {
    const char *collective; /* "AllReduce"; "NCCL": it does not say which */
    const char *algorithm;  /* "RING-LL"; NULL: it does not say */
    uint32_t data_type;     /* of raw/enums.h; NCCL_NO_TYPE: it does not say */
};
enum { NCCL_NO_TYPE = UINT32_MAX };
struct nccl_name nccl_name_read(const char *name);

/* A kernel that says `collective` may be of what PyTorch's backend calls `reported`: "AllGather" of "_allgather_base". */
bool nccl_is_of(const char *collective, const char *reported);

uint32_t nccl_type_bytes(uint32_t data_type);        /* of one element; 0: unknown */
uint32_t nccl_data_type(const char *word, size_t n); /* "f32", "float", "fp32"; NCCL_NO_TYPE: no type */

#endif
