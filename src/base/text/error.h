/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - the two kinds of failures.
 *
 * The job cannot continue (no file, no memory, an impossible header): one struct error, filled where it is detected and
 * passed up unchanged. A record is damaged: it is counted by reason in struct losses and skipped, and the job
 * continues. Library code never prints; the command prints both at the end.
 */
#ifndef ASCOPE_BASE_TEXT_ERROR_H
#define ASCOPE_BASE_TEXT_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault {
    FAULT_NONE,
    FAULT_IO,     /* the system refused: no such file, no permission, disk full */
    FAULT_FORMAT, /* the content does not match the file's name */
    FAULT_LIMIT,  /* no memory, or more records than we can count */
    FAULT_ASKED,  /* the request does not match this collection */
};

struct error {
    enum fault fault;
    char text[400]; /* "path:offset: what; wanted, found" */
};

/* Always false, so that a caller writes `return error_set(...)`. Keeps the first error: later ones are its echoes. A
 * text that is too long loses its middle: it begins with what is wrong and ends with why. */
bool error_set(struct error *e, enum fault fault, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* FAULT_LIMIT, "WHAT: out of memory; what to do": every such error has this text, and only `what` is its own. Always
 * false. */
bool error_no_memory(struct error *e, const char *what);
const char *no_memory_text(void); /* that text behind "WHAT: ", for callers without a struct error; static */

/* Why a record (or a part of one) did not make it into the results. The texts are in error.c. */
enum loss {
    LOSS_CUT_SHORT,     /* bytes at the end (or, in an aged stream, at the start) that are no whole record */
    LOSS_MISSING_SLICE, /* a gap in the slice numbers */
    LOSS_BAD_MAGIC,     /* a record that does not begin as its kind must */
    LOSS_BAD_VALUE,     /* an impossible count, id or time */
    LOSS_BAD_TEXT,      /* a line that does not follow its grammar */
    LOSS_HOLE,          /* bytes of a file that were never written (holes.h) */
    LOSS_UNREADABLE,    /* a file or directory that could not be opened or mapped */
    LOSS_FILE_GONE,     /* a file that was there when the recording ended */
    LOSS_FILE_LENGTH,   /* one that was longer or shorter then */
    LOSS_FILE_CHANGED,  /* one with other bytes */
    LOSS_UNREAD,        /* a stream that no reader knows, or not in the form in which this chip writes it */
    LOSS_AMBIGUOUS,     /* several host tasks claim one device task */
    LOSS_NEWER,         /* a record that is longer than this version knows: its beginning was used */
    LOSS_REPAIRED,      /* an event whose texts were not escaped, and which was read all the same; not a damage */
    LOSS_DEVICE_KIND,   /* a slice of a device, of a category that is not known; the file is their names */
    LOSS_OTHER_KIND,    /* a record of a kind that no report uses; not a damage */
    LOSS_RING_FULL,     /* no room while recording: the collector counted it, and it is in no file */
    LOSS_THREADS,       /* the same, as all of these: more threads than it has rings */
    LOSS_DESCRIPTOR,    /* no descriptor for a file */
    LOSS_PERMISSION,    /* no permission to write a file */
    LOSS_SPACE,         /* no space on the disk */
    LOSS_LONG_NAME,     /* the name of a file is too long */
    LOSS_NOT_WRITTEN,   /* any other reason */
    LOSS_RINGS,         /* a part of ascope.rings that could not be read, or was changed by others */
    LOSS_NOT_RECOVERED, /* a recording that never ended, and whose last records could not be recovered */
    LOSS_AGED,          /* a slice that the collector deleted to stay within its storage limit; not a damage */
    LOSS_OPEN_RANGE,    /* a range of a mark that never ended; not a damage */
    LOSS_UNPAIRED,      /* a begin without an end, or the reverse; normal at both ends of a collection */
    LOSS_UNMATCHED,     /* a record that belongs to no call or task; normal at both ends of a collection */
    LOSS_OUTSIDE,       /* before the beginning of the collection; normal after a warm-up */
    LOSS_KINDS
};

struct losses {
    struct {
        uint64_t n;
        uint64_t first_at; /* byte offset in that file: the first place is worth more than the thousandth */
        const char *file;  /* not owned; the lifetime is the profile's */
    } by[LOSS_KINDS];
};

void losses_add(struct losses *l, enum loss why, uint64_t n, const char *file, uint64_t offset);
void losses_merge(struct losses *into, const struct losses *from);
const char *loss_text(enum loss why); /* for people: "records cut short" */
const char *loss_key(enum loss why);  /* for machines: "cut_short" */

/* What `file` of a loss is. */
enum loss_place {
    LOSS_AT_BYTE,     /* the first place */
    LOSS_IN_FILE,     /* the first file, as a whole */
    LOSS_REPORTED_BY, /* who has counted, and what: "ascope.json: operators 12" */
};
enum loss_place loss_place(enum loss why);
bool loss_is_damage(enum loss why); /* true: something that was collected is missing from the results */
uint64_t losses_damage(const struct losses *l);

#endif
