/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic/watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collect/session/place.h"
#include "dynamic/config.h"

#define FIRST_LINE "ascope status 1 poll_ms %" PRIu32 "\n"
#define FIRST_SCAN "ascope status 1 poll_ms %" SCNu32
#define RANK_LINE                                                                                                      \
    "%" PRId32 " %" PRId32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64         \
    " %" PRIu64 " %" PRId64 " %" PRId64 " %s\n"
#define RANK_SCAN                                                                                                      \
    "%" SCNd32 " %" SCNd32 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu64         \
    " %" SCNu64 " %" SCNd64 " %" SCNd64 " %n"
enum { RANK_NUMBERS = 12, LINE_BYTES = BOARD_DIR_BYTES + 300 };

void host_status_name(char name[HOST_NAME_BYTES])
{
    name[HOST_NAME_BYTES - 1] = 0;
    if (gethostname(name, HOST_NAME_BYTES - 1) != 0 || !*name)
        strcpy(name, "localhost");
}

static bool path_of(char path[PATH_MAX], const char *dir)
{
    char host[HOST_NAME_BYTES];
    host_status_name(host);
    return snprintf(path, PATH_MAX, "%s/" HOST_STATUS_PREFIX "%s", dir, host) < PATH_MAX;
}

/* The file has one line per rank, so a directory with a newline in its name is left out. */
static const char *dir_of(const struct board_rank *r)
{
    return strchr(r->dir, '\n') ? "" : r->dir;
}

void host_status_write(const char *config_dir, uint32_t poll_ms, const struct board_rank *rank, size_t n)
{
    char path[PATH_MAX], *text = NULL;
    struct error e = { 0 };
    size_t bytes = 0;
    FILE *const f = path_of(path, config_dir) ? open_memstream(&text, &bytes) : NULL;
    if (!f)
        return;
    fprintf(f, FIRST_LINE, poll_ms);
    for (size_t i = 0; i < n; i++) {
        const struct board_rank *const r = &rank[i];
        fprintf(f, RANK_LINE, r->rank, r->pid, r->state, r->fate, r->id, r->step, r->start_step, r->stop_step,
                r->n_done, r->done_id, r->done_start_step, r->done_stop_step, dir_of(r));
    }
    if (fclose(f) == 0)
        place_file(path, text, bytes, false, &e); /* or not: it is for others */
    free(text);
}

void host_status_remove(const char *config_dir)
{
    char path[PATH_MAX];
    if (path_of(path, config_dir))
        unlink(path);
}

static bool rank_of_line(const char *line, struct board_rank *r)
{
    int used = 0;
    *r = (struct board_rank){ 0 };
    if (sscanf(line, RANK_SCAN, &r->rank, &r->pid, &r->state, &r->fate, &r->id, &r->step, &r->start_step, &r->stop_step,
               &r->n_done, &r->done_id, &r->done_start_step, &r->done_stop_step, &used) < RANK_NUMBERS)
        return false;
    snprintf(r->dir, sizeof r->dir, "%s", line + used);
    r->dir[strcspn(r->dir, "\n")] = 0;
    return true;
}

bool host_status_read(const char *path, struct host_status *out)
{
    char line[LINE_BYTES];
    struct stat st;
    struct timespec now;
    *out = (struct host_status){ 0 };
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *const f = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (!f) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    out->age_s = (double)(now.tv_sec - st.st_mtim.tv_sec) + 1e-9 * (double)(now.tv_nsec - st.st_mtim.tv_nsec);
    const bool is_ours = fgets(line, sizeof line, f) && sscanf(line, FIRST_SCAN, &out->poll_ms) == 1;
    while (is_ours && out->n < BOARD_RANKS && fgets(line, sizeof line, f))
        out->n += rank_of_line(line, &out->rank[out->n]);
    fclose(f);
    return is_ours;
}
