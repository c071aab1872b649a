/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/text/json_memory.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "cli/options/work.h"
#include "load/prof/prof.h"
#include "raw/chip.h"
#include "report/collection_info.h"
#include "report/loss_report.h"
#include "report/recording_report.h"
#include "report/trace_info.h"

/* A folder of a collection, host or device_N. */
struct info_folder {
    const char *name;
    struct source source; /* source.path is NULL if it could not be opened */
    struct error error;
    uint64_t n_files, n_bytes; /* of all files in its data folder */
    uint64_t n_missing;        /* slices between the first and the last of a stream */
    uint64_t n_aged;           /* slices before the first, deleted to save space */
};

struct info_looked {
    const char *path;
    LIST(struct info_folder) folders; /* the host's first */
    struct collector collector;
    struct losses lost;
    struct arena *mem;
};

static int info_by_name(const void *a, const void *b)
{
    const struct info_folder *x = a, *y = b;
    const bool x_is_host = strcmp(x->name, "host") == 0, y_is_host = strcmp(y->name, "host") == 0;
    return x_is_host != y_is_host ? y_is_host - x_is_host : strverscmp(x->name, y->name);
}

static bool is_folder(const char *name)
{
    return strcmp(name, "host") == 0 || strncmp(name, "device_", 7) == 0;
}

/* Counts the files and bytes of a folder, also if it cannot be opened as a source. */
static void measure_data(struct info_looked *l, struct info_folder *f)
{
    char path[5000];
    snprintf(path, sizeof path, "%s/%s/data", l->path, f->name);
    DIR *dir = inside_list(path);
    int why = dir ? 0 : errno;
    for (const char *name; dir && (name = dir_next(dir, &why));) {
        struct stat st;
        const char *ending = strrchr(name, '.');
        if (ending && strcmp(ending, ".done") == 0)
            continue;
        if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            losses_add(&l->lost, LOSS_UNREADABLE, 1, arena_printf(l->mem, "%s/data/%s", f->name, name), 0);
        } else if (S_ISREG(st.st_mode)) {
            f->n_files++;
            f->n_bytes += (uint64_t)st.st_size;
        }
    }
    if (why != 0 && why != ENOENT)
        losses_add(&l->lost, LOSS_UNREADABLE, 1, arena_printf(l->mem, "%s/data", f->name), 0);
    if (dir)
        closedir(dir);
}

static void count_gaps(struct info_folder *f)
{
    for (size_t i = 0; i < f->source.n_streams; i++) {
        const struct stream *s = &f->source.stream[i];
        f->n_aged += s->slice[0].number;
        for (size_t k = 1; k < s->n_slices; k++)
            if (s->slice[k].number > s->slice[k - 1].number)
                f->n_missing += s->slice[k].number - s->slice[k - 1].number - 1;
    }
}

static bool find_folders(struct info_looked *l, struct error *e)
{
    DIR *dir = inside_list(l->path);
    if (!dir)
        return error_set(e, FAULT_IO, "%s: cannot be read: %s", l->path, read_trouble(errno));
    int why;
    for (const char *name; (name = dir_next(dir, &why));) {
        struct stat st;
        if (!is_folder(name))
            continue;
        if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISLNK(st.st_mode)) {
            losses_add(&l->lost, LOSS_UNREADABLE, 1, arena_text(l->mem, name, strlen(name)), 0);
            continue;
        }
        struct info_folder *f = S_ISDIR(st.st_mode) ? list_add(&l->folders, l->mem) : NULL;
        if (f)
            f->name = arena_text(l->mem, name, strlen(name));
    }
    closedir(dir);
    if (why != 0)
        losses_add(&l->lost, LOSS_UNREADABLE, 1, l->path, 0);
    if (arena_failed(l->mem))
        return error_no_memory(e, l->path);
    if (l->folders.n > 0)
        qsort(l->folders.at, l->folders.n, sizeof *l->folders.at, info_by_name);
    return true;
}

/* `is_alone`: the PROF directory is not part of a collection of a framework, which reports the recording itself. */
static bool info_look(const char *prof_path, bool is_alone, struct info_looked *l, struct error *e)
{
    *l = (struct info_looked){ .path = prof_path, .mem = arena_new() };
    if (!l->mem)
        return error_no_memory(e, prof_path);
    if (!find_folders(l, e) || !collector_load(&l->collector, prof_path, l->mem, &l->lost, e))
        return false;
    const unsigned part = l->collector.is_there ? 0 : SEAL_PART;
    if (is_alone && ((part && !collector_load_above(&l->collector, prof_path, l->mem, &l->lost, e)) ||
                     !seal_load(&l->collector, prof_path, SEAL_LENGTHS | part, 1, l->mem, &l->lost, e)))
        return false;
    for (size_t i = 0; i < l->folders.n; i++) {
        struct info_folder *f = &l->folders.at[i];
        measure_data(l, f);
        if (!source_open(&f->source, prof_path, f->name, &f->error)) {
            if (f->error.fault == FAULT_LIMIT)
                return error_set(e, FAULT_LIMIT, "%s", f->error.text);
            continue;
        }
        count_gaps(f);
        losses_merge(&l->lost, &f->source.lost);
    }
    return !arena_failed(l->mem) || error_no_memory(e, prof_path);
}

static void look_end(struct info_looked *l)
{
    for (size_t i = 0; i < l->folders.n; i++)
        if (l->folders.at[i].source.path)
            source_close(&l->folders.at[i].source);
    arena_free(l->mem);
}

/* The folder whose clock the others are compared with: the host's, or else the first one that could be opened. */
static const struct source *main_source(const struct info_looked *l)
{
    const struct source *found = NULL;
    for (size_t i = 0; i < l->folders.n; i++)
        if (l->folders.at[i].source.path && (!found || l->folders.at[i].source.is_host))
            found = &l->folders.at[i].source;
    return found;
}

/* The difference between the times that two folders give for the same value of the host counter: an error of one of
 * their clocks. */
static int64_t clock_shift_ns(const struct source *s, const struct source *against)
{
    return source_host_ns(s, s->host_clock.cnt) - source_host_ns(against, s->host_clock.cnt);
}

static bool is_damaged(const struct info_looked *l)
{
    bool damaged = losses_damage(&l->lost) > 0;
    for (size_t i = 0; i < l->folders.n; i++)
        damaged = damaged || !l->folders.at[i].source.path || l->folders.at[i].n_missing > 0;
    return damaged;
}

static double mhz(struct ticks t)
{
    return t.num > 0 ? 1000.0 * (double)t.den / (double)t.num : 0;
}

/* ---- for people ----------------------------------------------------------------------------------------------- */

static void put_clock(const struct term *t, const struct source *s, const struct source *against)
{
    char gap[READABLE_MOST];
    fprintf(t->to, "    host counter %.6g MHz", mhz(s->host_clock.tick));
    if (!s->is_host)
        fprintf(t->to, ", device counter %.6g MHz (%llu at host %lld ns)", mhz(s->device_clock.tick),
                (unsigned long long)s->device_clock.cnt, (long long)s->host_mono_ns);
    fputc('\n', t->to);
    if (s->drift_ns != 0)
        fprintf(t->to, "    wall clock and monotonic clock drifted apart by %s%s\n", s->drift_ns < 0 ? "-" : "",
                readable_duration(gap, fabs((double)s->drift_ns)));
    if (s != against) {
        const int64_t shift = clock_shift_ns(s, against);
        fprintf(t->to, "    its clock is %s %s that of ", readable_duration(gap, fabs((double)shift)),
                shift < 0 ? "behind" : "ahead of");
        term_text(t, against->name, 0);
        fputc('\n', t->to);
    }
}

static void put_readable(const struct term *t, const struct source *s)
{
    static const char *const task_log[] = {
        [TASK_LOG_UNREAD] = NULL,      [TASK_LOG_STARS] = "stars_soc.data",  [TASK_LOG_SHORT] = "stars_soc.data",
        [TASK_LOG_HWTS] = "hwts.data", [TASK_LOG_CUDA] = "ascope_cuda.data",
    };
    const char *log = s->chip->tracks_tasks ? "ts_track.data" : task_log[s->chip->task_log];
    size_t n = 0, n_unread = 0;
    if (log)
        source_streams(s, log, &n);
    for (size_t i = 0; i < s->n_streams; i++)
        n_unread += !stream_is_read(s, &s->stream[i]);
    fprintf(t->to, "    %s; ",
            n > 0 ? "its tasks can be read"
            : log ? "no tasks were logged"
                  : "its tasks cannot be read by this version");
    if (n_unread == 0)
        fputs("everything else that is known can be read\n", t->to);
    else
        fprintf(t->to, "%zu streams cannot be read, see below\n", n_unread);
}

static void put_folder(const struct term *t, const struct info_folder *f, const struct source *against)
{
    const struct source *s = &f->source;
    char number[READABLE_MOST], bytes[READABLE_MOST];
    fprintf(t->to, "\n  %s", term_ink(t, INK_BOLD));
    term_text(t, f->name, 0);
    fprintf(t->to, "%s", term_ink(t, INK_END));
    if (!s->path) {
        fprintf(t->to, ": %scannot be used%s (%s files, %s)\n    ", term_ink(t, INK_BAD), term_ink(t, INK_END),
                readable_count(number, f->n_files), readable_bytes(bytes, f->n_bytes));
        term_text(t, f->error.text, 0);
        fputc('\n', t->to);
        return;
    }
    fputs(": ", t->to);
    term_text(t, s->is_host ? s->settings.hostname : s->chip->name, 40);
    if (!s->is_host) {
        fputs(", ", t->to);
        term_text(t, source_product(s), 60);
        fprintf(t->to, ", platform %d", s->platform);
    }
    fputs(", ", t->to);
    summary_extent(t, s, against);
    put_clock(t, s, against);
    if (!s->is_host)
        put_readable(t, s);
    if (f->n_missing > 0)
        fprintf(t->to, "    %s%s slices are missing inside streams%s\n", term_ink(t, INK_WARN),
                readable_count(number, f->n_missing), term_ink(t, INK_END));
    if (f->n_aged > 0)
        fprintf(t->to, "    %s older slices were deleted to save space\n", readable_count(number, f->n_aged));
    summary_streams(t, s);
}

static void info_put_text(const struct term *t, const struct info_looked *l)
{
    const struct source *first = main_source(l);
    uint64_t files = 0, bytes = 0;
    bool has_device = false;
    for (size_t i = 0; i < l->folders.n; i++) {
        files += l->folders.at[i].n_files;
        bytes += l->folders.at[i].n_bytes;
        has_device |= strcmp(l->folders.at[i].name, "host") != 0;
    }
    char n[READABLE_MOST], size[READABLE_MOST];
    fputs(term_ink(t, INK_BOLD), t->to);
    term_text(t, l->path, 0);
    fprintf(t->to, "%s\n  %s files, %s", term_ink(t, INK_END), readable_count(n, files), readable_bytes(size, bytes));
    if (first) {
        /* Every info.json has a chip, also that of a host without one. */
        fprintf(t->to, ", %s%s", source_is_simulated(first) ? "simulated " : "",
                has_device ? first->chip->name : "host only");
        const char *process = first->pid_name;
        if (*process) {
            fputs(", process ", t->to);
            term_text(t, process, 40);
            fprintf(t->to, " (%u)", first->pid);
        }
    }
    fputc('\n', t->to);
    recording_print(t, &l->collector);
    for (size_t i = 0; i < l->folders.n; i++)
        put_folder(t, &l->folders.at[i], first);
    losses_print(t, &l->lost);
}

/* ---- for machines --------------------------------------------------------------------------------------------- */

static json_t *folder_json(const struct info_folder *f, const struct source *against)
{
    const struct source *s = &f->source;
    json_t *o = json_pack("{s:o, s:I, s:I}", "name", text_json(f->name), "files", (json_int_t)f->n_files, "bytes",
                          (json_int_t)f->n_bytes);
    if (!s->path) {
        json_object_set_new(o, "error", text_json(f->error.text));
        return o;
    }
    json_t *more =
        json_pack("{s:i, s:s, s:o, s:o, s:I, s:I, s:b, s:f, s:I, s:I, s:I, s:I, s:o}", "platform", s->platform, "chip",
                  s->chip->name, "product", text_json(source_product(s)), "hostname", text_json(s->settings.hostname),
                  "begin_ns", (json_int_t)s->begin_ns, "end_ns", (json_int_t)source_end_ns(s, against), "has_end",
                  s->has_end, "host_counter_mhz", mhz(s->host_clock.tick), "wall_drift_ns", (json_int_t)s->drift_ns,
                  "clock_shift_ns", (json_int_t)clock_shift_ns(s, against), "slices_missing", (json_int_t)f->n_missing,
                  "slices_aged", (json_int_t)f->n_aged, "streams", summary_streams_json(s));
    if (!s->is_host && more)
        json_object_set_new(more, "device_counter_mhz", json_real(mhz(s->device_clock.tick)));
    json_object_update_new(o, more);
    return o;
}

static json_t *looked_json(const struct info_looked *l)
{
    json_t *folders = json_array();
    for (size_t i = 0; i < l->folders.n; i++)
        json_array_append_new(folders, folder_json(&l->folders.at[i], main_source(l)));
    const struct source *first = main_source(l);
    return json_pack("{s:o, s:b, s:o, s:o, s:o}", "path", text_json(l->path), "simulated",
                     first && source_is_simulated(first), "folders", folders, "recording",
                     recording_json(&l->collector), "losses", losses_json(&l->lost));
}

struct reporting {
    const struct arguments *a;
    struct term term;
    struct results_tally tally;
    json_t *list; /* with --json; NULL: no memory, and the report is not printed */
};

static void report_prof(struct reporting *n, const char *path, bool is_alone)
{
    struct info_looked l;
    struct error e = { 0 };
    if (!info_look(path, is_alone, &l, &e)) {
        complain("%s", e.text);
        n->tally.n_failed++;
    } else {
        n->tally.n_lossy += is_damaged(&l);
        n->tally.n_done += !is_damaged(&l);
        if (n->a->json)
            json_list_add(&n->list, looked_json(&l));
        else if (!n->a->quiet)
            info_put_text(&n->term, &l);
    }
    look_end(&l);
}

static void report_prof_alone(struct reporting *n, const struct input *input)
{
    report_prof(n, input->path, true);
}

/* Reports what the framework recorded, then the PROF directory in the collection. */
static void report_collection(struct reporting *n, const struct input *input)
{
    struct collection s;
    struct collection_look l;
    struct error e = { 0 };
    if (!input->kind->look(&s, input->path, &l, &e) ||
        !seal_load(&s.collector, s.path, SEAL_LENGTHS, 1, s.mem, &s.lost, &e)) {
        complain("%s", e.text);
        n->tally.n_failed++;
    } else {
        n->tally.n_lossy += losses_damage(&s.lost) > 0;
        n->tally.n_done += losses_damage(&s.lost) == 0;
        if (n->a->json)
            json_list_add(&n->list, collection_info_json(&s, &l));
        else if (!n->a->quiet)
            collection_info_print(&n->term, &s, &l);
        if (l.prof)
            report_prof(n, l.prof, false);
    }
    collection_free(&s);
}

static void report_file(struct reporting *n, const struct input *input)
{
    struct recording l;
    struct error e = { 0 };
    if (!recording_open(&l, input, 0, n->a->options.n_threads, &e)) {
        complain("%s", e.text);
        n->tally.n_failed++;
    } else {
        n->tally.n_lossy += l.is_lossy;
        n->tally.n_done += !l.is_lossy;
        if (n->a->json)
            json_list_add(&n->list, trace_info_json(input, &l));
        else if (!n->a->quiet)
            trace_info_print(&n->term, input, &l);
    }
    recording_close(&l);
}

int run_info(struct arguments *a)
{
    struct inputs found;
    size_t n_refused;
    enum exit_status status = given_inputs(&found, &n_refused, a, INPUT_RUINS | INPUT_RESULTS);
    struct reporting n = { .a = a, .tally.n_failed = n_refused, .list = a->json ? json_array() : NULL };
    term_init(&n.term, stdout);
    for (size_t i = 0; i < found.list.n; i++)
        (found.list.at[i].file   ? report_file
         : found.list.at[i].kind ? report_collection
                                 : report_prof_alone)(&n, &found.list.at[i]);
    if (status == STATUS_DONE)
        status = tally_status(&n.tally);
    if (a->json)
        status = json_report(a, "collections", n.list, status);
    return exit_code(a->face, status);
}
