/* SPDX-License-Identifier: Apache-2.0 */
#include "report/term.h"

#include "base/text/error.h"
#include "base/process/progress.h"
#include "base/text/utf8.h"

#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *program = "ascope";

void term_init(struct term *t, FILE *to)
{
    const char *kind = getenv("TERM"), *refused = getenv("NO_COLOR");
    const bool is_terminal = isatty(fileno(to));
    *t = (struct term){
        .to = to,
    };
    t->has_colour = is_terminal && !(refused && *refused) && !(kind && strcmp(kind, "dumb") == 0);
    struct winsize size;
    if (is_terminal && ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        t->columns = size.ws_col;
}

const char *term_ink(const struct term *t, enum ink ink)
{
    static const char *const escape[INK_COUNT] = {
        [INK_END] = "\033[0m",   [INK_BOLD] = "\033[1m",  [INK_DIM] = "\033[2m",
        [INK_GOOD] = "\033[32m", [INK_WARN] = "\033[33m", [INK_BAD] = "\033[31m",
    };
    return t->has_colour ? escape[ink] : "";
}

int term_width(const char *text)
{
    int n = 0;
    for (bool is_shown; *text; n++)
        text += utf8_shown(text, &is_shown);
    return n;
}

static void put_clean(FILE *to, const char *text, int columns)
{
    bool is_shown;
    for (size_t len; columns > 0 && *text; text += len, columns--) {
        len = utf8_shown(text, &is_shown);
        if (is_shown)
            fwrite(text, 1, len, to);
        else
            fputc('?', to);
    }
}

void term_text(const struct term *t, const char *text, int most)
{
    const int width = term_width(text);
    if (most <= 0 || width <= most) {
        put_clean(t->to, text, width);
        return;
    }
    put_clean(t->to, text, most > 3 ? most - 3 : most);
    if (most > 3)
        fputs("...", t->to);
}

void complain_as(const char *name)
{
    program = name;
}

const char *complain_name(void)
{
    return program;
}

static atomic_bool is_complained;

bool has_complained(void)
{
    return atomic_load(&is_complained);
}

static void complain_args(FILE *to, const char *fmt, va_list args)
{
    if (to == stderr)
        atomic_store(&is_complained, true);
    char text[PATH_MAX + 1024]; /* a long path must not hide the problem, which comes after it */
    vsnprintf(text, sizeof text, fmt, args);
    const struct term t = { .to = to };
    flockfile(to); /* threads report, too: lines must not be mixed */
    fprintf(to, "%s: ", program);
    term_text(&t, text, 0);
    fputc('\n', to);
    funlockfile(to);
}

void complain(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    progress_hold();
    complain_args(stderr, fmt, args);
    progress_release();
    va_end(args);
}

void complain_line(const char *line)
{
    complain("%s", line);
}

void complain_to(FILE *to, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (to == stderr)
        progress_hold();
    complain_args(to, fmt, args);
    if (to == stderr)
        progress_release();
    va_end(args);
}

void complain_no_memory(const char *what)
{
    complain("%s: %s", what, no_memory_text());
}
