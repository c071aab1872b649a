/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "traced.h"

enum { FRAME_MOST = 2 * KNOWN_TEXT_MOST + 12, ANNOUNCED_FIRST = 1024 };

/* The calling thread's copy of its stack, until reading_end(). NULL: it has no calls that are traced now. */
static inline struct traced *reading_begin(void)
{
    struct traced *const t = traced_here ? traced_here : traced_make();
    if (!t)
        return NULL;
    /* Either a stop sees that this thread reads, or this thread sees the stop: the other side is traced_wait(). */
    if (__builtin_expect(tracing.has_barrier, 1))
        atomic_store_explicit(&t->is_reading, true, memory_order_relaxed);
    else
        atomic_store(&t->is_reading, true);
    atomic_signal_fence(memory_order_seq_cst);
    if (!atomic_load(&tracing.is_on))
        goto none;
    if (__builtin_expect(t->session != tracing.session, 0) && !traced_begin_from_note(t))
        goto none;
    /* Where the program has replaced the tracer in this thread, returns were not reported, and frames may be gone. */
    const PyThreadState *state = atomic_load_explicit(&t->state, memory_order_relaxed);
    if (__builtin_expect(!state, 0))
        state = PyGILState_GetThisThreadState();
    if (t->n > 0 && state && state->c_profilefunc == calls_trace)
        return t;
none:
    atomic_store_explicit(&t->is_reading, false, memory_order_release);
    return NULL;
}

static void reading_end(struct traced *t)
{
    atomic_store_explicit(&t->is_reading, false, memory_order_release);
}

/* ---- the text of a frame ---- */

/* "/opt/train.py(12): main", of a call of Python; its length. */
static uint32_t frame_words(const struct open_call *call, char out[FRAME_MOST])
{
    const struct known *const k = call->known;
    char line[12];
    int number = PyFrame_GetLineNumber(call->frame);
    uint32_t digits = 0;
    number = number > 0 ? number : 0;
    do {
        line[sizeof line - ++digits] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    memcpy(out, k->path, k->path_n);
    memcpy(out + k->path_n, line + sizeof line - digits, digits);
    memcpy(out + k->path_n + digits, k->function, k->function_n);
    return k->path_n + digits + k->function_n;
}

/* ---- numbers of frames ---- */

/* The place of a frame in the table, or the free place where it belongs. */
static struct announced *announced_at(struct announced *table, uint32_t room, struct announced of)
{
    uint64_t hash = ((uint64_t)(uintptr_t)of.known >> 4) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ of.caller ^ (uint64_t)(uint32_t)of.instruction << 32) * 0x9E3779B97F4A7C15u;
    uint32_t i = (uint32_t)(hash >> 32) & (room - 1);
    while (table[i].known &&
           (table[i].known != of.known || table[i].caller != of.caller || table[i].instruction != of.instruction))
        i = (i + 1) & (room - 1);
    return &table[i];
}

static bool announced_grow(struct traced *t)
{
    const uint32_t room = t->announced_room ? t->announced_room * 2 : ANNOUNCED_FIRST;
    struct announced *const more = calloc(room, sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; i < t->announced_room; i++)
        if (t->announced[i].known)
            *announced_at(more, room, t->announced[i]) = t->announced[i];
    free(t->announced);
    t->announced = more;
    t->announced_room = room;
    return true;
}

/* 0: no room, in the table or in the recording. */
static APART uint32_t announce(struct traced *t, const struct open_call *call, struct announced of)
{
    char words[FRAME_MOST];
    if (t->n_announced >= t->announced_room / 2 && !announced_grow(t))
        return 0;
    of.id = ascope_frame(of.caller, (struct ascope_text){ words, frame_words(call, words) });
    if (of.id != 0) {
        *announced_at(t->announced, t->announced_room, of) = of;
        t->n_announced++;
    }
    return of.id;
}

/* The number of a call's frame at its present instruction; 0: there is no room for more. */
static uint32_t frame_number(struct traced *t, const struct open_call *call, uint32_t caller)
{
    const struct announced of = { .known = call->known, .caller = caller, .instruction = call->frame_instruction };
    const struct announced *const at = t->announced ? announced_at(t->announced, t->announced_room, of) : NULL;
    return __builtin_expect(at && at->known, 1) ? at->id : announce(t, call, of);
}

/* Sets the frame_id of the i-th call; the calls around it have theirs. False: there is no room for more frames. */
static inline bool frame_set(struct traced *t, uint32_t i)
{
    struct open_call *const call = &t->at[i];
    uint32_t id = i > 0 ? call[-1].frame_id : 0;
    if (call->frame && call->known->path_n > 0) {
        call->frame_instruction = frame_instruction(call->frame);
        id = frame_number(t, call, id);
        if (id == 0)
            return false;
    }
    call->frame_id = id;
    t->n_framed = i + 1;
    return true;
}

/* The same of all calls up to `last`. The innermost one that has a frame_id may have moved to another instruction
 * before it called the next one. */
static APART bool frames_set(struct traced *t, uint32_t last)
{
    uint32_t inner = t->n_framed;
    while (inner > 0 && !t->at[inner - 1].frame)
        inner--;
    if (inner > 0 && frame_instruction(t->at[inner - 1].frame) != t->at[inner - 1].frame_instruction)
        t->n_framed = inner - 1;
    while (t->n_framed <= last)
        if (!frame_set(t, t->n_framed))
            return false;
    return true;
}

uint32_t stack_frame(void)
{
    struct traced *const t = reading_begin();
    if (!t)
        return 0;
    uint32_t i = t->n - 1; /* the innermost call of Python: C functions are not shown */
    while (i > 0 && !t->at[i].frame)
        i--;
    const struct open_call *const call = &t->at[i];
    bool is_set = true;
    if (t->n_framed <= i)
        is_set = frames_set(t, i);
    else if (call->frame && frame_instruction(call->frame) != call->frame_instruction)
        is_set = frame_set(t, i); /* calls around it stay at the instruction that called it */
    const uint32_t id = is_set ? call->frame_id : 0;
    reading_end(t);
    return id;
}

/* ---- stacks as texts ---- */

/* Writes the text of a call in front of those of the calls around it. False: there is no room. */
static bool words_before(struct traced *t, uint32_t *at, struct open_call *call)
{
    char words[FRAME_MOST];
    const bool has_outer = *at < TRACED_STACK_ROOM;
    const uint32_t n = frame_words(call, words) + has_outer;
    if (n > *at)
        return false;
    *at -= n;
    memcpy(t->stack + *at, words, n - has_outer);
    if (has_outer)
        t->stack[*at + n - 1] = ';';
    call->instruction = frame_instruction(call->frame);
    return true;
}

/* The text of a thousand calls does not fit: from the innermost outwards as many are kept as fill half of the room. The
 * others are left out until the thread has returned to them. */
static void words_skip(struct traced *t)
{
    uint32_t bytes = 0;
    for (t->n_worded = t->n; t->n_worded > 0 && bytes < TRACED_STACK_ROOM / 2; t->n_worded--)
        bytes += t->at[t->n_worded - 1].known->path_n + t->at[t->n_worded - 1].known->function_n + 13;
    for (uint32_t i = 0; i < t->n_worded; i++)
        t->at[i].words_at = TRACED_STACK_ROOM;
    t->n_skipped = t->n_worded;
}

/* As many whole items as fit; their length. */
static size_t copy_whole(char *out, size_t most, const char *words, size_t n)
{
    if (n > most) /* without the outermost ones */
        for (n = most; n > 0 && words[n] != ';'; n--)
            ;
    memcpy(out, words, n);
    return n;
}

/* Only what has changed since the last time is written again: while a call is open, the calls around it stay at their
 * lines. */
size_t stack_words(char *out, size_t most)
{
    struct traced *const t = reading_begin();
    if (!t)
        return 0;
    uint32_t inner = t->n_worded;
    while (inner > 0 && !t->at[inner - 1].frame)
        inner--;
    if (inner > 0 && frame_instruction(t->at[inner - 1].frame) != t->at[inner - 1].instruction)
        t->n_worded = inner - 1;
    if (t->n_worded <= t->n_skipped)
        t->n_worded = t->n_skipped = 0;
    uint32_t at = t->n_worded > 0 ? t->at[t->n_worded - 1].words_at : TRACED_STACK_ROOM;
    while (t->n_worded < t->n) {
        struct open_call *const call = &t->at[t->n_worded];
        if (call->frame && call->known->path_n > 0 && !words_before(t, &at, call)) {
            words_skip(t);
            at = TRACED_STACK_ROOM;
            continue;
        }
        call->words_at = at;
        t->n_worded++;
    }
    const size_t n = copy_whole(out, most, t->stack + at, TRACED_STACK_ROOM - at);
    reading_end(t);
    return n;
}

/* ---- modules ---- */

size_t stack_module_words(char *out, size_t most)
{
    struct traced *const t = reading_begin();
    if (!t)
        return 0;
    if (!t->is_modules_worded) {
        uint32_t n = 0;
        for (uint32_t i = t->n; i-- > 0;) {
            const struct known *const k = t->at[i].known;
            if (!k->module)
                continue;
            if (k->module_n + 1 > TRACED_MODULES_ROOM - n)
                break;
            if (n > 0)
                t->modules[n++] = ';';
            memcpy(t->modules + n, k->module, k->module_n);
            n += k->module_n;
        }
        t->modules_n = n;
        t->is_modules_worded = true;
    }
    const size_t n = copy_whole(out, most, t->modules, t->modules_n);
    reading_end(t);
    return n;
}
