/* SPDX-License-Identifier: Apache-2.0 */
/* mark_domain.h - domains of marks: made once, found without locks, never freed. Which of them are recorded is decided
 * when a session begins (recording.h) and when a domain is made: a mark looks at one byte.
 */
#ifndef ASCOPE_COLLECT_MARKS_MARK_DOMAIN_H
#define ASCOPE_COLLECT_MARKS_MARK_DOMAIN_H

#include <stdatomic.h>

#include "ascope/mark.h"
#include "collect/write/name_dictionary.h"
#include "collect/session/recording.h"

enum { DOMAINS_MOST = 1024, DOMAIN_NAME_MOST = 1023 };

struct ascope_domain {
    _Atomic bool is_recorded;
    _Atomic bool is_gone;      /* destroyed by the program, until it is made again */
    _Atomic uint32_t named_in; /* ascope_recording_turn whose dictionary has the name */
    uint32_t name_bytes;
    uint64_t hash; /* of the name */
    const char *name;
};
extern struct ascope_domain domains[DOMAINS_MOST]; /* the first: "default" */

/* The domain if its marks are recorded; NULL: they are not, or `d` is not a domain. */
static inline const struct ascope_domain *domain_that_records(struct ascope_domain *d)
{
    d = d ? d : domains;
    if ((uintptr_t)d - (uintptr_t)domains >= sizeof domains)
        return NULL;
    if (!atomic_load_explicit(&d->is_recorded, memory_order_acquire)) /* the name and its hash were set before */
        return NULL;
    const uint32_t turn = __atomic_load_n(&ascope_recording_turn, __ATOMIC_RELAXED);
    if (__builtin_expect(atomic_load_explicit(&d->named_in, memory_order_relaxed) != turn, 0) &&
        names_say(d->hash, d->name, d->name_bytes))
        atomic_store_explicit(&d->named_in, turn, memory_order_relaxed);
    return d;
}

/* A range of the default domain has begun, and is not to be recorded. 0: there is none. */
void mark_range_drop(uint64_t id);

bool mark_text_is_allowed(const char *text); /* whether a text may be a message or the name of a domain */

/* Names with commas between them; NULL or empty: no list. A domain is recorded when it is on the first list; without
 * one, when it is not on the second. "default" is the domain without a name. False: no memory, and everything is
 * recorded. */
bool marks_filter(const char *include, const char *exclude);

#endif
