/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/framework/collection_analyse.h"
#include "base/memory/sort.h"
#include "raw/torch.h"

enum { MOST = 32, TEXT_MOST = 512, PROCESS = 7 };

static void collection_open(struct collection *s)
{
    *s = (struct collection){ .path = "sample", .mem = arena_new() };
    s->profile.names = names_new();
    s->profile.dictionary.names = s->profile.names;
    s->framework.file[FRAMEWORK_MEMORY].name = "FRAMEWORK/torch.memory_usage";
    struct framework_memory *m = &s->framework.memory;
    m->time_ns = arena_take(s->mem, MOST, sizeof *m->time_ns);
    m->pointer = arena_take(s->mem, MOST, sizeof *m->pointer);
    int64_t **const wide[] = { &m->size_bytes, &m->allocated_bytes, &m->reserved_bytes, &m->active_bytes, &m->stream };
    for (size_t i = 0; i < ROWS(wide); i++)
        *wide[i] = arena_take(s->mem, MOST, sizeof **wide[i]);
    m->device_type = arena_take(s->mem, MOST, sizeof *m->device_type);
    m->device = arena_take(s->mem, MOST, sizeof *m->device);
    m->component = arena_take(s->mem, MOST, sizeof *m->component);
    m->kind = arena_take(s->mem, MOST, sizeof *m->kind);
    m->allocator = arena_take(s->mem, MOST, sizeof *m->allocator);
    m->process = arena_take(s->mem, MOST, sizeof *m->process);
    m->thread = arena_take(s->mem, MOST, sizeof *m->thread);
}

static void collection_close(struct collection *s)
{
    dictionary_fini(&s->profile.dictionary);
    names_free(s->profile.names);
    arena_free(s->mem);
}

static size_t memory_add(struct collection *s, uint8_t kind, uint64_t pointer, int64_t time_ns)
{
    struct framework_memory *m = &s->framework.memory;
    const size_t i = m->n++;
    m->kind[i] = kind;
    m->pointer[i] = pointer;
    m->time_ns[i] = time_ns;
    m->device_type[i] = MEMORY_ON_NPU;
    m->process[i] = PROCESS;
    return i;
}

/* "m1 f1 b1": address 1 is taken, given back and returned to the pool, each a nanosecond after the other. Behind a
 * '@' another time; 'w' takes for a workspace, 'c' on the CPU, 'x' with an allocator that is not PyTorch's; '/' and
 * the number of a process. */
static void load_memory(struct collection *s, const char *records)
{
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", records);
    for (char *token; (token = strsep(&rest, " "));) {
        char kind;
        unsigned pointer;
        if (sscanf(token, "%c%u", &kind, &pointer) != 2)
            continue;
        const char *at = strchr(token, '@'), *process = strchr(token, '/');
        const size_t i = memory_add(s,
                                    (uint8_t)(kind == 'f'   ? MEMORY_FREE
                                              : kind == 'b' ? MEMORY_BLOCK_FREE
                                                            : MEMORY_MALLOC),
                                    pointer, at ? atoi(at + 1) : (int)s->framework.memory.n);
        struct framework_memory *m = &s->framework.memory;
        m->component[i] = kind == 'w' ? COMPONENT_WORKSPACE : COMPONENT_CACHING;
        m->device_type[i] = kind == 'c' ? MEMORY_ON_CPU : MEMORY_ON_NPU;
        m->allocator[i] = kind == 'x';
        m->process[i] = process ? (uint32_t)atoi(process + 1) : PROCESS;
    }
}

static void add_row(char text[TEXT_MOST], uint32_t row)
{
    const size_t n = strlen(text);
    if (row == NO_ROW)
        snprintf(text + n, TEXT_MOST - n, "-");
    else
        snprintf(text + n, TEXT_MOST - n, "%u", row);
}

static void a_block_lives_until_it_is_given_back(void **state)
{
    static const struct {
        const char *what, *records, *lives; /* rows: taken,freed,returned */
        uint64_t n_unpaired;
    } row[] = {
        { "nothing", "", "", 0 },
        { "taken, given back, back in the pool", "m1 f1 b1", "0,1,2", 0 },
        { "in the pool before its owner is done with it", "m1 b1 f1", "0,2,1", 0 },
        { "never given back", "m1", "0,-,-", 2 },
        { "given back, and still used by a stream", "m1 f1", "0,1,-", 1 },
        { "only the pool says that it is back", "m1 b1", "0,-,1", 1 },
        { "given back, but taken before the collection", "f1 b1", "", 2 },
        { "and then taken again", "f1 m1 f1 b1", "1,2,3", 1 },
        { "a second taking ends the first", "m1 m1 f1 b1", "0,-,- 1,2,3", 2 },
        { "a second giving back ends it too, and belongs to nothing", "m1 f1 f1 b1", "0,1,-", 3 },
        { "the same address, again and again", "m1 f1 b1 m1 f1 b1", "0,1,2 3,4,5", 0 },
        { "addresses in the order of taking", "m1 m2 f2 b2 f1 b1", "0,4,5 1,2,3", 0 },
        { "records in the order of time, not of the file", "f1@5 b1@6 m1@2", "2,0,1", 0 },
        { "at equal times, the address that was used first comes first", "m2@0 f2@1 b2@2 m1@3 m2@3",
          "0,1,2 4,-,- 3,-,-", 4 },
        { "a workspace has no pool to go back to", "w1 f1", "0,1,-", 0 },
        { "memory of the CPU does not count", "c1 m1 f1 b1", "1,2,3", 0 },
        { "nor does what another library took", "x1 m1 f1 b1", "1,2,3", 0 },
        { "the address of another process is another one", "m1/1 m1/2 f1/1 b1/1", "0,2,3 1,-,-", 2 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct collection s;
        struct error e = { 0 };
        char text[TEXT_MOST] = "";
        print_message("  %s\n", row[i].what);
        collection_open(&s);
        load_memory(&s, row[i].records);
        assert_true(memory_lives_analyse(&s, &e));
        for (size_t k = 0; k < s.lives.n; k++) {
            const uint32_t part[] = { s.lives.taken[k], s.lives.freed[k], s.lives.returned[k] };
            for (size_t p = 0; p < ROWS(part); p++) {
                strcat(text, p > 0 ? "," : k > 0 ? " " : "");
                add_row(text, part[p]);
            }
        }
        assert_string_equal(text, row[i].lives);
        assert_int_equal(s.framework.file[FRAMEWORK_MEMORY].lost.by[LOSS_UNPAIRED].n, row[i].n_unpaired);
        collection_close(&s);
    }
    (void)state;
}

/* "aten::add 1 10-20, ...": name, thread, begin and end. */
static void load_ops(struct collection *s, const char *ops)
{
    struct framework_ops *o = &s->framework.ops;
    struct op_tree *t = &s->tree;
    o->begin_ns = arena_take(s->mem, MOST, sizeof *o->begin_ns);
    o->end_ns = arena_take(s->mem, MOST, sizeof *o->end_ns);
    o->process = arena_take(s->mem, MOST, sizeof *o->process);
    o->thread = arena_take(s->mem, MOST, sizeof *o->thread);
    o->name = arena_take(s->mem, MOST, sizeof *o->name);
    t->by_begin = arena_take(s->mem, MOST, sizeof *t->by_begin);
    t->parent = arena_take(s->mem, MOST, sizeof *t->parent);
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", ops);
    for (char *token; (token = strsep(&rest, ","));) {
        char name[64];
        unsigned thread;
        int begin, end;
        if (sscanf(token, " %63s %u %d-%d", name, &thread, &begin, &end) != 4)
            continue;
        o->name[o->n] = names_addz(s->profile.names, name);
        o->process[o->n] = PROCESS;
        o->thread[o->n] = thread;
        o->begin_ns[o->n] = begin;
        o->end_ns[o->n++] = end;
    }
    order_fill(t->by_begin, o->n);
    assert_true(order_by_u64(t->by_begin, o->n, (const uint64_t *)o->begin_ns));
    uint32_t open = NO_ROW;
    for (size_t i = 0; i < o->n; i++) {
        const uint32_t op = t->by_begin[i];
        while (open != NO_ROW && o->end_ns[open] < o->begin_ns[op])
            open = t->parent[open];
        t->parent[op] = open;
        open = op;
    }
}

/* "9 1 10-20, ...": number of the task, thread, begin and end. */
static void load_queue(struct collection *s, struct queue_spans *q, const char *spans)
{
    q->begin_ns = arena_take(s->mem, MOST, sizeof *q->begin_ns);
    q->end_ns = arena_take(s->mem, MOST, sizeof *q->end_ns);
    q->id = arena_take(s->mem, MOST, sizeof *q->id);
    q->process = arena_take(s->mem, MOST, sizeof *q->process);
    q->thread = arena_take(s->mem, MOST, sizeof *q->thread);
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", spans);
    for (char *token; (token = strsep(&rest, ","));) {
        unsigned id, thread;
        int begin, end;
        if (sscanf(token, " %u %u %d-%d", &id, &thread, &begin, &end) != 4)
            continue;
        q->id[q->n] = id;
        q->process[q->n] = PROCESS;
        q->thread[q->n] = thread;
        q->begin_ns[q->n] = begin;
        q->end_ns[q->n++] = end;
    }
}

static void a_block_belongs_to_the_operator_that_asked_for_it(void **state)
{
    static const struct {
        const char *what, *ops, *enqueued, *dequeued;
        const char *taken; /* thread@time, ... */
        const char *names;
    } row[] = {
        { "no operator at all", "", "", "", "1@5", "?" },
        { "inside an operator", "aten::add 1 0-10", "", "", "1@5", "aten::add" },
        { "from its begin to its end, both included", "aten::add 1 2-4", "", "", "1@1 1@2 1@4 1@5",
          "? aten::add aten::add ?" },
        { "the innermost one", "aten::add 1 0-10, aten::empty 1 2-6", "", "", "1@5 1@7", "aten::empty aten::add" },
        { "operators that stand for memory only are passed over", "aten::add 1 0-9, empty_tensor 1 2-8", "", "", "1@5",
          "aten::add" },
        { "and so are workspaces", "aten::add 1 0-9, malloc_workspace 1 2-8", "", "", "1@5", "aten::add" },
        { "but not where the way up leads through one", "empty_tensor 1 0-9, aten::add 1 2-3", "", "", "1@5",
          "empty_tensor" },
        { "of the own thread", "aten::add 1 0-10, aten::mul 2 2-6", "", "", "1@5 2@5", "aten::add aten::mul" },
        { "an operator of another thread may be around it", "aten::add 1 0-10, aten::mul 2 2-6", "", "", "2@8",
          "aten::add" },
        { "a deep tree that has ended", "a 1 0-99, b 1 1-5, c 1 2-5, d 1 3-5, e 1 4-5", "", "", "1@5 1@7 1@8 1@100",
          "e a a ?" },
        { "through the queue: who put the task there", "aten::add 1 0-10", "9 1 4-5", "9 2 20-30", "2@25",
          "aten::add" },
        { "from its begin to just before its end", "aten::add 1 0-10", "9 1 4-5", "9 2 20-30", "2@19 2@20 2@30",
          "? aten::add ?" },
        { "the operator that had begun when the task was in the queue", "aten::add 1 0-10, aten::mul 1 5-6", "9 1 4-5",
          "9 2 20-30", "2@25", "aten::mul" },
        { "up to one that is an operator by its name", "aten::add 1 0-10, Optimizer 1 1-9, step 1 2-8", "9 1 4-5",
          "9 2 20-30", "2@25", "aten::add" },
        { "of PyTorch or of the adapter", "aten::add 1 0-10, npu::fast 1 2-8", "9 1 4-5", "9 2 20-30", "2@25",
          "npu::fast" },
        { "ended or not", "aten::add 1 0-3", "9 1 4-5", "9 2 20-30", "2@25", "aten::add" },
        { "or to none", "Optimizer 1 0-10", "9 1 4-5", "9 2 20-30", "2@25", "?" },
        { "a task that nobody put there", "aten::add 1 0-10", "8 1 4-5", "9 2 20-30", "2@25", "?" },
        { "the last of those with its number", "aten::add 1 0-3, aten::mul 1 4-7", "9 1 1-2, 9 1 5-6", "9 2 20-30",
          "2@25", "aten::mul" },
        { "between tasks the thread is as any other", "aten::add 1 0-10, aten::own 2 12-18", "9 1 4-5", "9 2 20-30",
          "2@15", "aten::own" },
        { "tasks that come out in another order", "aten::add 1 0-3, aten::mul 1 4-7", "8 1 1-2, 9 1 5-6",
          "9 2 20-21, 8 2 30-31", "2@20 2@30", "aten::mul aten::add" },
        { "queues of two threads", "aten::add 1 0-10, aten::mul 3 1-9", "8 1 4-5, 9 3 4-6", "8 2 20-30, 9 4 20-30",
          "2@25 4@25", "aten::add aten::mul" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct collection s;
        struct error e = { 0 };
        char text[TEXT_MOST] = "", copy[TEXT_MOST], *rest = copy;
        size_t n_nameless = 0;
        print_message("  %s\n", row[i].what);
        collection_open(&s);
        load_ops(&s, row[i].ops);
        load_queue(&s, &s.framework.enqueue, row[i].enqueued);
        load_queue(&s, &s.framework.dequeue, row[i].dequeued);
        snprintf(copy, sizeof copy, "%s", row[i].taken);
        for (char *token; (token = strsep(&rest, " "));) {
            unsigned thread;
            int at;
            assert_int_equal(sscanf(token, "%u@%d", &thread, &at), 2);
            const size_t m = memory_add(&s, MEMORY_MALLOC, s.framework.memory.n, at);
            s.framework.memory.thread[m] = thread;
        }
        assert_true(memory_lives_analyse(&s, &e));
        for (size_t k = 0; k < s.lives.n; k++) {
            const bool has_name = s.lives.name[k] != NAME_EMPTY;
            n_nameless += !has_name;
            strcat(text, k > 0 ? " " : "");
            strcat(text, has_name ? names_text(s.profile.names, s.lives.name[k]) : "?");
        }
        assert_string_equal(text, row[i].names);
        assert_int_equal(s.framework.file[FRAMEWORK_MEMORY].lost.by[LOSS_UNMATCHED].n, n_nameless);
        collection_close(&s);
    }
    (void)state;
}

/* "t5 w6 g7#1": PyTorch, a workspace or a graph reports at that time, on device 0 or the one behind the '#'.
 * Allocated is 10 times the place among the records, reserved 100 times. */
static void load_series(struct collection *s, const char *records)
{
    struct op_memory *g = &s->profile.host.records.op_memory;
    s->profile.host.source.host_clock.tick = (struct ticks){ 1, 1 };
    s->profile.host.source.begin_ns = 4;
    g->time = arena_take(s->mem, MOST, sizeof *g->time);
    g->device = arena_take(s->mem, MOST, sizeof *g->device);
    g->allocated = arena_take(s->mem, MOST, sizeof *g->allocated);
    g->reserved = arena_take(s->mem, MOST, sizeof *g->reserved);
    g->name = arena_take(s->mem, MOST, sizeof *g->name);
    char copy[TEXT_MOST], *rest = copy;
    unsigned place = 0;
    snprintf(copy, sizeof copy, "%s", records);
    for (char *token; (token = strsep(&rest, " "));) {
        char kind;
        unsigned at;
        if (sscanf(token, "%c%u", &kind, &at) != 2)
            continue;
        const char *mark = strchr(token, '#');
        const int device = mark ? atoi(mark + 1) : 0;
        place++;
        if (kind == 'g') {
            g->time[g->n] = at;
            g->allocated[g->n] = place * 10;
            g->reserved[g->n] = place * 100;
            g->device[g->n++] = (uint32_t)device;
            continue;
        }
        const size_t i = memory_add(s, MEMORY_MALLOC, place, at);
        struct framework_memory *m = &s->framework.memory;
        m->component[i] = kind == 'w' ? COMPONENT_WORKSPACE : COMPONENT_CACHING;
        m->allocated_bytes[i] = place * 10;
        m->reserved_bytes[i] = place * 100;
        m->device[i] = (int8_t)device;
    }
}

static void what_two_report_is_one_series(void **state)
{
    static const struct {
        const char *what, *records;
        bool with_early;
        const char *series; /* kind and row, + the row of the other kind */
        int64_t allocated, at_ns;
    } row[] = {
        { "nothing", "", true, "", 0, 0 },
        { "by time, each with the latest of the other kind", "t5 t6 g7 t8 g9 g9", true, "t0 t1 g0+1 t2+0 g1+2 g2+2",
          100, 9 },
        { "at the same time PyTorch comes first", "g5 t5", true, "t0 g0+0", 30, 5 },
        { "devices by themselves", "t5 g6#1 t7#1 g8", true, "t0 g0 t1+0 g1+0", 50, 7 },
        { "workspaces belong to no sum of the series, but to what a device holds", "t5 w6 g7", true, "t0 w1 g0+0", 60,
          7 },
        { "on their own device", "t5 w6#1 g7", true, "t0 w1 g0+0", 40, 7 },
        { "graphs from before the collection began", "g3 t5", true, "g0 t0+0", 30, 5 },
        { "and without them", "g3 t5", false, "t0", 30, 5 },
        { "of equal peaks the first", "t5 t5", true, "t0 t1", 20, 5 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        static const char kind[] = {
            [MEMORY_OF_FRAMEWORK] = 't', [MEMORY_OF_WORKSPACE] = 'w', [MEMORY_OF_GRAPHS] = 'g'
        };
        struct collection s;
        struct memory_series v;
        struct memory_peaks peaks;
        struct error e = { 0 };
        char text[TEXT_MOST] = "";
        print_message("  %s\n", row[i].what);
        collection_open(&s);
        load_series(&s, row[i].records);
        assert_true(memory_series_make(&v, &s, row[i].with_early, s.mem));
        for (size_t k = 0; k < v.n; k++) {
            const size_t n = strlen(text);
            snprintf(text + n, sizeof text - n, "%s%c%u", k > 0 ? " " : "", kind[v.source[k]], v.row[k]);
            if (v.other[k] != NO_ROW) {
                strcat(text, "+");
                add_row(text, v.other[k]);
            }
        }
        assert_string_equal(text, row[i].series);
        assert_true(memory_peaks_find(&peaks, &s, NULL, &e));
        assert_int_equal(peaks.allocated.is_known, v.n > 0);
        assert_int_equal(peaks.allocated.bytes, row[i].allocated);
        assert_int_equal(peaks.reserved.bytes, row[i].allocated * 10);
        assert_int_equal(peaks.allocated.time_ns, row[i].at_ns);
        assert_int_equal(peaks.allocated.part[0] + peaks.allocated.part[1] + peaks.allocated.part[2], row[i].allocated);
        assert_false(peaks.is_partial && v.n > 0);
        collection_close(&s);
    }
    (void)state;
}

static void the_peak_knows_who_was_allocating(void **state)
{
    struct collection s;
    struct memory_peaks peaks;
    struct error e = { 0 };
    collection_open(&s);
    load_ops(&s, "aten::add 0 0-4, aten::mul 0 5-9");
    load_series(&s, "t2 t6 t8#3");
    s.framework.memory.allocated_bytes[1] = 70;
    assert_true(memory_lives_analyse(&s, &e));
    assert_true(memory_peaks_find(&peaks, &s, NULL, &e));
    assert_int_equal(peaks.allocated.bytes, 70);
    assert_int_equal(peaks.allocated.time_ns, 6);
    assert_int_equal(peaks.allocated.device, 0);
    assert_false(peaks.allocated.is_of_graph);
    assert_string_equal(names_text(s.profile.names, peaks.allocated.name), "aten::mul");
    assert_int_equal(peaks.reserved.bytes, 300);
    assert_int_equal(peaks.reserved.device, 3);
    collection_close(&s);
    (void)state;
}

static void peaks_of_one_device(void **state)
{
    static const struct {
        const char *what, *records;
        struct memory_device device;
        int64_t allocated;
        bool is_cpu, is_simulated, is_partial;
    } row[] = {
        { "an NPU", "t5 t6#1 g7", { MEMORY_ON_NPU, 0 }, 40, false, false, false },
        { "another one", "t5 t6#1 g7", { MEMORY_ON_NPU, 1 }, 20, false, false, false },
        { "one that is simulated counts while it is recorded", "t5", { MEMORY_ON_NPU, 0 }, 10, false, true, true },
        { "so does the CPU", "t5", { MEMORY_ON_CPU, 0 }, 10, true, false, true },
        { "which graphs do not use", "t5 g6", { MEMORY_ON_CPU, 0 }, 10, true, false, true },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct collection s;
        struct memory_peaks peaks;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        collection_open(&s);
        load_series(&s, row[i].records);
        s.collector.is_simulated = row[i].is_simulated;
        for (size_t k = 0; row[i].is_cpu && k < s.framework.memory.n; k++)
            s.framework.memory.device_type[k] = MEMORY_ON_CPU;
        assert_true(memory_peaks_find(&peaks, &s, &row[i].device, &e));
        assert_int_equal(peaks.allocated.bytes, row[i].allocated);
        assert_int_equal(peaks.is_partial, row[i].is_partial);
        collection_close(&s);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_lives_until_it_is_given_back),
        cmocka_unit_test(a_block_belongs_to_the_operator_that_asked_for_it),
        cmocka_unit_test(what_two_report_is_one_series),
        cmocka_unit_test(the_peak_knows_who_was_allocating),
        cmocka_unit_test(peaks_of_one_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
