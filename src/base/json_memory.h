/* SPDX-License-Identifier: Apache-2.0 */
/* json_memory.h - reading JSON when memory may run out.
 *
 * A text that is no JSON and a machine without memory look the same to a caller of jansson, and a value that could not be made
 * is left out of the list it was meant for. So its allocations go through here, and whoever reads or writes JSON asks at the
 * end. Once it has happened it stays so: what comes afterwards cannot be trusted either.
 */
#ifndef ASCOPE_BASE_JSON_MEMORY_H
#define ASCOPE_BASE_JSON_MEMORY_H

#include <jansson.h>
#include <stdbool.h>

void json_memory_watch(void); /* before any JSON is read or made, and before there are threads */
bool json_memory_failed(void);

/* As json_loadb(). NULL with json_memory_failed(): the text may be as it should be. */
json_t *json_read(const char *text, size_t len, size_t flags, json_error_t *why);

#endif
