/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - what every header of libascope needs: visibility, structure sizes, errors, messages.
 *
 * The interface is C. The comment of each function names its errors and its threads:
 *  - "any": any thread, also several at the same time;
 *  - "any, and signal handlers": async-signal-safe as well;
 *  - "one at a time": the caller sees to it that no two threads are in functions of the same object at the same time.
 * After fork() the child records nothing until it opens a session of its own.
 *
 * Structures that a caller fills begin with `uint32_t size`: sizeof the structure, set by the caller or by the function
 * that the structure's comment names. A program that is older than the library has a smaller size, and the fields that
 * it does not have count as 0 (of struct ascope_options: as the default). A program that is newer has a larger one, and
 * fields that the library does not know are ignored: options and schedules with a warning if they are not 0. A size
 * that is not set (below 16, above 4096 or not a multiple of 8) is an error; a record with one is counted as dropped.
 * New fields are added at the end only. struct ascope_error and struct ascope_text have no size: they never change.
 * docs/abi.md has all of what is promised.
 */
#ifndef ASCOPE_BASE_H
#define ASCOPE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASCOPE_API __attribute__((visibility("default")))
#define ASCOPE_ABI 0 /* of libascope.so.0 */

#ifdef __cplusplus
extern "C" {
#endif

/* One line of the form "what: problem; what happens now or what to do". Filled by functions that take one and return
 * false or NULL; the pointer to it may be NULL everywhere. */
struct ascope_error {
    char text[400];
};

enum ascope_severity { ASCOPE_INFO, ASCOPE_WARNING, ASCOPE_ERROR };
typedef void (*ascope_message_fn)(enum ascope_severity severity, const char *text, void *user);

/* Where messages go that the user should see and that stop nothing. Default, and with NULL: warnings and errors are
 * printed to stderr, one line each. The text is lent for the call. Recording functions never call it; the simulated
 * NPU's threads may. Errors: none. Threads: one at a time, and not while a session is open. */
ASCOPE_API void ascope_on_message(ascope_message_fn fn, void *user);

/* The version of the library that the program runs with: "0.1.0". version.h has that of the headers it was built with.
 * Errors: none. Threads: any, and signal handlers. */
ASCOPE_API const char *ascope_version(void);

#ifdef __cplusplus
}
#endif
#endif
