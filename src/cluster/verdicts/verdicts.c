/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/verdicts/verdicts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/ascending.h"

const char *const verdict_names[VERDICT_KINDS] = {
    [VERDICT_COLLECTIVES] = "collectives_differ",
    [VERDICT_STEPS] = "steps_differ",
    [VERDICT_CLOCK] = "clock_offset",
    [VERDICT_SLOW_RANK] = "slow_rank",
    [VERDICT_LATE_HOST] = "late_host",
    [VERDICT_SLOW_STEP] = "slow_step",
    [VERDICT_UNEVEN] = "uneven_work",
    [VERDICT_SLOW_LINK] = "slow_link",
    [VERDICT_STAGES] = "stage_imbalance",
};

const char *const path_names[PATH_KINDS] = {
    [PATH_COMPUTING] = "computing", [PATH_FREE] = "free", [PATH_COMMUNICATION] = "communication"
};

bool verdict_add(struct job_report *r, const struct verdict *v)
{
    struct verdict *const new = list_add(&r->verdicts, r->mem);
    if (!new)
        return false;
    *new = *v;
    new->text = arena_text(r->mem, v->text, strlen(v->text));
    new->about = v->about ? arena_text(r->mem, v->about, strlen(v->about)) : NULL;
    new->step = v->step ? arena_text(r->mem, v->step, strlen(v->step)) : NULL;
    return new->text && (!v->step || new->step) && (!v->about || new->about);
}

const double dixon_995[DIXON_MOST - DIXON_LEAST + 1] = {
    .994, .920, .823, .744, .680, .723, .676, .638,             /* 3 … 10 */
    .707, .675, .649, .672, .649, .629, .611, .595, .580, .568, /* 20 */
    .556, .545, .536, .526, .519, .510, .503, .496, .489, .484, /* 30 */
    .478, .473, .468, .463, .458, .454, .450, .446, .442, .439, /* 40 */
    .435, .432, .429, .425, .423, .420, .417, .414, .412, .409, /* 50 */
    .407, .405, .402, .400, .398, .396, .394, .392, .391, .388, /* 60 */
    .387, .385, .383, .382, .380, .379, .377, .376, .374, .372, /* 70 */
    .371, .370, .368, .368, .366, .365, .364, .363, .361, .360, /* 80 */
    .359, .358, .356, .356, .355, .353, .352, .352, .351, .350, /* 90 */
    .349, .348, .347, .346, .345, .344, .344, .343, .341, .341, /* 100 */
};

/* Whether the smallest of the values, which ascend, is an outlier. */
static bool is_outlier(const double *x, size_t n)
{
    size_t distinct = n > 0;
    for (size_t i = 1; i < n; i++)
        distinct += x[i] != x[i - 1];
    if (n < DIXON_LEAST || distinct <= 3)
        return false;
    const size_t second = n <= 10 ? 1 : 2, last = n <= 7 ? n - 1 : n <= 13 ? n - 2 : n - 3;
    const double span = x[last] - x[0];
    return span > 0 && (x[second] - x[0]) / span > dixon_995[n - DIXON_LEAST];
}

static size_t smallest(const int64_t *ns, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        if (ns[i] < ns[at])
            at = i;
    return at;
}

static void three_deviations(const int64_t *ns, size_t n, bool *is_late)
{
    long double sum = 0, squares = 0;
    int64_t largest = ns[0];
    for (size_t i = 0; i < n; i++) {
        sum += (long double)ns[i];
        largest = ns[i] > largest ? ns[i] : largest;
    }
    const long double mean = sum / (long double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((long double)ns[i] - mean) * ((long double)ns[i] - mean);
    const long double far = 3 * sqrtl(squares / (long double)n);
    for (size_t i = 0; i < n; i++)
        is_late[i] = (long double)ns[i] < mean - far;
    if ((long double)largest > mean + far)
        is_late[smallest(ns, n)] = true;
}

size_t late_ranks(const int64_t *ns, size_t n, bool *is_late, double *scratch)
{
    for (size_t i = 0; i < n; i++) {
        is_late[i] = false;
        scratch[i] = (double)ns[i] / 1000.0; /* µs, as the peer has them: the same numbers are compared */
    }
    if (n > DIXON_MOST) {
        three_deviations(ns, n, is_late);
    } else {
        qsort(scratch, n, sizeof *scratch, compare_doubles);
        if (is_outlier(scratch, n))
            is_late[smallest(ns, n)] = true;
    }
    size_t late = 0;
    for (size_t i = 0; i < n; i++)
        late += is_late[i];
    return late;
}
