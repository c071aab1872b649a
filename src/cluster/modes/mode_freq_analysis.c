/* SPDX-License-Identifier: Apache-2.0 */
/* mode_freq_analysis.c - ranks whose cores did not run at their usual clock. */
#include "cluster/modes.h"

#include "base/files/out.h"
#include "cluster/results/recipe.h"

enum { USUAL_MHZ = 1800, IDLE_MHZ = 800 };

static const struct result_column columns[] = { COLUMN("rankId", "INTEGER"), COLUMN("aicoreFrequency", "TEXT") };

struct freq_analysis_state {
    struct grid idle, abnormal;
};

static void *freq_analysis_begin(struct mode_context *c)
{
    struct freq_analysis_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        s->idle = s->abnormal = (struct grid){ .n_columns = 2, .mem = c->mem };
    return s;
}

/* "[800, 1800]" */
static const char *list_text(const int64_t *mhz, size_t n, struct arena *mem)
{
    struct error e = { 0 };
    struct out o;
    if (!out_open_memory(&o, &e))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        out_bytes(&o, i > 0 ? ", " : "[", i > 0 ? 2 : 1);
        out_i64(&o, mhz[i]);
    }
    out_lit(&o, "]");
    const char *const text = arena_text(mem, o.buf, o.n);
    out_discard(&o);
    return text;
}

static bool freq_analysis_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct freq_analysis_state *const s = state;
    const bool is_idle = r->n_mhz == 2 && r->mhz[0] == IDLE_MHZ && r->mhz[1] == USUAL_MHZ;
    if (r->n_mhz == 0 || (r->n_mhz == 1 && r->mhz[0] == USUAL_MHZ))
        return true;
    const struct cell row[] = { cell_int(r->identity.rank), cell_text(list_text(r->mhz, r->n_mhz, c->mem)) };
    if (!row[1].text)
        return false;
    grid_row(is_idle ? &s->idle : &s->abnormal, row);
    return !arena_failed(c->mem);
}

static bool freq_analysis_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct freq_analysis_state *const s = state;
    if (!recipe_table(out, "FreeFrequencyRanks", "free_frequency_ranks.csv", RECIPE_COLUMNS(columns), &s->idle) ||
        !recipe_table(out, "AbnormalFrequencyRanks", "abnormal_frequency_ranks.csv", RECIPE_COLUMNS(columns),
                      &s->abnormal))
        return error_no_memory(e, c->mode->name);
    return true;
}

const struct mode mode_freq_analysis = {
    .name = "freq_analysis",
    .class_name = "FreqAnalysis",
    .about = "ranks with an unusual clock",
    .needs = RANK_CLOCK,
    .begin = freq_analysis_begin,
    .add = freq_analysis_add,
    .finish = freq_analysis_finish,
};
