/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#ifdef HAVE_LTTNG

/* The headers of LTTng do not keep our rules about conversions and shadows. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "record_lttng_events.h"
#pragma GCC diagnostic pop

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t daemon_pid;

const char *lttng_absent(void)
{
    return NULL;
}

static bool command(const char *text)
{
    return system(text) == 0;
}

static bool is_enabled(void)
{
    return lttng_ust_tracepoint_enabled(ascope_bench, range_begin);
}

bool lttng_start(const char *dir, const char **why)
{
    enum { WAIT_MS = 5000, LOOK_MS = 50 };
    *why = "the command lttng is not installed";
    if (!command("command -v lttng lttng-sessiond >/dev/null"))
        return false;
    daemon_pid = fork();
    if (daemon_pid == 0) {
        execlp("lttng-sessiond", "lttng-sessiond", "--no-kernel", "--quiet", (char *)NULL);
        _exit(127);
    }
    char text[1024];
    snprintf(
        text, sizeof text,
        "for i in 1 2 3 4 5 6 7 8 9 10; do lttng create ascope-bench --output='%s/lttng' && break; sleep 0.5; done "
        ">/dev/null 2>&1 && lttng enable-channel --userspace --subbuf-size=4M --num-subbuf=8 bench >/dev/null 2>&1 && "
        "lttng enable-event --userspace --channel=bench 'ascope_bench:*' >/dev/null 2>&1 && lttng start >/dev/null 2>&1",
        dir);
    *why = "its daemon takes no session";
    if (!command(text)) {
        lttng_stop();
        return false;
    }
    for (int ms = 0; ms < WAIT_MS && !is_enabled(); ms += LOOK_MS)
        usleep(LOOK_MS * 1000);
    *why = "its daemon does not find this program";
    if (!is_enabled())
        lttng_stop();
    return is_enabled();
}

void lttng_stop(void)
{
    command("lttng destroy ascope-bench >/dev/null 2>&1");
    if (daemon_pid > 0) {
        kill(daemon_pid, SIGTERM);
        waitpid(daemon_pid, NULL, 0);
    }
    daemon_pid = 0;
}

void lttng_range(const char *message, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        lttng_ust_tracepoint(ascope_bench, range_begin, i, 1, message);
        lttng_ust_tracepoint(ascope_bench, range_end, i);
    }
}

#else

const char *lttng_absent(void)
{
    return "liblttng-ust-dev is not installed";
}

bool lttng_start(const char *dir, const char **why)
{
    (void)dir;
    *why = lttng_absent();
    return false;
}

void lttng_stop(void) {}

void lttng_range(const char *message, unsigned long n)
{
    (void)message;
    (void)n;
}

#endif
