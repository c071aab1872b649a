/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - a set of strings, each stored once.
 *
 * A name_id refers to a string for the lifetime of the set; equal strings have equal ids, so that names are compared as
 * integers. Bytes that are not UTF-8 become U+FFFD. Ids are assigned in the order of insertion and never appear in an
 * output: sort by text, and number again when writing. Adding and reading are safe from several threads at once.
 */
#ifndef ASCOPE_BASE_MEMORY_NAMES_H
#define ASCOPE_BASE_MEMORY_NAMES_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t name_id;
enum { NAME_EMPTY = 0, NAME_NA = 1 /* "N/A" */ };

struct names;

struct names *names_new(void); /* owner: the caller; NULL when out of memory */
name_id names_add(struct names *s, const char *text,
                  size_t len); /* NAME_EMPTY when out of memory: see names_failed() */
/* The same for a caller that adds the same names again and again. `recent` is its cache, all zero at first: names in it
 * are found without a lock. */
enum { NAMES_RECENT = 1024 };
struct names_recent {
    name_id slot[NAMES_RECENT];
};
name_id names_add_recent(struct names *s, struct names_recent *recent, const char *text, size_t len);
name_id names_addz(struct names *s, const char *text);
name_id names_number(struct names *s, uint64_t number);    /* its decimal text */
const char *names_text(const struct names *s, name_id id); /* NUL-terminated, lent; a name may contain NULs */
size_t names_len(const struct names *s, name_id id);
size_t names_count(const struct names *s);
int names_compare(const struct names *s, name_id a, name_id b); /* by bytes, as memcmp and strcmp order them */
int names_failed(const struct names *s);
void names_free(struct names *s); /* NULL is fine */

#endif
