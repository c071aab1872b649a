/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Messages of the socket, in the byte order of the machine. */
enum { PARAMETERS_BYTES = 4096, PARAMETERS_S = 1, REQUEST_S = 60 };
struct parameters_message {
    uint32_t bytes;
    char text[PARAMETERS_BYTES];
};
struct message_pair {
    int32_t type, status;
};
enum { REPLY_PARAMETERS = 0, NOTICE_DISCONNECT = 7 };
_Static_assert(sizeof(struct parameters_message) == 4100, "the size that the library reads");

static const char *const statuses[] = { "done", "it failed", "already recording", "the program has set no device yet",
                                        "not recording" };

static bool address_of(struct sockaddr_un *at, pid_t pid, const char *home)
{
    char path[PATH_MAX];
    struct stat st;
    const struct passwd *const user = home ? NULL : getpwuid(geteuid());
    if (!home && !user)
        return false;
    const int n = snprintf(path, sizeof path, "%s/dynamic_profiling_socket_%d", home ? home : user->pw_dir, (int)pid);
    *at = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (n >= (int)sizeof at->sun_path)
        return false;
    memcpy(at->sun_path, path, (size_t)n + 1);
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) &&
           st.st_uid == geteuid(); /* a socket of another user is not trusted */
}

static bool wait_at_most(int fd, int seconds)
{
    const struct timeval t = { .tv_sec = seconds };
    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t) == 0;
}

/* Waits for the reply of this type and skips notifications of other types. */
static bool reply_read(int fd, pid_t pid, int32_t type, struct error *e)
{
    for (;;) {
        struct message_pair m;
        const ssize_t got = recv(fd, &m, sizeof m, MSG_WAITALL);
        if (got != sizeof m)
            return error_set(e, FAULT_IO, "process %d: the profiling library in it does not answer: %s", (int)pid,
                             got < 0 ? strerror(errno) : "it has closed the connection");
        if (m.type == NOTICE_DISCONNECT)
            return error_set(e, FAULT_IO, "process %d: the profiling library in it has closed the connection",
                             (int)pid);
        if (m.type != type)
            continue;
        if (m.status == 0)
            return true;
        const size_t n = sizeof statuses / sizeof *statuses;
        return error_set(e, FAULT_ASKED, "process %d: the profiling library in it: %s", (int)pid,
                         m.status > 0 && (size_t)m.status < n ? statuses[m.status] : "an unknown answer");
    }
}

int dynamic_connect(pid_t pid, const char *home, const char *parameters, struct error *e)
{
    struct sockaddr_un at;
    struct parameters_message m = { 0 };
    if (!address_of(&at, pid, home))
        return DYNAMIC_NONE;
    if (strlen(parameters) >= sizeof m.text) {
        error_set(e, FAULT_ASKED, "process %d: the settings are too long for its profiling library: at most %zu bytes",
                  (int)pid, sizeof m.text - 1);
        return DYNAMIC_NONE;
    }
    strcpy(m.text, parameters);
    m.bytes = (uint32_t)strlen(parameters);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && wait_at_most(fd, PARAMETERS_S) && connect(fd, (const struct sockaddr *)&at, sizeof at) == 0 &&
        send(fd, &m, sizeof m, MSG_NOSIGNAL) == sizeof m) {
        if (reply_read(fd, pid, REPLY_PARAMETERS, e) && wait_at_most(fd, REQUEST_S))
            return fd;
    } else {
        error_set(e, FAULT_IO, "process %d: its profiling library cannot be reached: %s", (int)pid, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return DYNAMIC_NONE;
}

bool dynamic_request(int fd, pid_t pid, enum dynamic_request what, struct error *e)
{
    const struct message_pair m = { .type = (int32_t)what };
    if (send(fd, &m, sizeof m, MSG_NOSIGNAL) != sizeof m)
        return error_set(e, FAULT_IO, "process %d: its profiling library cannot be reached: %s", (int)pid,
                         strerror(errno));
    return reply_read(fd, pid, (int32_t)what + 1, e);
}
