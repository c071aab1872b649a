/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor's libraries as a test wants them: the same names and arguments, a log of what was called, and trouble on request.
 *
 * One source for all of them; each is built with the name of its part defined (FAKE_MSPROFILER, FAKE_ACL, FAKE_DRIVER, FAKE_PROFAPI,
 * FAKE_RUNTIME), and OLDER leaves out what older releases do not have.
 *
 *     FAKE_ASCEND_LOG    a file: a line for each call, with its arguments
 *     FAKE_ASCEND_DATA   a PROF directory: the engine writes copies of its files, the descriptions at start, the data at stop
 *     FAKE_ASCEND        words with spaces between them:
 *       devices=N chip=N        what the driver has (1, 5); ids=first: numbers begin there
 *       crash=CALL hang=CALL    what that function does
 *       error=CALL:CODE         what it returns; error=CALL:CODE:BITS only if its mask has one of the bits
 *       prof=late|never|old     the directory is made by a thread after start has returned; by stop; with a name of older releases
 *       path=none               MsprofGetPath() does not say it
 *       host_khz=0              the driver does not know the CPU's counter
 *       info=none               the engine writes no descriptions
 *       parent_only             the driver answers only the process that has initialised ACL
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default"), used))

/* ---- what is wanted ---- */

/* The n-th value of "key=value"; NULL: there are no more. */
static inline __attribute__((unused)) const char *word(const char *key, unsigned n)
{
    static __thread char value[200];
    const char *at = getenv("FAKE_ASCEND");
    const size_t length = strlen(key);
    for (; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, key, length) == 0 && (at[length] == '=' || at[length] == ' ' || !at[length]) && n-- == 0) {
            snprintf(value, sizeof value, "%.*s", (int)strcspn(at, " "), at);
            return at[length] == '=' ? value + length + 1 : value + length;
        }
    return NULL;
}

static inline __attribute__((unused)) long number(const char *key, long otherwise)
{
    const char *const text = word(key, 0);
    return text ? strtol(text, NULL, 0) : otherwise;
}

static inline __attribute__((unused)) bool is_word(const char *key, const char *value)
{
    const char *const text = word(key, 0);
    return text && strcmp(text, value) == 0;
}

__attribute__((format(printf, 1, 2))) static inline __attribute__((unused)) void note(const char *fmt, ...)
{
    char line[1024];
    const char *const path = getenv("FAKE_ASCEND_LOG");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line - 1, fmt, args);
    va_end(args);
    line[n++] = '\n';
    if (fd >= 0) {
        if (write(fd, line, (size_t)n) != n)
            abort();
        close(fd);
    }
}

/* What the function returns. */
static inline __attribute__((unused)) int32_t behave(const char *call, uint64_t mask)
{
    const char *text;
    for (unsigned i = 0; (text = word("hang", i)); i++)
        while (strcmp(text, call) == 0)
            pause();
    for (unsigned i = 0; (text = word("crash", i)); i++)
        if (strcmp(text, call) == 0)
            raise(SIGSEGV);
    for (unsigned i = 0; (text = word("error", i)); i++) {
        const size_t n = strcspn(text, ":");
        char *end;
        if (strlen(call) != n || strncmp(text, call, n) != 0)
            continue;
        const long code = strtol(text + n + 1, &end, 0);
        if (*end != ':' || (mask & strtoull(end + 1, NULL, 0)))
            return (int32_t)code;
    }
    return 0;
}

/* ---- the engine ---- */

#ifdef FAKE_MSPROFILER
struct config {
    uint32_t device[64], n;
    int32_t metrics;
    uint64_t mask;
};
static char result[PATH_MAX], prof[PATH_MAX + 64];
static unsigned n_started;
static bool is_inited, is_warm, runs;
static pthread_t late;
static bool is_late; /* the thread is there */

static bool is_data(const char *path, const char *name)
{
    return strstr(path, "/data") || strncmp(name, "end_info", 8) == 0;
}

static void copy_file(const char *from, const char *to)
{
    char bytes[65536];
    FILE *const in = fopen(from, "rb"), *const out = fopen(to, "wxb");
    if (!in || !out) {
        note("cannot copy %s", to);
        abort();
    }
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        fwrite(bytes, 1, n, out);
    fclose(in);
    fclose(out);
}

/* Data, or descriptions. */
static void copy_all(const char *from, const char *to, bool data)
{
    DIR *const dir = opendir(from);
    mkdir(to, 0750);
    for (const struct dirent *d; dir && (d = readdir(dir));) {
        char inner[PATH_MAX], outer[PATH_MAX];
        struct stat st;
        snprintf(inner, sizeof inner, "%s/%s", from, d->d_name);
        snprintf(outer, sizeof outer, "%s/%s", to, d->d_name);
        if (d->d_name[0] == '.' || stat(inner, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            copy_all(inner, outer, data);
        else if (is_data(inner + strlen(getenv("FAKE_ASCEND_DATA")), d->d_name) == data &&
                 (data || !is_word("info", "none")))
            copy_file(inner, outer);
    }
    if (dir)
        closedir(dir);
}

static void write_files(bool data)
{
    char host[PATH_MAX + 80];
    const char *const from = getenv("FAKE_ASCEND_DATA");
    mkdir(prof, 0750);
    snprintf(host, sizeof host, "%s/host", prof);
    mkdir(host, 0750);
    if (from)
        copy_all(from, prof, data);
}

static void *write_late(void *unused)
{
    (void)unused;
    write_files(false);
    return NULL;
}

static void prof_begin(void)
{
    struct timespec now;
    struct tm tm;
    char digits[32];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    strftime(digits, sizeof digits, "%Y%m%d%H%M%S", &tm);
    snprintf(prof, sizeof prof, "%s/PROF_%06u_%s%03ld_", result, ++n_started, digits, now.tv_nsec / 1000000);
    const size_t n = strlen(prof);
    if (is_word("prof", "old"))
        snprintf(prof + n, sizeof prof - n, "ABCDEFGHIJKLMNOP");
    else
        snprintf(prof + n, sizeof prof - n, "%08dABCDEFGH", (int)getpid());
    if (is_word("prof", "never"))
        return;
    is_late = is_word("prof", "late") && pthread_create(&late, NULL, write_late, NULL) == 0;
    if (!is_late)
        write_files(false);
    setenv("FAKE_ASCEND_PROF", prof, 1); /* for MsprofGetPath() */
}

EXPORTED int32_t aclprofInit(const char *path, size_t length);
EXPORTED int32_t aclprofInit(const char *path, size_t length)
{
    note("aclprofInit %s", strlen(path) == length ? path : "of another length");
    const int32_t code = behave("aclprofInit", 0);
    if (code)
        return code;
    if (is_inited)
        return 100002;
    if (strpbrk(path, "'\"\\%<>|&$;`"))
        return 100003;
    snprintf(result, sizeof result, "%s", path);
    is_inited = true;
    return 0;
}

EXPORTED void *aclprofCreateConfig(uint32_t *ids, uint32_t n, int32_t metrics, const void *events, uint64_t mask);
EXPORTED void *aclprofCreateConfig(uint32_t *ids, uint32_t n, int32_t metrics, const void *events, uint64_t mask)
{
    struct config *const c = calloc(1, sizeof *c);
    note("aclprofCreateConfig devices=%u first=%u metrics=%d mask=0x%llx%s", n, n ? ids[0] : 0, metrics,
         (unsigned long long)mask, events ? " events" : "");
    if (!c || behave("aclprofCreateConfig", mask) || n > 64 || events || (n == 0 && !(mask & 0x80)) ||
        (n > 0 && ids[0] >= (uint32_t)number("devices", 1))) {
        free(c);
        return NULL;
    }
    memcpy(c->device, ids, n * sizeof *ids);
    c->n = n;
    c->metrics = metrics;
    c->mask = mask;
    return c;
}

EXPORTED int32_t aclprofDestroyConfig(void *config);
EXPORTED int32_t aclprofDestroyConfig(void *config)
{
    note("aclprofDestroyConfig");
    free(config);
    return behave("aclprofDestroyConfig", 0);
}

#ifndef OLDER
EXPORTED int32_t aclprofSetConfig(int32_t type, const char *text, size_t length);
EXPORTED int32_t aclprofSetConfig(int32_t type, const char *text, size_t length)
{
    note("aclprofSetConfig %d %s", type, strlen(text) == length ? text : "of another length");
    return behave("aclprofSetConfig", UINT64_C(1) << type);
}

EXPORTED int32_t aclprofWarmup(const struct config *c);
EXPORTED int32_t aclprofWarmup(const struct config *c)
{
    note("aclprofWarmup mask=0x%llx", (unsigned long long)c->mask);
    const int32_t code = behave("aclprofWarmup", c->mask);
    if (code == 0) {
        prof_begin();
        is_warm = true;
    }
    return code;
}

EXPORTED int32_t aclprofRegisterDeviceCallback(void);
EXPORTED int32_t aclprofRegisterDeviceCallback(void)
{
    note("aclprofRegisterDeviceCallback");
    return 0;
}
#endif

EXPORTED int32_t aclprofStart(const struct config *c);
EXPORTED int32_t aclprofStart(const struct config *c)
{
    note("aclprofStart mask=0x%llx", (unsigned long long)c->mask);
    const int32_t code = behave("aclprofStart", c->mask);
    if (code)
        return code;
    if (!is_inited)
        return 100043;
    if (!is_warm)
        prof_begin();
    is_warm = false;
    runs = true;
    return 0;
}

EXPORTED int32_t aclprofStop(const struct config *c);
EXPORTED int32_t aclprofStop(const struct config *c)
{
    note("aclprofStop mask=0x%llx", (unsigned long long)c->mask);
    const int32_t code = behave("aclprofStop", c->mask);
    if (is_late) /* the engine's files are complete when it has stopped */
        pthread_join(late, NULL);
    is_late = false;
    if (runs && is_word("prof", "never"))
        write_files(false);
    if (runs)
        write_files(true);
    runs = is_warm = false;
    return code;
}

EXPORTED int32_t aclprofFinalize(void);
EXPORTED int32_t aclprofFinalize(void)
{
    note("aclprofFinalize");
    is_inited = false;
    return behave("aclprofFinalize", 0);
}
#endif

/* ---- ACL ---- */

#ifdef FAKE_ACL
static bool is_inited;
static __thread int32_t current = -1;

EXPORTED int32_t aclInit(const char *path);
EXPORTED int32_t aclInit(const char *path)
{
    char text[16];
    (void)path;
    is_inited = true;
    snprintf(text, sizeof text, "%d", (int)getpid());
    setenv("FAKE_ASCEND_PARENT", text, 1);
    return 0;
}

EXPORTED int32_t aclrtSetDevice(int32_t id);
EXPORTED int32_t aclrtSetDevice(int32_t id)
{
    current = is_inited ? id : -1;
    return is_inited ? 0 : 100001;
}

EXPORTED int32_t aclrtGetDevice(int32_t *id);
EXPORTED int32_t aclrtGetDevice(int32_t *id)
{
    *id = current;
    return current < 0 ? 107002 : 0;
}

EXPORTED int32_t aclrtSynchronizeDevice(void);
EXPORTED int32_t aclrtSynchronizeDevice(void)
{
    note("aclrtSynchronizeDevice");
    return behave("aclrtSynchronizeDevice", 0);
}

EXPORTED int32_t aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch);
EXPORTED int32_t aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch)
{
    *major = 1;
    *minor = 14;
    *patch = 3;
    return 0;
}
#endif

/* ---- the driver ---- */

#ifdef FAKE_DRIVER
EXPORTED int32_t drvGetDevNum(uint32_t *n);
EXPORTED int32_t drvGetDevNum(uint32_t *n)
{
    const char *const parent = getenv("FAKE_ASCEND_PARENT");
    note("drvGetDevNum");
    const int32_t code = behave("drvGetDevNum", 0);
    if (word("parent_only", 0) && (!parent || atoi(parent) != getpid()))
        return 4;
    *n = (uint32_t)number("devices", 1);
    return code;
}

EXPORTED int32_t halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t *value);
EXPORTED int32_t halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t *value)
{
    struct timespec t;
    (void)device;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    const int64_t ns = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
    const struct {
        int32_t module, info;
        int64_t value;
    } known[] = {
        { 0, 1, number("chip", 5) << 8 | 3 },
        { 1, 3, 6 },
        { 4, 3, 24 },
        { 4, 4, 1850 },
        { 7, 3, 48 },
        { 0, 13, ns / 20 },
        { 0, 14, ns + 7000000000 },
        { 0, 24, number("host_khz", 2600000) },
        { 0, 25, 50000 },
    };
    const int32_t code = behave("halGetDeviceInfo", 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].module == module && known[i].info == info) {
            *value = known[i].value;
            return code;
        }
    return 3;
}

#ifndef OLDER
EXPORTED int32_t drvGetDevIDs(uint32_t *ids, uint32_t n);
EXPORTED int32_t drvGetDevIDs(uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ids[i] = i + (uint32_t)number("ids", 0);
    return 0;
}

EXPORTED int32_t halGetAPIVersion(int32_t *version);
EXPORTED int32_t halGetAPIVersion(int32_t *version)
{
    *version = 0x72318;
    return 0;
}
#endif
#endif

#ifdef FAKE_PROFAPI
EXPORTED char *MsprofGetPath(void);
EXPORTED char *MsprofGetPath(void)
{
    return is_word("path", "none") ? NULL : getenv("FAKE_ASCEND_PROF");
}
#endif

#ifdef FAKE_RUNTIME
EXPORTED int32_t rtProfilerTraceEx(uint64_t id, uint64_t model, uint16_t tag, void *stream);
EXPORTED int32_t rtProfilerTraceEx(uint64_t id, uint64_t model, uint16_t tag, void *stream)
{
    note("rtProfilerTraceEx id=0x%llx model=0x%llx tag=%u stream=%p", (unsigned long long)id, (unsigned long long)model,
         tag, stream);
    return 0;
}
#endif
