/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_library.h - registry: the vendor's libraries on a machine with Ascend NPUs: which there are, where they are looked for,
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

#include "ascope/session.h"
#include "device/device.h"

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

/* ascend_config.c: converts the options of a recording to those of aclprof: a mask, a group of counters, and pairs of
 * number and text.
 *
 * Options that aclprof does not have are listed in `unavailable`, so that the user is warned: the msprof command has
 * more options than its library. Samplers of the host are not requested, because the recorder has its own. */

enum { ASCEND_PAIRS = 16, ASCEND_TEXT = 257 }; /* a text has 256 bytes at most */
struct ascend_config {
    uint64_t mask;
    int32_t metrics;
    size_t n_pairs;
    struct ascend_pair {
        int32_t type;
        const char *option; /* for people: "sys_io_freq" */
        char text[ASCEND_TEXT];
    } pair[ASCEND_PAIRS];
    char unavailable[512]; /* options that are on and that aclprof does not have, with ", " between them; "" */
};

/* The options were checked before. */
void ascend_config_of(struct ascend_config *c, const struct ascope_options *o);

/* The text of an error code: "100042, already running"; "7" if it is unknown. Valid until the thread's next call. */
const char *ascend_error(int32_t code);

/* The bits of the mask that older releases do not know and refuse. */
uint64_t ascend_newer_bits(void);

/* ascend_probe.c: finds the NPUs of this machine in a child process, where a library that crashes or hangs does no
 * harm.
 *
 * It is done once per process; without device files and libraries it costs a few system calls. Some drivers answer
 * only the process that has opened them: if the program has loaded the driver, it is asked again in this process, with
 * a limit. */

uint32_t ascend_limit_s(void); /* the time limit of a call, in seconds: see limited_call.h */

enum { ASCEND_DEVICES = 64 };
enum { ASCEND_COUNTERS_VERSION = 0x72316 }; /* the first version of the driver that reports frequencies of counters */

struct ascend_device {
    uint32_t id;
    int32_t platform; /* as of chip.h; -1: unknown */
    uint32_t n_cube, n_vector, n_ai_cpu;
    uint32_t core_mhz, vector_mhz;
    double counter_mhz;
};

struct ascend_machine {
    struct ascend_loaded library[ASCEND_LIBRARIES];
    uint32_t has_needed;    /* all required functions exist */
    int32_t count_error;    /* of drvGetDevNum */
    int32_t driver_version; /* 0: unknown */
    int32_t acl_version[3]; /* 0: unknown */
    uint32_t
        counts_ns; /* host records of the engine have ns: the driver does not know the frequency of the CPU's counter */
    uint32_t n;
    struct ascend_device device[ASCEND_DEVICES];
    char calls[40]; /* the name of the current call, for the message if it does not return; "": done */
};

/* The result is valid until the process ends. n == 0: there is no device, and e has the reason. */
const struct ascend_machine *ascend_probe(struct error *e);

void ascend_examine(finding_report *report,
                    void *to); /* for `ascope doctor`: probes again, also the optional libraries */

#endif
