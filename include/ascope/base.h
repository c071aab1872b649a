/* base.h - what every header of libascope needs: visibility, versions, errors, messages.
 *
 * The interface is C, callable from any thread unless a function says otherwise. Structures that callers fill begin with their
 * own size, set by their _init() function: a library that is newer than the program knows which fields the program had, and new
 * fields are only ever added at the end. ASCOPE_ABI changes when that is not enough, and with it the name of the library.
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

/* One line that says what is wrong, where, and what to do. Functions that take one and return false or NULL have filled it. */
struct ascope_error {
    char text[400];
};

/* Something that the user should know and that stops nothing. Without a function, warnings and errors go to stderr, one line
 * each. The text is lent for the call. Never called from recording functions. */
enum ascope_severity { ASCOPE_INFO, ASCOPE_WARNING, ASCOPE_ERROR };
typedef void (*ascope_message_fn)(enum ascope_severity severity, const char *text, void *user);
ASCOPE_API void ascope_on_message(ascope_message_fn fn, void *user);

ASCOPE_API const char *ascope_version(void); /* "0.1.0" */

#ifdef __cplusplus
}
#endif
#endif
