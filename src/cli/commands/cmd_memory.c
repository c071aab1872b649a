/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory/large_memory.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "answers/memory/memory_recording.h"
#include "cluster/job/rank_readers.h"
#include "load/plain/snapshot_load.h"
#include "open/inputs.h"
#include "open/recording_open.h"
#include "report/memory/memory_folded.h"
#include "report/memory/memory_report.h"
#include "report/memory/memory_report_json.h"
#include "report/memory/memory_together_report.h"

struct memory_input {
    struct arguments *a;
    struct term term;
    json_t *list;
    struct memory_together series;
    struct out folded; /* of --folded */
    size_t n_judged, n_refused;
    bool is_lossy;
};

static bool memory_is_snapshot_name(const char *name)
{
    const char *end = strrchr(name, '.');
    return name_is_visible(name) && end && (strcmp(end, ".pickle") == 0 || strcmp(end, ".pkl") == 0);
}

/* In the name of a snapshot, or in a collection. */
static int64_t memory_rank(const struct memory_snapshot *s)
{
    const char *slash = strrchr(s->path, '/');
    return s->is_recording ? rank_in_info(s->path) : rank_in_name(slash ? slash + 1 : s->path);
}

static bool memory_answer_device(struct memory_input *in, const struct memory_snapshot *s, uint32_t device,
                                 bool is_named, struct error *e)
{
    struct memory_judged j;
    struct arena *mem = arena_new();
    const char *sentence = mem && memory_judge(&j, s, device, mem) ? memory_sentence(&j, mem) : NULL;
    if (sentence && in->a->json)
        json_list_add(&in->list, memory_json(&j, sentence));
    else if (sentence && !in->a->quiet) {
        if (in->n_judged > 0)
            fputc('\n', in->term.to);
        if (is_named) {
            term_text(&in->term, s->path, 0);
            fprintf(in->term.to, ", device %u\n", device);
        }
        memory_print(&in->term, &j, sentence, (uint32_t)in->a->top, mem);
    }
    const bool is_folded = !in->a->folded || (sentence && memory_folded_put(&in->folded, &j, is_named));
    const bool is_added = is_folded && sentence && memory_together_add(&in->series, &j, memory_rank(s), in->a->mem);
    arena_free(mem);
    in->n_judged += sentence != NULL;
    return is_added || error_no_memory(e, s->path);
}

/* All devices of a snapshot, each by itself. */
static bool memory_answer(struct memory_input *in, const struct memory_snapshot *s, bool is_one_of, struct error *e)
{
    size_t n = 0;
    for (uint32_t device = 0; device < memory_judge_devices(s); device++)
        n += memory_judge_has(s, device);
    for (uint32_t device = 0; device < memory_judge_devices(s); device++)
        if (memory_judge_has(s, device) && !memory_answer_device(in, s, device, is_one_of || n > 1, e))
            return false;
    return n > 0 || error_set(e, FAULT_FORMAT, "%s: an empty snapshot: nothing was allocated", s->path);
}

static void memory_read_file(struct memory_input *in, const char *path, bool is_one_of)
{
    struct memory_snapshot s;
    struct mapped file = { 0 };
    struct error e = { 0 };
    struct stat st;
    int why = 0;
    struct arena *mem = arena_new();
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    if (fd < 0)
        error_set(&e, FAULT_IO, "%s: %s", path, read_trouble(why));
    else if (!mem)
        error_no_memory(&e, path);
    else if (st.st_size > 0 && !memory_map(&file, fd, (size_t)st.st_size))
        error_no_memory(&e, path);
    else if (snapshot_load(&s, file.at, (size_t)st.st_size, path, mem, &e)) {
        memory_unmap(&file);
        memory_answer(in, &s, is_one_of, &e);
    }
    memory_unmap(&file);
    if (fd >= 0)
        close(fd);
    arena_free(mem);
    if (e.fault == FAULT_NONE)
        return;
    complain("%s", e.text);
    in->n_refused++;
}

static bool memory_read_collection(struct memory_input *in, const struct input *input, bool is_one_of, struct error *e)
{
    struct recording l = { 0 };
    struct memory_snapshot s;
    struct arena *mem = arena_new();
    bool is_done = recording_open(&l, input, 0, 1, e);
    if (is_done && (!l.collection || l.collection->lives.n == 0))
        is_done =
            error_set(e, FAULT_ASKED, "%s: memory of devices: not recorded; record with profile_memory", input->path);
    else if (is_done)
        is_done = (mem && memory_of_recording(&s, l.collection, input->path, mem)) || error_no_memory(e, input->path);
    is_done = is_done && memory_answer(in, &s, is_one_of, e);
    const char *loss = is_done && l.is_lossy ? recording_loss(&l, input->path, in->a->mem) : NULL;
    if (loss)
        complain("%s", loss);
    in->is_lossy |= loss != NULL;
    recording_close(&l);
    arena_free(mem);
    return is_done;
}

/* A directory without snapshots: the collections in it. */
static void memory_read_collections(struct memory_input *in, const char *path)
{
    struct inputs inputs = { .mem = in->a->mem };
    struct error e = { 0 };
    const bool is_found = inputs_add(&inputs, path, 0, &e);
    for (size_t i = 0; is_found && i < inputs.list.n; i++) {
        struct error of_one = { 0 };
        if (memory_read_collection(in, &inputs.list.at[i], in->a->n_words > 1 || inputs.list.n > 1, &of_one))
            continue;
        complain("%s", of_one.text);
        in->n_refused++;
    }
    if (is_found)
        return;
    complain("%s", e.text);
    in->n_refused++;
}

static void memory_read(struct memory_input *in, const char *path)
{
    struct stat st;
    struct dir_names names;
    int why = 0;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        memory_read_file(in, path, in->a->n_words > 1);
        return;
    }
    if (!dir_names_read(&names, path, memory_is_snapshot_name, &why)) {
        complain("%s: %s", path, read_trouble(why));
        in->n_refused++;
        return;
    }
    for (size_t i = 0; i < names.n; i++) {
        const char *file = arena_printf(in->a->mem, "%s/%s", path, names.at[i]);
        if (file)
            memory_read_file(in, file, in->a->n_words > 1 || names.n > 1);
    }
    if (names.n == 0)
        memory_read_collections(in, path);
    dir_names_free(&names);
}

/* What several snapshots say together. Returns it as JSON if that is wanted, or NULL. */
static json_t *memory_answer_together(struct memory_input *in)
{
    struct memory_together *x = &in->series;
    const bool is_judged = memory_together_judge(x, in->a->mem);
    const char *sentence = is_judged && x->kind != SERIES_NONE ? memory_together_sentence(x, in->a->mem) : NULL;
    if (sentence && in->a->json)
        return json_pack("{s:o}", "memory_series", memory_together_json(x, sentence));
    if (sentence && !in->a->quiet)
        memory_together_print(&in->term, x, sentence);
    if (arena_failed(in->a->mem))
        complain_no_memory("the snapshots together");
    return NULL;
}

int run_memory(struct arguments *a)
{
    struct memory_input in = { .a = a, .list = a->json ? json_array() : NULL };
    if (a->n_words == 0) {
        complain(
            "memory: no snapshots given; expected files like snapshot.pickle, or a directory of them or of collections");
        return exit_code(a->face, STATUS_USAGE);
    }
    struct error e = { 0 };
    if (!json_has_room(a, "--folded", a->folded))
        return exit_code(a->face, STATUS_USAGE);
    if (a->folded && !out_open_named(&in.folded, a->folded, &e)) {
        complain("%s", e.text);
        return exit_code(a->face, STATUS_NOTHING);
    }
    term_init(&in.term, a->folded ? report_stream(a->folded) : stdout);
    memory_watch();
    for (size_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        if (!path) {
            memory_unwatch();
            if (a->folded)
                out_discard(&in.folded);
            return exit_code(a->face, arguments_refused(a));
        }
        memory_read(&in, path);
    }
    memory_unwatch();
    json_t *together = memory_answer_together(&in);
    enum exit_status status = in.n_judged == 0                  ? STATUS_NOTHING
                              : in.n_refused > 0 || in.is_lossy ? STATUS_LOSSES
                                                                : STATUS_DONE;
    if (a->folded && !out_close(&in.folded, &e)) {
        complain("%s", e.text);
        status = STATUS_NOTHING;
    }
    if (a->json)
        status = json_report_more(a, "memories", in.list, together, status);
    return exit_code(a->face, status);
}
