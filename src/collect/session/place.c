/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/durable.h"

const char *place_trouble(int why)
{
    static const struct {
        int why;
        const char *do_what;
    } known[] = {
        { EACCES, "choose another parent_dir, or obtain write permission" },
        { EPERM, "choose another parent_dir, or obtain write permission" },
        { EROFS, "choose another parent_dir" },
        { ENOSPC, "free disk space there, or choose another parent_dir" },
        { EDQUOT, "free disk space there, or choose another parent_dir" },
        { ENOTDIR, "a file is where a directory should be; choose another parent_dir" },
        { ENAMETOOLONG, "choose a shorter parent_dir or worker_name" },
        { ENOENT, "it was removed meanwhile, or cannot exist" },
        { EMFILE, "too many files are open in this program" },
    };
    static __thread char text[200];
    const char *do_what = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].why == why)
            do_what = known[i].do_what;
    snprintf(text, sizeof text, "%s%s%s", strerror(why), do_what ? "; " : "", do_what ? do_what : "");
    return text;
}

static bool place_fail(struct error *e, const char *path, const char *what, int why)
{
    return error_set(e, why == ENAMETOOLONG ? FAULT_ASKED : FAULT_IO, "%s: %s: %s", path, what, place_trouble(why));
}

static int dir_make(const char *path)
{
    if (mkdir(path, 0750) == 0 && chmod(path, 0750) == 0)
        return 0;
    return errno;
}

static bool is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool place_parents(const char *path, struct error *e)
{
    char part[PATH_MAX];
    if (strlen(path) >= sizeof part)
        return place_fail(e, path, "cannot be created", ENAMETOOLONG);
    if (is_dir(path))
        return true;
    memcpy(part, path, strlen(path) + 1);
    for (char *slash = part + 1;; slash++) {
        slash += strcspn(slash, "/");
        const char was = *slash;
        *slash = '\0';
        int why = is_dir(part) ? EEXIST : dir_make(part);
        /* after a power cut, its contents would be lost without its name */
        why = why == 0 ? durable_name(part) : why;
        if (why && !(why == EEXIST && is_dir(part))) /* two ranks may make it at once */
            return place_fail(e, part, "cannot be created", why == EEXIST ? ENOTDIR : why);
        if (!was)
            return true;
        *slash = was;
    }
}

bool place_dir(const char *path, struct error *e)
{
    const int why = dir_make(path);
    if (why && why != EEXIST)
        place_fail(e, path, "cannot be created", why);
    return why == 0;
}

static bool file_put(const char *path, const char *text, size_t n, unsigned how, struct error *e)
{
    const int why = durable_put(AT_FDCWD, path, text, n, NULL, how & PLACE_DURABLE);
    return why == 0 ||
           place_fail(e, path, why == EACCES || why == ENAMETOOLONG ? "cannot be created" : "cannot be written", why);
}

bool place_file(const char *path, const char *text, size_t n, unsigned how, struct error *e)
{
    char marker[PATH_MAX], size[40];
    if (!file_put(path, text, n, how, e))
        return false;
    if (!(how & PLACE_MARKED))
        return true;
    if (snprintf(marker, sizeof marker, "%s.done", path) >= (int)sizeof marker)
        return place_fail(e, path, "cannot be created", ENAMETOOLONG);
    return file_put(marker, size, (size_t)snprintf(size, sizeof size, "filesize:%zu\n", n), how, e);
}
