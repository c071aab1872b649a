/* SPDX-License-Identifier: Apache-2.0 */
/* plain_value.h - registry: what pickles and JSON files of plain values contain: dictionaries, lists, texts, numbers, booleans,
 * None.
 *
 * Values are nodes in one pool and refer to each other by number; a pickle may use a node many times. They form no
 * cycle and nest at most PLAIN_DEPTH deep. Texts are lent from the bytes of the file where they can be. Everything
 * lives in an arena.
 */
#ifndef ASCOPE_LOAD_PLAIN_PLAIN_VALUE_H
#define ASCOPE_LOAD_PLAIN_PLAIN_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "profile/flight_job.h"

enum { PLAIN_DEPTH = 32 };

enum plain_kind { PLAIN_NONE, PLAIN_BOOL, PLAIN_INTEGER, PLAIN_REAL, PLAIN_TEXT, PLAIN_LIST, PLAIN_DICT };

typedef uint32_t plain_id; /* 0: there is no such value */

struct plain_node {
    uint8_t kind;   /* enum plain_kind; a tuple is a list */
    uint8_t height; /* of containers: how deep they nest */
    bool is_used;   /* it is an item of a container, and so grows no more */
    uint32_t n;     /* bytes of a text, items of a list, twice the members of a dictionary */
    uint32_t cap;
    union {
        int64_t integer; /* also of a boolean */
        double real;
        const char *text; /* not terminated */
        plain_id *item;   /* of a dictionary: key, value, key, value */
    };
};

struct plain {
    LIST(struct plain_node) node; /* [0] is unused */
    plain_id root;
};

/* By its first byte: a pickle of protocol 2 or later, or JSON. False: it is neither, or breaks a limit; *e begins with
 * `name`. `bytes` must outlive the values. */
bool plain_read(struct plain *p, const uint8_t *bytes, size_t n, const char *name, struct arena *mem, struct error *e);

/* ---- asking: a value that is missing or of another kind is 0, false or empty -------------------------------------- */

plain_id plain_member(const struct plain *p, plain_id dict, const char *key); /* the last one of that name */
size_t plain_n(const struct plain *p, plain_id list); /* items of a list, members of a dictionary */
plain_id plain_item(const struct plain *p, plain_id list, size_t i);
plain_id plain_key(const struct plain *p, plain_id dict, size_t i);
plain_id plain_value(const struct plain *p, plain_id dict, size_t i);
bool plain_is(const struct plain *p, plain_id v, enum plain_kind kind);
int64_t plain_integer(const struct plain *p, plain_id v, int64_t otherwise); /* also of a text of digits */
const char *plain_text(const struct plain *p, plain_id v,
                       struct arena *mem); /* a copy, "" if v is no text; NULL: no memory */
bool plain_equals(const struct plain *p, plain_id v, const char *text);

/* ---- making ------------------------------------------------------------------------------------------------------- */

plain_id plain_add(struct plain *p, struct plain_node v, struct arena *mem); /* 0: no memory */
enum plain_trouble { PLAIN_ADDED, PLAIN_NO_MEMORY, PLAIN_TOO_DEEP, PLAIN_CYCLE };
enum plain_trouble plain_append(struct plain *p, plain_id to, const plain_id *items, size_t n, struct arena *mem);

/* plain_pickle.c: reads pickles of plain values, protocols 2 to 5, and executes nothing. */

bool plain_pickle_read(struct plain *p, const uint8_t *bytes, size_t n, const char *name, struct arena *mem,
                       struct error *e);

/* flight_load.c: reads dumps of PyTorch's flight recorder, of NCCL and HCCL: a file for each rank, a pickle or JSON. */

/* Adds the dump of a rank. Its bytes must outlive the job. The rank is the one that it names, or else the number at the
 * end of the file's name. False: it is no such dump, or one of a rank that is there already; the job has no part of
 * it. */
bool flight_load(struct flight_job *job, const uint8_t *bytes, size_t n, const char *path, struct arena *mem,
                 struct error *e);

#endif
