#include "collect/listeners.h"

enum { LISTENERS_MOST = 8 };
static const struct ascope_listener *listener[LISTENERS_MOST];
static unsigned n_started; /* of the first slots */

bool ascope_listen(const struct ascope_listener *l)
{
    for (unsigned i = 0; i < LISTENERS_MOST; i++)
        if (!listener[i] || listener[i] == l) {
            listener[i] = l;
            return true;
        }
    return false;
}

void ascope_unlisten(const struct ascope_listener *l)
{
    for (unsigned i = 0; i < LISTENERS_MOST; i++)
        if (listener[i] == l)
            listener[i] = NULL;
}

bool listeners_any(void)
{
    for (unsigned i = 0; i < LISTENERS_MOST; i++)
        if (listener[i])
            return true;
    return false;
}

void listeners_started(const struct ascope_options *o)
{
    for (n_started = 0; n_started < LISTENERS_MOST; n_started++)
        if (listener[n_started])
            listener[n_started]->started(o, listener[n_started]->user);
}

void listeners_stopping(void)
{
    while (n_started > 0)
        if (listener[--n_started])
            listener[n_started]->stopping(listener[n_started]->user);
}
