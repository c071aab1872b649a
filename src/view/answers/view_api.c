/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/answers.h"

#include <string.h>

#include "view/rows/view_input.h"
#include "view/server/bus_guard.h"

enum { NAMES_AT_ONCE = 20000 };

/* How much of an input can be shown: while it is loaded, its answers may be ready before the timeline, or the begin of
 * a large file before the rest. */
static const char *shown_of(const struct view_input *in)
{
    const struct view_input *shown = view_input_shown(in);
    const bool is_loading = atomic_load(&in->state) == VIEW_LOADING;
    return shown == in ? "all" : shown ? "first" : is_loading && atomic_load(&in->has_answers) ? "overview" : "nothing";
}

static void answer_about(struct question *a)
{
    static const char *const state[] = { "loading", "ready", "failed", "new" };
    static const char *const stage[] = { "reading", "drawing", "arranging" };
    static const char *const source[] = { "as_loaded", "changed", "gone" };
    struct out *o = a->o;
    out_char(o, '{');
    json_put_text(o, "program", "ascope " ASCOPE_VERSION);
    json_put_key(o, "inputs");
    out_char(o, '[');
    for (size_t i = 0; i < a->view->n_inputs; i++) {
        struct view_input *in = &a->view->input[i];
        pthread_rwlock_rdlock(&in->lock);
        const int now = atomic_load(&in->state);
        json_put_comma(o, i == 0);
        out_char(o, '{');
        json_put_text(o, "name", in->name);
        json_put_text(o, "path", in->path);
        json_put_text(o, "kind", in->kind);
        json_put_bool(o, "is_simulated", (now == VIEW_READY || now == VIEW_LOADING) && atomic_load(&in->is_simulated));
        json_put_bool(o, "has_memory", now == VIEW_READY && in->allocators.n > 0);
        json_put_bool(o, "has_roofline", now == VIEW_READY && in->work.n > 0);
        json_put_text(o, "state", state[now == VIEW_NEW && !in->is_on_demand ? VIEW_LOADING : now]);
        json_put_text(o, "shows", shown_of(in));
        json_put_int(o, "percent", view_progress_percent(&in->progress));
        json_put_text(o, "stage", stage[atomic_load(&in->progress.stage)]);
        json_put_key(o, "left_s");
        out_real(o, now == VIEW_LOADING ? view_progress_left_s(&in->progress) : -1);
        json_put_int(o, "n_loads", atomic_load(&in->n_loads));
        json_put_text(o, "source",
                      source[now == VIEW_LOADING || now == VIEW_NEW ? VIEW_AS_LOADED : view_input_source(in)]);
        json_put_text(o, "message", now == VIEW_FAILED ? in->error.text : "");
        out_char(o, '}');
        pthread_rwlock_unlock(&in->lock);
    }
    out_lit(o, "]}");
}

/* Loads an input again. If its file no longer exists, the loaded data is kept. */
static void answer_reload(struct question *a)
{
    int64_t input;
    struct error e = { 0 };
    if (!http_parameter_i64(a->q, "input", &input) || input < 0 || (uint64_t)input >= a->view->n_inputs)
        return question_refuse(a->r, 400, "input: wanted the number of an input");
    struct view_input *in = &a->view->input[input];
    atomic_store(&in->looked_ns, 0);
    if (view_input_source(in) == VIEW_GONE)
        return question_refuse(a->r, 409, "it no longer exists: what was loaded is still shown");
    char step[sizeof in->step] = { 0 };
    if (http_parameter(a->q, "step", step, sizeof step)) {
        pthread_rwlock_wrlock(&in->lock);
        memcpy(in->step, step, sizeof step);
        pthread_rwlock_unlock(&in->lock);
    }
    if (!view_input_start(in, &e))
        return question_refuse(a->r, 503, e.text);
    out_lit(a->o, "{}");
}

static void put_tracks(struct question *a, uint32_t process)
{
    const struct chrome_trace *t = a->t->trace;
    struct out *o = a->o;
    bool is_first = true;
    for (size_t i = a->t->first_track[process]; i < a->t->first_track[process + 1]; i++) {
        const uint32_t row = a->t->track_order[i];
        const struct chrome_track *track = &t->tracks.at[row];
        const uint32_t instants = a->t->instants.row_of_track[row];
        if (!track->n_slices && !instants)
            continue;
        json_put_comma(o, is_first);
        is_first = false;
        out_char(o, '{');
        json_put_int(o, "id", row);
        json_put_name(o, "name", t->names, track->name ? track->name : track->id.text);
        json_put_int(o, "n", (int64_t)track->n_slices);
        json_put_bool(o, "is_device", a->t->is_device[row]);
        json_put_key(o, "levels");
        out_char(o, '[');
        for (size_t level = a->t->levels.first_level[row]; level < a->t->levels.first_level[row + 1]; level++) {
            json_put_comma(o, level == a->t->levels.first_level[row]);
            out_u64(o, level);
        }
        out_char(o, ']');
        json_put_key(o, "instants");
        if (instants)
            out_u64(o, a->t->levels.n + instants - 1);
        else
            out_lit(o, "null");
        out_char(o, '}');
    }
}

static void put_counters(struct question *a, uint32_t process)
{
    const struct names *names = a->t->trace->names;
    struct out *o = a->o;
    bool is_first = true;
    for (size_t i = a->t->first_counter[process]; i < a->t->first_counter[process + 1]; i++) {
        const struct view_counter *c = &a->t->counter[i];
        json_put_comma(o, is_first);
        is_first = false;
        out_char(o, '{');
        json_put_int(o, "id", (int64_t)i);
        json_put_name(o, "name", names, c->name);
        json_put_name(o, "unit", names, c->series);
        out_char(o, '}');
    }
}

/* Which of the ranks of a joint timeline a process belongs to. */
static void put_rank_of(struct question *a, uint32_t process)
{
    const struct view_rank *rank = view_rank_of(a->in, process);
    if (rank)
        out_json(a->o, rank->title, strlen(rank->title));
    else
        out_lit(a->o, "null");
}

static void answer_rows(struct question *a)
{
    const struct chrome_trace *t = a->t->trace;
    struct out *o = a->o;
    out_lit(o, "{\"base_ns\":\"");
    out_i64(o, a->t->begin_ns);
    out_char(o, '"');
    json_put_int(o, "end", question_ns(a, a->t->end_ns));
    json_put_int(o, "shown_begin", question_ns(a, a->t->shown_begin_ns));
    json_put_int(o, "shown_end", question_ns(a, a->t->shown_end_ns));
    json_put_int(o, "n_slices", (int64_t)t->slices.n);
    json_put_int(o, "n_names", (int64_t)names_count(t->names));
    json_put_key(o, "processes");
    out_char(o, '[');
    for (size_t i = 0; i < t->processes.n; i++) {
        const uint32_t row = a->t->process_order[i];
        const struct chrome_process *p = &t->processes.at[row];
        json_put_comma(o, i == 0);
        out_char(o, '{');
        json_put_name(o, "name", t->names, p->name ? p->name : p->id.text);
        json_put_name(o, "label", t->names, p->labels);
        json_put_key(o, "rank");
        put_rank_of(a, row);
        json_put_key(o, "tracks");
        out_char(o, '[');
        put_tracks(a, row);
        out_lit(o, "]");
        json_put_key(o, "counters");
        out_char(o, '[');
        put_counters(a, row);
        out_lit(o, "]}");
    }
    out_lit(o, "]}");
}

static void answer_names(struct question *a)
{
    const struct names *names = a->t->trace->names;
    int64_t from = 0;
    if (!http_parameter_i64(a->q, "from", &from) || from < 0)
        return question_refuse(a->r, 400, "from: wanted a number from 0 up");
    out_char(a->o, '[');
    for (size_t i = (size_t)from; i < names_count(names) && i < (size_t)from + NAMES_AT_ONCE; i++) {
        json_put_comma(a->o, i == (size_t)from);
        out_json(a->o, names_text(names, (name_id)i), names_len(names, (name_id)i));
    }
    out_char(a->o, ']');
}

static void put_sentences(struct question *a, const char *key, const struct view_sentence *s, size_t n)
{
    struct out *o = a->o;
    json_put_key(o, key);
    out_char(o, '[');
    for (size_t i = 0; i < n; i++) {
        json_put_comma(o, i == 0);
        out_char(o, '{');
        json_put_text(o, "text", s[i].text);
        json_put_text(o, "event", s[i].event ? s[i].event : "");
        json_put_int(o, "t0", question_ns(a, s[i].begin_ns));
        json_put_int(o, "t1", question_ns(a, s[i].end_ns));
        out_char(o, '}');
    }
    out_char(o, ']');
}

static void put_parts(struct out *o, const char *key, const int64_t part_ns[4])
{
    json_put_key(o, key);
    out_char(o, '[');
    for (size_t p = 0; p < 4; p++) {
        json_put_comma(o, p == 0);
        out_i64(o, part_ns[p]);
    }
    out_char(o, ']');
}

static void put_series(struct question *a, const struct view_series *s)
{
    struct out *o = a->o;
    const struct view_step *slowest = view_slowest(s);
    out_char(o, '{');
    json_put_text(o, "title", s->title);
    json_put_bool(o, "is_host", s->is_host);
    json_put_int(o, "median", s->median_ns);
    json_put_int(o, "whole", s->whole_ns);
    put_parts(o, "whole_parts", s->whole_part_ns);
    json_put_key(o, "selected");
    if (slowest)
        out_i64(o, slowest - s->steps.at);
    else
        out_lit(o, "null");
    json_put_key(o, "findings");
    out_char(o, '[');
    for (size_t i = 0; i < s->findings.n; i++) {
        json_put_comma(o, i == 0);
        out_char(o, '{');
        json_put_bool(o, "is_start_up", s->findings.at[i].is_start_up);
        put_sentences(a, "says", &s->findings.at[i].says, 1);
        put_sentences(a, "why", &s->findings.at[i].because, s->findings.at[i].because.text != NULL);
        out_char(o, '}');
    }
    out_char(o, ']');
    json_put_key(o, "steps");
    out_char(o, '[');
    for (size_t i = 0; i < s->steps.n; i++) {
        const struct view_step *step = &s->steps.at[i];
        json_put_comma(o, i == 0);
        out_char(o, '{');
        json_put_text(o, "name", step->name);
        json_put_int(o, "begin", question_ns(a, step->begin_ns));
        json_put_int(o, "end", question_ns(a, step->end_ns));
        json_put_int(o, "time", step->time_ns);
        json_put_bool(o, "is_slow", step->is_slow);
        put_parts(o, "parts", step->part_ns);
        put_sentences(a, "why", step->why.at, step->why.n);
        out_char(o, '}');
    }
    out_lit(o, "]}");
}

/* Copies the JSON answers of other commands. */
static void put_texts(struct question *a)
{
    struct out *o = a->o;
    json_put_key(o, "base_ns");
    out_char(o, '"');
    out_i64(o, a->t->begin_ns);
    out_char(o, '"');
    for (size_t i = 0; i < a->in->texts.n; i++) {
        json_put_key(o, a->in->texts.at[i].key);
        out_bytes(o, a->in->texts.at[i].json, strlen(a->in->texts.at[i].json));
    }
}

/* The device, the duration of the recording, and how long its busiest track works. */
static void put_device(struct question *a)
{
    const struct view_timeline *t = a->t;
    int64_t busiest_ns = 0;
    bool has_device = false;
    for (uint32_t i = 0; t->trace && i < t->trace->tracks.n; i++) {
        const int64_t ns = t->is_device[i] ? device_track_busy_ns(a->in, i, t->begin_ns, t->end_ns) : 0;
        has_device |= t->is_device[i];
        busiest_ns = ns > busiest_ns ? ns : busiest_ns;
    }
    json_put_text(a->o, "device", a->in->device ? a->in->device : "");
    json_put_bool(a->o, "has_device", has_device);
    json_put_int(a->o, "duration", question_ns(a, t->end_ns));
    json_put_int(a->o, "busiest", busiest_ns);
}

static void answer_overview(struct question *a)
{
    struct out *o = a->o;
    out_char(o, '{');
    json_put_bool(o, "has_timeline", a->t->trace != NULL); /* without one the times below have no begin to count from */
    put_texts(a);
    put_device(a);
    json_put_key(o, "series");
    out_char(o, '[');
    for (size_t i = 0; i < a->in->series.n; i++) {
        json_put_comma(o, i == 0);
        put_series(a, &a->in->series.at[i]);
    }
    out_char(o, ']');
    put_sentences(a, "sentences", a->in->sentences.at, a->in->sentences.n);
    json_put_key(o, "losses");
    out_char(o, '[');
    bool is_first = true;
    for (size_t i = 0; i < a->in->losses.n; i++) {
        const struct view_loss *l = &a->in->losses.at[i];
        if (!l->is_damage)
            continue;
        json_put_comma(o, is_first);
        is_first = false;
        out_char(o, '{');
        json_put_text(o, "what", l->what);
        json_put_int(o, "n", (int64_t)l->n);
        json_put_text(o, "file", l->file);
        json_put_int(o, "at", (int64_t)l->at);
        out_char(o, '}');
    }
    out_char(o, ']');
    json_put_key(o, "facts");
    out_char(o, '[');
    for (size_t i = 0; i < a->in->facts.n; i++) {
        json_put_comma(o, i == 0);
        out_char(o, '[');
        out_json(o, a->in->facts.at[i].name, strlen(a->in->facts.at[i].name));
        out_char(o, ',');
        out_json(o, a->in->facts.at[i].text, strlen(a->in->facts.at[i].text));
        out_char(o, ']');
    }
    out_lit(o, "]}");
}

static const struct {
    const char *name;
    bool is_of_input;
    void (*answer)(struct question *a);
} questions[] = {
    { "about", false, answer_about },      { "area", true, answer_area },     { "counter", true, answer_counter },
    { "flame", true, answer_flame },       { "memory", true, answer_memory }, { "memory_at", true, answer_memory_at },
    { "minimap", true, answer_minimap },   { "names", true, answer_names },   { "neighbour", true, answer_neighbour },
    { "overview", true, answer_overview }, { "place", true, answer_place },   { "reload", false, answer_reload },
    { "roofline", true, answer_roofline }, { "rows", true, answer_rows },     { "search", true, answer_search },
    { "slice", true, answer_slice },       { "slices", true, answer_slices }, { "sql", true, answer_sql },
    { "table", true, answer_table },       { "tables", true, answer_tables },
};

/* Answers a question about an input. The lock keeps the input loaded meanwhile. */
static void answer_of_input(struct question *a, void (*answer)(struct question *a))
{
    int64_t input;
    if (!http_parameter_i64(a->q, "input", &input) || input < 0 || (uint64_t)input >= a->view->n_inputs)
        return question_refuse(a->r, 400, "input: wanted the number of an input");
    static const struct view_timeline none = { 0 };
    struct view_input *in = &a->view->input[input];
    pthread_rwlock_rdlock(&in->lock);
    const bool has_answers = answer == answer_overview && !strcmp(shown_of(in), "overview");
    a->in = has_answers ? in : view_input_shown(in);
    if (a->in) {
        a->t = has_answers ? &none : &a->in->timeline; /* the timeline is still being built then */
        answer(a);
    } else {
        question_refuse(a->r, 503, "this input is not loaded yet");
    }
    pthread_rwlock_unlock(&in->lock);
}

void view_answer(const struct view *v, const char *what, const struct http_request *q, struct http_reply *r)
{
    struct question a = { .view = v, .q = q, .r = r, .o = r->out };
    size_t i = 0;
    while (i < sizeof questions / sizeof *questions && strcmp(questions[i].name, what))
        i++;
    if (i == sizeof questions / sizeof *questions)
        return question_refuse(r, 404, "no such question");
    bus_guard_here();
    r->type = "application/json; charset=utf-8";
    if (questions[i].is_of_input)
        answer_of_input(&a, questions[i].answer);
    else
        questions[i].answer(&a);
}
