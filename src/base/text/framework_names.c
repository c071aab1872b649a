/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/framework_names.h"

#include <stdio.h>
#include <string.h>

const struct framework_name framework_names[FRAMEWORKS] = {
    [FRAMEWORK_PYTORCH] = { "PyTorch", "_ascend_pt" },
    [FRAMEWORK_MINDSPORE] = { "MindSpore", "_ascend_ms" },
};

const char *const noted_variables[NOTED_VARIABLES] = {
    "ASCEND_GLOBAL_LOG_LEVEL", "HCCL_RDMA_TC",           "HCCL_RDMA_SL",
    "ACLNN_CACHE_LIMIT",       "HOST_CACHE_CAPACITY",    "ASCEND_ENHANCE_ENABLE",
    "PYTORCH_NPU_ALLOC_CONF",  "ASCEND_LAUNCH_BLOCKING", "HCCL_ALGO",
};

bool framework_ends_name(const char *name, size_t n)
{
    bool found = false;
    for (size_t i = 0; i < FRAMEWORKS && !found; i++) {
        const size_t len = strlen(framework_names[i].suffix);
        found = n > len && memcmp(name + n - len, framework_names[i].suffix, len) == 0;
    }
    return found;
}

bool framework_is_in_name(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < FRAMEWORKS && !found; i++)
        found = strstr(name, framework_names[i].suffix) != NULL;
    return found;
}

const char *framework_patterns(char out[FRAMEWORK_PATTERNS])
{
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < FRAMEWORKS && at < FRAMEWORK_PATTERNS; i++)
        at += (size_t)snprintf(out + at, FRAMEWORK_PATTERNS - at, "%s*%s", i > 0 ? " or " : "",
                               framework_names[i].suffix);
    return out;
}
