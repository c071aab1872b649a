/* SPDX-License-Identifier: Apache-2.0 */
/* file_tree.h - all regular files below a directory: made durable, and measured; and trees that are removed.
 *
 * No link is followed. A file that is removed meanwhile, or that we may not read, is none of ours and is left out.
 */
#ifndef ASCOPE_BASE_FILES_FILE_TREE_H
#define ASCOPE_BASE_FILES_FILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_file {
    char *path; /* in the directory: "host/data/a.slice_0" */
    bool is_directory;
    bool is_there, has_sum;
    uint64_t bytes, sum; /* the checksum */
};

struct file_tree {
    int dir;                /* lent; may be open with O_PATH */
    struct tree_file *file; /* by path */
    size_t n, room;
};

/* Results: 0 or an errno value. tree_free() in any case. */
int tree_list(struct file_tree *t, int dir);
/* Syncs the files, several at a time, then the directories. `is_read` (NULL: none) chooses files whose checksum is
 * taken from their content, unless they have one already. */
int tree_sync(struct file_tree *t, bool (*is_read)(const char *path));
struct tree_file *tree_find(const struct file_tree *t, const char *path); /* NULL: it is not there */
void tree_free(struct file_tree *t);

/* Removing goes on after a failure. Results: 0, or the errno value of the first one. Whatever takes the place of a
 * directory meanwhile, nothing outside of the tree is removed; nor what is mounted in it. Allocates nothing: lack of
 * memory may be why a tree is removed. */
int tree_empty(int dir);                       /* all that a directory contains */
int tree_remove(int parent, const char *name); /* a file, a link, or a directory and all that it contains */
int tree_remove_path(const char *path);        /* as in inside.h */

#endif
