/* SPDX-License-Identifier: Apache-2.0 */
/* name_hash.h - the hash by which host records refer to a name; the dictionary of the collection has the text. */
#ifndef ASCOPE_RAW_NAME_HASH_H
#define ASCOPE_RAW_NAME_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t name_hash(const char *text);
uint64_t name_hash_of(const char *text, size_t n); /* of a text that is not NUL-terminated */

#endif
