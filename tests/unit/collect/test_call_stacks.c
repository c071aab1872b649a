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

/* ---- frames ---- */

static bool note(struct stacks *s, uint32_t id, uint32_t caller, const char *text, uint32_t text_bytes)
{
    uint8_t record[256];
    const struct frame_bytes head = { id, caller, text_bytes };
    memcpy(record, &head, sizeof head);
    memcpy(record + sizeof head, text, strlen(text));
    return stacks_note(s, record, sizeof head + strlen(text));
}

static void frames_become_stacks(void **state)
{
    static const struct {
        const char *what;
        uint32_t id, caller, text_bytes;
        const char *text;
        bool is_taken;
        const char *stack;
    } row[] = {
        { "the outermost", 1, 0, 4, "main", true, "main" },
        { "one that it calls", 2, 1, 4, "step", true, "step;main" },
        { "another one, announced late", 7, 1, 4, "save", true, "save;main" },
        { "a call of a call", 8, 2, 3, "add", true, "add;step;main" },
        { "a caller that nobody announced ends the stack", 9, 5, 1, "x", true, "x" },
        { "a frame that calls itself", 10, 10, 1, "x", false, "" },
        { "a caller that comes later", 11, 12, 1, "x", false, "" },
        { "no number", 0, 0, 1, "x", false, "" },
        { "a number beyond all", FRAMES_MOST + 1, 0, 1, "x", false, "" },
        { "fewer bytes than it says", 13, 0, 2, "x", false, "" },
        { "more bytes than it says", 14, 0, 1, "xy", false, "" },
        { "no text", 15, 0, 0, "", false, "" },
    };
    struct stacks s = { 0 };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(note(&s, row[i].id, row[i].caller, row[i].text, row[i].text_bytes), row[i].is_taken);
    }
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < ROWS(row); i++) {
            const struct ascope_text text = stacks_text(&s, row[i].id);
            assert_int_equal(text.n, strlen(row[i].stack));
            assert_memory_equal(text.at ? text.at : "", row[i].stack, text.n);
        }
    assert_false(stacks_note(&s, (const uint8_t *)"short", 5));
    assert_int_equal(stacks_text(&s, UINT32_MAX).n, 0);
    stacks_fini(&s);
    (void)state;
}

static void the_outermost_frames_of_long_stacks_are_left_out(void **state)
{
    struct stacks s = { 0 };
    char text[101];
    for (uint32_t i = 1; i <= 1000; i++) {
        snprintf(text, sizeof text, "%0100u", i);
        assert_true(note(&s, i, i - 1, text, 100));
    }
    const struct ascope_text stack = stacks_text(&s, 1000);
    assert_int_equal(stack.n, STACK_BYTES_MOST / 101 * 101 - 1);
    assert_memory_equal(stack.at + 96, "1000;", 5);
    stacks_fini(&s);
    (void)state;
}

/* ---- operators ---- */

enum { OPERATORS = 300, FILE_MOST = 1 << 20 };

/* Three calls deep, at one of seven lines. */
static void record_operator(uint32_t outer, unsigned i, uint32_t line[7])
{
    struct ascope_op op;
    ascope_op_begin(&op, "aten::add");
    if (!line[i % 7]) {
        char text[40];
        const int n = snprintf(text, sizeof text, "train.py(%u): step", i % 7);
        line[i % 7] = ascope_frame(outer, (struct ascope_text){ text, (uint32_t)n });
    }
    op.frame = line[i % 7];
    ascope_op_end(&op);
}

static void record(bool is_killed)
{
    struct writer_tally tally;
    struct error e = { 0 };
    uint32_t line[7] = { 0 };
    recording_prepare();
    recording_set(ASCOPE_RECORDS_OPERATORS | ASCOPE_RECORDS_STACK);
    const uint32_t outer = ascope_frame(0, ascope_text_of("train.py(40): main"));
    for (unsigned i = 0; i < OPERATORS / 2; i++)
        record_operator(outer, i, line);
    writer_flush(&tally, &e); /* frames and operators are in their files */
    for (unsigned i = OPERATORS / 2; i < OPERATORS; i++)
        record_operator(outer, i, line);
    if (is_killed)
        raise(SIGKILL);
    recording_set(0);
}

static void check_operators(void)
{
    static uint8_t bytes[FILE_MOST];
    const size_t n = file_text("FRAMEWORK/torch.op_range", bytes, sizeof bytes);
    static const struct tlv_bytes name = { TORCH_TEXT_NAME, 9 };
    size_t at = 0;
    for (unsigned i = 0; i < OPERATORS; i++) {
        char wanted[60];
        struct tlv_bytes head, stack;
        const size_t wanted_n = (size_t)snprintf(wanted, sizeof wanted, "train.py(%u): step;train.py(40): main", i % 7);
        assert_true(n - at >= sizeof(struct op_bytes));
        memcpy(&head, bytes + at, sizeof head);
        assert_int_equal(head.type, TLV_OPERATOR);
        assert_int_equal(head.length, sizeof(struct op_bytes) + 9 + sizeof stack + wanted_n);
        assert_memory_equal(bytes + at + sizeof(struct op_bytes), &name, sizeof name);
        const uint8_t *text = bytes + at + sizeof(struct op_bytes) + sizeof name + 9;
        memcpy(&stack, text, sizeof stack);
        assert_int_equal(stack.type, TORCH_TEXT_STACK);
        assert_int_equal(stack.length, wanted_n);
        assert_memory_equal(text + sizeof stack, wanted, wanted_n);
        at += sizeof head + head.length;
    }
    assert_int_equal(at, n);
    assert_false(file_exists("FRAMEWORK/ascope.frames"));
}

static void operators_get_the_text_of_their_stacks(void **state)
{
    collecting_start(NULL);
    record(false);
    rings_stop();
    const struct writer_tally tally = collecting_stop();
    assert_int_equal(tally.dropped[STREAM_FRAME], 0);
    check_operators();
    (void)state;
}

static void killed_programs_leave_stacks(void **state)
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
    check_operators();
    (void)state;
}

/* What recovery reads of the frames' file may be anything. */
static void damaged_frames_are_counted(void **state)
{
    static const char good[] = "\1\0\0\0\0\0\0\0\4\0\0\0main\2\0\0\0\1\0\0\0\4\0\0\0step";
    static const struct {
        const char *what;
        size_t at;
        char byte;
        uint64_t dropped;
        const char *stack;
    } row[] = {
        { "as it was written", 0, 1, 0, "step;main" },
        { "a length beyond the end", 8, 100, 1, "" },
        { "a caller that comes later", 20, 9, 1, "" },
        { "another text", 12, 'M', 0, "step;Main" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct error e = { 0 };
        struct outputs *o = calloc(1, sizeof *o);
        char bytes[sizeof good - 1];
        print_message("  %s\n", row[i].what);
        memcpy(bytes, good, sizeof bytes);
        bytes[row[i].at] = row[i].byte;
        FILE *f = fopen(folder_path("ascope.frames"), "wb");
        fwrite(bytes, 1, sizeof bytes, f);
        fclose(f);
        assert_true(outputs_open(o, folder, NULL, SLICE, &e));
        assert_true(outputs_resume(
            o, &(struct output_state){ .stream = STREAM_FRAME, .is_open = 1, .next = 1, .bytes = sizeof bytes }));
        assert_int_equal(o->dropped[STREAM_FRAME], row[i].dropped);
        const struct ascope_text text = stacks_text(&o->stacks, 2);
        assert_int_equal(text.n, strlen(row[i].stack));
        assert_memory_equal(text.at ? text.at : "", row[i].stack, text.n);
        outputs_close(o);
        assert_true(file_exists("ascope.frames"));
        outputs_leave(o, true);
        assert_false(file_exists("ascope.frames"));
        free(o);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(frames_become_stacks),
        cmocka_unit_test(the_outermost_frames_of_long_stacks_are_left_out),
        cmocka_unit_test_setup_teardown(operators_get_the_text_of_their_stacks, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(killed_programs_leave_stacks, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(damaged_frames_are_counted, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
