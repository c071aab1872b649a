/* SPDX-License-Identifier: Apache-2.0 */
/* ascope.rings that a killed program might have left, in a collection whose files are as long as it says, shorter or
 * gone. The first byte says which. No input would guess a check: unless the first byte wants them damaged, they are
 * made to fit. */
#include "folder.h"

#include "collect/session/recover.h"
#include "rings.h"

enum { HAS_FRAMEWORK = 1, HAS_PROF = 2, HAS_FILES = 4, IS_CUT = 8, IS_DAMAGED = 16 };

static void put(int fd, const void *bytes, size_t n, uint64_t at)
{
    if (pwrite(fd, bytes, n, (off_t)at) < 0)
        abort();
}

static void checks_mend(int fd, uint64_t lane_at)
{
    static struct rings_front f;
    static uint8_t lane[FUZZ_RING_BYTES];
    struct rings_header *h = &f.header;
    if (pread(fd, &f, sizeof f, 0) < 0 || pread(fd, lane, sizeof lane, (off_t)lane_at) < 0)
        abort();
    h->id = (struct rings_id){ { UINT64_C(0x0011223344556677), UINT64_C(0x8899AABBCCDDEEFF) } };
    h->check = header_check(h);
    put(fd, h, sizeof *h, 0);
    uint64_t tail = 0, newest = 0;
    for (unsigned turn = 0; turn < RINGS_TURNS; turn++) {
        struct rings_commit *c = &f.commit[0][turn];
        if (c->n_outputs > OUTPUTS_MOST || c->n_rings > RINGS_MOST)
            continue;
        c->check = commit_check(c, h->id);
        tail = c->number >= newest && c->n_rings > 0 ? c->tail[0][0] : tail;
        newest = c->number > newest ? c->number : newest;
        put(fd, c, sizeof *c, offsetof(struct rings_front, commit) + turn * sizeof *c);
    }
    const uint64_t seed = lane_seed(h->id, 0, 0);
    for (uint64_t at = tail % FUZZ_RING_BYTES / RECORD_ALIGN * RECORD_ALIGN; at < sizeof lane;) {
        struct record_head head;
        memcpy(&head, lane + at, sizeof head);
        if (record_room(record_bytes(head)) > sizeof lane - at)
            break;
        head.check = record_check(lane + at, head_kind(head), seed, tail - tail % FUZZ_RING_BYTES + at);
        memcpy(lane + at, &head, sizeof head);
        at += record_room(record_bytes(head));
    }
    put(fd, lane, sizeof lane, lane_at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const uint8_t ask = data[0];
    struct rings_part part[RINGS_PARTS];
    char path[256];
    rings_parts(part);
    folder_build(NULL, 0, (ask & HAS_FRAMEWORK ? FOLDER_FRAMEWORK : 0) | (ask & HAS_PROF ? FOLDER_COLLECTION : 0));
    mkdir(folder, 0700);
    if (ask & HAS_FILES) {
        folder_put("FRAMEWORK/torch.op_range", path, 200);
        folder_put("host/data/aging.compact.task_track.slice_0", path, 128);
        folder_put("host/data/aging.compact.task_track.slice_0.done", path, 20);
        folder_put("host/data/aging.compact.task_track.slice_1", path, 64);
    }
    snprintf(path, sizeof path, "%s/" RINGS_NAME, folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const uint64_t whole = part[RINGS_PARTS - 1].at + 2 * FUZZ_RING_BYTES;
    if (fd < 0 || ftruncate(fd, (off_t)(ask & IS_CUT ? whole * data[1] / 256 : whole)) != 0)
        abort();
    struct piece piece;
    const uint8_t *at = data + 2;
    size_t left = size - 2;
    for (size_t i = 0; i < RINGS_PARTS && piece_next(&at, &left, &piece); i++)
        put(fd, piece.data, piece.size < part[i].bytes ? piece.size : part[i].bytes, part[i].at);
    if (!(ask & (IS_DAMAGED | IS_CUT)))
        checks_mend(fd, part[RINGS_PARTS - 1].at);
    close(fd);
    snprintf(path, sizeof path, "%s/ascope.json", folder);
    FILE *facts = fopen(path, "w");
    if (!facts || fputs("{\"ended\": \"running\", \"session\": \"" FUZZ_SESSION "\"}", facts) < 0 || fclose(facts) != 0)
        abort();
    snprintf(path, sizeof path, "%s/" RINGS_NAME, folder);
    struct recovered r;
    struct error e = { 0 };
    const enum recovery how = collection_recover(folder, &r, &e);
    const bool is_refused = how == RECOVERY_FAILED || how == RECOVERY_LOST;
    if (is_refused ? e.fault == FAULT_NONE || access(path, F_OK) != 0 : how != RECOVERY_DONE || access(path, F_OK) == 0)
        abort(); /* a refusal gives its reason and removes nothing; what is done is done */
    folder_remove();
    return 0;
}
