/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/listeners.h"

#include "collect/options/sized.h"

enum { LISTENERS_MOST = 8 };
static struct {
    const struct ascope_listener *of; /* the caller's structure; NULL: the slot is free */
    struct ascope_listener is;
} listener[LISTENERS_MOST];
static unsigned n_started; /* how many of the first slots were notified of the start */

static unsigned slot_of(const struct ascope_listener *l)
{
    unsigned i = 0;
    while (i < LISTENERS_MOST && listener[i].of != l)
        i++;
    return i;
}

bool ascope_listen(const struct ascope_listener *l)
{
    unsigned i = slot_of(l);
    if (i == LISTENERS_MOST)
        i = slot_of(NULL);
    if (i == LISTENERS_MOST || !sized_copy(&listener[i].is, sizeof listener[i].is, l))
        return false;
    listener[i].of = l;
    return true;
}

void ascope_unlisten(const struct ascope_listener *l)
{
    const unsigned i = slot_of(l);
    if (i < LISTENERS_MOST)
        listener[i].of = NULL;
}

bool listeners_any(void)
{
    for (unsigned i = 0; i < LISTENERS_MOST; i++)
        if (listener[i].of)
            return true;
    return false;
}

void listeners_started(const struct ascope_options *o)
{
    for (n_started = 0; n_started < LISTENERS_MOST; n_started++)
        if (listener[n_started].of && listener[n_started].is.started)
            listener[n_started].is.started(o, listener[n_started].is.user);
}

void listeners_stopping(void)
{
    while (n_started > 0)
        if (listener[--n_started].of && listener[n_started].is.stopping)
            listener[n_started].is.stopping(listener[n_started].is.user);
}
