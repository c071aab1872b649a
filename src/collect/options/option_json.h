/* SPDX-License-Identifier: Apache-2.0 */
/* option_json.h - profiling_options and acl.json: from a text to the options of a session.
 *
 * Accepts and refuses what the vendor's two checks (graph engine, collector) accept and refuse; docs/tensorflow.md has
 * the rules. Every fault is reported, not only the first, with its place; so are differences between the vendor's code
 * and its option reference.
 */
#ifndef ASCOPE_COLLECT_OPTIONS_OPTION_JSON_H
#define ASCOPE_COLLECT_OPTIONS_OPTION_JSON_H

#include "ascope/recorder_options.h"
#include "base/text/error.h"
#include "collect/options/option_keys.h"

/* One line about the text. All of it is lent for the call. */
struct options_remark {
    enum ascope_severity severity; /* ASCOPE_ERROR: the text is refused */
    unsigned line, column;         /* 0: of something that is not in the text */
    const char *key;               /* NULL: of the text as a whole */
    const char *code;              /* of the vendor's message: "EK0001"; "": none */
    const char *text;              /* without key and place */
};

/* "source:line:column: key: text [code]" into `line`, whose text is returned. */
struct remark_line {
    char text[900];
};
const char *options_remark_line(struct remark_line *line, const char *source, const struct options_remark *r);

struct options_request {
    uint32_t
        front_end; /* ASCOPE_FRONT_END_TENSORFLOW, ..._ACL_JSON; 0: acl.json if it has a member "profiler", else the
                      first */
    int chip;      /* platform number; -1: as 910B */
    const char *program_dir;             /* results of acl.json without a usable output; NULL: that of this program */
    const struct ascope_options *before; /* what the text does not set; NULL: the defaults */
    void (*say)(void *to, const struct options_remark *r); /* NULL: nobody listens */
    void *to;
};

struct options_json {
    uint32_t front_end; /* as which it was read */
    bool is_on;         /* false: the text is fine, and profiling stays off */
    struct {
        const char *value; /* that holds; NULL: no key of this front end */
        bool is_given, has_no_effect;
    } key[OPTION_KEYS];
    struct ascope_options o; /* texts are this structure's, or the request's */
    struct kept_text *kept;
};

/* False: refused, and everything that is wrong has been reported. To be ended in any case. */
bool options_json_read(struct options_json *out, const char *text, size_t n, const struct options_request *r);
void options_json_fini(struct options_json *j);

/* The data mask, as the vendor's collector writes it: task time L1 with L0, communication only when it was asked for by
 * name, and no marks, which have another switch there. */
uint64_t options_json_mask(const struct options_json *j);

/* A file, at most 10 MiB; to be freed. NULL: e says why. */
char *options_file_read(const char *path, size_t *n, struct error *e);

#endif
