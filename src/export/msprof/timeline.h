/* timeline.h - all processes of a collection on one timeline. */
#ifndef ASCOPE_EXPORT_MSPROF_TIMELINE_H
#define ASCOPE_EXPORT_MSPROF_TIMELINE_H

#include "export/export.h"

/* Which of them: all, or those that share a file of their own; and of these the ones that a -reports file names. */
struct timeline_wish {
    const char *own_file;         /* NULL: all */
    const char *const *processes; /* NULL: all */
    size_t n_processes;
};

/* `x` is as scope_resolve() leaves it. Slices go where t says. */
bool timeline_draw(const struct export *x, const struct timeline_wish *wish, struct trace *t, struct error *e);

#endif
