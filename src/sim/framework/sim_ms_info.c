/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_ms_info.h"

#include <stdio.h>

#include "sim/job/sim_metadata.h"

enum { INFO_MOST = 4096 };

static const char *boolean(bool is_true)
{
    return is_true ? "true" : "false";
}

static const char *jit_level(const struct sim_options *o)
{
    static const char *const name[] = {
        [SIM_EAGER] = "", [SIM_JIT_O0] = "O0", [SIM_JIT_O1] = "O1", [SIM_JIT_O2] = "O2"
    };
    return name[o->jit];
}

static size_t parameters_n(const struct sim_process *p, char *text, size_t size)
{
    const struct sim_options *o = p->o;
    const bool has_npu = o->kernels > 0, samples = has_npu && o->samplers;
    return (size_t)snprintf(
        text, size,
        "{\n    \"profiler_parameters\": {\n        \"is_set_schedule\": true,\n        \"output_path\": \"./data\",\n"
        "        \"profiler_level\": \"%s\",\n        \"activities\": [\n            \"CPU\"%s\n        ],\n"
        "        \"aic_metrics\": \"%s\",\n        \"with_stack\": true,\n        \"profile_memory\": true,\n"
        "        \"data_process\": true,\n        \"parallel_strategy\": false,\n        \"start_profile\": false,\n"
        "        \"l2_cache\": %s,\n        \"hbm_ddr\": %s,\n        \"pcie\": %s,\n        \"sys_io\": %s,\n"
        "        \"sys_interconnection\": %s,\n        \"host_sys\": [],\n        \"sync_enable\": true,\n"
        "        \"data_simplification\": false,\n        \"record_shapes\": true,\n        \"export_type\": [\n"
        "            \"text\"\n        ],\n        \"mstx\": %s,\n        \"mstx_domain_include\": [],\n"
        "        \"mstx_domain_exclude\": [],\n        \"schedule\": {\n            \"wait\": 0,\n            \"active\": %u,\n"
        "            \"repeat\": 1,\n            \"skip_first\": 0,\n            \"skip_first_wait\": 0,\n            \"warmup\": 0\n"
        "        }\n    },\n"
        "    \"ms_profiler_info\": {\n        \"rank_id\": \"%u\",\n        \"device_id\": \"%u\"\n    },\n"
        "    \"cann_profiler_info\": {},\n    \"analysis_cost_time\": {},\n    \"ms_version\": \"2.7.0\",\n"
        "    \"cann_version\": \"8.3.RC1\",\n    \"jit_level\": \"%s\",\n    \"simulated\": true\n}",
        o->level0 ? "Level0" : "Level2", has_npu ? ",\n            \"NPU\"" : "", o->metrics, boolean(samples),
        boolean(samples), boolean(samples), boolean(samples), boolean(samples), boolean(o->marks), o->steps, p->index,
        sim_device_number(p), jit_level(o));
}

static size_t parameters_s(const struct sim_process *p, char *text, size_t size)
{
    const struct sim_options *o = p->o;
    const bool has_npu = o->kernels > 0, samples = has_npu && o->samplers;
    return (size_t)snprintf(
        text, size,
        "{\n    \"profiler_parameters\": {\n        \"output_path\": \"./data\",\n        \"profiler_level\": \"%s\",\n"
        "        \"activities\": [\n            \"CPU\"%s\n        ],\n        \"aicore_metrics\": \"%s\",\n"
        "        \"with_stack\": false,\n        \"profile_memory\": true,\n        \"data_process\": true,\n"
        "        \"parallel_strategy\": false,\n        \"start_profile\": false,\n        \"l2_cache\": %s,\n"
        "        \"hbm_ddr\": %s,\n        \"pcie\": %s,\n        \"sync_enable\": true,\n"
        "        \"data_simplification\": false,\n        \"mstx\": %s,\n        \"schedule\": {\n            \"wait\": 0,\n"
        "            \"active\": %u,\n            \"repeat\": 1,\n            \"skip_first\": 0,\n"
        "            \"skip_first_wait\": 0,\n            \"warm_up\": 0\n        },\n        \"is_set_schedule\": true\n    },\n"
        "    \"ms_profiler_info\": {\n        \"context_mode\": %d,\n        \"rank_id\": \"%u\"\n    },\n"
        "    \"cann_profiler_info\": {},\n    \"analysis_cost_time\": {},\n    \"ms_version\": \"2.5.0\",\n"
        "    \"context_mode\": %d,\n    \"jit_level\": \"%s\",\n    \"simulated\": true\n}",
        o->level0 ? "Level0" : "Level2", has_npu ? ",\n            \"NPU\"" : "", o->metrics, boolean(samples),
        boolean(samples), boolean(samples), boolean(o->marks), o->steps, o->jit == SIM_EAGER, p->index,
        o->jit == SIM_EAGER, jit_level(o));
}

void ms_info_write(struct sim_ms *m)
{
    const struct sim_process *p = m->base.of;
    char text[INFO_MOST], name[64];
    const size_t n = (p->o->ms_generation == SIM_MS_N ? parameters_n : parameters_s)(p, text, sizeof text);
    snprintf(name, sizeof name, "profiler_info_%u.json", p->index);
    folder_file(&m->base.writer, FOLDER_SESSION, name, text, n);
    front_metadata_write(&m->base);
}
