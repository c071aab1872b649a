/* SPDX-License-Identifier: Apache-2.0 */
/* name_dictionary.h - texts that host records mention by number (raw/name_hash.h): each is put into the collection's dictionary the first
 * time that a session mentions it.
 *
 * What was said is a set without locks. It holds some 65,000 texts of a session; one that it had to forget is said again, which
 * costs a line and changes nothing. A line that found no room in the ring is said again, too.
 */
#ifndef ASCOPE_COLLECT_NAME_DICTIONARY_H
#define ASCOPE_COLLECT_NAME_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool names_say(uint64_t hash, const char *text, size_t n); /* hash: its own; false: not said, and to be said again */

/* The name of a type of calls, as passed to ascope_type_name(); nothing if there is none. */
void names_say_type(uint16_t level, uint32_t type);

#endif
