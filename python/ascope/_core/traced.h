/* SPDX-License-Identifier: Apache-2.0 */
/* traced.h - a thread whose Python calls are traced, and its copy of the call stack.
 *
 * Each thread has a struct traced that only it reads and writes: with the GIL where Python calls and returns (calls.c),
 * without it where an operator asks for the stack (stacks.c). The copy belongs to one recording; the memory is kept for
 * the next one, and a thread that ends leaves it to the next thread.
 *
 * A thread may have open calls when its tracing begins. Whoever begins it (with the GIL) writes them down in a note;
 * the thread turns the note into its copy when it comes here for the first time. Notes never change, and live until
 * notes_clear().
 *
 * A stop waits until no thread reads its copy (traced_wait()); a reader waits for nobody.
 */
#ifndef ASCOPE_PYTHON_TRACED_H
#define ASCOPE_PYTHON_TRACED_H

#include <stdatomic.h>

#include "ascope/record.h"
#include "known.h"

enum { TRACED_STACK_ROOM = 1 << 16, TRACED_MODULES_ROOM = 4096 };

struct open_call {
    PyFrameObject *frame; /* NULL: a C function. Not a reference: the frame exists as long as the call is open */
    const struct known *known;
    int instruction;       /* at which the text of the stack was made */
    uint32_t words_at;     /* where that text begins, in struct traced's `stack` */
    int frame_instruction; /* at which frame_id was looked up */
    uint32_t frame_id;     /* number of its frame (ascope_frame); of the call around it if it is not shown; 0: none */
};

/* A frame that was announced (ascope_frame): which call, at which instruction, called by which frame. */
struct announced {
    const struct known *known; /* NULL: free */
    uint32_t caller, id;
    int instruction;
};

struct traced {
    struct traced *next;                  /* of all that were ever made */
    atomic_bool is_reading;               /* an operator of the thread reads the copy now */
    atomic_bool is_free;                  /* its thread has ended */
    _Atomic(const PyThreadState *) state; /* of the interpreter for this thread; NULL: not known */
    unsigned session;                     /* the recording that everything below belongs to */
    uint64_t n_notes_seen;                /* the number of notes when the thread found none of its own */
    struct open_call *at;                 /* open calls, the outermost first */
    uint32_t n, room;
    uint32_t n_worded;  /* calls, from the outermost on, whose text is at the end of `stack` */
    uint32_t n_skipped; /* of these, from the outermost on, those left out: the text would be too long */
    uint32_t n_framed;  /* calls that have a frame_id; only the innermost of them may be at another instruction now */
    struct announced *announced; /* a hash table with open addressing */
    uint32_t announced_room, n_announced;
    bool is_modules_worded; /* `modules` is the text of the modules that are open now */
    uint32_t modules_n;
    char modules[TRACED_MODULES_ROOM];
    char stack[TRACED_STACK_ROOM]; /* filled from its end, so that inner calls can be written in front of outer ones */
};

extern __thread struct traced *traced_here __attribute__((tls_model("initial-exec"))); /* NULL: none yet */

/* The recording that is traced; its number changes only while is_on is false. */
struct tracing {
    atomic_bool is_on;
    unsigned session;
    bool has_barrier; /* membarrier() makes stores of all threads visible; without it each reader does so by itself */
};
extern struct tracing tracing;

bool traced_prepare(void);                /* once; false: the system has no room for another key of threads */
struct traced *traced_make(void);         /* for the calling thread; NULL: no memory */
bool traced_grow(struct traced *t);       /* room for more open calls; false: no memory */
void traced_keep_state(struct traced *t); /* sets `state` for as long as the interpreter has it; with the GIL */
void traced_wait(void);                   /* after is_on became false: until no thread reads its copy */
void traced_forked(void);                 /* in the child of a fork: the other threads do not exist */

/* ---- notes ---- */

struct stack_note;

/* Both with the GIL. Adding takes the reference to the innermost frame; NULL: no memory. */
const struct stack_note *note_add(PyThreadState *state, PyFrameObject *innermost);
const struct stack_note *note_of(PyThreadState *state); /* NULL: none */
void notes_clear(void);                                 /* after traced_wait() */

/* The copy of the calling thread begins anew, with the calls of the note (NULL: with none): they are recorded as calls
 * at the time of the note. */
void traced_begin(struct traced *t, const struct stack_note *note);
/* The same with the thread's own note, without the GIL. False: it has none. */
bool traced_begin_from_note(struct traced *t);

/* ---- calls and returns, with the GIL ---- */

static inline bool traced_push(struct traced *t, PyFrameObject *frame, const struct known *known)
{
    if (__builtin_expect(t->n == t->room, 0) && !traced_grow(t))
        return false;
    t->at[t->n++] = (struct open_call){ .frame = frame, .known = known };
    if (known->module)
        t->is_modules_worded = false;
    return true;
}

static inline void traced_pop(struct traced *t)
{
    const struct open_call *const top = &t->at[--t->n];
    if (top->known->module)
        t->is_modules_worded = false;
    if (t->n_worded > t->n)
        t->n_worded = t->n;
    if (t->n_framed > t->n)
        t->n_framed = t->n;
    if (!top->known->is_ours)
        ascope_python_event(top->frame ? ASCOPE_PYTHON_RETURN : ASCOPE_PYTHON_C_RETURN, known_exit()->key);
}

#endif
