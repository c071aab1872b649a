/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/path_name.h"
#include "run/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ascope/recorder_options.h"
#include "base/files/file.h"

/* ---- lists of words ---- */

void words_add(struct words *w, const char *word)
{
    if (w->n + 1 >= w->room) {
        const size_t room = w->room ? 2 * w->room : 32;
        char **at = arena_take(w->mem, room, sizeof *at);
        if (at && w->n > 0)
            memcpy(at, w->at, w->n * sizeof *at);
        w->at = at;
        w->room = at ? room : SIZE_MAX; /* without memory it does not grow again */
    }
    if (!w->at)
        return; /* arena_failed() reports it */
    w->at[w->n++] = (char *)word;
    w->at[w->n] = NULL;
}

/* ---- recognising Python ---- */

/* python, python3, python3.11 */
static bool is_python(const char *path)
{
    const char *name = path_name(path), *rest = name + strlen("python");
    return strncmp(name, "python", strlen("python")) == 0 && *rest != '2' && !rest[strspn(rest, "0123456789.")];
}

/* Reads the words after "python3": its options, and the script or module. False: there is no script that a front end
 * can run. */
static bool read_words(struct python_program *p, char *const *word, struct arena *mem)
{
    struct words options = { .mem = mem };
    size_t i = 0;
    for (; word[i] && word[i][0] == '-' && word[i][1]; i++) {
        if (strcmp(word[i], "--check-hash-based-pycs") == 0 && word[i + 1]) {
            words_add(&options, word[i++]);
            words_add(&options, word[i]);
            continue;
        }
        const char *letter = word[i] + 1;
        letter += strspn(letter, "bBdEIOPqsSuv");
        if (*letter == 'm') {
            if (letter > word[i] + 1)
                words_add(&options, arena_text(mem, word[i], (size_t)(letter - word[i])));
            p->is_module = true;
            p->script = letter[1] ? letter + 1 : word[++i];
            break;
        }
        if (*letter && *letter != 'W' && *letter != 'X')
            return false; /* -c has its program on the command line, -h and -V run none */
        words_add(&options, word[i]);
        if (*letter && !letter[1]) {
            if (!word[i + 1])
                return false;
            words_add(&options, word[++i]);
        }
    }
    if (!p->is_module)
        p->script = word[i];
    if (!p->script || strcmp(p->script, "-") == 0)
        return false;
    p->option = options.at;
    p->n_options = options.n;
    p->argument = word + i + 1;
    return !arena_failed(mem);
}

/* Reads the interpreter and its options from "#!/usr/bin/env python3 -u", without env. False: not a script of
 * Python. */
static bool read_first_line(int fd, struct words *words)
{
    char line[256];
    size_t got = 0;
    int why;
    if (!file_read(fd, line, sizeof line - 1, &got, &why) || got < 2 || memcmp(line, "#!", 2) != 0)
        return false;
    line[got] = 0;
    line[strcspn(line, "\n")] = 0;
    char *rest = line + 2;
    for (char *word; (word = strsep(&rest, " \t\r"));)
        if (*word && !(words->n == 0 && strcmp(path_name(word), "env") == 0) &&
            !(words->n == 0 && strcmp(word, "-S") == 0))
            words_add(words, arena_text(words->mem, word, strlen(word)));
    return words->n > 0 && words->at[0] && is_python(words->at[0]);
}

/* The path at which execvp() would find a program; NULL: it would not. */
static const char *find_program(const char *name, struct arena *mem)
{
    if (strchr(name, '/'))
        return name;
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/bin:/usr/bin"; *at;) {
        const size_t len = strcspn(at, ":");
        const char *full = arena_printf(mem, "%.*s%s%s", (int)len, at, len > 0 ? "/" : "", name);
        if (full && access(full, X_OK) == 0)
            return full;
        at += len + (at[len] == ':');
    }
    return NULL;
}

static bool read_script(struct python_program *p, char *const *program, struct arena *mem)
{
    const char *path = find_program(program[0], mem);
    struct stat st;
    struct words words = { .mem = mem };
    int why;
    const int fd = path ? file_open(AT_FDCWD, path, &st, &why) : -1;
    const bool is_ours = fd >= 0 && read_first_line(fd, &words);
    if (fd >= 0)
        close(fd);
    if (!is_ours)
        return false;
    p->interpreter = words.at[0];
    words_add(&words, path);
    for (size_t i = 1; program[i]; i++)
        words_add(&words, program[i]);
    return words.at && read_words(p, words.at + 1, mem);
}

/* ---- torchrun, msrun ---- */

static bool is_launcher(const struct python_program *p)
{
    static const char *const modules[] = { "torch.distributed.run", "torch.distributed.launch" };
    for (size_t i = 0; p->is_module && i < sizeof modules / sizeof *modules; i++)
        if (strcmp(p->script, modules[i]) == 0)
            return true;
    return !p->is_module &&
           (strcmp(path_name(p->script), "torchrun") == 0 || strcmp(path_name(p->script), "msrun") == 0);
}

/* An option of torchrun, written with either dash: "--nproc_per_node=2" is "nproc-per-node". */
static bool is_option(const char *word, const char *name)
{
    word += strspn(word, "-");
    for (; *name; name++, word++)
        if (*word != *name && !(*name == '-' && *word == '_'))
            return false;
    return !*word || *word == '=';
}

/* msrun accepts "python" or "python3" before the script and uses "python" otherwise. It has no option "-m", so that
 * the interpreter has to be written. */
static bool read_interpreter(struct words *launcher, char *const **word)
{
    static const char *const names[] = { "python", "python3" };
    const char *with = names[0];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (**word && strcmp(**word, names[i]) == 0) {
            with = names[i];
            (*word)++;
            break;
        }
    words_add(launcher, with);
    return **word && (**word)[0] != '-' && strcmp(**word, "pytest") != 0;
}

/* Finds the script that the launcher starts in each rank. False: it does not start a Python script. */
static bool read_launched(struct python_program *p, struct arena *mem)
{
    const bool is_msrun = !p->is_module && strcmp(path_name(p->script), "msrun") == 0;
    static const char *const flags[] = { "standalone", "use-env", "virtual-local-rank" }; /* all others have a value */
    struct words launcher = { .mem = mem };
    char *const *word = p->argument;
    if (p->is_module)
        words_add(&launcher, "-m");
    words_add(&launcher, p->script);
    p->is_module = false;
    for (; *word && (*word)[0] == '-'; word++) {
        if (strcmp(*word, "--") == 0) { /* ends the options of the launcher */
            word++;
            break;
        }
        if (!is_msrun && is_option(*word, "run-path"))
            continue; /* selects how the script is started, which the front end does instead */
        if (!is_msrun && (strcmp(*word, "-m") == 0 || is_option(*word, "module"))) {
            p->is_module = true;
            continue;
        }
        if (is_option(*word, "no-python") || is_option(*word, "help") || strcmp(*word, "-h") == 0)
            return false;
        bool has_value =
            !strchr(*word, '=') && ((*word)[1] == '-' || !(*word)[2]); /* "-t 3" has a separate value, "-t3" has not */
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            has_value = has_value && !is_option(*word, flags[i]);
        words_add(&launcher, *word);
        if (has_value && word[1])
            words_add(&launcher, *++word);
    }
    if (is_msrun && !read_interpreter(&launcher, &word))
        return false;
    if (!*word || arena_failed(mem))
        return false;
    p->launcher = launcher.at;
    p->n_launcher = launcher.n;
    p->script = *word;
    p->argument = word + 1;
    return true;
}

bool python_read(struct python_program *out, char *const *program, struct arena *mem)
{
    struct python_program p = { 0 };
    bool is_one;
    if (is_python(program[0])) {
        p.interpreter = program[0];
        is_one = read_words(&p, program + 1, mem);
    } else {
        is_one = read_script(&p, program, mem);
    }
    if (!is_one || (is_launcher(&p) && !read_launched(&p, mem)))
        return false;
    *out = p;
    return !arena_failed(mem);
}

/* ---- the front end's command line ---- */

/* The options of the recorder that front ends have, too. */
static bool is_of_front_end(const struct ascope_option *row)
{
    return row->section != ASCOPE_SECTION_NONE && !row->is_old;
}

/* "--with-stack"; of a boolean that is on by default "--no-data-simplification". NULL: no memory. */
static const char *option_word(const struct ascope_option *row, const char *by_default, struct arena *mem)
{
    const bool is_on = row->kind == ASCOPE_OPTION_BOOLEAN && by_default && strcmp(by_default, "true") == 0;
    char *const word = arena_printf(mem, is_on ? "--no-%s" : "--%s", row->names[0].name);
    for (char *c = word; c && *c; c++)
        *c = *c == '_' ? '-' : *c;
    return word;
}

enum python_option python_option(const char *word, struct arena *mem)
{
    struct ascope_options initial;
    ascope_options_init(&initial);
    const struct ascope_option *row;
    const size_t n = strcspn(word, "=");
    for (size_t i = 0; (row = ascope_option_at(i)); i++) {
        char *by_default = ascope_options_get(&initial, row->names[0].name);
        const char *known = is_of_front_end(row) ? option_word(row, by_default, mem) : NULL;
        free(by_default);
        if (!known || strlen(known) != n || strncmp(known, word, n) != 0)
            continue;
        if (row->kind == ASCOPE_OPTION_BOOLEAN)
            return word[n] ? PYTHON_OPTION_UNKNOWN : PYTHON_OPTION_COMPLETE;
        return word[n] ? PYTHON_OPTION_COMPLETE : PYTHON_OPTION_LACKS_VALUE;
    }
    return PYTHON_OPTION_UNKNOWN;
}

/* Adds the options of front ends that differ from their default. */
static void add_options(struct words *w, const struct ascope_options *o)
{
    struct ascope_options initial;
    ascope_options_init(&initial);
    const struct ascope_option *row;
    for (size_t i = 0; (row = ascope_option_at(i)); i++) {
        const char *name = row->names[0].name;
        char *now = ascope_options_get(o, name), *by_default = ascope_options_get(&initial, name);
        if (is_of_front_end(row) && now && (!by_default || strcmp(now, by_default) != 0)) {
            words_add(w, option_word(row, by_default, w->mem));
            if (row->kind != ASCOPE_OPTION_BOOLEAN)
                words_add(w, arena_text(w->mem, now, strlen(now)));
        }
        free(now);
        free(by_default);
    }
}

/* What and where is recorded. */
static void add_recording(struct words *w, const struct python_run *r)
{
    const struct ascope_options *o = r->recorder;
    const struct {
        const char *name, *value;
    } texts[] = { { "--out", o->parent_dir }, { "--worker-name", o->worker_name }, { "--device", o->device } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value) {
            words_add(w, texts[i].name);
            words_add(w, texts[i].value);
        }
    if (r->is_raw)
        words_add(w, "--no-analyse");
    if (r->is_quiet)
        words_add(w, "--quiet");
    add_options(w, o);
    for (char *const *word = r->options; word && *word; word++)
        words_add(w, *word);
}

char **python_command(const struct python_program *p, const struct python_run *r, struct arena *mem)
{
    struct words w = { .mem = mem };
    words_add(&w, p->interpreter);
    for (size_t i = 0; i < p->n_options; i++)
        words_add(&w, p->option[i]);
    for (size_t i = 0; i < p->n_launcher; i++)
        words_add(&w, p->launcher[i]);
    words_add(&w, "-m");
    words_add(&w, "ascope");
    words_add(&w, r->monitor ? "run" : "record");
    if (r->monitor) {
        words_add(&w, "--monitor");
        words_add(&w, r->monitor);
    } else {
        add_recording(&w, r);
    }
    if (p->is_module)
        words_add(&w, "-m");
    words_add(&w, p->script);
    for (char *const *word = p->argument; *word; word++)
        words_add(&w, *word);
    return arena_failed(mem) ? NULL : w.at;
}
