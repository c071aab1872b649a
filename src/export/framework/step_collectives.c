/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "base/memory/sort.h"

/* How frameworks assign collectives to steps and kinds. */
static int torch_kind(const char *name);
static int ms_kind(const char *name);
static const struct rules {
    const char *no_step;              /* the JSON key in a collection without steps */
    bool single_has_all;              /* a single step has all collectives, also those that did not begin in it */
    int (*kind_of)(const char *name); /* KIND_P2P, … */
} rules[FRAMEWORKS] = {
    [FRAMEWORK_PYTORCH] = { "step", true, torch_kind },
    [FRAMEWORK_MINDSPORE] = { "step0", false, ms_kind },
};

const char *const collective_kind_name[KINDS] = { [KIND_P2P] = "p2p", [KIND_COLLECTIVE] = "collective" };

/* The JSON keys of steps with work on the device. Steps of the same number share a key. */
struct step_keys {
    struct keys ids; /* what follows the "#" in the names of steps */
    uint32_t *key;   /* of each step: its index in ids, or NOT_WANTED */
    size_t n;        /* how many steps have work */
};
enum { NOT_WANTED = KEYS_NO_MEMORY - 1 };

static bool find_keys(struct step_keys *k, const struct collection_export *x)
{
    const struct profiler_steps *t = &x->collection->steps;
    struct arena *mem = x->mem;
    *k = (struct step_keys){ .key = arena_take(mem, t->n, sizeof *k->key) };
    const bool has_steps = x->collection->framework_id != FRAMEWORK_MINDSPORE || ms_has_steps(x->collection);
    for (size_t i = 0; k->key && has_steps && i < t->n; i++) {
        if (!t->has_work[i])
            continue;
        k->key[i] = collection_shows_step(x, i) ? keys_add(&k->ids, t->id[i], mem) : NOT_WANTED;
        k->n++;
        if (k->key[i] == KEYS_NO_MEMORY)
            return false;
    }
    return k->key != NULL;
}

static bool name_steps(struct step_collectives *c, const struct step_keys *k, struct names *names, struct arena *mem)
{
    c->n_steps = k->n > 0 ? k->ids.key.n : 1;
    c->step = arena_take(mem, c->n_steps, sizeof *c->step);
    if (!c->step)
        return false;
    if (k->n == 0)
        c->step[0] = names_addz(names, rules[c->framework_id].no_step);
    for (size_t i = 0; i < k->ids.key.n; i++) {
        const char *text = arena_printf(mem, "step%s", names_text(names, (name_id)k->ids.key.at[i]));
        if (!text)
            return false;
        c->step[i] = names_addz(names, text);
    }
    return true;
}

static int torch_kind(const char *name)
{
    static const char *const p2p[] = { "hcom_send",
                                       "hcom_receive",
                                       "hcom_batchsendrecv",
                                       /* NCCL's kernel, and what PyTorch's backend calls them */ "SendRecv",
                                       "send",
                                       "recv" };
    for (size_t i = 0; i < sizeof p2p / sizeof *p2p; i++)
        if (strncasecmp(name, p2p[i], strlen(p2p[i])) == 0)
            return KIND_P2P;
    return KIND_COLLECTIVE;
}

/* By names of MindSpore's own operators: those of the device's library, hcom_send and hcom_receive, do not match on
 * purpose. */
static int ms_kind(const char *name)
{
    return strstr(name, "Send") || strstr(name, "Receive") ? KIND_P2P : KIND_COLLECTIVE;
}

static int64_t start_ns(double us)
{
    const double whole = floor(us);
    return (int64_t)whole * 1000 + (int64_t)nearbyint((us - whole) * 1000);
}

/* The key of the step of a collective: that in which it began; see also single_has_all. NO_ROW: it is in none. */
static uint32_t step_of(const struct step_collectives *c, const struct collective *of, const struct step_keys *keys,
                        const struct step_index *index)
{
    double begin_ns;
    if (!collective_begin(&c->all, of, &begin_ns))
        return NO_ROW;
    if (keys->n == 0 || (keys->n == 1 && rules[c->framework_id].single_has_all))
        return keys->n == keys->ids.key.n ? 0 : NO_ROW;
    const uint32_t step = step_index_at(index, start_ns(collective_start_us(of, begin_ns)));
    return step == NO_ROW || keys->key[step] == NOT_WANTED ? NO_ROW : keys->key[step];
}

/* Fills place, order and first. step[i] is the key of the step of collective i, or NO_ROW. False: no memory. */
static bool put_in_order(struct step_collectives *c, const uint32_t *step, struct arena *mem)
{
    const size_t n = c->all.list.n, n_bins = c->n_steps * KINDS;
    struct names *names = c->all.names;
    const name_id kind_name[KINDS] = { names_addz(names, collective_kind_name[KIND_P2P]),
                                       names_addz(names, collective_kind_name[KIND_COLLECTIVE]) };
    uint32_t *bin = arena_take(mem, n, sizeof *bin);
    c->place = arena_take(mem, n, sizeof *c->place);
    c->order = arena_take(mem, n, sizeof *c->order);
    c->first = arena_take(mem, n_bins + 1, sizeof *c->first);
    if (arena_failed(mem))
        return false;
    size_t n_placed = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (step[i] == NO_ROW)
            continue;
        const int kind = rules[c->framework_id].kind_of(names_text(names, c->all.list.at[i].name));
        c->place[i] = (struct collective_place){ c->step[step[i]], kind_name[kind], true };
        bin[i] = (uint32_t)bin_of(step[i], kind);
        c->order[n_placed++] = i;
        c->first[bin[i] + 1]++;
    }
    for (size_t b = 0; b < n_bins; b++)
        c->first[b + 1] += c->first[b];
    return order_by_u32(c->order, n_placed, bin);
}

static bool put_in_steps(struct step_collectives *c, const struct collection_export *x, bool in_any_case)
{
    const struct collection *s = x->collection;
    struct arena *mem = x->mem;
    const size_t n = c->all.list.n;
    struct step_keys keys;
    struct step_index index;
    uint32_t *step = arena_take(mem, n, sizeof *step);
    if (!step || !find_keys(&keys, x) || !step_index_build(&index, &s->steps, mem))
        return false;
    bool is_any_placed = false;
    for (size_t i = 0; i < n; i++) {
        step[i] = step_of(c, &c->all.list.at[i], &keys, &index);
        is_any_placed |= step[i] != NO_ROW;
    }
    if (in_any_case && !is_any_placed && !x->part) {
        keys = (struct step_keys){ 0 };
        memset(step, 0, n * sizeof *step);
    }
    return name_steps(c, &keys, s->profile.names, mem) && put_in_order(c, step, mem);
}

bool step_collectives_find(struct step_collectives *c, const struct collection_export *x, bool in_any_case,
                           bool *has_any)
{
    const struct collection *s = x->collection;
    *c = (struct step_collectives){ .framework_id = s->framework_id };
    *has_any = false;
    if (!s->has_device || s->profile.is_level0) /* Level0 does not record transfers */
        return true;
    if (!collectives_find(&c->all, &s->profile, x->mem))
        return false;
    *has_any = c->all.list.n > 0;
    if (*has_any && !put_in_steps(c, x, in_any_case))
        return false;
    *has_any = *has_any && c->n_steps > 0;
    return true;
}

void json_step_total(const struct comm_cost *c, struct out *o)
{
    out_char(o, '{');
    json_key(o, "Communication Time Info", true);
    out_char(o, '{');
    for (size_t i = 0; i < COMM_TIMES; i++) {
        json_key(o, comm_time_name[i], i == 0);
        if (i < COMM_TIMES_WITHOUT_RATIOS)
            out_real(o, comm_time(c, i).value);
        else
            json_amount(o, comm_time(c, i));
    }
    out_char(o, '}');
    json_key(o, "Communication Bandwidth Info", false);
    out_char(o, '{');
    for (int k = 0; k < LINK_KINDS; k++) {
        json_key(o, link_kind_name[k], k == 0);
        out_char(o, '{');
        json_key(o, "Transit Time(ms)", true);
        json_amount(o, c->link[k].time_ms);
        json_key(o, "Transit Size(MB)", false);
        json_amount(o, c->link[k].size_mb);
        json_key(o, "Size Distribution", false);
        json_packets(&c->link[k], o);
        out_char(o, '}');
    }
    out_lit(o, "}}");
}
