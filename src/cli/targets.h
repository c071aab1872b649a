/* targets.h - what a command line names: directories of PyTorch, and PROF directories that stand by themselves. */
#ifndef ASCOPE_CLI_TARGETS_H
#define ASCOPE_CLI_TARGETS_H

#include "cli/command.h"

struct target {
    const char *path;
    bool is_collection; /* *_ascend_pt; else PROF_XXX */
};

struct targets {
    LIST(struct target) list;
    size_t n_refused; /* directories that hold none: a line on stderr has said so for each */
    struct arena *mem;
};

/* -dir and all words. With ruins: see collections_find(). Anything but OUTCOME_DONE: there is nothing to do, and stderr says why. */
enum outcome targets_find(struct targets *t, struct arguments *a, bool with_ruins);

#endif
