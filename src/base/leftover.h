/* leftover.h - what is half-written, and must not be there any more when the process ends.
 *
 * Files and directories are made under a temporary name, "NAME.part-PID", and get their own when they are complete. Their
 * temporary names are kept in one list, so that whoever ends the process early can remove them. A process that was killed
 * could not: the next one that writes to the same directory sweeps up after it.
 */
#ifndef ASCOPE_BASE_LEFTOVER_H
#define ASCOPE_BASE_LEFTOVER_H

#include <stdbool.h>

struct leftover {
    const char *path; /* lent until it is settled */
    struct leftover *next;
};

/* For file.csv: "file.csv.part-4711"; for the caller to free, NULL without memory. */
char *leftover_name(const char *path);

/* Makes `l->path` with make(), which returns a descriptor or 0, or -1 and errno; what was made is in the list. */
int leftover_make(struct leftover *l, int (*make)(const char *path));
/* Its end: it gets its final name, or is removed (NULL, or when it cannot be renamed). 0 or an errno. */
int leftover_settle(struct leftover *l, const char *final);

/* The process is about to end: removes everything in the list. Who makes or settles something afterwards, waits forever. */
void leftovers_abandon(void);
/* Removes from a directory what processes that are gone have left in it. */
void leftovers_sweep(const char *dir);

#endif
