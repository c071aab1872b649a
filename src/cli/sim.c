#include "cli/sim.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/sim.h"

enum { EXIT_USAGE = 2 };
enum value { VALUE_NONE, VALUE_NUMBER, VALUE_TEXT, VALUE_SWITCH };

/* clang-format off */
static const struct row {
    const char *name, *argument, *help;
    enum value value;
    size_t at; /* offset in struct sim_options */
    uint8_t width;
    uint64_t unit; /* a number counts these */
} rows[] = {
#define NUMBER(member) VALUE_NUMBER, offsetof(struct sim_options, member), sizeof((struct sim_options){ 0 }.member)
#define SWITCH(member) VALUE_SWITCH, offsetof(struct sim_options, member), sizeof(bool)
#define TEXT(member) VALUE_TEXT, offsetof(struct sim_options, member), sizeof(char *)
    { "out", "DIR", "directory for the PROF directories (default: here)", TEXT(out_dir), 1 },
    { "seed", "S", "same seed, same bytes (default: 1)", NUMBER(seed), 1 },
    { "kernels", "N", "operators launched one by one, over all devices (default: 150)", NUMBER(kernels), 1 },
    { "steps", "N", "training steps (default: 3)", NUMBER(steps), 1 },
    { "devices", "N", "devices of a process (default: 1)", NUMBER(devices), 1 },
    { "processes", "N", "processes, each with a PROF directory of its own (default: 1)", NUMBER(processes), 1 },
    { "platform", "P", "chip, as info.json numbers it (default: 5)", NUMBER(platform), 1 },
    { "mhz", "F", "frequency of the devices' counter (default: 50)", NUMBER(counter_mhz), 1 },
    { "metrics", "NAME", "group of AI core counters (default: PipeUtilization)", TEXT(metrics), 1 },
    { "slice-kib", "N", "where streams are cut (default: 2048)", NUMBER(slice_bytes), 1024 },
    { "comm", "=on|off", "collectives over 8 ranks (default: on)", SWITCH(comm), 1 },
    { "graphs", "=on|off", "a loaded and a captured graph (default: on)", SWITCH(graphs), 1 },
    { "copies", "=on|off", "copies between host and device (default: on)", SWITCH(copies), 1 },
    { "marks", "=on|off", "marks of the user (default: on)", SWITCH(marks), 1 },
    { "samplers", "=on|off", "hardware counters and operating systems (default: on)", SWITCH(samplers), 1 },
    { "sample-based", "=on|off", "AI core counters by time, not by task (default: off)", SWITCH(sample_based), 1 },
    { "tiling", "=on|off", "blocks of some kernels are told by the device (default: off)", SWITCH(tiling), 1 },
    { "level0", "=on|off", "names and times only (default: off)", SWITCH(level0), 1 },
    { "help", NULL, "this text", VALUE_NONE, 0, 0, 1 },
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows };

static void help(FILE *to)
{
    fputs("usage: ascope sim [options]\n\nWrites PROF directories with simulated data.\n\n", to);
    for (size_t i = 0; i < ROWS; i++) {
        char left[40];
        snprintf(left, sizeof left, "--%s%s%s", rows[i].name,
                 rows[i].argument && rows[i].value != VALUE_SWITCH ? " " : "",
                 rows[i].argument ? rows[i].argument : "");
        fprintf(to, "  %-22s %s\n", left, rows[i].help);
    }
    fputs("\ngroups of counters:", to);
    for (size_t i = 0; sim_metrics_name(i); i++)
        fprintf(to, " %s", sim_metrics_name(i));
    fputc('\n', to);
}

static bool number_read(const struct row *r, const char *text, uint8_t *into)
{
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 0);
    const uint64_t most = r->width == 8 ? UINT64_MAX : (1ull << (8 * r->width)) - 1;
    if (errno != 0 || *text == '-' || end == text || *end || n > most / r->unit)
        return false;
    const uint64_t value = n * r->unit;
    memcpy(into + r->at, &value, r->width);
    return true;
}

static bool option_read(const struct row *r, const char *text, struct sim_options *o)
{
    uint8_t *into = (uint8_t *)o;
    if (r->value == VALUE_NUMBER)
        return number_read(r, text, into);
    if (r->value == VALUE_TEXT) {
        memcpy(into + r->at, &text, sizeof text);
        return true;
    }
    const bool is_on = !text || strcmp(text, "on") == 0;
    memcpy(into + r->at, &is_on, sizeof is_on);
    return is_on || strcmp(text, "off") == 0;
}

int cli_sim(int argc, char **argv)
{
    struct sim_options o = sim_defaults;
    struct option longs[ROWS + 1] = { 0 };
    for (int i = 0; i < ROWS; i++) { /* a switch may stand alone: --comm is --comm=on */
        const int takes = rows[i].value == VALUE_NONE     ? no_argument
                          : rows[i].value == VALUE_SWITCH ? optional_argument
                                                          : required_argument;
        longs[i] = (struct option){ rows[i].name, takes, NULL, 1 + i };
    }
    optind = 0;
    for (int found; (found = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (found == '?')
            return EXIT_USAGE;
        const struct row *r = &rows[found - 1];
        if (r->value == VALUE_NONE) {
            help(stdout);
            return EXIT_SUCCESS;
        }
        if (!option_read(r, optarg, &o)) {
            fprintf(stderr, "ascope sim: --%s %s: wanted %s\n", r->name, optarg, r->argument);
            return EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "ascope sim: %s: not an option; see ascope sim --help\n", argv[optind]);
        return EXIT_USAGE;
    }

    struct error e = { 0 };
    char path[PATH_MAX];
    if (!sim_write(&o, path, sizeof path, &e)) {
        fprintf(stderr, "ascope sim: %s\n", e.text);
        return e.fault == FAULT_ASKED ? EXIT_USAGE : EXIT_FAILURE;
    }
    puts(path);
    return EXIT_SUCCESS;
}
