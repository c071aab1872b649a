/* SPDX-License-Identifier: Apache-2.0 */
/* A monitored C job, for test_monitor.py.
 *
 *     monitor_job DIR|- EVERY_MS FILE_BYTES        -: it is not started by a call, but by the environment, if at all
 *
 * Lines of stdin: "steps N MS" (N steps that sleep so long), "iterations N", "dynamic N", "add VALUE N", "set VALUE N",
 * "rank N WORLD", "stop". Each is answered by a line: the file, or "off". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ascope/ascope.h"

static void act(const char *line)
{
    char word[20] = "";
    long long a = 0, b = 0;
    sscanf(line, "%19s %lld %lld", word, &a, &b);
    if (strcmp(word, "add") == 0)
        ascope_monitor_add((enum ascope_monitor_value)a, b);
    if (strcmp(word, "set") == 0)
        ascope_monitor_set((enum ascope_monitor_value)a, b);
    if (strcmp(word, "rank") == 0)
        ascope_monitor_rank((int32_t)a, (uint32_t)b);
    if (strcmp(word, "stop") == 0)
        ascope_monitor_stop();
    for (long long i = 0; i < a && strcmp(word, "steps") == 0; i++) {
        usleep((useconds_t)b * 1000);
        ascope_monitor_step();
    }
    for (long long i = 0; i < a && strcmp(word, "iterations") == 0; i++)
        ascope_monitor_iteration();
    for (long long i = 0; i < a && strcmp(word, "dynamic") == 0; i++)
        ascope_dynamic_step();
}

int main(int argc, char **argv)
{
    struct ascope_error e = { "" };
    struct ascope_monitor how = { .size = sizeof how, .rank = -1 };
    how.dir = argc > 1 ? argv[1] : NULL;
    how.every_ms = argc > 2 ? (uint32_t)atol(argv[2]) : 0;
    how.file_bytes = argc > 3 ? (uint64_t)atol(argv[3]) : 0;
    if (how.dir && strcmp(how.dir, "-") != 0 && !ascope_monitor_start(&how, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    for (char line[80]; fgets(line, sizeof line, stdin);) {
        act(line);
        puts(ascope_monitor_path() ? ascope_monitor_path() : "off");
        fflush(stdout);
    }
    return 0;
}
