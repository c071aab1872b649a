/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory_timeline/memory_flow.h"

#include <string.h>

#include "analyse/memory_timeline/op_schemas.h"
#include "analyse/memory_timeline/tensor_text.h"
#include "base/memory/columns.h"
#include "raw/torch.h"

struct storages_finding {
    struct storages *s;
    const struct framework *f;
    const struct names *names;
    uint16_t *schema_of; /* by name: 0 not yet known, NO_SCHEMA, or position + 1 */
    struct losses *lost;
    struct arena *mem, *scratch;
};
enum { NO_SCHEMA = UINT16_MAX };

/* ---- storages ------------------------------------------------------------------------------------------------- */

static struct storage_device *device_of(struct storages_finding *w, int32_t type, int32_t number, uint32_t *place)
{
    struct storages *s = w->s;
    *place = keys_add(&s->device_keys, (uint64_t)(uint32_t)type << 32 | (uint32_t)number, w->mem);
    if (*place == KEYS_NO_MEMORY)
        return NULL;
    if (*place == s->device.n) {
        struct storage_device *new = list_add(&s->device, w->mem);
        if (!new)
            return NULL;
        new->type = type;
        new->number = number;
    }
    return &s->device.at[*place];
}

uint32_t storages_device(const struct storages *s, int32_t type, int32_t number)
{
    for (uint32_t i = 0; i < s->device.n; i++)
        if (s->device.at[i].type == type && s->device.at[i].number == number)
            return i;
    return NO_STORAGE;
}

/* The storage at an address now. NO_STORAGE: no memory. */
static uint32_t storage_at(struct storages_finding *w, uint64_t pointer, int32_t type, int32_t number, bool is_freed)
{
    struct storages *s = w->s;
    uint32_t which;
    struct storage_device *d = device_of(w, type, number, &which);
    const uint32_t place = d ? keys_add(&d->addresses, pointer, w->mem) : KEYS_NO_MEMORY;
    if (place == KEYS_NO_MEMORY)
        return NO_STORAGE;
    if (place == d->current.n) {
        uint32_t *new = list_add(&d->current, w->mem);
        if (!new)
            return NO_STORAGE;
        *new = NO_STORAGE;
    }
    uint32_t found = d->current.at[place];
    if (found == NO_STORAGE) {
        struct storage *new = s->storage.n < MOST_STORAGES ? list_add(&s->storage, w->mem) : NULL;
        if (!new)
            return NO_STORAGE;
        *new = (struct storage){ .device = which, .place = place };
        found = (uint32_t)s->storage.n - 1;
    }
    d->current.at[place] = is_freed ? NO_STORAGE : found;
    return found;
}

static uint32_t storage_of(struct storages_finding *w, const struct tensor *t)
{
    const uint32_t at = storage_at(w, t->pointer, t->device_type, t->device, false);
    if (at != NO_STORAGE) {
        struct storage *s = &w->s->storage.at[at];
        s->has_tensor = true;
        if (!s->has_allocator && s->bytes < t->bytes)
            s->bytes = t->bytes;
    }
    return at;
}

/* ---- operators ------------------------------------------------------------------------------------------------ */

static const struct op_schema *schema_of(struct storages_finding *w, name_id name)
{
    uint16_t *known = &w->schema_of[name];
    if (*known == 0) {
        const struct op_schema *found = op_schema_find(names_text(w->names, name));
        *known = found ? (uint16_t)(found - op_schema_table + 1) : NO_SCHEMA;
    }
    return *known == NO_SCHEMA ? NULL : &op_schema_table[*known - 1];
}

static bool add_use(struct storages_finding *w, const struct tensor *t)
{
    const uint32_t at = storage_of(w, t);
    tensor_use *use = at != NO_STORAGE ? list_add(&w->s->use, w->mem) : NULL;
    if (use)
        *use = at << 2 | USE_UNKNOWN;
    return use != NULL;
}

static bool add_list(struct storages_finding *w, struct op_input *in)
{
    struct tensor t;
    for (struct text_span text; pieces_next(&in->tensors, ')', &text);) {
        const bool is_tensor = tensor_read(text, &t);
        in->is_damaged |= !is_tensor;
        if (!is_tensor || !t.has_storage)
            in->kind = INPUT_SOME_TENSORS;
        else if (!add_use(w, &t))
            return false;
    }
    return true;
}

static bool add_op(struct storages_finding *w, uint32_t row)
{
    struct storages *s = w->s;
    const struct framework_ops *o = &w->f->ops;
    uint8_t kind[OP_SCHEMA_MOST_INPUTS] = { 0 };
    uint32_t end[OP_SCHEMA_MOST_INPUTS] = { 0 }; /* of the uses of an input */
    size_t n = 0;
    bool is_damaged = false;
    struct op_texts texts;
    op_texts_find(&texts, o->record[row], o->record_size[row]);
    s->first_use[row] = (uint32_t)s->use.n;
    for (struct op_input in; op_texts_next(&texts, &in); n++) {
        if ((in.kind == INPUT_TENSOR && !add_use(w, &in.tensor)) || (in.kind == INPUT_TENSORS && !add_list(w, &in)))
            return false;
        is_damaged |= in.is_damaged;
        if (n < OP_SCHEMA_MOST_INPUTS) {
            kind[n] = in.kind;
            end[n] = (uint32_t)s->use.n;
        }
    }
    s->end_use[row] = (uint32_t)s->use.n;
    s->begins_with_tensor[row] = n > 0 && kind[0] == INPUT_TENSOR;
    if (is_damaged)
        losses_add(w->lost, LOSS_BAD_TEXT, 1, w->f->file[FRAMEWORK_OPS].name,
                   (uint64_t)(o->record[row] - w->f->file[FRAMEWORK_OPS].data) - TLV_HEAD);

    const struct op_schema *schema = schema_of(w, o->name[row]);
    uint64_t written;
    s->is_known[row] = schema && n <= OP_SCHEMA_MOST_INPUTS && op_schema_match(schema, kind, n, &written);
    uint32_t u = s->first_use[row];
    for (size_t i = 0; s->is_known[row] && i < n; i++)
        for (; u < end[i]; u++)
            s->use.at[u] = use_storage(s->use.at[u]) << 2 | (written >> i & 1 ? USE_WRITES : USE_READS);
    return true;
}

/* ---- allocators ----------------------------------------------------------------------------------------------- */

static bool add_memory(struct storages_finding *w, uint32_t row)
{
    const struct framework_memory *m = &w->f->memory;
    const uint32_t at = storage_at(w, m->pointer[row], m->device_type[row], m->device[row], m->size_bytes[row] < 0);
    if (at == NO_STORAGE)
        return false;
    struct storage *s = &w->s->storage.at[at];
    if (!s->has_allocator)
        s->bytes = m->size_bytes[row] < 0 ? -(uint64_t)m->size_bytes[row] : (uint64_t)m->size_bytes[row];
    s->has_allocator = true;
    w->s->of_memory[row] = at;
    return true;
}

/* ---- modules and optimizers ----------------------------------------------------------------------------------- */

/* An empty text stands for no tensor and is valid. */
static bool add_recorded(struct storages_finding *w, struct text_span text, enum role role, bool *is_damaged)
{
    struct tensor t;
    const bool is_tensor = text.len > 0 && tensor_read(text, &t);
    *is_damaged |= text.len > 0 && !is_tensor;
    if (!is_tensor || !t.has_storage)
        return true;
    const uint32_t at = storage_of(w, &t);
    struct recorded_role *recorded = at != NO_STORAGE ? list_add(&w->s->recorded, w->mem) : NULL;
    if (recorded)
        *recorded = (struct recorded_role){ at, role };
    return recorded != NULL;
}

/* Splits the text of a parameter into its three parts; false: it has more or fewer. */
static bool three_parts(struct text_span text, struct text_span part[3])
{
    struct text_span more;
    struct pieces p = pieces_of(text);
    return pieces_next(&p, ')', &part[0]) && pieces_next(&p, ')', &part[1]) && pieces_next(&p, ')', &part[2]) &&
           !pieces_next(&p, ')', &more);
}

static bool add_module(struct storages_finding *w, struct text_span text, bool *is_damaged)
{
    struct text_span part[3];
    if (three_parts(text, part))
        return add_recorded(w, part[1], ROLE_PARAMETER, is_damaged) &&
               add_recorded(w, part[2], ROLE_GRADIENT, is_damaged);
    *is_damaged |= text.len > 0;
    return true;
}

static bool add_optimizer(struct storages_finding *w, struct text_span text, bool *is_damaged)
{
    struct text_span part[3], name, tensor, more;
    if (!three_parts(text, part)) {
        *is_damaged |= text.len > 0;
        return true;
    }
    if (!add_recorded(w, part[0], ROLE_PARAMETER, is_damaged) || !add_recorded(w, part[1], ROLE_GRADIENT, is_damaged))
        return false;
    struct pieces states = pieces_of(part[2]);
    for (struct text_span state; pieces_next(&states, ']', &state);) {
        struct pieces pair = pieces_of(state);
        if (state.len == 0)
            continue;
        if (!pieces_next(&pair, '>', &name) || !pieces_next(&pair, '>', &tensor) || pieces_next(&pair, '>', &more))
            *is_damaged = true;
        else if (!add_recorded(w, tensor, ROLE_OPTIMIZER_STATE, is_damaged))
            return false;
    }
    return true;
}

static bool add_parameters(struct storages_finding *w, uint32_t row)
{
    const struct python_params *p = &w->f->params;
    const bool is_module = p->modules[row] != NULL;
    struct pieces each = { .rest = is_module ? (struct text_span){ p->modules[row], p->modules_len[row] }
                                             : (struct text_span){ p->optimizers[row], p->optimizers_len[row] } };
    each.is_over = !each.rest.at;
    bool is_damaged = false;
    for (struct text_span text; pieces_next(&each, '}', &text);)
        if (!(is_module ? add_module : add_optimizer)(w, text, &is_damaged))
            return false;
    if (is_damaged)
        losses_add(w->lost, LOSS_BAD_TEXT, 1, w->f->file[FRAMEWORK_PARAMS].name, 0);
    return true;
}

/* Parameters are known from the first call of their module on. */
struct first_calls {
    struct keys keys;
    LIST(uint32_t) row; /* by key: the last record of its parameters; NO_STORAGE: its module was called before */
};

static bool first_calls_init(struct first_calls *c, struct storages_finding *w)
{
    for (uint32_t i = 0; i < w->f->params.n; i++) {
        const uint32_t place = keys_add(&c->keys, w->f->params.key[i], w->scratch);
        if (place == KEYS_NO_MEMORY || (place == c->row.n && !list_add(&c->row, w->scratch)))
            return false;
        c->row.at[place] = i;
    }
    return true;
}

static bool add_call(struct storages_finding *w, struct first_calls *c, uint32_t row)
{
    if (c->row.n == 0)
        return true;
    const uint32_t place = keys_find(&c->keys, w->f->python.key[row]);
    if (place == KEYS_NONE || c->row.at[place] == NO_STORAGE)
        return true;
    const uint32_t found = c->row.at[place];
    c->row.at[place] = NO_STORAGE;
    return add_parameters(w, found);
}

/* --------------------------------------------------------------------------------------------------------------- */

static bool storages_take(struct storages_finding *w)
{
    struct storages *s = w->s;
    const size_t n_ops = w->f->ops.n;
    s->of_memory = arena_take(w->mem, w->f->memory.n, sizeof *s->of_memory);
    arena_columns(w->mem, n_ops, s->first_use, s->end_use, s->is_known, s->begins_with_tensor);
    w->schema_of = arena_take(w->scratch, names_count(w->names), sizeof *w->schema_of);
    if (arena_failed(w->mem) || arena_failed(w->scratch))
        return false;
    if (w->f->memory.n > 0)
        memset(s->of_memory, 0xFF, w->f->memory.n * sizeof *s->of_memory);
    return true;
}

static bool find(struct storages_finding *w, const struct event_tree *t)
{
    struct first_calls calls = { 0 };
    if (!storages_take(w) || !first_calls_init(&calls, w))
        return false;
    for (size_t i = 0; i < t->n; i++) {
        const struct event v = event_of(w->f, t->by_begin[i]);
        const bool is_added = v.kind == EVENT_OP       ? add_op(w, v.row)
                              : v.kind == EVENT_MEMORY ? add_memory(w, v.row)
                                                       : add_call(w, &calls, v.row);
        if (!is_added || w->s->use.n >= UINT32_MAX)
            return false;
    }
    return true;
}

bool storages_find(struct storages *s, const struct event_tree *t, const struct names *names, struct losses *lost,
                   struct arena *mem, struct error *e)
{
    *s = (struct storages){ 0 };
    struct storages_finding w = { .s = s, .f = t->f, .names = names, .lost = lost, .mem = mem, .scratch = arena_new() };
    const bool done = w.scratch && find(&w, t);
    arena_free(w.scratch);
    return done || error_no_memory(e, t->f->path);
}
