/* SPDX-License-Identifier: Apache-2.0 */
/* marks.c - a program that was instrumented with mstx, recorded without touching its marks.
 *
 *     marks [DIR]
 *
 * train() and load() are what such programs look like: they know nothing of ascope. Here main() opens the session, and
 * the library provides the functions; a program that finds them in libms_tools_ext.so at run time gets the same.
 */
#include <ascope/ascope.h>
#include <ascope/mstx.h>

#include <stdio.h>

enum { EPOCHS = 2, READS = 3 };

static void load(mstxDomainHandle_t loader)
{
    const mstxRangeId id = mstxDomainRangeStartA(loader, "read", NULL);
    mstxDomainRangeEnd(loader, id);
}

static void train(void)
{
    mstxDomainHandle_t loader = mstxDomainCreateA("loader");
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        const mstxRangeId id = mstxRangeStartA("epoch", NULL);
        for (int i = 0; i < READS; i++)
            load(loader);
        mstxMarkA("checkpoint", NULL);
        mstxRangeEnd(id);
    }
    mstxDomainDestroy(loader);
}

int main(int n, char **arg)
{
    struct ascope_error e;
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = n > 1 ? arg[1] : ".";
    o.device = "none";
    o.level = ASCOPE_LEVEL_NONE; /* marks and nothing else */
    o.mstx = true;
    o.mstx_domain_exclude = "noise";

    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e)) {
        fprintf(stderr, "marks: %s\n", e.text);
        return 1;
    }
    train();
    printf("%s\n", ascope_session_path(s));
    if (!ascope_session_stop(s, &e) || !ascope_session_end(s, &e)) {
        fprintf(stderr, "marks: %s\n", e.text);
        return 1;
    }
    return 0;
}
