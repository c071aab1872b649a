/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/flight/flight_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/kept.h"
#include "collect/session/place.h"

enum { TEXT_MOST = PATH_MAX + 64, NAME_ROOM = PATH_MAX + 64, LOOK_MS = 20, WAIT_MOST_MS = 600000 };

static const char *const words[FLIGHT_ASKED] = { [FLIGHT_SAVE] = "save", [FLIGHT_WHEN] = "when" };

/* A small file, whole; 0: it is not there, or not a plain file. */
static size_t text_read(const char *path, char text[TEXT_MOST])
{
    struct kept file = KEPT_NONE; /* kept: the program may close the descriptor */
    struct stat st;
    ssize_t n = 0;
    if (kept_open(&file, AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0) &&
        fstat(file.fd, &st) == 0 && S_ISREG(st.st_mode))
        n = TEMP_FAILURE_RETRY(pread(kept_fd(&file), text, TEXT_MOST - 1, 0));
    kept_close(&file);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

static void flight_request_name_of(char name[NAME_ROOM], const char *home, const char *what)
{
    snprintf(name, NAME_ROOM, "%s/ascope.%s", home, what);
}

static void reply_name(char name[NAME_ROOM], const char *home, uint64_t id)
{
    snprintf(name, NAME_ROOM, "%s/ascope.reply.%016" PRIx64, home, id);
}

bool flight_request_waits(const char *home)
{
    char name[NAME_ROOM];
    flight_request_name_of(name, home, "request");
    return access(name, F_OK) == 0;
}

bool flight_request_take(const char *home, struct flight_request *out)
{
    char name[NAME_ROOM], text[TEXT_MOST];
    flight_request_name_of(name, home, "request");
    if (!flight_request_waits(home))
        return false;
    const bool is_read = text_read(name, text) > 0;
    unlink(name);
    char word[8];
    if (!is_read || sscanf(text, "%7s %" SCNu64 " %" SCNx64, word, &out->value, &out->id) != 3)
        return false;
    out->what = FLIGHT_SAVE;
    while (out->what < FLIGHT_ASKED && strcmp(word, words[out->what]) != 0)
        out->what++;
    return out->what < FLIGHT_ASKED;
}

void flight_request_answer(const char *home, const struct flight_request *r, bool is_done, const char *text)
{
    char name[NAME_ROOM], all[TEXT_MOST];
    struct error e = { 0 };
    reply_name(name, home, r->id);
    const int n = snprintf(all, sizeof all, "%s %s\n", is_done ? "done" : "failed", text);
    /* an error here cannot be reported to anybody */
    place_file(name, all, (size_t)n < sizeof all ? (size_t)n : sizeof all - 1, 0, &e);
}

bool flight_request_put(const char *home, struct flight_request *r, struct error *e)
{
    char name[NAME_ROOM], fresh[NAME_ROOM], text[80];
    if (getrandom(&r->id, sizeof r->id, 0) != (ssize_t)sizeof r->id)
        return error_set(e, FAULT_IO, "%s: no random number: %s", home, strerror(errno));
    flight_request_name_of(name, home, "request");
    snprintf(fresh, sizeof fresh, "%s/ascope.request.%016" PRIx64, home, r->id);
    const int n = snprintf(text, sizeof text, "%s %" PRIu64 " %016" PRIx64 "\n", words[r->what], r->value, r->id);
    if (!place_file(fresh, text, (size_t)n, 0, e))
        return false;
    const int why = link(fresh, name) == 0 ? 0 : errno;
    unlink(fresh);
    if (why == EEXIST)
        return error_set(e, FAULT_ASKED, "%s: another request is waiting; try again", home);
    return why == 0 || error_set(e, FAULT_IO, "%s: cannot be created: %s", name, write_trouble(why));
}

bool flight_request_wait(const char *home, const struct flight_request *r, bool (*is_alive)(const char *home),
                         char path[PATH_MAX], struct error *e)
{
    char name[NAME_ROOM], text[TEXT_MOST];
    reply_name(name, home, r->id);
    for (int waited_ms = 0; text_read(name, text) == 0; waited_ms += LOOK_MS) {
        if (!is_alive(home))
            return error_set(e, FAULT_IO, "%s: the program ended before it answered", home);
        if (waited_ms >= WAIT_MOST_MS)
            return error_set(e, FAULT_IO, "%s: no answer; the program may be stopped", home);
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000 }, NULL);
    }
    unlink(name);
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(text, "done ", 5) != 0)
        return error_set(e, FAULT_IO, "%s: not done: %.300s", home, strncmp(text, "failed ", 7) == 0 ? text + 7 : text);
    snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, text + 5);
    return true;
}
