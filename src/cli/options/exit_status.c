/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/command.h"

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
