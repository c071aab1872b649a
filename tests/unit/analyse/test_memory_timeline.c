/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/memory_timeline/memory_timeline.h"
#include "raw/torch.h"

/* A short story of what happened, one line each:
 *
 *   op BEGIN END SCOPE THREAD NAME INPUTS    inputs: tN a tensor at address N, s a number, - nothing
 *   mem TIME ADDRESS BYTES THREAD
 *   py BEGIN END KEY                         on thread 1
 *   params KEY module|optimizer TEXT         tN stands for the tensor at N
 *
 * and what came of it: "time action bytes category" for npu:0, where actions are + made, * changed, - freed, = was
 * there. */
enum { MOST = 64, RECORD = 1000 };

struct story {
    struct collection collection;
    uint8_t record[MOST][RECORD];
    char text[MOST][RECORD];
    struct arena *mem;
};

static size_t put_tensor(char *to, unsigned long pointer)
{
    return (size_t)sprintf(to, "0x%lx;0x%lx;float;4;4;1;20;0", 0x7000 + pointer, pointer);
}

static void put_field(uint8_t *record, uint32_t *at, uint16_t type, const char *text)
{
    const uint32_t len = (uint32_t)strlen(text);
    memcpy(record + *at, &type, sizeof type);
    memcpy(record + *at + 2, &len, sizeof len);
    memcpy(record + *at + TLV_HEAD, text, len);
    *at += TLV_HEAD + len;
}

static void add_op(struct story *s, const char *line)
{
    struct framework_ops *o = &s->collection.framework.ops;
    const size_t i = o->n++;
    char name[80], types[200] = "", tensors[400] = "", scalars[80] = "";
    unsigned scope, thread;
    int used;
    assert_int_equal(sscanf(line, "%ld %ld %u %u %79s%n", &o->begin_ns[i], &o->end_ns[i], &scope, &thread, name, &used),
                     5);
    o->scope[i] = (uint8_t)scope;
    o->thread[i] = thread;
    o->name[i] = names_addz(s->collection.profile.names, name);
    for (const char *p = line + used + strspn(line + used, " "); *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        const char *type = *p == 't' ? "float" : *p == 's' ? "Scalar" : "None";
        sprintf(types + strlen(types), "%s%s", *types ? ";" : "", type);
        if (*p == 't') {
            strcat(tensors, *tensors ? ")" : "");
            put_tensor(tensors + strlen(tensors), strtoul(p + 1, NULL, 10));
        }
        if (*p == 's')
            strcat(scalars, *scalars ? ";Int" : "Int");
    }
    o->record[i] = s->record[i];
    o->record_size[i] = torch_op_layout.size;
    if (*types)
        put_field(s->record[i], &o->record_size[i], TORCH_TEXT_TYPES, types);
    if (*tensors)
        put_field(s->record[i], &o->record_size[i], TORCH_TEXT_TENSORS, tensors);
    if (*scalars)
        put_field(s->record[i], &o->record_size[i], TORCH_TEXT_SCALARS, scalars);
}

static void add_memory(struct story *s, const char *line)
{
    struct framework_memory *m = &s->collection.framework.memory;
    const size_t i = m->n++;
    assert_int_equal(sscanf(line, "%ld %lu %ld %u", &m->time_ns[i], &m->pointer[i], &m->size_bytes[i], &m->thread[i]),
                     4);
    m->device_type[i] = MEMORY_ON_NPU;
    m->kind[i] = m->size_bytes[i] < 0 ? MEMORY_FREE : MEMORY_MALLOC;
    m->allocated_bytes[i] = 100 + (int64_t)i;
}

static void add_call(struct story *s, const char *line)
{
    struct python_calls *p = &s->collection.framework.python;
    const size_t i = p->n++;
    assert_int_equal(sscanf(line, "%ld %ld %lu", &p->begin_ns[i], &p->end_ns[i], &p->key[i]), 3);
    p->thread[i] = 1;
}

static void add_params(struct story *s, const char *line)
{
    struct python_params *p = &s->collection.framework.params;
    const size_t i = p->n++;
    char kind[20], *to = s->text[i];
    int used;
    assert_int_equal(sscanf(line, "%lu %19s %n", &p->key[i], kind, &used), 2);
    for (const char *c = line + used; *c; c++)
        if (*c == 't' && c[1] >= '0' && c[1] <= '9')
            to += put_tensor(to, strtoul(c + 1, (char **)&c, 10)), c--;
        else
            *to++ = *c;
    const bool is_module = strcmp(kind, "module") == 0;
    *(is_module ? &p->modules[i] : &p->optimizers[i]) = s->text[i];
    *(is_module ? &p->modules_len[i] : &p->optimizers_len[i]) = (uint32_t)(to - s->text[i]);
}

#define COLUMN(field) ((field) = arena_take(s->mem, MOST, sizeof *(field)))

static struct story *story_new(const char *const *line)
{
    struct story *s = calloc(1, sizeof *s);
    struct framework *f = &s->collection.framework;
    s->mem = arena_new();
    s->collection.path = "story";
    s->collection.profile.names = names_new();
    f->path = "story";
    f->file[FRAMEWORK_OPS] = (struct framework_file){ .name = "ops", .data = s->record[0] };
    f->file[FRAMEWORK_PARAMS] = (struct framework_file){ .name = "params" };
    COLUMN(f->ops.begin_ns), COLUMN(f->ops.end_ns), COLUMN(f->ops.scope), COLUMN(f->ops.thread), COLUMN(f->ops.name);
    COLUMN(f->ops.forward_thread), COLUMN(f->ops.record), COLUMN(f->ops.record_size);
    COLUMN(f->memory.time_ns), COLUMN(f->memory.pointer), COLUMN(f->memory.size_bytes), COLUMN(f->memory.thread);
    COLUMN(f->memory.device_type), COLUMN(f->memory.device), COLUMN(f->memory.kind);
    COLUMN(f->memory.allocated_bytes), COLUMN(f->memory.reserved_bytes), COLUMN(f->memory.component);
    COLUMN(f->python.begin_ns), COLUMN(f->python.end_ns), COLUMN(f->python.thread), COLUMN(f->python.key);
    COLUMN(f->params.key), COLUMN(f->params.modules), COLUMN(f->params.modules_len);
    COLUMN(f->params.optimizers), COLUMN(f->params.optimizers_len);
    for (; *line; line++) {
        static const struct {
            const char *word;
            void (*add)(struct story *s, const char *line);
        } kind[] = { { "op ", add_op }, { "mem ", add_memory }, { "py ", add_call }, { "params ", add_params } };
        size_t k = 0;
        while (strncmp(*line, kind[k].word, strlen(kind[k].word)) != 0)
            k++;
        kind[k].add(s, *line + strlen(kind[k].word));
    }
    return s;
}

static void story_free(struct story *s)
{
    names_free(s->collection.profile.names);
    arena_free(s->mem);
    free(s);
}

/* One line for each change; a change within one category is one, to another "from>to". */
static void print_timeline(const struct memory_timeline *m, char *to)
{
    static const char action[] = {
        [MEMORY_WAS_THERE] = '=', [MEMORY_MADE] = '+', [MEMORY_CHANGED] = '*', [MEMORY_FREED] = '-'
    };
    *to = '\0';
    for (size_t i = 0; i < m->n; i++) {
        to += sprintf(to, "%ld %c%lu ", m->time_ns[i], action[m->action[i]], m->bytes[i]);
        if (m->action[i] == MEMORY_CHANGED && m->from[i] != m->to[i])
            to += sprintf(to, "%s>", memory_category_name[m->from[i]]);
        to += sprintf(to, "%s\n", memory_category_name[m->action[i] == MEMORY_FREED ? m->from[i] : m->to[i]]);
    }
}

static const struct {
    const char *what;
    const char *line[20];
    const char *timeline;
    uint64_t n_damaged;
} story[] = {
    { "nothing", { NULL }, "", 0 },
    { "no tensor was seen in it",
      { "mem 10 1 64 1", "mem 20 1 -64 1" },
      "10 +64 UNKNOWN\n"
      "20 -64 UNKNOWN\n",
      0 },
    { "a size that has no opposite is damage, and an amount like any other",
      { "mem 20 1 -9223372036854775808 1" },
      "-1 =9223372036854775808 UNKNOWN\n"
      "20 -9223372036854775808 UNKNOWN\n",
      0 },
    { "what is freed and was never made was there",
      { "mem 20 1 -64 1" },
      "-1 =64 UNKNOWN\n"
      "20 -64 UNKNOWN\n",
      0 },
    { "made twice without being freed",
      { "mem 10 1 64 1", "mem 15 1 32 1" },
      "10 +64 UNKNOWN\n"
      "15 *32 UNKNOWN\n",
      0 },
    { "made and freed inside of an operator",
      { "op 10 20 0 1 aten::relu t1", "mem 12 2 64 1", "op 13 14 0 1 aten::mul t2 s", "mem 15 2 -64 1" },
      "-1 =16 UNKNOWN\n"
      "12 +64 TEMPORARY\n"
      "15 -64 TEMPORARY\n",
      0 },
    { "the same, where the first operator inside begins together with it",
      { "op 10 14 0 1 aten::mul t2 s", "op 10 20 0 1 aten::relu t1", "mem 12 2 64 1", "mem 15 2 -64 1" },
      "-1 =16 UNKNOWN\n"
      "12 +64 TEMPORARY\n"
      "15 -64 TEMPORARY\n",
      0 },
    { "a tensor that is only read stays as it is", { "op 10 20 0 1 aten::relu t1" }, "-1 =16 UNKNOWN\n", 0 },
    { "one that is written to changes",
      { "op 10 20 0 1 aten::relu_ t1" },
      "-1 =16 UNKNOWN\n"
      "10 *16 UNKNOWN\n",
      0 },
    { "an operator that nobody registered is looked into",
      { "op 10 20 0 1 nobody::knows t1", "op 12 14 0 1 aten::relu_ t2" },
      "-1 =16 UNKNOWN\n"
      "12 *16 UNKNOWN\n",
      0 },
    { "of what is inside of one of the backward pass and not registered, all is written to",
      { "op 10 20 1 1 SomeBackward0", "op 12 14 0 1 nobody::knows t2" },
      "-1 =16 UNKNOWN\n"
      "10 *16 UNKNOWN>AUTOGRAD_DETAIL\n",
      0 },
    { "one that begins when that ends is not inside of it",
      { "op 10 20 1 1 SomeBackward0", "op 20 24 0 1 nobody::knows t2" },
      "",
      0 },
    { "modules and optimizers say what they have",
      { "py 5 9 7", "params 7 module w)t1)t2}b)t3)", "py 15 19 8", "params 8 optimizer t1)t2)exp>t4]" },
      "-1 =16 PARAMETER\n"
      "-1 =16 GRADIENT\n"
      "-1 =16 PARAMETER\n"
      "-1 =16 OPTIMIZER_STATE\n",
      0 },
    { "parameters that cannot be read are counted, and the others used",
      { "py 5 9 7", "params 7 module w)t1}b)t3)" },
      "-1 =16 PARAMETER\n",
      1 },
    { "modules that were never called do not count", { "params 7 module w)t1)" }, "", 0 },
    { "a gradient is accumulated: a new one",
      { "op 10 20 1 2 torch::autograd::AccumulateGrad t1", "op 11 12 0 2 aten::detach t1" },
      "-1 =16 GRADIENT\n",
      0 },
    { "not when something else happens first",
      { "op 10 20 1 2 torch::autograd::AccumulateGrad t1", "mem 11 9 64 2", "op 12 13 0 2 aten::detach t1" },
      "-1 =16 UNKNOWN\n"
      "11 +64 UNKNOWN\n",
      0 },
    { "forward: inputs and parameters become activations",
      { "py 5 30 7", "params 7 module w)t1)", "op 10 20 0 1 aten::mm t2 t1", "mem 11 3 64 1",
        "op 21 25 0 1 aten::relu t3", "mem 22 4 64 1", "op 40 41 0 1 aten::relu t4" },
      "-1 =16 PARAMETER\n"
      "-1 =16 INPUT\n"
      "11 +64 ACTIVATION\n"
      "22 +64 ACTIVATION\n",
      0 },
    { "a step without modules: what follows gradients and meets inputs is a parameter",
      { "mem 1 1 64 1", "op 2 3 0 1 aten::zero_ t1", "op 10 20 0 1 aten::mm t1 t2", "mem 11 3 64 1",
        "op 30 40 1 2 MmBackward0 t3", "op 31 32 0 2 aten::mm t1 t3", "mem 33 4 64 2",
        "op 50 60 1 2 torch::autograd::AccumulateGrad t4", "op 51 52 0 2 aten::detach t4",
        "op 70 80 0 1 aten::add_ t2 t4 s", "mem 90 3 -64 1" },
      "-1 =16 PARAMETER\n"
      "1 +64 INPUT\n"
      "2 *64 INPUT\n"
      "11 +64 ACTIVATION\n"
      "33 +64 GRADIENT\n"
      "70 *16 PARAMETER\n"
      "90 -64 ACTIVATION\n",
      0 },
    { "an address that was freed is another memory",
      { "mem 1 1 64 1", "op 2 3 0 1 aten::relu_ t1", "mem 4 1 -64 1", "mem 5 1 32 1", "op 6 7 0 1 aten::relu t1" },
      "1 +64 UNKNOWN\n"
      "2 *64 UNKNOWN\n"
      "4 -64 UNKNOWN\n"
      "5 +32 UNKNOWN\n",
      0 },
};

static void stories_have_the_right_end(void **state)
{
    for (size_t i = 0; i < ROWS(story); i++) {
        struct story *s = story_new(story[i].line);
        struct memory_timeline m;
        struct losses lost = { 0 };
        struct error e = { 0 };
        char found[4000];
        print_message("  %s\n", story[i].what);
        assert_true(
            memory_timeline_find(&m, &s->collection, (struct memory_device){ MEMORY_ON_NPU, 0 }, &lost, s->mem, &e));
        print_timeline(&m, found);
        assert_string_equal(found, story[i].timeline);
        assert_int_equal(losses_damage(&lost), story[i].n_damaged);
        assert_true(
            memory_timeline_find(&m, &s->collection, (struct memory_device){ MEMORY_ON_NPU, 1 }, &lost, s->mem, &e));
        assert_int_equal(m.n, 0);
        story_free(s);
    }
    (void)state;
}

static void points_are_sums_over_whole_microseconds(void **state)
{
    static const char *const line[] = { "mem 1700000000000001200 1 64 1", "mem 1700000000000001900 2 32 1",
                                        "mem 1700000000000002999 3 16 1", "mem 1700000000000005000 4 -8 1", NULL };
    /* .9 us is the next microsecond: that is how a double rounds it */
    static const int64_t us[] = { 1700000000000001, 1700000000000001, 1700000000000002, 1700000000000003,
                                  1700000000000005 };
    static const int64_t bytes[] = { 8, 72, 104, 120, 112 };
    struct story *s = story_new(line);
    struct memory_timeline m;
    struct losses lost = { 0 };
    struct error e = { 0 };
    assert_true(
        memory_timeline_find(&m, &s->collection, (struct memory_device){ MEMORY_ON_NPU, 0 }, &lost, s->mem, &e));
    size_t n = 0;
    for (struct memory_points p = memory_points_of(&m); memory_points_next(&p); n++) {
        assert_true(n < ROWS(us));
        assert_int_equal(p.now.time_us, us[n]);
        assert_int_equal(p.now.bytes[MEMORY_UNKNOWN], bytes[n]);
    }
    assert_int_equal(n, ROWS(us));
    assert_int_equal(m.peaks.allocated.bytes, 103);
    story_free(s);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stories_have_the_right_end),
        cmocka_unit_test(points_are_sums_over_whole_microseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
