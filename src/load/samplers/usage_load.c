/* SPDX-License-Identifier: Apache-2.0 */
#include "load/samplers/usage_load.h"

bool usage_load(struct profile *p, struct source *s, struct usage *u, struct error *e)
{
    return gauges_load(s, u, e) && os_calls_load(p, s, u, e) && snapshots_load(p, s, u, e) &&
           cpu_samples_load(p, s, u, e) && dvpp_load(p, s, u, e) && host_counts_load(p, s, u, e);
}
