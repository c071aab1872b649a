/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - registry: where a thread puts its records: memory that is mapped from a file, one ring for each thread.
 *
 * One producer (the thread), one consumer (the writer). Records are bytes for a stream (streams.h), each contiguous:
 * the memory is mapped twice, one copy behind the other, so that no record sees the end of the ring. The file is the
 * collection's ascope.rings (rings_file.h); it survives the process, and recover.h writes what the writer could not.
 *
 * A ring has two lanes. The second one is for a signal handler that records while its thread is putting a record into
 * the first; a third level is counted and dropped.
 *
 * Putting takes no lock and makes no system call. The first record of a thread in a session takes a ring: one of a
 * thread that has ended, or a new one (which costs a few system calls). If there is no ring, or it is full, the record
 * is dropped and counted by stream.
 *
 *     struct ring_slot slot = ring_put(STREAM_TORCH_OP, 0, bytes);
 *     if (slot.at) { fill slot.at[0 .. bytes); ring_done(slot); }
 *
 * Between the two calls the thread is "inside": a session that stops waits for it before it unmaps the memory. So do
 * nothing between them that may wait.
 */
#ifndef ASCOPE_COLLECT_RING_RING_H
#define ASCOPE_COLLECT_RING_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ascope/record.h"
#include "collect/ring/record_bytes.h"
#include "collect/ring/rings_file.h"
#include "collect/ring/rings_map.h"

enum { COST_SAMPLED_OF = 64 };
#define RING_NEVER_ATTACHED UINT32_MAX

struct ring_lane {
    /* only the producer uses these: up to `end` there is room without reading the tail again */
    uint64_t head, end;
    uint64_t bytes; /* a power of two */
    uint64_t seed;  /* of the records' checks */
    uint8_t *data;  /* 2 * bytes of addresses */
};

struct ring { /* never freed: a thread that ends leaves it to the next one */
    /* Everything that a record needs lies in one cache line, which ends with the first lane. */
    _Alignas(64) struct ring_shared *shared;
    uint32_t session;        /* the one that the memory belongs to, or RING_NEVER_ATTACHED */
    _Atomic uint32_t inside; /* how many of the thread's functions use the memory now; those that put a record count in
                                the upper half, too, and that is their lane */
    uint32_t countdown;      /* records until the next one whose cost is measured */
    uint32_t number;         /* in the session's file */
    struct ring_lane lane[RING_LANES];
    uint64_t addresses;     /* bytes that are mapped */
    uint64_t measured_from; /* when the record that is being put began; 0: its cost is not measured */
    uint32_t stands_for;    /* how many records the measured one stands for: 1 for the first, whose pages are new, then
                       COST_SAMPLED_OF */
    uint32_t tried;         /* the last session in which memory was asked for: it is asked for once */
    uint32_t generation;    /* counts open ranges, so that ids of the same slot differ */
    uint32_t open_at[RING_LANES];    /* where to look for a free slot */
    bool open_full[RING_LANES];      /* the last search found no free slot */
    bool is_stuck[RING_LANES];       /* it could not grow: the disk was full */
    uint32_t open_grown[RING_LANES]; /* slots that have room in the file */
    struct ring_open *open;
    _Atomic uint32_t next_free;
};

struct ring_slot { /* two words, which stay in registers */
    uint8_t *at;   /* NULL: dropped, and counted; else aligned to 8 */
    uint64_t kind; /* record_kind() */
};

extern __thread struct ring *ring_of_thread __attribute__((tls_model("initial-exec")));

/* Reserves bytes for one record, 1 to RECORD_MOST; another size is counted as dropped. `device` is 0 unless the stream
 * is a device's. */
struct ring_slot ring_put(enum stream_id stream, unsigned device, size_t bytes);
void ring_done(struct ring_slot slot);
void ring_put_words(enum stream_id stream, size_t bytes, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                    uint64_t f, uint64_t g); /* a record of up to seven words, complete */
/* counts records that a device lost before they reached a ring */
void ring_count_dropped(enum stream_id stream, uint64_t n);
bool ring_is_short(void); /* less than half of the thread's ring is free: devices' threads can wait for the writer */

/* Takes the thread's ring of this session, as its first record would. Our own threads beside the program do this before
 * the program goes on: later it may close the descriptor in between, and give its number to a file of its own. */
void ring_prepare(void);

uint32_t ring_thread(void);  /* kernel's number of the calling thread; asked once */
uint32_t ring_session(void); /* number of the open session, counted from 1 in this process; 0: none */

/* ---- for sessions ---- */
struct error;
/* Opens a session: threads that record get rings. If another process truncates the file, the session ends and the
 * program continues (rings_guard.c). */
bool rings_open(const struct rings_options *o, struct error *e);
void rings_stop(void);  /* threads get no more rings, and none is inside any more; writer_stop() calls it, too */
void rings_close(void); /* after writer_stop(): unmaps and deletes the file */
void rings_leave(void); /* as rings_close(), but keeps the file for recovery */

/* In memory that the kernel sets to 0 in every child process, however it was made: a child must not use the rings of
 * its parent. */
struct ring_process {
    _Atomic uint32_t is_known;       /* 0: in a child that has not noticed yet that it is one */
    _Atomic uint32_t inline_session; /* the session whose records ring_inline.h puts; 0: none. It is the open one where
                                        membarrier() makes stores of all threads visible; elsewhere each thread has to
                                        do so by itself, in ring.c */
};
extern struct ring_process *_Atomic ring_process;
extern __thread uint32_t ring_thread_number __attribute__((tls_model("initial-exec"))); /* 0: not asked yet */

/* ---- for rings_guard.c, rings_outside.c, rings_map.c and writer.c ---- */

void rings_end_early(void); /* ends the session: another process has changed the file. Also in signal handlers */
void rings_session_from(const _Atomic uint32_t *word); /* from now on *word has the number of the open session */

/* ---- for ring_inline.h and ring_ranges.c: a thread uses the memory of its ring between ring_enter() and ring_leave()
 * ---- */

enum { RING_NO_SESSION = 0 };
extern _Atomic bool ring_has_barrier; /* membarrier() makes stores of all threads visible; else each does so itself */
extern const _Atomic uint32_t *_Atomic ring_session_word; /* where the number of the open session is; 0: none */
struct ring *ring_find_first(void); /* in a thread without a ring, or a child that has not noticed; NULL: none */
bool ring_attach(struct ring *r, uint32_t session);    /* gets memory of this session; false: there is none */
void ring_drop(struct ring *r, enum stream_id stream); /* counts a record, and leaves the ring; r may be NULL */

/* ring_growth.c: a ring begins small: its part of the file is a hole, and pages get space on the disk when they are
 * needed.
 *
 * In the first lap of a lane most pages have no space yet. The writer allocates it ahead of the thread that records.
 * If the thread is faster, it does so itself. The allocated part doubles each time, so this happens at most a few
 * times for each ring. It is one system call on the mapping, without a descriptor: MADV_POPULATE_WRITE reports a full
 * disk, where a store would end the program by SIGBUS. Where that does not work (older kernels; file systems that
 * notice only later that they are full), a ring has all of its space from the begin.
 *
 * A lane that cannot grow, because the disk is full, continues with the space that it has: its thread puts a record of
 * the stream RECORD_SKIP, and continues at the begin of the lane with the next lap. Positions of records, their
 * checksums, and the free space of the lane are counted as if the skipped rest had been used. */

bool rings_can_grow(int fd, const void *page); /* whether the file and the page support it */

uint64_t lane_first_bytes(const struct rings_layout *h, unsigned lane); /* that a new ring has */
/* How much of a lane has room; at most all of it, whatever the file says. */
uint64_t lane_grown(const struct ring_shared *shared, unsigned lane, uint64_t bytes);
bool lane_grow(struct ring_shared *shared, unsigned lane, uint8_t *data, uint64_t bytes, uint64_t to); /* false: full */

/* For the thread of a ring. */
void ring_begin_grown(struct ring *r, bool grows); /* when it gets its ring: r->lane is set but for `end` */
bool lane_extend(struct ring *r, unsigned level, uint64_t room); /* false: the lane is full */
bool open_extend(struct ring *r, unsigned level); /* more slots for open ranges; false: there are no more */

/* ring_ranges.c: ranges of marks while they are open: bytes that survive the process as records do (ring.h).
 *
 * They are kept in slots of 256 bytes of the ring of the thread that began the range, until any thread takes them; a
 * long text takes a chain of slots. An id is never 0, and contains session, ring and slot. Like records: no lock, no
 * system call, also in signal handlers. */

enum { RING_OPEN_MOST = 4096 + 128 }; /* bytes of head and text */

/* Keeps the head, and the text behind it. 0: no room, which is counted as a dropped record of STREAM_MARK. */
uint64_t ring_range_open(uint64_t key, const void *head, size_t head_bytes, const void *text, size_t text_bytes);

/* Gives back what was kept, once: the number of bytes. 0, and nothing changes: the id is of another session or was
 * taken already, or the key is not the one that the range was opened with. */
size_t ring_range_take(uint64_t id, uint64_t key, void *out, size_t most);

uint32_t rings_open_ranges(uint32_t ring); /* how many are open in a ring of the open file */

/* short_records.c: call stacks by number: a frame is announced once, operators name their innermost one, and the text is
 * made here, by the writer's thread or by recovery, while operators are appended to their file.
 *
 * A record of STREAM_FRAME is a struct frame_bytes and the frame's text ("train.py(12): step"). Its caller is an
 * earlier frame, so that whatever a damaged file says, stacks end. An operator that names a frame has it in front of
 * its other fields, as a field of type TORCH_FRAME that no file holds.
 *
 * The name, types and shapes of an operator are announced in the same way, as a frame without a caller, whose text is
 * those fields as they are in the file: its label (TORCH_LABEL). */

enum { FRAMES_MOST = 1 << 20, FRAMES_BYTES_MOST = 256 << 20, STACK_BYTES_MOST = 16384 };
enum { LABELS_MOST = 1 << 17, LABEL_BYTES_MOST = 1024 }; /* they leave room for frames */

struct __attribute__((packed)) frame_bytes {
    uint32_t id, caller, text_bytes; /* caller: 0 for the outermost */
};

struct stacks {
    struct stack_frame {
        uint32_t caller, n;
        size_t at; /* in text */
    } * frame;     /* by number; those that were never announced have n == 0 */
    size_t n_frames, frames_room;
    char *text;
    size_t n_text, text_room;
    uint32_t made_of; /* the frame whose stack `made` holds; 0: none */
    uint32_t made_n;
    char made[STACK_BYTES_MOST];
};

/* False: it is damaged, or there is no memory for it. */
bool stacks_note(struct stacks *s, const uint8_t *record, size_t bytes);

/* Of the frame and its callers, innermost first; without the outermost where they are too long. { NULL, 0 }: nobody
 * announced the frame. Until the next call. */
struct ascope_text stacks_text(struct stacks *s, uint32_t frame);

/* What was announced by that number, without its callers. { NULL, 0 }: nothing was. Until the next stacks_note(). */
struct ascope_text stacks_label(const struct stacks *s, uint32_t label);

void stacks_fini(struct stacks *s); /* fine when zeroed */

/* short_records.c: records that are shorter in rings than in their files: operators whose texts were announced
 * (short_records.c), and events of memory. The writer's thread, recovery and the save of a flight recorder expand them
 * while they write the files. */

struct short_record {
    size_t n;         /* bytes in the file; 0: its name was not announced, and without a name the record is dropped */
    bool lacks_stack; /* its frame was not announced */
    union {
        struct op_bytes op;
        struct memory_bytes memory;
    } fixed;
    size_t n_fixed;
    struct ascope_text label, stack;
    const uint8_t *texts; /* of the record itself */
    size_t n_texts;
};

/* False: the record is no short one; it has the bytes of the file already. Else *r is valid until `s` makes the next
 * text, and as long as `bytes` exist. */
bool short_record_read(struct short_record *r, struct stacks *s, struct record_head head, const uint8_t *bytes);
void short_record_write(const struct short_record *r, uint8_t *to); /* r->n bytes */

bool op_is_short(struct record_head head, const uint8_t *bytes); /* it is a struct op_short_bytes */

#endif
