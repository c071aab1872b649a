/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - a collection without steps: from here to there, with what the analysis should know beside it.
 *
 *     session [DIR]
 *
 * An inference service answers requests; some of them are recorded. Trouble is reported by functions that return false,
 * and the text says what to do.
 */
#include <ascope/ascope.h>
#include <ascope/sim.h>

#include <stdio.h>

static void answer(struct ascope_sim_stream *stream, uint32_t tokens)
{
    const struct ascope_sim_tensor in[] = { { ASCOPE_SIM_FLOAT16, 2, { tokens, 1024 } },
                                            { ASCOPE_SIM_FLOAT16, 2, { 1024, 1024 } } };
    static const char *const kernels[] = { "MatMul", "SoftmaxV2", "MatMul", "Add" };
    struct ascope_op request;
    ascope_op_begin(&request, "request");
    const uint64_t cache = ascope_sim_malloc(0, tokens * UINT64_C(4096));
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const bool is_product = i % 2 == 0;
        const struct ascope_sim_kernel k = { kernels[i], NULL, in, in, is_product ? 2 : 1, 1 };
        ascope_sim_launch(stream, &k);
    }
    ascope_sim_synchronize(stream);
    ascope_sim_free(0, cache);
    request.scope = ASCOPE_SCOPE_USER;
    ascope_op_end(&request);
}

static int failed(const char *what, const struct ascope_error *e)
{
    fprintf(stderr, "session: %s: %s\n", what, e->text);
    return 1;
}

int main(int n, char **arg)
{
    struct ascope_error e;
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = n > 1 ? arg[1] : ".";
    o.device = "sim";
    o.level = ASCOPE_LEVEL1;
    o.profile_memory = true;
    o.worker_name = "service";

    struct ascope_sim_stream *stream = ascope_sim_stream_new(0);
    answer(stream, 16); /* nobody records this one */

    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s)
        return failed("no collection", &e);
    if (!ascope_metadata(s, "model", "two layers of 1024", &e) ||
        !ascope_metadata_json(s, "requests", "{\"tokens\": [16, 64, 256], \"seed\": 7}", &e))
        return failed("metadata", &e);
    printf("%s\n", ascope_session_path(s));

    if (!ascope_session_start(s, &e))
        return failed("start", &e);
    for (uint32_t tokens = 16; tokens <= 256; tokens *= 4)
        answer(stream, tokens);
    if (!ascope_session_stop(s, &e))
        return failed("stop", &e);

    answer(stream, 1024); /* nor this one */
    if (!ascope_session_end(s, &e))
        return failed("end", &e);
    ascope_sim_stream_free(stream);
    return 0;
}
