/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/one_collection.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/profile_analyse.h"
#include "base/files/destination.h"
#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/memory/large_memory.h"
#include "base/process/progress.h"
#include "base/text/framework_names.h"
#include "cli/commands.h"
#include "cli/options/command.h"
#include "cli/options/work.h"
#include "load/framework/framework_loaders.h"
#include "load/prof/prof.h"
#include "load/trace/trace_readers.h"
#include "open/inputs.h"
#include "pipeline/stages.h"
#include "report/term.h"

/* The directory of the output file, which also takes data that does not fit into memory. For other destinations, the
 * directory for temporary files. NULL: no memory. */
static const char *folder_of(struct arguments *a, const char *out)
{
    struct destination d;
    struct error unused = { 0 };
    if (!destination_look(&d, out, &unused) || d.kind != DESTINATION_FILE)
        return getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp";
    const char *file = d.path, *slash = strrchr(file, '/');
    return !slash ? "." : slash == file ? "/" : arena_text(a->mem, file, (size_t)(slash - file));
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum exit_status check_paths(const char *dir, const char *out, const char *given)
{
    struct stat st;
    if (stat(dir, &st) != 0) {
        const bool is_wrong = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP;
        complain("%s: %s; give %s", dir, strerror(errno), given);
        return is_wrong ? STATUS_PATH : STATUS_NOTHING;
    }
    if (!S_ISDIR(st.st_mode)) {
        struct error results = { 0 };
        if (inputs_are_results(dir, &results))
            complain("%s", results.text);
        else
            complain("%s: not a directory; give %s", dir, given);
        return STATUS_PATH;
    }
    if (is_directory(out)) {
        complain("%s: is a directory; give the name of the file to write", out);
        return STATUS_PATH;
    }
    return STATUS_DONE;
}

void complain_nothing(const struct collection *s, const char *why)
{
    struct losses lost = { 0 };
    losses_merge(&lost, &s->lost);
    collection_losses(s, &lost);
    for (int i = 0; i < LOSS_KINDS; i++)
        if (loss_is_damage((enum loss)i) && lost.by[i].n > 0) {
            complain("%s: %s; some records could not be used, first: %s; see ascope analyse", s->path, why,
                     lost.by[i].file ? lost.by[i].file : "?");
            return;
        }
    complain("%s: %s", s->path, why);
}

enum exit_status collection_status(const struct collection *s, const struct losses *lost)
{
    return s->device_error.fault != FAULT_NONE || losses_damage(lost) > 0 ? STATUS_LOSSES : STATUS_DONE;
}

/* The progress of writing: the result is a timeline, or about as small as the tables. */
static void stage_writing(struct progress *p, const struct one_collection *c, uint64_t bytes)
{
    progress_stage(p, "writing", STAGE_ANALYSED, 1, stage_output_bytes(bytes, c->is_timeline, !c->is_timeline, false));
}

static enum exit_status run_collection(struct arguments *a, const struct one_collection *c, const char *path,
                                       const char *out, struct progress *p)
{
    enum exit_status status = STATUS_NOTHING;
    struct collection s = { 0 };
    struct error e = { 0 };
    const struct collection_request request = { .keeps_tensors = c->keeps_tensors, .n_threads = a->options.n_threads };
    int unused;
    const struct framework_kind *known = framework_kind_of(path, &unused),
                                *kind = known ? known : framework_kinds; /* unknown: any loader reports the error */
    if (known && c->keeps_tensors && known->id != FRAMEWORK_PYTORCH) {
        complain("%s: a collection of %s; %s needs tensors, which only those of PyTorch have", path,
                 framework_names[known->id].name, a->command->name);
        return STATUS_NOTHING;
    }
    const uint64_t bytes = raw_bytes(path);
    progress_stage(p, "reading", 0, STAGE_READ, bytes);
    bool done = kind->load(&s, path, &request, &e);
    progress_stage(p, "analysing", STAGE_READ, STAGE_ANALYSED, done ? profile_analyse_steps(&s.profile) : 0);
    done = done && (c->keeps_tensors || kind->analyse(&s, request.n_threads, &e));
    stage_writing(p, c, bytes);
    if (done) {
        if (s.device_error.fault != FAULT_NONE)
            complain("%s", s.device_error.text);
        status = c->write(a, &s, out);
    } else {
        complain("%s", e.text);
    }
    collection_free(&s);
    return status;
}

static enum exit_status run_prof(struct arguments *a, const struct one_collection *c, const char *path, const char *out,
                                 struct progress *progress)
{
    enum exit_status status = STATUS_NOTHING;
    struct profile p = { 0 };
    struct error e = { 0 };
    const unsigned n_threads = a->options.n_threads;
    const uint64_t bytes = raw_bytes(path);
    progress_stage(progress, "reading", 0, STAGE_READ, bytes);
    bool done = profile_load(&p, path, n_threads, &e) &&
                (p.collector.is_there || (collector_load_above(&p.collector, p.path, p.mem, &p.lost, &e) &&
                                          seal_load(&p.collector, p.path, SEAL_PART, n_threads, p.mem, &p.lost, &e)));
    progress_stage(progress, "analysing", STAGE_READ, STAGE_ANALYSED, done ? profile_analyse_steps(&p) : 0);
    done = done && profile_analyse(&p, n_threads, &e);
    stage_writing(progress, c, bytes);
    if (done)
        status = c->write_prof(a, &p, out);
    else
        complain("%s", e.text);
    profile_free(&p);
    return status;
}

/* The PROF directory that a path contains or is, in a->mem. NULL: it is a collection of a framework, or has none.
 * *n: their number. */
static const char *prof_of(struct arguments *a, const char *path, size_t *n)
{
    struct prof_dirs found = { 0 };
    struct error unused = { 0 };
    int why;
    const char *prof = NULL;
    *n = 0;
    if (!framework_kind_of(path, &why) && why == 0 && prof_find(path, &found, &unused) && found.n > 0) {
        *n = found.n;
        prof = arena_text(a->mem, found.path[0], strlen(found.path[0]));
    }
    prof_dirs_free(&found);
    return prof;
}

static bool holds_frameworks(const char *path)
{
    int why = 0;
    bool holds = false;
    DIR *dir = inside_list(path);
    for (const char *name; dir && !holds && (name = dir_next(dir, &why));)
        holds = framework_ends_name(name, strlen(name));
    if (dir)
        closedir(dir);
    return holds;
}

/* Of a directory that contains collections of frameworks, the first one; any other path as it is. *n: how many it
 * contains. */
static const char *collection_of(struct arguments *a, const char *path, size_t *n)
{
    struct inputs inside = { .mem = a->mem };
    struct error unused = { 0 };
    int why;
    if (framework_kind_of(path, &why) || why != 0 || !holds_frameworks(path) ||
        !inputs_add(&inside, path, 0, &unused) || !inside.list.at[0].kind)
        return path;
    *n = inside.list.n;
    return inside.list.at[0].path;
}

static enum exit_status run_either(struct arguments *a, const struct one_collection *c, const char *path,
                                   const char *out)
{
    size_t n = 0;
    const char *prof = c->write_prof ? prof_of(a, path, &n) : NULL;
    const char *found = prof ? prof : collection_of(a, path, &n);
    if (n > 1) {
        complain("%s: contains %zu collections; give one of them", path, n);
        return STATUS_PATH;
    }
    struct error results = { 0 };
    int unused;
    if (!prof && n == 0 && !framework_kind_of(found, &unused) && inputs_are_results(path, &results)) {
        complain("%s", results.text);
        return STATUS_NOTHING;
    }
    recover_first(a, found, stderr);
    struct progress progress;
    progress_begin(&progress, stderr, !a->quiet);
    const enum exit_status status = (prof ? run_prof : run_collection)(a, c, found, out, &progress);
    progress_end(&progress);
    return status;
}

/* Checks options that do not fit the kind of output. */
static enum exit_status check_destination(const struct arguments *a, const char *out)
{
    struct destination d;
    struct error unused = { 0 };
    if (!json_has_room(a, "OUT", out))
        return STATUS_USAGE;
    if (a->options.max_bytes > 0 && pftrace_is_name(out)) {
        complain(
            "--max-size: a .pftrace file is not split; remove the option, or give OUT a name that ends with .json");
        return STATUS_USAGE;
    }
    if (a->options.max_bytes > 0 && destination_look(&d, out, &unused) && d.kind != DESTINATION_FILE) {
        complain("--max-size: makes several files; give OUT the name of a file");
        return STATUS_USAGE;
    }
    return STATUS_DONE;
}

int one_collection_run(struct arguments *a, const struct one_collection *c)
{
    char names[FRAMEWORK_PATTERNS], given[FRAMEWORK_PATTERNS + 40];
    framework_patterns(names);
    if (c->keeps_tensors)
        snprintf(names, sizeof names, "*%s", framework_names[FRAMEWORK_PYTORCH].suffix);
    snprintf(given, sizeof given, "a %s%s directory", names, c->write_prof ? " or PROF_XXX" : "");
    if (a->n_words != 2) {
        complain("%s: expected two arguments: %s and %s", a->command->name, given, c->wanted);
        return exit_code(a->face, STATUS_USAGE);
    }
    const char *dir = path_expand(a, "DIR", a->word[0]), *out = dir ? path_expand(a, "OUT", a->word[1]) : NULL;
    if (out && c->inside && is_directory(out) && !(out = arena_printf(a->mem, "%s/%s", out, c->inside)))
        complain_no_memory("OUT");
    enum exit_status status = out ? check_paths(dir, out, given) : arena_failed(a->mem) ? STATUS_NOTHING : STATUS_PATH;
    if (status == STATUS_DONE)
        status = check_destination(a, out);
    if (status != STATUS_DONE)
        return exit_code(a->face, status);
    char *path = realpath(dir, NULL); /* results are named after the last part of the path, so that "." must get one */
    const char *folder = folder_of(a, out);
    if (!path || !folder) {
        complain("%s: %s", dir, path ? no_memory_text() : read_trouble(errno));
        status = STATUS_NOTHING;
    } else {
        inside_enter(path);
        work_memory(a, folder);
        status = run_either(a, c, path, out);
        memory_unwatch();
    }
    free(path);
    return exit_code(a->face, status);
}
