/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/task_types.h"

#include <string.h>

static const struct {
    const char *name;
    enum task_does does;
} task_types[] = {
    { "AI_CORE", TASK_COMPUTES },
    { "AI_CUBE", TASK_COMPUTES },
    { "AI_VECTOR_CORE", TASK_COMPUTES },
    { "AIV_SQE", TASK_COMPUTES },
    { "MIX_AIC", TASK_COMPUTES },
    { "MIX_AIV", TASK_COMPUTES },
    { "AI_CPU", TASK_COMPUTES },
    { "AICPU_H", TASK_COMPUTES },
    { "AICPU_D", TASK_COMPUTES },
    { "FFTS_PLUS", TASK_COMPUTES },
    { "FUSION", TASK_COMPUTES },
    { "STARS_COMMON", TASK_COMPUTES },
    { "KERNEL_AICORE", TASK_COMPUTES },
    { "KERNEL_AIVEC", TASK_COMPUTES },
    { "KERNEL_AICPU", TASK_COMPUTES },
    { "KERNEL_SIMT", TASK_COMPUTES },
    { "KERNEL_MIX_AIC", TASK_COMPUTES },
    { "KERNEL_MIX_AIV", TASK_COMPUTES },
    { "DSA_SQE", TASK_COMPUTES },
    { "DVPP", TASK_COMPUTES },
    { "VPC_SQE", TASK_COMPUTES },
    { "JPEGE_SQE", TASK_COMPUTES },
    { "JPEGD_SQE", TASK_COMPUTES },
    { "GPU", TASK_COMPUTES }, /* and of databases of GPUs */
    { "MEMCPY_ASYNC", TASK_COPIES },
    { "SDMA_SQE", TASK_COPIES },
    { "PCIE_DMA_SQE", TASK_COPIES },
    { "ASYNCDMA", TASK_COPIES },
    { "UBDMA", TASK_COPIES },
    { "COMMUNICATION", TASK_CONTROLS }, /* parts of collectives */
    { "HCCL_AI_CPU", TASK_CONTROLS },
    { "ROCCE_SQE", TASK_CONTROLS },
    { "CCU_SQE", TASK_CONTROLS },
    { "C_CORE_SQE", TASK_CONTROLS },
    { "EVENT_RECORD_SQE", TASK_CONTROLS },
    { "EVENT_WAIT_SQE", TASK_CONTROLS },
    { "NOTIFY_RECORD_SQE", TASK_CONTROLS },
    { "NOTIFY_WAIT_SQE", TASK_CONTROLS },
    { "WRITE_VALUE_SQE", TASK_CONTROLS },
    { "PLACE_HOLDER_SQE", TASK_CONTROLS },
    { "HOST_CPU_SQE", TASK_CONTROLS },
    { "CDQM_SQE", TASK_CONTROLS },
    { "CMO_SQE", TASK_CONTROLS },
    { "CONDITION_SQE", TASK_CONTROLS },
    { "END_SQE", TASK_CONTROLS },
    { "MAX_SQE", TASK_CONTROLS },
    { "TOF_SQE", TASK_CONTROLS },
    { "VQ6_SQE", TASK_CONTROLS },
    { "WRITE_BACK", TASK_CONTROLS },
    { "INVALID", TASK_CONTROLS },
    { "UNKNOWN", TASK_CONTROLS },
    { "Other", TASK_CONTROLS },
};

enum task_does task_type_does(const char *type, size_t len)
{
    for (size_t i = 0; i < sizeof task_types / sizeof *task_types; i++)
        if (strlen(task_types[i].name) == len && memcmp(type, task_types[i].name, len) == 0)
            return task_types[i].does;
    return TASK_UNKNOWN;
}
