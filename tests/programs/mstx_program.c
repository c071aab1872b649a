/* SPDX-License-Identifier: Apache-2.0 */
/* mstx_program [DIR] - a program that was linked with libms_tools_ext.so; with DIR it has a session around its marks. */
#include <stdio.h>

#include "ascope/mstx.h"
#include "ascope/session.h"

int main(int argc, char **argv)
{
    struct ascope_options o;
    struct ascope_error e = { "" };
    struct ascope_session *s = NULL;
    if (argc == 2) {
        ascope_options_init(&o);
        o.parent_dir = argv[1];
        o.device = "none";
        o.mstx = true;
        s = ascope_session_new(&o, &e);
        if (!s || !ascope_session_start(s, &e))
            return fprintf(stderr, "%s\n", e.text), 1;
    }
    mstxDomainHandle_t domain = mstxDomainCreateA("linked");
    const mstxRangeId id = mstxRangeStartA("linked range", NULL);
    mstxDomainMarkA(domain, "linked point", NULL);
    mstxRangeEnd(id);
    return !s || (ascope_session_stop(s, &e) && ascope_session_end(s, &e)) ? 0 : 1;
}
