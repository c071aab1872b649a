/* SPDX-License-Identifier: Apache-2.0 */
/* fake_words.h - what a test wants of the stand-ins: words of $FAKE_CUDA. */
#ifndef FAKE_WORDS_H
#define FAKE_WORDS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default"), used))

enum { FAKE_BUS = 0x10 }; /* of GPU 0; the next one has the next number */

static inline const char *word(const char *key)
{
    static __thread char value[100];
    const char *at = getenv("FAKE_CUDA");
    const size_t length = strlen(key);
    for (; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, key, length) == 0 && (at[length] == '=' || at[length] == ' ' || !at[length])) {
            snprintf(value, sizeof value, "%.*s", (int)strcspn(at, " "), at);
            return value + length + (at[length] == '=');
        }
    return NULL;
}

static inline unsigned long number(const char *key, unsigned long otherwise)
{
    const char *const text = word(key);
    return text ? strtoul(text, NULL, 0) : otherwise;
}

/* What a function returns: 0, unless it is to fail. */
static inline int32_t result(const char *call)
{
    const char *text = word("hang");
    while (text && strcmp(text, call) == 0)
        pause();
    text = word("crash");
    if (text && strcmp(text, call) == 0) {
        signal(SIGSEGV, SIG_DFL); /* sanitizers would end it in their own way */
        raise(SIGSEGV);
    }
    text = word("error");
    const size_t n = strlen(call);
    return text && strncmp(text, call, n) == 0 && text[n] == ':' ? atoi(text + n + 1) : 0;
}

#endif
