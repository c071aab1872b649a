/* SPDX-License-Identifier: Apache-2.0 */
#include "report/memory/memory_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Texts of which one could not be allocated are empty; the arena remembers. */
__attribute__((format(printf, 2, 3))) static const char *memory_text(struct arena *mem, const char *fmt, ...)
{
    char text[2048];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    const char *copy = arena_text(mem, text, len);
    return copy ? copy : "";
}

static const char *bytes_text(uint64_t bytes, struct arena *mem)
{
    char out[READABLE_MOST];
    return memory_text(mem, "%s", readable_bytes(out, bytes));
}

/* With all digits: a number that somebody may look for in a program. */
static const char *exact_text(uint64_t bytes, struct arena *mem)
{
    char out[READABLE_MOST], digits[READABLE_MOST];
    readable_bytes(out, bytes);
    return bytes < 1000 ? memory_text(mem, "%s", out)
                        : memory_text(mem, "%s (%s bytes)", out, readable_count(digits, bytes));
}

static const char *memory_place_text(const struct memory_snapshot *s, frame_id place, struct arena *mem)
{
    if (place == SNAPSHOT_NONE)
        return s->has_stacks ? "an unknown line (without a stack: threads of the backward pass)"
                             : "an unknown line (no stacks were recorded)";
    const struct snapshot_frame *f = &s->frame.at[place];
    if (!f->file[0])
        return f->function;
    return memory_text(mem, "%.600s:%u (%.200s)", f->file, f->line, f->function);
}

static uint64_t whole_bytes(double bytes)
{
    return bytes >= 0 && bytes < 1e18 ? (uint64_t)(bytes + 0.5) : 0;
}

static double percent(uint64_t part, uint64_t of)
{
    return of > 0 ? 100.0 * (double)part / (double)of : 0;
}

static const char *growth_text(const struct memory_judged *j, struct arena *mem)
{
    const struct memory_growth *g = j->growth.at.at;
    const size_t n_more = j->growth.at.n - 1;
    const char *more = n_more == 0   ? ""
                       : n_more == 1 ? ", and at one more line"
                                     : memory_text(mem, ", and at %zu more lines", n_more);
    const char *blocks =
        j->growth.step_block_bytes > 1.1 * j->growth.step_bytes
            ? memory_text(mem, " (%s in blocks)", bytes_text(whole_bytes(j->growth.step_block_bytes), mem))
            : "";
    return memory_text(mem,
                       "memory grows by %s%s a step since step %u of %u: what is allocated at %s is kept, %s so far%s",
                       exact_text(whole_bytes(j->growth.step_bytes), mem), blocks, g->since, j->steps.n_steps,
                       memory_place_text(j->replay.s, g->place, mem), bytes_text(g->bytes, mem), more);
}

static const char *holes_text(const struct memory_judged *j, struct arena *mem)
{
    const struct memory_holes *h = &j->holes;
    const uint64_t rest = h->allocated - h->requested;
    const char *lost = memory_text(
        mem,
        "%s of the %s reserved (%.0f %%) are lost: %s in %" PRIu64
        " holes between blocks, the largest of %s, and %s in blocks larger than what was asked for",
        exact_text(h->holes + rest, mem), bytes_text(h->reserved, mem), percent(h->holes + rest, h->reserved),
        bytes_text(h->holes, mem), h->n_holes, bytes_text(h->largest_hole, mem), bytes_text(rest, mem));
    if (h->n_reserved > 0)
        lost = memory_text(mem, "%s; %u of %u segments were reserved although the holes had room for the request", lost,
                           h->n_avoidable, h->n_reserved);
    return h->pin.n == 0 ? lost
                         : memory_text(mem, "%s; the holes are held by %" PRIu64 " blocks of %s", lost, h->pin.at[0].n,
                                       memory_place_text(j->replay.s, h->pin.at[0].place, mem));
}

static const char *use_text(const struct memory_use *u, struct arena *mem)
{
    const char *text = "";
    for (int n = 0; n < 3; n++) { /* the three largest */
        int best = -1;
        for (int c = 0; c < MEMORY_PURPOSES; c++)
            if (u->of[c] > 0 && !strstr(text, memory_purpose_name[c]) && (best < 0 || u->of[c] > u->of[best]))
                best = c;
        if (best >= 0)
            text = memory_text(mem, "%s%s%s %s", text, *text ? ", " : "", memory_purpose_name[best],
                               bytes_text(u->of[best], mem));
    }
    return text;
}

/* "; 1.2 GiB were missing: a batch smaller by 12 % or the optimizer state shared by 3 ranks would have left room" */
static const char *remedy_text(const struct memory_oom *o, struct arena *mem)
{
    if (o->missing == 0)
        return "";
    const char *missing = memory_text(mem, "; %s were missing", exact_text(o->missing, mem));
    const char *batch = o->smaller_batch > 0
                            ? memory_text(mem, "a batch smaller by %.0f %% (activations %s)",
                                          ceil(100 * o->smaller_batch), bytes_text(o->use.of[PURPOSE_ACTIVATION], mem))
                            : "";
    const char *shards =
        o->shards > 0 ? memory_text(mem, "%sthe optimizer state (%s) shared by %" PRIu64 " ranks", *batch ? " or " : "",
                                    bytes_text(o->use.of[PURPOSE_OPTIMIZER_STATE], mem), o->shards)
                      : "";
    return *batch || *shards ? memory_text(mem, "%s: %s%s would have left room", missing, batch, shards) : missing;
}

static const char *oom_text(const struct memory_judged *j, struct arena *mem)
{
    const struct memory_oom *o = &j->oom;
    const struct memory_snapshot *s = j->replay.s;
    const char *asked = memory_text(
        mem, "Out of memory: %s were asked for at %s, with %s in use, %s reserved and %s free on the device",
        exact_text(o->asked, mem), memory_place_text(s, s->stack.at[s->event.stack[o->event]].place, mem),
        bytes_text(o->used, mem), bytes_text(o->reserved, mem), bytes_text(o->device_free, mem));
    if (o->is_limit)
        asked = memory_text(mem, "%s: the limit of this process is reached (set_per_process_memory_fraction)", asked);
    switch (o->cause) {
    case OOM_LEAK: return memory_text(mem, "%s; %s", asked, growth_text(j, mem));
    case OOM_FRAGMENTS:
        return memory_text(mem, "%s; %s were reserved and free, in pieces: without fragmentation it would have fitted",
                           asked, bytes_text(o->pool_free, mem));
    default:
        return memory_text(mem, "%s%s; in use are %s, the most at %s", asked, remedy_text(o, mem),
                           use_text(&o->use, mem),
                           o->use.row.n ? memory_place_text(s, o->use.row.at[0].place, mem) : "-");
    }
}

static const char *fine_text(const struct memory_judged *j, struct arena *mem)
{
    const char *use =
        memory_text(mem, "at most %s are in use, of %s reserved: %s", bytes_text(j->replay.peak_bytes, mem),
                    bytes_text(j->replay.peak_reserved, mem), use_text(&j->peak, mem));
    const char *lost = j->replay.s->is_recording ? "" : "little is lost";
    if (j->steps.n >= GROWTH_STEPS_LEAST)
        return memory_text(mem, "nothing grows from step to step%s%s: %s", *lost ? ", and " : "", lost, use);
    return memory_text(mem, "%s%sgrowth cannot be judged, %u steps of the %d that it takes were recorded: %s", lost,
                       *lost ? "; " : "", j->steps.n_steps, GROWTH_STEPS_LEAST, use);
}

const char *memory_sentence(const struct memory_judged *j, struct arena *mem)
{
    const char *text = "";
    switch (j->verdict) {
    case MEMORY_OOM: text = oom_text(j, mem); break;
    case MEMORY_FRAGMENTED:
        text = holes_text(j, mem);
        if (j->has[MEMORY_LEAK])
            text = memory_text(mem, "%s; %s", text, growth_text(j, mem));
        break;
    case MEMORY_LEAK:
        text = growth_text(j, mem);
        if (j->has[MEMORY_FRAGMENTED])
            text = memory_text(mem, "%s; %s", text, holes_text(j, mem));
        break;
    default: text = fine_text(j, mem);
    }
    char *out = arena_text(mem, text, strlen(text));
    if (out && out[0] >= 'a' && out[0] <= 'z')
        out[0] = (char)(out[0] - 'a' + 'A');
    return arena_failed(mem) ? NULL : out;
}

/* ---- text --------------------------------------------------------------------------------------------------------- */

static void place_print(const struct term *t, const struct memory_snapshot *s, frame_id place, struct arena *mem)
{
    term_text(t, place == SNAPSHOT_NONE ? "(no stack)" : memory_place_text(s, place, mem), 0);
    fputc('\n', t->to);
}

static void use_print(const struct term *t, const struct memory_snapshot *s, const struct memory_use *u, uint32_t top,
                      struct arena *mem)
{
    char bytes[READABLE_MOST];
    for (int c = 0; c < MEMORY_PURPOSES; c++)
        if (u->of[c] > 0)
            fprintf(t->to, "  %10s %5.1f %%  %s\n", readable_bytes(bytes, u->of[c]), percent(u->of[c], u->bytes),
                    memory_purpose_name[c]);
    fputs("\n  allocated at\n", t->to);
    for (size_t i = 0; i < u->row.n && i < top; i++) {
        fprintf(t->to, "  %10s %5.1f %%  %-21s ", readable_bytes(bytes, u->row.at[i].bytes),
                percent(u->row.at[i].bytes, u->bytes), memory_purpose_name[u->row.at[i].purpose]);
        place_print(t, s, u->row.at[i].place, mem);
    }
    if (u->row.n > top)
        fprintf(t->to, "  and %zu more lines\n", u->row.n - top);
}

static void growth_print(const struct term *t, const struct memory_judged *j, uint32_t top, struct arena *mem)
{
    char a[READABLE_MOST], b[READABLE_MOST], n[READABLE_MOST];
    if (j->growth.at.n > 0)
        fputs("\n  grows\n      a step      so far    blocks  since  allocated at\n", t->to);
    for (size_t i = 0; i < j->growth.at.n && i < top; i++) {
        const struct memory_growth *g = &j->growth.at.at[i];
        fprintf(t->to, "  %10s  %10s  %8s  %5u  ", readable_bytes(a, whole_bytes(g->step_bytes)),
                readable_bytes(b, g->bytes), readable_count(n, g->n_blocks), g->since);
        place_print(t, j->replay.s, g->place, mem);
    }
}

static void holes_print(const struct term *t, const struct memory_judged *j, uint32_t top, struct arena *mem)
{
    const struct memory_holes *h = &j->holes;
    char a[READABLE_MOST], n[READABLE_MOST];
    const struct {
        const char *what;
        uint64_t bytes;
    } row[] = {
        { "reserved from the device", h->reserved },
        { "of it asked for by the program", h->requested },
        { "blocks larger than what was asked for", h->allocated - h->requested },
        { "holes in segments that are in use", h->holes },
        { "segments that are not in use", h->free_segments },
    };
    fputs("\n  at the end\n", t->to);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        fprintf(t->to, "  %10s %5.1f %%  %s\n", readable_bytes(a, row[i].bytes), percent(row[i].bytes, h->reserved),
                row[i].what);
    if (!j->has[MEMORY_FRAGMENTED])
        return;
    fputs("\n  holes are held by\n       holes    blocks  allocated at\n", t->to);
    for (size_t i = 0; i < h->pin.n && i < top; i++) {
        fprintf(t->to, "  %10s  %8s  ", readable_bytes(a, h->pin.at[i].hole_bytes), readable_count(n, h->pin.at[i].n));
        place_print(t, j->replay.s, h->pin.at[i].place, mem);
    }
}

static void steps_print(const struct term *t, const struct memory_judged *j, struct arena *mem)
{
    static const char *const by[] = { [STEPS_BY_NOTHING] = "nothing marks them",
                                      [STEPS_BY_PROFILER] = "by the marks of the profiler",
                                      [STEPS_BY_OPTIMIZER] = "by the marks of the optimizer",
                                      [STEPS_BY_REPETITION] =
                                          "nothing marks them: one is what lies between allocations at" };
    fprintf(t->to, "  steps: %u, %s ", j->steps.n_steps, by[j->steps.by]);
    if (j->steps.by == STEPS_BY_REPETITION)
        place_print(t, j->replay.s, j->replay.s->stack.at[j->steps.repeated].place, mem);
    else
        fputc('\n', t->to);
}

void memory_print(const struct term *t, const struct memory_judged *j, const char *sentence, uint32_t top,
                  struct arena *mem)
{
    const struct memory_replay *r = &j->replay;
    const bool is_oom = j->verdict == MEMORY_OOM;
    fputs(term_ink(t, j->verdict == MEMORY_FINE ? INK_GOOD : INK_BAD), t->to);
    term_text(t, sentence, 0);
    fprintf(t->to, "%s\n\n", term_ink(t, INK_END));
    steps_print(t, j, mem);
    if (is_oom)
        fprintf(t->to, "  in use when it failed: %s\n", exact_text(j->oom.used, mem));
    else
        fprintf(t->to, "  in use at the peak: %s, in step %u of %u\n", exact_text(r->peak_bytes, mem),
                memory_step_of(&j->steps, r->peak) * j->steps.steps_each, j->steps.n_steps);
    use_print(t, r->s, is_oom ? &j->oom.use : &j->peak, top, mem);
    growth_print(t, j, top, mem);
    if (!r->s->is_recording)
        holes_print(t, j, top, mem);
}
