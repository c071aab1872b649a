/* SPDX-License-Identifier: Apache-2.0 */
/* monitor_record.h - the ring file of a monitored process: a header, then records of fixed size, the oldest of which
 * are overwritten.
 *
 * Record number s is at place s % capacity. A reader takes a record only if its checksum is right and its number
 * belongs to its place, so that one that is half written, or cut by a full disk, is never taken for a record. All
 * numbers are little-endian, as the hosts are.
 */
#ifndef ASCOPE_RAW_MONITOR_MONITOR_RECORD_H
#define ASCOPE_RAW_MONITOR_MONITOR_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ascope/monitor.h"

#define MONITOR_MAGIC  "ascope-monitor 1"
#define MONITOR_PREFIX "monitor_" /* of its name: monitor_HOST_PID_NUMBER.ring */
#define MONITOR_SUFFIX ".ring"
enum { MONITOR_HEADER_BYTES = 4096, MONITOR_VALUES = 16, MONITOR_HOST_BYTES = 65 };
static const int64_t MONITOR_UNKNOWN = INT64_MIN; /* of a value: not recorded */

struct monitor_header {
    char magic[16];
    uint32_t record_bytes, capacity; /* capacity: records of the ring */
    int64_t pid, began_unix_ns;
    char host[72];
    uint64_t checksum; /* of what is before it */
};

enum { MONITOR_STOPPED = 1 }; /* flags: the last record of a process that ended in order */

struct monitor_record {
    uint64_t number; /* counts from 0 */
    int64_t step;    /* number of the first of its steps */
    uint32_t n_steps;
    int32_t rank;   /* below 0: not known */
    uint32_t world; /* 0: not known */
    uint32_t flags;
    int64_t begin_unix_ns;
    int64_t time_ns;               /* of all its steps */
    int64_t longest_ns;            /* the longest of them */
    int64_t lost;                  /* records that could not be written so far */
    int64_t value[MONITOR_VALUES]; /* by enum ascope_monitor_value */
    uint64_t checksum;             /* of what is before it */
};

void monitor_header_seal(struct monitor_header *h);
bool monitor_header_is_valid(const struct monitor_header *h, size_t n); /* n: bytes that were read */
void monitor_record_seal(struct monitor_record *r);
bool monitor_record_is_valid(const struct monitor_record *r, uint64_t place, uint64_t capacity);
static inline int64_t monitor_record_at(uint64_t place)
{
    return MONITOR_HEADER_BYTES + (int64_t)(place * sizeof(struct monitor_record));
}

/* The values by number: for JSON, metrics and tables. */
struct monitor_value_row {
    const char *key;
    enum monitor_unit { MONITOR_TIME, MONITOR_COUNT, MONITOR_BYTES, MONITOR_MHZ, MONITOR_MW } unit;
    bool is_sum; /* over the steps of a record; else the last value */
};
extern const struct monitor_value_row monitor_value_rows[MONITOR_VALUES];

#endif
