/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/term.h"

#include "base/error.h"
#include "base/progress.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
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

char *term_count(char out[TERM_NUMBER], uint64_t n)
{
    char digits[24];
    const int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    char *o = out;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *o++ = ',';
        *o++ = digits[i];
    }
    *o = 0;
    return out;
}

char *term_bytes(char out[TERM_NUMBER], uint64_t bytes)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double v = (double)bytes;
    size_t u = 0;
    for (; v >= 999.5 && u + 1 < sizeof unit / sizeof *unit; u++) /* three digits are enough: 1000 KiB is 1.0 MiB */
        v /= 1024;
    snprintf(out, TERM_NUMBER, u > 0 && v < 9.95 ? "%.1f %s" : "%.0f %s", v, unit[u]);
    return out;
}

char *term_duration(char out[TERM_NUMBER], double ns)
{
    if (ns < 1e3)
        snprintf(out, TERM_NUMBER, "%.0f ns", ns);
    else if (ns < 1e6)
        snprintf(out, TERM_NUMBER, "%.3g us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(out, TERM_NUMBER, "%.3f ms", ns / 1e6);
    else if (ns < 60e9)
        snprintf(out, TERM_NUMBER, "%.3f s", ns / 1e9);
    else
        snprintf(out, TERM_NUMBER, "%lld min %02d s", (long long)(ns / 60e9), (int)((int64_t)(ns / 1e9) % 60));
    return out;
}

char *term_time(char out[TERM_NUMBER], int64_t wall_ns)
{
    const time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm local;
    char date[24] = "?";
    if (localtime_r(&seconds, &local))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
    snprintf(out, TERM_NUMBER, "%s.%06lld", date, (long long)(wall_ns / 1000 % 1000000));
    return out;
}

void complain_as(const char *name)
{
    program = name;
}

const char *complain_name(void)
{
    return program;
}

static void complain_args(FILE *to, const char *fmt, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, fmt, args);
    const struct term t = { .to = to };
    fprintf(to, "%s: ", program);
    term_text(&t, text, 0);
    fputc('\n', to);
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

void complain_to(FILE *to, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    complain_args(to, fmt, args);
    va_end(args);
}

void complain_no_memory(const char *what)
{
    complain("%s: %s", what, no_memory_text());
}
