/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan.h - reading JSON text in place, value by value, without a tree and without memory.
 *
 * A scan walks one object or one array; values are lent as spans of the text, and a nested one is walked by another
 * scan or passed over. The text need not end with a NUL. Grammar is strict where it keeps the reader in step (quotes,
 * commas, nesting) and wide elsewhere: a scalar is any run of letters, digits and "+-./", so that NaN, inf and N/A are
 * values. A scan that repairs finds the end of a text by what follows its quotes, for writers that do not escape them.
 * Cost is linear.
 */
#ifndef ASCOPE_BASE_TEXT_JSON_SCAN_H
#define ASCOPE_BASE_TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_DEPTH = 1024 }; /* of nested containers; deeper ones are not read */

/* A value or a key as it is written, texts with their quotes. */
struct json_span {
    const char *at; /* NULL: there is none */
    size_t len;
};

struct json_scan {
    const char *at, *end; /* `at` is where the scan is, or where it is stuck */
    bool repairs;         /* texts end by what follows, not at the first quote */
    bool is_stuck;        /* the text does not continue as it must, or has ended too early (at == end) */
    bool is_inside;       /* behind the first key or element */
    bool is_array;
};

/* A scan of the container that begins at `at`: '{' or '['. False: another one, or none, begins there. */
bool json_enter(struct json_scan *s, const char *at, const char *end, char opening);
/* To the next member: its key; `at` is where its value begins. False: the object has ended, or the scan is stuck. */
bool json_next_key(struct json_scan *s, struct json_span *key);
/* To the next element, which begins at `at`. False: the array has ended, or the scan is stuck. */
bool json_next_element(struct json_scan *s);
/* Passes over the value at `at`. False: stuck. */
bool json_pass(struct json_scan *s, struct json_span *value);

const char *json_blanks(const char *at, const char *end); /* returns where they end */
bool json_is(struct json_span v, const char *text);       /* a text without escapes, or a scalar */
/* The value of a member, the last one if a name repeats, as in other parsers. `at` is NULL if there is none. */
struct json_span json_find(struct json_span object, const char *key);
/* The values of several members, in one pass. */
void json_find_each(struct json_span object, const char *const *key, struct json_span *value, size_t n);

/* A number, or a text that is one, times 10^decimals, exactly, rounded half away from zero. False: no number, or beyond
 * 2^62. */
bool json_fixed(struct json_span v, unsigned decimals, int64_t *out);
bool json_u64(struct json_span v, uint64_t *out);  /* digits only, or a text of digits, as %PRIu64 prints them */
bool json_double(struct json_span v, double *out); /* also NaN and the infinities */
bool json_is_text(struct json_span v);
/* The characters of a text, escapes resolved, or of a scalar as it is. Writes at most v.len bytes; returns how many. */
size_t json_decode(struct json_span v, char *out);
/* The same where the text has no escapes: what is between the quotes, lent. False: it has some. */
bool json_plain(struct json_span v, struct json_span *inside);

#endif
