/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/files/bytes.h"
#include "base/text/stamp.h"
#include "folder.h"
#include "load/framework/framework_loaders.h"
#include "profile/known.h"
#include "raw/torch.h"

static struct names *names;

/* A file of the FRAMEWORK folder under construction. */
struct draft {
    uint8_t bytes[8192];
    size_t n;
};

static void put_text(struct draft *d, uint16_t type, const char *text)
{
    const uint32_t len = (uint32_t)strlen(text);
    memcpy(d->bytes + d->n, &type, sizeof type);
    memcpy(d->bytes + d->n + 2, &len, sizeof len);
    memcpy(d->bytes + d->n + TLV_HEAD, text, len);
    d->n += TLV_HEAD + len;
}

/* Fields in the order of the layout. `tlv`: with a head, whose length end_record() fills in. */
static size_t put_fixed(struct draft *d, const struct layout *l, bool tlv, const uint64_t *value)
{
    const size_t at = d->n;
    d->n += tlv ? TLV_HEAD : 0;
    for (unsigned f = 0; f < l->n; f++)
        layout_put(l, f, d->bytes + d->n, value[f]);
    d->n += l->size;
    return at;
}

static void end_record(struct draft *d, size_t at)
{
    const uint32_t len = (uint32_t)(d->n - at - TLV_HEAD);
    memcpy(d->bytes + at + 2, &len, sizeof len);
}

static void save(const struct draft *d, const char *file)
{
    FILE *f = fopen(folder_path(file), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(d->bytes, 1, d->n, f), d->n);
    assert_int_equal(fclose(f), 0);
}

static void load(struct framework *f)
{
    struct error e = { 0 };
    const struct framework_request r = { .format = &torch_format, .names = names, .n_threads = 2 };
    assert_true(framework_load(f, folder, &r, &e));
}

static int set_up(void **state)
{
    names = names_new();
    return names && known_names_add(names) ? folder_make(state) : -1;
}

static int tear_down(void **state)
{
    names_free(names);
    return folder_remove(state);
}

static void a_counter_becomes_wall_clock_time(void **state)
{
    static const struct {
        const char *what;
        struct framework_clock clock;
        uint64_t stamp;
        int64_t ns;
    } row[] = {
        { "ns of the monotonic clock", { false, 0, 0, 0, 1000, { 0, 0 } }, 5, 1005 },
        { "a counter of 100 MHz", { true, 10, 100, 7000, 1000, { 0, 0 } }, 103, 8030 },
        { "one that ran before the clocks were read", { true, 10, 100, 7000, 0, { 0, 0 } }, 98, 6980 },
        { "fractions are dropped", { true, 1000.0 / 48, 0, 0, 0, { 0, 0 } }, 1, 20 },
        { "a stamp that cannot be", { true, 1000, 0, 0, 0, { 0, 0 } }, INT64_MAX, STAMP_MOST },
        { "an exact one rounds", { true, 0, 0, 0, 0, { 1000, 48 } }, 1, 21 },
        { "a half to the even number", { true, 0, 0, 0, 0, { 1, 2 } }, 5, 2 },
        { "and to the next one", { true, 0, 0, 0, 0, { 1, 2 } }, 3, 2 },
        { "before the clocks were read, too", { true, 0, 100, 7000, 0, { 1000, 48 } }, 99, 6979 },
        { "nor is an exact one beyond what can be", { true, 0, 0, 0, 0, { 1000, 1 } }, INT64_MAX, STAMP_MOST },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(framework_ns(&row[i].clock, row[i].stamp), row[i].ns);
    }
    (void)state;
}

static void operators_keep_what_was_recorded(void **state)
{
    struct draft d = { 0 };
    size_t at = put_fixed(&d, &torch_op_layout, true, (uint64_t[]){ 10, 20, (uint64_t)-1, 7, 8, 8, 0, 7, 0 });
    put_text(&d, TORCH_TEXT_NAME, "aten::add");
    put_text(&d, TORCH_TEXT_SHAPES, "2,3;;4");
    put_text(&d, TORCH_TEXT_TYPES, "");
    end_record(&d, at);
    at = put_fixed(&d, &torch_op_layout, true, (uint64_t[]){ 30, 40, 5, UINT64_MAX, 8, 8, 0, 0, 0 });
    end_record(&d, at);
    at = put_fixed(&d, &torch_op_layout, true, (uint64_t[]){ 50, 60, 5, 7, 9, 9, 1, 1, 0 });
    end_record(&d, at);
    save(&d, "torch.op_range");
    struct framework f;
    load(&f);
    const struct framework_ops *o = &f.ops;
    assert_int_equal(o->n, 2);
    assert_int_equal(o->begin_ns[0], 10);
    assert_int_equal(o->end_ns[0], 20);
    assert_int_equal(o->sequence[0], -1);
    assert_int_equal(o->scope[0], OP_SCOPE_USER);
    assert_string_equal(names_text(names, o->name[0]), "aten::add");
    assert_string_equal(names_text(names, o->shapes[0]), "2,3;\r\n;\r\n4");
    assert_int_equal(o->types[0], NAME_EMPTY);
    assert_int_equal(o->stack[0], NO_NAME);
    assert_int_equal(o->name[1], NAME_EMPTY);
    assert_int_equal(o->forward_thread[1], 1);
    assert_int_equal(f.file[FRAMEWORK_OPS].lost.by[LOSS_BAD_VALUE].n, 1);
    assert_false(f.has_queue);
    framework_free(&f);
    (void)state;
}

static void put_mark(struct draft *d, uint64_t time, uint64_t kind, uint64_t id, uint64_t thread, const char *name)
{
    const size_t at = put_fixed(d, &torch_mark_layout, true, (uint64_t[]){ time, kind, id, thread, 1 });
    put_text(d, TORCH_MARK_TEXT_NAME, name);
    end_record(d, at);
}

static void an_end_belongs_to_the_latest_begin_of_its_thread_and_name(void **state)
{
    enum { IN = TORCH_MARK_ENQUEUE_BEGIN, IN_END, OUT, OUT_END };
    struct draft d = { 0 };
    put_mark(&d, 50, IN_END, 3, 1, "add"); /* files are not in order of time */
    put_mark(&d, 10, IN, 0, 1, "add");     /* forgotten: another begin follows */
    put_mark(&d, 20, IN, 0, 1, "add");
    put_mark(&d, 30, IN, 0, 2, "add"); /* another thread, without an end */
    put_mark(&d, 40, IN, 0, 1, "mul");
    put_mark(&d, 45, IN_END, 4, 1, "mul");
    put_mark(&d, 60, IN_END, 9, 1, "add"); /* nobody began it */
    put_mark(&d, 70, OUT, 3, 5, "add");
    put_mark(&d, 90, OUT_END, 3, 5, "add");
    put_mark(&d, 95, 17, 3, 5, "add"); /* no such kind */
    save(&d, "torch.op_mark");
    struct framework f;
    load(&f);
    assert_true(f.has_queue);
    static const struct {
        int64_t begin, end;
        uint64_t id;
    } want[] = { { 40, 45, 4 }, { 20, 50, 3 } };
    assert_int_equal(f.enqueue.n, ROWS(want));
    for (size_t i = 0; i < ROWS(want); i++) {
        assert_int_equal(f.enqueue.begin_ns[i], want[i].begin);
        assert_int_equal(f.enqueue.end_ns[i], want[i].end);
        assert_int_equal(f.enqueue.id[i], want[i].id);
    }
    assert_int_equal(f.dequeue.n, 1);
    assert_int_equal(f.dequeue.begin_ns[0], 70);
    assert_int_equal(f.file[FRAMEWORK_MARKS].lost.by[LOSS_UNPAIRED].n, 3);
    assert_int_equal(f.file[FRAMEWORK_MARKS].lost.by[LOSS_BAD_VALUE].n, 1);
    framework_free(&f);
    (void)state;
}

static void put_entry(struct draft *d, uint64_t time, uint64_t thread, uint64_t key, uint64_t tag)
{
    put_fixed(d, &python_call_layout, false, (uint64_t[]){ time, thread, 1, key, tag });
}

static void put_key(struct draft *d, uint64_t key, const char *text)
{
    const size_t at = put_fixed(d, &python_key_layout, true, (uint64_t[]){ key });
    put_text(d, PYTHON_KEY_TEXT, text);
    end_record(d, at);
}

static void python_calls_are_replayed_thread_by_thread(void **state)
{
    struct draft keys = { 0 }, d = { 0 };
    put_key(&keys, 1, "train.py(1): main");
    put_key(&keys, 2, "Linear######100");
    put_key(&keys, 3, "Linear######200");
    put_key(&keys, 9, "exit");
    put_entry(&d, 10, 5, 1, PYTHON_CALL);
    put_entry(&d, 40, 5, 3, PYTHON_CALL); /* the second module, though it comes first in the file */
    put_entry(&d, 50, 5, 9, PYTHON_RETURN);
    put_entry(&d, 20, 5, 2, PYTHON_CALL);
    put_entry(&d, 30, 5, 9, PYTHON_RETURN);
    put_entry(&d, 60, 5, 77, PYTHON_C_CALL); /* a key without a meaning, and a call that never returns */
    put_entry(&d, 5, 6, 9, PYTHON_RETURN);   /* nothing was open */
    put_entry(&d, 15, 6, 3, PYTHON_CALL);    /* modules are numbered anew in each thread */
    put_entry(&d, 16, 6, 9, PYTHON_RETURN);
    put_entry(&d, 99, 5, 9, 7); /* no such tag */
    save(&keys, "torch.python_tracer_hash");
    save(&d, "torch.python_tracer_func");
    struct framework f;
    load(&f);
    static const struct {
        int64_t begin, end;
        uint32_t thread, id, parent, module;
        const char *name;
    } want[] = {
        { 20, 30, 5, 1, 0, 0, "nn.Module: Linear_0" }, { 40, 50, 5, 3, 0, 1, "nn.Module: Linear_1" },
        { 60, 60, 5, 5, 0, NO_MODULE_NUMBER, "77" },   { 10, 60, 5, 0, 0, NO_MODULE_NUMBER, "train.py(1): main" },
        { 15, 16, 6, 1, 0, 0, "nn.Module: Linear_0" },
    };
    const struct python_calls *c = &f.python;
    assert_int_equal(c->n, ROWS(want));
    for (size_t i = 0; i < ROWS(want); i++) {
        print_message("  %s\n", want[i].name);
        assert_int_equal(c->begin_ns[i], want[i].begin);
        assert_int_equal(c->end_ns[i], want[i].end);
        assert_int_equal(c->thread[i], want[i].thread);
        assert_int_equal(c->id[i], want[i].id);
        assert_int_equal(c->parent[i], want[i].parent);
        assert_int_equal(c->module[i], want[i].module);
        assert_string_equal(names_text(names, c->name[i]), want[i].name);
    }
    assert_int_equal(f.file[FRAMEWORK_PYTHON].lost.by[LOSS_BAD_VALUE].n, 1);
    framework_free(&f);
    (void)state;
}

static void every_prefix_of_a_file_is_read_as_far_as_it_goes(void **state)
{
    struct draft d = { 0 };
    for (int i = 0; i < 3; i++)
        put_mark(&d, 10, TORCH_MARK_ENQUEUE_BEGIN, 0, 1, "add");
    const size_t whole = d.n;
    for (d.n = 0; d.n <= whole; d.n++) {
        save(&d, "torch.op_mark");
        struct framework f;
        load(&f);
        const size_t cut = d.n % (whole / 3) > 0;
        assert_int_equal(f.file[FRAMEWORK_MARKS].lost.by[LOSS_CUT_SHORT].n, cut);
        assert_int_equal(f.file[FRAMEWORK_MARKS].lost.by[LOSS_UNPAIRED].n, d.n / (whole / 3));
        framework_free(&f);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_becomes_wall_clock_time),
        cmocka_unit_test_setup_teardown(operators_keep_what_was_recorded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_end_belongs_to_the_latest_begin_of_its_thread_and_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(python_calls_are_replayed_thread_by_thread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_prefix_of_a_file_is_read_as_far_as_it_goes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
