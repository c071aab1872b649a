/* SPDX-License-Identifier: Apache-2.0 */
/* mspti_library.h - libmspti.so of CANN: its functions, kinds of records and results.
 *
 * The library wraps others, so it has to be loaded before them: LD_PRELOAD=libmspti.so at the start of the program.
 * One that was not is not loaded here. One tool of a process can subscribe.
 */
#ifndef ASCOPE_DEVICE_ASCEND_MSPTI_LIBRARY_H
#define ASCOPE_DEVICE_ASCEND_MSPTI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"

enum mspti_result { MSPTI_SUBSCRIBED = 2, MSPTI_NO_MORE = 3, MSPTI_NOT_PRELOADED = 6 };
enum mspti_kind {
    MSPTI_MARKER = 1,
    MSPTI_KERNEL = 2,
    MSPTI_API = 3,
    MSPTI_HCCL = 4,
    MSPTI_MEMSET = 6,
    MSPTI_MEMCPY = 7,
    MSPTI_COMMUNICATION = 9
};

typedef void mspti_callback(void *user, int32_t domain, uint32_t id, const void *call);
typedef void mspti_buffer_wanted(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void mspti_buffer_done(uint8_t *buffer, size_t bytes, size_t used);

/* 0 is success. flush_period may be NULL. */
struct mspti_calls {
    int32_t (*subscribe)(void **handle, mspti_callback *call, void *user);
    int32_t (*unsubscribe)(void *handle);
    int32_t (*register_buffers)(mspti_buffer_wanted *wanted, mspti_buffer_done *done);
    int32_t (*enable)(int32_t kind);
    int32_t (*disable)(int32_t kind);
    int32_t (*flush)(uint32_t flag);
    int32_t (*next_record)(uint8_t *buffer, size_t used, uint8_t **record);
    int32_t (*flush_period)(uint32_t ms);
};

#define MSPTI_LIBRARY "libmspti.so"

/* Finds the library that this process has loaded. False: e says why it cannot be used. */
bool mspti_load(struct mspti_calls *calls, struct error *e);
const char *mspti_error(int32_t code);

#endif
