/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.h - registry: what is wrong with a job: one sentence with its numbers for each problem, for the screen and for JSON.
 *
 * A verdict is given only where the numbers carry it; docs/cluster.md has the limits. A healthy job has none.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_VERDICTS_H
#define ASCOPE_CLUSTER_VERDICTS_VERDICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answers/judge/run_judge.h"
#include "answers/run/collective_match.h"
#include "base/memory/arena.h"
#include "base/memory/tuples.h"
#include "cluster/modes.h"
#include "cluster/rank/rank_groups.h"
#include "cluster/results/recipe.h"

enum verdict_kind {
    VERDICT_COLLECTIVES, /* the ranks' collectives do not match */
    VERDICT_STEPS,       /* the ranks' steps do not match */
    VERDICT_CLOCK,       /* the clock of a rank is ahead or behind */
    VERDICT_SLOW_RANK,   /* a rank takes longer than its peers, in each step or in some */
    VERDICT_LATE_HOST,   /* the same, and most of it is time in which its device has nothing to do */
    VERDICT_SLOW_STEP,   /* steps are slow, and no single rank is the reason */
    VERDICT_UNEVEN,      /* in each step another rank takes longest */
    VERDICT_SLOW_LINK,   /* a link carries less than others of its kind */
    VERDICT_STAGES,      /* one stage of a pipeline computes longer than the others */
    VERDICT_KINDS
};
extern const char *const verdict_names[VERDICT_KINDS]; /* "slow_rank" */

/* Where to see a verdict about a rank: of the collectives that the rank joins last, the one in which another member
 * waits longest. Times are on the common clock. */
struct verdict_place {
    const char *collective; /* NULL: there is no such collective */
    int64_t begin_ns, end_ns;
    int64_t waiting; /* the rank that waits longest */
};

struct verdict {
    enum verdict_kind kind;
    const char *text;
    const char *about;   /* of a finding of the judge, what only the summaries of a job know; NULL: nothing */
    int64_t rank, other; /* of a link: both ends; -1: none */
    const char *step;    /* the first one that it is about; NULL: all steps */
    const char *shape;   /* of a finding of the judge: "once"; NULL: not of the judge. Lent, as it is constant */
    double ratio;        /* to what is usual; 0: unknown */
    struct verdict_place place;
    double ms; /* what it costs in a step, or the error of a clock; 0: unknown */
};

enum path_kind { PATH_COMPUTING, PATH_FREE, PATH_COMMUNICATION, PATH_KINDS };
extern const char *const path_names[PATH_KINDS];

/* Segments of the critical path that belong together: operators of a rank, free time of a rank, or collectives of a
 * group. */
struct path_part {
    enum path_kind kind;
    int64_t rank;           /* of communication: the rank that joined last, if it is always the same, else -1 */
    const char *name;       /* the operator that takes most of the time, or the kind of collective; "" for free time */
    const char *group;      /* of communication: the id of the group, else NULL */
    const char *group_name; /* the name that the job gives to the group: "tp"; "": none */
    uint32_t n;             /* number of segments */
    int64_t ns;
    int64_t saved_ns; /* by how much the step would be shorter if this part took no time */
};

/* How far the clock of a rank is ahead of the median clock, computed from the ends of its collectives. */
struct job_clock {
    int64_t rank, ahead_ns;
};

struct job_overview; /* job_overview.c */

struct job_report {
    bool is_judged;       /* the mode verdicts ran */
    bool has_compared;    /* false: there was nothing to compare, so that no verdict means nothing */
    const char *start_up; /* the steps that are left out of verdicts, and what they cost; NULL: there are none */
    const char *nothing;  /* why no step and no rank is called slow; NULL: one is, or nothing was compared */
    LIST(struct verdict) verdicts; /* in the order of kinds */
    bool has_path;
    const char *path_step; /* NULL: there are no steps */
    int64_t path_ns;       /* from the begin of the step to its last end on any rank */
    uint32_t path_segments, path_ranks;
    LIST(struct path_part) parts;  /* the longest first; the rest is path_ns minus their sum */
    LIST(struct job_clock) clocks; /* of all ranks */
    struct job_overview *overview; /* of the mode overview; NULL: the mode did not run */
    struct arena *mem;
};

/* False: no memory. The text is copied. */
bool verdict_add(struct job_report *r, const struct verdict *v);

/* step_verdicts.c: how long the other members of collectives wait for a rank that joins last.
 *
 * The shortest member of a collective joined last, and its duration is that of the transfer. What the others take
 * longer is waiting, except while they compute: a collective beside kernels costs nothing. So the wait of a member is
 * at least the exposed part of its time, minus the transfer. A collective counts with the mean over the other members;
 * waits are summed up by group, rank and step.
 *
 * Sends and receives do not count: a pipeline waits in them anyway, and in several at the same time. */

struct rank_wait {
    name_id group;
    uint32_t rank, step; /* numbers in the match, and in the steps; step: NO_ROW: there are no steps */
    double us;
};

struct rank_waits {
    struct tuples keys; /* (group, rank, step) */
    LIST(struct rank_wait) list;
    bool *has_p2p; /* by rank: it sends or receives */
    struct arena *mem;
};

/* `steps` has the names of the steps that are compared; collectives in other steps, or in none, do not count. NULL:
 * there are no steps, and all collectives count. False: no memory. */
bool rank_waits_find(struct rank_waits *w, const struct collective_match *m, const struct keys *steps,
                     struct arena *mem);

/* How long the members of a group wait for a rank in a step, for the group in which that is longest. */
double rank_waits_step_us(const struct rank_waits *w, uint32_t rank, uint32_t step);
/* The same in the lower median of its n_steps steps, so that a single one does not count. `scratch` has room for
 * n_steps numbers. */
double rank_waits_usual_us(const struct rank_waits *w, uint32_t rank, size_t n_steps, double *scratch);

/* slow_links.c: links between two ranks that are slower than others of their kind.
 *
 * Links with the same transport that carried the same number of bytes for the same kind of operator are of one kind. A
 * link is slow if its bandwidth is below the median of its kind by more than three deviations (1.4826 times the median
 * absolute deviation) and by a fifth. For single uses (-top1, -middle, -bottom…), which vary more, it has to be below
 * by a half. */

struct link_sum {
    name_id op, transport, group;
    int64_t src, dst; /* in the group */
    double mb, ms;
    uint32_t steps;
};

struct slow_links {
    struct groups groups;
    struct tuples keys; /* (op, group, transport, src, dst) */
    LIST(struct link_sum) links;
    struct names *names;
    struct arena *mem;
};

void slow_links_init(struct slow_links *l, struct names *names, struct arena *mem);
bool slow_links_add(struct slow_links *l, const struct rank_summary *r,
                    const struct cluster_options *o); /* false: no memory */
/* The table SlowLinks, and a line for each of the slowest. */
bool slow_links_finish(struct slow_links *l, struct results *out);

/* job_overview.c: a job at one glance, for the viewer: what each rank did in each step, its groups, and what each link
 * carried.
 *
 * A mode that writes no tables: it leaves its result in the report of the job. */

enum overview_part { OVERVIEW_COMPUTING, OVERVIEW_COMMUNICATION, OVERVIEW_FREE, OVERVIEW_PARTS };

/* A step on a rank; communication is what is not hidden behind computing. Times are those of the rank's own clock. */
struct overview_cell {
    int64_t rank;
    uint32_t step; /* row of steps */
    double us[OVERVIEW_PARTS];
    bool has_range;
    int64_t begin_ns, end_ns;
};

struct overview_group {
    const char *name; /* as the job calls it: "tp" */
    size_t n;
    int64_t *rank;
};

/* What went from one rank to another over one kind of link, in all steps. */
struct overview_link {
    const char *transport;
    int64_t src, dst;
    double mb, ms;
};

struct job_overview {
    LIST(const char *) steps; /* names, in order of first appearance */
    LIST(int64_t) ranks;      /* ascending */
    LIST(struct overview_cell) cells;
    LIST(struct overview_group) groups;
    LIST(struct overview_link) links;
};

extern const struct mode mode_overview;

/* link_verdicts.c: links between two ranks that carry less than others of their kind.
 *
 * A use is what a link carried for one kind of operator in one step (the rows "-total" of the matrices). Uses with the
 * same transport, operator and size are of one kind. Each use is compared with the median of the uses of its kind by
 * other pairs of ranks. A link is slow if the median of its uses is far below that, or if a part of its uses is very
 * far below. */

struct link_use {
    uint32_t kind; /* number of (operator, transport, size) */
    name_id transport, group;
    uint32_t src, dst; /* in the group */
    double gbs, ms;    /* ms: that the transfers took, which may run beside others */
};

struct link_verdicts {
    struct tuples kinds;
    LIST(struct link_use) uses;
    struct names *names;
    struct arena *mem;
};

bool link_verdicts_add(struct link_verdicts *l, const struct rank_summary *s, const struct cluster_options *o);
bool link_verdicts_finish(struct link_verdicts *l, const struct groups *g,
                          struct job_report *out); /* false: no memory */

/* verdicts.c: the members of a collective whose part is conspicuously short: they joined last, and the others
 * waited.
 *
 * With up to 100 members Dixon's test for the smallest value is used, at 99.5 %. With more members all that are more
 * than three standard deviations below the mean are late, and the shortest one if any is as far above it. */

enum { DIXON_LEAST = 3, DIXON_MOST = 100 };
extern const double dixon_995[DIXON_MOST - DIXON_LEAST + 1]; /* critical values for DIXON_LEAST … DIXON_MOST */

/* `is_late` has a place for each duration; `scratch` has room for n. Returns how many are late. */
size_t late_ranks(const int64_t *ns, size_t n, bool *is_late, double *scratch);

/* step_verdicts.c: slow ranks, late hosts, slow steps and uneven stages, from what each rank did in each step.
 *
 * The judge decides (answers/judge/run_judge.h), as in every other command. A rank is compared with its peers, the
 * ranks that do the same work: those of its pipeline stage, or all ranks if there are no stages or each stage has one
 * rank. To each finding is added what only the summaries of a job know: how long the others wait in collectives,
 * whether the rank has more kernels, whether copies are the reason. */

struct stepped_rank {
    int64_t rank;
    bool is_host;       /* recorded without a device */
    size_t n;           /* steps that are compared */
    uint64_t n_kernels; /* in all of these; 0: unknown */
    const struct rank_step *step;
    const int64_t *copying_ns; /* by step: copies beside which nothing runs */
};

struct step_verdicts {
    struct keys steps;       /* names */
    LIST(const char *) text; /* of each */
    LIST(struct stepped_rank) ranks;
    bool has_device; /* false: only hosts were recorded */
    int64_t longest_ns;
    const char *slowest; /* the step that takes longest on any rank so far; NULL: there are none */
    struct names *names;
    struct arena *mem;
};

/* Ranks are added in the same order as to the match. False: no memory. */
bool step_verdicts_add(struct step_verdicts *v, const struct rank_summary *s, const struct cluster_options *o);
bool step_verdicts_finish(struct step_verdicts *v, const struct groups *g, const struct collective_match *m,
                          struct job_report *out);

/* critical_path.c: what the length of a step is made of, through all ranks.
 *
 * The path is followed backwards from the last end of the step: on a rank to the collective that ended last before,
 * from there to the member that joined it last, and on with that rank. What this rank did before the collective is
 * computing or free time. The collective, from the last arrival to its end, is communication. Waiting is never on the
 * path; what the others wait for is.
 *
 * How much shorter the step would be without a part is found by replaying the step without it. Each rank reaches each
 * collective as long after its previous one as it did, and each collective ends as long after the last arrival as it
 * did. The result is an upper bound, because launches of the host and other streams are not modelled. Kernels that run
 * beside a collective count as computing before the next one.
 *
 * Rows of all steps are kept as long as there are few of them; beyond that only those of the slowest step so far, or
 * of the wanted step. */

/* A collective of a rank in a step. */
struct path_row {
    uint32_t rank, id; /* numbers in the match; id: NO_ROW: the other members are unknown */
    int64_t step;      /* its id; INT64_MIN: in no step */
    int64_t begin_ns, end_ns;
    int64_t before_ns;  /* time since the previous collective of the rank ended, or since the step began */
    int64_t free_ns;    /* the part of it in which the device was idle */
    int64_t longest_ns; /* the part of it that the operators named `longest` took */
    name_id longest, type, group;
};

/* Where a step ends on a rank. */
struct path_end {
    uint32_t rank;
    int64_t step;
    int64_t computing_ns, free_ns; /* after the last collective of the step */
};

struct critical_path {
    LIST(struct path_row) rows; /* by rank, then by begin */
    LIST(struct path_end) ends;
    size_t limit; /* most rows; 0: PATH_ROWS */
    struct names *names;
    struct arena *mem;
};
enum { PATH_ROWS = 1000000, PATH_PARTS = 10 };

/* `id` was filled by match_add(). False: no memory. */
bool critical_path_add(struct critical_path *p, const struct rank_summary *s, uint32_t rank, const uint32_t *id);
bool critical_path_is_full(const struct critical_path *p);
void critical_path_keep(struct critical_path *p, int64_t step); /* drops all rows but those of one step */
/* Reports the path of a step. False: no memory. */
bool critical_path_finish(struct critical_path *p, const struct collective_match *m, const struct groups *g,
                          int64_t step, struct job_report *out);

#endif
