/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/chrome_kinds.h"

#include <string.h>
#include <strings.h>

/* As Kineto names them, and as versions before 2022 and those without Kineto did. */
static const struct {
    const char *category;
    enum slice_kind kind;
} kinds[] = {
    { "cpu_op", SLICE_OPERATOR },
    { "Operator", SLICE_OPERATOR },
    { "user_annotation", SLICE_ANNOTATION },
    { "python_function", SLICE_PYTHON },
    { "kernel", SLICE_KERNEL },
    { "Kernel", SLICE_KERNEL },
    { "gpu_memcpy", SLICE_COPY },
    { "gpu_memset", SLICE_COPY },
    { "Memcpy", SLICE_COPY },
    { "Memset", SLICE_COPY },
    { "cuda_runtime", SLICE_CALL },
    { "cuda_driver", SLICE_CALL },
    { "Runtime", SLICE_CALL },
    { "privateuse1_runtime", SLICE_CALL },
    { "privateuse1_driver", SLICE_CALL },
    { "xpu_runtime", SLICE_CALL },
    { "xpu_driver", SLICE_CALL },
};

bool chrome_kinds_init(struct chrome_kinds *k, const struct chrome_trace *t, struct arena *mem)
{
    *k = (struct chrome_kinds){ t, arena_take(mem, names_count(t->names), 1),
                                arena_take(mem, names_count(t->names), 1) };
    return k->of_category && k->of_task;
}

static enum slice_kind kind_of_category(const char *category)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(category, kinds[i].category) == 0)
            return kinds[i].kind;
    return SLICE_OTHER;
}

/* Tasks that are no kernels (events, copies, notifications) have their type as their name. */
static enum slice_kind kind_of_task(const struct chrome_kinds *k, size_t slice)
{
    const name_id name = k->t->slices.name[slice];
    if (k->of_task[name] == 0) {
        const struct json_span type = json_find(chrome_slice_args(k->t, slice), "Task Type");
        const size_t n = names_len(k->t->names, name);
        const bool is_kernel =
            type.len > 2 && !(type.len == n + 2 && memcmp(type.at + 1, names_text(k->t->names, name), n) == 0);
        k->of_task[name] = 1 + (is_kernel ? SLICE_TASK : SLICE_OTHER);
    }
    return k->of_task[name] - 1u;
}

static enum slice_kind kind_of_time(const char *name)
{
    return strcmp(name, "Computing") == 0       ? SLICE_COMPUTING
           : strcmp(name, "Communication") == 0 ? SLICE_COMMUNICATING
                                                : SLICE_OTHER;
}

enum slice_kind chrome_kind(const struct chrome_kinds *k, size_t slice)
{
    const struct chrome_trace *t = k->t;
    const name_id category = t->slices.category[slice];
    if (category != NAME_EMPTY) {
        uint8_t *known = &k->of_category[category];
        if (*known == 0)
            *known = (uint8_t)(1 + kind_of_category(names_text(t->names, category)));
        return *known - 1u;
    }
    const struct chrome_process *p = &t->processes.at[t->tracks.at[t->slices.track[slice]].process];
    const char *process = names_text(t->names, p->id.text), *title = names_text(t->names, p->name);
    if (strcmp(title, "Ascend Hardware") == 0)
        return kind_of_task(k, slice);
    if (strcmp(title, "Overlap Analysis") == 0)
        return kind_of_time(names_text(t->names, t->slices.name[slice]));
    return strcmp(process, "CPU functions") == 0    ? SLICE_OPERATOR
           : strcmp(process, "CUDA functions") == 0 ? SLICE_KERNEL
                                                    : SLICE_OTHER;
}

bool chrome_is_collective(const char *kernel)
{
    return strncasecmp(kernel, "nccl", 4) == 0 || strncasecmp(kernel, "rccl", 4) == 0;
}

const char *chrome_step_name(const char *name)
{
    static const char step[] = "ProfilerStep#";
    return strncmp(name, step, sizeof step - 1) == 0 ? name + sizeof step - 1 : NULL;
}

bool chrome_rank(const struct chrome_trace *t, int64_t *rank)
{
    const struct json_span value = json_find(chrome_fact(t, "distributedInfo"), "rank");
    return value.at && json_fixed(value, 0, rank);
}
