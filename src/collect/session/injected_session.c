/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/injected_session.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ascope/session.h"
#include "base/text/path_name.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "collect/session/recorder_session.h"

/* Appends the name of the collection to a file, by which the collector finds it (run/run_cuda.c). */
static void path_note(const char *dir, const char *collector, const char *path)
{
    char file[PATH_MAX], line[NAME_MAX + 2];
    const int n = snprintf(line, sizeof line, "%s\n", path_name(path));
    if (snprintf(file, sizeof file, "%s/%s_profiling_output_record", dir, collector) >= (int)sizeof file)
        return;
    const int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        message(ASCOPE_WARNING, "%s: cannot be written; ascope run will not find %s", file, path);
    if (fd >= 0)
        close(fd);
}

bool injected_is_asked(const char *variable, const char **where)
{
    *where = secure_getenv(variable);
    return *where && strchr(*where, ':') && !session_options();
}

bool injected_begin(const char *where, const char *device)
{
    char collector[16];
    struct ascope_options o;
    struct ascope_error e = { "" };
    const char *const dir = strchr(where, ':') + 1;
    snprintf(collector, sizeof collector, "%.*s", (int)(dir - 1 - where), where);
    host_clock_init();
    ascope_options_init(&o);
    o.parent_dir = dir;
    o.layout = ASCOPE_LAYOUT_PROF;
    o.device = device;
    o.mstx = true;
    struct ascope_session *const s = ascope_session_new(&o, &e);
    const bool is_well = s && ascope_session_start(s, &e);
    if (!is_well)
        message(ASCOPE_WARNING, "device %s is not recorded: %s", device, e.text);
    if (is_well && s->n_devices > 0) {
        path_note(dir, collector, ascope_session_path(s));
        return true;
    }
    ascope_session_discard(s); /* the reason was reported already */
    return false;
}
