/* SPDX-License-Identifier: Apache-2.0 */
/* The history that a killed flight recorder might have left: what is kept, and two files. The first byte says what is
 * damaged: no input would guess a check, so the others are made to fit, and sizes fit into what there is. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/flight/flight_store.h"

enum { IS_DAMAGED = 1, IS_CUT = 2, IS_SHORT = 4, FILES = 2, FILE_MOST = 1 << 14 };
static const struct rings_id id = { { 1, 2 } };
static const char *const names[] = { FLIGHT_KEPT, "history.00000001", "history.00000002" };
static char folder[64];

static uint64_t fit(uint64_t wanted, uint64_t room)
{
    return wanted <= room ? wanted : wanted % (room + 1);
}

/* Records behind each other, each with its check; how many bytes of them are whole. */
static uint64_t records_mend(uint8_t *at, uint64_t n, uint64_t seed, uint64_t place)
{
    uint64_t done = 0;
    while (n - done >= RECORD_ALIGN) {
        struct record_head head;
        memcpy(&head, at + done, sizeof head);
        head.bytes_less_1 =
            (uint16_t)fit(head.bytes_less_1, n - done - RECORD_HEAD - 1 < 200 ? n - done - RECORD_HEAD - 1 : 200);
        const uint64_t room = record_room(record_bytes(head));
        if (room > n - done)
            break;
        head.check = record_check(at + done, head_kind(head), seed, place + done);
        memcpy(at + done, &head, sizeof head);
        done += room;
    }
    return done;
}

static void batch_mend(uint8_t *file, uint64_t number, uint64_t from, uint64_t end)
{
    for (uint64_t at = from; end - at >= sizeof(struct flight_run);) {
        struct flight_run run;
        memcpy(&run, file + at, sizeof run);
        run.ring %= FLIGHT_FLIPS + 1;
        run.lane %= RING_LANES;
        run.bytes = records_mend(file + at + sizeof run, fit(run.bytes, end - at - sizeof run),
                                 lane_seed(id, run.ring, run.lane), run.place);
        run.check = flight_check(id, number, at, &run, sizeof run);
        memcpy(file + at, &run, sizeof run);
        at += sizeof run + run.bytes;
    }
}

static void file_mend(uint8_t *file, uint64_t n, uint64_t number, uint64_t bytes_before)
{
    struct flight_head head;
    memcpy(&head, file, sizeof head);
    head.magic = FLIGHT_MAGIC;
    head.version = RINGS_VERSION;
    head.bytes = sizeof head;
    head.id = id;
    head.number = number;
    head.bytes_before = bytes_before;
    head.check = flight_head_check(&head);
    memcpy(file, &head, sizeof head);
    for (uint64_t at = sizeof head; n - at >= sizeof(struct flight_batch);) {
        struct flight_batch batch;
        memcpy(&batch, file + at, sizeof batch);
        batch.bytes = fit(batch.bytes, n - at - sizeof batch);
        batch.check = flight_check(id, number, at, &batch, sizeof batch);
        memcpy(file + at, &batch, sizeof batch);
        batch_mend(file, number, at + sizeof batch, at + sizeof batch + batch.bytes);
        at += sizeof batch + batch.bytes;
    }
}

static void file_write(const char *name, const void *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, n) < 0)
        abort();
    close(fd);
}

static uint64_t n_put;

static void put(void *unused, struct record_head head, const uint8_t *bytes)
{
    (void)unused;
    if (head.stream >= STREAM_KINDS)
        abort();
    volatile uint8_t last = bytes[record_bytes(head) - 1]; /* all of it is there */
    (void)last;
    n_put++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t kept[FILE_MOST], file[FILES][FILE_MOST];
    uint64_t n_kept = 0, n[FILES] = { sizeof(struct flight_head), sizeof(struct flight_head) };
    if (size < 2)
        return 0;
    const uint8_t ask = data[0];
    const uint8_t *at = data + 2;
    size_t left = size - 2;
    struct piece piece;
    memset(file, 0, sizeof file);
    snprintf(folder, sizeof folder, "/dev/shm/ascope-fuzz-%d", (int)getpid());
    mkdir(folder, 0700);
    if (piece_next(&at, &left, &piece)) {
        n_kept = piece.size < FILE_MOST ? piece.size : FILE_MOST;
        memcpy(kept, piece.data, n_kept);
    }
    for (unsigned i = 0; i < FILES && piece_next(&at, &left, &piece); i++) {
        n[i] = piece.size < FILE_MOST - n[i] ? n[i] + piece.size : FILE_MOST;
        memcpy(file[i] + sizeof(struct flight_head), piece.data, n[i] - sizeof(struct flight_head));
    }
    if (!(ask & IS_DAMAGED))
        n_kept = records_mend(kept, n_kept, lane_seed(id, FLIGHT_FLIPS, FLIGHT_KEPT_LANE), 0);
    for (unsigned i = 0; i < FILES; i++)
        file_mend(file[i], n[i], i + 1, i > 0 ? n[i - 1] : 0);
    if (ask & IS_DAMAGED)
        file[data[1] % FILES][data[1] * 7 % n[data[1] % FILES]] ^= ask;
    file_write(FLIGHT_KEPT, kept, n_kept);
    file_write(names[1], file[0], ask & IS_CUT ? n[0] * data[1] / 256 : n[0]);
    file_write(names[2], file[1], ask & IS_SHORT ? n[1] * data[1] / 256 : n[1]);

    const int dir = open(folder, O_PATH | O_DIRECTORY);
    const struct history_of of = {
        .dir = dir, .path = folder, .owner = geteuid(), .id = id, .state = { FILES, n[1], n_kept }
    };
    struct history h;
    struct error e = { 0 };
    n_put = 0;
    if (history_open(&h, &of, (uint64_t)data[1] << (ask >> 3), 0, &e)) {
        if (!history_read(&h, put, NULL, &e) || n_put < h.n_records + h.flips_before)
            abort();
        history_close(&h);
    } else if (e.fault == FAULT_NONE) {
        abort(); /* a refusal gives its reason */
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlinkat(dir, names[i], 0);
    close(dir);
    rmdir(folder);
    return 0;
}
