/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <time.h>

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "base/memory/large_memory.h"
#include "child.h"
#include "folder.h"
#include "starting.h"

enum { MIB = 1 << 20, COLUMN = 8 * MIB, COLUMNS = 24 };

/* Bytes of files, the unnamed one among them, that this process holds. */
static size_t held(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*s %*s %zu", &pages), 1);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t blocks_on_disk(void)
{
    size_t bytes = 0;
    for (int fd = 3; fd < 64; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
            bytes += (size_t)st.st_blocks * 512;
    }
    return bytes;
}

static void columns_beyond_the_limit_are_in_a_file(void **state)
{
    (void)state;
    const size_t before = held();
    memory_limit(64 * MIB, folder, true);
    memory_watch();
    struct arena *a = arena_new();
    uint64_t *column[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++) {
        column[i] = arena_take(a, COLUMN / sizeof(uint64_t), sizeof(uint64_t));
        assert_non_null(column[i]);
        for (size_t k = 0; k < COLUMN / sizeof(uint64_t); k++) {
            assert_int_equal(column[i][k], 0);
            column[i][k] = i << 32 | k;
        }
    }
    assert_true(blocks_on_disk() >= (size_t)COLUMN * COLUMNS - 64 * MIB);
    assert_int_equal(folder_count(), 0); /* it has no name */
    /* The watcher lets them go: it may need a moment, and does not need to be quick. */
    for (int i = 0; i < 2000 && held() > before + 32 * MIB; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    assert_true(held() <= before + 32 * MIB);
    memory_unwatch();
    for (size_t i = 0; i < COLUMNS; i++) /* and nothing is lost */
        for (size_t k = 0; k < COLUMN / sizeof(uint64_t); k += 511)
            assert_int_equal(column[i][k], i << 32 | k);
    for (size_t i = 0; i < COLUMNS; i++)
        arena_drop(a, column[i]);
    assert_int_equal(blocks_on_disk(), 0);
    arena_free(a);
}

static void a_strict_limit_fails_where_it_has_no_file(void **state)
{
    (void)state;
    char path[128], program[4096] = "";
    snprintf(path, sizeof path, "%s/nowhere", folder);
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    void *small = memory_take(1000);
    assert_non_null(small);
    memory_limit(64 * MIB, path, true);
    memory_give(small);
    const pid_t child = child_fork(); /* the file of the test before is still open here: a fresh process has none */
    if (child == 0) {
        program_become(program, path);
        _exit(99);
    }
    child_end_well(child);
}

/* In a process of its own: with a directory that is not there, a strict limit refuses and another one gives way. */
static int without_a_file(const char *path)
{
    memory_limit(64 * MIB, path, true);
    if (memory_take(100 * MIB) != NULL)
        return 1;
    if (!strstr(no_memory_text(), "--memory-limit"))
        return 3;
    memory_limit(64 * MIB, path, false);
    void *at = memory_take(100 * MIB);
    if (!at)
        return 2;
    memory_give(at);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return without_a_file(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_beyond_the_limit_are_in_a_file),
        cmocka_unit_test(a_strict_limit_fails_where_it_has_no_file),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
