/* session.h - the results of a *_ascend_pt directory: which files there are, and who writes them.
 *
 * Every file is a row of the registry (session_registry.c). Most are tables; what the device's own export has under another
 * name is taken from there, unchanged.
 */
#ifndef ASCOPE_EXPORT_SESSION_H
#define ASCOPE_EXPORT_SESSION_H

#include "export/export.h"
#include "profile/session.h"

struct session_export {
    const struct session *session;
    struct export device; /* what an output of the device's part is asked with: dialect, profile, mem */
    struct arena *mem;    /* of the job that writes this output: the same as device.mem */
    enum dialect dialect;
    bool is_pretty; /* one event a line */
    unsigned n_threads;
};

struct session_output {
    const char *file;  /* "operator_details.csv"; a "%s" is the rank: "_0" or "" */
    const char *about; /* one line */
    bool is_db;        /* of export type db; else of text */
    bool is_timeline;
    bool is_new;                                /* the seed documents do not know it: only in dialect current */
    bool (*is_wanted)(const struct session *s); /* by the settings; NULL: always */
    /* One of three. A table without rows makes no file. */
    const char *report; /* the name in reports[] of the device's table that this is */
    bool (*build)(const struct session_export *x, struct table *out, struct error *e);
    bool (*write)(const struct session_export *x, const char *path, uint64_t *n_rows, struct error *e); /* 0: no file */
};

extern const struct session_output session_outputs[];
extern const size_t n_session_outputs;

#endif
