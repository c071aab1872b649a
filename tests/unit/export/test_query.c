/* SPDX-License-Identifier: Apache-2.0 */
#include "settings_of.h"
#include "test.h"

#include "analyse/profile_analyse.h"
#include "export/msprof/query.h"
#include "load/prof/prof.h"

enum { ROWS_MOST = 16 };

/* "1:10 2:30*" are iterations of 10 and 30 ticks; the star makes it a training step of model 9. */
static void iterations_of(struct iterations *t, struct arena *mem, const char *text)
{
    *t = (struct iterations){ .model = arena_take(mem, ROWS_MOST, 8),
                              .index = arena_take(mem, ROWS_MOST, 8),
                              .begin = arena_take(mem, ROWS_MOST, 8),
                              .end = arena_take(mem, ROWS_MOST, 8),
                              .is_step = arena_take(mem, ROWS_MOST, sizeof(bool)) };
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, " "));) {
        unsigned model, ticks;
        if (sscanf(token, "%u:%u", &model, &ticks) != 2)
            continue;
        t->model[t->n] = model;
        t->index[t->n] = t->n > 0 && t->model[t->n - 1] == model ? t->index[t->n - 1] + 1 : 1;
        t->end[t->n] = ticks;
        t->is_step[t->n++] = strchr(token, '*') != NULL;
    }
}

struct sample {
    const char *job, *date, *iterations;
};

static void add(struct query *q, const struct sample *s)
{
    struct device d = { .source = { .name = "device_3", .path = "sample", .mem = arena_new(), .begin_date = s->date } };
    d.source.settings =
        settings_of(json_pack("{s:s, s:s, s:i}", "jobInfo", s->job, "devices", "3", "rank_id", 7), NULL, d.source.mem);
    iterations_of(&d.steps.iterations, d.source.mem, s->iterations);
    struct profile p = { .path = "sample", .device = &d, .n_devices = 1 };
    struct error e = { 0 };
    assert_true(query_add(q, &p, &e));
    arena_free(d.source.mem);
}

/* The first word of each line and the three columns that follow from the iterations, without the padding. */
static void shorten(const struct out *o, char *text, size_t size)
{
    char copy[4096], *rest = copy;
    snprintf(copy, sizeof copy, "%.*s", (int)o->n, o->buf);
    strsep(&rest, "\n"); /* the head */
    text[0] = 0;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *cell[8] = { 0 };
        size_t n = 0;
        for (char *word; n < 8 && (word = strsep(&line, "\t"));) {
            word[strcspn(word, " ")] = 0;
            cell[n++] = word;
        }
        if (n == 8)
            snprintf(text + strlen(text), size - strlen(text), "%s%s/%s/%s/%s", *text ? " " : "", cell[0], cell[4],
                     cell[5], cell[6]);
    }
}

static void models_and_their_longest_iterations(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what;
        struct sample sample[3];
        const char *rows; /* job/model/iterations/longest */
    } row[] = {
        { "nothing", { { 0 } }, "" },
        { "a device without iterations", { { "j", "t", "" } }, "j/N/A/N/A/N/A" },
        { "the longest first", { { "j", "t", "1:10 1:30 1:20" } }, "j/1/3/2,3,1" },
        { "no more than five", { { "j", "t", "1:1 1:2 1:3 1:4 1:5 1:6 1:7" } }, "j/1/7/7,6,5,4,3" },
        { "and what is as long as the fifth", { { "j", "t", "1:1 1:9 1:8 1:7 1:6 1:5 1:5 1:5" } }, "j/1/8/2,3,4,5,6,7,8" },
        { "equal ones in their order", { { "j", "t", "1:5 1:5 1:9 1:5" } }, "j/1/4/3,1,2,4" },
        { "one row for each model", { { "j", "t", "1:1 2:2 2:1 9:4* 9:5*" } }, "j/1/1/1 j/2/2/1,2 j/9/2/2,1" },
        { "steps of two models in turns", { { "j", "t", "9:4* 8:5* 9:6*" } }, "j/8/1/1 j/9/1/1,1" },
        { "by job, then by time", { { "b", "1", "1:1" }, { "a", "2", "2:1" }, { "a", "1", "3:1" } }, "a/3/1/1 a/2/1/1 b/1/1/1" },
        { "unknown job and time", { { "", "", "1:1" } }, "N/A/1/1/1" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct query *q = query_new();
        struct error e = { 0 };
        struct out o;
        char text[512];
        for (size_t k = 0; k < ROWS(row[i].sample) && row[i].sample[k].job; k++)
            add(q, &row[i].sample[k]);
        assert_true(out_open_memory(&o, &e));
        assert_true(query_text(q, &o, &e));
        shorten(&o, text, sizeof text);
        assert_string_equal(text, row[i].rows);
        out_discard(&o);
        query_free(q);
    }
    (void)state;
}

static void the_sample_as_the_reference_reports_it(void **state)
{
    (void)state;
    const char *data = getenv("ASCOPE_SAMPLE");
    if (!data)
        skip();
    char path[4096], expected[4096] = "";
    snprintf(path, sizeof path, "%s/prof-a/expected/query.txt", data);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const size_t n = fread(expected, 1, sizeof expected, f);
    fclose(f);
    snprintf(path, sizeof path, "%s/prof-a", data);
    struct prof_dirs dirs;
    struct error e = { 0 };
    struct profile p;
    struct out o;
    struct query *q = query_new();
    assert_true(prof_find(path, &dirs, &e));
    assert_true(profile_load(&p, dirs.path[0], 1, &e));
    assert_true(profile_analyse(&p, 1, &e));
    assert_true(query_add(q, &p, &e));
    profile_free(&p);
    prof_dirs_free(&dirs);
    assert_true(out_open_memory(&o, &e));
    assert_true(query_text(q, &o, &e));
    assert_int_equal(o.n, n);
    assert_memory_equal(o.buf, expected, n);
    out_discard(&o);
    query_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_and_their_longest_iterations),
        cmocka_unit_test(the_sample_as_the_reference_reports_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
