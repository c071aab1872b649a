/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h - a program that is recorded by another process: how its code finds the session that is open there.
 *
 * The collector (`ascope run`) has the session: the writer, the files, the samplers. It makes one page of memory (a
 * memfd, sealed so that no process can truncate it) and starts the program with ASCOPE_RUN=/proc/PID/fd/N. libascope
 * and the preloaded library, in the program and in all processes that it starts, map the page. They put their records
 * into the rings of the session that the page names; the collector may end that session and begin others.
 *
 * The program gets no thread, no descriptor and no file of ours. After the collector has ended, the program's records
 * are dropped.
 */
#ifndef ASCOPE_COLLECT_SESSION_HANDOVER_H
#define ASCOPE_COLLECT_SESSION_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/error.h"

#define HANDOVER_VARIABLE "ASCOPE_RUN"
enum { HANDOVER_PATH_BYTES = 64, HANDOVER_DOMAINS_BYTES = 1024 };

/* ---- for the collector ---- */

struct handover;                                                                 /* one for the whole run */
struct handover *handover_make(char path[HANDOVER_PATH_BYTES], struct error *e); /* path: the variable's value */

/* What programs shall record while a session is open: enum ascope_recorded, several. Before the program starts. */
struct handover_wish {
    uint32_t recorded;
    uint32_t calls; /* of the operating system, by the preloaded library: enum os_call_kinds, several */
    const char *domain_include, *domain_exclude; /* of marks; NULL: all, none */
};
bool handover_wish(struct handover *h, const struct handover_wish *w, struct error *e); /* false: a list is too long */

void handover_open(struct handover *h);  /* the session of this process, which records now */
void handover_close(struct handover *h); /* before it stops; records that are being put are waited for */
void handover_free(struct handover *h);  /* NULL is fine */

/* ---- for the program ---- */

/* From now on threads put records into the collector's session, whenever one is open. False: the environment names
 * none, or it cannot be reached. *wish is lent for good. */
bool handover_attach(struct handover_wish *wish);

#endif
