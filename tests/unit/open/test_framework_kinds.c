/* SPDX-License-Identifier: Apache-2.0 */
/* The frameworks whose collections are read: which directory is one of theirs, and the words for it. */
#include "test.h"

#include <errno.h>

#include "folder.h"
#include "open/framework_kinds.h"
#include "pipeline/framework_outputs.h"

static void rows_are_whole(void **state)
{
    for (size_t i = 0; i < n_framework_kinds; i++) {
        const struct framework_kind *k = &framework_kinds[i];
        const struct framework_name *n = &framework_names[k->id];
        assert_true(k->id < FRAMEWORKS);
        print_message("  %s\n", n->name);
        assert_true(*n->name && *n->suffix);
        assert_true(k->is_one && k->look && k->load && k->analyse && framework_outputs(k->id).n > 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(n->suffix, framework_names[framework_kinds[j].id].suffix);
    }
    (void)state;
}

static void directories_are_known_by_what_lies_in_them(void **state)
{
    static const struct {
        const char *what, *dir, *inside, *file, *framework;
    } row[] = {
        { "a FRAMEWORK folder", "a_1_ascend_pt", "FRAMEWORK", "torch.op_range", "PyTorch" },
        { "the same under another name", "mine", "FRAMEWORK", "torch.op_range", "PyTorch" },
        { "an empty one of MindSpore", "a_1_ascend_ms", "FRAMEWORK", NULL, "MindSpore" },
        { "one whose files are MindSpore's", "yours", "FRAMEWORK", "mindspore.op_range", "MindSpore" },
        { "those of an older release, of another rank", "theirs", "FRAMEWORK", "op_range_7", "MindSpore" },
        { "a name that is none of them", "nobody's", "FRAMEWORK", "op_range_7x", "PyTorch" },
        { "a PROF directory", "PROF_1", "host", NULL, NULL },
        { "the suffix alone", "b_ascend_pt", "notes", NULL, NULL },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char path[200], inside[300];
        int why = -1;
        print_message("  %s\n", row[i].what);
        snprintf(path, sizeof path, "%s/%s", folder, row[i].dir);
        snprintf(inside, sizeof inside, "%s/%s", path, row[i].inside);
        assert_true(mkdir(path, 0700) == 0 && mkdir(inside, 0700) == 0);
        if (row[i].file) {
            char file[400];
            snprintf(file, sizeof file, "%s/%s", inside, row[i].file);
            FILE *f = fopen(file, "w");
            assert_non_null(f);
            fclose(f);
        }
        const struct framework_kind *k = framework_kind_of(path, &why);
        assert_int_equal(why, 0);
        assert_int_equal(k != NULL, row[i].framework != NULL);
        if (!k)
            continue;
        struct collection s;
        struct collection_look look;
        struct error e = { 0 };
        assert_string_equal(framework_names[k->id].name, row[i].framework);
        assert_true(k->look(&s, path, &look, &e));
        assert_string_equal(framework_names[s.framework_id].name, row[i].framework);
        collection_free(&s);
    }
    (void)state;
}

static void what_cannot_be_read_is_no_collection_and_says_why(void **state)
{
    char path[200];
    int why = 0;
    snprintf(path, sizeof path, "%s/none_ascend_pt", folder);
    assert_null(framework_kind_of(path, &why));
    assert_int_equal(why, ENOENT);
    (void)state;
}

static void names_for_people(void **state)
{
    static const struct {
        const char *name;
        bool ends, has;
    } row[] = {
        { "node0_1_20240814025154113_ascend_pt", true, true },
        { "a/node0_1_ascend_pt", true, true },
        { "node0_1_ascend_pt.copy", false, true },
        { "node0_1_20240814025154113_ascend_ms", true, true },
        { "_ascend_pt", false, true }, /* a name in front of it is wanted */
        { "PROF_000001_20240814025154113_ABC", false, false },
        { "", false, false },
    };
    char patterns[FRAMEWORK_PATTERNS];
    assert_string_equal(framework_patterns(patterns), "*_ascend_pt or *_ascend_ms");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].name);
        assert_int_equal(framework_ends_name(row[i].name, strlen(row[i].name)), row[i].ends);
        assert_int_equal(framework_is_in_name(row[i].name), row[i].has);
    }
    assert_true(framework_ends_name("x_ascend_pt/PROF_1", 11)); /* the directory above */
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test_setup_teardown(directories_are_known_by_what_lies_in_them, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_no_collection_and_says_why, folder_make, folder_remove),
        cmocka_unit_test(names_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
