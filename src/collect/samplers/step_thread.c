/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samplers/step_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect/ring/record_bytes.h"
#include "collect/ring/ring_inline.h"
#include "collect/session/host_clock.h"
#include "collect/write/streams.h"

/* "NS-ON-A-PROCESSOR NS-WAITING-FOR-ONE TURNS": false where the kernel does not count, or /proc is not there. */
static bool step_schedstat_read(struct step_thread *t)
{
    char text[80], *end;
    const int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = TEMP_FAILURE_RETRY(read(fd, text, sizeof text - 1));
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    t->cpu_ns = strtoull(text, &end, 10);
    t->ready_ns = strtoull(end, &end, 10);
    return t->cpu_ns > 0;
}

/* The clock and the counts are of one moment: another thread's turn between them would be in one of the two only. */
void step_thread_begin(struct step_thread *t)
{
    enum { TRIES = 4 };
    struct rusage use, after = { 0 };
    t->begin = 0;
    for (int i = 0; i < TRIES && (i == 0 || after.ru_nivcsw != use.ru_nivcsw); i++) {
        if (getrusage(RUSAGE_THREAD, &use) != 0 || !step_schedstat_read(t))
            return;
        t->begin = host_clock_now();
        if (getrusage(RUSAGE_THREAD, &after) != 0)
            break;
    }
    t->minor = (uint64_t)use.ru_minflt;
    t->major = (uint64_t)use.ru_majflt;
    t->yielded = (uint64_t)use.ru_nvcsw;
    t->pushed = (uint64_t)use.ru_nivcsw;
    t->thread = ring_thread_inline();
}

void step_thread_end(struct step_thread *t, uint64_t step)
{
    struct step_thread now;
    step_thread_begin(&now);
    if (!t->begin || !now.begin || now.thread != t->thread)
        return;
    const struct ring_slot slot = ring_put(STREAM_STEP_THREAD, 0, sizeof(struct step_thread_bytes));
    if (!slot.at)
        return;
    *(struct step_thread_bytes *)slot.at = (struct step_thread_bytes){
        .begin = t->begin,
        .end = now.begin,
        .thread = t->thread,
        .step = step,
        .cpu_ns = now.cpu_ns - t->cpu_ns,
        .ready_ns = now.ready_ns - t->ready_ns,
        .minor = (uint32_t)(now.minor - t->minor),
        .major = (uint32_t)(now.major - t->major),
        .yielded = (uint32_t)(now.yielded - t->yielded),
        .pushed = (uint32_t)(now.pushed - t->pushed),
    };
    ring_done(slot);
}
