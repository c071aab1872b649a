/* SPDX-License-Identifier: Apache-2.0 */
/* nearest_word.h - suggests a known word for a mistyped one: commands, options, actions. */
#ifndef ASCOPE_CLI_OPTIONS_NEAREST_WORD_H
#define ASCOPE_CLI_OPTIONS_NEAREST_WORD_H

#include <stddef.h>

enum { NEAREST_WORD_MOST = 40 }; /* longer words are never similar to others */

/* The most similar of n words, if it differs by a typing error or two only; otherwise NULL. */
const char *nearest_word(const char *given, const char *const *word, size_t n);

#endif
