/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_library.h - the vendor's libraries, found and loaded at run time: CUPTI, which records, and the driver, which has the GPUs.
 *
 * Two copies of CUPTI in a process do not see each other, so the one that the process has mapped is used; else the one beside
 * PyTorch, then those of CUDA's folders. The driver is never initialised from here: a process whose parent has done so cannot use it.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUPTI_LIBRARY_H
#define ASCOPE_DEVICE_CUDA_CUPTI_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the callback API; as the vendor's header lays it out. */
struct cupti_call {
    int32_t site; /* CUPTI_ENTER, CUPTI_EXIT */
    const char *function;
    const void *arguments;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *shared; /* between enter and exit */
    uint32_t correlation;
};
enum { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };
enum { CUPTI_OF_DRIVER = 1, CUPTI_OF_RUNTIME = 2 };
typedef void cupti_callback(void *user, int32_t domain, uint32_t id, const struct cupti_call *call);
typedef void cupti_buffer_wanted(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void cupti_buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t used);

enum { CUPTI_MULTIPLE_SUBSCRIBERS = 39, CUPTI_MAX_LIMIT = 12 }; /* errors: somebody else uses it */

struct cupti_calls {
    int32_t (*version)(uint32_t *version);
    int32_t (*error_text)(int32_t error, const char **text);
    int32_t (*timestamp)(uint64_t *ns);
    int32_t (*subscribe)(void **subscriber, cupti_callback *callback, void *user);
    int32_t (*unsubscribe)(void *subscriber);
    int32_t (*enable_callback)(uint32_t is_on, void *subscriber, int32_t domain, uint32_t id);
    int32_t (*callback_name)(int32_t domain, uint32_t id, const char **name);
    int32_t (*register_buffers)(cupti_buffer_wanted *wanted, cupti_buffer_done *done);
    int32_t (*enable)(int32_t kind);
    int32_t (*disable)(int32_t kind);
    int32_t (*flush)(uint32_t is_forced);
    int32_t (*next_record)(uint8_t *buffer, size_t used, uint8_t **record);
    int32_t (*n_dropped)(void *context, uint32_t stream, size_t *n);
    int32_t (*finalize)(void); /* NULL: an old release */

    /* Of the driver. */
    int32_t (*device_count)(int32_t *n);
    int32_t (*device_name)(char *name, int32_t bytes, int32_t device);
    int32_t (*device_attribute)(int32_t *value, int32_t attribute, int32_t device);
    int32_t (*device_bus)(char *bus, int32_t bytes, int32_t device);
    int32_t (*device_bytes)(size_t *bytes, int32_t device);
    int32_t (*context_state)(int32_t device, uint32_t *flags, int32_t *is_active);
    int32_t (*context_retain)(void **context, int32_t device);
    int32_t (*context_release)(int32_t device);
    int32_t (*context_push)(void *context);
    int32_t (*context_pop)(void **context);
    int32_t (*context_wait)(void);
};

enum cuda_library { CUDA_CUPTI, CUDA_DRIVER, CUDA_LIBRARIES };
struct cuda_found {
    bool is_found;
    char path[PATH_MAX];
    char missing[100]; /* a function that it has to have; "": it has all of them */
    char reason[300];  /* why it cannot be loaded */
};

uint32_t cuda_limit_s(void); /* how long a call is waited for: see limited_call.h */

bool cuda_is_loaded(void); /* the program uses CUDA, or can: one of its libraries is mapped */
/* False: without CUPTI or the driver, or without a function of theirs that is needed; `found` says which. */
bool cupti_load(struct cupti_calls *calls, struct cuda_found found[CUDA_LIBRARIES]);
int32_t cuda_count(
    const struct cupti_calls *c); /* of GPUs; until the program has initialised the driver, of device files */
void cuda_places(enum cuda_library which, char *text, size_t size); /* where it is looked for */

#endif
