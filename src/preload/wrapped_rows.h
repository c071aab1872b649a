/* SPDX-License-Identifier: Apache-2.0 */
/* wrapped_rows.h - the functions of libc that the preloaded library wraps: one row each.
 *
 * Calls are recorded under the name of the system call that they make, as the kernel's trace points have it
 * (os_trace.h): open() is openat, usleep() is clock_nanosleep. Only functions whose calls are reported are here
 * (os_call.c).
 */
#ifndef ASCOPE_PRELOAD_WRAPPED_ROWS_H
#define ASCOPE_PRELOAD_WRAPPED_ROWS_H

/* Some architectures, such as aarch64, lack these system calls; libc uses others instead. */
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#endif
#ifndef SYS_epoll_wait
#define SYS_epoll_wait SYS_epoll_pwait
#endif
#ifndef SYS_pause
#define SYS_pause SYS_ppoll
#endif

/* type, name, parameters, arguments, number of the system call, the argument that is recorded. They fail with -1 and
 * errno. */
/* clang-format off */
#define SYSTEM_ROWS(X) \
    X(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), read, fd) \
    X(ssize_t, __read_chk, (int fd, void *p, size_t n, size_t room), (fd, p, n, room), read, fd) \
    X(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), write, fd) \
    X(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), pread64, fd) \
    X(ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at), pread64, fd) \
    X(ssize_t, __pread_chk, (int fd, void *p, size_t n, off_t at, size_t room), (fd, p, n, at, room), pread64, fd) \
    X(ssize_t, __pread64_chk, (int fd, void *p, size_t n, off64_t at, size_t room), (fd, p, n, at, room), pread64, fd) \
    X(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), pwrite64, fd) \
    X(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), pwrite64, fd) \
    X(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n), readv, fd) \
    X(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), writev, fd) \
    X(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), preadv, fd) \
    X(ssize_t, preadv64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), preadv, fd) \
    X(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), pwritev, fd) \
    X(ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), pwritev, fd) \
    X(int, creat, (const char *path, mode_t mode), (path, mode), openat, path) \
    X(int, creat64, (const char *path, mode_t mode), (path, mode), openat, path) \
    X(int, __open_2, (const char *path, int flags), (path, flags), openat, path) \
    X(int, __open64_2, (const char *path, int flags), (path, flags), openat, path) \
    X(int, __openat_2, (int dir, const char *path, int flags), (dir, path, flags), openat, dir) \
    X(int, __openat64_2, (int dir, const char *path, int flags), (dir, path, flags), openat, dir) \
    X(int, fsync, (int fd), (fd), fsync, fd) \
    X(int, fdatasync, (int fd), (fd), fdatasync, fd) \
    X(int, syncfs, (int fd), (fd), syncfs, fd) \
    X(int, sync_file_range, (int fd, off64_t at, off64_t n, unsigned flags), (fd, at, n, flags), sync_file_range, fd) \
    X(int, ftruncate, (int fd, off_t n), (fd, n), ftruncate, fd) \
    X(int, ftruncate64, (int fd, off64_t n), (fd, n), ftruncate, fd) \
    X(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), fallocate, fd) \
    X(int, fallocate64, (int fd, int mode, off64_t at, off64_t n), (fd, mode, at, n), fallocate, fd) \
    X(int, flock, (int fd, int how), (fd, how), flock, fd) \
    X(ssize_t, sendfile, (int to, int from, off_t *at, size_t n), (to, from, at, n), sendfile, to) \
    X(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t n), (to, from, at, n), sendfile, to) \
    X(ssize_t, splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags), \
      (from, from_at, to, to_at, n, flags), splice, from) \
    X(ssize_t, copy_file_range, (int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags), \
      (from, from_at, to, to_at, n, flags), copy_file_range, from) \
    X(int, poll, (struct pollfd *p, nfds_t n, int ms), (p, n, ms), poll, p) \
    X(int, __poll_chk, (struct pollfd *p, nfds_t n, int ms, size_t room), (p, n, ms, room), poll, p) \
    X(int, ppoll, (struct pollfd *p, nfds_t n, const struct timespec *t, const sigset_t *s), (p, n, t, s), ppoll, p) \
    X(int, __ppoll_chk, (struct pollfd *p, nfds_t n, const struct timespec *t, const sigset_t *s, size_t room), \
      (p, n, t, s, room), ppoll, p) \
    X(int, select, (int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *t), (n, r, w, x, t), pselect6, n) \
    X(int, pselect, (int n, fd_set *r, fd_set *w, fd_set *x, const struct timespec *t, const sigset_t *s), \
      (n, r, w, x, t, s), pselect6, n) \
    X(int, epoll_wait, (int fd, struct epoll_event *p, int n, int ms), (fd, p, n, ms), epoll_wait, fd) \
    X(int, epoll_pwait, (int fd, struct epoll_event *p, int n, int ms, const sigset_t *s), (fd, p, n, ms, s), \
      epoll_pwait, fd) \
    X(int, epoll_ctl, (int fd, int op, int of, struct epoll_event *p), (fd, op, of, p), epoll_ctl, fd) \
    X(int, usleep, (useconds_t us), (us), clock_nanosleep, us) \
    X(int, nanosleep, (const struct timespec *t, struct timespec *rest), (t, rest), clock_nanosleep, t) \
    X(int, pause, (void), (), pause, 0) \
    X(int, sigsuspend, (const sigset_t *s), (s), rt_sigsuspend, s) \
    X(ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags), sendto, fd) \
    X(ssize_t, sendto, (int fd, const void *p, size_t n, int flags, const struct sockaddr *to, socklen_t to_n), \
      (fd, p, n, flags, to, to_n), sendto, fd) \
    X(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), sendmsg, fd) \
    X(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags), (fd, m, n, flags), sendmmsg, fd) \
    X(ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags), recvfrom, fd) \
    X(ssize_t, __recv_chk, (int fd, void *p, size_t n, size_t room, int flags), (fd, p, n, room, flags), recvfrom, fd) \
    X(ssize_t, recvfrom, (int fd, void *p, size_t n, int flags, struct sockaddr *from, socklen_t *from_n), \
      (fd, p, n, flags, from, from_n), recvfrom, fd) \
    X(ssize_t, __recvfrom_chk, (int fd, void *p, size_t n, size_t room, int flags, struct sockaddr *from, \
                                socklen_t *from_n), (fd, p, n, room, flags, from, from_n), recvfrom, fd) \
    X(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), recvmsg, fd) \
    X(int, recvmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t), (fd, m, n, flags, t), \
      recvmmsg, fd) \
    X(int, socket, (int domain, int type, int protocol), (domain, type, protocol), socket, domain) \
    X(int, connect, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n), connect, fd) \
    X(int, accept, (int fd, struct sockaddr *from, socklen_t *n), (fd, from, n), accept, fd) \
    X(int, accept4, (int fd, struct sockaddr *from, socklen_t *n, int flags), (fd, from, n, flags), accept4, fd) \
    X(int, bind, (int fd, const struct sockaddr *at, socklen_t n), (fd, at, n), bind, fd) \
    X(int, listen, (int fd, int n), (fd, n), listen, fd) \
    X(int, shutdown, (int fd, int how), (fd, how), shutdown, fd) \
    X(void *, mmap, (void *at, size_t n, int rights, int flags, int fd, off_t from), (at, n, rights, flags, fd, from), \
      mmap, at) \
    X(void *, mmap64, (void *at, size_t n, int rights, int flags, int fd, off64_t from), \
      (at, n, rights, flags, fd, from), mmap, at) \
    X(int, munmap, (void *at, size_t n), (at, n), munmap, at) \
    X(int, mprotect, (void *at, size_t n, int rights), (at, n, rights), mprotect, at) \
    X(int, msync, (void *at, size_t n, int flags), (at, n, flags), msync, at) \
    X(pid_t, wait, (int *status), (status), wait4, -1) \
    X(pid_t, waitpid, (pid_t pid, int *status, int how), (pid, status, how), wait4, pid) \
    X(pid_t, wait3, (int *status, int how, struct rusage *use), (status, how, use), wait4, -1) \
    X(pid_t, wait4, (pid_t pid, int *status, int how, struct rusage *use), (pid, status, how, use), wait4, pid) \
    X(int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int how), (kind, id, info, how), waitid, kind) \
    X(int, sched_yield, (void), (), sched_yield, 0) \
    X(int, dup, (int fd), (fd), dup, fd) \
    X(int, dup3, (int fd, int to, int flags), (fd, to, flags), dup3, fd) \
    X(int, pipe2, (int fd[2], int flags), (fd, flags), pipe2, fd)

/* name, parameters, arguments, the argument that is recorded. They return the error number. */
#define THREAD_ROWS(X) \
    X(pthread_attr_init, (pthread_attr_t *a), (a), a) \
    X(pthread_barrier_wait, (pthread_barrier_t *b), (b), b) \
    X(pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t), (c, m, t), c) \
    X(pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m), c) \
    X(pthread_create, (pthread_t *p, const pthread_attr_t *a, void *(*start)(void *), void *of), (p, a, start, of), p) \
    X(pthread_join, (pthread_t p, void **value), (p, value), p) \
    X(pthread_mutex_init, (pthread_mutex_t *m, const pthread_mutexattr_t *a), (m, a), m)

/* The same, recorded only if they wait: the second function is tried first. */
#define LOCK_ROWS(X) \
    X(pthread_mutex_lock, pthread_mutex_trylock, (pthread_mutex_t *m), (m), m) \
    X(pthread_mutex_timedlock, pthread_mutex_trylock, (pthread_mutex_t *m, const struct timespec *t), (m, t), m) \
    X(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t *m), (m), m) \
    X(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t *m), (m), m)

/* The same, but they fail with -1 and errno, and are cancellation points. */
#define SEMAPHORE_ROWS(X) \
    X(sem_wait, (sem_t *s), (s), s) \
    X(sem_timedwait, (sem_t *s, const struct timespec *t), (s, t), s)

/* Functions of newer versions of libc, which libraries of C++ and Python use if they exist. */
#if __GLIBC_PREREQ(2, 30)
#define NEWER_THREAD_ROWS(X) \
    X(pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t k, const struct timespec *t), \
      (c, m, k, t), c)
#define NEWER_LOCK_ROWS(X) \
    X(pthread_mutex_clocklock, pthread_mutex_trylock, (pthread_mutex_t *m, clockid_t k, const struct timespec *t), \
      (m, k, t), m)
#define NEWER_SEMAPHORE_ROWS(X) X(sem_clockwait, (sem_t *s, clockid_t k, const struct timespec *t), (s, k, t), s)
#else
#define NEWER_THREAD_ROWS(X)
#define NEWER_LOCK_ROWS(X)
#define NEWER_SEMAPHORE_ROWS(X)
#endif

/* Wrapped in wrapped.c: with variable parameters, or used by the wrappers themselves. */
#define OTHER_ROWS(X) \
    X(open) X(open64) X(openat) X(openat64) X(ioctl) X(fcntl) X(fcntl64) X(sleep) X(clock_nanosleep) \
    X(pthread_setname_np) X(pthread_mutex_trylock) X(pthread_rwlock_tryrdlock) X(pthread_rwlock_trywrlock) \
    X(sem_trywait)
/* clang-format on */

#endif
