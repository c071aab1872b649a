/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>

#include "ascope/recorder_options.h"
#include "collect/describe/json_text.h"
#include "dynamic/config.h"
#include "folder.h"

static char said[8192];

static void note(enum ascope_severity severity, const char *text, void *user)
{
    (void)severity, (void)user;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

static bool read_text(struct config *c, const char *text, struct error *e)
{
    said[0] = '\0';
    return config_read(c, &config_kinds[ASCOPE_DYNAMIC_PYTORCH], text, strlen(text), true, note, NULL, e);
}

/* A key of the recorder as text; "" if it is not set. */
static void assert_option(const struct config *c, const char *name, const char *wanted)
{
    char *const text = ascope_options_get(&c->options, name);
    assert_string_equal(text ? text : "", wanted);
    free(text);
}

static void every_number_and_switch_is_checked(void **state)
{
    static const struct {
        const char *what, *json;
        int64_t start, active, warmup;
        const char *says; /* NULL: nothing */
    } row[] = {
        { "nothing: all defaults", "{}", 0, 1, 0, NULL },
        { "an empty file: all defaults", "", 0, 1, 0, NULL },
        { "the next step", "{\"start_step\": -1}", -1, 1, 0, NULL },
        { "a step", "{\"start_step\": 12, \"active\": 3, \"warmup\": 2}", 12, 3, 2, NULL },
        { "a start before -1", "{\n\"start_step\": -2}", 0, 1, 0,
          "line 2: start_step: invalid value -2; using 0; accepted: -1 (the next step), 0 (no profiling) or the number of a step\n" },
        { "3.0 is no whole number", "{\"start_step\": 3.0}", 0, 1, 0,
          "line 1: start_step: invalid value 3.0; using 0;" },
        { "a text is no step", "{\"start_step\": \"3\"}", 0, 1, 0,
          "line 1: start_step: invalid value \"3\"; using 0;" },
        { "null is no step", "{\"start_step\": null}", 0, 1, 0, "line 1: start_step: invalid value null; using 0;" },
        { "true counts as 1", "{\"start_step\": true, \"active\": true, \"warmup\": true}", 1, 1, 1, NULL },
        { "false is no number of active steps", "{\"active\": false}", 0, 1, 0,
          "line 1: active: invalid value false; using 1; accepted: a number of steps from 1\n" },
        { "no active step", "{\n\n\"active\": 0}", 0, 1, 0, "line 3: active: invalid value 0; using 1; accepted:" },
        { "a warm-up below 0", "{\"warmup\": -1}", 0, 1, 0,
          "line 1: warmup: invalid value -1; using 0; accepted: a number of steps from 0\n" },
        { "enormous numbers stay numbers", "{\"start_step\": 99999999999999999999, \"active\": 1e3}", INT64_MAX, 1, 0,
          "line 1: active: invalid value 1e3; using 1;" },
        { "of equal keys the last one counts", "{\"start_step\": 4, \"start_step\": 5}", 5, 1, 0, NULL },
        { "a key with an escape is the same key", "{\"st\\u0061rt_step\": 7}", 7, 1, 0, NULL },
        { "an unknown key", "{\"start_step\": 1,\n\"stat_step\": 5}", 1, 1, 0,
          "line 2: unknown key \"stat_step\" is ignored\n" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct config c;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        assert_true(read_text(&c, row[i].json, &e));
        assert_int_equal(c.start_step, row[i].start);
        assert_int_equal(c.active, row[i].active);
        assert_int_equal(c.warmup, row[i].warmup);
        assert_int_equal(c.when, row[i].start == 0 ? WHEN_NEVER : row[i].start < 0 ? WHEN_NEXT : WHEN_AT);
        if (row[i].says ? !strstr(said, row[i].says) : said[0] != '\0')
            fail_msg("wanted: %s\nfound: %s", row[i].says ? row[i].says : "nothing", said);
        config_fini(&c);
    }
    (void)state;
}

static void ranks_are_chosen(void **state)
{
    static const struct {
        const char *what, *json;
        bool has[4]; /* -1, 0, 1, 8 */
        const char *says;
    } row[] = {
        { "without is_rank all, whatever the list says", "{\"rank_list\": [1]}", { true, true, true, true }, "" },
        { "a bad list is not looked at without is_rank", "{\"rank_list\": 5}", { true, true, true, true }, "" },
        { "two of them", "{\"is_rank\": true, \"rank_list\": [8, 0]}", { false, true, false, true }, "" },
        { "the order of the keys does not matter",
          "{\"rank_list\": [1], \"is_rank\": true}",
          { false, false, true, false },
          "" },
        { "an empty list: nobody", "{\"is_rank\": true, \"rank_list\": []}", { false, false, false, false }, "" },
        { "no list: nobody", "{\"is_rank\": true}", { false, false, false, false }, "" },
        { "no list but a number: nobody",
          "{\"is_rank\": true, \"rank_list\": 1}",
          { false, false, false, false },
          "line 1: rank_list: invalid value 1; using no rank; accepted: a list of ranks from 0: [0, 8]\n" },
        { "bad members are left out",
          "{\"is_rank\": true, \"rank_list\": [-1, \"0\", 1, 2.5]}",
          { false, false, true, false },
          "line 1: rank_list: invalid value \"0\"; using the others;" },
        { "is_rank of another type",
          "{\"is_rank\": 1, \"rank_list\": [1]}",
          { true, true, true, true },
          "line 1: is_rank: invalid value 1; using false; accepted: true, false\n" },
    };
    static const int32_t rank[] = { -1, 0, 1, 8 };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct config c;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        assert_true(read_text(&c, row[i].json, &e));
        for (size_t k = 0; k < ROWS(rank); k++)
            assert_int_equal(config_has_rank(&c, rank[k]), row[i].has[k]);
        assert_non_null(strstr(said, row[i].says));
        assert_int_equal(*row[i].says == '\0', *said == '\0');
        config_fini(&c);
    }
    (void)state;
}

#define EXPERIMENTAL(text) "{\"experimental_config\":\n{" text "}}"

static void every_option_is_checked(void **state)
{
    static const struct {
        const char *json, *name, *value, *says; /* says NULL: nothing */
    } row[] = {
        { "{\"activities\": [\"NPU\"]}", "activities", "NPU", NULL },
        { "{\"activities\": [\"cpu\"]}", "activities", "CPU", NULL },
        { "{\"activities\": [\"CPU\", \"GPU\"]}", "activities", "CPU",
          "line 1: activities: invalid value \"GPU\"; using the others; accepted: CPU, NPU\n" },
        { "{\"activities\": [7]}", "activities", "CPU,NPU", "line 1: activities: invalid value 7;" },
        { "{\"activities\": \"CPU\"}", "activities", "CPU,NPU",
          "line 1: activities: invalid value \"CPU\"; using CPU,NPU;" },
        { "{\"prof_dir\": \"./data\"}", "prof_dir", "./data", NULL },
        { "{\"prof_dir\": null}", "prof_dir", "", NULL },
        { "{\"prof_dir\": \"\"}", "prof_dir", "", "line 1: prof_dir: invalid value \"\"; using" },
        { "{\"prof_dir\": 5}", "prof_dir", "", "line 1: prof_dir: invalid value 5; using" },
        { "{\"prof_dir\": \"a b\"}", "prof_dir", "a b",
          "line 1: prof_dir: \"a b\" has other characters than letters, digits, _ and -; used all the same\n" },
        { "{\"record_shapes\": true}", "record_shapes", "true", NULL },
        { "{\"record_shapes\": 1}", "record_shapes", "false",
          "line 1: record_shapes: invalid value 1; using false; accepted: true, false" },
        { "{\"profile_memory\": null}", "profile_memory", "false",
          "line 1: profile_memory: invalid value null; using false;" },
        { "{\"with_stack\": \"yes\"}", "with_stack", "false",
          "line 1: with_stack: invalid value \"yes\"; using false;" },
        { "{\"with_flops\": true}", "with_flops", "true", NULL },
        { "{\"with_modules\": true}", "with_modules", "true", NULL },
        { EXPERIMENTAL("\"profiler_level\": \"Level1\""), "profiler_level", "Level1", NULL },
        { EXPERIMENTAL("\"profiler_level\": \"Level7\""), "profiler_level", "Level0",
          "line 2: profiler_level: invalid value \"Level7\"; using Level0; accepted: Level0, Level1, Level2, Level_none" },
        { EXPERIMENTAL("\"profiler_level\": 1"), "profiler_level", "Level0",
          "line 2: profiler_level: invalid value 1; using Level0;" },
        { EXPERIMENTAL("\"aic_metrics\": \"PipeUtilization\""), "aic_metrics", "PipeUtilization", NULL },
        { EXPERIMENTAL("\"aic_metrics\": \"ACL_AICORE_MEMORY_BANDWIDTH\""), "aic_metrics", "Memory", NULL },
        { EXPERIMENTAL("\"aic_metrics\": \"Pipe\""), "aic_metrics", "",
          "line 2: aic_metrics: invalid value \"Pipe\"; using PipeUtilization from Level1 on, else AiCoreNone; accepted: ArithmeticUtilization," },
        { EXPERIMENTAL("\"l2_cache\": true"), "l2_cache", "true", NULL },
        { EXPERIMENTAL("\"op_attr\": true"), "op_attr", "true", NULL },
        { EXPERIMENTAL("\"gc_detect_threshold\": 1.5"), "gc_detect_threshold", "1.5", NULL },
        { EXPERIMENTAL("\"gc_detect_threshold\": 0"), "gc_detect_threshold", "0", NULL },
        { EXPERIMENTAL("\"gc_detect_threshold\": null"), "gc_detect_threshold", "", NULL },
        { EXPERIMENTAL("\"gc_detect_threshold\": -1"), "gc_detect_threshold", "",
          "line 2: gc_detect_threshold: invalid value -1; using" },
        { EXPERIMENTAL("\"gc_detect_threshold\": \"1\""), "gc_detect_threshold", "",
          "line 2: gc_detect_threshold: invalid value \"1\"; using" },
        { EXPERIMENTAL("\"data_simplification\": false"), "data_simplification", "false", NULL },
        { EXPERIMENTAL("\"data_simplification\": 0"), "data_simplification", "true",
          "line 2: data_simplification: invalid value 0; using true;" },
        { EXPERIMENTAL("\"record_op_args\": true"), "record_op_args", "true", NULL },
        { EXPERIMENTAL("\"export_type\": [\"text\", \"db\"]"), "export_type", "text,db", NULL },
        { EXPERIMENTAL("\"export_type\": \"db\""), "export_type", "db", NULL },
        { EXPERIMENTAL("\"export_type\": [\"pdf\"]"), "export_type", "text",
          "line 2: export_type: invalid value [\"pdf\"]; using text;" },
        { EXPERIMENTAL("\"export_type\": []"), "export_type", "text",
          "line 2: export_type: invalid value []; using text;" },
        { EXPERIMENTAL("\"mstx\": true"), "mstx", "true", NULL },
        { EXPERIMENTAL("\"msprof_tx\": true, \"mstx\": false"), "mstx", "true", NULL },
        { EXPERIMENTAL("\"mstx_domain_include\": [\"a\", \"default\"]"), "mstx_domain_include", "a,default", NULL },
        { EXPERIMENTAL("\"mstx_domain_include\": []"), "mstx_domain_include", "", NULL },
        { EXPERIMENTAL("\"mstx_domain_exclude\": \"a\""), "mstx_domain_exclude", "",
          "line 2: mstx_domain_exclude: invalid value \"a\"; using none;" },
        { EXPERIMENTAL("\"host_sys\": [\"cpu\", \"disk\"]"), "host_sys", "cpu,disk", NULL },
        { EXPERIMENTAL("\"host_sys\": [\"cpu\", \"gpu\"]"), "host_sys", "",
          "line 2: host_sys: invalid value [\"cpu\", \"gpu\"]; using none;" },
        { EXPERIMENTAL("\"sys_io\": true"), "sys_io", "true", NULL },
        { EXPERIMENTAL("\"sys_interconnection\": true"), "sys_interconnection", "true", NULL },
        { EXPERIMENTAL("\"sys_ok\": true"), "sys_io", "false", "line 2: unknown key \"sys_ok\" is ignored\n" },
        { EXPERIMENTAL("\"with_stack\": true"), "with_stack", "false",
          "line 2: with_stack is ignored here: it belongs beside experimental_config\n" },
        { "{\"profiler_level\": \"Level2\"}", "profiler_level", "Level0",
          "line 1: profiler_level is ignored here: it belongs into experimental_config\n" },
        { "{\"experimental_config\": null}", "profiler_level", "Level0", NULL },
        { "{\"experimental_config\": []}", "profiler_level", "Level0",
          "line 1: experimental_config: invalid value []; using the defaults of its keys; accepted: an object\n" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct config c;
        struct error e = { 0 };
        print_message("  %s\n", row[i].json);
        assert_true(read_text(&c, row[i].json, &e));
        if (row[i].says ? !strstr(said, row[i].says) : said[0] != '\0')
            fail_msg("wanted: %s\nfound: %s", row[i].says ? row[i].says : "nothing", said);
        assert_option(&c, row[i].name, row[i].value);
        config_fini(&c);
    }
    (void)state;
}

static void metadata_are_json_values(void **state)
{
    struct config c;
    struct error e = { 0 };
    assert_true(read_text(&c, "{\"metadata\": {\"lr\": 0.5, \"\\u00e4\": {\"n\": [1, 2]}, \"t\": \"x\"}}", &e));
    assert_int_equal(c.n_metadata, 3);
    assert_string_equal(c.metadata[0].key, "lr");
    assert_string_equal(c.metadata[0].json, "0.5");
    assert_string_equal(c.metadata[1].key, "\xc3\xa4");
    assert_string_equal(c.metadata[1].json, "{\"n\": [1, 2]}");
    assert_string_equal(c.metadata[2].json, "\"x\"");
    for (size_t i = 0; i < c.n_metadata; i++)
        assert_true(json_is_value(c.metadata[i].json));
    config_fini(&c);
    assert_true(read_text(&c, "{\"metadata\": [1]}", &e));
    assert_int_equal(c.n_metadata, 0);
    assert_string_equal(said, "line 1: metadata: invalid value [1]; using none; accepted: an object\n");
    config_fini(&c);
    (void)state;
}

static void problems_are_listed_up_to_a_number(void **state)
{
    enum { MANY = 100000 };
    struct config c;
    struct error e = { 0 };
    char *const text = malloc(MANY * 4 + 100);
    size_t n = (size_t)sprintf(text, "{\"is_rank\": true, \"rank_list\": [1");
    for (int i = 0; i < MANY; i++)
        n += (size_t)sprintf(text + n, ",\"\"");
    sprintf(text + n, "]}");
    assert_true(read_text(&c, text, &e));
    assert_int_equal(c.n_ranks, 1);
    size_t lines = 0;
    for (const char *p = said; (p = strchr(p, '\n')); p++)
        lines++;
    assert_int_equal(lines, 51);
    assert_non_null(strstr(said, "more problems are not listed\n"));
    config_fini(&c);
    free(text);
    (void)state;
}

static void texts_that_are_no_configuration(void **state)
{
    static const struct {
        const char *what, *text, *says;
    } row[] = {
        { "half of it", "{\n  \"start_step\": -1,\n  \"act", "line 3: " },
        { "a comma too many", "{\"active\": 1,\n}", "line 1: a comma before" },
        { "no quotes", "{\nactive: 1}", "line 2: " },
        { "a list", "[]", "line 1: expected an object" },
        { "a text", "\n\"x\"", "line 2: expected an object" },
        { "null", "null", "line 1: expected an object" },
        { "two values", "{} {}", "line 1: " },
        { "not a number", "{\"active\": NaN}", "line 1: " },
        { "other bytes", "{\"a\": \"\xff\"}", "line 1: " },
        { "blanks", " \n ", "line 2: " },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct config c;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        assert_false(read_text(&c, row[i].text, &e));
        if (!strstr(e.text, row[i].says))
            fail_msg("wanted: %s\nfound: %s", row[i].says, e.text);
        config_fini(&c);
    }
    static const char nested[] =
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[";
    struct config c;
    struct error e = { 0 };
    assert_false(read_text(&c, nested, &e));
    config_fini(&c);
    (void)state;
}

/* Every beginning of a good file: half-written files are normal. */
static void every_prefix_is_read_or_refused(void **state)
{
    const char *const whole = config_kinds[ASCOPE_DYNAMIC_PYTORCH].template_text;
    const size_t n = strlen(whole);
    for (size_t i = 0; i <= n; i++) {
        struct config c;
        struct error e = { 0 };
        char *const part = strndup(whole, i); /* exactly as long: sanitizers see a step beyond */
        const bool is_read = config_read(&c, &config_kinds[ASCOPE_DYNAMIC_PYTORCH], part, i, true, note, NULL, &e);
        assert_int_equal(is_read, i == 0 || i == n);
        config_fini(&c);
        free(part);
    }
    (void)state;
}

static void templates_are_their_own_defaults(void **state)
{
    struct config c;
    struct error e = { 0 };
    assert_true(read_text(&c, config_kinds[ASCOPE_DYNAMIC_PYTORCH].template_text, &e));
    assert_string_equal(said, "");
    assert_int_equal(c.when, WHEN_NEVER);
    struct ascope_options o;
    ascope_options_init(&o);
    for (size_t i = 0; ascope_option_at(i); i++) {
        const char *const name = ascope_option_at(i)->names->name;
        char *const wanted = ascope_options_get(&o, name), *const found = ascope_options_get(&c.options, name);
        if (strcmp(name, "parent_dir") != 0 && strcmp(name, "aic_metrics") != 0) /* "./", and the word for none */
            assert_string_equal(found ? found : "", wanted ? wanted : "");
        free(wanted);
        free(found);
    }
    assert_option(&c, "prof_dir", "./");
    assert_option(&c, "aic_metrics", "AiCoreNone");
    config_fini(&c);
    (void)state;
}

static void mindspore_has_a_first_and_a_last_step(void **state)
{
    static const struct {
        const char *what, *json;
        enum config_when when;
        int64_t start, active;
        bool says;
    } row[] = {
        { "the template", NULL, WHEN_NEVER, -1, 1, false },
        { "steps 3 to 5", "{\"start_step\": 3, \"stop_step\": 5}", WHEN_AT, 3, 3, false },
        { "0 is a step", "{\"start_step\": 0, \"stop_step\": 0}", WHEN_AT, 0, 1, false },
        { "no end", "{\"start_step\": 3}", WHEN_NEVER, 3, 1, false },
        { "the end is before the beginning", "{\"start_step\": 3, \"stop_step\": 2}", WHEN_NEVER, 3, 1, true },
        { "a boolean is no number", "{\"start_step\": true, \"stop_step\": 5}", WHEN_NEVER, -1, 1, true },
        { "keys of the front end are not looked at", "{\"start_step\": 1, \"stop_step\": 1, \"prof_path\": 5}", WHEN_AT,
          1, 1, false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const struct config_kind *const kind = &config_kinds[ASCOPE_DYNAMIC_MINDSPORE];
        const char *const json = row[i].json ? row[i].json : kind->template_text;
        struct config c;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        said[0] = '\0';
        assert_true(config_read(&c, kind, json, strlen(json), true, note, NULL, &e));
        assert_int_equal(c.when, row[i].when);
        assert_int_equal(c.start_step, row[i].start);
        assert_int_equal(c.active, row[i].active);
        assert_int_equal(said[0] != '\0', row[i].says);
        config_fini(&c);
    }
    (void)state;
}

/* ---- the file ---- */

static void put_file(const char *name, const char *text)
{
    FILE *const f = fopen(folder_path(name), "wb");
    fputs(text, f);
    fclose(f);
}

static void stamps_differ_when_the_file_does(void **state)
{
    struct config_text a, b;
    struct error e = { 0 };
    struct timespec when[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    char path[512];
    snprintf(path, sizeof path, "%s", folder_path("c.json"));
    put_file("c.json", "{\"active\": 1}");
    utimensat(AT_FDCWD, path, when, 0);
    assert_true(config_text_read(&a, path, &e));
    assert_true(config_text_read(&b, path, &e));
    assert_true(config_stamp_equal(&a.stamp, &b.stamp));
    config_text_fini(&b);
    print_message("  as long, in the same second, in the same inode\n");
    const int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "2", 1, 11), 1);
    close(fd);
    utimensat(AT_FDCWD, path, when, 0);
    assert_true(config_text_read(&b, path, &e));
    assert_int_equal(a.stamp.mtime_ns, b.stamp.mtime_ns);
    assert_int_equal(a.stamp.inode, b.stamp.inode);
    assert_false(config_stamp_equal(&a.stamp, &b.stamp));
    config_text_fini(&a);
    print_message("  an older time, by a nanosecond\n");
    when[1] = (struct timespec){ .tv_sec = 999, .tv_nsec = 999999999 };
    utimensat(AT_FDCWD, path, when, 0);
    assert_true(config_text_read(&a, path, &e));
    assert_false(config_stamp_equal(&a.stamp, &b.stamp));
    config_text_fini(&a);
    config_text_fini(&b);
    (void)state;
}

static void what_is_no_file_is_an_error(void **state)
{
    struct config_text t;
    char path[512];
    snprintf(path, sizeof path, "%s", folder_path("what"));
    print_message("  nothing\n");
    struct error e = { 0 };
    assert_false(config_text_read(&t, path, &e));
    assert_int_equal(t.stamp.why, ENOENT);
    print_message("  a directory\n");
    assert_int_equal(mkdir(path, 0700), 0);
    e = (struct error){ 0 };
    assert_false(config_text_read(&t, path, &e));
    assert_non_null(strstr(e.text, "not a regular file"));
    rmdir(path);
    print_message("  a FIFO without a writer: no waiting\n");
    assert_int_equal(mkfifo(path, 0600), 0);
    e = (struct error){ 0 };
    assert_false(config_text_read(&t, path, &e));
    unlink(path);
    print_message("  more than 1 MiB\n");
    put_file("what", "{}");
    assert_int_equal(truncate(path, CONFIG_BYTES_MOST + 1), 0);
    e = (struct error){ 0 };
    assert_false(config_text_read(&t, path, &e));
    assert_int_equal(t.stamp.why, EFBIG);
    assert_non_null(strstr(e.text, "at most 1048572 are read"));
    assert_int_equal(truncate(path, CONFIG_BYTES_MOST), 0);
    e = (struct error){ 0 };
    assert_true(config_text_read(&t, path, &e));
    config_text_fini(&t);
    print_message("  a link is followed, and known\n");
    assert_int_equal(symlink(path, folder_path("link")), 0);
    assert_true(config_text_read(&t, folder_path("link"), &e));
    assert_true(t.stamp.is_link);
    config_text_fini(&t);
    (void)state;
}

static void a_template_never_replaces_a_file(void **state)
{
    struct error e = { 0 };
    struct config_text t;
    struct stat st;
    bool is_new;
    char path[512];
    umask(022);
    snprintf(path, sizeof path, "%s", folder_path("t.json"));
    assert_true(config_file_create(path, "first", &is_new, &e));
    assert_true(is_new);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_true(config_file_create(path, "second", &is_new, &e));
    assert_false(is_new);
    assert_true(config_text_read(&t, path, &e));
    assert_string_equal(t.text, "first");
    config_text_fini(&t);
    const unsigned n = folder_count();
    assert_int_equal(n, 1); /* no half of a file is left */
    print_message("  beside another container, whose process has the same number and is about to write it\n");
    char half[600];
    snprintf(path, sizeof path, "%s", folder_path("u.json"));
    snprintf(half, sizeof half, "%s.part-%ld", path, (long)getpid());
    close(open(half, O_WRONLY | O_CREAT, 0600));
    assert_true(config_file_create(path, "third", &is_new, &e) && is_new);
    assert_int_equal(access(half, F_OK), 0);
    print_message("  where nothing can be written\n");
    assert_false(config_file_create("/proc/self/profiler_config.json", "x", &is_new, &e));
    assert_false(is_new);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_and_switch_is_checked),
        cmocka_unit_test(ranks_are_chosen),
        cmocka_unit_test(every_option_is_checked),
        cmocka_unit_test(metadata_are_json_values),
        cmocka_unit_test(problems_are_listed_up_to_a_number),
        cmocka_unit_test(texts_that_are_no_configuration),
        cmocka_unit_test(every_prefix_is_read_or_refused),
        cmocka_unit_test(templates_are_their_own_defaults),
        cmocka_unit_test(mindspore_has_a_first_and_a_last_step),
        cmocka_unit_test_setup_teardown(stamps_differ_when_the_file_does, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_an_error, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_template_never_replaces_a_file, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
