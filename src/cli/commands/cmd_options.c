/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "cli/msprof/msprof_line.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "collect/options/option_rows.h"
#include "raw/chip.h"
#include "report/term.h"

/* Which result files each option of profiling_options and acl.json yields after an export: the option reference's
 * table, completed. tests/command/export/test_tf_arguments.py compares it with what is exported. */

/* One line of the report: an option, or a value of it. Lists have commas between their items. */
struct option_result {
    enum option_key_id key;
    const char *values; /* for which it holds, with blanks between them; NULL: every one but off, none and "" */
    const char *layers; /* of the timeline; "": none */
    const char *files;  /* in mindstudio_profiler_output, without time and device; "": none of its own */
    bool needs_tasks;   /* has no result if task_time is off */
};

/* Names in the documented dialect. */
/* clang-format off */
static const struct option_result results[] = {
    { KEY_OUTPUT, NULL, "AI Core Freq", "msprof_*.json", false },
    { KEY_TASK_TIME, "on l0 l1 l2 l3", "CANN, Ascend Hardware, HCCL, Overlap Analysis",
      "op_summary_*.csv, task_time_*.csv, api_statistic_*.csv", false },
    { KEY_TASK_TIME, "on l1 l2 l3", "", "op_statistic_*.csv, hccl_statistic_*.csv, fusion_op_*.csv (of fused operators)", false },
    { KEY_TRAINING_TRACE, "on", "Ascend Hardware (Step Trace)", "step_trace_*.csv, step_trace_*.json", false },
    { KEY_ASCENDCL, "on", "CANN", "api_statistic_*.csv", false },
    { KEY_RUNTIME_API, "on", "CANN (Runtime)", "api_statistic_*.csv", false },
    { KEY_GE_API, "l0 l1", "CANN (graph engine)", "api_statistic_*.csv", false },
    { KEY_HCCL, "on", "CANN (HCCL)", "api_statistic_*.csv", false },
    { KEY_AICPU, "on", "", "aicpu_*.csv, dp_*.csv (of data queues)", false },
    { KEY_AIC_METRICS, NULL, "", "op_summary_*.csv (columns of counters)", true },
    { KEY_L2, "on", "", "l2_cache_*.csv, soc_pmu_*.csv (on some chips)", true },
    { KEY_MSPROFTX, "on", "the program's name", "msprof_tx_*.csv, msprof_tx_*.json", false },
    { KEY_TASK_MEMORY, "on", "", "memory_record_*.csv, operator_memory_*.csv, static_op_mem_*.csv (of loaded graphs)", false },
    { KEY_HARDWARE_MEM_FREQ, NULL, "LLC, HBM, NPU MEM",
      "hbm_*.csv (ddr_*.csv on some chips), llc_read_write_*.csv, npu_mem_*.csv, npu_module_mem_*.csv", false },
    { KEY_IO_FREQ, NULL, "NIC, RoCE", "nic_*.csv, roce_*.csv", false },
    { KEY_INTERCONNECTION_FREQ, NULL, "PCIe, HCCS", "pcie_*.csv, hccs_*.csv", false },
    { KEY_CPU_FREQ, NULL, "", "ai_cpu_pmu_events_*.csv, ctrl_cpu_pmu_events_*.csv, ts_cpu_pmu_events_*.csv, *_top_function_*.csv", false },
    { KEY_DVPP_FREQ, NULL, "", "dvpp_*.csv", false },
    { KEY_HOST_SYS, "cpu", "CPU Usage", "host_cpu_usage_*.csv", false },
    { KEY_HOST_SYS, "mem", "Memory Usage", "host_mem_usage_*.csv", false },
    { KEY_HOST_SYS, "disk", "Disk Usage", "host_disk_usage_*.csv", false },
    { KEY_HOST_SYS, "network", "Network Usage", "host_network_usage_*.csv", false },
    { KEY_HOST_SYS, "osrt", "OS Runtime API", "os_runtime_statistic_*.csv", false },
    { KEY_HOST_USAGE, "cpu", "", "cpu_usage_*.csv, process_cpu_usage_*.csv", false },
    { KEY_HOST_USAGE, "mem", "", "sys_mem_*.csv, process_mem_*.csv", false },
};
/* clang-format on */

/* Whether `list` (separated by commas) contains one of `words` (separated by blanks). */
static bool has_one(const char *list, const char *words)
{
    for (const char *w = words; *w; w += strspn(w, " ")) {
        const size_t n = strcspn(w, " ");
        for (const char *at = list; *at; at += strspn(at, ",")) {
            const size_t m = strcspn(at, ",");
            if (m == n && memcmp(at, w, n) == 0)
                return true;
            at += m;
        }
        w += n;
    }
    return false;
}

static bool holds(const struct options_json *j, const struct option_result *r)
{
    const char *const value = j->key[r->key].value;
    if (r->key == KEY_TRAINING_TRACE && j->front_end == ASCOPE_FRONT_END_ACL_JSON)
        return true; /* always on there */
    if (r->key == KEY_ASCENDCL && j->front_end == ASCOPE_FRONT_END_TENSORFLOW)
        return true; /* always on there */
    if (!value || !*value || j->key[r->key].has_no_effect)
        return false;
    if (r->needs_tasks && strcmp(j->key[KEY_TASK_TIME].value, "off") == 0)
        return false;
    return r->values ? has_one(value, r->values) : strcmp(value, "off") != 0 && strcmp(value, "none") != 0;
}

/* The next line that applies to these options, starting at *at (0 at first); NULL: no more. */
static const struct option_result *option_result_next(const struct options_json *j, size_t *at)
{
    while (j->is_on && *at < sizeof results / sizeof *results) {
        const struct option_result *const r = &results[(*at)++];
        if (holds(j, r))
            return r;
    }
    return NULL;
}

/* One check of a text. */
struct options_one_check {
    const struct arguments *a;
    const char *source; /* for messages: the name of the file, or "options" */
    json_t *remarks;    /* with --json; otherwise NULL */
};

static void print_remark(void *to, const struct options_remark *r)
{
    static const char *const words[] = { "note", "warning", "error" };
    const struct options_one_check *const c = to;
    struct remark_line line;
    options_remark_line(&line, c->source, r);
    if (c->remarks)
        json_array_append_new(c->remarks, json_pack("{s:s, s:i, s:i, s:o, s:s, s:o}", "severity", words[r->severity],
                                                    "line", (int)r->line, "column", (int)r->column, "key",
                                                    text_or_null(r->key), "code", r->code, "text", text_json(r->text)));
    if (r->severity == ASCOPE_ERROR || !c->a->quiet)
        complain("%s%s%s", r->severity == ASCOPE_ERROR ? "" : words[r->severity],
                 r->severity == ASCOPE_ERROR ? "" : ": ", line.text);
}

/* ---- for people ---- */

enum { KEY_COLUMNS = 26, VALUE_COLUMNS = 30, LAYER_COLUMNS = 56 };

static void put_cell(const struct term *t, const char *text, int columns)
{
    const int width = term_width(text);
    term_text(t, text, 0);
    fprintf(t->to, "%*s", width < columns ? columns - width : 1, "");
}

static const char *state_of(const struct options_json *j, size_t i)
{
    return j->key[i].has_no_effect ? "given, without effect" : j->key[i].is_given ? "given" : "default";
}

static void put_heading(const struct term *t, const char *text)
{
    fprintf(t->to, "\n%s%s%s\n", term_ink(t, INK_BOLD), text, term_ink(t, INK_END));
}

static void options_put_text(const struct term *t, const struct options_one_check *c, const struct options_json *j)
{
    const bool is_acl = j->front_end == ASCOPE_FRONT_END_ACL_JSON;
    fprintf(t->to, "%s", term_ink(t, INK_BOLD));
    term_text(t, c->source, 0);
    fprintf(t->to, "%s: %s, accepted; profiling is %s", term_ink(t, INK_END), is_acl ? "acl.json" : "profiling_options",
            j->is_on ? "on" : "off");
    if (j->is_on)
        fprintf(t->to, ", data mask 0x%llx", (unsigned long long)options_json_mask(j));
    fputc('\n', t->to);
    put_heading(t, "option                    value                         from");
    for (size_t i = 0; i < OPTION_KEYS; i++) {
        if (!j->key[i].value)
            continue;
        put_cell(t, option_keys[i].name, KEY_COLUMNS);
        put_cell(t, *j->key[i].value ? j->key[i].value : "\"\"", VALUE_COLUMNS);
        fprintf(t->to, "%s\n", state_of(j, i));
    }
    if (!j->is_on)
        return;
    put_heading(
        t,
        "results                   layers of msprof_*.json                                 files, after ascope export");
    size_t at = 0;
    for (const struct option_result *r; (r = option_result_next(j, &at));) {
        put_cell(t, option_keys[r->key].name, KEY_COLUMNS);
        put_cell(t, *r->layers ? r->layers : "-", LAYER_COLUMNS);
        fprintf(t->to, "%s\n", *r->files ? r->files : "-");
    }
}

/* ---- for machines ---- */

static json_t *list_json(const char *items)
{
    json_t *const list = json_array();
    for (const char *at = items; *at;) {
        const size_t n = strcspn(at, ",");
        json_array_append_new(list, json_stringn(at, n));
        at += n + strspn(at + n, ", ");
    }
    return list;
}

static json_t *results_json(const struct options_json *j)
{
    json_t *const list = json_array();
    size_t at = 0;
    for (const struct option_result *r; (r = option_result_next(j, &at));)
        json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "option", option_keys[r->key].name, "layers",
                                              list_json(r->layers), "files", list_json(r->files)));
    return list;
}

static enum exit_status put_json(const struct options_one_check *c, const struct options_json *j,
                                 enum exit_status status)
{
    json_t *const list = json_array();
    char mask[24];
    const bool is_good = status == STATUS_DONE;
    snprintf(mask, sizeof mask, "0x%llx", is_good && j->is_on ? (unsigned long long)options_json_mask(j) : 0ull);
    for (size_t i = 0; is_good && i < OPTION_KEYS; i++)
        if (j->key[i].value)
            json_array_append_new(list, json_pack("{s:s, s:o, s:b, s:b}", "key", option_keys[i].name, "value",
                                                  text_json(j->key[i].value), "given", j->key[i].is_given, "effective",
                                                  !j->key[i].has_no_effect));
    json_t *const more =
        json_pack("{s:s, s:b, s:b, s:s, s:o, s:o}", "front_end",
                  j->front_end == ASCOPE_FRONT_END_ACL_JSON ? "acl.json" : "profiling_options", "accepted", is_good,
                  "profiling", j->is_on, "data_mask", mask, "results", results_json(j), "remarks", c->remarks);
    return json_report_more(c->a, "options", list, more, status);
}

/* ---- the command ---- */

/* The chip of --chip or of this machine; *chip is -1 if that is unknown. False: reported. */
static bool chip_asked(const struct arguments *a, int *chip)
{
    struct devices_online devices;
    const char *const asked = a->chip;
    if (!asked) {
        *chip = machine_here(&devices).chip;
        return true;
    }
    const struct chip *const found = chip_find(asked);
    char *end;
    const unsigned long number = strtoul(asked, &end, 10);
    *chip = found ? found->platform : (int)number;
    if (found || (*asked >= '0' && *asked <= '9' && !*end && number <= INT_MAX))
        return true;
    complain("--chip %s: unknown chip; see ascope help options", *asked ? asked : "\"\"");
    return false;
}

static uint32_t front_end_asked(const struct arguments *a)
{
    return !a->form ? 0 : strcmp(a->form, "acl.json") == 0 ? ASCOPE_FRONT_END_ACL_JSON : ASCOPE_FRONT_END_TENSORFLOW;
}

static int check_text(const struct arguments *a, const char *source, const char *text, size_t n, int chip)
{
    struct options_one_check c = { .a = a, .source = source, .remarks = a->json ? json_array() : NULL };
    const struct options_request request = { .front_end = front_end_asked(a),
                                             .chip = chip,
                                             .program_dir = "the program's directory",
                                             .say = print_remark,
                                             .to = &c };
    struct options_json j;
    struct term t;
    enum exit_status status = options_json_read(&j, text, n, &request) ? STATUS_DONE : STATUS_NOTHING;
    term_init(&t, stdout);
    if (a->json)
        status = put_json(&c, &j, status);
    else if (status == STATUS_DONE && !a->quiet)
        options_put_text(&t, &c, &j);
    options_json_fini(&j);
    return exit_code(a->face, status);
}

static bool is_text(const char *word)
{
    word += strspn(word, " \t\r\n");
    return *word == '{' || *word == '[' || !*word;
}

int run_options_command(struct arguments *a)
{
    struct error e = { 0 };
    size_t n = 0;
    int chip;
    if (a->n_words != 2 || strcmp(a->word[0], "check") != 0) {
        complain("options: expected check and a file or a JSON text; see ascope help options");
        return exit_code(a->face, STATUS_USAGE);
    }
    if (!chip_asked(a, &chip))
        return exit_code(a->face, STATUS_PARAMETER);
    if (is_text(a->word[1]))
        return check_text(a, "options", a->word[1], strlen(a->word[1]), chip);
    char *const text = options_file_read(a->word[1], &n, &e);
    if (!text) {
        complain("%s", e.text);
        return exit_code(a->face, STATUS_PATH);
    }
    const int code = check_text(a, a->word[1], text, n, chip);
    free(text);
    return code;
}
