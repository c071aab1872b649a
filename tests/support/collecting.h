/* SPDX-License-Identifier: Apache-2.0 */
/* collecting.h - a small collection in the test's folder: rings, writer, and what its files hold afterwards. */
#ifndef ASCOPE_TESTS_COLLECTING_H
#define ASCOPE_TESTS_COLLECTING_H

#include "test.h"

#include "collect/ring/ring.h"
#include "collect/ring/ring_inline.h"
#include "collect/write/writer.h"
#include "folder.h"

enum { SLICE = 4096, RING_BYTES = 1 << 16 };
#define SESSION_ID "00112233445566778899AABBCCDDEEFF"

/* What a session writes first: whose the rings will be. */
static inline void collecting_facts(const char *id)
{
    FILE *f = fopen(folder_path("ascope.json"), "wb");
    fprintf(f, "{\"ended\": \"running\", \"session\": \"%s\", \"device\": \"sim\", \"clock\": {\"mhz\": 1000.0}}", id);
    fclose(f);
}

static inline void collecting_start(const struct writer_options *more)
{
    struct error e = { 0 };
    char framework[512], prof[512], rings_path[512];
    snprintf(framework, sizeof framework, "%s/FRAMEWORK", folder);
    snprintf(prof, sizeof prof, "%s/PROF_1", folder);
    snprintf(rings_path, sizeof rings_path, "%s/" RINGS_NAME, folder);
    mkdir(framework, 0750);
    mkdir(prof, 0750);
    struct writer_options o = more ? *more : (struct writer_options){ 0 };
    if (o.slice_bytes == 0)
        o.slice_bytes = SLICE;
    o.framework_dir = framework;
    o.prof_dir = prof;
    collecting_facts(SESSION_ID);
    if (!rings_open(&(struct rings_options){ .path = rings_path, .id = SESSION_ID, .ring_bytes = RING_BYTES }, &e) ||
        !writer_start(&o, &e))
        fail_msg("%s", e.text);
}

static inline struct writer_tally collecting_stop(void)
{
    struct error e = { 0 };
    struct writer_tally tally;
    const bool is_well = writer_stop(&tally, &e);
    writer_leave(true);
    rings_close();
    if (!is_well)
        fail_msg("%s", e.text);
    return tally;
}

/* A record whose first bytes say which one it is, put in both ways by turns. False: dropped. */
static inline bool put_number(enum stream_id stream, unsigned device, size_t bytes, uint64_t number)
{
    const bool is_inline = device == 0 && number % 2 == 0;
    const struct ring_slot slot = is_inline ? ring_put_inline(stream, bytes) : ring_put(stream, device, bytes);
    if (!slot.at)
        return false;
    memset(slot.at, 0xEE, bytes);
    memcpy(slot.at, &number, bytes < sizeof number ? bytes : sizeof number);
    if (is_inline)
        ring_done_inline(slot);
    else
        ring_done(slot);
    return true;
}

/* The whole file, up to what fits; SIZE_MAX: it is not there. */
static inline size_t file_text(const char *name, void *into, size_t size)
{
    FILE *f = fopen(folder_path(name), "rb");
    if (!f)
        return SIZE_MAX;
    const size_t n = fread(into, 1, size, f);
    fclose(f);
    return n;
}

static inline bool file_exists(const char *name)
{
    return access(folder_path(name), F_OK) == 0;
}

#endif
