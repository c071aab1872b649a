/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines that start Python, and what `ascope run` makes of them. */
#include "test.h"

#include <limits.h>
#include <sys/stat.h>

#include "folder.h"
#include "run/run.h"

enum { WORDS_MOST = 40 };

/* Blanks between words. */
static char **split(char *line, char **word)
{
    size_t n = 0;
    for (char *rest = line, *one; (one = strsep(&rest, " "));)
        word[n++] = one;
    word[n] = NULL;
    return word;
}

static void join(char *out, size_t size, char *const *word)
{
    size_t n = 0;
    *out = 0;
    for (; word && *word; word++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? " " : "", *word);
}

/* "": another program. */
static void command_of(char *out, size_t size, const char *line, const struct python_run *r)
{
    char copy[400], *word[WORDS_MOST];
    struct python_program p;
    struct arena *mem = arena_new();
    snprintf(copy, sizeof copy, "%s", line);
    *out = 0;
    if (python_read(&p, split(copy, word), mem))
        join(out, size, python_command(&p, r, mem));
    arena_free(mem);
}

static struct ascope_options nothing_asked(void)
{
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = o.worker_name = o.device = NULL;
    return o;
}

static void a_script_is_started_under_the_front_end(void **state)
{
    (void)state;
#define RECORD "-m ascope record "
    static const struct {
        const char *what, *in, *out;
    } row[] = {
        { "a script", "python3 train.py", "python3 " RECORD "train.py" },
        { "with arguments", "python train.py -c --out x", "python " RECORD "train.py -c --out x" },
        { "by path and version", "/opt/bin/python3.11 a/train.py", "/opt/bin/python3.11 " RECORD "a/train.py" },
        { "with options", "python3 -u -W error -Xdev -O train.py", "python3 -u -W error -Xdev -O " RECORD "train.py" },
        { "options in one word", "python3 -uBX utf8 train.py", "python3 -uBX utf8 " RECORD "train.py" },
        { "a long option", "python3 --check-hash-based-pycs never t.py",
          "python3 --check-hash-based-pycs never " RECORD "t.py" },
        { "a module", "python3 -m pkg.train -m x", "python3 " RECORD "-m pkg.train -m x" },
        { "a module behind options", "python3 -um pkg.train", "python3 -u " RECORD "-m pkg.train" },
        { "a module in one word", "python3 -Bmpkg.train x", "python3 -B " RECORD "-m pkg.train x" },
        { "ranks", "python3 -m torch.distributed.run --nproc_per_node=2 --standalone train.py --lr 1",
          "python3 -m torch.distributed.run --nproc_per_node=2 --standalone " RECORD "train.py --lr 1" },
        { "ranks, values in words of their own",
          "python3 -u -m torch.distributed.run --nnodes 2 --rdzv-backend c10d -t 3 --use_env train.py",
          "python3 -u -m torch.distributed.run --nnodes 2 --rdzv-backend c10d -t 3 --use_env " RECORD "train.py" },
        { "ranks of a module", "python3 -m torch.distributed.launch -m --nproc-per-node 2 pkg.train -m",
          "python3 -m torch.distributed.launch --nproc-per-node 2 " RECORD "-m pkg.train -m" },
        { "ranks, a value in the same word", "python3 -m torch.distributed.run -t3 -r 0:1 --run-path train.py x",
          "python3 -m torch.distributed.run -t3 -r 0:1 " RECORD "train.py x" },
        { "ranks, a newer option without a value", "python3 -m torch.distributed.run --virtual-local-rank train.py x",
          "python3 -m torch.distributed.run --virtual-local-rank " RECORD "train.py x" },
        { "ranks, options that end with --", "python3 -m torch.distributed.run --nnodes 2 -- train.py x",
          "python3 -m torch.distributed.run --nnodes 2 " RECORD "train.py x" },
        { "ranks of a module behind --", "python3 -m torch.distributed.run -m -- pkg.train x",
          "python3 -m torch.distributed.run " RECORD "-m pkg.train x" },
        { "ranks of nothing behind --", "python3 -m torch.distributed.run --", "" },
        { "ranks of another program", "python3 -m torch.distributed.run --no-python ./app", "" },
        { "ranks of nothing", "python3 -m torch.distributed.run --nnodes 2", "" },
        { "code on the command line", "python3 -c print(1)", "" },
        { "code behind options", "python3 -uc print(1)", "" },
        { "standard input", "python3 -", "" },
        { "nothing", "python3", "" },
        { "a module without a name", "python3 -m", "" },
        { "an option without its value", "python3 -X", "" },
        { "its version", "python3 -V", "" },
        { "its help", "python3 --help-all", "" },
        { "an old one", "python2 train.py", "" },
        { "an old one with its version", "python2.7 train.py", "" },
        { "a name that only begins so", "python3-config --help", "" },
        { "another program", "/bin/true train.py", "" },
        { "a program that is missing", "./nowhere train.py", "" },
    };
    const struct ascope_options o = nothing_asked();
    const struct python_run r = { .recorder = &o };
    for (size_t i = 0; i < ROWS(row); i++) {
        char out[600];
        print_message("  %s\n", row[i].what);
        command_of(out, sizeof out, row[i].in, &r);
        assert_string_equal(out, row[i].out);
    }
}

static void write_script(const char *name, const char *text, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

static void a_first_line_may_name_python(void **state)
{
    (void)state;
    static const struct {
        const char *what, *name, *line, *begins; /* "": another program */
    } row[] = {
        { "by path", "one", "#!/usr/bin/python3\n", "/usr/bin/python3 " RECORD },
        { "with an option", "one", "#!/usr/bin/python3 -u\n", "/usr/bin/python3 -u " RECORD },
        { "through env", "one", "#!/usr/bin/env python3\nprint()\n", "python3 " RECORD },
        { "through env, with options", "one", "#! /usr/bin/env -S python3.11 -u -B\r\n", "python3.11 -u -B " RECORD },
        { "another interpreter", "one", "#!/bin/sh\n", "" },
        { "env of another one", "one", "#!/usr/bin/env bash\n", "" },
        { "nothing", "one", "#!\n", "" },
        { "nothing but env", "one", "#!/usr/bin/env\n", "" },
        { "no first line", "one", "import torch\n", "" },
        { "empty", "one", "", "" },
    };
    const struct ascope_options o = nothing_asked();
    const struct python_run r = { .recorder = &o };
    for (size_t i = 0; i < ROWS(row); i++) {
        char path[PATH_MAX], line[PATH_MAX + 40], wanted[PATH_MAX + 100], out[PATH_MAX + 100];
        print_message("  %s\n", row[i].what);
        write_script(row[i].name, row[i].line, path);
        snprintf(line, sizeof line, "%s --lr 1", path);
        snprintf(wanted, sizeof wanted, "%s%s --lr 1", row[i].begins, path);
        command_of(out, sizeof out, line, &r);
        assert_string_equal(out, *row[i].begins ? wanted : "");
    }
}

static void launchers_are_found_in_the_path(void **state)
{
    (void)state;
    static const struct {
        const char *line, *launcher, *begins; /* behind the launcher; NULL: it starts no script */
    } row[] = {
        { "torchrun --nproc_per_node 2 train.py --lr 1", "torchrun", "--nproc_per_node 2 " },
        { "msrun --worker_num 8 --join=True train.py --lr 1", "msrun", "--worker_num 8 --join=True python " },
        { "msrun --worker_num=8 python3 train.py --lr 1", "msrun", "--worker_num=8 python3 " },
        { "msrun --worker_num 8 pytest test.py", "msrun", NULL },
        { "msrun --worker_num 8 python -u train.py", "msrun", NULL },
        { "msrun --worker_num 8", "msrun", NULL },
    };
    const struct ascope_options o = nothing_asked();
    const struct python_run r = { .recorder = &o };
    char *before = strdup(getenv("PATH"));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char path[PATH_MAX], out[PATH_MAX + 200], wanted[PATH_MAX + 200] = "";
        print_message("  %s\n", row[i].line);
        write_script(row[i].launcher, "#!/usr/bin/python3\n", path);
        assert_int_equal(setenv("PATH", folder, 1), 0);
        command_of(out, sizeof out, row[i].line, &r);
        setenv("PATH", before, 1);
        if (row[i].begins)
            snprintf(wanted, sizeof wanted, "/usr/bin/python3 %s %s" RECORD "train.py --lr 1", path, row[i].begins);
        assert_string_equal(out, wanted);
    }
    free(before);
}

static void options_are_passed_on(void **state)
{
    (void)state;
    char out[600];
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = "a place";
    o.device = "none";
    const struct python_run r = { .recorder = &o, .is_raw = true, .is_quiet = true };
    static const struct {
        const char *name, *value;
    } set[] = { { "with_stack", "true" },           { "profiler_level", "Level2" }, { "host_sys", "cpu,mem" },
                { "data_simplification", "false" }, { "aic_metrics", "Memory" },    { "gc_detect_threshold", "2.5" },
                { "mstx_domain_include", "a,b" },   { "export_type", "text,db" },   { "task_block", "on" },
                { "storage_limit", "300MB" } };
    for (size_t i = 0; i < ROWS(set); i++)
        ascope_options_set(&o, set[i].name, set[i].value);
    command_of(out, sizeof out, "python3 train.py", &r);
    static const char *const wanted[] = { " --out a place --device none --no-analyse --quiet ",
                                          " --with-stack ",
                                          " --profiler-level Level2 ",
                                          " --host-sys cpu,mem ",
                                          " --no-data-simplification ",
                                          " --aic-metrics Memory ",
                                          " --gc-detect-threshold 2.5 ",
                                          " --mstx-domain-include a,b ",
                                          " --export-type text,db " };
    for (size_t i = 0; i < ROWS(wanted); i++) {
        print_message("  %s in %s\n", wanted[i], out);
        assert_non_null(strstr(out, wanted[i]));
    }
    char *const given[] = { (char *)"--active", (char *)"2", NULL };
    command_of(out, sizeof out, "python3 train.py x", &(struct python_run){ .recorder = &o, .options = given });
    assert_non_null(strstr(out, " --active 2 train.py x"));
    assert_null(strstr(out, "task"));
    assert_null(strstr(out, "storage"));
    assert_null(strstr(out, "record-shapes")); /* as it is by default */
}

static void options_of_the_front_end_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        enum python_option is;
    } row[] = {
        { "--with-stack", PYTHON_OPTION_COMPLETE },
        { "--with-stack=true", PYTHON_OPTION_UNKNOWN },
        { "--with_stack", PYTHON_OPTION_UNKNOWN },
        { "--no-with-stack", PYTHON_OPTION_UNKNOWN },
        { "--data-simplification", PYTHON_OPTION_UNKNOWN },
        { "--no-data-simplification", PYTHON_OPTION_COMPLETE },
        { "--export-type=text,db", PYTHON_OPTION_COMPLETE },
        { "--export-type", PYTHON_OPTION_LACKS_VALUE },
        { "--export-type=", PYTHON_OPTION_COMPLETE },
        { "--storage-limit=300MB", PYTHON_OPTION_UNKNOWN },
        { "--", PYTHON_OPTION_UNKNOWN },
        { "", PYTHON_OPTION_UNKNOWN },
        { "with-stack", PYTHON_OPTION_UNKNOWN },
    };
    struct arena *mem = arena_new();
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].word);
        assert_int_equal(python_option(row[i].word, mem), row[i].is);
    }
    arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_the_front_end_are_known),
        cmocka_unit_test(a_script_is_started_under_the_front_end),
        cmocka_unit_test(a_first_line_may_name_python),
        cmocka_unit_test(launchers_are_found_in_the_path),
        cmocka_unit_test(options_are_passed_on),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
