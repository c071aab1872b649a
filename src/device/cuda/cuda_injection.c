/* SPDX-License-Identifier: Apache-2.0 */
/* Records a program that does not know ascope: while the program initialises CUDA's driver, the driver loads the
 * library that CUDA_INJECTION64_PATH names and calls InitializeInjection(). From then to the end of the process a
 * session of this process is open, in the directory that the collector (`ascope run`) has named. Only libascope.so has
 * this file. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ascope/injection.h"
#include "ascope/session.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "collect/session/recorder_session.h"
#include "device/cuda/cuda.h"
#include "device/cuda/cuda_buffers.h"

/* Appends the name of the collection to a file, by which the collector finds it (run/run_cuda.c). */
static void path_note(const char *dir, const char *collector, const char *path)
{
    char file[PATH_MAX], line[NAME_MAX + 2];
    const char *const slash = strrchr(path, '/');
    const int n = snprintf(line, sizeof line, "%s\n", slash ? slash + 1 : path);
    if (snprintf(file, sizeof file, "%s/%s_profiling_output_record", dir, collector) >= (int)sizeof file)
        return;
    const int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        message(ASCOPE_WARNING, "%s: cannot be written; ascope run will not find %s", file, path);
    if (fd >= 0)
        close(fd);
}

static void cuda_injection_begin(const char *dir, const char *collector)
{
    struct ascope_options o;
    struct ascope_error e = { "" };
    host_clock_init();
    ascope_options_init(&o);
    o.parent_dir = dir;
    o.layout = ASCOPE_LAYOUT_PROF;
    o.device = cuda_kind.name;
    o.mstx = true;
    buffers_at_first(session_end_earlier); /* the session must end before the driver does at exit */
    cuda_in_init(true);
    struct ascope_session *const s = ascope_session_new(&o, &e);
    const bool is_well = s && ascope_session_start(s, &e), has_gpu = is_well && s->n_devices > 0;
    cuda_in_init(false);
    if (!is_well)
        message(ASCOPE_WARNING, "GPUs are not recorded: %s", e.text);
    if (has_gpu)
        path_note(dir, collector, ascope_session_path(s));
    else
        ascope_session_discard(s); /* the reason was reported already */
}

/* Always returns 1: with another value the driver would not let the program use CUDA. */
int InitializeInjection(void)
{
    static atomic_flag was_called = ATOMIC_FLAG_INIT;
    const char *const at = secure_getenv("ASCOPE_CUDA_INJECTION"), *const colon = at ? strchr(at, ':') : NULL;
    char collector[16];
    if (!colon || atomic_flag_test_and_set(&was_called) || session_options()) /* it records itself */
        return 1;
    snprintf(collector, sizeof collector, "%.*s", (int)(colon - at), at);
    cuda_injection_begin(colon + 1, collector);
    return 1;
}
