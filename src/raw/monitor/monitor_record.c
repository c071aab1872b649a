/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/monitor/monitor_record.h"

#include <string.h>

#include "base/files/checksum.h"

_Static_assert((int)ASCOPE_MONITOR_VALUES == (int)MONITOR_VALUES, "the record has all values");
_Static_assert(sizeof(struct monitor_record) == 200, "no padding");
_Static_assert(sizeof(struct monitor_header) == 120, "no padding");

const struct monitor_value_row monitor_value_rows[MONITOR_VALUES] = {
    [ASCOPE_MONITOR_COMPUTING] = { "computing", MONITOR_TIME, true },
    [ASCOPE_MONITOR_COMMUNICATION] = { "communication", MONITOR_TIME, true },
    [ASCOPE_MONITOR_WAIT] = { "wait", MONITOR_TIME, true },
    [ASCOPE_MONITOR_TRANSFER] = { "transfer", MONITOR_TIME, true },
    [ASCOPE_MONITOR_COPY] = { "copy", MONITOR_TIME, true },
    [ASCOPE_MONITOR_DATA] = { "data", MONITOR_TIME, true },
    [ASCOPE_MONITOR_GC] = { "gc", MONITOR_TIME, true },
    [ASCOPE_MONITOR_CPU] = { "cpu", MONITOR_TIME, true },
    [ASCOPE_MONITOR_PREEMPTED] = { "preempted", MONITOR_TIME, true },
    [ASCOPE_MONITOR_TOKENS] = { "tokens", MONITOR_COUNT, true },
    [ASCOPE_MONITOR_ALLOCATED] = { "allocated", MONITOR_BYTES, false },
    [ASCOPE_MONITOR_RESERVED] = { "reserved", MONITOR_BYTES, false },
    [ASCOPE_MONITOR_PEAK] = { "peak", MONITOR_BYTES, false },
    [ASCOPE_MONITOR_RESIDENT] = { "resident", MONITOR_BYTES, false },
    [ASCOPE_MONITOR_CLOCK_MHZ] = { "clock", MONITOR_MHZ, false },
    [ASCOPE_MONITOR_POWER_MW] = { "power", MONITOR_MW, false },
};

void monitor_header_seal(struct monitor_header *h)
{
    h->checksum = checksum_of(h, offsetof(struct monitor_header, checksum));
}

bool monitor_header_is_valid(const struct monitor_header *h, size_t n)
{
    return n >= sizeof *h && memcmp(h->magic, MONITOR_MAGIC, sizeof h->magic) == 0 &&
           h->checksum == checksum_of(h, offsetof(struct monitor_header, checksum)) &&
           h->record_bytes == sizeof(struct monitor_record) && h->capacity > 0 && h->host[sizeof h->host - 1] == '\0';
}

void monitor_record_seal(struct monitor_record *r)
{
    r->checksum = checksum_of(r, offsetof(struct monitor_record, checksum));
}

/* The checksum is no proof against somebody who writes one: values that a sum over a window could overflow with, or
 * that no step has, are refused, too. */
bool monitor_record_is_valid(const struct monitor_record *r, uint64_t place, uint64_t capacity)
{
    static const int64_t most = INT64_MAX / 1024;
    bool is_valid = r->number % capacity == place &&
                    r->checksum == checksum_of(r, offsetof(struct monitor_record, checksum)) && r->step >= 0 &&
                    r->step < most && r->time_ns >= 0 && r->time_ns < most && r->longest_ns >= 0 &&
                    r->longest_ns <= r->time_ns && r->begin_unix_ns >= 0 && r->begin_unix_ns < INT64_MAX - most;
    for (size_t i = 0; is_valid && i < MONITOR_VALUES; i++)
        is_valid = r->value[i] == MONITOR_UNKNOWN || (r->value[i] >= 0 && r->value[i] < most);
    return is_valid;
}
