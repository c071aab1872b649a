#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/progress.h"

/* Everything that a job of some length makes the bar print to a terminal. */
static const char *shown(unsigned ms, bool wanted)
{
    static char text[8192];
    const int ours = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
    const int fd = open(ptsname(ours), O_RDWR | O_NOCTTY); /* a test runner may have made us a session of our own */
    FILE *theirs = fd < 0 ? NULL : fdopen(fd, "r+");
    assert_non_null(theirs);
    struct progress p;
    progress_begin(&p, theirs, wanted);
    progress_show(&p, "reading", 0.25);
    usleep(ms * 1000);
    progress_show(&p, "writing", 7); /* more than all of it is all of it */
    usleep(ms * 1000);
    progress_end(&p);
    fclose(theirs);
    size_t n = 0;
    for (ssize_t got; n < sizeof text - 1 && (got = read(ours, text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = 0;
    close(ours);
    return text;
}

static void a_long_job_has_a_bar_that_is_wiped_at_the_end(void **state)
{
    const char *text = shown(1500, true);
    assert_non_null(strstr(text, "writing   [========================] 100 %"));
    const char *wipe = "\r\033[K";
    assert_string_equal(text + strlen(text) - strlen(wipe), wipe);
    (void)state;
}

static void a_short_job_has_none(void **state)
{
    assert_string_equal(shown(10, true), "");
    (void)state;
}

static void nobody_asked(void **state)
{
    assert_string_equal(shown(600, false), "");
    (void)state;
}

static void no_terminal(void **state)
{
    FILE *file = tmpfile();
    struct progress p;
    progress_begin(&p, file, true);
    progress_show(&p, "reading", 0.5);
    usleep(1200000);
    progress_end(&p);
    assert_int_equal(ftell(file), 0);
    fclose(file);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_job_has_a_bar_that_is_wiped_at_the_end),
        cmocka_unit_test(a_short_job_has_none),
        cmocka_unit_test(nobody_asked),
        cmocka_unit_test(no_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
