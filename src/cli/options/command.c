/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/command.h"

#include <stdint.h>
#include <string.h>

#include "base/files/destination.h"
#include "base/process/progress.h"
#include "export/output_options.h"
#include "report/term.h"

enum exit_status given_add(struct inputs *t, const char *path, unsigned also)
{
    struct error e = { 0 };
    if (inputs_add(t, path, also, &e))
        return STATUS_DONE;
    complain("%s", e.text);
    return e.fault == FAULT_ASKED ? STATUS_PATH : STATUS_NOTHING;
}

enum exit_status given_inputs(struct inputs *t, size_t *n_refused, struct arguments *a, unsigned also)
{
    *t = (struct inputs){ .mem = a->mem, .steps_by = a->steps_by };
    *n_refused = 0;
    enum exit_status last = STATUS_USAGE;
    char wanted[INPUTS_WANTED];
    if (a->n_words == 0 && !a->dir)
        complain("missing directory; %s", inputs_wanted(wanted));
    if (a->dir && (last = given_add(t, a->dir, also)) != STATUS_DONE)
        ++*n_refused;
    for (size_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        const enum exit_status here = path                   ? given_add(t, path, also)
                                      : arena_failed(a->mem) ? STATUS_NOTHING
                                                             : STATUS_PATH;
        if (here != STATUS_DONE) {
            ++*n_refused;
            last = here;
        }
    }
    return t->list.n > 0 ? STATUS_DONE : last;
}

/* Under the reference's names the codes are those that callers of the reference know: its launcher gives 255 for every
 * failure, and 0 when there are results, complete or not. torch_npu discards all results of a device for any other
 * code. Losses are reported on standard error. */
static const int code_of[STATUSES][FACES] = {
    [STATUS_DONE] = { [FACE_ASCOPE] = 0, [FACE_MSPROF_PY] = 0, [FACE_MSPROF] = 0 },
    [STATUS_LOSSES] = { [FACE_ASCOPE] = 3, [FACE_MSPROF_PY] = 0, [FACE_MSPROF] = 0 },
    [STATUS_NOTHING] = { [FACE_ASCOPE] = 1, [FACE_MSPROF_PY] = 1, [FACE_MSPROF] = 255 },
    [STATUS_USAGE] = { [FACE_ASCOPE] = 2, [FACE_MSPROF_PY] = 2, [FACE_MSPROF] = 255 },
    [STATUS_PARAMETER] = { [FACE_ASCOPE] = 2, [FACE_MSPROF_PY] = 1, [FACE_MSPROF] = 255 },
    [STATUS_PATH] = { [FACE_ASCOPE] = 2, [FACE_MSPROF_PY] = 2, [FACE_MSPROF] = 255 },
    [STATUS_REGRESSED] = { [FACE_ASCOPE] = 4 }, /* other faces have no gate */
    [STATUS_INCONCLUSIVE] = { [FACE_ASCOPE] = 5 },
};

int exit_code(enum face face, enum exit_status status)
{
    return code_of[status][face];
}

enum exit_status arguments_refused(const struct arguments *a)
{
    return !a->mem || arena_failed(a->mem) ? STATUS_NOTHING : STATUS_USAGE;
}

const struct exit_meaning exit_meanings[] = {
    { 0, "success" },
    { 1, "failure: no result" },
    { 2, "invalid command line" },
    { 3,
      "success with losses: some records were not recorded or could not be used, or some of several collections failed" },
    { 4, "of gate: REGRESSED" },
    { 5, "of gate: INCONCLUSIVE" },
};
const size_t n_exit_meanings = sizeof exit_meanings / sizeof *exit_meanings;

bool export_types_read(const char *text, unsigned *want)
{
    bool is_good = !text || *text;
    for (const char *word = text; is_good && word && *word;) {
        const size_t len = strcspn(word, ",");
        if (len == 4 && strncmp(word, "text", len) == 0)
            *want |= WANT_TEXT;
        else if (len == 2 && strncmp(word, "db", len) == 0)
            *want |= WANT_DB;
        else
            is_good = false;
        word += len + (word[len] == ',');
    }
    if (!is_good)
        complain("--export-type %s: accepted are text, db, and text,db", *text ? text : "\"\"");
    return is_good;
}

/* Edit distance, with one row of the matrix. Words longer than NEAREST_WORD_MOST are never similar. */
static size_t distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    size_t row[NEAREST_WORD_MOST + 1];
    if (na > NEAREST_WORD_MOST || nb > NEAREST_WORD_MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t above = row[j], swap = diagonal + (a[i - 1] != b[j - 1]);
            const size_t step = (above < row[j - 1] ? above : row[j - 1]) + 1;
            row[j] = step < swap ? step : swap;
            diagonal = above;
        }
    }
    return row[nb];
}

const char *nearest_word(const char *given, const char *const *word, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(given) < 4 ? 2 : 3; /* one typing error in a short word, two in a longer one */
    for (size_t i = 0; i < n; i++) {
        const size_t d = distance(given, word[i]);
        if (d < least) {
            least = d;
            best = word[i];
        }
    }
    return best;
}

FILE *report_stream(const char *out)
{
    progress_clear();
    return destination_is_stdout(out) ? stderr : stdout;
}

bool json_has_room(const struct arguments *a, const char *what, const char *out)
{
    const bool has_room = !a->json || !out || !destination_is_stdout(out);
    if (!has_room)
        complain("--json: standard output is for the result; give %s the name of a file", what);
    return has_room;
}
