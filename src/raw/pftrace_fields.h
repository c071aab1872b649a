/* SPDX-License-Identifier: Apache-2.0 */
/* pftrace_fields.h - the fields of Perfetto's own format that are written and read: numbers of protobuf messages.
 *
 * A file is a sequence of packets. A packet has an event, a track or interned texts, or is a compressed sequence of
 * packets.
 */
#ifndef ASCOPE_RAW_PFTRACE_FIELDS_H
#define ASCOPE_RAW_PFTRACE_FIELDS_H

enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_COMPRESSED = 50,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_RANK = 12,
    TRACK_PROCESS_ORDER = 19,
    TRACK_THREAD_ORDER = 20,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    PROCESS_LABEL = 8,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    EVENT_CATEGORY = 3,
    EVENT_ARG = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_CATEGORY_TEXT = 22,
    EVENT_NAME_TEXT = 23,
    EVENT_WHOLE = 30, /* a counter's value, an integer */
    EVENT_COUNTER = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    ARG_NAME = 1,
    ARG_BOOL = 2,
    ARG_UINT = 3,
    ARG_INT = 4,
    ARG_REAL = 5,
    ARG_TEXT = 6,
    ARG_POINTER = 7,
    ARG_JSON = 9,
    ARG_NAME_TEXT = 10,
    ARG_MEMBER = 11,
    ARG_ELEMENT = 12,
    ARG_TEXT_ID = 17,
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_ARG_NAME = 3,
    INTERNED_TEXT = 29,
    INTERNED_ID = 1,
    INTERNED_VALUE = 2,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_NAMES = 2, SEQUENCE = 1 };

#endif
