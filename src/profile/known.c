/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/known.h"

static const char *const known[NAMES_KNOWN] = {
    [NAME_STEP_INFO] = "step_info",
    [NAME_MODEL_LOAD] = "ModelLoad",
    [NAME_MASTER] = "master",
    [NAME_RECORD_EVENT] = "aclrtRecordEvent",
    [NAME_WAIT_EVENT] = "aclrtStreamWaitEvent",
    [NAME_MEMCPY_ASYNC] = "MEMCPY_ASYNC",
    [NAME_FFTS_PLUS] = "FFTS_PLUS",
    [NAME_KERNEL_SIMT] = "KERNEL_SIMT",
    [NAME_YES] = "YES",
    [NAME_NO] = "NO",
    [NAME_STATIC] = "static",
    [NAME_DYNAMIC] = "dynamic",
    [NAME_UNKNOWN] = "UNKNOWN",
    [NAME_ZERO] = "0",
};

bool known_names_add(struct names *s)
{
    for (name_id id = NAME_NA + 1; id < NAMES_KNOWN; id++)
        if (names_addz(s, known[id]) != id)
            return false;
    return true;
}
