/* SPDX-License-Identifier: Apache-2.0 */
/* config_file.h - DIR/profiler_config.json: reading it, noticing that it is another one, writing the template.
 *
 * Opening never blocks. Links are followed, because mounted configurations are often links. Two files are the same if
 * their time of change, size, inode and content are the same; so a change is noticed even if the times of the file
 * system are coarse or wrong.
 */
#ifndef ASCOPE_DYNAMIC_CONFIG_FILE_H
#define ASCOPE_DYNAMIC_CONFIG_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"

#define CONFIG_FILE_NAME "profiler_config.json"
enum { CONFIG_BYTES_MOST = (1 << 20) - 4 }; /* as the reference: with its time in a memory of 1 MiB */

/* What a file was when it was looked at. A file that is not there, or cannot be used, has its reason as errno (0:
 * none). */
struct config_stamp {
    int64_t mtime_ns;
    uint64_t size, inode, hash;
    int32_t why;
    uint32_t is_link;
};

struct config_text {
    struct config_stamp stamp;
    char *text; /* NUL-terminated; NULL: stamp.why */
};

/* False: it is not there or cannot be used, and e has why. Ends with config_text_fini(), also then. */
bool config_text_read(struct config_text *t, const char *path, struct error *e);
void config_text_fini(struct config_text *t);
bool config_stamp_equal(const struct config_stamp *a, const struct config_stamp *b);

/* The same number for the same bytes in every process. */
uint64_t config_hash(const void *bytes, size_t n, uint64_t before);

/* A file beside `path` to write to and then to rename: PATH.part- and 16 random digits, which did not exist before. -1:
 * e has why. */
#define CONFIG_PART ".part-"
int config_part_open(const char *path, char part[PATH_MAX], struct error *e);

/* Writes a whole file, or nothing: the name appears with all of the text. Never over a file that is there, which is no
 * error: *is_new is false then. Mode 0640 & ~umask. */
bool config_file_create(const char *path, const char *text, bool *is_new, struct error *e);

/* The directory and its parents, 0750. */
bool config_dir_make(const char *path, struct error *e);

#endif
