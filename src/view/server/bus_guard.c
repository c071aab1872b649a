/* SPDX-License-Identifier: Apache-2.0 */
#include "view/server/bus_guard.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t page_bytes; /* sysconf() must not be called in a signal handler */

static void on_bus(int signal, siginfo_t *info, void *context)
{
    const int was = errno;
    (void)context;
    void *page = (void *)((uintptr_t)info->si_addr & ~(page_bytes - 1));
    if (info->si_code != BUS_ADRERR ||
        mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        struct sigaction none = { .sa_handler = SIG_DFL };
        sigaction(signal, &none, NULL); /* the signal is raised again and ends the program */
    }
    errno = was;
}

bool bus_guard_set(void)
{
    struct sigaction ours = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&ours.sa_mask);
    return sigaction(SIGBUS, &ours, NULL) == 0;
}

void bus_guard_here(void)
{
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
}
