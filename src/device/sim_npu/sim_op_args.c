/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_op_args.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/describe/json_text.h"
#include "collect/session/message.h"
#include "collect/session/place.h"
#include "device/sim_npu/sim_npu.h"
#include "raw/name_hash.h"

enum { MOST = 1 << 14, PLACES = 4 * MOST };

struct called {
    uint64_t hash;
    char *type;
    uint32_t n_in, n_out;
    struct ascope_sim_tensor tensor[]; /* of inputs, then of outputs */
};

static struct args {       /* guarded by the simulator's lock */
    struct called **place; /* a hash table; NULL: a free slot */
    struct called **in_order;
    uint32_t n;
} args;
static atomic_bool is_on;

static uint64_t tensors_hash(uint64_t hash, const struct ascope_sim_tensor *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        hash = (hash ^ t[i].type) * 0x100000001b3;
        for (uint32_t k = 0; k < sim_dims_of(&t[i]); k++)
            hash = (hash ^ t[i].dim[k]) * 0x100000001b3;
        hash = (hash ^ 0xff) * 0x100000001b3;
    }
    return hash;
}

static bool tensors_equal(const struct ascope_sim_tensor *a, const struct ascope_sim_tensor *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].type != b[i].type || a[i].n_dims != b[i].n_dims ||
            memcmp(a[i].dim, b[i].dim, sim_dims_of(&a[i]) * sizeof *a[i].dim) != 0)
            return false;
    return true;
}

static bool sim_op_args_is_same(const struct called *c, const struct ascope_sim_kernel *k, uint64_t hash)
{
    return c->hash == hash && c->n_in == k->n_in && c->n_out == k->n_out && strcmp(c->type, k->type) == 0 &&
           tensors_equal(c->tensor, k->in, k->n_in) && tensors_equal(c->tensor + k->n_in, k->out, k->n_out);
}

static struct called *called_make(const struct ascope_sim_kernel *k, uint64_t hash)
{
    struct called *const c = malloc(sizeof *c + ((size_t)k->n_in + k->n_out) * sizeof *c->tensor);
    char *const type = strdup(k->type);
    if (!c || !type) {
        free(c);
        free(type);
        return NULL;
    }
    *c = (struct called){ .hash = hash, .type = type, .n_in = k->n_in, .n_out = k->n_out };
    if (k->n_in > 0)
        memcpy(c->tensor, k->in, k->n_in * sizeof *k->in);
    if (k->n_out > 0)
        memcpy(c->tensor + k->n_in, k->out, k->n_out * sizeof *k->out);
    return c;
}

static void args_free(struct args *a)
{
    for (uint32_t i = 0; i < a->n; i++) {
        free(a->in_order[i]->type);
        free(a->in_order[i]);
    }
    free(a->place);
    free(a->in_order);
    *a = (struct args){ 0 };
}

void npu_args_start(bool is_wanted)
{
    atomic_store(&is_on, false);
    args_free(&args);
    if (!is_wanted)
        return;
    args.place = calloc(PLACES, sizeof *args.place);
    args.in_order = calloc(MOST, sizeof *args.in_order);
    if (!args.place || !args.in_order)
        args_free(&args);
}

void npu_args_keep(void)
{
    atomic_store(&is_on, args.place != NULL);
}

void npu_args_add(const struct ascope_sim_kernel *k)
{
    if (!atomic_load_explicit(&is_on, memory_order_relaxed))
        return;
    const uint64_t hash = tensors_hash(tensors_hash(name_hash(k->type), k->in, k->n_in), k->out, k->n_out);
    npu_lock();
    size_t at = hash % PLACES;
    while (args.place && args.place[at] && !sim_op_args_is_same(args.place[at], k, hash))
        at = (at + 1) % PLACES;
    if (args.place && !args.place[at] && args.n < MOST && (args.place[at] = called_make(k, hash)))
        args.in_order[args.n++] = args.place[at];
    npu_unlock();
}

/* ---- files ---- */

static void shape_add(struct json_text *t, const char *key, const struct ascope_sim_tensor *of)
{
    json_text_add(t, "      \"%s\": [", key);
    for (uint32_t i = 0; i < sim_dims_of(of); i++)
        json_text_add(t, "%s%u", i > 0 ? ", " : "", of->dim[i]);
    json_text_add(t, "]");
}

/* Tensors have no names of their own: they are called "x", or "x1" and "x2". */
static void tensors_add(struct json_text *t, const char *key, const char *name, const struct ascope_sim_tensor *of,
                        uint32_t n)
{
    json_text_add(t, "  \"%s\": [", key);
    for (uint32_t i = 0; i < n; i++) {
        char number[16] = "";
        if (n > 1)
            snprintf(number, sizeof number, "%u", i + 1);
        json_text_add(t, "%s\n    {\n      \"dtype\": \"%s\",\n      \"format\": \"ND\",\n      \"index\": %u,\n",
                      i > 0 ? "," : "", sim_element_of(of[i].type)->name, i);
        json_text_add(t, "      \"name\": \"%s%s\",\n      \"origin_format\": \"ND\",\n", name, number);
        shape_add(t, "origin_shape", &of[i]);
        json_text_add(t, ",\n      \"param_type\": \"required\",\n");
        shape_add(t, "shape", &of[i]);
        json_text_add(t, ",\n      \"value_depend\": false\n    }");
    }
    json_text_add(t, "%s]", n > 0 ? "\n  " : "");
}

static bool called_write(const struct called *c, uint32_t number, const char *dir, struct error *e)
{
    struct json_text t = { 0 }, name = { 0 };
    json_text_add(&name, "%s/%.100s_", dir, c->type);
    if (c->n_in > 0) {
        json_text_add(&name, "%s_ND_", sim_element_of(c->tensor[0].type)->name);
        for (uint32_t i = 0; i < sim_dims_of(c->tensor); i++)
            json_text_add(&name, "%u_", c->tensor[0].dim[i]);
    }
    json_text_add(&name, "%u.json", number);
    for (size_t i = strlen(dir) + 1; !name.is_short && i < name.n; i++)
        if (name.at[i] == '/') /* the program chooses the name of a type */
            name.at[i] = '_';
    json_text_add(&t, "{\n  \"attrs\": [],\n  \"deterministic\": \"false\",\n  \"impl_mode\": \"\",\n");
    tensors_add(&t, "inputs", "x", c->tensor, c->n_in);
    json_text_add(&t, ",\n  \"op_type\": ");
    json_text_string(&t, c->type);
    json_text_add(&t, ",\n");
    tensors_add(&t, "outputs", "y", c->tensor + c->n_in, c->n_out);
    json_text_add(&t, ",\n  \"simulated\": true,\n  \"tune_mode\": \"all\"\n}\n");
    const bool is_well = t.is_short || name.is_short ? error_no_memory(e, dir) : place_file(name.at, t.at, t.n, 0, e);
    json_text_fini(&t);
    json_text_fini(&name);
    return is_well;
}

bool npu_args_write(const char *dir, struct error *e)
{
    char of_process[PATH_MAX];
    snprintf(of_process, sizeof of_process, "%.*s/%d", PATH_MAX - 16, dir, (int)getpid());
    npu_lock();
    atomic_store(&is_on, false);
    struct args taken = args;
    args = (struct args){ 0 };
    npu_unlock();
    bool is_well = place_parents(of_process, e);
    for (uint32_t i = 0; i < taken.n && is_well; i++)
        is_well = called_write(taken.in_order[i], i, of_process, e);
    if (taken.n == MOST)
        message(ASCOPE_WARNING, "record_op_args: limit of %d distinct calls reached; further ones are not recorded",
                MOST);
    args_free(&taken);
    return is_well;
}
