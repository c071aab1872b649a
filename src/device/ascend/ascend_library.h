/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_library.h - the vendor's libraries on a machine with Ascend NPUs: which there are, where they are looked for,
 * what is called.
 *
 * They are opened when a device is requested, and never linked. There are two tables: the libraries with their
 * directories, and the functions. Without a function its feature is not available; without a required one nothing can
 * be recorded.
 */
#ifndef ASCOPE_DEVICE_ASCEND_ASCEND_LIBRARY_H
#define ASCOPE_DEVICE_ASCEND_ASCEND_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ascend_library_id {
    ASCEND_MSPROFILER,
    ASCEND_ACL,
    ASCEND_DRIVER,
    ASCEND_PROFAPI,
    ASCEND_RUNTIME,
    ASCEND_LIBRARIES
};

struct ascend_library {
    const char *name, *what; /* "libmsprofiler.so"; for people */
    bool is_of_driver;       /* it lies with the driver, not with CANN */
    bool is_only_used;       /* it is never loaded by the recorder, and used only if the program has loaded it */
};
extern const struct ascend_library ascend_libraries[ASCEND_LIBRARIES];

/* The functions of the libraries. NULL: the function does not exist. They return an aclError; 0 is success. */
struct ascend_calls {
    int32_t (*prof_init)(const char *path, size_t length);
    int32_t (*prof_finalize)(void);
    void *(*prof_create_config)(uint32_t *ids, uint32_t n, int32_t metrics, const void *events, uint64_t mask);
    int32_t (*prof_destroy_config)(const void *config);
    int32_t (*prof_set_config)(int32_t type, const char *text, size_t length);
    int32_t (*prof_start)(const void *config);
    int32_t (*prof_stop)(const void *config);
    int32_t (*prof_warmup)(const void *config);
    int32_t (*prof_register_device)(void);
    int32_t (*rt_get_device)(int32_t *id);
    int32_t (*rt_synchronize)(void);
    int32_t (*rt_version)(int32_t *major, int32_t *minor, int32_t *patch);
    int32_t (*drv_count)(uint32_t *n);
    int32_t (*drv_ids)(uint32_t *ids, uint32_t n);
    int32_t (*drv_info)(uint32_t device, int32_t module, int32_t info, int64_t *value);
    int32_t (*drv_version)(int32_t *version);
    char *(*api_path)(void);
    int32_t (*rt_trace)(uint64_t id, uint64_t model, uint16_t tag, void *stream);
};

struct ascend_symbol {
    const char *name;
    const char *what; /* for people: what is not available without it */
    uint8_t library;  /* enum ascend_library_id */
    uint8_t older;    /* the library that had it in older releases; the same number: always this one */
    bool is_needed;
    size_t at; /* in struct ascend_calls */
};
extern const struct ascend_symbol ascend_symbols[];
extern const size_t n_ascend_symbols;

/* How a library was found. */
enum ascend_found { ASCEND_NOT_FOUND, ASCEND_WAS_LOADED, ASCEND_BY_NAME, ASCEND_BY_PATH };

enum { ASCEND_PATH = 256, ASCEND_MISSING = 320 };
struct ascend_loaded {
    uint32_t found;               /* enum ascend_found */
    char path[ASCEND_PATH];       /* of the file */
    char reason[ASCEND_PATH];     /* why it could not be loaded; "": it was */
    char missing[ASCEND_MISSING]; /* the functions that it does not have, with ", " between them */
};

/* Whether there is a device file, or a library that is loaded or is in one of the directories. Loads nothing. */
bool ascend_is_installed(void);
bool ascend_is_loaded(enum ascend_library_id library); /* into this process, by the program or by the recorder */

/* Loads the libraries and looks up their functions; `everything`: also the libraries that are only used if the program
 * has them. True: all required functions exist. Libraries are never unloaded. */
bool ascend_load(struct ascend_calls *calls, struct ascend_loaded loaded[ASCEND_LIBRARIES], bool everything);

/* For people: where a library is looked for, in order, with ", " between. */
void ascend_places(enum ascend_library_id library, char *text, size_t size);

#endif
