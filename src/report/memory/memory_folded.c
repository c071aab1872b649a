/* SPDX-License-Identifier: Apache-2.0 */
#include "report/memory/memory_folded.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ";" and line ends separate frames and stacks. */
static void folded_text(struct out *o, const char *text)
{
    for (; *text; text++)
        out_char(o, *text == ';' ? ',' : (unsigned char)*text < ' ' ? '?' : *text);
}

static void folded_frame(struct out *o, const struct snapshot_frame *f)
{
    char line[16];
    const char *slash = strrchr(f->file, '/');
    out_char(o, ';');
    folded_text(o, f->function);
    if (!*f->file)
        return;
    out_lit(o, " (");
    folded_text(o, slash ? slash + 1 : f->file);
    out_bytes(o, line, (size_t)snprintf(line, sizeof line, ":%" PRIu32 ")", f->line));
}

bool memory_folded_put(struct out *o, const struct memory_judged *j, bool is_named)
{
    const struct memory_snapshot *s = j->replay.s;
    struct arena *mem = arena_new();
    struct memory_use use;
    char device[32];
    const bool done = mem && memory_use_before(&use, &j->replay, &j->steps, j->replay.peak, USE_BY_STACK, mem);
    for (size_t i = 0; done && i < use.row.n; i++) {
        if (is_named) {
            folded_text(o, s->path);
            out_bytes(o, device, (size_t)snprintf(device, sizeof device, ", device %" PRIu32 ";", j->replay.device));
        }
        folded_text(o, memory_purpose_name[use.row.at[i].purpose]);
        for (stack_id at = use.row.at[i].stack; at != 0; at = s->stack.at[at].inner)
            folded_frame(o, &s->frame.at[s->stack.at[at].outermost]);
        out_char(o, ' ');
        out_u64(o, use.row.at[i].bytes);
        out_char(o, '\n');
    }
    arena_free(mem);
    return done;
}
