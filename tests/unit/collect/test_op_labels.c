/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <signal.h>

#include "ascope/record.h"
#include "child.h"
#include "collect/ring/record_bytes.h"
#include "collect/ring/ring.h"
#include "collect/session/recording.h"
#include "collect/session/recover.h"
#include "collect/write/outputs.h"

enum { OPERATORS = 400, FILE_MOST = 1 << 20, RECORD_ROOM = 512 };
enum { HAS_LABEL = 1, HAS_FRAME = 2, HAS_SCALARS = 4, HAS_FAR_THREAD = 8, HAS_ALL = 16 };
static const uint32_t everything =
    ASCOPE_RECORDS_OPERATORS | ASCOPE_RECORDS_SHAPES | ASCOPE_RECORDS_STACK | ASCOPE_RECORDS_MEMORY;
static const char stack[] = "train.py(3): step", scalars[] = "Int;Double", types[] = "float;float;Scalar";
static const char *const names[] = { "aten::add", "aten::convolution", "x", "aten::native_batch_norm_backward_longer" };
static const char *const shapes[] = { "2,3;2,3;", "64,3,7,7;;", "", "1;1;" };

/* What is the same in all that is recorded, as the program knows it. */
static struct ascope_op op_of(unsigned i)
{
    return (struct ascope_op){ .size = sizeof(struct ascope_op),
                               .sequence = i % 5 ? (int64_t)i : -1,
                               .forward_thread = i % 7,
                               .scope = (uint8_t)(i % 3),
                               .name = ascope_text_of(names[i % 4]),
                               .types = ascope_text_of(types),
                               .shapes = ascope_text_of(shapes[i % 4]) };
}

static void record_operator(unsigned i, struct ascope_op label[4], uint32_t frame)
{
    const unsigned has = i % HAS_ALL;
    struct ascope_op op = op_of(i);
    if (has & HAS_LABEL) {
        if (label[i % 4].label == 0)
            assert_true(ascope_op_label(&op));
        else
            op.label = label[i % 4].label, op.label_turn = label[i % 4].label_turn;
        label[i % 4] = op;
        op.name = op.types = op.shapes = (struct ascope_text){ NULL, 0 };
    }
    if (has & HAS_FRAME)
        op.frame = frame;
    if ((has | HAS_FRAME) == (HAS_LABEL | HAS_FRAME) && i / HAS_ALL % 2) { /* the same, by the shortest way */
        ascope_op_again((struct ascope_label){ op.label, op.label_turn }, ascope_now(), op.sequence, op.forward_thread,
                        op.frame, op.scope);
        return;
    }
    if (has & HAS_SCALARS)
        op.scalars = ascope_text_of(scalars);
    ascope_op_record_begin(&op);
    if (has & HAS_FAR_THREAD)
        op.begin_thread = UINT64_C(1) << 40 | i;
    ascope_op_record_end(&op);
}

static void record_memory(unsigned i)
{
    const struct ascope_memory m = { .size = sizeof m,
                                     .pointer = UINT64_C(0x7f0000000000) + i,
                                     .size_bytes = i % 2 ? -(int64_t)i : (int64_t)i,
                                     .allocated_bytes = i * INT64_C(3),
                                     .reserved_bytes = INT64_C(1) << 40,
                                     .active_bytes = i % 3 ? 0 : i,
                                     .stream = i % 5 ? 0 : 9,
                                     .device_type = i % 2 ? ASCOPE_ON_NPU : ASCOPE_ON_CPU,
                                     .device = (uint8_t)(i % 2 ? 3 : 255),
                                     .event = (uint8_t)(i % 3),
                                     .is_workspace = i % 4 == 0 };
    if ((m.active_bytes | m.stream) == 0 && i / HAS_ALL % 2)
        ascope_memory_changed((struct ascope_memory_kind){ m.device_type, m.device, m.event, m.is_workspace, 0 },
                              m.pointer, m.size_bytes, m.allocated_bytes, m.reserved_bytes);
    else
        ascope_memory(&m);
}

static void record(bool is_killed)
{
    struct writer_tally tally;
    struct error e = { 0 };
    struct ascope_op label[4] = { { .size = 0 } };
    recording_prepare();
    recording_set(everything);
    const uint32_t frame = ascope_frame(0, ascope_text_of(stack));
    for (unsigned i = 0; i < OPERATORS; i++) {
        if (i == OPERATORS / 2)
            writer_flush(&tally, &e); /* labels are in their file, and in the rings no more */
        record_operator(i, label, frame);
        record_memory(i);
    }
    if (is_killed)
        raise(SIGKILL);
    recording_set(0);
}

/* ---- what has to be in the files ---- */

static uint8_t *add(uint8_t *to, uint16_t type, const char *text)
{
    const struct tlv_bytes head = { type, (uint32_t)strlen(text) };
    if (head.length == 0)
        return to;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, text, head.length);
    return to + sizeof head + head.length;
}

/* `at`: the times and threads are taken from what is there. */
static size_t wanted_operator(unsigned i, const uint8_t *at, uint8_t wanted[RECORD_ROOM])
{
    const unsigned has = i % HAS_ALL;
    const struct ascope_op op = op_of(i);
    struct op_bytes b;
    memcpy(&b, at, sizeof b);
    assert_true(b.begin <= b.end && b.end_thread == ring_thread());
    assert_true(b.thread == (has & HAS_FAR_THREAD ? UINT64_C(1) << 40 | i : b.end_thread));
    b.sequence = op.sequence;
    b.process = recording_process;
    b.forward_thread = op.forward_thread;
    b.scope = op.scope;
    b.is_async = 0;
    uint8_t *to = wanted + sizeof b;
    to = add(to, TORCH_TEXT_NAME, names[i % 4]);
    to = add(to, TORCH_TEXT_TYPES, types);
    to = add(to, TORCH_TEXT_SHAPES, shapes[i % 4]);
    to = add(to, TORCH_TEXT_SCALARS, has & HAS_SCALARS ? scalars : "");
    to = add(to, TORCH_TEXT_STACK, has & HAS_FRAME ? stack : "");
    b.tlv = (struct tlv_bytes){ TLV_OPERATOR, (uint32_t)((size_t)(to - wanted) - sizeof b.tlv) };
    memcpy(wanted, &b, sizeof b);
    return (size_t)(to - wanted);
}

static size_t wanted_memory(unsigned i, const uint8_t *at, uint8_t wanted[RECORD_ROOM])
{
    struct memory_bytes b, m;
    memcpy(&b, at, sizeof b);
    assert_int_equal(b.thread, ring_thread());
    m = (struct memory_bytes){ .tlv = { TLV_MEMORY, sizeof m - sizeof m.tlv },
                               .pointer = UINT64_C(0x7f0000000000) + i,
                               .time = b.time,
                               .size = i % 2 ? -(int64_t)i : (int64_t)i,
                               .allocated = i * INT64_C(3),
                               .reserved = INT64_C(1) << 40,
                               .active = i % 3 ? 0 : i,
                               .stream = i % 5 ? 0 : 9,
                               .device_type = i % 2 ? ASCOPE_ON_NPU : ASCOPE_ON_CPU,
                               .device = (uint8_t)(i % 2 ? 3 : 255),
                               .component = i % 4 == 0 ? COMPONENT_WORKSPACE : COMPONENT_CACHING,
                               .kind = (uint8_t)(i % 3),
                               .allocator = ALLOCATOR_INNER,
                               .thread = b.thread,
                               .process = recording_process };
    memcpy(wanted, &m, sizeof m);
    return sizeof m;
}

static void check_file(const char *path,
                       size_t (*wanted_of)(unsigned i, const uint8_t *at, uint8_t wanted[RECORD_ROOM]))
{
    static uint8_t bytes[FILE_MOST + RECORD_ROOM];
    uint8_t wanted[RECORD_ROOM];
    const size_t n = file_text(path, bytes, FILE_MOST);
    size_t at = 0;
    for (unsigned i = 0; i < OPERATORS; i++) {
        const size_t length = wanted_of(i, bytes + at, wanted);
        assert_true(n - at >= length);
        assert_memory_equal(bytes + at, wanted, length);
        at += length;
    }
    assert_int_equal(at, n);
}

static void check_files(void)
{
    check_file("FRAMEWORK/torch.op_range", wanted_operator);
    check_file("FRAMEWORK/torch.memory_usage", wanted_memory);
    assert_false(file_exists("FRAMEWORK/ascope.frames"));
}

static void files_are_the_same_with_labels_and_without(void **state)
{
    collecting_start(NULL);
    record(false);
    rings_stop();
    const struct writer_tally tally = collecting_stop();
    assert_int_equal(tally.dropped[STREAM_TORCH_OP] + tally.dropped[STREAM_FRAME], 0);
    check_files();
    (void)state;
}

static void killed_programs_leave_labels(void **state)
{
    const pid_t child = child_fork();
    if (child == 0) {
        collecting_start(NULL);
        record(true);
    }
    child_end_by(child, SIGKILL);
    struct recovered r;
    struct error e = { 0 };
    if (collection_recover(folder, &r, &e) != RECOVERY_DONE)
        fail_msg("%s", e.text);
    assert_int_equal(r.n_damaged, 0);
    recording_process = (uint32_t)child;
    static uint8_t bytes[FILE_MOST + RECORD_ROOM];
    assert_true(file_text("FRAMEWORK/torch.op_range", bytes, FILE_MOST) > OPERATORS * sizeof(struct op_bytes));
    ring_thread_number = (uint32_t)child; /* its only thread */
    check_files();
    ring_thread_number = 0;
    (void)state;
}

/* A number that no recording knows, or one of an older one: the operator has no name, and is counted. */
static void labels_of_nobody_are_counted(void **state)
{
    struct ascope_op op = op_of(1);
    collecting_start(NULL);
    recording_prepare();
    recording_set(everything);
    assert_true(ascope_op_label(&op));
    const uint32_t label = op.label;
    op.label_turn--;
    ascope_op_record_begin(&op);
    ascope_op_record_end(&op); /* of an older recording */
    ascope_op_again((struct ascope_label){ label, op.label_turn }, ascope_now(), -1, 0, 0, 0);
    op.label_turn++;
    const struct ascope_label mine = { label, op.label_turn };
    ascope_op_again(mine, 1, -1, 0, 0, 0); /* began before the recording: of no session, and not counted */
    op.label = label + 1;
    ascope_op_record_begin(&op);
    ascope_op_record_end(&op); /* of none */
    op.label = label;
    ascope_op_record_begin(&op);
    ascope_op_record_end(&op);
    recording_set(0);
    ascope_op_again(mine, ascope_now(), -1, 0, 0, 0); /* nothing is recorded */
    rings_stop();
    const struct writer_tally tally = collecting_stop();
    assert_int_equal(tally.dropped[STREAM_TORCH_OP], 3);
    static uint8_t bytes[FILE_MOST];
    assert_int_equal(file_text("FRAMEWORK/torch.op_range", bytes, sizeof bytes),
                     sizeof(struct op_bytes) + 3 * sizeof(struct tlv_bytes) + strlen(names[1]) + strlen(types) +
                         strlen(shapes[1]));
    (void)state;
}

static void labels_have_limits(void **state)
{
    static char long_text[LABEL_BYTES_MOST + 1];
    struct ascope_op op = op_of(0);
    memset(long_text, 'x', sizeof long_text);
    collecting_start(NULL);
    recording_prepare();
    assert_false(ascope_op_label(&op)); /* nothing is recorded */
    recording_set(everything);
    op.shapes = (struct ascope_text){ long_text, sizeof long_text };
    assert_false(ascope_op_label(&op));
    op = op_of(0);
    op.size = offsetof(struct ascope_op, label); /* a program that knows no labels */
    assert_false(ascope_op_label(&op));
    op.size = sizeof op;
    atomic_store(&recording_frames, LABELS_MOST);
    assert_false(ascope_op_label(&op));
    assert_int_equal(op.label, 0);
    assert_int_not_equal(ascope_frame(0, ascope_text_of(stack)), 0);
    atomic_store(&recording_frames, 0);
    recording_set(0);
    rings_stop();
    collecting_stop();
    (void)state;
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test_setup_teardown(files_are_the_same_with_labels_and_without, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(killed_programs_leave_labels, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(labels_of_nobody_are_counted, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(labels_have_limits, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
