/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/roofline_chrome.h"

#include <string.h>

#include "answers/run/chrome_kinds.h"

enum { MOST_TEXT = 512 }; /* bytes of a text of shapes; the work of operators with longer ones is unknown anyway */

/* What a name of the trace means; 0: not looked up yet. */
enum { NAME_OTHER = 1, NAME_OPERATORS, NAME_KERNELS, NAME_KNOWN };

/* An operator, with what it launched. */
struct roofline_chrome_launcher {
    struct roofline_key key;
    struct roofline_run run;
};

struct chrome_work {
    const struct chrome_trace *t;
    struct names *names;
    struct arena *mem;
    uint8_t *is; /* by name in the trace: NAME_… */
    struct keys ids;
    LIST(struct roofline_chrome_launcher) launchers; /* in the order of ids */
};

static int roofline_chrome_kind_of(struct chrome_work *w, name_id name)
{
    const char *const text = names_text(w->t->names, name);
    if (w->is[name] == 0)
        w->is[name] = !strcmp(text, "cpu_op") || !strcmp(text, "Operator") ? NAME_OPERATORS
                      : !strcmp(text, "kernel") || !strcmp(text, "Kernel") ? NAME_KERNELS
                      : kernel_type_is_known(text)                         ? NAME_KNOWN
                                                                           : NAME_OTHER;
    return w->is[name];
}

/* [[2,3],[3,4],[]] as 2,3;3,4; and ["float","Scalar"] as float;Scalar. False: lists of tensors, or too long. */
static bool list_text(struct json_span v, char out[MOST_TEXT])
{
    size_t n = 0;
    int depth = 0;
    bool is_text = false;
    for (size_t i = 0; i < v.len && n + 1 < MOST_TEXT; i++) {
        const char c = v.at[i];
        is_text ^= c == '"';
        depth += !is_text && c == '[' ? 1 : !is_text && c == ']' ? -1 : 0;
        if (depth > 2 || c == '\\')
            return false;
        if (is_text ? c != '"' : (c >= '0' && c <= '9') || c == ',' || c == '-')
            out[n++] = (char)(c == ',' && !is_text && depth == 1 ? ';' : c);
    }
    out[n] = 0;
    return n + 1 < MOST_TEXT;
}

/* The arguments that are read; "external id" is that of traces before 2022. */
enum { ARG_ID, ARG_OLD_ID, ARG_DIMS, ARG_TYPES, ARGS };
static const char *const arg_name[ARGS] = { "External id", "external id", "Input Dims", "Input type" };

static bool roofline_chrome_id_of(const struct json_span *arg, uint64_t *id)
{
    const struct json_span value = arg[ARG_ID].at ? arg[ARG_ID] : arg[ARG_OLD_ID];
    return value.at && json_u64(value, id);
}

/* The id of a kernel. It is the first one that is found: a kernel has one id, and many arguments after it. */
static bool first_id(struct json_span args, uint64_t *id)
{
    struct json_scan s;
    struct json_span name, arg[ARGS] = { 0 };
    if (!args.at || !json_enter(&s, args.at, args.at + args.len, '{'))
        return false;
    while (json_next_key(&s, &name) && json_pass(&s, &arg[ARG_ID]))
        if (json_is(name, arg_name[ARG_ID]) || json_is(name, arg_name[ARG_OLD_ID]))
            return roofline_chrome_id_of(arg, id);
    if (!s.is_stuck)
        return false;
    json_find_each(args, arg_name, arg, ARG_DIMS); /* reads damaged JSON, too */
    return roofline_chrome_id_of(arg, id);
}

static bool add_launcher(struct chrome_work *w, size_t slice)
{
    struct json_span arg[ARGS];
    char shapes_text[MOST_TEXT], types_text[MOST_TEXT];
    uint64_t id;
    json_find_each(chrome_slice_args(w->t, slice), arg_name, arg, ARGS);
    if (!arg[ARG_DIMS].at || !arg[ARG_TYPES].at || !roofline_chrome_id_of(arg, &id) ||
        !list_text(arg[ARG_DIMS], shapes_text) || !list_text(arg[ARG_TYPES], types_text))
        return true;
    const uint32_t at = keys_add(&w->ids, id, w->mem);
    if (at == KEYS_NO_MEMORY || (at == w->launchers.n && !list_add(&w->launchers, w->mem)))
        return false;
    w->launchers.at[at] =
        (struct roofline_chrome_launcher){ { names_addz(w->names, names_text(w->t->names, w->t->slices.name[slice])),
                                             { names_addz(w->names, shapes_text), NAME_EMPTY },
                                             { names_addz(w->names, types_text), NAME_EMPTY },
                                             { NAME_EMPTY, NAME_EMPTY } },
                                           { .begin_ns = INT64_MAX, .end_ns = INT64_MIN } };
    return true;
}

static void add_kernel(struct chrome_work *w, size_t slice)
{
    uint64_t id;
    const uint32_t at = first_id(chrome_slice_args(w->t, slice), &id) ? keys_find(&w->ids, id) : KEYS_NONE;
    if (at == KEYS_NONE)
        return;
    struct roofline_run *const run = &w->launchers.at[at].run;
    const int64_t begin = w->t->slices.begin_ns[slice], end = begin + w->t->slices.dur_ns[slice];
    run->time_ns += (double)(end - begin);
    run->begin_ns = begin < run->begin_ns ? begin : run->begin_ns;
    run->end_ns = end > run->end_ns ? end : run->end_ns;
}

bool roofline_of_chrome(struct roofline *out, const struct chrome_trace *t, struct names *names, struct arena *mem)
{
    enum { NO_CHIP = -1 };
    struct chrome_work w = { .t = t, .names = names, .mem = mem };
    double time_ns = 0;
    w.is = arena_take(mem, names_count(t->names), sizeof *w.is);
    bool done = w.is != NULL;
    roofline_begin(out, names, mem);
    for (size_t i = 0; done && i < t->slices.n; i++)
        if (roofline_chrome_kind_of(&w, t->slices.category[i]) == NAME_OPERATORS &&
            roofline_chrome_kind_of(&w, t->slices.name[i]) == NAME_KNOWN)
            done = add_launcher(&w, i);
    for (size_t i = 0; done && w.launchers.n > 0 && i < t->slices.n; i++)
        if (roofline_chrome_kind_of(&w, t->slices.category[i]) == NAME_KERNELS &&
            !chrome_is_collective(names_text(t->names, t->slices.name[i]))) {
            time_ns += (double)t->slices.dur_ns[i];
            add_kernel(&w, i);
        }
    for (size_t i = 0; done && i < w.launchers.n; i++)
        if (w.launchers.at[i].run.end_ns >= w.launchers.at[i].run.begin_ns)
            done = roofline_add(out, &w.launchers.at[i].key, &w.launchers.at[i].run);
    out->time_ns = time_ns;
    if (done)
        roofline_end(out, &(struct device_facts){ .chip = chip_of(NO_CHIP) });
    return done;
}
