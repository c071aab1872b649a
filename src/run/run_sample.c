/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A copy of the path, relative ones after the working directory. NULL: no memory. */
static char *absolute(const char *path)
{
    char cwd[PATH_MAX] = "", *out = NULL;
    if (*path == '/')
        return strdup(path);
    if (!getcwd(cwd, sizeof cwd))
        *cwd = '\0';
    return asprintf(&out, "%s%s%s", cwd, *path ? "/" : "", path) >= 0 ? out : NULL;
}

static char *directory_of(const char *program)
{
    char part[PATH_MAX];
    const char *const slash = strrchr(program, '/');
    const int n = !slash ? 0 : slash == program ? 1 : (int)(slash - program);
    snprintf(part, sizeof part, "%.*s", n, program);
    return absolute(part);
}

static char *joined(char *const *word)
{
    size_t n = 1;
    for (char *const *w = word; *w; w++)
        n += strlen(*w) + 1;
    char *const out = calloc(n, 1);
    for (size_t used = 0; out && *word; word++)
        used += (size_t)sprintf(out + used, "%s%s", used > 0 ? " " : "", *word);
    return out;
}

/* The directory in which the session will make its collection. */
static char *root_of(const struct recorded_run *r)
{
    const char *const work = getenv("ASCEND_WORK_PATH");
    char *out = NULL;
    if (r->recorder.parent_dir)
        return absolute(r->recorder.parent_dir);
    if (work && *work)
        return asprintf(&out, "%s/profiling_data", work) >= 0 ? out : NULL;
    return absolute("");
}

bool run_sample_init(struct run_sample *s, const struct recorded_run *r, struct error *e)
{
    const bool is_system = !r->program && r->n_pids == 0;
    const char *const name = r->program ? strrchr(r->program[0], '/') : NULL;
    *s = (struct run_sample){ .app_dir = r->program ? directory_of(r->program[0]) : strdup(""),
                              .app_parameters = r->program ? joined(r->program + 1) : strdup(""),
                              .root = root_of(r) };
    s->command = (struct sample_command){ .app = !r->program ? NULL
                                                 : name      ? name + 1
                                                             : r->program[0],
                                          .app_dir = s->app_dir,
                                          .app_parameters = s->app_parameters,
                                          .app_env = r->environment,
                                          .root = s->root,
                                          .mode = is_system ? "system" : NULL,
                                          .delay_s = r->delay_s,
                                          .duration_s = r->duration_s,
                                          .period_s = r->period_s,
                                          .collector = getpid(),
                                          .host_pid = r->host_pid,
                                          .is_system = is_system };
    if (s->app_dir && s->app_parameters && s->root)
        return true;
    run_sample_fini(s);
    return error_no_memory(e, "the description of the program");
}

void run_sample_fini(struct run_sample *s)
{
    free(s->app_dir);
    free(s->app_parameters);
    free(s->root);
    *s = (struct run_sample){ 0 };
}

char *run_sample_config(const struct recorded_run *r, int chip, struct error *e)
{
    enum { USUAL_CHIP = 5 }; /* the platform of collections without a device */
    struct run_sample s;
    struct json_text t = { 0 };
    if (!run_sample_init(&s, r, e))
        return NULL;
    sample_json_request(&t, &r->recorder, chip_of(chip < 0 ? USUAL_CHIP : chip), &s.command);
    run_sample_fini(&s);
    if (!t.is_short)
        return t.at;
    json_text_fini(&t);
    error_no_memory(e, "the settings of the program");
    return NULL;
}
