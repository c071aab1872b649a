/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"

void check_run(const struct machine_check *c, const struct examined *m, struct machine_finding *f)
{
    *f = (struct machine_finding){ 0 };
    snprintf(f->name, sizeof f->name, "%s", c->name);
    f->state = c->look(m, f);
    if (!*f->effect && c->effect[f->state])
        effect_set(f, "%s", c->effect[f->state]);
    if (!*f->advice && c->advice[f->state])
        advice_set(f, "%s", c->advice[f->state]);
}

static void check_text_put(char *at, size_t room, const char *fmt, va_list args)
{
    const int n = vsnprintf(at, room, fmt, args);
    if (n >= (int)room && room > 4)
        memcpy(at + room - 4, "...", 4);
}

#define PUT_TEXT(at, room)                                                                                             \
    do {                                                                                                               \
        va_list args;                                                                                                  \
        va_start(args, fmt);                                                                                           \
        check_text_put(at, room, fmt, args);                                                                           \
        va_end(args);                                                                                                  \
    } while (0)

void fact_set(struct machine_finding *f, const char *fmt, ...)
{
    PUT_TEXT(f->fact, sizeof f->fact);
}

void fact_add(struct machine_finding *f, const char *fmt, ...)
{
    const size_t n = strlen(f->fact);
    PUT_TEXT(f->fact + n, sizeof f->fact - n);
}

void effect_set(struct machine_finding *f, const char *fmt, ...)
{
    PUT_TEXT(f->effect, sizeof f->effect);
}

void advice_set(struct machine_finding *f, const char *fmt, ...)
{
    PUT_TEXT(f->advice, sizeof f->advice);
}

void place_add(struct machine_finding *f, const char *fmt, ...)
{
    size_t n = strlen(f->place);
    if (n > 0 && n + 3 < sizeof f->place) {
        memcpy(f->place + n, ", ", 3);
        n += 2;
    }
    PUT_TEXT(f->place + n, sizeof f->place - n);
}

bool text_of(const struct examined *m, const char *path, char *out, size_t size, int *why)
{
    char full[PATH_MAX];
    *out = '\0';
    if (snprintf(full, sizeof full, "%s%s", m->root, path) >= (int)sizeof full) {
        *why = ENAMETOOLONG;
        return false;
    }
    const int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *why = errno;
        return false;
    }
    size_t n = 0;
    const bool is_read = file_read(fd, out, size - 1, &n, why);
    close(fd);
    out[is_read ? n : 0] = '\0';
    while (n > 0 && is_read && out[n - 1] == '\n')
        out[--n] = '\0';
    return is_read;
}

bool number_of(const struct examined *m, const char *path, int64_t *out, int *why)
{
    char text[64], *end;
    if (!text_of(m, path, text, sizeof text, why))
        return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    *why = errno ? errno : EINVAL;
    return end != text && *end == '\0' && errno == 0;
}

struct name {
    char text[64];
};

static int by_version(const void *a, const void *b)
{
    return strverscmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

size_t names_in(const struct examined *m, const char *path, const char *prefix, char *out, size_t size)
{
    enum { MOST = 256 };
    static struct name name[MOST]; /* static, because 16 KiB are much for a stack; checks run on one thread */
    char full[PATH_MAX];
    size_t n = 0, used = 0;
    int why;
    *out = '\0';
    if (snprintf(full, sizeof full, "%s%s", m->root, path) >= (int)sizeof full)
        return 0;
    DIR *dir = opendir(full);
    for (const char *one; dir && n < MOST && (one = dir_next(dir, &why));)
        if (strncmp(one, prefix, strlen(prefix)) == 0 && strlen(one) < sizeof name->text)
            memcpy(name[n++].text, one, strlen(one) + 1);
    if (dir)
        closedir(dir);
    qsort(name, n, sizeof *name, by_version);
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? " " : "", name[i].text);
    return n;
}

bool status_field(const struct examined *m, const char *field, char *out, size_t size)
{
    char text[8192], key[64];
    int why;
    *out = '\0';
    if (!text_of(m, "/proc/self/status", text, sizeof text, &why))
        return false;
    snprintf(key, sizeof key, "\n%s:", field);
    const char *at = strstr(text, key);
    if (!at)
        return false;
    at += strlen(key);
    at += strspn(at, " \t");
    snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
    return true;
}

bool has_capability(const struct examined *m, unsigned number)
{
    char text[32];
    return status_field(m, "CapEff", text, sizeof text) && (strtoull(text, NULL, 16) >> number & 1) != 0;
}

bool program_find(const char *name, char out[PATH_MAX])
{
    const char *at = getenv("PATH");
    for (size_t n; at && *at; at += n + (at[n] == ':')) {
        n = strcspn(at, ":");
        struct stat st;
        if (*at == '/' && snprintf(out, PATH_MAX, "%.*s/%s", (int)n, at, name) < PATH_MAX && stat(out, &st) == 0 &&
            S_ISREG(st.st_mode) && access(out, X_OK) == 0)
            return true;
    }
    *out = '\0';
    return false;
}
