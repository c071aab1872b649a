/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - what can be done to a file of a collection: cut it, change a byte, put an absurd number into a field or
 * all fields of a kind, or make it thousands of records long. Each is an input of a campaign (damage.c), a few bytes
 * that say what and where. */
#ifndef ASCOPE_TORTURE_INPUTS_H
#define ASCOPE_TORTURE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw/family.h"
#include "raw/layout.h"

struct file {
    char *path; /* below the collection */
    uint8_t *data;
    size_t size;
    const struct family *family; /* NULL: settings */
};

enum kind { CUT, BYTE, FIELD, COLUMN, WORD, MANY };
struct input {
    const struct file *file;
    enum kind kind;
    uint32_t at;           /* COLUMN: in the first record */
    uint32_t width, which; /* of the table of its kind */
    uint32_t n;            /* MANY: records */
};

struct inputs {
    struct input *at;
    size_t n, room;
};

/* What a campaign does to every file. */
enum inputs_of {
    INPUTS_BYTES,        /* every prefix, every byte */
    INPUTS_RECORD_BYTES, /* the same, of files of records only */
    INPUTS_VALUES,       /* every field of every record, and of all records at once; every number of a text */
    INPUTS_MASSES,       /* many records, with a field that goes on in some way */
};
void inputs_add(struct inputs *all, const struct file *f, enum inputs_of what, size_t n_many);

const uint8_t *input_bytes(const struct input *in, size_t *size); /* what the file becomes; lent until the next one */
const char *input_name(const struct input *in);                   /* for people; lent likewise */

size_t file_record_size(const struct file *f);                    /* 0: it holds text, or records of any length */
const struct layout *file_framework_layout(const struct file *f); /* of what a framework writes; NULL: something else */
size_t file_framework_record(const struct file *f, size_t at);    /* bytes of the record there */

void die(const char *what) __attribute__((noreturn)); /* the campaign itself cannot go on; errno says why */

#endif
