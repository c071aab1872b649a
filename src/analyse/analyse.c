#include "analyse/analyse.h"

bool profile_analyse(struct profile *p, unsigned n_threads, struct error *e)
{
    (void)n_threads;
    (void)e;
    for (size_t i = 0; i < p->n_devices; i++)
        losses_merge(&p->lost, &p->device[i].source.lost);
    losses_merge(&p->lost, &p->host.source.lost);
    return true;
}
