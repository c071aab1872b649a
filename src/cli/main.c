/* SPDX-License-Identifier: Apache-2.0 */
/* The command. Its behaviour depends on the name under which it is called: ascope, or a name of the reference. That
 * name may also be the first argument: `ascope msprof ...` is for scripts that cannot choose the name. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "cli/commands.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "report/term.h"

static int run_command(const struct command *c, int argc, char **argv)
{
    struct arguments a = arguments_new(FACE_ASCOPE);
    int code;
    if (!options_parse(c, argc, argv, &a)) {
        code = exit_code(FACE_ASCOPE, arguments_refused(&a));
    } else {
        if (a.help)
            help_command(FACE_ASCOPE, c);
        code = a.help ? 0 : c->run(&a);
        if (a.json && !a.help)
            json_report_failure(&a, code);
    }
    arguments_end(&a);
    return code;
}

static int ascope_main(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : "";
    if (argc < 2) {
        help_overview();
        return exit_code(FACE_ASCOPE, STATUS_USAGE);
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0 || strcmp(first, "version") == 0) {
        puts("ascope " ASCOPE_VERSION);
        return 0;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        help_overview();
        return 0;
    }
    const struct command *c = command_find(first);
    return c ? run_command(c, argc - 1, argv + 1) : help_unknown(first);
}

/* The names of the reference's commands. */
static const struct other_face {
    const char *name;
    enum face face;
    int (*run)(int argc, char **argv);
} other_faces[] = {
    { "msprof", FACE_MSPROF, msprof_main },
    { "msprof.py", FACE_MSPROF_PY, msprof_py_main },
    { "get_msprof_info.py", FACE_MSPROF_PY, msprof_info_main },
    { "msprof-analyze", FACE_ASCOPE, msprof_analyze_main },
};

static const struct other_face *face_called(const char *name)
{
    for (size_t i = 0; i < sizeof other_faces / sizeof *other_faces; i++)
        if (strcmp(other_faces[i].name, name) == 0)
            return &other_faces[i];
    return NULL;
}

int main(int argc, char **argv)
{
    /* Large columns are returned to the system when they are freed, whatever sizes were freed before. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    /* Freed small blocks are kept: growing the heap again costs a page fault per page. */
    mallopt(M_TOP_PAD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL, *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
    const struct other_face *other = face_called(name);
    if (!other && argc > 1 && (other = face_called(argv[1]))) {
        argc--;
        argv++;
    }
    json_memory_watch();
    if (other)
        complain_as(other->name);
    ending_prepare(other ? other->face : FACE_ASCOPE);
    const int code = other ? other->run(argc, argv) : ascope_main(argc, argv);
    ending_fini();
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("ascope: standard output");
        return code ? code : 1;
    }
    return code;
}
