/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>

#include "base/files/bytes.h"
#include "folder.h"
#include "load/framework/tlv.h"
#include "raw/mindspore.h"
#include "sim/job/generate.h"

static char path[600]; /* where the last simulation went */

static struct sim_options mindspore(uint64_t kernels, unsigned generation, unsigned jit)
{
    struct sim_options o = sim_defaults;
    o.framework = SIM_MINDSPORE;
    o.ms_generation = generation;
    o.jit = jit;
    o.kernels = kernels;
    o.out_dir = folder;
    return o;
}

static void simulate(const struct sim_options *o)
{
    struct error e = { 0 };
    if (!sim_write(o, path, sizeof path, &e))
        fail_msg("%s", e.text);
}

struct text {
    char *at;
    size_t n;
};

static struct text file_read(const char *name)
{
    char whole[700];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    FILE *f = fopen(whole, "rb");
    if (!f)
        fail_msg("%s: missing", name);
    fseek(f, 0, SEEK_END);
    struct text t = { NULL, (size_t)ftell(f) };
    rewind(f);
    t.at = calloc(1, t.n + 1);
    assert_int_equal(fread(t.at, 1, t.n, f), t.n);
    fclose(f);
    return t;
}

static bool file_is_there(const char *name)
{
    char whole[700];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    return access(whole, F_OK) == 0;
}

/* A range of either generation, with the name that the analysis shows. */
struct range {
    uint64_t thread, flow, begin, end;
    char name[400], custom_info[64];
    bool is_stack;
};

static void text_copy(char *out, size_t size, const struct tlv_text *t)
{
    snprintf(out, size, "%.*s", (int)t->len, t->at ? t->at : "");
}

static void range_n(const struct tlv *file, const struct tlv_record *rec, struct range *r)
{
    const struct layout *l = &ms_range_layout;
    struct tlv_text text[MS_TEXTS];
    char part[4][256];
    tlv_texts(file, rec, l->size, text, MS_TEXTS);
    for (size_t i = 0; i < 4; i++)
        text_copy(part[i], sizeof part[i], &text[MS_TEXT_NAME + i]);
    *r = (struct range){ layout_get(l, MS_RANGE_THREAD, rec->data), layout_get(l, MS_RANGE_FLOW, rec->data),
                         layout_get(l, MS_RANGE_BEGIN, rec->data), layout_get(l, MS_RANGE_END, rec->data),
                         .is_stack = layout_get(l, MS_RANGE_IS_STACK, rec->data) };
    const uint64_t module = layout_get(l, MS_RANGE_MODULE, rec->data), event = layout_get(l, MS_RANGE_EVENT, rec->data),
                   stage = layout_get(l, MS_RANGE_STAGE, rec->data);
    assert_true(module < MS_MODULES && event < MS_EVENTS && stage < MS_STAGES);
    if (r->is_stack)
        snprintf(r->name, sizeof r->name, "%s", part[0]);
    else if (layout_get(l, MS_RANGE_IS_GRAPH_DATA, rec->data))
        snprintf(r->name, sizeof r->name, "%.100s::%.100s::%.100s", part[2], part[3], part[0]);
    else if (layout_get(l, MS_RANGE_IS_STAGE, rec->data))
        snprintf(r->name, sizeof r->name, "%s", ms_stages[stage]);
    else if (strcmp(part[0], "flow") == 0)
        snprintf(r->name, sizeof r->name, "flow");
    else
        snprintf(r->name, sizeof r->name, "%s::%s::%s", ms_modules[module], ms_events[event], part[1]);
    text_copy(r->custom_info, sizeof r->custom_info, &text[MS_TEXT_CUSTOM_INFO]);
}

static void range_s(const struct tlv *file, const struct tlv_record *rec, struct range *r)
{
    const struct layout *l = &ms_range_s_layout;
    struct tlv_text text[MS_TEXTS_S];
    tlv_texts(file, rec, l->size, text, MS_TEXTS_S);
    *r = (struct range){ layout_get(l, MS_RANGE_S_THREAD, rec->data), layout_get(l, MS_RANGE_S_FLOW, rec->data),
                         layout_get(l, MS_RANGE_S_BEGIN, rec->data), layout_get(l, MS_RANGE_S_END, rec->data),
                         .is_stack = false };
    text_copy(r->name, sizeof r->name, &text[MS_TEXT_S_NAME]);
    text_copy(r->custom_info, sizeof r->custom_info, &text[MS_TEXT_S_CUSTOM_INFO]);
}

struct ranges {
    struct range *at;
    size_t n;
};

static struct ranges ranges_read(unsigned generation, bool keeps_stacks)
{
    const struct layout *l = generation == SIM_MS_N ? &ms_range_layout : &ms_range_s_layout;
    struct text t = file_read(generation == SIM_MS_N ? "FRAMEWORK/mindspore.op_range" : "FRAMEWORK/op_range_0");
    struct losses lost = { 0 };
    struct tlv in = { { (const uint8_t *)t.at, t.n, 0 }, "op_range", &lost };
    struct ranges all = { calloc(tlv_count(&in, l->size), sizeof *all.at), 0 };
    for (struct tlv_record rec; tlv_next(&in, l->size, &rec);) {
        (generation == SIM_MS_N ? range_n : range_s)(&in, &rec, &all.at[all.n]);
        all.n += keeps_stacks || !all.at[all.n].is_stack;
    }
    assert_int_equal(losses_damage(&lost), 0);
    free(t.at);
    return all;
}

static size_t ranges_named(const struct ranges *r, const char *begin)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += strncmp(r->at[i].name, begin, strlen(begin)) == 0;
    return n;
}

static void both_generations_have_the_same_ranges(void **state)
{
    for (unsigned jit = SIM_EAGER; jit <= SIM_JIT_O2; jit++) {
        struct ranges r[SIM_MS_GENERATIONS];
        for (unsigned g = 0; g < SIM_MS_GENERATIONS; g++) {
            folder_make(NULL);
            const struct sim_options o = mindspore(60, g, jit);
            simulate(&o);
            r[g] = ranges_read(g, false);
            folder_remove(NULL);
        }
        assert_int_equal(r[0].n, r[1].n);
        for (size_t i = 0; i < r[0].n; i++) {
            const struct range *n = &r[SIM_MS_N].at[i], *s = &r[SIM_MS_S].at[i];
            assert_string_equal(n->name, s->name);
            assert_string_equal(n->custom_info, s->custom_info);
            assert_true(n->thread == s->thread && n->flow == s->flow && n->begin == s->begin && n->end == s->end);
        }
        free(r[0].at);
        free(r[1].at);
    }
    (void)state;
}

static void each_way_of_running_has_its_ranges(void **state)
{
    static const struct {
        unsigned jit;
        const char *name;
        size_t n; /* of 60 kernels in 3 steps, without collectives */
    } row[] = {
        { SIM_EAGER, "PynativeFramework::PyNativeLaunchTask::", 60 },
        { SIM_EAGER, "PynativeFramework::PyNativeFrontendTask::", 60 },
        { SIM_EAGER, "PynativeFramework::PyNativeBpropTask::", 3 },
        { SIM_EAGER, "RuntimeFramework::KernelLaunch::", 0 },
        { SIM_EAGER, "Dataset::IteratorConsumer::GetNextAsMap", 3 },
        { SIM_EAGER, "Python::PythonObserved::ProfilerStep#", 3 },
        { SIM_EAGER, "train.py(61):train_one_step", 3 },
        { SIM_EAGER, "Ascend::Mstx::Mark", 3 },
        { SIM_JIT_O0, "RuntimeFramework::KernelLaunch::", 60 },
        { SIM_JIT_O0, "RuntimeFramework::KernelLaunch::Gradients/Default/network-", 22 },
        { SIM_JIT_O1, "RuntimeFramework::KernelInfer::", 60 },
        { SIM_JIT_O0, "RunGraph", 3 },
        { SIM_JIT_O0, "flow", 0 },
        { SIM_JIT_O2, "RuntimeFramework::GraphLaunch::kernel_graph_0", 3 },
        { SIM_JIT_O2, "RuntimeFramework::Kernel", 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct sim_options o = mindspore(60, SIM_MS_N, row[i].jit);
        folder_make(NULL);
        o.comm = false;
        simulate(&o);
        const struct ranges r = ranges_read(SIM_MS_N, true);
        print_message("  %s\n", row[i].name);
        assert_int_equal(ranges_named(&r, row[i].name), row[i].n);
        free(r.at);
        folder_remove(NULL);
    }
    (void)state;
}

/* A flow begins once and ends once, later, on another thread. */
static void flows_connect_two_threads(void **state)
{
    const struct sim_options o = mindspore(200, SIM_MS_N, SIM_EAGER);
    simulate(&o);
    const struct ranges r = ranges_read(SIM_MS_N, true);
    const size_t n = ranges_named(&r, "flow");
    const struct range **begin = calloc(n, sizeof *begin);
    bool *has_end = calloc(n, sizeof *has_end);
    for (size_t i = 0; i < r.n; i++) {
        if (strcmp(r.at[i].name, "flow") != 0)
            continue;
        assert_true(r.at[i].flow < n && !begin[r.at[i].flow]);
        begin[r.at[i].flow] = &r.at[i];
    }
    for (size_t i = 0; i < r.n; i++) {
        const uint64_t id = r.at[i].flow;
        if (strcmp(r.at[i].name, "flow") == 0 || id == UINT64_MAX)
            continue;
        assert_true(id < n && !has_end[id]);
        assert_true(begin[id]->end <= r.at[i].begin);
        assert_true(begin[id]->thread != r.at[i].thread);
        has_end[id] = true;
    }
    for (size_t i = 0; i < n; i++)
        assert_true(has_end[i]);
    assert_true(n > 3 * 200);
    free(begin);
    free(has_end);
    free(r.at);
    (void)state;
}

/* One thread launches, one after the other. */
static void launches_do_not_overlap(void **state)
{
    for (unsigned jit = SIM_EAGER; jit <= SIM_JIT_O0; jit++) {
        folder_make(NULL);
        const struct sim_options o = mindspore(300, SIM_MS_N, jit);
        simulate(&o);
        const struct ranges r = ranges_read(SIM_MS_N, true);
        uint64_t end = 0;
        for (size_t i = 0; i < r.n; i++) {
            assert_true(r.at[i].begin > 0 && r.at[i].begin <= r.at[i].end);
            if (!strstr(r.at[i].name, "LaunchTask::") && !strstr(r.at[i].name, "::KernelLaunch::"))
                continue;
            assert_true(r.at[i].begin > end);
            end = r.at[i].end;
        }
        free(r.at);
        folder_remove(NULL);
    }
    (void)state;
}

static void memory_adds_up(void **state)
{
    const struct layout *l = &ms_memory_layout;
    const struct sim_options o = mindspore(0, SIM_MS_N, SIM_EAGER);
    simulate(&o);
    struct text t = file_read("FRAMEWORK/mindspore.memory_usage");
    struct losses lost = { 0 };
    struct tlv in = { { (const uint8_t *)t.at, t.n, 0 }, "memory_usage", &lost };
    enum { PLACES = 64 };
    struct {
        uint64_t address, bytes;
    } place[PLACES] = { { 0, 0 } };
    uint64_t used = 0;
    size_t n_taken = 0, n_released = 0;
    for (struct tlv_record rec; tlv_next(&in, l->size, &rec);) {
        const uint64_t address = layout_get(l, MS_MEMORY_ADDRESS, rec.data),
                       size = layout_get(l, MS_MEMORY_SIZE, rec.data);
        size_t i = 0;
        while (i < PLACES - 1 && place[i].address != address && place[i].address != 0)
            i++;
        place[i].address = address;
        assert_int_equal(size == UINT64_MAX, place[i].bytes > 0);
        used += size == UINT64_MAX ? 0 - place[i].bytes : size;
        place[i].bytes = size == UINT64_MAX ? 0 : size;
        n_taken += size != UINT64_MAX;
        n_released += size == UINT64_MAX;
        assert_int_equal(layout_get(l, MS_MEMORY_USED, rec.data), used);
        assert_true(layout_get(l, MS_MEMORY_RESERVED, rec.data) >= used);
        assert_true(layout_get(l, MS_MEMORY_PEAK, rec.data) >= used);
    }
    assert_true(n_taken > 100 && n_released > 50 && n_released < n_taken); /* a few are never released */
    assert_int_equal(losses_damage(&lost), 0);
    free(t.at);
    (void)state;
}

static void files_are_those_of_the_generation(void **state)
{
    static const struct {
        const char *name;
        bool in[SIM_MS_GENERATIONS], without_device;
    } row[] = {
        { "profiler_info_0.json", { true, true }, true },
        { "profiler_metadata.json", { true, true }, true },
        { "FRAMEWORK/mindspore.op_range", { true, false }, true },
        { "FRAMEWORK/mindspore.memory_usage", { true, false }, true },
        { "FRAMEWORK/mindspore.record_shapes", { true, false }, true },
        { "FRAMEWORK/op_range_0", { false, true }, true },
        { "FRAMEWORK/operator_memory_0.csv", { false, true }, true },
        { "FRAMEWORK/cpu_ms_memory_record_0.txt", { true, true }, true },
        { "FRAMEWORK/cpu_op_execute_timestamp_0.txt", { true, true }, true },
        { "FRAMEWORK/pipeline_profiling_0.json", { true, true }, true },
        { "FRAMEWORK/minddata_cpu_utilization_0.json", { true, true }, true },
        { "FRAMEWORK/device_queue_profiling_0.txt", { true, true }, false },
    };
    for (unsigned g = 0; g < SIM_MS_GENERATIONS; g++) {
        for (uint64_t kernels = 0; kernels <= 30; kernels += 30) {
            folder_make(NULL);
            const struct sim_options o = mindspore(kernels, g, SIM_EAGER);
            simulate(&o);
            for (size_t i = 0; i < ROWS(row); i++) {
                print_message("  %s\n", row[i].name);
                assert_int_equal(file_is_there(row[i].name), row[i].in[g] && (kernels > 0 || row[i].without_device));
            }
            assert_int_equal(file_is_there("FRAMEWORK/dataset_iterator_profiling_0.txt"), kernels == 0);
            struct text info = file_read("profiler_info_0.json");
            assert_non_null(strstr(info.at, "\"simulated\": true"));
            assert_int_equal(strstr(info.at, "\"NPU\"") != NULL, kernels > 0);
            free(info.at);
            folder_remove(NULL);
        }
    }
    (void)state;
}

static void every_rank_has_its_own_directory(void **state)
{
    struct sim_options o = mindspore(90, SIM_MS_N, SIM_JIT_O0);
    o.processes = 3;
    simulate(&o);
    assert_int_equal(folder_count(), 3);
    assert_non_null(strstr(path, "/ascope-sim_"));
    assert_non_null(strstr(path, "_ascend_ms"));
    struct text info = file_read("profiler_info_2.json");
    assert_non_null(strstr(info.at, "\"rank_id\": \"2\""));
    free(info.at);
    (void)state;
}

int main(void)
{
#define IN_A_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)
    const struct CMUnitTest test[] = {
        cmocka_unit_test(both_generations_have_the_same_ranges),
        cmocka_unit_test(each_way_of_running_has_its_ranges),
        IN_A_FOLDER(flows_connect_two_threads),
        cmocka_unit_test(launches_do_not_overlap),
        IN_A_FOLDER(memory_adds_up),
        cmocka_unit_test(files_are_those_of_the_generation),
        IN_A_FOLDER(every_rank_has_its_own_directory),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
