#include "cli/command.h"

/* Under the reference's names the codes are those that callers of the reference know: its launcher gives 255 for every
 * failure, and 0 when results are there, whatever is missing from them. torch_npu discards all results of a device when
 * the code is another one. What was lost is reported on standard error. */
static const int code_of[OUTCOMES][FACES] = {
    [OUTCOME_DONE] = { [FACE_ASCOPE] = 0, [FACE_MSPROF_PY] = 0, [FACE_MSPROF] = 0 },
    [OUTCOME_LOSSES] = { [FACE_ASCOPE] = 3, [FACE_MSPROF_PY] = 0, [FACE_MSPROF] = 0 },
    [OUTCOME_NOTHING] = { [FACE_ASCOPE] = 1, [FACE_MSPROF_PY] = 1, [FACE_MSPROF] = 255 },
    [OUTCOME_USAGE] = { [FACE_ASCOPE] = 2, [FACE_MSPROF_PY] = 2, [FACE_MSPROF] = 255 },
    [OUTCOME_PARAMETER] = { [FACE_ASCOPE] = 2, [FACE_MSPROF_PY] = 1, [FACE_MSPROF] = 255 },
    [OUTCOME_PATH] = { [FACE_ASCOPE] = 2, [FACE_MSPROF_PY] = 2, [FACE_MSPROF] = 255 },
};

int exit_code(enum face face, enum outcome outcome)
{
    return code_of[outcome][face];
}

enum outcome arguments_refused(const struct arguments *a)
{
    return !a->mem || arena_failed(a->mem) ? OUTCOME_NOTHING : OUTCOME_USAGE;
}

const struct exit_meaning exit_meanings[] = {
    { 0, "everything that was asked for is done" },
    { 1, "nothing could be done" },
    { 2, "the command line is wrong" },
    { 3,
      "done, but with losses: records that could not be recorded or used, or some of several collections that could not" },
};
const size_t n_exit_meanings = sizeof exit_meanings / sizeof *exit_meanings;
