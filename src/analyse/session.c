#include "analyse/session.h"

#include "analyse/analyse.h"

bool session_analyse(struct session *s, unsigned n_threads, struct error *e)
{
    return !s->has_device || profile_analyse(&s->profile, n_threads, e);
}
