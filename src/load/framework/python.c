/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "load/framework/framework_loaders.h"

#include <string.h>

#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "load/framework/tlv.h"
#include "raw/torch.h"

/* A module call is named "Class######address of the object". */
static const char MODULE_MARK[] = "######";
static const uint64_t SIGN = UINT64_C(1) << 63;

/* The names of keys. */
struct meanings {
    struct keys keys;
    LIST(name_id) name; /* by place of the key */
};

static uint32_t meaning_add(struct meanings *m, uint64_t key, struct arena *mem, bool *is_new)
{
    const uint32_t place = keys_add(&m->keys, key, mem);
    *is_new = place == m->name.n;
    return place != KEYS_NO_MEMORY && *is_new && !list_add(&m->name, mem) ? KEYS_NO_MEMORY : place;
}

static bool meanings_read(struct meanings *m, struct framework_file *file, struct names *names, struct arena *mem)
{
    struct tlv t = { { file->data, file->size, 0 }, file->name, &file->lost };
    for (struct tlv_record r; tlv_next(&t, python_key_layout.size, &r);) {
        struct tlv_text text[PYTHON_KEY_TEXT + 1];
        bool is_new;
        tlv_texts(&t, &r, python_key_layout.size, text, PYTHON_KEY_TEXT + 1);
        const uint32_t place = meaning_add(m, layout_get(&python_key_layout, PYTHON_KEY, r.data), mem, &is_new);
        if (place == KEYS_NO_MEMORY)
            return false;
        const struct tlv_text meaning = text[PYTHON_KEY_TEXT];
        m->name.at[place] = meaning.at ? names_add(names, meaning.at, meaning.len) : NAME_EMPTY;
    }
    return true;
}

/* The records; `order` is by thread, in the order in which threads first appear, then by time. */
struct entries {
    size_t n, n_calls;
    uint64_t *time; /* ns with an inverted sign bit: sorted as unsigned numbers */
    uint32_t *thread, *process;
    uint32_t *thread_place; /* among the threads */
    uint32_t *meaning;      /* place of the key */
    uint8_t *tag;
    uint32_t *order;
};

static bool is_return(uint8_t tag)
{
    return tag == PYTHON_RETURN || tag == PYTHON_C_RETURN;
}

static bool entries_read(struct entries *t, struct framework_file *file, const struct framework_request *r,
                         struct meanings *m, struct arena *mem)
{
    const struct layout *layout = &python_call_layout;
    struct bytes in = { file->data, file->size, 0 };
    const size_t n = in.size / layout->size;
    struct keys threads = { 0 };
    arena_columns(mem, n, t->time, t->thread, t->process, t->thread_place, t->meaning, t->tag, t->order);
    if (arena_failed(mem))
        return false;
    for (const uint8_t *rec; (rec = bytes_take(&in, layout->size));) {
        const uint64_t thread = layout_get(layout, PYTHON_CALL_THREAD, rec),
                       process = layout_get(layout, PYTHON_CALL_PROCESS, rec),
                       tag = layout_get(layout, PYTHON_CALL_TAG, rec), key = layout_get(layout, PYTHON_CALL_KEY, rec);
        if (thread > UINT32_MAX || process > UINT32_MAX || tag >= PYTHON_TAGS) {
            losses_add(&file->lost, LOSS_BAD_VALUE, 1, file->name, in.at - layout->size);
            continue;
        }
        bool is_new;
        const size_t i = t->n++;
        t->time[i] = (uint64_t)framework_ns(&r->clock, layout_get(layout, PYTHON_CALL_TIME, rec)) ^ SIGN;
        t->thread[i] = (uint32_t)thread;
        t->process[i] = (uint32_t)process;
        t->tag[i] = (uint8_t)tag;
        t->n_calls += !is_return(t->tag[i]);
        t->thread_place[i] = keys_add(&threads, thread, mem);
        t->meaning[i] = meaning_add(m, key, mem, &is_new);
        if (t->thread_place[i] == KEYS_NO_MEMORY || t->meaning[i] == KEYS_NO_MEMORY)
            return false;
        if (is_new) /* a key without a name is shown as a number */
            m->name.at[t->meaning[i]] = names_number(r->names, key);
    }
    if (in.at < in.size)
        losses_add(&file->lost, LOSS_CUT_SHORT, 1, file->name, in.at);
    order_fill(t->order, t->n);
    return order_by_u64(t->order, t->n, t->time) && order_by_u32(t->order, t->n, t->thread_place);
}

/* The name of a call, and its number if it calls a module. */
struct label {
    name_id name;
    uint32_t number;
};

/* Modules of a thread: the objects of a class are counted in the order in which they are first called. */
struct modules {
    struct keys objects, classes, known;
    LIST(uint32_t) number;  /* by place in objects */
    LIST(uint32_t) counted; /* by place in classes */
    struct label *label;    /* by meaning, of those that are known */
};

struct python_frame {
    uint32_t entry, id, parent;
    struct label label;
};

struct replay {
    struct names *names;
    const struct entries *t;
    const struct meanings *meanings;
    struct modules modules;
    LIST(struct python_frame) open; /* calls that have not returned */
    struct python_calls *out;
    struct arena *mem;
};

static bool module_number(struct replay *p, const char *class, size_t class_len, const char *object, uint32_t *number)
{
    struct modules *m = &p->modules;
    const uint32_t place = keys_add(&m->objects, names_addz(p->names, object), p->mem);
    if (place == KEYS_NO_MEMORY)
        return false;
    if (place == m->number.n) {
        const uint32_t of_class = keys_add(&m->classes, names_add(p->names, class, class_len), p->mem);
        const bool is_first = of_class == m->counted.n;
        if (of_class == KEYS_NO_MEMORY || (is_first && !list_add(&m->counted, p->mem)) || !list_add(&m->number, p->mem))
            return false;
        if (is_first) /* the list was used for another thread before */
            m->counted.at[of_class] = 0;
        m->number.at[place] = m->counted.at[of_class]++;
    }
    *number = m->number.at[place];
    return true;
}

static bool call_label(struct replay *p, uint32_t meaning, bool may_be_module, struct label *out)
{
    const name_id name = p->meanings->name.at[meaning];
    const char *text = names_text(p->names, name), *mark = may_be_module ? strstr(text, MODULE_MARK) : NULL;
    *out = (struct label){ name, NO_MODULE_NUMBER };
    if (!mark)
        return true;
    struct label *label = &p->modules.label[meaning];
    const size_t n_known = p->modules.known.key.n, class_len = (size_t)(mark - text);
    const uint32_t place = keys_add(&p->modules.known, meaning, p->mem);
    if (place == KEYS_NO_MEMORY)
        return false;
    if (place == n_known) {
        if (!module_number(p, text, class_len, mark + sizeof MODULE_MARK - 1, &label->number))
            return false;
        const char *full = arena_printf(p->mem, "nn.Module: %.*s_%u", (int)class_len, text, label->number);
        if (!full)
            return false;
        label->name = names_addz(p->names, full);
    }
    *out = *label;
    return true;
}

static bool begin_call(struct replay *p, uint32_t entry, uint32_t id)
{
    const struct python_frame *around = p->open.n > 0 ? &p->open.at[p->open.n - 1] : NULL;
    struct python_frame f = { .entry = entry, .id = id, .parent = around ? around->id : 0 };
    if (!call_label(p, p->t->meaning[entry], p->t->tag[entry] == PYTHON_CALL, &f.label))
        return false;
    struct python_frame *slot = list_add(&p->open, p->mem);
    if (slot)
        *slot = f;
    return slot != NULL;
}

static void end_call(struct replay *p, uint64_t time)
{
    const struct python_frame *f = &p->open.at[--p->open.n];
    struct python_calls *c = p->out;
    const size_t i = c->n++;
    c->begin_ns[i] = (int64_t)(p->t->time[f->entry] ^ SIGN);
    c->end_ns[i] = (int64_t)(time ^ SIGN);
    c->process[i] = p->t->process[f->entry];
    c->thread[i] = p->t->thread[f->entry];
    c->key[i] = p->meanings->keys.key.at[p->t->meaning[f->entry]];
    c->name[i] = f->label.name;
    c->id[i] = f->id;
    c->parent[i] = f->parent;
    c->module[i] = f->label.number;
}

/* Entries `first` to `end` of the order, which are those of one thread. Calls that never returned end with its last
 * entry. */
static bool replay_thread(struct replay *p, size_t first, size_t end)
{
    const struct entries *t = p->t;
    struct modules *m = &p->modules;
    keys_clear(&m->objects);
    keys_clear(&m->classes);
    keys_clear(&m->known);
    m->number.n = m->counted.n = 0;
    for (size_t k = first; k < end; k++) {
        const uint32_t entry = t->order[k];
        if (!is_return(t->tag[entry])) {
            if (!begin_call(p, entry, (uint32_t)(k - first)))
                return false;
        } else if (p->open.n > 0)
            end_call(p, t->time[entry]);
    }
    while (p->open.n > 0)
        end_call(p, t->time[t->order[end - 1]]);
    return true;
}

static bool calls_take(struct python_calls *c, size_t n, struct arena *mem)
{
    arena_columns(mem, n, c->begin_ns, c->end_ns, c->process, c->thread, c->key, c->name, c->id, c->parent, c->module);
    return !arena_failed(mem);
}

static bool load(struct framework *f, const struct framework_request *r, struct arena *mem)
{
    struct meanings m = { 0 };
    struct entries t = { 0 };
    if (!meanings_read(&m, &f->file[FRAMEWORK_PYTHON_KEYS], r->names, mem) ||
        !entries_read(&t, &f->file[FRAMEWORK_PYTHON], r, &m, mem) ||
        !calls_take(&f->python, t.n_calls, f->file[FRAMEWORK_PYTHON].mem))
        return false;
    struct replay p = { .names = r->names, .t = &t, .meanings = &m, .out = &f->python, .mem = mem };
    p.modules.label = arena_take(mem, m.name.n, sizeof *p.modules.label);
    if (!p.modules.label)
        return false;
    for (size_t first = 0, end; first < t.n; first = end) {
        for (end = first + 1; end < t.n && t.thread_place[t.order[end]] == t.thread_place[t.order[first]];)
            end++;
        if (!replay_thread(&p, first, end))
            return false;
    }
    return true;
}

bool python_load(struct framework *f, const struct framework_request *r)
{
    struct arena *mem = f->file[FRAMEWORK_PYTHON].data ? arena_new() : NULL;
    const bool done = !f->file[FRAMEWORK_PYTHON].data || (mem && load(f, r, mem));
    arena_free(mem);
    return done;
}
