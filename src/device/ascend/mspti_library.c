/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ascend/mspti_library.h"

#include <dlfcn.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct {
    const char *name;
    size_t at;
    bool is_needed;
} functions[] = {
    { "msptiSubscribe", offsetof(struct mspti_calls, subscribe), true },
    { "msptiUnsubscribe", offsetof(struct mspti_calls, unsubscribe), true },
    { "msptiActivityRegisterCallbacks", offsetof(struct mspti_calls, register_buffers), true },
    { "msptiActivityEnable", offsetof(struct mspti_calls, enable), true },
    { "msptiActivityDisable", offsetof(struct mspti_calls, disable), true },
    { "msptiActivityFlushAll", offsetof(struct mspti_calls, flush), true },
    { "msptiActivityGetNextRecord", offsetof(struct mspti_calls, next_record), true },
    { "msptiActivityFlushPeriod", offsetof(struct mspti_calls, flush_period), false },
};

bool mspti_load(struct mspti_calls *calls, struct error *e)
{
    void *const library = dlopen(MSPTI_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    memset(calls, 0, sizeof *calls);
    if (!library)
        return error_set(e, FAULT_ASKED,
                         MSPTI_LIBRARY " is not loaded in this process; start the program with "
                                       "LD_PRELOAD=" MSPTI_LIBRARY ", or by ascope run");
    for (size_t i = 0; i < COUNT(functions); i++) {
        void *const at = dlsym(library, functions[i].name);
        if (!at && functions[i].is_needed)
            return error_set(e, FAULT_ASKED, MSPTI_LIBRARY " has no %s", functions[i].name);
        memcpy((char *)calls + functions[i].at, &at, sizeof at);
    }
    return true;
}

const char *mspti_error(int32_t code)
{
    static const char *const words[] = {
        [1] = "invalid parameter",
        [MSPTI_SUBSCRIBED] = "another tool (torch.profiler, msMonitor) uses MSPTI in this process",
        [MSPTI_NO_MORE] = "limit reached",
        [4] = "the device is offline",
        [5] = "the queue is empty",
        [MSPTI_NOT_PRELOADED] = MSPTI_LIBRARY " was not preloaded",
    };
    return code > 0 && (size_t)code < COUNT(words) ? words[code] : "inner error";
}
