/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a database and as the text results of a rank. The first byte says which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/job/job.h"
#include "fuzz.h"

static char dir[] = "/tmp/ascope-fuzz-rank-XXXXXX";
static const char *const names_of[] = { "rank.db", "comm.db", "communication.json", "communication_matrix.json",
                                        "step_trace_time.csv" };
enum { FILES = sizeof names_of / sizeof *names_of };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_made;
    char path[FILES][64];
    if (size == 0)
        return 0;
    if (!is_made && !(is_made = mkdtemp(dir) != NULL))
        abort();
    for (size_t i = 0; i < FILES; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", dir, names_of[i]);
        unlink(path[i]);
    }
    const size_t which = data[0] % FILES;
    FILE *f = fopen(path[which], "w");
    if (f) {
        fwrite(data + 1, 1, size - 1, f);
        fclose(f);
    }
    struct job j;
    struct error e = { 0 };
    struct arena *mem = arena_new();
    if (mem && job_init(&j, &e)) {
        struct job_rank *r = list_add(&j.ranks, j.mem);
        if (r)
            *r = (struct job_rank){ .path = dir,
                                    .output = which > 1 ? dir : NULL,
                                    .db = which == 0 ? path[0] : NULL,
                                    .comm = which == 1 ? path[1] : NULL,
                                    .source = which > 1 ? SOURCE_TEXT : SOURCE_DB };
        struct rank_summary s;
        if (r)
            job_summary(&j, 0, RANK_ALL, mem, &s, NULL, &e);
        job_fini(&j);
    }
    arena_free(mem);
    return 0;
}
