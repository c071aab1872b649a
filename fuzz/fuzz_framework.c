/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a FRAMEWORK folder, read into columns. The first byte says how their stamps are meant. */
#include "folder.h"

#include "load/framework/framework_loaders.h"

enum { ASK_COUNTER = 1, ASK_RECORDS = 2, ASK_THREADS = 4, ASK_MINDSPORE = 8 };

static uint64_t sum; /* what was read must be readable */

static void check_name(const struct names *names, name_id id)
{
    if (id == NO_NAME)
        return;
    if (id >= names_count(names))
        abort();
    sum += (uint8_t)names_text(names, id)[names_len(names, id)];
}

static void check_ops(const struct framework_ops *o, const struct names *names)
{
    const name_id *const column[] = { o->name, o->types, o->shapes, o->stack, o->modules, o->flops };
    for (size_t i = 0; i < o->n; i++) {
        for (size_t k = 0; k < sizeof column / sizeof *column; k++)
            check_name(names, column[k][i]);
        if (o->record)
            sum += o->record[i][0] + o->record[i][o->record_size[i] - 1];
    }
}

static void check_queue(const struct queue_spans *q, const struct names *names)
{
    for (size_t i = 0; i < q->n; i++) {
        check_name(names, q->name[i]);
        if (q->begin_ns[i] > q->end_ns[i] || (i > 0 && q->end_ns[i] < q->end_ns[i - 1]))
            abort();
    }
}

/* PyTorch's are pairs of records; a range of MindSpore may end before it begins. */
static void check_python(const struct python_calls *p, const struct names *names, bool is_paired)
{
    for (size_t i = 0; i < p->n; i++) {
        check_name(names, p->name[i]);
        if (is_paired && p->begin_ns[i] > p->end_ns[i])
            abort();
    }
}

static void check_params(const struct python_params *p)
{
    for (size_t i = 0; i < p->n; i++) {
        for (uint32_t k = 0; k < p->modules_len[i]; k++)
            sum += (uint8_t)p->modules[i][k];
        for (uint32_t k = 0; k < p->optimizers_len[i]; k++)
            sum += (uint8_t)p->optimizers[i][k];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    folder_build(data + 1, size - 1, FOLDER_FRAMEWORK);
    char path[128];
    snprintf(path, sizeof path, "%s/FRAMEWORK", folder);
    struct names *names = names_new();
    struct arena *mem = arena_new();
    struct framework_format format = torch_format;
    if (data[0] & ASK_MINDSPORE && !ms_format_find(&format, folder, 0, mem))
        abort();
    const struct framework_request request = {
        .format = &format,
        .clock = { .is_counter = data[0] & ASK_COUNTER,
                   .ns_per_count = 10,
                   .count = 458899534104,
                   .mono_ns = 4588994563278,
                   .wall_offset_ns = 1719014920000000000 },
        .names = names,
        .keeps_records = data[0] & ASK_RECORDS,
        .n_threads = data[0] & ASK_THREADS ? 2 : 1,
    };
    struct framework f;
    struct error e = { 0 };
    if (framework_load(&f, path, &request, &e)) {
        check_ops(&f.ops, names);
        check_queue(&f.enqueue, names);
        check_queue(&f.dequeue, names);
        check_python(&f.python, names, !(data[0] & ASK_MINDSPORE));
        check_params(&f.params);
        const size_t n = f.ops.n + f.memory.n + f.enqueue.n + f.dequeue.n + f.python.n + f.params.n + f.gc.n;
        if (n > size || sum == UINT64_MAX) /* no record has fewer bytes than one */
            abort();
    } else if (e.fault == FAULT_NONE) {
        abort(); /* a refusal gives its reason */
    }
    framework_free(&f);
    names_free(names);
    arena_free(mem);
    folder_remove();
    return 0;
}
