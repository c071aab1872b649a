/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/run_acl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/term.h"
#include "collect/options/option_json.h"

static void print_remark(void *to, const struct options_remark *r)
{
    const struct arguments *const a = to;
    struct remark_line line;
    options_remark_line(&line, a->run.acl_json, r);
    if (r->severity == ASCOPE_ERROR)
        complain("%s", line.text);
    else if (r->severity == ASCOPE_WARNING && !a->quiet)
        complain("warning: %s", line.text);
}

/* The directory of the program that execvp() would start. */
static const char *directory_of(const struct arguments *a, const char *program)
{
    const char *const path = strchr(program, '/') ? NULL : getenv("PATH");
    const char *found = program;
    for (const char *at = path; at && *at; at += *at == ':') {
        const size_t n = strcspn(at, ":");
        const char *const file = arena_printf(a->mem, "%.*s/%s", (int)n, at, program);
        if (file && access(file, X_OK) == 0) {
            found = file;
            break;
        }
        at += n;
    }
    char *const full = realpath(found, NULL);
    char *const slash = full ? strrchr(full, '/') : NULL;
    const char *const dir = slash ? arena_text(a->mem, full, slash == full ? 1 : (size_t)(slash - full)) : ".";
    free(full);
    return dir;
}

/* Rejects options that the file decides, too. False: reported. */
static bool is_clear(const struct arguments *a)
{
    static const uint8_t twice[] = { OPT_RUN_HOST_SYS, OPT_RUN_LEVEL, OPT_RUN_METRICS, OPT_RUN_MARKS,
                                     OPT_RUN_STORAGE_LIMIT };
    const char *other = a->run.more.n > 0 ? a->run.more.at[0] : NULL;
    for (size_t i = 0; i < sizeof twice && !other; i++)
        if (arguments_have(a, twice[i]))
            other = arena_printf(a->mem, "--%s", option_rows[twice[i]].name);
    if (other)
        complain("--acl-json and %s: the file decides what is recorded; remove one of them", other);
    return !other;
}

enum run_acl run_acl_fill(const struct arguments *a, struct recorded_run *r, int chip)
{
    struct error e = { 0 };
    size_t n = 0;
    if (!is_clear(a))
        return RUN_ACL_REFUSED;
    char *const text = options_file_read(a->run.acl_json, &n, &e);
    if (!text) {
        complain("%s", e.text);
        return RUN_ACL_REFUSED;
    }
    const struct options_request request = { .front_end = ASCOPE_FRONT_END_ACL_JSON,
                                             .chip = chip,
                                             .program_dir = directory_of(a, r->program[0]),
                                             .say = print_remark,
                                             .to = (void *)a };
    struct options_json j;
    const bool is_good = options_json_read(&j, text, n, &request);
    if (is_good) {
        const char *const dir = a->run.out ? r->recorder.parent_dir : j.o.parent_dir, *const device =
                                                                                          r->recorder.device;
        ascope_options_check(&j.o); /* its texts last from now on */
        j.o.parent_dir = dir ? arena_text(a->mem, dir, strlen(dir)) : NULL;
        j.o.device = device;
        r->recorder = j.o;
    }
    const enum run_acl result = !is_good ? RUN_ACL_REFUSED : j.is_on ? RUN_ACL_ON : RUN_ACL_OFF;
    options_json_fini(&j);
    free(text);
    return result;
}
