/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/rings_left.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/ring/ring_inline.h"
#include "collect/ring/rings_file.h"

static struct guarded {
    int number;
    struct sigaction was; /* the handler that the program had */
    bool is_set;          /* our handler was set; a later handler of the program may still call it */
} guarded[] = { { .number = SIGBUS }, { .number = SIGSEGV } };
enum { GUARDED = sizeof guarded / sizeof *guarded };

static bool is_inside(const void *at, const void *base, uint64_t bytes)
{
    return base && (uintptr_t)at - (uintptr_t)base < bytes;
}

/* Not mmap(), which may be wrapped: to record the call in rings that were cut, too, would be a second fault, and the
 * end. */
static bool replace(void *base, uint64_t bytes)
{
    const long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, rights = PROT_READ | PROT_WRITE;
    if (syscall(SYS_mmap, base, bytes, rights, flags, -1L, 0L) == -1)
        return false;
    if (!ring_process_is_known())
        return true; /* a forked child: it has no session that would have to end */
    syscall(SYS_madvise, base, bytes, (long)MADV_DONTFORK);
    rings_end_early();
    return true;
}

/* True: the address belongs to the rings, and is plain memory now. */
static bool rings_replace(const void *at)
{
    if (is_inside(at, rings.front, rings_front_bytes()))
        return replace(rings.front, rings_front_bytes());
    for (uint32_t i = 0; i < RINGS_MOST; i++) {
        uint8_t *base = atomic_load_explicit(&rings.base[i], memory_order_acquire);
        if (is_inside(at, base, rings_addresses()))
            return replace(base, rings_addresses());
    }
    return false;
}

static bool is_handler(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

/* Does what would have happened without us. If the program had no handler, the instruction is executed again, and ends
 * the program. */
static void pass_on(const struct sigaction *was, int number, siginfo_t *info, void *context)
{
    const bool is_sent = info->si_code <= 0; /* sent by kill(), not caused by a memory access */
    if (!is_handler(was) && was->sa_handler == SIG_IGN && is_sent)
        return;
    if (!is_handler(was) || (unsigned)was->sa_flags & (unsigned)SA_RESETHAND)
        signal(number, SIG_DFL);
    if (was->sa_flags & SA_SIGINFO)
        was->sa_sigaction(number, info, context);
    else if (is_handler(was))
        was->sa_handler(number);
    else if (is_sent)
        raise(number);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const int errno_was = errno;
    const bool may_be_ours = info->si_code > 0 && (number == SIGBUS || !ring_process_is_known());
    if (!may_be_ours || !rings_replace(info->si_addr))
        pass_on(&guarded[number == SIGBUS ? 0 : 1].was, number, info, context);
    errno = errno_was;
}

static bool is_ours(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == on_fault;
}

static void guard(struct guarded *g)
{
    struct sigaction now;
    if (sigaction(g->number, NULL, &now) != 0 || is_ours(&now))
        return;
    if (g->is_set && is_handler(&now))
        return; /* the program's handler may call ours: calling it from ours would never end */
    g->was = now;
    struct sigaction ours = { .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | (now.sa_flags & SA_NODEFER),
                              .sa_mask = now.sa_mask };
    ours.sa_sigaction = on_fault;
    g->is_set = sigaction(g->number, &ours, NULL) == 0;
}

void faults_guard(void)
{
    faults_admit();
    for (int i = 0; i < GUARDED; i++)
        guard(&guarded[i]);
}

void faults_leave(void)
{
    struct sigaction now;
    for (struct guarded *g = guarded; g < guarded + GUARDED; g++)
        if (sigaction(g->number, NULL, &now) == 0 && is_ours(&now))
            g->is_set = sigaction(g->number, &g->was, NULL) != 0;
}

void faults_admit(void)
{
    sigset_t faults;
    sigemptyset(&faults);
    for (int i = 0; i < GUARDED; i++)
        sigaddset(&faults, guarded[i].number);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}
