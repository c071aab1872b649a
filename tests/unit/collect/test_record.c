/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <limits.h>
#include <pthread.h>

#include "collect/ring/record_bytes.h"
#include "collect/write/writer.h"
#include "load/framework/tlv.h"
#include "raw/name_hash.h"
#include "recorded.h"

static void structs_are_the_tables(void **state)
{
#define FIELD(type, base, member, layout, field)                                                                       \
    {                                                                                                                  \
#type "." #member, offsetof(struct type, member) - (base), sizeof((struct type *)NULL)->member, &layout, field \
    }
    static const struct {
        const char *what;
        size_t offset, width;
        const struct layout *layout;
        unsigned field;
    } row[] = {
        FIELD(op_bytes, TLV_HEAD, begin, torch_op_layout, TORCH_OP_BEGIN),
        FIELD(op_bytes, TLV_HEAD, end, torch_op_layout, TORCH_OP_END),
        FIELD(op_bytes, TLV_HEAD, sequence, torch_op_layout, TORCH_OP_SEQUENCE),
        FIELD(op_bytes, TLV_HEAD, process, torch_op_layout, TORCH_OP_PROCESS),
        FIELD(op_bytes, TLV_HEAD, thread, torch_op_layout, TORCH_OP_THREAD),
        FIELD(op_bytes, TLV_HEAD, end_thread, torch_op_layout, TORCH_OP_END_THREAD),
        FIELD(op_bytes, TLV_HEAD, forward_thread, torch_op_layout, TORCH_OP_FORWARD_THREAD),
        FIELD(op_bytes, TLV_HEAD, scope, torch_op_layout, TORCH_OP_SCOPE),
        FIELD(op_bytes, TLV_HEAD, is_async, torch_op_layout, TORCH_OP_ASYNC),
        FIELD(queue_bytes, TLV_HEAD, time, torch_mark_layout, TORCH_MARK_TIME),
        FIELD(queue_bytes, TLV_HEAD, kind, torch_mark_layout, TORCH_MARK_KIND),
        FIELD(queue_bytes, TLV_HEAD, id, torch_mark_layout, TORCH_MARK_ID),
        FIELD(queue_bytes, TLV_HEAD, thread, torch_mark_layout, TORCH_MARK_THREAD),
        FIELD(queue_bytes, TLV_HEAD, process, torch_mark_layout, TORCH_MARK_PROCESS),
        FIELD(memory_bytes, TLV_HEAD, pointer, torch_memory_layout, TORCH_MEMORY_POINTER),
        FIELD(memory_bytes, TLV_HEAD, time, torch_memory_layout, TORCH_MEMORY_TIME),
        FIELD(memory_bytes, TLV_HEAD, size, torch_memory_layout, TORCH_MEMORY_SIZE),
        FIELD(memory_bytes, TLV_HEAD, allocated, torch_memory_layout, TORCH_MEMORY_ALLOCATED),
        FIELD(memory_bytes, TLV_HEAD, reserved, torch_memory_layout, TORCH_MEMORY_RESERVED),
        FIELD(memory_bytes, TLV_HEAD, active, torch_memory_layout, TORCH_MEMORY_ACTIVE),
        FIELD(memory_bytes, TLV_HEAD, stream, torch_memory_layout, TORCH_MEMORY_STREAM),
        FIELD(memory_bytes, TLV_HEAD, device_type, torch_memory_layout, TORCH_MEMORY_DEVICE_TYPE),
        FIELD(memory_bytes, TLV_HEAD, device, torch_memory_layout, TORCH_MEMORY_DEVICE),
        FIELD(memory_bytes, TLV_HEAD, component, torch_memory_layout, TORCH_MEMORY_COMPONENT),
        FIELD(memory_bytes, TLV_HEAD, kind, torch_memory_layout, TORCH_MEMORY_KIND),
        FIELD(memory_bytes, TLV_HEAD, allocator, torch_memory_layout, TORCH_MEMORY_ALLOCATOR),
        FIELD(memory_bytes, TLV_HEAD, thread, torch_memory_layout, TORCH_MEMORY_THREAD),
        FIELD(memory_bytes, TLV_HEAD, process, torch_memory_layout, TORCH_MEMORY_PROCESS),
        FIELD(python_call_bytes, 0, time, python_call_layout, PYTHON_CALL_TIME),
        FIELD(python_call_bytes, 0, thread, python_call_layout, PYTHON_CALL_THREAD),
        FIELD(python_call_bytes, 0, process, python_call_layout, PYTHON_CALL_PROCESS),
        FIELD(python_call_bytes, 0, key, python_call_layout, PYTHON_CALL_KEY),
        FIELD(python_call_bytes, 0, tag, python_call_layout, PYTHON_CALL_TAG),
        FIELD(python_key_bytes, TLV_HEAD, key, python_key_layout, PYTHON_KEY),
        FIELD(python_gc_bytes, 0, process, python_gc_layout, PYTHON_GC_PROCESS),
        FIELD(python_gc_bytes, 0, begin, python_gc_layout, PYTHON_GC_BEGIN),
        FIELD(python_gc_bytes, 0, end, python_gc_layout, PYTHON_GC_END),
        FIELD(step_thread_bytes, 0, begin, step_thread_layout, STEP_THREAD_BEGIN),
        FIELD(step_thread_bytes, 0, end, step_thread_layout, STEP_THREAD_END),
        FIELD(step_thread_bytes, 0, thread, step_thread_layout, STEP_THREAD_ID),
        FIELD(step_thread_bytes, 0, step, step_thread_layout, STEP_THREAD_STEP),
        FIELD(step_thread_bytes, 0, cpu_ns, step_thread_layout, STEP_THREAD_CPU),
        FIELD(step_thread_bytes, 0, ready_ns, step_thread_layout, STEP_THREAD_READY),
        FIELD(step_thread_bytes, 0, minor, step_thread_layout, STEP_THREAD_MINOR),
        FIELD(step_thread_bytes, 0, major, step_thread_layout, STEP_THREAD_MAJOR),
        FIELD(step_thread_bytes, 0, yielded, step_thread_layout, STEP_THREAD_YIELDED),
        FIELD(step_thread_bytes, 0, pushed, step_thread_layout, STEP_THREAD_PUSHED),
        FIELD(graph_node_bytes, TLV_HEAD, node, graph_node_layout, GRAPH_NODE_ID),
        FIELD(graph_node_bytes, TLV_HEAD, op, graph_node_layout, GRAPH_NODE_OP),
        FIELD(graph_node_bytes, TLV_HEAD, stack, graph_node_layout, GRAPH_NODE_STACK_ID),
        FIELD(ms_range_bytes, TLV_HEAD, thread, ms_range_layout, MS_RANGE_THREAD),
        FIELD(ms_range_bytes, TLV_HEAD, flow, ms_range_layout, MS_RANGE_FLOW),
        FIELD(ms_range_bytes, TLV_HEAD, step, ms_range_layout, MS_RANGE_STEP),
        FIELD(ms_range_bytes, TLV_HEAD, begin, ms_range_layout, MS_RANGE_BEGIN),
        FIELD(ms_range_bytes, TLV_HEAD, end, ms_range_layout, MS_RANGE_END),
        FIELD(ms_range_bytes, TLV_HEAD, process, ms_range_layout, MS_RANGE_PROCESS),
        FIELD(ms_range_bytes, TLV_HEAD, module, ms_range_layout, MS_RANGE_MODULE),
        FIELD(ms_range_bytes, TLV_HEAD, event, ms_range_layout, MS_RANGE_EVENT),
        FIELD(ms_range_bytes, TLV_HEAD, stage, ms_range_layout, MS_RANGE_STAGE),
        FIELD(ms_range_bytes, TLV_HEAD, level, ms_range_layout, MS_RANGE_LEVEL),
        FIELD(ms_range_bytes, TLV_HEAD, is_graph_data, ms_range_layout, MS_RANGE_IS_GRAPH_DATA),
        FIELD(ms_range_bytes, TLV_HEAD, is_stage, ms_range_layout, MS_RANGE_IS_STAGE),
        FIELD(ms_range_bytes, TLV_HEAD, is_stack, ms_range_layout, MS_RANGE_IS_STACK),
        FIELD(ms_memory_bytes, TLV_HEAD, device, ms_memory_layout, MS_MEMORY_DEVICE),
        FIELD(ms_memory_bytes, TLV_HEAD, thread, ms_memory_layout, MS_MEMORY_THREAD),
        FIELD(ms_memory_bytes, TLV_HEAD, process, ms_memory_layout, MS_MEMORY_PROCESS),
        FIELD(ms_memory_bytes, TLV_HEAD, time_ns, ms_memory_layout, MS_MEMORY_TIME),
        FIELD(ms_memory_bytes, TLV_HEAD, address, ms_memory_layout, MS_MEMORY_ADDRESS),
        FIELD(ms_memory_bytes, TLV_HEAD, size, ms_memory_layout, MS_MEMORY_SIZE),
        FIELD(ms_memory_bytes, TLV_HEAD, used, ms_memory_layout, MS_MEMORY_USED),
        FIELD(ms_memory_bytes, TLV_HEAD, peak, ms_memory_layout, MS_MEMORY_PEAK),
        FIELD(ms_memory_bytes, TLV_HEAD, reserved, ms_memory_layout, MS_MEMORY_RESERVED),
        FIELD(ms_memory_bytes, TLV_HEAD, used_by_event, ms_memory_layout, MS_MEMORY_USED_BY_EVENT),
        FIELD(ms_memory_bytes, TLV_HEAD, eager_free, ms_memory_layout, MS_MEMORY_EAGER_FREE),
        FIELD(ms_memory_bytes, TLV_HEAD, stream_pointer, ms_memory_layout, MS_MEMORY_STREAM_POINTER),
        FIELD(ms_memory_bytes, TLV_HEAD, stream, ms_memory_layout, MS_MEMORY_STREAM),
        FIELD(ms_memory_bytes, TLV_HEAD, from_persistent, ms_memory_layout, MS_MEMORY_FROM_PERSISTENT),
        FIELD(ms_memory_bytes, TLV_HEAD, is_persistent, ms_memory_layout, MS_MEMORY_IS_PERSISTENT),
        FIELD(ms_memory_bytes, TLV_HEAD, run_mode, ms_memory_layout, MS_MEMORY_RUN_MODE),
        FIELD(ms_memory_bytes, TLV_HEAD, alloc_type, ms_memory_layout, MS_MEMORY_ALLOC_TYPE),
        FIELD(call_bytes, 0, level, api_layout, API_LEVEL),
        FIELD(call_bytes, 0, type, api_layout, API_TYPE),
        FIELD(call_bytes, 0, thread, api_layout, API_THREAD),
        FIELD(call_bytes, 0, request, api_layout, API_REQUEST),
        FIELD(call_bytes, 0, begin, api_layout, API_BEGIN),
        FIELD(call_bytes, 0, end, api_layout, API_END),
        FIELD(call_bytes, 0, item, api_layout, API_ITEM),
        FIELD(mark_bytes, 0, level, mark_layout, HEAD_LEVEL),
        FIELD(mark_bytes, 0, type, mark_layout, HEAD_TYPE),
        FIELD(mark_bytes, 0, thread, mark_layout, HEAD_THREAD),
        FIELD(mark_bytes, 0, data_length, mark_layout, HEAD_DATA_LEN),
        FIELD(mark_bytes, 0, time, mark_layout, HEAD_TIME),
        FIELD(mark_bytes, 0, info, mark_layout, MARK_INFO),
        FIELD(mark_bytes, 0, segment, mark_layout, MARK_SEGMENT),
        FIELD(mark_bytes, 0, process, mark_layout, MARK_PROCESS),
        FIELD(mark_bytes, 0, mark_thread, mark_layout, MARK_THREAD),
        FIELD(mark_bytes, 0, category, mark_layout, MARK_CATEGORY),
        FIELD(mark_bytes, 0, event, mark_layout, MARK_EVENT),
        FIELD(mark_bytes, 0, payload_type, mark_layout, MARK_PAYLOAD_TYPE),
        FIELD(mark_bytes, 0, payload, mark_layout, MARK_PAYLOAD),
        FIELD(mark_bytes, 0, begin, mark_layout, MARK_BEGIN),
        FIELD(mark_bytes, 0, end, mark_layout, MARK_END),
        FIELD(mark_bytes, 0, id, mark_layout, MARK_ID),
        FIELD(mark_bytes, 0, domain, mark_layout, MARK_DOMAIN),
        FIELD(mark_bytes, 0, message_type, mark_layout, MARK_MESSAGE_TYPE),
    };
#undef FIELD
    static const struct {
        const struct layout *layout;
        size_t bytes;
        unsigned n; /* fields of the layout that the table above has to have */
    } whole[] = {
        { &torch_op_layout, sizeof(struct op_bytes) - TLV_HEAD, TORCH_OP_FIELDS },
        { &torch_mark_layout, sizeof(struct queue_bytes) - TLV_HEAD, TORCH_MARK_FIELDS },
        { &torch_memory_layout, sizeof(struct memory_bytes) - TLV_HEAD, TORCH_MEMORY_FIELDS },
        { &python_call_layout, sizeof(struct python_call_bytes), PYTHON_CALL_FIELDS },
        { &python_key_layout, sizeof(struct python_key_bytes) - TLV_HEAD, 1 },
        { &python_gc_layout, sizeof(struct python_gc_bytes), PYTHON_GC_FIELDS },
        { &step_thread_layout, sizeof(struct step_thread_bytes), STEP_THREAD_FIELDS },
        { &graph_node_layout, sizeof(struct graph_node_bytes) - TLV_HEAD, GRAPH_NODE_FIELDS },
        { &ms_range_layout, sizeof(struct ms_range_bytes) - TLV_HEAD, MS_RANGE_FIELDS },
        { &ms_memory_layout, sizeof(struct ms_memory_bytes) - TLV_HEAD, MS_MEMORY_FIELDS },
        { &api_layout, sizeof(struct call_bytes), API_FIELDS },
        { &mark_layout, sizeof(struct mark_bytes), MARK_FIELDS },
    };
    assert_int_equal(sizeof(struct tlv_bytes), TLV_HEAD);
    assert_int_equal(offsetof(struct mark_bytes, message), MARK_MESSAGE);
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(row[i].offset, row[i].layout->field[row[i].field].off);
        assert_int_equal(row[i].width, row[i].layout->field[row[i].field].width);
    }
    for (size_t i = 0; i < ROWS(whole); i++) {
        unsigned n = 0;
        for (size_t k = 0; k < ROWS(row); k++)
            n += row[k].layout == whole[i].layout;
        print_message("  %s\n", whole[i].layout->name);
        assert_int_equal(whole[i].bytes, whole[i].layout->size);
        assert_int_equal(n, whole[i].n);
    }
    (void)state;
}

static const char *name_of(const struct collection *s, name_id name)
{
    return name == NO_NAME ? "(none)" : names_text(s->profile.names, name);
}

/* What outputs show: a line break behind each ";". */
static const char *shown(const char *text)
{
    static char out[4096];
    size_t n = 0;
    for (; *text; text++) {
        out[n++] = *text;
        if (*text == ';')
            out[n++] = '\r', out[n++] = '\n';
    }
    out[n] = '\0';
    return out;
}

static const struct {
    const char *what, *name, *types, *shapes, *stack, *modules, *more;
    int64_t sequence;
    uint64_t forward_thread;
    uint8_t scope;
    bool is_async;
} ops[] = {
    { "a name alone", "aten::relu", NULL, NULL, NULL, NULL, NULL, -1, 0, ASCOPE_SCOPE_FUNCTION, false },
    { "types and shapes", "aten::mm", "float;float", "2,3;3,4", NULL, NULL, NULL, 7, 0, ASCOPE_SCOPE_FUNCTION, false },
    { "a backward", "MmBackward0", "float", "2,4", NULL, NULL, NULL, 7, 1, ASCOPE_SCOPE_BACKWARD, false },
    { "a stack and modules", "aten::add", NULL, NULL, "a.py(1): f;b.py(2): g", "net;block", "k:v", -1, 0,
      ASCOPE_SCOPE_FUNCTION, true },
    { "what the user named", "Schritt für Schritt ★", NULL, NULL, NULL, NULL, NULL, -1, 0, ASCOPE_SCOPE_USER, false },
};

static void operators_come_back(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    uint64_t before = 0, after = 0;
    for (size_t i = 0; i < ROWS(ops); i++) {
        struct ascope_op op;
        before = i == 0 ? ascope_now() : before;
        ascope_op_begin(&op, ops[i].name);
        assert_int_not_equal(op.begin, 0);
        op.types = ascope_text_of(ops[i].types);
        op.shapes = ascope_text_of(ops[i].shapes);
        op.stack = ascope_text_of(ops[i].stack);
        op.modules = ascope_text_of(ops[i].modules);
        op.more = ascope_text_of(ops[i].more);
        op.sequence = ops[i].sequence;
        op.forward_thread = ops[i].forward_thread;
        op.scope = ops[i].scope;
        op.is_async = ops[i].is_async;
        ascope_op_end(&op);
        after = ascope_now();
    }
    struct collection r;
    recorded_end(s, &r);
    const struct framework_ops *t = &r.framework.ops;
    size_t n = 0;
    for (size_t k = 0; k < t->n; k++) {
        size_t i = 0;
        while (i < ROWS(ops) && strcmp(name_of(&r, t->name[k]), ops[i].name) != 0)
            i++;
        if (i == ROWS(ops))
            continue; /* the session's own */
        print_message("  %s\n", ops[i].what);
        n++;
        assert_true(t->begin_ns[k] <= t->end_ns[k]);
        assert_int_equal(t->sequence[k], ops[i].sequence);
        assert_int_equal(t->forward_thread[k], ops[i].forward_thread);
        assert_int_equal(t->process[k], getpid());
        assert_int_equal(t->thread[k], gettid());
        assert_int_equal(t->scope[k], ops[i].scope);
        assert_string_equal(name_of(&r, t->types[k]), ops[i].types ? shown(ops[i].types) : "(none)");
        assert_string_equal(name_of(&r, t->shapes[k]), ops[i].shapes ? shown(ops[i].shapes) : "(none)");
        assert_string_equal(name_of(&r, t->stack[k]), ops[i].stack ? shown(ops[i].stack) : "(none)");
        assert_string_equal(name_of(&r, t->modules[k]), ops[i].modules ? ops[i].modules : "(none)");
        assert_string_equal(name_of(&r, t->flops[k]), ops[i].more ? ops[i].more : "(none)");
    }
    assert_int_equal(n, ROWS(ops));
    assert_true(before < after);
    collection_free(&r);
    (void)state;
}

static void tensors_are_kept_as_they_are(void **state)
{
    static const char tensor[] = "0x1;0x2;float;4;2,3;3,1;20;0)0x3;0x4;float;4;3;1;20;0",
                      list[] = "0x5;0x6;float;4;1;1;20;0)}";
    struct ascope_session *s = recorded_begin(NULL);
    struct ascope_op op;
    ascope_op_begin(&op, "aten::cat");
    op.tensors = ascope_text_of(tensor);
    op.tensor_lists = ascope_text_of(list);
    op.scalars = ascope_text_of("Int;Double");
    ascope_op_end(&op);
    struct collection r;
    recorded_end(s, &r);
    bool is_there = false;
    for (size_t k = 0; k < r.framework.ops.n; k++) {
        struct losses lost = { 0 };
        struct tlv t = { .file = "t", .lost = &lost };
        struct tlv_text text[TORCH_TEXTS];
        const struct tlv_record record = { r.framework.ops.record[k], r.framework.ops.record_size[k], 0 };
        if (strcmp(name_of(&r, r.framework.ops.name[k]), "aten::cat") != 0)
            continue;
        is_there = true;
        tlv_texts(&t, &record, torch_op_layout.size, text, TORCH_TEXTS);
        assert_int_equal(text[TORCH_TEXT_TENSORS].len, strlen(tensor));
        assert_memory_equal(text[TORCH_TEXT_TENSORS].at, tensor, strlen(tensor));
        assert_int_equal(text[TORCH_TEXT_TENSOR_LISTS].len, strlen(list));
        assert_memory_equal(text[TORCH_TEXT_TENSOR_LISTS].at, list, strlen(list));
        assert_int_equal(text[TORCH_TEXT_SCALARS].len, strlen("Int;Double"));
    }
    assert_true(is_there);
    collection_free(&r);
    (void)state;
}

static struct ascope_op lent; /* begun here, ended on another thread */

static void *end_it(void *thread)
{
    *(uint32_t *)thread = (uint32_t)gettid();
    ascope_op_end(&lent);
    return NULL;
}

static void an_operator_ends_where_it_ends(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    pthread_t other;
    uint32_t other_thread = 0;
    ascope_op_begin(&lent, "aten::far");
    assert_int_equal(pthread_create(&other, NULL, end_it, &other_thread), 0);
    pthread_join(other, NULL);
    struct collection r;
    recorded_end(s, &r);
    bool is_there = false;
    for (size_t k = 0; k < r.framework.ops.n; k++)
        if (strcmp(name_of(&r, r.framework.ops.name[k]), "aten::far") == 0) {
            is_there = true;
            assert_int_equal(r.framework.ops.thread[k], gettid());
            assert_int_equal(layout_get(&torch_op_layout, TORCH_OP_END_THREAD, r.framework.ops.record[k]),
                             other_thread);
        }
    assert_true(is_there);
    collection_free(&r);
    (void)state;
}

static void the_queue_comes_back(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    ascope_queue_point(ASCOPE_ENQUEUE_BEGIN, 0, ascope_text_of("aten::mm"));
    ascope_queue_point(ASCOPE_ENQUEUE_END, 5, ascope_text_of("aten::mm"));
    ascope_queue_point(ASCOPE_DEQUEUE_BEGIN, 5, ascope_text_of("aten::mm"));
    ascope_queue_point(ASCOPE_DEQUEUE_END, 5, ascope_text_of("aten::mm"));
    struct collection r;
    recorded_end(s, &r);
    const struct queue_spans *const both[] = { &r.framework.enqueue, &r.framework.dequeue };
    for (size_t i = 0; i < ROWS(both); i++) {
        assert_int_equal(both[i]->n, 1);
        assert_int_equal(both[i]->id[0], 5);
        assert_int_equal(both[i]->thread[0], gettid());
        assert_string_equal(name_of(&r, both[i]->name[0]), "aten::mm");
    }
    collection_free(&r);
    (void)state;
}

static void memory_comes_back(void **state)
{
    static const struct ascope_memory event[] = {
        { sizeof *event, ASCOPE_ON_NPU, 1, ASCOPE_MALLOC, false, 0x1000, 512, 512, 2048, 512, 3 },
        { sizeof *event, ASCOPE_ON_NPU, 1, ASCOPE_FREE, false, 0x1000, -512, 0, 2048, 512, 3 },
        { sizeof *event, ASCOPE_ON_NPU, 1, ASCOPE_BLOCK_FREE, false, 0x1000, -512, 0, 2048, 0, 3 },
        { sizeof *event, ASCOPE_ON_NPU, 0, ASCOPE_MALLOC, true, 0x2000, 64, 64, 64, 64, -1 },
        { sizeof *event, ASCOPE_ON_CPU, 0, ASCOPE_MALLOC, false, 0x3000, 32, 32, 0, 0, 0 },
    };
    struct ascope_session *s = recorded_begin(NULL);
    for (size_t i = 0; i < ROWS(event); i++)
        ascope_memory(&event[i]);
    struct collection r;
    recorded_end(s, &r);
    const struct framework_memory *m = &r.framework.memory;
    assert_int_equal(m->n, ROWS(event));
    for (size_t i = 0; i < ROWS(event); i++) {
        assert_int_equal(m->pointer[i], event[i].pointer);
        assert_int_equal(m->size_bytes[i], event[i].size_bytes);
        assert_int_equal(m->allocated_bytes[i], event[i].allocated_bytes);
        assert_int_equal(m->reserved_bytes[i], event[i].reserved_bytes);
        assert_int_equal(m->active_bytes[i], event[i].active_bytes);
        assert_int_equal(m->stream[i], event[i].stream);
        assert_int_equal(m->device_type[i], event[i].device_type);
        assert_int_equal(m->device[i], event[i].device);
        assert_int_equal(m->kind[i], event[i].event);
        assert_int_equal(m->component[i], event[i].is_workspace ? COMPONENT_WORKSPACE : COMPONENT_CACHING);
        assert_int_equal(m->thread[i], gettid());
        assert_int_equal(m->process[i], getpid());
    }
    collection_free(&r);
    (void)state;
}

static void python_comes_back(void **state)
{
    enum { KEY = 11, INNER = 12, LEAVING = 13 };
    struct ascope_session *s = recorded_begin(NULL);
    ascope_python_key(KEY, ascope_text_of("train.py(3): step"));
    ascope_python_key(INNER, ascope_text_of("<built-in function len>"));
    ascope_python_key(LEAVING, ascope_text_of("__torch_npu_profiler_python_tracer_exit"));
    ascope_python_event(ASCOPE_PYTHON_CALL, KEY);
    ascope_python_event(ASCOPE_PYTHON_C_CALL, INNER);
    ascope_python_event(ASCOPE_PYTHON_C_RETURN, LEAVING);
    ascope_python_event(ASCOPE_PYTHON_RETURN, LEAVING);
    ascope_python_parameters(KEY, false, ascope_text_of("weight)0x1;0x2;float;4;2;1;20;0)}"));
    ascope_python_parameters(KEY, true, ascope_text_of("0x1;0x2;float;4;2;1;20;0))"));
    const uint64_t now = ascope_now();
    ascope_python_gc(now - 1000, now);
    struct collection r;
    recorded_end(s, &r);
    const struct python_calls *p = &r.framework.python;
    assert_int_equal(p->n, 2);
    assert_string_equal(name_of(&r, p->name[0]), "<built-in function len>");
    assert_string_equal(name_of(&r, p->name[1]), "train.py(3): step");
    assert_true(p->begin_ns[1] <= p->begin_ns[0] && p->end_ns[0] <= p->end_ns[1]);
    assert_int_equal(p->thread[0], gettid());
    const struct python_params *q = &r.framework.params;
    assert_int_equal(q->n, 2);
    assert_int_equal(q->key[0], KEY);
    assert_non_null(q->modules[0]);
    assert_null(q->optimizers[0]);
    assert_null(q->modules[1]);
    assert_non_null(q->optimizers[1]);
    assert_int_equal(r.framework.gc.n, 1);
    assert_true(r.framework.gc.begin_ns[0] < r.framework.gc.end_ns[0]);
    collection_free(&r);
    (void)state;
}

static void calls_and_names_come_back(void **state)
{
    enum { LEVEL = 20000, TYPE = 0x3FFF1, LATER = 0x3FFF2 };
    ascope_type_name(LEVEL, TYPE, "aclrtTested");
    ascope_type_name(LEVEL, TYPE, "the first name stays");
    for (int session = 0; session < 2; session++) {
        struct ascope_session *s = recorded_begin(NULL);
        uint64_t item = 0;
        for (int i = 0; i < 3; i++) {
            item = ascope_name(ascope_text_of("Größe:1\n2"));
            const uint64_t now = ascope_now();
            ascope_call(LEVEL, TYPE, now - 10, now, item);
            ascope_call(LEVEL, LATER, now - 10, now, 0);
            if (i == 1)
                ascope_type_name(LEVEL, LATER, "aclrtNamedLater");
        }
        assert_int_equal(item, name_hash("Größe:1\n2"));
        struct collection r;
        recorded_end(s, &r);
        char line[256];
        snprintf(line, sizeof line, "%llu:Größe:1 2", (unsigned long long)item);
        assert_int_equal(recorded_lines(&r, "hash_dic", line), 1);
        assert_int_equal(recorded_lines(&r, "type_info_dic", "20000_262129:aclrtTested"), 1);
        assert_int_equal(recorded_lines(&r, "type_info_dic", "20000_262130:aclrtNamedLater"), 1);
        collection_free(&r);
    }
    (void)state;
}

static void only_host_and_framework(struct ascope_options *o)
{
    o->mstx = o->profile_memory = o->with_stack = o->with_modules = false;
    o->gc_threshold_ms = -1;
}

static void what_was_not_asked_for_is_not_recorded(void **state)
{
    struct ascope_op early;
    ascope_op_begin(&early, "before");
    assert_int_equal(early.begin, 0);
    ascope_op_end(&early);
    struct ascope_session *s = recorded_begin(only_host_and_framework);
    const struct ascope_memory m = { .size = sizeof m, .pointer = 1, .size_bytes = 1 };
    ascope_memory(&m);
    ascope_python_event(ASCOPE_PYTHON_CALL, 1);
    ascope_python_gc(1, 2);
    assert_int_equal(ascope_range_begin(NULL, "not asked for", NULL), 0);
    struct ascope_op late;
    ascope_op_begin(&late, "too late");
    struct collection r;
    recorded_end(s, &r);
    ascope_op_end(&late);
    assert_int_equal(r.framework.memory.n, 0);
    assert_int_equal(r.framework.python.n, 0);
    assert_int_equal(r.framework.gc.n, 0);
    assert_int_equal(r.profile.host.records.marks.n, 0);
    collection_free(&r);

    s = recorded_begin(NULL);
    ascope_op_end(&late); /* of the session before */
    recorded_end(s, &r);
    for (size_t k = 0; k < r.framework.ops.n; k++)
        assert_string_not_equal(name_of(&r, r.framework.ops.name[k]), "too late");
    collection_free(&r);
    (void)state;
}

/* Two records of the same key, more names than the set of what was said holds, and all of them again. */
static void every_name_is_said(void **state)
{
    enum { NAMES = 100000 };
    struct writer_tally tally;
    struct ascope_session *s = recorded_begin(NULL);
    char text[32];
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(text, sizeof text, "kernel %u", i);
        ascope_name(ascope_text_of(text));
        if (i % 5000 == 0)
            writer_flush(&tally, &(struct error){ 0 }); /* they are more than fit into a ring */
    }
    struct collection r;
    recorded_end(s, &r);
    for (unsigned i = 0; i < NAMES; i += 9973) {
        char line[64];
        snprintf(text, sizeof text, "kernel %u", i);
        snprintf(line, sizeof line, "%llu:%s", (unsigned long long)name_hash(text), text);
        assert_int_equal(recorded_lines(&r, "hash_dic", line), 1);
    }
    collection_free(&r);
    (void)state;
}

static void names_have_the_hash_of_the_format(void **state)
{
    static const struct {
        const char *what, *text;
        uint64_t hash;
    } row[] = {
        { "an operator", "Conv2D", 6251491202591237330u },
        { "nothing", "", UINT64_MAX },
        { "one byte", "a", 97ull << 32 | 97 },
        { "bytes are signed, as on x86-64", "\xC3", (uint64_t)(uint32_t)-61 << 32 | (uint32_t)-61 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_true(name_hash(row[i].text) == row[i].hash);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_are_the_tables),
        cmocka_unit_test(names_have_the_hash_of_the_format),
        cmocka_unit_test_setup_teardown(operators_come_back, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(tensors_are_kept_as_they_are, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(an_operator_ends_where_it_ends, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(the_queue_comes_back, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(memory_comes_back, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(python_comes_back, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(calls_and_names_come_back, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(what_was_not_asked_for_is_not_recorded, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(every_name_is_said, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
