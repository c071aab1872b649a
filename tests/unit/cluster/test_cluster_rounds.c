/* SPDX-License-Identifier: Apache-2.0 */
/* Modes that keep more of all ranks than there is room for get the ranks again, one after the other: the results are
 * the same. */
#include "test.h"

#include <stdlib.h>

#include "cluster/cluster.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/rank/summary_file.h"
#include "folder.h"
#include "profile/calls.h"

enum { RANKS = 5, OPS = 6 };

/* Collectives of one group; rank 3 comes last to each of them. */
static void save_rank(const char *dir, int64_t rank)
{
    struct error e = { 0 };
    struct names *names = names_new();
    struct arena *mem = arena_new();
    int64_t id[] = { 1 }, begin[] = { 0 }, end[] = { 1000000 }, task_begin[OPS], task_end[OPS], op_begin[OPS],
            op_end[OPS], launch[OPS], nobody[OPS];
    uint64_t connection[OPS], thread[OPS] = { 0 };
    uint32_t kernel[OPS], stream[OPS] = { 0 }, block[OPS] = { 0 };
    name_id name[OPS], group[OPS], type[OPS], data[OPS], op_type[OPS];
    double count[OPS];
    for (uint32_t i = 0; i < OPS; i++) {
        char text[40];
        snprintf(text, sizeof text, "hcom_allReduce__741_%u_1", i);
        name[i] = names_addz(names, text);
        group[i] = names_addz(names, "group");
        type[i] = names_addz(names, "hcom_allReduce_");
        data[i] = names_addz(names, "FP16");
        op_type[i] = names_addz(names, i % 2 ? "MatMul" : "Add");
        op_end[i] = 100000 * (i + 1) + 50000;
        op_begin[i] = op_end[i] - (rank == 3 ? 1000 : 20000 + 10 * rank + i);
        launch[i] = op_begin[i] - 500;
        task_begin[i] = op_begin[i] - 9000 + 7 * rank;
        task_end[i] = op_begin[i] - 100;
        connection[i] = kernel[i] = i;
        nobody[i] = -1;
        count[i] = 4096;
    }
    struct rank r = { .has = RANK_STEPS | RANK_COLLECTIVES | RANK_TASKS | RANK_CALLS, .names = names, .mem = mem };
    r.identity = (struct rank_identity){ .has_rank = true, .rank = rank, .path = "/a" };
    r.steps = (struct rank_steps){ 1, id, begin, end, name };
    r.collectives = (struct rank_collectives){ OPS,    name,   group,      type,  data,   op_begin,
                                               op_end, launch, connection, count, nobody, nobody };
    r.tasks = (struct rank_tasks){ OPS, op_type, task_begin, task_end, connection, kernel, stream };
    r.kernels =
        (struct rank_kernels){ OPS, op_type, op_type, op_type, op_type, op_type, op_type, block, op_type, op_type };
    r.calls = (struct rank_calls){ OPS, op_type, op_type, launch, op_begin, connection, thread };
    struct rank_summary s;
    char path[600], file[SUMMARY_NAME];
    snprintf(path, sizeof path, "%s/%s", dir, summary_name(file, rank));
    assert_true(rank_summarise(&r, 0, &s, &e));
    assert_true(summary_save(&s, 1, 1, path, &e));
    arena_free(mem);
    names_free(names);
}

static void run_all(const char *in, const char *out, uint64_t modes_bytes)
{
    const struct mode *all[64];
    size_t n = 0;
    for (size_t i = 0; modes[i]; i++)
        if (!modes[i]->is_part)
            all[n++] = modes[i];
    struct cluster_options options = { .wants_text = true, .is_all_modes = true };
    struct progress progress;
    struct cluster_result result;
    struct job j;
    struct error e = { 0 };
    progress_begin(&progress, stderr, false);
    assert_true(job_init(&j, &e) && job_find(&j, in, &e) && job_complete(&j, NULL, &e));
    assert_int_equal(j.ranks.n, RANKS);
    const struct cluster_request request = { .mode = all,
                                             .n_modes = n,
                                             .options = &options,
                                             .out_dir = out,
                                             .n_threads = 2,
                                             .memory_bytes = 1 << 20,
                                             .modes_bytes = modes_bytes,
                                             .progress = &progress };
    if (!cluster_run(&j, &request, &result, &e))
        fail_msg("%s", e.text);
    assert_int_equal(result.n_ranks, RANKS);
    assert_true(result.files.n >= 8);
    cluster_result_fini(&result);
    job_fini(&j);
    progress_end(&progress);
}

static void results_do_not_depend_on_the_room_for_modes(void **state)
{
    char in[80], out[2][80], command[400];
    snprintf(in, sizeof in, "%s/in", folder);
    assert_int_equal(mkdir(in, 0700), 0);
    for (int64_t rank = 0; rank < RANKS; rank++)
        save_rank(in, rank);
    for (size_t i = 0; i < ROWS(out); i++) {
        snprintf(out[i], sizeof out[i], "%s/out%zu", folder, i);
        run_all(in, out[i], i); /* no limit; a byte: each mode that can waits for all others */
    }
    snprintf(command, sizeof command, "diff -r %s %s && test -s %s/SlowRankAnalysis/rank_stats.csv", out[0], out[1],
             out[1]);
    assert_int_equal(system(command), 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(results_do_not_depend_on_the_room_for_modes, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
