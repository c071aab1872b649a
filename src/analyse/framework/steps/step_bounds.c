/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/step_bounds.h"

#include "base/memory/sort.h"
#include "profile/calls.h"

uint32_t step_launching(const int64_t *host_begin_ns, const int64_t *host_end_ns, size_t n, int64_t launch_ns)
{
    const size_t n_begun = SEARCH_FIRST_NOT(i, 0, n, host_begin_ns[i] <= launch_ns);
    return n_begun == 0 || (n_begun == n && launch_ns >= host_end_ns[n - 1]) ? NO_ROW : (uint32_t)(n_begun - 1);
}

bool step_bounds_begin(struct step_bounds *b, const int64_t *host_begin_ns, const int64_t *host_end_ns, size_t n,
                       struct arena *mem)
{
    *b = (struct step_bounds){ .n = n,
                               .host_begin_ns = host_begin_ns,
                               .host_end_ns = host_end_ns,
                               .before_ns = INT64_MIN,
                               .kernel_ns = arena_take(mem, n, sizeof *b->kernel_ns),
                               .first_ns = arena_take(mem, n, sizeof *b->first_ns),
                               .last_ns = arena_take(mem, n, sizeof *b->last_ns) };
    if (!b->kernel_ns || !b->first_ns || !b->last_ns)
        return false;
    for (size_t i = 0; i < n; i++) {
        b->kernel_ns[i] = b->first_ns[i] = INT64_MAX;
        b->last_ns[i] = INT64_MIN;
    }
    return true;
}

static void lower(int64_t *least, int64_t ns)
{
    *least = ns < *least ? ns : *least;
}

static void raise(int64_t *most, int64_t ns)
{
    *most = ns > *most ? ns : *most;
}

uint32_t step_bounds_add(struct step_bounds *b, int64_t launch_ns, int64_t begin_ns, int64_t end_ns, bool is_kernel)
{
    const uint32_t step = step_launching(b->host_begin_ns, b->host_end_ns, b->n, launch_ns);
    if (step == NO_ROW) {
        if (b->n > 0 && launch_ns < b->host_begin_ns[0])
            raise(&b->before_ns, end_ns);
        return NO_ROW;
    }
    lower(&b->first_ns[step], begin_ns);
    if (is_kernel)
        lower(&b->kernel_ns[step], begin_ns);
    raise(&b->last_ns[step], end_ns);
    return step;
}

void step_bounds_end(struct step_bounds *b, int64_t *begin_ns, int64_t *end_ns, int64_t *device_end_ns)
{
    int64_t next_ns = INT64_MAX; /* when the device gets to any of the later steps */
    for (size_t i = b->n; i-- > 0;) {
        lower(&next_ns, b->kernel_ns[i] != INT64_MAX ? b->kernel_ns[i] : b->first_ns[i]);
        b->kernel_ns[i] = next_ns;
    }
    int64_t worked_ns = b->before_ns; /* until when the device works for earlier steps */
    for (size_t i = 0; i < b->n; i++) {
        begin_ns[i] = worked_ns < b->kernel_ns[i] ? worked_ns : b->kernel_ns[i];
        raise(&begin_ns[i], b->host_begin_ns[i]);
        raise(&worked_ns, b->last_ns[i]);
        end_ns[i] = worked_ns;
        raise(&end_ns[i], b->host_end_ns[i]);
        device_end_ns[i] = b->last_ns[i];
    }
    for (size_t i = 0; i + 1 < b->n; i++)
        lower(&end_ns[i], begin_ns[i + 1]);
}
