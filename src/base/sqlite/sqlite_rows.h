/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_rows.h - rows of a table of an SQLite database, read from its pages.
 *
 * SQLite interprets a program for each row and is called for each value of it: for tables that become columns that is
 * most of the time. Here a row is decoded in one pass from the bytes of the file. The format is that of
 * https://www.sqlite.org/fileformat2.html; sqlite_pages.h writes it.
 *
 * Only what is plain is read: a table with rowids in a database none of whose pages is in a write-ahead log, with texts
 * in UTF-8. ROWS_STRANGE is the answer to everything else, and to all that is damaged: the caller asks SQLite then,
 * which knows every case and has a message for it. Pages that change meanwhile give wrong values, and nothing worse.
 */
#ifndef ASCOPE_BASE_SQLITE_SQLITE_ROWS_H
#define ASCOPE_BASE_SQLITE_SQLITE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a database: a view, owns nothing. */
struct rows_file {
    const uint8_t *data;
    size_t size, page_bytes, usable; /* usable: bytes of a page without its reserved end */
};

bool rows_file_init(struct rows_file *f, const uint8_t *data, size_t size); /* false: not of the plain kind */

bool rows_count(const struct rows_file *file, uint32_t root, size_t *n); /* false: strange, as below */

enum stored_kind { STORED_NULL, STORED_INTEGER, STORED_REAL, STORED_TEXT };
struct stored {
    enum stored_kind kind;
    union {
        int64_t integer;
        double real;
        struct {
            const char *text; /* not terminated; until the next row */
            size_t bytes;
        };
    };
};

enum { ROWS_DEEP = 20, ROWS_COLUMNS = 32 };
enum rows_state { ROWS_ROW, ROWS_END, ROWS_STRANGE };

struct rows {
    const struct rows_file *file;
    size_t n_pages; /* visited: no more than there are, or they form a circle */
    size_t depth;
    struct rows_page {
        const uint8_t *page;
        size_t first, n, next; /* where the offsets of cells begin; how many; which one is next */
        bool is_leaf;
    } at[ROWS_DEEP];
    uint32_t below;            /* the page to descend to, or 0 */
    uint8_t *long_row;         /* one that is longer than its page, in one piece */
    size_t long_cap, n_joined; /* bytes of it, and of all of them so far */
};

void rows_init(struct rows *r, const struct rows_file *file, uint32_t root);
/* The next row: its rowid and its first n values, at most ROWS_COLUMNS. A row with fewer is strange. */
enum rows_state rows_next(struct rows *r, int64_t *rowid, struct stored *cell, size_t n);
void rows_fini(struct rows *r);

#endif
