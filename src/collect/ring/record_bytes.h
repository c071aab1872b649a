/* SPDX-License-Identifier: Apache-2.0 */
/* record_bytes.h - the records that programs make most often, as structs: filled by plain stores, at offsets that the
 * compiler knows. src/raw has the same records as tables, for readers. tests/unit/collect/test_record.c compares every field of the
 * structs with the tables.
 */
#ifndef ASCOPE_COLLECT_RING_RECORD_BYTES_H
#define ASCOPE_COLLECT_RING_RECORD_BYTES_H

#include <stdint.h>

#include "raw/host_records.h"
#include "raw/mindspore.h"
#include "raw/torch.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "records are little-endian, and written as they lie in memory");

#define AS_IN_FILE __attribute__((packed))

enum { TLV_OPERATOR = 1, TLV_QUEUE, TLV_MEMORY, TLV_PYTHON_KEY, TLV_PYTHON_PARAMETERS, TLV_GRAPH_NODE };

struct AS_IN_FILE tlv_bytes {
    uint16_t type;
    uint32_t length; /* of what follows */
};

struct AS_IN_FILE op_bytes {
    struct tlv_bytes tlv;
    uint64_t begin, end;
    int64_t sequence;
    uint64_t process, thread, end_thread, forward_thread;
    uint8_t scope, is_async;
};

/* In rings alone: numbers that stand for texts, in front of the other fields of an operator: its name, types and
 * shapes, and the innermost frame of its stack (short_records.c). */
enum { TORCH_FRAME = 0x4653, TORCH_LABEL = 0x4C53 };
struct AS_IN_FILE op_number_bytes {
    struct tlv_bytes tlv;
    uint32_t number;
};

/* In rings alone: an operator that has nothing but these numbers, and an event of memory without what only devices
 * have. With the head of a record they are a line of the cache; words, so that the check needs nothing that was stored
 * (ring_inline.h). */
enum { OP_SHORT = 0x4F53, MEMORY_SHORT = 0x4D53 };
struct op_short_bytes {
    uint16_t type;
    uint8_t scope, is_async;
    uint32_t label;
    uint64_t begin, end;
    int64_t sequence;
    uint64_t forward_thread;
    uint32_t thread, end_thread, process, frame; /* frame: 0: none */
};

struct memory_short_bytes {
    uint16_t type;
    uint8_t device_type, device, component, kind, unused[2];
    uint64_t pointer, time;
    int64_t size, allocated, reserved;
    uint32_t thread, process;
};

struct AS_IN_FILE queue_bytes {
    struct tlv_bytes tlv;
    uint64_t time, kind, id, thread, process;
};

struct AS_IN_FILE memory_bytes {
    struct tlv_bytes tlv;
    uint64_t pointer, time;
    int64_t size, allocated, reserved, active, stream;
    uint8_t device_type, device, component, kind, allocator;
    uint64_t thread, process;
};

struct AS_IN_FILE python_call_bytes {
    uint64_t time, thread, process, key;
    uint8_t tag;
};

struct AS_IN_FILE python_key_bytes {
    struct tlv_bytes tlv;
    uint64_t key;
};

struct AS_IN_FILE graph_node_bytes {
    struct tlv_bytes tlv;
    uint64_t node;
    uint32_t op, stack;
};

struct AS_IN_FILE python_gc_bytes {
    uint64_t process, begin, end;
};

struct AS_IN_FILE step_thread_bytes {
    uint64_t begin, end, thread, step, cpu_ns, ready_ns;
    uint32_t minor, major, yielded, pushed;
};

/* Of MindSpore's files. */
struct AS_IN_FILE ms_range_bytes {
    struct tlv_bytes tlv;
    uint64_t thread, flow, step, begin, end;
    uint32_t process;
    uint16_t module, event, stage;
    int8_t level;
    uint8_t is_graph_data, is_stage, is_stack;
};

struct AS_IN_FILE ms_memory_bytes {
    struct tlv_bytes tlv;
    uint32_t device;
    uint64_t thread, process, time_ns, address, size, used, peak, reserved, used_by_event, eager_free, stream_pointer;
    uint32_t stream;
    uint8_t from_persistent, is_persistent, run_mode, alloc_type;
};

enum { HOST_MAGIC = 0x5A5A };

struct AS_IN_FILE call_bytes {
    uint16_t magic, level;
    uint32_t type, thread, request;
    uint64_t begin, end, item;
};

struct AS_IN_FILE mark_bytes {
    uint16_t magic, level;
    uint32_t type, thread, data_length;
    uint64_t time;
    uint16_t info, segment;
    uint32_t unused;
    uint16_t stamp_magic, stamp_tag; /* a stamp was once a record of its own */
    uint32_t process, mark_thread, category, event, payload_type;
    uint64_t payload, begin, end, id, domain;
    uint32_t message_type;
    char message[MARK_MESSAGE_BYTES];
};

#endif
