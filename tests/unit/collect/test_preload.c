/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as they are before they are started: files that anybody may have written. */
#include "test.h"

#include <elf.h>
#include <fcntl.h>

#include "collect/os_calls/preload.h"
#include "folder.h"

static void file_make(const char *name, const void *bytes, size_t n)
{
    const int fd = open(folder_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0700);
    assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

struct image {
    Elf64_Ehdr head;
    Elf64_Phdr part[2];
    char loader[32];
};

static struct image image_make(void)
{
#if defined(__aarch64__)
    enum { MACHINE = EM_AARCH64 };
#else
    enum { MACHINE = EM_X86_64 };
#endif
    struct image x = {
        .head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                  .e_type = ET_DYN,
                  .e_machine = MACHINE,
                  .e_version = EV_CURRENT,
                  .e_phoff = offsetof(struct image, part),
                  .e_phentsize = sizeof(Elf64_Phdr),
                  .e_phnum = 2 },
        .part = { { .p_type = PT_LOAD },
                  { .p_type = PT_INTERP, .p_offset = offsetof(struct image, loader), .p_filesz = sizeof x.loader } },
        .loader = "/lib64/ld-linux-x86-64.so.2"
    };
    return x;
}

static const char *trouble_of(const void *bytes, size_t n)
{
    const char *why = "not set";
    file_make("program", bytes, n);
    const bool is_loaded = preload_works(folder_path("program"), &why);
    assert_int_equal(is_loaded, why == NULL);
    return why;
}

/* NULL: exec() will say what is wrong with it. */
static void headers_that_cannot_be(void **state)
{
    static const char *const as_static = "is linked statically";
    struct image x = image_make();
    assert_null(trouble_of(&x, sizeof x));
    strcpy(x.loader, "/lib/ld-musl-x86_64.so.1");
    assert_string_equal(trouble_of(&x, sizeof x), "uses another C library (musl)");
    x.part[1].p_type = PT_NOTE;
    assert_string_equal(trouble_of(&x, sizeof x), as_static);
    static const struct {
        const char *what;
        size_t at, bytes;
        uint64_t value;
        const char *why;
    } row[] = {
#define OF(member) offsetof(struct image, member), sizeof(((struct image *)0)->member)
        { "program headers behind the end", OF(head.e_phoff), 1 << 20, NULL },
        { "where no file reaches", OF(head.e_phoff), INT64_MAX, NULL },
        { "before the file", OF(head.e_phoff), UINT64_MAX - 8, NULL },
        { "of another size", OF(head.e_phentsize), 8, NULL },
        { "none", OF(head.e_phnum), 0, NULL },
        { "as many as can be", OF(head.e_phnum), UINT16_MAX, NULL },
        { "more than there are", OF(head.e_phnum), 100, NULL },
        { "a loader's name behind the end", OF(part[1].p_offset), 1 << 20, NULL },
        { "before the file", OF(part[1].p_offset), (uint64_t)INT64_MIN, NULL },
        { "without an end", OF(part[1].p_filesz), 4000, NULL },
        { "as long as can be", OF(part[1].p_filesz), UINT64_MAX, as_static },
        { "as long as a path", OF(part[1].p_filesz), PATH_MAX, as_static },
        { "empty", OF(part[1].p_filesz), 0, as_static },
        { "32 bits", OF(head.e_ident[EI_CLASS]), ELFCLASS32, "is for another architecture" },
        { "no such class", OF(head.e_ident[EI_CLASS]), 99, "is for another architecture" },
        { "no such processor", OF(head.e_machine), 9999, "is for another architecture" },
#undef OF
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct image bad = image_make();
        if (strcmp(row[i].what, "more than there are") == 0)
            bad.part[1].p_type = PT_NULL;
        print_message("  %s\n", row[i].what);
        memcpy((uint8_t *)&bad + row[i].at, &row[i].value, row[i].bytes);
        const char *const why = trouble_of(&bad, sizeof bad);
        assert_true(row[i].why ? why && strcmp(why, row[i].why) == 0 : !why);
    }
    (void)state;
}

static void files_that_end_early(void **state)
{
    const struct image x = image_make();
    for (size_t n = 0; n < sizeof x; n++)
        assert_null(trouble_of(&x, n));
    (void)state;
}

static void every_byte_may_be_damaged(void **state)
{
    const struct image x = image_make();
    for (size_t at = 0; at < sizeof x; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct image bad = x;
            ((uint8_t *)&bad)[at] ^= (uint8_t)(1u << bit);
            trouble_of(&bad, sizeof bad);
        }
    (void)state;
}

static void scripts(void **state)
{
    char text[1200], long_line[300] = "#!/";
    const struct image x = image_make();
    struct image fixed = x;
    const char *why;
    fixed.part[1].p_type = PT_NULL;
    file_make("static", &fixed, sizeof fixed);
    memset(long_line + 3, 'a', sizeof long_line - 3);
    static const struct {
        const char *what, *before, *after;
    } row[] = {
        { "a line", "#!", "\n" },
        { "blanks and an argument", "#! \t", " -x\n" },
        { "no end of line", "#!", "" },
        { "a zero", "#!", "\0x" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const int n = snprintf(text, sizeof text, "%s%s%s", row[i].before, folder_path("static"), row[i].after);
        why = trouble_of(text, (size_t)n + (row[i].after[0] == '\0' && i == 3 ? 2 : 0));
        assert_non_null(why);
        assert_string_equal(why, "is linked statically");
    }
    static const char *const nothing[] = { "#!",    "#!\n", "#! \t \n", "#", "", "#!\0", "#!/no/such/interpreter\n",
                                           "#!.\n", "#!/\n" };
    for (size_t i = 0; i < ROWS(nothing); i++)
        assert_null(trouble_of(nothing[i], strlen(nothing[i])));
    assert_null(trouble_of(long_line, sizeof long_line));
    assert_null(trouble_of(long_line, 256));
    /* of itself, and of each other */
    int n = snprintf(text, sizeof text, "#!%s\n", folder_path("program"));
    assert_null(trouble_of(text, (size_t)n));
    n = snprintf(text, sizeof text, "#!%s\n", folder_path("other"));
    file_make("program", text, (size_t)n);
    n = snprintf(text, sizeof text, "#!%s x\n", folder_path("program"));
    file_make("other", text, (size_t)n);
    assert_true(preload_works(folder_path("other"), &why));
    assert_null(why);
    (void)state;
}

/* Looking must not wait for a writer, nor read what is no file. */
static void what_is_no_file(void **state)
{
    const char *why;
    assert_int_equal(mkfifo(folder_path("fifo"), 0700), 0);
    assert_int_equal(symlink("loop", folder_path("loop")), 0);
    static const char *const names[] = { "fifo", "loop", ".", "", "no-such-file" };
    for (size_t i = 0; i < ROWS(names); i++)
        assert_true(preload_works(folder_path(names[i]), &why));
    assert_true(preload_works("", &why));
    (void)state;
}

static void names_for_the_loader(void **state)
{
    assert_true(preload_can_name("/usr/lib/ascope/" PRELOAD_NAME));
    assert_false(preload_can_name("/my files/" PRELOAD_NAME));
    assert_false(preload_can_name("/a:b/" PRELOAD_NAME));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(headers_that_cannot_be, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(files_that_end_early, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(every_byte_may_be_damaged, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(scripts, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(what_is_no_file, folder_make, folder_remove),
        cmocka_unit_test(names_for_the_loader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
