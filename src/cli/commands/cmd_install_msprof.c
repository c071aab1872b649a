/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/destination.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "base/files/own_path.h"
#include "cli/options/command.h"
#include "report/term.h"

#define MARK     "Made by `ascope install-msprof`"
#define KEPT     ".before-ascope"
#define TOOL     "tools/profiler/"
#define ANALYSIS TOOL "profiler_tool/analysis/"

enum form { SHELL_SCRIPT, PYTHON_SCRIPT, LINK };

/* The link comes after the file that it leads to: it is made when the file exists, and removed when the file is
 * gone. */
static const struct install_msprof_placed {
    const char *name; /* below DIR */
    enum form form;
    const char *called; /* of a script: the name under which it calls ascope; of the link: its target */
} placed[] = {
    { TOOL "bin/msprof", SHELL_SCRIPT, "msprof" },
    { ANALYSIS "msprof/msprof.py", PYTHON_SCRIPT, "msprof.py" },
    { ANALYSIS "interface/get_msprof_info.py", PYTHON_SCRIPT, "get_msprof_info.py" },
    { "bin/msprof", LINK, "../" TOOL "bin/msprof" },
};
enum { PLACED = sizeof placed / sizeof *placed };

/* What exists under a name. */
enum install_msprof_found { FOUND_NOTHING, FOUND_OURS, FOUND_OTHER, FOUND_TROUBLE };

struct installation {
    struct arguments *a;
    const char *dir;
    char program[PATH_MAX];
    const char *dialect; /* of the results, unless ASCOPE_DIALECT is set */
    struct error error;
};

static char *path_of(struct installation *in, const char *name, const char *suffix)
{
    char *path = arena_printf(in->a->mem, "%s/%s%s", in->dir, name, suffix);
    if (!path)
        error_no_memory(&in->error, "a path");
    return path;
}

static bool install_msprof_fail(struct installation *in, const char *path, const char *what, int why)
{
    return error_set(&in->error, FAULT_IO, "%s: cannot be %s: %s", path, what, write_trouble(why));
}

static enum install_msprof_found install_msprof_look(struct installation *in, const struct install_msprof_placed *p,
                                                     const char *path)
{
    char text[400] = "";
    struct stat st;
    size_t got = 0;
    int why = 0;
    if (lstat(path, &st) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return FOUND_NOTHING; /* make_folders() reports a file in place of a folder */
        install_msprof_fail(in, path, "read", errno);
        return FOUND_TROUBLE;
    }
    if (p->form == LINK)
        return S_ISLNK(st.st_mode) && readlink(path, text, sizeof text - 1) > 0 && strcmp(text, p->called) == 0
                   ? FOUND_OURS
                   : FOUND_OTHER;
    const int fd = S_ISREG(st.st_mode) ? file_open(AT_FDCWD, path, &st, &why) : -1;
    const bool is_ours =
        fd >= 0 && file_read(fd, text, sizeof text - 1, &got, &why) && memmem(text, got, MARK, strlen(MARK));
    if (fd >= 0)
        close(fd);
    return is_ours ? FOUND_OURS : FOUND_OTHER;
}

/* ---- contents of the files ---- */

/* Quotes a text for a shell. */
static void put_quoted(struct out *o, const char *text)
{
    out_char(o, '\'');
    for (; *text; text++)
        if (*text == '\'')
            out_lit(o, "'\\''");
        else
            out_char(o, *text);
    out_char(o, '\'');
}

/* Writes a bytes literal of Python: paths need not be UTF-8. */
static void put_bytes_literal(struct out *o, const char *text)
{
    out_lit(o, "b\"");
    for (; *text; text++) {
        char escaped[8];
        const unsigned char c = (unsigned char)*text;
        if (c >= ' ' && c < 0x7f && c != '"' && c != '\\')
            out_char(o, *text);
        else
            out_bytes(o, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\x%02x", c));
    }
    out_char(o, '"');
}

/* \1 stands for the path of ascope, \2 for the name under which it is called, \3 for the dialect. */
static const char *const script_text[] = {
    [SHELL_SCRIPT] = "#!/bin/sh\n"
                     "# " MARK ", which also removes it: this msprof is ascope.\n"
                     "program=\1\n"
                     "[ -x \"$program\" ] || program=ascope\n"
                     "export ASCOPE_DIALECT=\"${ASCOPE_DIALECT:-\3}\"\n"
                     "exec \"$program\" \2 \"$@\"\n",
    [PYTHON_SCRIPT] = "#!/usr/bin/env python3\n"
                      "# " MARK ", which also removes it: this msprof is ascope.\n"
                      "import os\n"
                      "import shutil\n"
                      "import sys\n"
                      "\n"
                      "program = os.fsdecode(\1)\n"
                      "if not os.access(program, os.X_OK):\n"
                      "    program = shutil.which(\"ascope\")\n"
                      "if not program:\n"
                      "    sys.exit(\"\2: ascope was not found; install it, and run `ascope install-msprof` again\")\n"
                      "os.environ.setdefault(\"ASCOPE_DIALECT\", \"\3\")\n"
                      "os.execv(program, [program, \"\2\"] + sys.argv[1:])\n",
};

static void put_script(struct out *o, const struct install_msprof_placed *p, const struct installation *in)
{
    for (const char *c = script_text[p->form]; *c; c++)
        if (*c == '\1' && p->form == SHELL_SCRIPT)
            put_quoted(o, in->program);
        else if (*c == '\1')
            put_bytes_literal(o, in->program);
        else if (*c == '\2')
            out_bytes(o, p->called, strlen(p->called));
        else if (*c == '\3')
            out_bytes(o, in->dialect, strlen(in->dialect));
        else
            out_char(o, *c);
}

/* ---- installing ---- */

/* Makes the folders above a name, like `mkdir -p`. */
static bool make_folders(struct installation *in, char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        struct stat st;
        const bool is_there =
            mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode));
        if (!is_there)
            return install_msprof_fail(in, path, "created", errno);
        *slash = '/';
    }
    return true;
}

static bool write_script(struct installation *in, const struct install_msprof_placed *p, const char *path)
{
    struct out o;
    if (!out_open(&o, path, &in->error))
        return false;
    put_script(&o, p, in);
    if (fchmod(o.fd, 0755) != 0) {
        install_msprof_fail(in, path, "made executable", errno);
        out_discard(&o);
        return false;
    }
    return out_close(&o, &in->error);
}

static bool install_msprof_place(struct installation *in, const struct install_msprof_placed *p)
{
    const char *path = path_of(in, p->name, ""), *kept = path_of(in, p->name, KEPT);
    char *folders = path ? arena_text(in->a->mem, path, strlen(path)) : NULL;
    if (!path || !kept || !folders)
        return error_no_memory(&in->error, "a path");
    if (!make_folders(in, folders))
        return false;
    const enum install_msprof_found found = install_msprof_look(in, p, path);
    if (found == FOUND_OTHER && rename(path, kept) != 0)
        return install_msprof_fail(in, path, "renamed", errno);
    if (p->form == LINK)
        return found == FOUND_OURS || symlink(p->called, path) == 0 || install_msprof_fail(in, path, "created", errno);
    return found != FOUND_TROUBLE && write_script(in, p, path);
}

/* Finds files of others before anything is changed. */
static bool is_free(struct installation *in)
{
    for (size_t i = 0; i < PLACED; i++) {
        const char *path = path_of(in, placed[i].name, "");
        const enum install_msprof_found found = path ? install_msprof_look(in, &placed[i], path) : FOUND_TROUBLE;
        if (found == FOUND_TROUBLE)
            return false;
        if (found == FOUND_OTHER && !in->a->force)
            return error_set(&in->error, FAULT_IO,
                             "%s: exists and was not made by ascope; with --force it is replaced, and kept as *" KEPT,
                             path);
    }
    return true;
}

/* Checks that torch_npu and MindSpore will find msprof.py: resolves links and cuts the path as they do. */
static bool finds_scripts(struct installation *in)
{
    char msprof[PATH_MAX];
    const char *named = path_of(in, "bin/msprof", "");
    if (!named || !realpath(named, msprof))
        return named && install_msprof_fail(in, named, "found", errno);
    char *tools = strstr(msprof, "tools");
    const char *script =
        tools ? arena_printf(in->a->mem, "%.*s" ANALYSIS "msprof/msprof.py", (int)(tools - msprof), msprof) : NULL;
    return (script && access(script, X_OK) == 0) ||
           error_set(&in->error, FAULT_IO,
                     "%s: resolves to %s, where torch_npu and MindSpore do not find " ANALYSIS
                     "msprof/msprof.py; choose another directory",
                     named, msprof);
}

static bool install(struct installation *in)
{
    for (size_t i = 0; i < PLACED; i++)
        if (!install_msprof_place(in, &placed[i]))
            return false;
    return finds_scripts(in);
}

/* ---- removing ---- */

static void remove_empty_folders(const struct installation *in, char *path)
{
    const size_t least = strlen(in->dir);
    for (char *slash; (slash = strrchr(path, '/')) && (size_t)(slash - path) > least;) {
        *slash = 0;
        if (rmdir(path) != 0)
            return;
    }
}

static bool displace(struct installation *in, const struct install_msprof_placed *p)
{
    char *path = path_of(in, p->name, ""), *kept = path_of(in, p->name, KEPT);
    struct stat st;
    if (!path || !kept)
        return false;
    const enum install_msprof_found found = install_msprof_look(in, p, path);
    const bool is_of_others = p->form == LINK && stat(path, &st) == 0; /* its target is a restored file of the user */
    if (found == FOUND_OURS && !is_of_others && unlink(path) != 0)
        return install_msprof_fail(in, path, "removed", errno);
    if (found != FOUND_OTHER && lstat(kept, &st) == 0 && rename(kept, path) != 0)
        return install_msprof_fail(in, kept, "renamed", errno);
    remove_empty_folders(in, path);
    return found != FOUND_TROUBLE;
}

static bool uninstall(struct installation *in)
{
    for (size_t i = 0; i < PLACED; i++)
        if (!displace(in, &placed[i]))
            return false;
    return true;
}

/* ---- the command ---- */

/* Prints the line for the environment; eval "$(ascope install-msprof DIR)" works, too. */
static bool print_environment(struct installation *in)
{
    struct out o;
    const char *bin = path_of(in, "bin", "");
    if (!bin || !out_open_memory(&o, &in->error))
        return false;
    out_lit(&o, "export PATH=");
    put_quoted(&o, bin);
    out_lit(&o, ":\"$PATH\"\n");
    const bool is_whole = !o.failed_errno || error_no_memory(&in->error, "the environment");
    if (is_whole)
        fwrite(o.buf, 1, o.n, stdout);
    out_discard(&o);
    return is_whole;
}

static bool is_usable(struct installation *in, const char *dir)
{
    const char *trouble = strstr(dir, "tools") ? "\"tools\", where torch_npu and MindSpore cut the path of msprof"
                          : strchr(dir, ':')   ? "\":\", which separates directories in PATH"
                                               : NULL;
    return !trouble || error_set(&in->error, FAULT_ASKED, "%s: contains %s; choose another directory", dir, trouble);
}

/* The resolved path of DIR, which is created. NULL: see the error. */
static const char *resolve(struct installation *in, const char *given)
{
    char full[PATH_MAX];
    struct stat st;
    char *below = arena_printf(in->a->mem, "%s/", given);
    if (!below)
        return error_no_memory(&in->error, "a path"), NULL;
    if (destination_is_trap(given))
        return install_msprof_fail(in, given, "used", EACCES), NULL;
    if (!in->a->remove && stat(given, &st) != 0 && !(is_usable(in, given) && make_folders(in, below)))
        return NULL;
    if (!realpath(given, full))
        return install_msprof_fail(in, given, "found", errno), NULL;
    return in->a->remove || is_usable(in, full) ? arena_text(in->a->mem, full, strlen(full)) : NULL;
}

int run_install_msprof(struct arguments *a)
{
    const unsigned dialect = arguments_have(a, OPT_SCRIPT_DIALECT) ? (unsigned)a->options.dialect : DIALECT_CURRENT;
    struct installation in = { .a = a, .dialect = option_rows[OPT_SCRIPT_DIALECT].choice[dialect] };
    if (a->n_words != 1) {
        complain("%s; give one directory: ascope install-msprof DIR",
                 a->n_words == 0 ? "missing directory" : "too many arguments");
        return exit_code(a->face, STATUS_USAGE);
    }
    const char *given = path_expand(a, "DIR", a->word[0]);
    if (!given)
        return exit_code(a->face, STATUS_PATH);
    umask(022); /* as install(1) does: other users may run the scripts */
    if (own_path(in.program))
        in.dir = resolve(&in, given);
    else
        install_msprof_fail(&in, "ascope", "found", errno);
    const bool is_done =
        in.dir && (a->remove ? uninstall(&in) : is_free(&in) && install(&in) && print_environment(&in));
    if (!is_done)
        complain("%s", in.error.text);
    return exit_code(a->face, is_done ? STATUS_DONE : in.error.fault == FAULT_ASKED ? STATUS_PATH : STATUS_NOTHING);
}
