/* SPDX-License-Identifier: Apache-2.0 */
/* A program that knows nothing of sessions is recorded from the moment that it loads the library to its end, when its
 * environment asks for that: ASCOPE_RECORD=DIR, and options by their names in ASCOPE_RECORD_OPTIONS; or by the process
 * that started it, `ascope run` (handover.h). Part of libascope.so alone. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ascope/session.h"
#include "collect/session/handover.h"
#include "collect/session/host_clock.h"
#include "collect/marks/mark_domain.h"
#include "collect/session/message.h"
#include "collect/session/recording.h"

static void options_read(struct ascope_options *o, char *text)
{
    for (char *rest = text, *name; (name = strsep(&rest, ";"));) {
        name += strspn(name, " ");
        char *value = strchr(name, '=');
        if (*name == '\0')
            continue;
        if (value)
            *value++ = '\0';
        if (!value || !ascope_options_set(o, name, value))
            message(ASCOPE_WARNING, "ASCOPE_RECORD_OPTIONS: \"%.60s\" ignored; expected name=value, separated by \";\"",
                    name);
    }
}

static void child_prepare(void)
{
    if (ascope_recording)
        recording_prepare(); /* the child has another process number */
}

static void follow_collector(void)
{
    struct handover_wish wish;
    if (!handover_attach(&wish))
        return;
    host_clock_init();
    recording_prepare();
    pthread_atfork(NULL, NULL, child_prepare);
    marks_filter(wish.domain_include, wish.domain_exclude);
    recording_set(wish.recorded);
}

/* Not for programs that run with somebody else's rights. */
static __attribute__((constructor)) void record_if_asked(void)
{
    const char *const dir = secure_getenv("ASCOPE_RECORD"), *const more = secure_getenv("ASCOPE_RECORD_OPTIONS");
    if (!dir || *dir == '\0') {
        follow_collector();
        return;
    }
    struct ascope_options o;
    struct ascope_error e = { "" };
    host_clock_init(); /* its own constructor may come later, and then decides the same */
    ascope_options_init(&o);
    o.parent_dir = dir;
    o.mstx = true;
    char *const copy = strdup(more ? more : "");
    if (copy)
        options_read(&o, copy);
    free(copy);
    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e)) {
        message(ASCOPE_ERROR, "nothing is recorded: %s", e.text);
        ascope_session_discard(s);
    } /* otherwise the session ends with the process */
}
