/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/rings_left.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/process/progress.h"

/* Reads the bytes that exist. The rest becomes zeros, whose checksum is never valid. */
static size_t read_at(const struct rings_left *l, void *to, size_t n, uint64_t offset)
{
    size_t got = 0;
    while (got < n) {
        const ssize_t part = TEMP_FAILURE_RETRY(pread(l->fd, (char *)to + got, n - got, (off_t)(offset + got)));
        if (part <= 0)
            break;
        got += (size_t)part;
    }
    memset((char *)to + got, 0, n - got);
    return got;
}

/* ---- header and commit ---- */

/* Whether the parts of a ring follow each other and no sum of numbers from the file can overflow. */
static bool layout_is_possible(const struct rings_layout *l)
{
    uint64_t at = sizeof(struct ring_shared);
    if (l->rings_at < offsetof(struct rings_front, dropped) || l->rings_at > INT32_MAX || l->open_at < at ||
        l->lane_at[0] < l->open_at || l->lane_at[0] - l->open_at > (uint64_t)OPEN_SLOT_BYTES << 16)
        return false;
    for (unsigned lane = 0; lane < RING_LANES; lane++) {
        const uint64_t bytes = l->lane_bytes[lane];
        if (l->lane_at[lane] < at || l->lane_at[lane] > INT32_MAX || bytes < RECORD_ALIGN || bytes > 1 << 30 ||
            (bytes & (bytes - 1)) != 0)
            return false;
        at = l->lane_at[lane] + bytes;
    }
    return l->ring_bytes >= at && l->ring_bytes <= (uint64_t)INT32_MAX * 4;
}

static bool header_is_good(const struct rings_header *h)
{
    return h->magic == RINGS_MAGIC && h->version >= RINGS_OLDEST && h->version <= RINGS_VERSION &&
           h->bytes == sizeof *h && h->check == header_check(h) && layout_is_possible(&h->layout);
}

static enum rings_state header_read(struct rings_left *l, struct error *e)
{
    static const uint64_t place[] = { offsetof(struct rings_front, header),
                                      offsetof(struct rings_front, header_again) };
    bool is_other = false;
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        struct rings_header *h = &l->header;
        read_at(l, h, sizeof *h, place[i]);
        if (header_is_good(h))
            return RINGS_USABLE;
        is_other |= i == 0 && h->magic == RINGS_MAGIC && (h->version < RINGS_OLDEST || h->version > RINGS_VERSION);
    }
    if (is_other)
        error_set(e, FAULT_FORMAT, "%s: written by another version of ascope; recover with that version", l->path);
    else
        error_set(e, FAULT_FORMAT, "%s: damaged: not a ring file of ascope; records that are only in it are lost",
                  l->path);
    return is_other ? RINGS_OTHER_VERSION : RINGS_DAMAGED;
}

static bool commit_is_good(const struct rings_commit *c, struct rings_id id)
{
    return c->n_outputs <= OUTPUTS_MOST && c->n_rings <= RINGS_MOST && c->check == commit_check(c, id);
}

static bool is_zeros(const void *bytes, size_t n)
{
    const char *p = bytes;
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* The number of the commit in a pair, whose good copy goes to *c. 0: none was ever there, or the first is half done;
 * UINT64_MAX: nobody knows. */
static uint64_t pair_read(const struct rings_left *l, unsigned turn, struct rings_commit *c, struct rings_commit *one)
{
    uint64_t number = UINT64_MAX;
    /* last copy first: the copy that is written first may be newer */
    for (unsigned copy = RINGS_COPIES; copy-- > 0;) {
        const size_t at = (copy * RINGS_TURNS + turn) * sizeof *c;
        read_at(l, one, sizeof *one, offsetof(struct rings_front, commit) + at);
        if (is_zeros(one, offsetof(struct rings_commit, output))) {
            number = number == UINT64_MAX ? 0 : number;
        } else if (commit_is_good(one, l->header.id) && one->number % RINGS_TURNS == turn &&
                   (number == UINT64_MAX || one->number > number)) {
            number = one->number;
            *c = *one;
        }
    }
    return number;
}

/* The last one. It is known to be the last when the other pair still has the one before it: that is overwritten by the
 * next. */
static enum rings_state commit_read(struct rings_left *l, struct error *e)
{
    struct rings_commit *all = malloc((RINGS_TURNS + 1) * sizeof *all); /* and one to read into */
    if (!all) {
        error_no_memory(e, l->path);
        return RINGS_NO_MEMORY;
    }
    uint64_t number[RINGS_TURNS];
    for (unsigned turn = 0; turn < RINGS_TURNS; turn++)
        number[turn] = pair_read(l, turn, &all[turn], &all[RINGS_TURNS]);
    const unsigned last =
        number[0] + 1 < number[1] + 1; /* plus 1, so that UINT64_MAX (unknown) counts as less than 0 (none) */
    if (last == 1)
        all[0] = all[1];
    l->commit = all;
    if (number[last] + 1 > 1 && number[!last] == number[last] - 1)
        return RINGS_USABLE;
    error_set(e, FAULT_FORMAT,
              "%s: damaged: no valid commit; records that are only in it are lost, the other files are unchanged",
              l->path);
    return RINGS_DAMAGED;
}

/* Its last one from which something was taken, plus 1: others were given a number, and may have no room in the file
 * yet. */
static uint32_t rings_used(const struct rings_commit *c)
{
    uint32_t n = c->n_rings;
    while (n > 0 && is_zeros(c->tail[n - 1], sizeof c->tail[n - 1]))
        n--;
    return n;
}

enum rings_state rings_left_read(struct rings_left *l, int fd, uint64_t file_bytes, const char *path, struct error *e)
{
    *l = (struct rings_left){ .fd = fd, .path = path, .file_bytes = file_bytes };
    enum rings_state state = header_read(l, e);
    if (state != RINGS_USABLE)
        return state;
    if (!l->header.has_commits)
        return RINGS_UNUSED;
    state = commit_read(l, e);
    if (state != RINGS_USABLE)
        return state;
    const struct rings_layout *layout = &l->header.layout;
    const uint64_t beyond = file_bytes > layout->rings_at ? file_bytes - layout->rings_at : 0;
    const uint64_t whole = beyond / layout->ring_bytes;
    uint32_t n_ready = 0;
    read_at(l, &n_ready, sizeof n_ready, offsetof(struct rings_front, n_ready));
    if (file_bytes < layout->rings_at || whole < rings_used(l->commit) || whole < n_ready)
        l->n_damaged++; /* the file was truncated */
    const uint64_t begun = whole + (beyond % layout->ring_bytes > 0);
    l->n_rings = begun < RINGS_MOST ? (uint32_t)begun : RINGS_MOST;
    return RINGS_USABLE;
}

void rings_left_fini(struct rings_left *l)
{
    free(l->commit);
    l->commit = NULL;
}

/* ---- records ---- */

/* The bytes of a lane from its tail on, in one piece. */
struct rings_left_lane {
    const struct rings_left *of;
    uint64_t at, size, seed; /* in the file */
    uint64_t tail;
    uint8_t *bytes;
    uint64_t n;      /* bytes that were read */
    uint64_t budget; /* bytes that may still be looked at in search of a good record: the search stays linear */
};

static bool lane_load(struct rings_left_lane *l, uint64_t n)
{
    uint8_t *more = realloc(l->bytes, n);
    if (!more)
        return false;
    const uint64_t from = l->tail & (l->size - 1), first = n < l->size - from ? n : l->size - from;
    read_at(l->of, more, first, l->at + from);
    read_at(l->of, more + first, n - first, l->at);
    l->bytes = more;
    l->n = n;
    return true;
}

/* The room of the record that is there; 0: none. Of RECORD_SKIP it is the rest of the lap. */
static uint64_t record_at(const struct rings_left_lane *l, uint64_t at, struct record_head *head)
{
    if (l->n - at < RECORD_ALIGN)
        return 0;
    memcpy(head, l->bytes + at, sizeof *head);
    const uint64_t room = record_room(record_bytes(*head)), rest = l->size - ((l->tail + at) & (l->size - 1));
    if (room > l->n - at || head->check != record_check(l->bytes + at, head_kind(*head), l->seed, l->tail + at))
        return 0;
    return head->stream != RECORD_SKIP ? room : rest < l->n - at ? rest : l->n - at;
}

/* The end of the valid records from `at` on; *last: where the last of them begins. */
static uint64_t run_end(const struct rings_left_lane *l, uint64_t at, uint64_t *last)
{
    struct record_head head;
    for (uint64_t room; (room = record_at(l, at, &head)) > 0; at += room)
        *last = at;
    return at;
}

/* Where the next good record begins; the end of what was read: nowhere. */
static uint64_t run_next(struct rings_left_lane *l, uint64_t at)
{
    struct record_head head;
    for (at += RECORD_ALIGN; at < l->n && l->budget > 0; at += RECORD_ALIGN) {
        if (record_at(l, at, &head) > 0)
            return at;
        memcpy(&head, l->bytes + at, sizeof head);
        const uint64_t looked = record_room(record_bytes(head));
        l->budget -= looked < l->budget ? looked : l->budget;
    }
    return l->n;
}

struct receiver {
    void (*put)(void *, struct record_head, const uint8_t *bytes);
    void *context;
};

static void run_put(const struct rings_left_lane *l, uint64_t at, uint64_t end, struct receiver to)
{
    struct record_head head;
    for (uint64_t room; at < end && (room = record_at(l, at, &head)) > 0; at += room)
        if (head.stream != RECORD_SKIP)
            to.put(to.context, head, l->bytes + at + RECORD_HEAD);
}

/* Run after run of good records. `head` is where the thread said that they end: it may have had no time to say so of
 * the last one. The records, and not the head, say what is there; where the two disagree the whole lane is searched. */
static bool lane_drain(struct rings_left *left, struct rings_left_lane *l, uint64_t head, struct receiver to)
{
    const uint64_t said = head - l->tail, one_more = record_room(RECORD_MOST);
    const bool is_possible = said <= l->size && said % RECORD_ALIGN == 0;
    if (!lane_load(l, is_possible && said + one_more < l->size ? said + one_more : l->size))
        return false;
    uint64_t last = 0, end = run_end(l, 0, &last);
    if (end == said || (end > 0 && last == said)) {
        run_put(l, 0, end, to);
        return true;
    }
    if (l->n < l->size && !lane_load(l, l->size))
        return false;
    l->budget = 16 * l->size;
    end = run_end(l, 0, &last);
    run_put(l, 0, end, to);
    for (uint64_t next; (next = run_next(l, end)) < l->n;) {
        left->n_damaged++; /* between the two */
        end = run_end(l, next, &last);
        run_put(l, next, end, to);
    }
    left->n_damaged += !is_possible || end < said;
    return true;
}

static void ranges_count(struct rings_left *l, uint32_t ring, uint64_t ring_at, const struct ring_shared *shared)
{
    const struct rings_layout *layout = &l->header.layout;
    for (unsigned lane = 0; lane < RING_LANES; lane++) {
        const struct open_part part = open_part(layout, lane);
        const uint32_t end = atomic_load(&shared->open_end[lane]);
        for (uint32_t i = part.first; i < part.first + part.n && i - part.first < end; i++) {
            uint64_t id;
            read_at(l, &id, sizeof id, ring_at + layout->open_at + (uint64_t)i * OPEN_SLOT_BYTES);
            const uint64_t place = id >> ID_SLOT & ((UINT64_C(1) << (ID_SESSION - ID_SLOT)) - 1);
            l->open_ranges += id > OPEN_ENDING && place == ((uint64_t)ring << (ID_RING - ID_SLOT) | i);
        }
    }
}

static void dropped_add(struct rings_left *l, const struct ring_shared *shared)
{
    /* the two counters differ by at most this much when a process is killed between its increments */
    enum { APART_MOST = RING_LANES + 1 };
    for (unsigned s = 0; s < STREAM_KINDS; s++) {
        const uint64_t a = atomic_load(&shared->dropped[s]), b = atomic_load(&shared->dropped_again[s]);
        l->dropped[s] += a > b ? a : b;
        l->n_damaged += (a > b ? a - b : b - a) > APART_MOST;
    }
}

bool rings_left_drain(struct rings_left *l, void (*put)(void *, struct record_head, const uint8_t *bytes),
                      void *context, struct error *e)
{
    const struct rings_layout *layout = &l->header.layout;
    memcpy(l->dropped, l->commit->dropped, sizeof l->dropped);
    if (l->header.version > RINGS_OLDEST) /* the oldest version had no reasons */
        read_at(l, &l->reasons, sizeof l->reasons, offsetof(struct rings_front, reasons));
    progress_work(layout->rings_at);
    for (uint32_t i = 0; i < l->n_rings; i++) {
        struct ring_shared shared;
        const uint64_t at = layout->rings_at + i * layout->ring_bytes;
        read_at(l, &shared, sizeof shared, at);
        for (unsigned lane = 0; lane < RING_LANES; lane++) {
            struct rings_left_lane one = { .of = l,
                                           .at = at + layout->lane_at[lane],
                                           .size = layout->lane_bytes[lane],
                                           .seed = lane_seed(l->header.id, i, lane),
                                           .tail = i < l->commit->n_rings ? l->commit->tail[i][lane] : 0 };
            const uint64_t head = atomic_load(&shared.lane[lane].head);
            if (one.at >= l->file_bytes) {
                l->n_damaged += head != one.tail;
                continue;
            }
            const bool is_read = lane_drain(l, &one, head, (struct receiver){ put, context });
            free(one.bytes);
            if (!is_read)
                return error_no_memory(e, l->path);
        }
        dropped_add(l, &shared);
        l->cost_ticks += atomic_load(&shared.cost_ticks);
        ranges_count(l, i, at, &shared);
        progress_work(layout->ring_bytes);
    }
    return true;
}
