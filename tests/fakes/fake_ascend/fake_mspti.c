/* SPDX-License-Identifier: Apache-2.0 */
/* libmspti.so as a test wants it: the vendor's functions and records, and trouble on request.
 *
 *     FAKE_MSPTI         words with spaces between them:
 *       kernels=N copies=N sets=N collectives=N calls=N marks=N   what a flush delivers, once: see deliver()
 *       device=N           where it ran (0)
 *       error=CALL:CODE    what a function returns; error=msptiActivityEnable:CODE:KIND only for that kind
 *       hang=CALL          it never returns
 *       full               buffers are given back when all records are made, of which they hold few
 *       late               records are delivered a second time, after msptiUnsubscribe()
 *       periodic           records are delivered 100 ms after a period was set, too
 *       damaged            a kernel without times, one of device 99, and one that ends before it begins
 *     OLDER leaves out msptiActivityFlushPeriod, BROKEN msptiActivityGetNextRecord.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default"), used))
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* nobody includes a header of these */

typedef void wanted(uint8_t **buffer, size_t *bytes, size_t *most);
typedef void done(uint8_t *buffer, size_t bytes, size_t used);
enum { MARKER = 1, KERNEL, API, HCCL, MEMORY, MEMSET, MEMCPY, EXTERNAL, COMMUNICATION, KINDS = 16 };
static const size_t bytes_of[] = {
    [MARKER] = 56, [KERNEL] = 56, [API] = 48, [HCCL] = 56, [MEMSET] = 56, [MEMCPY] = 56, [COMMUNICATION] = 72
};
static wanted *request;
static done *complete;
static bool is_enabled[KINDS];
static _Atomic int n_delivered;
static uint64_t enabled_ns;

static const char *word(const char *key)
{
    static __thread char value[100];
    const char *at = getenv("FAKE_MSPTI");
    const size_t n = strlen(key);
    for (; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, key, n) == 0 && (at[n] == '=' || at[n] == ' ' || !at[n])) {
            snprintf(value, sizeof value, "%.*s", (int)strcspn(at, " "), at);
            return value[n] ? value + n + 1 : value + n;
        }
    return NULL;
}

static long number(const char *key, long otherwise)
{
    const char *const text = word(key);
    return text ? strtol(text, NULL, 10) : otherwise;
}

static int trouble(const char *call, int kind)
{
    char name[64];
    int code = 0, only = 0;
    const char *text = word("hang");
    while (text && strcmp(text, call) == 0)
        pause();
    text = word("error");
    if (text && sscanf(text, "%63[^:]:%d:%d", name, &code, &only) >= 2 && strcmp(name, call) == 0 &&
        (only == 0 || only == kind))
        return code;
    return 0;
}

/* ---- records ---- */

static struct {
    uint8_t *at;
    size_t bytes, used;
} full;

static void put(size_t offset, size_t n, uint64_t value)
{
    memcpy(full.at + full.used + offset, &value, n);
}

static void put_text(size_t offset, const char *text)
{
    put(offset, sizeof text, (uint64_t)(uintptr_t)text);
}

/* Full ones that are given back later. */
static struct {
    uint8_t *at;
    size_t bytes, used;
} kept[64];
static size_t n_kept;

static void give(void)
{
    if (full.at && word("full") && n_kept < sizeof kept / sizeof *kept) {
        kept[n_kept].at = full.at;
        kept[n_kept].bytes = full.bytes;
        kept[n_kept++].used = full.used;
    } else if (full.at) {
        complete(full.at, full.bytes, full.used);
    }
    full.at = NULL;
}

/* Begins a record. False: there is no buffer, and it is dropped. */
static bool begin(uint32_t kind)
{
    size_t most = 0;
    if (!is_enabled[kind])
        return false;
    if (full.at && full.bytes - full.used < bytes_of[kind])
        give();
    if (!full.at) {
        full.used = full.bytes = 0;
        request(&full.at, &full.bytes, &most);
    }
    if (!full.at)
        return false;
    memset(full.at + full.used, 0, bytes_of[kind]);
    put(0, 4, kind);
    return true;
}

static void end(uint32_t kind)
{
    full.used += bytes_of[kind];
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Kernel i takes 1000 + i ns, one every 2 us, on stream 1 + i % 2, launched by call i; copies (HtoD, 4096 bytes, 500
 * ns), sets (256 bytes, 300 ns) and collectives (fp32, 1024 elements, 700 ns) follow in the same way on streams 7, 8
 * and 9. Range i of the marks lasts as long as kernel i. The first one begins 50 ms after the kinds were enabled. */
static void deliver(void)
{
    enum { EVERY = 2000 };
    static const char *const kernel[] = { "aclnnAdd_AddAiCore_Add", "aclnnMatmul_MatMulV3AiCore_MatMulV3" };
    const long n[] = { number("kernels", 0), number("copies", 0), number("sets", 0), number("collectives", 0) };
    const uint64_t device = (uint64_t)number("device", 0), first = enabled_ns + 50000000;
    uint64_t at = first;
    if (n_delivered++ > 0)
        return;
    while (now_ns() < first + (uint64_t)(n[0] + n[1] + n[2] + n[3]) * EVERY)
        usleep(1000);
    for (long i = 0; i < n[0]; i++, at += EVERY)
        if (begin(KERNEL)) {
            put(4, 8, at);
            put(12, 8, at + 1000 + (uint64_t)i);
            put(20, 4, device);
            put(24, 4, 1 + (uint64_t)i % 2);
            put(28, 8, 1 + (uint64_t)i);
            put_text(36, "KERNEL_AICORE");
            put_text(44, kernel[i % 2]);
            end(KERNEL);
        }
    for (long i = 0; i < n[1] + n[2]; i++, at += EVERY) {
        const uint32_t kind = i < n[1] ? MEMCPY : MEMSET;
        if (begin(kind)) {
            put(4, 4, 2);
            put(8, 8, kind == MEMCPY ? 4096 : 256);
            put(16, 8, at);
            put(24, 8, at + (kind == MEMCPY ? 500 : 300));
            put(32, 4, device);
            put(36, 4, kind == MEMCPY ? 7 : 8);
            end(kind);
        }
    }
    for (long i = 0; i < n[3]; i++, at += EVERY) {
        const bool is_old = !is_enabled[COMMUNICATION];
        if (begin(is_old ? HCCL : COMMUNICATION)) {
            put(is_old ? 4 : 24, 8, at);
            put(is_old ? 12 : 32, 8, at + 700);
            put(is_old ? 20 : 16, 4, device);
            put(is_old ? 24 : 20, 4, 9);
            put_text(is_old ? 36 : 48, "hcom_allReduce__483_1_1");
            put_text(is_old ? 44 : 56, "hccl_world_group");
            if (!is_old) {
                put(4, 4, 4);
                put(8, 8, 1024);
                put_text(40, "MESH-RING");
            }
            end(is_old ? HCCL : COMMUNICATION);
        }
    }
    at = first - 1000;
    for (long i = 0; i < number("calls", 0); i++, at += EVERY)
        if (begin(API)) {
            put(4, 8, at);
            put(12, 8, at + 900);
            put(20, 4, (uint64_t)getpid());
            put(24, 4, (uint64_t)getpid());
            put(28, 8, 1 + (uint64_t)i);
            put_text(36, "aclrtLaunchKernel");
            end(API);
        }
    for (long i = 0; i < 2 * number("marks", 0); i++)
        if (begin(MARKER)) {
            put(4, 4, i % 2 == 0 ? 2 : 4);
            put(12, 8, first + (uint64_t)(i / 2) * EVERY + (uint64_t)(i % 2) * (1000 + (uint64_t)i / 2));
            put(20, 8, 100 + (uint64_t)i / 2);
            put(32, 4, (uint64_t)getpid());
            put_text(36, i % 2 == 0 ? "a range of the vendor" : "");
            put_text(44, "default");
            end(MARKER);
        }
    for (long i = 0; i < 3 && word("damaged"); i++)
        if (begin(KERNEL)) {
            put(4, 8, i == 0 ? 0 : at);
            put(12, 8, i == 2 ? at - 1 : at + 1);
            put(20, 4, i == 1 ? 99 : 0);
            put_text(44, "damaged");
            end(KERNEL);
        }
    give();
    for (; n_kept > 0; n_kept--)
        complete(kept[n_kept - 1].at, kept[n_kept - 1].bytes, kept[n_kept - 1].used);
}

static void *deliver_late(void *unused)
{
    usleep(20000);
    deliver();
    return unused;
}

/* ---- functions ---- */

EXPORTED int msptiSubscribe(void **handle, void *callback, void *user)
{
    static int subscriber;
    (void)callback;
    (void)user;
    *handle = &subscriber;
    n_delivered = 0;
    return trouble("msptiSubscribe", 0);
}

EXPORTED int msptiUnsubscribe(void *handle)
{
    pthread_t late;
    if (word("late")) {
        memset(is_enabled, 1, sizeof is_enabled);
        n_delivered = 0;
        if (pthread_create(&late, NULL, deliver_late, NULL) == 0)
            pthread_join(late, NULL);
    }
    return handle ? trouble("msptiUnsubscribe", 0) : 1;
}

EXPORTED int msptiActivityRegisterCallbacks(wanted *on_request, done *on_complete)
{
    request = on_request;
    complete = on_complete;
    return trouble("msptiActivityRegisterCallbacks", 0);
}

EXPORTED int msptiActivityEnable(int kind)
{
    const int code = trouble("msptiActivityEnable", kind);
    is_enabled[kind] = code == 0;
    enabled_ns = now_ns();
    return code;
}

EXPORTED int msptiActivityDisable(int kind)
{
    is_enabled[kind] = false;
    return trouble("msptiActivityDisable", kind);
}

static void *deliver_from_thread(void *unused)
{
    deliver();
    return unused;
}

EXPORTED int msptiActivityFlushAll(uint32_t flag)
{
    pthread_t thread;
    (void)flag;
    const int code = trouble("msptiActivityFlushAll", 0);
    if (pthread_create(&thread, NULL, deliver_from_thread, NULL) == 0)
        pthread_join(thread, NULL);
    return code;
}

#ifndef OLDER
static void *deliver_soon(void *unused)
{
    usleep(100000);
    deliver();
    return unused;
}

EXPORTED int msptiActivityFlushPeriod(uint32_t ms)
{
    pthread_t thread;
    if (ms > 0 && word("periodic") && pthread_create(&thread, NULL, deliver_soon, NULL) == 0)
        pthread_detach(thread);
    return trouble("msptiActivityFlushPeriod", 0);
}
#endif

#ifndef BROKEN
EXPORTED int msptiActivityGetNextRecord(uint8_t *buffer, size_t used, uint8_t **record)
{
    static __thread uint8_t *of;
    static __thread size_t at;
    if (of != buffer) {
        of = buffer;
        at = 0;
    }
    if (at >= used) {
        of = NULL;
        return 3;
    }
    uint32_t kind;
    memcpy(&kind, buffer + at, sizeof kind);
    *record = buffer + at;
    at += kind < sizeof bytes_of / sizeof *bytes_of && bytes_of[kind] ? bytes_of[kind] : used;
    return 0;
}
#endif
