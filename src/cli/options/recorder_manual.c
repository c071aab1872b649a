/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/recorder_manual.h"

#include <stdio.h>

#include "ascope/recorder_options.h"

/* Front ends by one letter, in the order of their bits. */
static const struct {
    char letter;
    const char *name;
} front_ends[] = {
    { 'P', "PyTorch: parameters of `profile`, `_ExperimentalConfig` and `tensorboard_trace_handler`" },
    { 'D', "`profiler_config.json` of PyTorch's `dynamic_profile`" },
    { 'M', "MindSpore: parameters of its profiler" },
    { 'T', "TensorFlow: keys of `profiling_options`" },
    { 'A', "keys of `profiler` in acl.json" },
    { 'C', "the msprof command, with `--` and dashes: `--task-time` is `task_time`" },
};
enum { FRONT_ENDS = sizeof front_ends / sizeof *front_ends };

static const char *const headings[] = {
    [ASCOPE_OPTIONS_WHERE] = "Where a collection is made",
    [ASCOPE_OPTIONS_WHAT] = "What frameworks ask for",
    [ASCOPE_OPTIONS_DEVICE] = "What only TensorFlow, acl.json, msprof and MindSpore ask for",
    [ASCOPE_OPTIONS_HOW] = "How it is recorded",
};

static void print_name(const struct ascope_option_name *n)
{
    printf("`%s`", n->name);
    for (size_t i = 0; n->front_ends && i < FRONT_ENDS; i++)
        if (n->front_ends & 1u << i)
            printf("%s%c", n->front_ends & ((1u << i) - 1) ? "" : " ", front_ends[i].letter);
}

static void print_row(const struct ascope_option *o)
{
    char values[400], otherwise[200];
    ascope_option_values(o, values, sizeof values);
    ascope_option_default(o, otherwise, sizeof otherwise);
    fputs("| ", stdout);
    for (const struct ascope_option_name *n = o->names; n->name; n++) {
        fputs(n > o->names ? ", " : "", stdout);
        print_name(n);
    }
    printf(" | %s | %s | %s |\n", values, otherwise, o->help);
}

void recorder_manual_print(void)
{
    const struct ascope_option *o;
    fputs(
        "# Options of a recording\n\n"
        "<!-- Made from the recorder's option table by make docs; edit src/collect/options/option_rows.c. -->\n\n"
        "Front ends pass their options on to the recorder under these names. C and C++ programs set them with\n"
        "`ascope_options_set(&o, name, value)`, other programs with `ASCOPE_RECORD_OPTIONS=\"name=value;name=value\"`; both accept every name.\n"
        "A value that is not accepted is replaced by the default, with a warning. Items of lists are separated by commas.\n"
        "Booleans are `true`, `false`, `on`, `off`, `yes`, `no`, `1`, `0`. Case does not matter.\n"
        "[collector.md](collector.md#options) has notes on some of them.\n\n"
        "A letter behind a name means that the documents of that front end have it:\n\n| letter | front end |\n|---|---|\n",
        stdout);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        printf("| %c | %s |\n", front_ends[i].letter, front_ends[i].name);
    for (uint32_t group = 0; group < sizeof headings / sizeof *headings; group++) {
        printf("\n## %s\n\n| name | values | default | effect |\n|---|---|---|---|\n", headings[group]);
        for (size_t i = 0; (o = ascope_option_at(i)); i++)
            if (o->group == group)
                print_row(o);
    }
}
