#include "cli/session_summary.h"

#include "cli/summary.h"

void session_summary_print(const struct term *t, const struct arguments *a, const struct session_result *r)
{
    fputs(term_ink(t, INK_BOLD), t->to);
    term_text(t, r->session.path, 0);
    fprintf(t->to, "%s\n", term_ink(t, INK_END));
    summary_files(t, r->session.path, &r->account, a->verbose > 0);
    summary_losses(t, &r->session.lost);
    summary_times(t, &r->account);
}

json_t *session_summary_json(const struct session_result *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "path", text_json(r->session.path), "files", files_json(&r->account),
                     "losses", summary_losses_json(&r->session.lost), "problems", problems_json(&r->account), "seconds",
                     seconds_json(&r->account));
}
