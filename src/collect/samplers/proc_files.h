/* SPDX-License-Identifier: Apache-2.0 */
/* proc_files.h - registry: small files of /proc and sysfs that are read again and again.
 *
 * Reading through a descriptor that stays open costs a third of opening the file each time. It also never reads another
 * process that got the same pid. So descriptors are kept, up to a limit. Functions do not fail: a file that cannot be
 * read counts as missing.
 */
#ifndef ASCOPE_COLLECT_SAMPLERS_PROC_FILES_H
#define ASCOPE_COLLECT_SAMPLERS_PROC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_file {
    int fd; /* -1: it is opened for every look */
};
static const struct proc_file PROC_FILE_CLOSED = { -1 };

/* The descriptors of one user. Zeros: none is kept. */
struct proc_files {
    size_t n, most;
};
/* Within the program that is looked at descriptors are the program's, and there are few. */
struct proc_files proc_files_limit(bool is_within);

/* A file below the directory: at most room - 1 bytes, and a zero behind them. 0: it cannot be read (errno), or is
 * empty. */
size_t proc_file_read(struct proc_files *of, struct proc_file *f, int dir, const char *name, char *to, size_t room);
size_t proc_read(int dir, const char *name, char *to, size_t room); /* the same, once */
void proc_file_close(struct proc_files *of, struct proc_file *f);   /* fine when it is not open */
/* Closes a file or folder of /proc or sysfs. Any other one is left alone: the program has closed ours, and used its
 * number again. */
void proc_close(int fd);

/* Ascending numbers that are names in a folder, to be freed. NULL and 0: there are none, or errno says why it cannot be
 * opened. */
pid_t *proc_numbers(int dir, const char *name, size_t *n);

/* proc_tree.c: a process, its descendants and their threads, as /proc shows them.
 *
 * For samplers that read it many times a second: files stay open (proc_files.h). The threads of a process are listed
 * again when their count has changed. New processes are searched only among the pids that the kernel has assigned
 * since the last time. Every process that exists for longer than a period is found. Functions do not fail: a process
 * that cannot be read is treated as one that does not exist. Not thread-safe. */

struct proc_thread {
    pid_t tid;
    struct proc_file stat, schedstat;
    uint64_t ran_ns; /* when the line was read; 0: unknown */
    char *line;      /* task/TID/stat with its line feed, the only one; NULL: not read yet */
    size_t bytes, room;
};

enum { PROC_PROBED_MOST = 256 };
enum proc_io { IO_READ_CHARS, IO_WRITE_CHARS, IO_READS, IO_WRITES, IO_READ_BYTES, IO_WRITE_BYTES, PROC_IO };

struct proc_process {
    pid_t pid, parent; /* parent: when it was found */
    int tasks;         /* /proc/PID/task */
    struct proc_file statm, io;
    bool has_ended;
    bool is_stale;               /* its threads have to be listed */
    nlink_t n_links;             /* of its folder of threads */
    struct proc_thread *threads; /* by tid */
    size_t n_threads;

    uint64_t counted[PROC_IO], seen[PROC_IO]; /* proc_tree_io(): in the totals; of this look */
    bool has_io, is_settled;
};

struct proc_tree {
    pid_t root, owner;
    struct proc_process *processes; /* parents before their children */
    size_t n, room;
    bool has_ended; /* all of them have */
    int proc;       /* /proc; -1: there is none */
    struct proc_file loadavg;
    uint64_t newest;                 /* number that the kernel gave last */
    pid_t missing[PROC_PROBED_MOST]; /* numbers whose tasks could not be seen yet */
    size_t n_missing;
    uint64_t listed_ns;
    struct proc_files files;
    uint64_t io[PROC_IO]; /* since the first proc_tree_io(), of all that ever belonged to it */
    bool has_io;
};

/* owner: the process that looks. Where it is not the root, its other children are those whose own parents have ended. */
void proc_tree_init(struct proc_tree *t, pid_t root, pid_t owner);
void proc_tree_fini(struct proc_tree *t);

/* Updates the tree to the processes and threads that exist now. Those that have ended since the last call stay in it
 * until the next. */
void proc_tree_look(struct proc_tree *t, uint64_t now_ns);

/* The thread's line is as the kernel has it now; is_exact: also if it has not run since. False: it has ended. */
bool proc_thread_read(struct proc_tree *t, const struct proc_process *p, struct proc_thread *thread, bool is_exact);

/* Updates t->io. When a parent waits for a child, the kernel adds the child's counters to the parent's; here they count
 * only once. t->has_io stays false as long as the counters of no process can be read. */
void proc_tree_io(struct proc_tree *t);

#endif
