/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_library.h - registry: finds and loads the vendor's libraries at run time: CUPTI, which records, and the driver, which
 * knows the GPUs.
 *
 * Two copies of CUPTI in a process do not know of each other. The one that the process has mapped is used, else the one
 * beside PyTorch, then those in CUDA's directories. The driver is never initialised here: children of a process that
 * has done so cannot use it.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUPTI_LIBRARY_H
#define ASCOPE_DEVICE_CUDA_CUPTI_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw/layout.h"

/* The argument of a callback, with the layout of the vendor's header. */
struct cupti_call {
    int32_t site; /* CUPTI_ENTER, CUPTI_EXIT */
    const char *function;
    const void *arguments;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *shared; /* a word that is the same at enter and at exit of a call */
    uint32_t correlation;
};
enum { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };
enum { CUPTI_OF_DRIVER = 1, CUPTI_OF_RUNTIME = 2, CUPTI_OF_RESOURCE = 3 };

/* In place of it in callbacks of CUPTI_OF_RESOURCE, those of nodes of graphs. */
struct cupti_graph_node {
    void *graph, *original_graph, *node, *original_node;
    int32_t type;
};
struct cupti_resource {
    void *context, *stream;
    const struct cupti_graph_node *node;
};
enum { CUPTI_NODE_CREATED = 13, CUPTI_NODE_CLONED = 20 };
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
    int32_t (*finalize)(void);                    /* NULL: an old release */
    int32_t (*node_id)(void *node, uint64_t *id); /* NULL: the same */

    /* Functions of the driver. */
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

enum { CUDA_DEVICES = 64 }; /* that are recorded at most: sets of devices are bits of 64 */

enum cuda_library { CUDA_CUPTI, CUDA_DRIVER, CUDA_LIBRARIES };
struct cuda_found {
    bool is_found;
    char path[PATH_MAX];
    char missing[100]; /* the first required function that it does not have; "": it has all of them */
    char reason[300];  /* what the loader says of a file that is there and cannot be loaded; "": there is none */
};
/* For messages, of a library that is not is_found: "libcupti.so not found", or that it cannot be loaded, and why. */
void cuda_absence(const struct cuda_found *f, const char *name, char *text, size_t size);

uint32_t cuda_limit_s(void); /* the time limit of a call, in seconds: see limited_call.h */

bool cuda_is_loaded(void); /* a library of CUDA is mapped: the program uses it, or may do so */
/* Loads both libraries and looks up their functions. False: a library or a required function is missing; `found` says
 * which. */
bool cupti_load(struct cupti_calls *calls, struct cuda_found found[CUDA_LIBRARIES]);
/* The number of GPUs; until the program has initialised the driver, the number of device files. */
int32_t cuda_count(const struct cupti_calls *c);
void cuda_places(enum cuda_library which, char *text,
                 size_t size); /* where a library is looked for, as a list for people */

/* cupti_activity.c: converts records of CUPTI's activity API to those of raw/cuda_records.h.
 *
 * Later versions of CUPTI append fields to its records. The tables of fields here say since which version a field
 * exists, so that nothing behind the end of an older record is read. */

enum {
    CUPTI_MEMCPY = 1,
    CUPTI_MEMSET = 2,
    CUPTI_KERNEL = 10,
    CUPTI_MEMCPY_PEER = 22,
    CUPTI_MEMORY = 49,
    CUPTI_MEMORY_POOL = 50
};
/* The kinds of records that are enabled; both lists end with 0. Not every version has those of memory. */
extern const uint32_t cupti_activities[], cupti_memory_activities[];
enum { CUPTI_LEAST_VERSION = 12 }; /* of CUDA 10.2; its records of kernels have 144 bytes */

enum { CUPTI_RECORD_MOST = 112 };
struct cupti_record {
    const struct layout *layout;       /* of the result: cuda_task_layout or cuda_memory_layout */
    uint8_t record[CUPTI_RECORD_MOST]; /* the result, without the name of a kernel */
    uint32_t device;
    uint64_t begin_ns;
    const char *name; /* the mangled name of a kernel, lent as long as CUPTI's buffer is ours; else NULL */
};

enum cupti_found {
    CUPTI_FOUND,
    CUPTI_FOUND_OTHER, /* a record of a kind that is not recorded */
    CUPTI_FOUND_PART   /* too few bytes for the fields of this version */
};
enum cupti_found cupti_record_read(const uint8_t *activity, size_t bytes, uint32_t version, struct cupti_record *out);

#endif
