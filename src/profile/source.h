/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - where a profile was read from: a PROF_XXX directory, its host and device directories, their clocks and
 * files.
 *
 * A source is one directory (host or device_N). It has its settings, the conversion of its counters to wall-clock time,
 * and the streams of records in its data directory, sorted and in memory. Filled by load/prof/source_open.c; its
 * lifetime is that of the profile.
 */
#ifndef ASCOPE_PROFILE_SOURCE_H
#define ASCOPE_PROFILE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/process/clock.h"
#include "base/text/error.h"
#include "base/memory/large_memory.h"
#include "profile/settings.h"
#include "profile/gpu_facts.h"
#include "raw/chip.h"

struct slice {
    const char *name; /* "device_0/data/hbm.data.0.slice_0": for messages */
    const uint8_t *data;
    size_t size;
    uint32_t number;
    uint64_t from; /* where data begins in the file: a file with holes is several slices of the same number
                 (base/files/holes.h) */
    bool ends_in_hole;
    struct mapped map; /* where it lies, unless it was small enough to be copied */
};

/* One file family of a folder, cut into slices. Records may straddle two of them: read through records.h or text.h. */
struct stream {
    const char *family; /* "api_event.data", "compact.task_track", "hbm.data", "101-CpuUsage.data" */
    bool is_unaging;    /* written once, at load time: what it describes is static */
    struct slice *slice;
    size_t n_slices;
    bool is_opened;  /* a reader has read it */
    bool is_checked; /* its damage is counted; several readers may read a stream, one for each kind of record */
    size_t n_unread; /* complete records that no reader has recognised so far; valid if is_checked */
};

enum { HOST_DEVICE_ID = 64, PLATFORM_UNKNOWN = -1 };

struct source {
    bool is_host;
    unsigned device;  /* HOST_DEVICE_ID for the host */
    const char *name; /* "host", "device_0" */
    const char *path; /* of the folder */
    struct settings settings;

    int platform;            /* platform_version: 5 is Atlas A2 and A3 */
    const struct chip *chip; /* what that means */
    uint32_t pid;
    const char *pid_name;
    uint32_t ai_core_num, aiv_num;
    double aic_mhz, aiv_mhz;
    struct gpu_facts gpu;

    struct clock host_clock;   /* host counter -> CLOCK_MONOTONIC_RAW ns of the host */
    struct clock device_clock; /* device counter -> the same time line; devices only */
    int64_t host_mono_ns;      /* host and device clocks at the same instant, when the collection started */
    int64_t device_mono_ns;
    int64_t wall_offset_ns;   /* monotonic ns + this = wall clock ns */
    int64_t begin_ns, end_ns; /* of the collection, wall clock; end is a guess when has_end is false */
    const char *begin_date;   /* the same begin in the words of the machine that collected, local time; may be "" */
    bool has_end;
    int64_t last_ns;  /* of the host, without an end: its last record, wall clock; 0: none is known */
    int64_t drift_ns; /* how far the wall clock moved against the monotonic one meanwhile; 0: unknown */

    struct stream *stream; /* sorted by family, unaging first */
    size_t n_streams;
    bool is_partial; /* some readers were left out: streams that they would have read are no loss */
    bool is_counted; /* its unread streams are among the losses */
    struct arena *mem;
    struct losses lost;
};

/* The end of the collection as far as it is known, or else that of the host's last record; 0: neither. */
static inline int64_t source_end_ns(const struct source *s, const struct source *host)
{
    return s->has_end ? s->end_ns : s->last_ns > 0 ? s->last_ns : host->last_ns;
}

/* Wall-clock ns of a raw stamp. */
static inline int64_t source_host_ns(const struct source *s, uint64_t cnt)
{
    return stamp_add(clock_ns(&s->host_clock, cnt), s->wall_offset_ns);
}

static inline int64_t source_device_ns(const struct source *s, uint64_t tick)
{
    return stamp_add(clock_ns(&s->device_clock, tick), s->wall_offset_ns);
}

/* A sampler's stamp in ns of the device's monotonic clock. */
static inline int64_t source_sampler_ns(const struct source *s, int64_t device_mono)
{
    return stamp_held((__int128)device_mono - s->device_mono_ns + s->host_mono_ns + s->wall_offset_ns);
}

/* A sampler's stamp in µs since the device's clock was read at the start. */
static inline int64_t source_relative_us_ns(const struct source *s, int64_t us)
{
    return stamp_held((__int128)us * 1000 + s->host_mono_ns + s->wall_offset_ns);
}

/* Simulated data is marked in a field that collectors fill with the name of a job. */
bool source_is_simulated(const struct source *s);

/* "Atlas A2"; for a GPU its name, which comes from a file and has to be escaped before it is printed. */
const char *source_product(const struct source *s);

/* The first stream of a family (the unaging one, if any); *n: the number of streams, consecutive in the array. NULL:
 * none. */
const struct stream *source_streams(const struct source *s, const char *family, size_t *n);

/* The first file of a family, for messages; the family's own name when there is none. */
const char *source_file(const struct source *s, const char *family);

/* Count a loss with its file and offset. stream_lost(): `at` is an offset in the stream. record_lost(): `rec` points
 * into a record of the family; if it is NULL, or the record was joined from two slices, the loss has the first file of
 * the family. */
void stream_lost(struct source *s, const struct stream *stream, enum loss why, uint64_t at);
void record_lost(struct source *s, const char *family, enum loss why, const uint8_t *rec);

/* Counts the streams and the complete records that no reader has recognised. After all readers. */
void source_count_unread(struct source *s);

#endif
