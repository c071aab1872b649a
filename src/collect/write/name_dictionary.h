/* SPDX-License-Identifier: Apache-2.0 */
/* name_dictionary.h - texts that host records mention by number (raw/name_hash.h): each is put into the collection's
 * dictionary the first time that a session mentions it.
 *
 * A set without locks remembers which texts are in the dictionary already. It has places for some 65,000 texts of a
 * session. A text that had to give up its place is written again: the dictionary then has one more line, with the same
 * meaning. A line for which the ring was full is written with the next use of the text.
 */
#ifndef ASCOPE_COLLECT_WRITE_NAME_DICTIONARY_H
#define ASCOPE_COLLECT_WRITE_NAME_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool names_say(uint64_t hash, const char *text,
               size_t n); /* hash: of the text. False: the ring was full; call it again with the next use */

/* Writes the name of a type of calls, as passed to ascope_type_name(), if it has one. */
void names_say_type(uint16_t level, uint32_t type);

#endif
