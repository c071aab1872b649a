/* SPDX-License-Identifier: Apache-2.0 */
#include "report/memory/memory_report_json.h"

#include "base/text/json_memory.h"

enum { LISTED = 100, FRAMES_MOST = 64 };

static const char *const memory_verdict_key[MEMORY_VERDICTS] = {
    [MEMORY_FINE] = "none",
    [MEMORY_OOM] = "out_of_memory",
    [MEMORY_FRAGMENTED] = "fragmentation",
    [MEMORY_LEAK] = "leak",
};

static json_t *frame_json(const struct memory_snapshot *s, frame_id frame)
{
    if (frame == SNAPSHOT_NONE)
        return json_null();
    const struct snapshot_frame *f = &s->frame.at[frame];
    return json_pack("{s:o, s:I, s:o}", "file", text_json(f->file), "line", (json_int_t)f->line, "function",
                     text_json(f->function));
}

/* The innermost frame first. */
static json_t *stack_json(const struct memory_snapshot *s, stack_id stack)
{
    json_t *list = json_array();
    for (size_t n = 0; stack > 0 && n < FRAMES_MOST; n++, stack = s->stack.at[stack].inner)
        json_array_insert_new(list, 0, frame_json(s, s->stack.at[stack].outermost));
    return list;
}

static json_t *use_json(const struct memory_snapshot *s, const struct memory_use *u)
{
    json_t *purposes = json_array(), *places = json_array();
    for (int c = 0; c < MEMORY_PURPOSES; c++)
        if (u->of[c] > 0)
            json_array_append_new(
                purposes, json_pack("{s:s, s:I}", "purpose", memory_purpose_key[c], "bytes", (json_int_t)u->of[c]));
    for (size_t i = 0; i < u->row.n && i < LISTED; i++) {
        const struct memory_use_row *row = &u->row.at[i];
        json_array_append_new(places,
                              json_pack("{s:I, s:I, s:s, s:o, s:o}", "bytes", (json_int_t)row->bytes, "blocks",
                                        (json_int_t)row->n, "purpose", memory_purpose_key[row->purpose], "place",
                                        frame_json(s, row->place), "stack", stack_json(s, row->stack)));
    }
    return json_pack("{s:I, s:o, s:o}", "bytes", (json_int_t)u->bytes, "purposes", purposes, "places", places);
}

static json_t *growth_json(const struct memory_judged *j)
{
    json_t *list = json_array();
    for (size_t i = 0; i < j->growth.at.n && i < LISTED; i++) {
        const struct memory_growth *g = &j->growth.at.at[i];
        json_array_append_new(list,
                              json_pack("{s:f, s:I, s:I, s:I, s:I, s:o, s:o}", "bytes_a_step", g->step_bytes, "bytes",
                                        (json_int_t)g->bytes, "blocks", (json_int_t)g->n_blocks, "since_step",
                                        (json_int_t)g->since, "steps", (json_int_t)g->steps, "place",
                                        frame_json(j->replay.s, g->place), "stack", stack_json(j->replay.s, g->stack)));
    }
    return list;
}

static json_t *holes_json(const struct memory_judged *j)
{
    const struct memory_holes *h = &j->holes;
    json_t *pins = json_array();
    for (size_t i = 0; i < h->pin.n && i < LISTED; i++)
        json_array_append_new(pins,
                              json_pack("{s:I, s:I, s:I, s:o}", "hole_bytes", (json_int_t)h->pin.at[i].hole_bytes,
                                        "bytes", (json_int_t)h->pin.at[i].bytes, "blocks", (json_int_t)h->pin.at[i].n,
                                        "place", frame_json(j->replay.s, h->pin.at[i].place)));
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "reserved_bytes",
                     (json_int_t)h->reserved, "allocated_bytes", (json_int_t)h->allocated, "requested_bytes",
                     (json_int_t)h->requested, "free_segment_bytes", (json_int_t)h->free_segments, "hole_bytes",
                     (json_int_t)h->holes, "holes", (json_int_t)h->n_holes, "largest_hole_bytes",
                     (json_int_t)h->largest_hole, "segments_reserved", (json_int_t)h->n_reserved, "segments_avoidable",
                     (json_int_t)h->n_avoidable, "avoidable_bytes", (json_int_t)h->avoidable, "held_by", pins);
}

static json_t *oom_json(const struct memory_judged *j)
{
    static const char *const cause_key[] = {
        [OOM_NEED] = "need", [OOM_FRAGMENTS] = "fragmentation", [OOM_LEAK] = "leak"
    };
    const struct memory_oom *o = &j->oom;
    const struct memory_snapshot *s = j->replay.s;
    if (o->n == 0)
        return json_null();
    return json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o}", "times", (json_int_t)o->n,
                     "cause", cause_key[o->cause], "asked_bytes", (json_int_t)o->asked, "device_free_bytes",
                     (json_int_t)o->device_free, "used_bytes", (json_int_t)o->used, "reserved_bytes",
                     (json_int_t)o->reserved, "reserved_free_bytes", (json_int_t)o->pool_free, "is_limit",
                     (int)o->is_limit, "place", frame_json(s, s->stack.at[s->event.stack[o->event]].place), "use",
                     use_json(s, &o->use), "missing_bytes",
                     o->is_limit ? json_null() : json_integer((json_int_t)o->missing), "smaller_batch_percent",
                     o->smaller_batch > 0 ? json_real(100 * o->smaller_batch) : json_null(), "shards",
                     o->shards > 0 ? json_integer((json_int_t)o->shards) : json_null());
}

json_t *memory_json(const struct memory_judged *j, const char *sentence)
{
    static const char *const by_key[] = { [STEPS_BY_NOTHING] = "nothing",
                                          [STEPS_BY_PROFILER] = "profiler",
                                          [STEPS_BY_OPTIMIZER] = "optimizer",
                                          [STEPS_BY_REPETITION] = "repetition" };
    const struct memory_replay *r = &j->replay;
    json_t *findings = json_array();
    if (j->verdict != MEMORY_FINE)
        json_array_append_new(findings, json_string(memory_verdict_key[j->verdict]));
    for (int v = MEMORY_FINE + 1; v < MEMORY_VERDICTS; v++)
        if (j->has[v] && v != (int)j->verdict)
            json_array_append_new(findings, json_string(memory_verdict_key[v]));
    return json_pack("{s:o, s:I, s:s, s:o, s:o, s:I, s:s, s:I, s:I, s:I, s:o, s:f, s:o, s:o, s:o}", "path",
                     text_json(r->s->path), "device", (json_int_t)r->device, "verdict", memory_verdict_key[j->verdict],
                     "text", text_json(sentence), "findings", findings, "steps", (json_int_t)j->steps.n_steps,
                     "steps_by", by_key[j->steps.by], "peak_bytes", (json_int_t)r->peak_bytes, "peak_reserved_bytes",
                     (json_int_t)r->peak_reserved, "peak_step",
                     (json_int_t)(memory_step_of(&j->steps, r->peak) * j->steps.steps_each), "peak",
                     use_json(r->s, &j->peak), "growth_bytes_a_step", j->growth.step_bytes, "growth", growth_json(j),
                     "fragmentation", r->s->is_recording ? json_null() : holes_json(j), "out_of_memory", oom_json(j));
}
