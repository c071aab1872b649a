/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

/* A part has about 1 MB of text: there are many parts for the threads, and each is large beside the cost of handing it
 * over. */
enum { ROWS_PER_PART = 2048 };

size_t host_parts(size_t n_rows)
{
    return n_rows / ROWS_PER_PART + (n_rows % ROWS_PER_PART > 0);
}

bool host_part(size_t n_rows, size_t *i, size_t *first, size_t *end)
{
    const size_t n_parts = host_parts(n_rows);
    if (*i >= n_parts) {
        *i -= n_parts;
        return false;
    }
    *first = *i * ROWS_PER_PART;
    *end = n_rows - *first < ROWS_PER_PART ? n_rows : *first + ROWS_PER_PART;
    return true;
}

void host_arg_name(struct trace *t, const char *key, name_id name)
{
    if (name != NO_NAME)
        trace_arg_name(t, key, name);
}

int64_t host_earliest(const int64_t *begin_ns, size_t n, int64_t least)
{
    for (size_t i = 0; i < n; i++)
        least = begin_ns[i] < least ? begin_ns[i] : least;
    return least;
}
