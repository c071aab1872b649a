/* SPDX-License-Identifier: Apache-2.0 */
#include "run/python_program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ascope/recorder_options.h"
#include "base/file.h"

/* ---- lists of words ---- */

void words_add(struct words *w, const char *word)
{
    if (w->n + 1 >= w->room) {
        const size_t room = w->room ? 2 * w->room : 32;
        char **at = arena_take(w->mem, room, sizeof *at);
        if (at && w->n > 0)
            memcpy(at, w->at, w->n * sizeof *at);
        w->at = at;
        w->room = at ? room : 0;
    }
    if (!w->at)
        return; /* the arena knows */
    w->at[w->n++] = (char *)word;
    w->at[w->n] = NULL;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- what is Python ---- */

/* python, python3, python3.11 */
static bool is_python(const char *path)
{
    const char *name = base_of(path), *rest = name + strlen("python");
    return strncmp(name, "python", strlen("python")) == 0 && *rest != '2' && !rest[strspn(rest, "0123456789.")];
}

/* The words of "python3" behind its name: its options, and the script or the module. False: nothing that we can start. */
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
            return false; /* -c is a program of its own, -h and -V start none */
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

/* "#!/usr/bin/env python3 -u": the words behind "#!", and behind env. False: not Python, or no script. */
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
        if (*word && !(words->n == 0 && strcmp(base_of(word), "env") == 0) &&
            !(words->n == 0 && strcmp(word, "-S") == 0))
            words_add(words, arena_text(words->mem, word, strlen(word)));
    return words->n > 0 && words->at[0] && is_python(words->at[0]);
}

/* Where execvp() would find a program; NULL: nowhere. */
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
    return !p->is_module && (strcmp(base_of(p->script), "torchrun") == 0 || strcmp(base_of(p->script), "msrun") == 0);
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

/* msrun starts a script by the interpreter in front of it, "python" or "python3", or without one by "python"; it takes no "-m" itself. */
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

/* Looks for the script that the launcher starts in each rank. False: it starts none in Python. */
static bool read_launched(struct python_program *p, struct arena *mem)
{
    const bool is_msrun = !p->is_module && strcmp(base_of(p->script), "msrun") == 0;
    static const char *const alone[] = { "standalone", "use-env" }; /* others have a value */
    struct words launcher = { .mem = mem };
    char *const *word = p->argument;
    if (p->is_module)
        words_add(&launcher, "-m");
    words_add(&launcher, p->script);
    p->is_module = false;
    for (; *word && (*word)[0] == '-'; word++) {
        if (!is_msrun && is_option(*word, "run-path"))
            continue; /* another way to start a script, instead of ours */
        if (!is_msrun && (strcmp(*word, "-m") == 0 || is_option(*word, "module"))) {
            p->is_module = true;
            continue;
        }
        if (is_option(*word, "no-python") || is_option(*word, "help") || strcmp(*word, "-h") == 0)
            return false;
        bool has_value = !strchr(*word, '=') && ((*word)[1] == '-' || !(*word)[2]); /* of "-t" "3", not of "-t3" */
        for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
            has_value = has_value && !is_option(*word, alone[i]);
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

/* Options that PyTorch's profiler has, too, and that are not as they are by default. */
static void add_options(struct words *w, const struct ascope_options *o)
{
    struct ascope_options initial;
    ascope_options_init(&initial);
    const struct ascope_option *row;
    for (size_t i = 0; (row = ascope_option_at(i)); i++) {
        const char *name = row->names[0].name;
        char *now = ascope_options_get(o, name), *then = ascope_options_get(&initial, name);
        const bool is_ours = row->section != ASCOPE_SECTION_NONE && !row->is_old;
        if (is_ours && now && (!then || strcmp(now, then) != 0)) {
            const bool is_switch = row->kind == ASCOPE_OPTION_BOOLEAN;
            char *dashed =
                arena_printf(w->mem, is_switch && then && strcmp(then, "true") == 0 ? "--no-%s" : "--%s", name);
            for (char *c = dashed; c && *c; c++)
                *c = *c == '_' ? '-' : *c;
            words_add(w, dashed);
            if (!is_switch)
                words_add(w, arena_text(w->mem, now, strlen(now)));
        }
        free(now);
        free(then);
    }
}

char **python_command(const struct python_program *p, const struct python_run *r, struct arena *mem)
{
    struct words w = { .mem = mem };
    const struct ascope_options *o = r->recorder;
    const struct {
        const char *name, *value;
    } texts[] = { { "--out", o->parent_dir }, { "--worker-name", o->worker_name }, { "--device", o->device } };
    words_add(&w, p->interpreter);
    for (size_t i = 0; i < p->n_options; i++)
        words_add(&w, p->option[i]);
    for (size_t i = 0; i < p->n_launcher; i++)
        words_add(&w, p->launcher[i]);
    words_add(&w, "-m");
    words_add(&w, "ascope");
    words_add(&w, "record");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value) {
            words_add(&w, texts[i].name);
            words_add(&w, texts[i].value);
        }
    if (r->is_raw)
        words_add(&w, "--no-analyse");
    if (r->is_quiet)
        words_add(&w, "--quiet");
    add_options(&w, o);
    if (p->is_module)
        words_add(&w, "-m");
    words_add(&w, p->script);
    for (char *const *word = p->argument; *word; word++)
        words_add(&w, *word);
    return arena_failed(mem) ? NULL : w.at;
}
