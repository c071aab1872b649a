/* SPDX-License-Identifier: Apache-2.0 */
/* json_memory.h - JSON when memory may run out.
 *
 * Callers of jansson cannot distinguish invalid JSON from a failed allocation, and a value that could not be allocated
 * is missing from its list. Its allocations therefore use this module, and code that reads or writes JSON calls
 * json_memory_failed() at the end. A failure is permanent: later results cannot be trusted either.
 */
#ifndef ASCOPE_BASE_TEXT_JSON_MEMORY_H
#define ASCOPE_BASE_TEXT_JSON_MEMORY_H

#include <jansson.h>
#include <stdbool.h>

void json_memory_watch(void); /* before any JSON is read or made, and before there are threads */
bool json_memory_failed(void);

/* As json_loadb(). NULL with json_memory_failed(): the text may be as it should be. */
json_t *json_read(const char *text, size_t len, size_t flags, json_error_t *why);

/* A string of any bytes; in texts that are not UTF-8, bytes beyond ASCII become '?'. NULL without memory. */
json_t *text_json(const char *text);
json_t *text_or_null(const char *text); /* NULL: null */

#endif
