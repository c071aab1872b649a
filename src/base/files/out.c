/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/out.h"
#include "base/text/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/destination.h"
#include "base/files/durable.h"
#include "base/files/file.h"
#include "base/memory/large_memory.h"
#include "base/process/progress.h"

/* 256 KiB: one write per buffer, small enough to stay in the second-level cache. */
enum { OUT_BUFFER = 1 << 18, OUT_BEGUN = 8 << 20 };

static bool buffer_new(struct out *o, const char *what, struct error *e)
{
    *o = (struct out){ .fd = -1, .cap = OUT_BUFFER };
    o->buf = malloc(OUT_BUFFER + OUT_SLACK);
    if (!o->buf)
        return error_no_memory(e, what);
    return true;
}

/* `path` is a regular file or does not exist. d: it is the user's; NULL: one of our own names. */
static bool open_half(struct out *o, const struct destination *d, const char *path, struct error *e)
{
    if (!buffer_new(o, path, e))
        return false;
    o->path = strdup(path);
    if (!o->path) {
        out_discard(o);
        return error_no_memory(e, path);
    }
    o->fd = d ? leftover_file_in(destination_dir(d), &o->half, path) : leftover_file(&o->half, path);
    if (o->fd >= 0)
        return true;
    const int why = errno;
    out_discard(o);
    return error_set(e, FAULT_IO, "%s: cannot be created: %s", path, write_trouble(why));
}

bool out_open(struct out *o, const char *path, struct error *e)
{
    *o = (struct out){ .fd = -1 };
    return destination_is_plain(path, e) && open_half(o, NULL, path, e);
}

/* Takes over a descriptor, or reports why there is none. */
static bool open_through(struct out *o, int fd, int why, const char *name, struct error *e)
{
    if (fd < 0)
        return error_set(e, FAULT_IO, "%s: cannot be opened: %s", name, write_trouble(why));
    if (!buffer_new(o, name, e)) {
        close(fd);
        return false;
    }
    o->fd = fd;
    o->path = strdup(name);
    if (o->path)
        return true;
    out_discard(o);
    return error_no_memory(e, name);
}

bool out_open_named(struct out *o, const char *name, struct error *e)
{
    struct destination d;
    *o = (struct out){ .fd = -1 };
    if (!destination_look(&d, name, e))
        return false;
    if (d.kind == DESTINATION_FILE) {
        leftovers_sweep_of(d.path);
        const bool is_open = open_half(o, &d, d.path, e);
        o->is_named = is_open;
        return is_open;
    }
    const int fd = destination_open(&d);
    return open_through(o, fd, fd < 0 ? errno : 0, name, e);
}

bool out_open_descriptor(struct out *o, int fd, const char *what, struct error *e)
{
    *o = (struct out){ .fd = -1 };
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return open_through(o, own, own < 0 ? errno : 0, what, e);
}

bool out_open_memory(struct out *o, struct error *e)
{
    return buffer_new(o, "text in memory", e);
}

static void write_down(struct out *o, const char *p, size_t n)
{
    size_t left = n;
    while (left > 0 && !o->failed_errno) {
        const ssize_t done = TEMP_FAILURE_RETRY(write(o->fd, p, left));
        /* without this, a file system that writes nothing and reports no error would cause an endless loop */
        if (done <= 0) {
            o->failed_errno = done < 0 ? errno : EIO;
            break;
        }
        p += done;
        left -= (size_t)done;
    }
    const uint64_t begun = o->written / OUT_BEGUN, before = o->written;
    o->written += n;
    if (o->half.path && o->written / OUT_BEGUN > begun)
        durable_begin(o->fd, before - before % OUT_BEGUN, o->written - (before - before % OUT_BEGUN));
    progress_work(n);
}

static void flush(struct out *o)
{
    write_down(o, o->buf, o->n);
    o->n = 0;
}

/* The last number may end in the slack behind cap: n exceeds cap then, and the difference must not wrap. */
static size_t room(const struct out *o, size_t cap)
{
    return o->n < cap ? cap - o->n : 0;
}

void out_room(struct out *o, size_t bytes)
{
    if (o->fd >= 0 && o->n > 0)
        flush(o);
    else if (o->full)
        o->full(o);
    if (bytes <= room(o, o->cap))
        return;
    size_t cap = o->cap;
    while (bytes > room(o, cap) && cap < SIZE_MAX / 4)
        cap *= 2;
    char *bigger = realloc(o->buf, cap + OUT_SLACK);
    if (!bigger) { /* the text is lost, which close reports; continue in the old buffer */
        o->failed_errno = ENOMEM;
        o->n = 0;
        return;
    }
    o->buf = bigger;
    o->cap = cap;
}

bool out_close(struct out *o, struct error *e)
{
    if (o->fd < 0) {
        out_discard(o);
        return true;
    }
    flush(o);
    if (close(o->fd) != 0 && errno != EINTR && !o->failed_errno) /* after EINTR the descriptor is closed, too */
        o->failed_errno = errno;
    o->fd = -1;
    const int renamed = leftover_settle(&o->half, o->failed_errno ? NULL : o->path);
    const int why = o->failed_errno ? o->failed_errno : renamed,
              synced = !why && o->is_named ? durable_name(o->path) : 0;
    if (why)
        error_set(e, FAULT_IO, "%s: cannot be written: %s", o->path, write_trouble(why));
    if (synced)
        durable_fail(e, o->path, synced);
    out_discard(o);
    return why == 0 && synced == 0;
}

void out_discard(struct out *o)
{
    if (o->fd >= 0) {
        close(o->fd);
        leftover_settle(&o->half, NULL);
    }
    free(o->path);
    free(o->buf);
    *o = (struct out){ .fd = -1 };
}

void out_shown(struct out *o, const char *text)
{
    bool is_shown;
    for (size_t len; *text; text += len) {
        len = utf8_shown(text, &is_shown);
        out_bytes(o, is_shown ? text : "?", is_shown ? len : 1);
    }
}

void out_bytes_beyond(struct out *o, const void *p, size_t n)
{
    out_room(o, n);
    if (n > room(o, o->cap))
        return; /* no memory: out_room() has recorded it */
    memcpy(o->buf + o->n, p, n);
    o->n += n;
}

void out_through(struct out *o, const void *p, size_t n)
{
    if (o->fd < 0) {
        out_bytes(o, p, n);
        return;
    }
    flush(o);
    write_down(o, p, n);
}

void out_patch(struct out *o, uint64_t offset, const void *p, size_t n)
{
    flush(o);
    for (size_t done = 0; done < n && !o->failed_errno;) {
        const ssize_t step =
            TEMP_FAILURE_RETRY(pwrite(o->fd, (const char *)p + done, n - done, (off_t)(offset + done)));
        if (step <= 0)
            o->failed_errno = step < 0 ? errno : EIO;
        done += step > 0 ? (size_t)step : 0;
    }
}

bool out_map(struct out *o, struct mapped *m)
{
    flush(o);
    return !o->failed_errno && memory_map(m, o->fd, (size_t)o->written);
}

static const char two_digits[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                 "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                 "8081828384858687888990919293949596979899";

static const uint64_t power_of_ten[] = { 1,
                                         10,
                                         100,
                                         1000,
                                         10000,
                                         100000,
                                         1000000,
                                         10000000,
                                         100000000,
                                         1000000000,
                                         10000000000,
                                         100000000000,
                                         1000000000000,
                                         10000000000000,
                                         100000000000000,
                                         1000000000000000,
                                         10000000000000000,
                                         100000000000000000,
                                         1000000000000000000,
                                         10000000000000000000u };

static unsigned count_digits(uint64_t v)
{
    const unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1), least = bits * 1233 >> 12; /* 1233/4096: log 2 */
    return least + (v >= power_of_ten[least] || least == 0);
}

static inline size_t digits(char *to, uint64_t v)
{
    const unsigned n = count_digits(v);
    char *p = to + n;
    while (v >= 100) {
        p -= 2;
        memcpy(p, two_digits + v % 100 * 2, 2);
        v /= 100;
    }
    if (v >= 10)
        memcpy(to, two_digits + v * 2, 2);
    else
        *to = (char)('0' + v);
    return n;
}

size_t digits_put(char *to, uint64_t v)
{
    return digits(to, v);
}

void out_u64(struct out *o, uint64_t v)
{
    if (o->n >= o->cap)
        out_room(o, 1);
    o->n += digits(o->buf + o->n, v);
}

void out_i64(struct out *o, int64_t v)
{
    if (v < 0)
        out_char(o, '-');
    out_u64(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

char *us_put(struct out *o, char *to, int64_t ns)
{
    enum { SECOND = 1000000000 };
    const uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, s = v / SECOND;
    uint32_t us = (uint32_t)(v % SECOND) / 1000;
    const uint32_t rest = (uint32_t)(v % 1000);
    *to = '-';
    to += ns < 0;
    if (s == 0) {
        to += digits(to, us);
    } else { /* consecutive times mostly share their second */
        if (o->second != s) {
            o->second = s;
            o->second_len = (unsigned)digits(o->second_text, s);
        }
        memcpy(to, o->second_text, SECOND_BYTES); /* a constant size needs no call */
        to += o->second_len;
        memcpy(to + 4, two_digits + us % 100 * 2, 2);
        us /= 100;
        memcpy(to + 2, two_digits + us % 100 * 2, 2);
        memcpy(to, two_digits + us / 100 * 2, 2);
        to += 6;
    }
    to[0] = '.';
    to[1] = (char)('0' + rest / 100);
    memcpy(to + 2, two_digits + rest % 100 * 2, 2);
    return to + 4;
}

static char *us_short_put(char *to, int64_t ns)
{
    const uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    const uint32_t rest = (uint32_t)(v % 1000);
    *to = '-';
    to += ns < 0;
    to += digits(to, v / 1000);
    to[0] = '.';
    to[1] = (char)('0' + rest / 100);
    memcpy(to + 2, two_digits + rest % 100 * 2, 2);
    return to + (rest % 100 == 0 ? 2 : rest % 10 == 0 ? 3 : 4);
}

void out_us(struct out *o, int64_t ns)
{
    out_put(o, us_put(o, out_reserve(o, 1), ns)); /* the slack holds it */
}

void out_us_short(struct out *o, int64_t ns)
{
    out_put(o, us_short_put(out_reserve(o, 1), ns));
}

/* whole / 10^decimals, without zeros at the end but with at least one decimal. */
static void put_decimal(struct out *o, uint64_t whole, int decimals)
{
    for (; decimals > 1 && whole % 10 == 0; decimals--)
        whole /= 10;
    if (decimals == 0) {
        whole *= 10;
        decimals = 1;
    }
    char text[20];
    const int n = (int)digits(text, whole), before = n > decimals ? n - decimals : 0;
    if (before > 0)
        out_bytes(o, text, (size_t)before);
    else
        out_char(o, '0');
    out_char(o, '.');
    for (int i = n - before; i < decimals; i++)
        out_char(o, '0');
    out_bytes(o, text + before, (size_t)(n - before));
}

/* The nearest decimal fraction with 15, 16 or 17 digits, the first that reads back as v: as printf and strtod find it,
 * but with whole numbers of 128 bits, which hold all values of these sizes exactly: microseconds since 1970, too.
 * False: v is too small or too large. */
static bool real_by_integer(struct out *o, double v)
{
    static const double tenth[] = { 1, 0.1, 0.01, 0.001, 0.0001 };
    const double size = fabs(v);
    if (!(size >= 0.0001 && size < 0x1p52)) /* larger ones are whole numbers */
        return false;
    int exponent = 0; /* of the first digit */
    while (size < tenth[-exponent])
        exponent--;
    if (size >= 10)
        exponent = (int)count_digits((uint64_t)size) - 1;
    int binary;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(size, &binary), 53);
    const int shift = 53 - binary;                       /* size = mantissa / 2^shift */
    const bool is_power = mantissa == (uint64_t)1 << 52; /* the next smaller double is only half as far away */
    for (int n = exponent < 15 ? 15 : 16; n <= 17; n++) {
        const int decimals = n - 1 - exponent;
        const unsigned __int128 ten =
            (unsigned __int128)power_of_ten[decimals > 19 ? 19 : decimals] * (decimals > 19 ? 10 : 1);
        const unsigned __int128 exact = ten * mantissa, one = (unsigned __int128)1 << shift;
        const unsigned __int128 rest = exact & (one - 1);
        uint64_t whole = (uint64_t)(exact >> shift);
        whole += rest > one / 2 || (rest == one / 2 && whole % 2 == 1);
        const unsigned __int128 back = (unsigned __int128)whole << shift;
        const bool is_below = back < exact;
        const unsigned __int128 wrong = (is_below ? exact - back : back - exact) * (is_below && is_power ? 4 : 2);
        if (n == 17 || wrong < ten || (wrong == ten && mantissa % 2 == 0)) {
            if (v < 0)
                out_char(o, '-');
            put_decimal(o, whole, decimals);
            return true;
        }
    }
    return false;
}

/* Thousandths cover nearly all values that we print. */
void out_real(struct out *o, double v)
{
    const double thousandths = v * 1000;
    if (fabs(thousandths) < 9e14) {
        const int64_t k = llrint(thousandths);
        if ((double)k / 1000 == v && (k != 0 || !signbit(v))) {
            out_us_short(o, k);
            return;
        }
    }
    if (real_by_integer(o, v))
        return;
    if (!isfinite(v)) {
        out_bytes(o, "0.0", 3); /* JSON and SQL know no infinity; callers guard their divisions */
        return;
    }
    char text[40];
    for (int n = 15; n <= 17; n++) {
        snprintf(text, sizeof text, "%.*g", n, v);
        if (strtod(text, NULL) == v)
            break;
    }
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    else if (strstr(text, "e+") && fabs(v) < 1e16)
        snprintf(text, sizeof text, "%.1f", v);
    out_bytes(o, text, strlen(text));
}

/* Most values are so far from the middle between two texts that integers decide which one it is; printf takes ten
 * times as long. False: it is too close, or too large. */
static bool fixed_by_integer(struct out *o, double v, int decimals)
{
    const uint64_t *power = power_of_ten;
    if (decimals <= 0 || decimals > 6 || signbit(v))
        return false;
    const double scaled = v * (double)power[decimals], whole = floor(scaled);
    /* below 8e12 the product is wrong by less than 1e-3 */
    if (!(scaled < 8e12) || fabs(scaled - whole - 0.5) < 1e-3)
        return false;
    const uint64_t number = (uint64_t)whole + (scaled - whole > 0.5);
    uint64_t rest = number % power[decimals];
    out_u64(o, number / power[decimals]);
    out_char(o, '.');
    char digits[8];
    for (int i = decimals; i-- > 0; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    out_bytes(o, digits, (size_t)decimals);
    return true;
}

void out_fixed(struct out *o, double v, int decimals)
{
    if (fixed_by_integer(o, v, decimals))
        return;
    char text[400];
    const int n = snprintf(text, sizeof text, "%.*f", decimals, v);
    out_bytes(o, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static bool json_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* Eight bytes at a time. The subtractions carry only from bytes that are not plain themselves. */
static bool json_plain8(const unsigned char *p)
{
    const uint64_t ones = 0x0101010101010101, high = ones << 7;
    uint64_t x;
    memcpy(&x, p, sizeof x);
    const uint64_t quote = x ^ ones * '"', slash = x ^ ones * '\\', del = x ^ ones * 0x7F;
    return (((x - ones * 0x20) | (quote - ones) | (slash - ones) | (del - ones) | x) & high) == 0;
}

static size_t json_plain_run(const unsigned char *p, size_t len)
{
    size_t n = 0;
    while (n + 8 <= len && json_plain8(p + n))
        n += 8;
    while (n < len && json_plain(p[n]))
        n++;
    return n;
}

static size_t json_escape(struct out *o, const unsigned char *p, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    const size_t utf8 = utf8_len(p, len);
    if (utf8 > 0) {
        out_bytes(o, p, utf8);
        return utf8;
    }
    const unsigned char c = *p;
    if (c >= 0x80) {
        out_lit(o, UTF8_UNKNOWN);
    } else if (c == '"' || c == '\\') {
        out_char(o, '\\');
        out_char(o, (char)c);
    } else if (c == '\n') {
        out_lit(o, "\\n");
    } else if (c == '\t') {
        out_lit(o, "\\t");
    } else {
        out_lit(o, "\\u00");
        out_char(o, hex[c >> 4]);
        out_char(o, hex[c & 15]);
    }
    return 1;
}

void out_json_inner(struct out *o, const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < len;) {
        const size_t run = json_plain_run(p + i, len - i);
        out_bytes(o, p + i, run);
        i += run;
        if (i < len)
            i += json_escape(o, p + i, len - i);
    }
}

void out_json(struct out *o, const char *text, size_t len)
{
    out_char(o, '"');
    out_json_inner(o, text, len);
    out_char(o, '"');
}

/* Eight bytes at a time, as above. */
static bool csv_plain8(const char *p)
{
    const uint64_t ones = 0x0101010101010101, high = ones << 7;
    uint64_t x;
    memcpy(&x, p, sizeof x);
    const uint64_t comma = x ^ ones * ',', quote = x ^ ones * '"', lf = x ^ ones * '\n', cr = x ^ ones * '\r';
    return (((x - ones) | (comma - ones) | (quote - ones) | (lf - ones) | (cr - ones)) & high) == 0;
}

static bool csv_plain(char c)
{
    return c != ',' && c != '"' && c != '\n' && c != '\r' && c != 0;
}

/* How many bytes come before the next quote or NUL. */
static size_t csv_run(const char *text, size_t len)
{
    const uint64_t ones = 0x0101010101010101, high = ones << 7;
    size_t n = 0;
    for (uint64_t x; n + sizeof x <= len; n += sizeof x) {
        memcpy(&x, text + n, sizeof x);
        if ((((x - ones) | ((x ^ ones * '"') - ones)) & high) != 0)
            break;
    }
    while (n < len && text[n] != '"' && text[n] != 0)
        n++;
    return n;
}

static void csv_quoted(struct out *o, const char *text, size_t len)
{
    for (size_t n; len > 0; text += n, len -= n) {
        n = csv_run(text, len);
        out_bytes(o, text, n);
        if (n == len)
            break;
        if (text[n++] == '"')
            out_lit(o, "\"\"");
        else
            out_lit(o, UTF8_UNKNOWN); /* many readers take a NUL for the end of the text */
    }
}

void out_csv(struct out *o, const char *text, size_t len)
{
    size_t plain = 0;
    while (plain + 8 <= len && csv_plain8(text + plain))
        plain += 8;
    if (plain + 8 > len && len >= 8 && csv_plain8(text + len - 8)) /* the last eight, some of them once more */
        plain = len;
    while (plain < len && csv_plain(text[plain]))
        plain++;
    if (plain == len) {
        out_bytes(o, text, len);
        return;
    }
    out_char(o, '"');
    csv_quoted(o, text, len);
    out_char(o, '"');
}

/* A spreadsheet evaluates a text that begins with one of these characters as a formula, unless it is a number. */
static bool is_formula(const char *text, size_t len)
{
    char number[32], *end;
    if (len == 0 || !memchr("=+-@\t\r", *text, 6))
        return false;
    if ((*text != '+' && *text != '-') || len >= sizeof number)
        return true;
    memcpy(number, text, len);
    number[len] = 0;
    strtod(number, &end);
    return end == number || *end != 0;
}

void out_csv_safe(struct out *o, const char *text, size_t len)
{
    if (!is_formula(text, len)) {
        out_csv(o, text, len);
        return;
    }
    out_lit(o, "\"'");
    csv_quoted(o, text, len);
    out_char(o, '"');
}
