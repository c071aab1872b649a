/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/write/outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/growing.h"
#include "collect/ring/ring.h"
#include "collect/session/listeners.h"

enum { FRAMES_FILE_MOST = FRAMES_BYTES_MOST + FRAMES_MOST * (int)sizeof(struct frame_bytes) };

static void outputs_init(struct outputs *o, bool has_framework, bool has_prof)
{
    memset(o, 0, sizeof *o);
    o->has_framework = has_framework;
    o->has_prof = has_prof;
    o->framework.dir = o->prof.dir = (struct kept)KEPT_NONE;
}

bool outputs_open(struct outputs *o, const char *framework_dir, const char *prof_dir, size_t slice_bytes,
                  struct error *e)
{
    outputs_init(o, framework_dir != NULL, prof_dir != NULL);
    if ((!framework_dir || prof_writer_join(&o->framework, framework_dir, slice_bytes, e)) &&
        (!prof_dir || prof_writer_join(&o->prof, prof_dir, slice_bytes, e)))
        return true;
    outputs_forget(o);
    return false;
}

bool outputs_adopt(struct outputs *o, struct output_place framework, struct output_place prof, size_t slice_bytes,
                   struct error *e)
{
    outputs_init(o, framework.dir >= 0, prof.dir >= 0);
    const bool has_framework =
        framework.dir < 0 || prof_writer_adopt(&o->framework, framework.dir, framework.path, slice_bytes, e);
    const bool has_prof = prof.dir < 0 || prof_writer_adopt(&o->prof, prof.dir, prof.path, slice_bytes, e);
    if (!has_framework || !has_prof)
        outputs_forget(o);
    return has_framework && has_prof;
}

bool outputs_are_well(const struct outputs *o, struct error *e)
{
    const struct error *wrong = o->framework.error.fault != FAULT_NONE ? &o->framework.error : &o->prof.error;
    return wrong->fault == FAULT_NONE || (e && error_set(e, wrong->fault, "%s", wrong->text));
}

int outputs_why(const struct outputs *o)
{
    return o->framework.error.fault != FAULT_NONE ? o->framework.why : o->prof.why;
}

bool output_exists(unsigned stream, unsigned device)
{
    if (stream >= STREAM_KINDS)
        return false;
    const struct stream_row *row = &stream_table[stream];
    return row->place == PLACE_DEVICE ? device < DEVICES_MOST
                                      : device == 0 || (row->cut == CUT_SAMPLES && device == SAMPLE_CONTINUES);
}

static unsigned output_index(unsigned stream, unsigned device)
{
    return stream < STREAM_STARS ? stream : stream + (STREAM_KINDS - STREAM_STARS) * device;
}

static unsigned output_stream(unsigned index)
{
    return index < STREAM_STARS ? index : STREAM_STARS + (index - STREAM_STARS) % (STREAM_KINDS - STREAM_STARS);
}

static unsigned output_device(unsigned index)
{
    return index < STREAM_STARS ? 0 : (index - STREAM_STARS) / (STREAM_KINDS - STREAM_STARS);
}

/* "cpu_ms_memory_record_%u.txt": with the rank. */
static const char *family_of(const struct outputs *o, const struct stream_row *row, char name[80])
{
    const char *const percent = strstr(row->family, "%u");
    if (!percent)
        return row->family;
    snprintf(name, 80, "%.*s%u%s", (int)(percent - row->family), row->family, o->rank, percent + 2);
    return name;
}

/* NULL: the collection has no place for it. */
static struct output *output_for(struct outputs *o, unsigned stream, unsigned device)
{
    const unsigned index = output_index(stream, device);
    struct output *out = &o->output[index];
    if (out->is_used)
        return out;
    const struct stream_row *row = &stream_table[stream];
    const bool is_framework = row->place == PLACE_FRAMEWORK;
    if (is_framework ? !o->has_framework : !o->has_prof)
        return NULL;
    struct prof_writer *to = is_framework ? &o->framework : &o->prof;
    const int folder = is_framework ? FOLDER_SESSION : row->place == PLACE_HOST ? FOLDER_HOST : (int)device;
    char name[80];
    folder_complete(to, folder);
    slices_init(&out->slices, to, folder, family_of(o, row, name), row->cut);
    out->slices.keeps_sums = true;
    out->n_closed = to->first_slice;
    out->is_used = true;
    o->used[o->n_used++] = (uint16_t)index;
    return out;
}

/* Streams with text files: how a record becomes a line, and the first line of a slice. */
static const struct {
    size_t (*line)(const struct os_call_times *t, const uint8_t *record, size_t bytes, char *line);
    size_t (*head)(const struct os_call_times *t, char *line);
} expanded[STREAM_KINDS] = {
    [STREAM_SYSTEM_CALL] = { system_call_line, system_calls_head },
    [STREAM_THREAD_CALL] = { thread_call_line, thread_calls_head },
};

static void put_expanded(struct outputs *o, struct output *out, struct record_head head, const uint8_t *bytes)
{
    char first[OS_CALL_LINE_MOST], line[OS_CALL_LINE_MOST];
    const size_t n = expanded[head.stream].line(&o->times, bytes, record_bytes(head), line);
    if (n == 0) {
        o->dropped[head.stream]++;
        return;
    }
    const size_t n_first = slices_next_is_new(&out->slices) ? expanded[head.stream].head(&o->times, first) : 0;
    uint8_t *const at = slices_take(&out->slices, n_first + n);
    memcpy(at, first, n_first);
    memcpy(at + n_first, line, n);
    out->n_records++;
    out->n_bytes += n_first + n;
}

/* ---- MindSpore's ---- */

static struct ms_clock ms_clock_of(const struct outputs *o)
{
    return (struct ms_clock){ .is_wall = !o->has_prof, .wall_less_raw_ns = o->times.wall_less_raw_ns };
}

static void ms_range_time(const struct outputs *o, uint8_t *at, size_t n)
{
    const struct ms_clock clock = ms_clock_of(o);
    struct ms_range_bytes range;
    if (!clock.is_wall || n < sizeof range)
        return;
    memcpy(&range, at, sizeof range);
    range.begin = ms_clock_time(&clock, range.begin);
    range.end = ms_clock_time(&clock, range.end);
    memcpy(at, &range, sizeof range);
}

/* The totals of a memory event are also a line of the text that has them over time. */
static void ms_memory_line(struct outputs *o, const uint8_t *bytes, size_t n)
{
    static const char head[] = "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n";
    struct ms_memory_bytes m;
    char line[sizeof head + 100];
    struct output *const out = n >= sizeof m ? output_for(o, STREAM_MS_MEMORY_TEXT, 0) : NULL;
    if (!out)
        return;
    memcpy(&m, bytes, sizeof m);
    const unsigned long long time_ns = m.time_ns, used = m.used, reserved = m.reserved,
                             active = m.used + m.used_by_event;
    const size_t length =
        (size_t)snprintf(line, sizeof line, "%s%llu,%llu,%llu,%llu\n", slices_next_is_new(&out->slices) ? head : "",
                         time_ns, used, reserved, active);
    memcpy(slices_take(&out->slices, length), line, length);
    out->n_records++;
    out->n_bytes += length;
}

static void ms_calls_end(struct outputs *o)
{
    if (!outputs_have(o, STREAM_MS_CALL, 0) || !outputs_have(o, STREAM_MS_KEY, 0) || !outputs_are_well(o, NULL))
        return;
    const struct ms_clock clock = ms_clock_of(o);
    struct output *const to = output_for(o, STREAM_MS_RANGE, 0);
    const struct ms_calls_made made =
        ms_calls_make(&o->output[output_index(STREAM_MS_CALL, 0)].slices,
                      &o->output[output_index(STREAM_MS_KEY, 0)].slices, &clock, &to->slices);
    to->n_records += made.n_ranges;
    to->n_bytes += made.n_bytes;
    o->dropped[STREAM_MS_CALL] += made.n_lost;
    outputs_flush(o);
}

void outputs_put(struct outputs *o, struct record_head head, const uint8_t *bytes)
{
    struct output *out = outputs_are_well(o, NULL) ? output_for(o, head.stream, head.device) : NULL;
    if (!out) {
        o->dropped[head.stream]++;
        return;
    }
    if (expanded[head.stream].line) {
        put_expanded(o, out, head, bytes);
        return;
    }
    struct short_record whole;
    if (short_record_read(&whole, &o->stacks, head, bytes)) {
        o->dropped[STREAM_FRAME] += whole.lacks_stack;
        if (whole.n == 0) {
            o->dropped[head.stream]++;
            return;
        }
        short_record_write(&whole, slices_take(&out->slices, whole.n));
        out->n_records++;
        out->n_bytes += whole.n;
        return;
    }
    out->n_records++;
    const size_t fixed = stream_table[head.stream].bytes, used = record_bytes(head), n = used < fixed ? fixed : used;
    const bool is_continued = stream_table[head.stream].cut == CUT_SAMPLES && head.device == SAMPLE_CONTINUES;
    uint8_t *at = is_continued ? slices_more(&out->slices, n) : slices_take(&out->slices, n);
    memcpy(at, bytes, used);
    memset(at + used, 0, n - used);
    out->n_bytes += n;
    if (head.stream == STREAM_MS_RANGE)
        ms_range_time(o, at, used);
    else if (head.stream == STREAM_MS_MEMORY)
        ms_memory_line(o, bytes, used);
    if (head.stream == STREAM_FRAME && !stacks_note(&o->stacks, bytes, used))
        o->dropped[STREAM_FRAME]++;
}

static struct output_state state_of(const struct outputs *o, unsigned index)
{
    const struct slices *s = &o->output[index].slices;
    return (struct output_state){ .stream = (uint8_t)output_stream(index),
                                  .is_open = s->is_open,
                                  .device = (uint16_t)output_device(index),
                                  .next = s->next,
                                  .bytes = s->is_open ? s->written : 0 };
}

/* After an error a part of the buffer may be in the file: goes back to the length after the last flush. */
static void output_go_back(struct output *out)
{
    slices_forget(&out->slices);
    out->slices.n = 0;
    slices_resume(&out->slices, out->last.next, out->last.is_open, out->last.bytes);
}

void outputs_flush(struct outputs *o)
{
    for (uint32_t i = 0; i < o->n_used; i++) {
        struct output *out = &o->output[o->used[i]];
        if (out->n_records == 0)
            continue;
        slices_flush(&out->slices);
        if (out->slices.to->error.fault == FAULT_NONE) {
            o->n_records += out->n_records;
            o->n_bytes += out->n_bytes;
        } else {
            output_go_back(out);
            o->dropped[output_stream(o->used[i])] += out->n_records;
        }
        out->n_records = out->n_bytes = 0;
        out->last = state_of(o, o->used[i]);
    }
}

uint32_t outputs_state(const struct outputs *o, struct output_state state[OUTPUTS_MOST])
{
    for (uint32_t i = 0; i < o->n_used; i++)
        state[i] = state_of(o, o->used[i]);
    return o->n_used;
}

bool outputs_have(const struct outputs *o, unsigned stream, unsigned device)
{
    return o->output[output_index(stream, device)].is_used;
}

/* Reads the frames that were announced before the commit. */
static void frames_read(struct outputs *o, struct slices *s)
{
    uint8_t *all = s->written > 0 && s->written <= FRAMES_FILE_MOST ? malloc(s->written) : NULL;
    const bool is_read = all && slices_read(s, all, s->written);
    for (size_t at = 0; is_read && s->written - at >= sizeof(struct frame_bytes);) {
        struct frame_bytes f;
        memcpy(&f, all + at, sizeof f);
        const size_t n = f.text_bytes <= s->written - at - sizeof f ? sizeof f + f.text_bytes : s->written - at;
        if (!stacks_note(&o->stacks, all + at, n))
            o->dropped[STREAM_FRAME]++;
        at += n;
    }
    free(all);
}

bool outputs_resume(struct outputs *o, const struct output_state *state)
{
    struct output *out = output_for(o, state->stream, state->device);
    if (!out || !outputs_are_well(o, NULL))
        return true;
    const bool is_whole = slices_resume(&out->slices, state->next, state->is_open, state->bytes);
    if (state->stream == STREAM_FRAME && outputs_are_well(o, NULL))
        frames_read(o, &out->slices);
    return is_whole;
}

static bool closed_add(struct outputs *o, struct closed_slice slice)
{
    if (!array_reserve(o->closed, o->closed_room, o->n_closed + 1, 64))
        return false;
    o->closed[o->n_closed++] = slice;
    return true;
}

void outputs_age(struct outputs *o, uint64_t limit_bytes)
{
    for (uint32_t i = 0; i < o->n_used; i++) {
        struct output *out = &o->output[o->used[i]];
        const unsigned n_closed = out->slices.next - out->slices.is_open;
        if (stream_table[output_stream(o->used[i])].ages)
            while (out->n_closed < n_closed && closed_add(o, (struct closed_slice){ o->used[i], out->n_closed }))
                out->n_closed++;
    }
    while (o->n_bytes - o->aged_bytes > limit_bytes && o->first_closed < o->n_closed) {
        const struct closed_slice *oldest = &o->closed[o->first_closed++];
        uint64_t bytes;
        if (slices_remove(&o->output[oldest->output].slices, oldest->number, &bytes)) {
            o->aged_bytes += bytes;
            o->aged_slices++;
        }
    }
}

/* Also after an error the files contain whole records only: they get their markers if there is space. */
void outputs_close(struct outputs *o)
{
    outputs_flush(o);
    ms_calls_end(o);
    const struct error framework = o->framework.error, prof = o->prof.error;
    o->framework.error = o->prof.error = (struct error){ 0 };
    for (uint32_t i = 0; i < o->n_used; i++)
        slices_fini(&o->output[o->used[i]].slices);
    if (outputs_have(o, STREAM_PROCESSES, 0))
        o->dropped[STREAM_PROCESSES] += process_files_make(&o->output[output_index(STREAM_PROCESSES, 0)].slices);
    o->keeps_processes = o->prof.error.fault != FAULT_NONE;
    stacks_fini(&o->stacks);
    if (framework.fault != FAULT_NONE)
        o->framework.error = framework;
    if (prof.fault != FAULT_NONE)
        o->prof.error = prof;
    free(o->closed);
    o->closed = NULL;
}

/* FRAMEWORK and PROF_XXX lie in the collection, unless it is a PROF directory. */
void outputs_sums(const struct outputs *o, struct file_tree *t)
{
    for (uint32_t i = 0; i < o->n_used; i++) {
        const struct slices *const s = &o->output[o->used[i]].slices;
        const char *const folder = strrchr(s->to->path, '/') + 1;
        slices_sums(s, tree_find(t, folder) ? folder : "", t);
    }
}

static void sums_free(struct outputs *o)
{
    for (uint32_t i = 0; i < o->n_used; i++) {
        struct slices *const s = &o->output[o->used[i]].slices;
        free(s->sums);
        s->sums = NULL;
        s->n_sums = 0;
    }
}

void outputs_leave(struct outputs *o, bool is_complete)
{
    uint64_t bytes;
    for (uint32_t i = 0; is_complete && i < o->n_used; i++)
        if (stream_table[output_stream(o->used[i])].is_scratch &&
            !(o->keeps_processes && output_stream(o->used[i]) == STREAM_PROCESSES))
            slices_remove(&o->output[o->used[i]].slices, 0, &bytes);
    sums_free(o);
    prof_writer_forget(&o->framework);
    prof_writer_forget(&o->prof);
}

void outputs_rest(struct outputs *o)
{
    prof_writer_rest(&o->framework);
    prof_writer_rest(&o->prof);
    for (uint32_t i = 0; i < o->n_used; i++)
        slices_rest(&o->output[o->used[i]].slices);
}

void outputs_forget(struct outputs *o)
{
    prof_writer_forget(&o->framework);
    prof_writer_forget(&o->prof);
    for (uint32_t i = 0; i < o->n_used; i++)
        slices_forget(&o->output[o->used[i]].slices);
    sums_free(o);
    o->n_used = 0;
}
