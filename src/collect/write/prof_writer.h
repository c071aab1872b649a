/* SPDX-License-Identifier: Apache-2.0 */
/* prof_writer.h - a PROF directory, or the rest of a *_ascend_pt directory, written as a collector leaves it.
 *
 * The directory holds folders (host, device_N). A folder holds small files (info.json, clocks) and, under data/,
 * streams of records that are cut into slices. Every file that is complete has a marker beside it: its name and
 * ".done". PyTorch's collector has neither slices nor markers: FRAMEWORK/ holds whole streams, small files lie in the
 * directory itself.
 *
 * The first error is remembered in the writer. Later calls then do nothing, and prof_writer_close() reports the error.
 * So the code that fills records need not check for errors. Memory: one buffer for each open stream. Directories get
 * mode 0750, files 0640, whatever the umask says. What was written before an error stays in the directory.
 */
#ifndef ASCOPE_COLLECT_WRITE_PROF_WRITER_H
#define ASCOPE_COLLECT_WRITE_PROF_WRITER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/files/checksum.h"
#include "base/text/error.h"
#include "base/files/file_tree.h"
#include "base/files/kept.h"
#include "raw/layout.h"

enum { SLICE_BYTES = 2 << 20 };                                        /* collectors cut at 2 MiB by default */
enum { FOLDER_HOST = -1, FOLDER_FRAMEWORK = -2, FOLDER_SESSION = -3 }; /* the last is the directory itself */

struct prof_writer {
    char path[PATH_MAX - 256]; /* for messages; leaves room for the names inside */
    struct kept dir;
    bool is_of_others; /* it belongs to another user, who is not trusted: */
    uid_t owner;       /* only files of this user are changed */
    gid_t group;       /* root gives new files to this user and group */
    size_t slice_bytes;
    unsigned first_slice; /* of each stream; those before it are another writer's, and are not touched */
    struct error error;   /* the first one */
    int why;              /* errno value of `error`; 0: it has none */
};

/* Creates the directory `path`, which must not exist. The path is copied, and should be absolute: it is used again if
 * the program around us closes the directory's descriptor (base/files/kept.h). From here on files are found from the
 * directory, and no link is followed. */
bool prof_writer_open(struct prof_writer *w, const char *path, size_t slice_bytes, struct error *e);
bool prof_writer_join(struct prof_writer *w, const char *path, size_t slice_bytes,
                      struct error *e); /* one that exists */
/* The same, and `dir` is its descriptor, which the writer closes. It is not trusted: see is_of_others. */
bool prof_writer_adopt(struct prof_writer *w, int dir, const char *path, size_t slice_bytes, struct error *e);
bool prof_writer_is_well(const struct prof_writer *w, struct error *e); /* nothing has gone wrong so far */
bool prof_writer_close(struct prof_writer *w, struct error *e); /* true: everything that was asked for is on disk */
void prof_writer_forget(struct prof_writer *w);                 /* closes the descriptor, and nothing else */
void prof_writer_rest(struct prof_writer *w);                   /* closes it until it is used again */

/* host or device_N, with its data/, or FRAMEWORK. */
void folder_create(struct prof_writer *w, int device);
void folder_complete(struct prof_writer *w, int device); /* the same, but existing files are kept */

/* A small file: in device folders ".N" follows the name, but for sample.json, which is the same everywhere. */
void folder_file(struct prof_writer *w, int device, const char *name, const char *text, size_t len);

/* Host files are cut between records (the reference drops a host stream that is not), and so is the task log; the other
 * streams of a device are cut wherever the limit falls, and a record may lie in two slices. PyTorch's are never cut. A
 * sample of the host may be several records: it is in one slice. */
enum cut { CUT_BETWEEN, CUT_ANYWHERE, CUT_NEVER, CUT_SAMPLES };

/* One stream. Slices appear with the first record: a stream without records leaves no file. */
struct slices {
    struct prof_writer *to;
    char family[80];
    int device;
    enum cut cut;
    bool is_resumed; /* slices that are begun from now on may exist: a power cut leaves any of them, and any marker */
    struct kept file;
    bool is_open;   /* a slice is open, even if the program has closed its descriptor */
    unsigned next;  /* number of the slice that is opened next */
    size_t written; /* bytes of the open slice */
    uint8_t *buffer;
    size_t n;
    bool keeps_sums; /* set by who asks for them with slices_sums(), and frees `sums` */
    bool has_sum;    /* `sum` covers the whole open slice */
    struct checksum sum;
    struct slice_sum *sums; /* of those that are closed; of very many, of the last ones */
    size_t n_sums;
};
struct slice_sum {
    uint64_t sum;
    unsigned number;
};

void slices_init(struct slices *s, struct prof_writer *to, int device, const char *family, enum cut cut);
uint8_t *slices_take(struct slices *s, size_t bytes); /* room for one record, to be filled before the next call */
uint8_t *slices_more(struct slices *s, size_t bytes); /* the same, in the slice of what was taken before */
bool slices_next_is_new(const struct slices *s);      /* what is taken next will be the begin of a slice */
uint8_t *slices_record(struct slices *s, const struct layout *l); /* the same, begun by layout_init() */
void slices_text(struct slices *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); /* a line of less than 4 KiB; the rest is cut off */
void slices_flush(struct slices *s);       /* everything taken is in its file */
/* Back to what a stream once was: `bytes` of the slice before `next` (is_open), nothing behind it. False: that slice
 * has fewer by now, or is gone; it goes on with what there is. */
bool slices_resume(struct slices *s, unsigned next, bool is_open, uint64_t bytes);
bool slices_leave(
    struct slices *s); /* everything taken is in its file; the open slice gets no marker. False: none is open */
int slices_open(const struct slices *s,
                unsigned number); /* a slice, for reading; -1: it is not there, or not its owner's */
bool slices_read(struct slices *s, uint8_t *to, size_t bytes); /* from the begin of the open slice */
bool slices_remove(const struct slices *s, unsigned number,
                   uint64_t *bytes); /* a slice and its marker; false: none is there */
void slices_fini(struct slices *s);  /* the last slice gets its marker; fine when never used */
void slices_rest(struct slices *s);  /* closes the descriptor until it is used again */
/* Checksums of slices, for a list of the directory in which that of the writer is named `folder`. */
void slices_sums(const struct slices *s, const char *folder, struct file_tree *t);
void slices_forget(struct slices *s); /* closes the descriptor, and nothing else */

#endif
