/* SPDX-License-Identifier: Apache-2.0 */
/* rings_map.h - the file of the rings (rings_file.h) while this process has it open: creating it, and mapping it ring
 * by ring.
 *
 * It is the file of a session of this process, or of a collector outside (rings_outside.c). Room on the disk is
 * allocated before it is mapped: a page of a mapped file that finds no room kills the program. Each lane is mapped
 * twice, one copy behind the other.
 */
#ifndef ASCOPE_COLLECT_RING_RINGS_MAP_H
#define ASCOPE_COLLECT_RING_RINGS_MAP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/files/kept.h"
#include "collect/ring/drop_reason.h"
#include "collect/ring/rings_file.h"

struct error;
struct rings_options {
    const char *path; /* of the file to be created */
    const char *id;   /* of the session, 32 hexadecimal digits: what the collection's ascope.json has, too */
    uint32_t ring_bytes;
};
enum { RINGS_ID_DIGITS = 32 };

struct rings {
    struct kept file;
    void *lock;                 /* keeps the file locked (base/files/file_lock.h) */
    struct rings_front *front;  /* NULL: none is open */
    struct rings_layout layout; /* a copy: a forked child has no front */
    struct rings_id id;
    char path[PATH_MAX];
    _Atomic(uint8_t *) base[RINGS_MOST]; /* shared | open | lane 0 twice | lane 1 twice; NULL: not yet */
    /* Records that are in no ring, and were not dropped by the writer. */
    _Atomic uint64_t dropped[DROP_REASONS][STREAM_KINDS];
    _Atomic int trouble;      /* errno of the last thread that got no ring; 0: none */
    _Atomic uint32_t session; /* the session that has the file */
    _Atomic bool is_gone;     /* another process has truncated or changed the file: the session is over */
};
extern struct rings rings;

/* The file that was created, opened again if the program has closed it. -1 with errno; kept_close(own) ends the use. */
int rings_fd(struct kept *own);

/* Creates the file of a session, locks it and maps its beginning. False: e says why, and nothing is left. */
bool rings_create(const struct rings_options *o, struct error *e);
/* unmaps everything except the rings in `kept`, which threads still use */
void rings_unmap(uint8_t *const kept[RINGS_MOST]);
void rings_header_put(struct rings_header *h);         /* writes both copies, with the check */
uint32_t ring_claim(int fd, uint32_t owner, int *why); /* the next ring of the file: its number, or RINGS_MOST */
uint8_t *ring_map(int fd, uint32_t number);            /* NULL: errno says why not */

uint64_t rings_front_bytes(void);                /* of the beginning of the file, in whole pages */
uint64_t rings_addresses(void);                  /* of a ring: more than its bytes, as lanes are mapped twice */
struct ring_shared *rings_shared(uint32_t ring); /* NULL: not mapped yet */
uint8_t *rings_lane(uint32_t ring, unsigned lane);
uint8_t *ring_lane_at(uint8_t *base, unsigned lane); /* the same of a ring that is mapped there */
/* True: the file has fewer rings (n_read, as just read) than are mapped, so another process has emptied it. */
bool rings_were_emptied(uint32_t n_read);

#endif
