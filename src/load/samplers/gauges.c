/* SPDX-License-Identifier: Apache-2.0 */
#include "load/samplers/usage_load.h"

#include <string.h>

#include "base/text/table.h"
#include "load/prof/prof.h"

/* The reference's decimals have 28 digits. long double has as many on aarch64, but only 19 on x86. */
#if defined(__x86_64__)
typedef __float128 quad;
#else
typedef long double quad;
#endif

/* A stamp of the host's monotonic clock as wall-clock time. False: it cannot be one. */
static bool gauge_time(const struct source *s, struct word w, int64_t *out)
{
    uint64_t mono;
    /* At most half of the range, so that adding periods cannot overflow. */
    return word_u64(w, &mono) && mono < INT64_MAX / 2 &&
           !__builtin_add_overflow((int64_t)mono, s->wall_offset_ns, out) && *out < INT64_MAX / 2;
}

bool gauge_head(const struct source *s, struct word line, int64_t *at_ns)
{
    struct word word[2];
    const size_t n = line_words(line.at, line.len, word, 2);
    if (n == 0 || !word_is(word[0], "time"))
        return false;
    if (n < 2 || !gauge_time(s, word[1], at_ns))
        *at_ns = NO_TIME;
    return true;
}

double gauge_percent(u128 part, u128 whole)
{
    const u128 scaled = part * 100000000, twice = scaled % whole * 2;
    u128 q = scaled / whole;
    q += twice > whole || (twice == whole && (q & 1));
    return (double)q / 1e6;
}

uint64_t gauge_setting(struct source *s, const char *key, int64_t value, int64_t most)
{
    if (value > 0 && value <= most)
        return (uint64_t)value;
    setting_lost(s, key);
    return 0;
}

/* ---- host_mem.data: "<ns> <size> <resident> …", in pages of 4 KiB ---- */

static bool load_memory(struct source *s, struct text *t, struct gauge *g)
{
    const uint64_t total_kb = gauge_setting(s, "memoryTotal", s->settings.memory_kb, INT64_MAX);
    int64_t before = NO_TIME, at_ns;
    for (struct word line; total_kb > 0 && text_next(t, &line);) {
        struct word word[3];
        uint64_t resident;
        const size_t n = line_words(line.at, line.len, word, 3);
        if (n == 0)
            continue;
        if (n < 3 || !gauge_time(s, word[0], &at_ns) || !word_u64(word[2], &resident)) {
            text_lost(t, LOSS_BAD_TEXT);
            continue;
        }
        if (before != NO_TIME) /* the value at the end of a period represents it */
            gauge_add(g, before, gauge_percent((u128)resident * 4, total_kb));
        before = at_ns;
    }
    return true;
}

/* ---- host_network.data: the head, then lines of /proc/net/dev ---- */

struct card {
    const char *name;
    double bytes_per_s; /* its nominal speed */
    uint64_t rx, tx;    /* in the sample that `seen` numbers */
    uint64_t seen;
};

enum { CARDS_MOST = 256 }; /* at most so many are counted: a damaged file may have any names */
struct counted_card {
    struct card_use use;
    uint64_t rx, tx; /* in the sample before */
};

struct network {
    struct source *source;
    struct gauge *gauge;
    LIST(struct counted_card) counted;
    struct card *card;
    size_t n_cards;
    uint64_t sample;       /* its number, from 2: 0 is "never seen" */
    int64_t at_ns, before; /* of this sample and the one before; NO_TIME: none, or without a time */
    u128 bytes;            /* that passed since the sample before, through n_counted cards */
    size_t n_counted, last;
};

static bool read_cards(struct network *w)
{
    const struct settings *t = &w->source->settings;
    w->card = arena_take(w->source->mem, t->n_cards + 1, sizeof *w->card);
    for (size_t i = 0; w->card && i < t->n_cards; i++)
        if (t->card[i].mbits > 0 && *t->card[i].name)
            w->card[w->n_cards++] = (struct card){ .name = t->card[i].name, .bytes_per_s = t->card[i].mbits * 125000 };
    return w->card != NULL;
}

static void add_network_row(struct network *w)
{
    if (w->n_counted == 0 || w->before == NO_TIME || w->at_ns == NO_TIME)
        return;
    /* Seconds as the reference holds them, in a double: the tenth digit of the speed depends on it. */
    const int64_t offset = w->source->wall_offset_ns;
    const double seconds = (double)(w->at_ns - offset) / 1e9 - (double)(w->before - offset) / 1e9;
    const quad mean = (quad)w->bytes / (quad)w->n_counted;
    const quad speed = seconds > 0 ? mean / (quad)seconds : 0;
    const quad percent = speed * 100 / (quad)w->card[w->last].bytes_per_s;
    const size_t row = gauge_add(w->gauge, w->before, round_exact((double)percent, 6));
    w->gauge->speed[0][row] = (double)speed * (double)w->n_counted / 1024;
}

static void next_network_sample(struct network *w, int64_t at_ns)
{
    add_network_row(w);
    w->before = w->at_ns;
    w->at_ns = at_ns;
    w->bytes = 0;
    w->n_counted = 0;
    w->sample++;
}

/* A counter that has decreased was reset to 0. */
static void card_count(struct network *w, struct word name, uint64_t rx, uint64_t tx)
{
    struct counted_card *c = NULL;
    name = word_trim(name);
    for (size_t i = 0; i < w->counted.n && !c; i++) /* a handful */
        c = word_is(name, w->counted.at[i].use.name) ? &w->counted.at[i] : NULL;
    if (c) {
        c->use.received += rx - (rx < c->rx ? 0 : c->rx);
        c->use.sent += tx - (tx < c->tx ? 0 : c->tx);
    } else if (w->counted.n < CARDS_MOST && name.len < USE_NAME_BYTES && (c = list_add(&w->counted, w->source->mem))) {
        word_copy(c->use.name, sizeof c->use.name, name);
    }
    if (c) {
        c->rx = rx;
        c->tx = tx;
    }
}

static void keep_cards(struct network *w)
{
    struct card_uses *const out = &w->gauge->cards;
    out->at = arena_take(w->source->mem, w->counted.n + 1, sizeof *out->at);
    for (size_t i = 0; out->at && i < w->counted.n; i++)
        out->at[out->n++] = w->counted.at[i].use;
}

static bool network_line(struct network *w, struct word line)
{
    enum { RX_BYTES = 0, TX_BYTES = 8, LEAST_WORDS = 11 };
    const char *colon = memrchr(line.at, ':', line.len);
    const struct word name = { line.at, colon ? (size_t)(colon - line.at) : 0 };
    struct word word[LEAST_WORDS];
    uint64_t rx, tx;
    if (!colon || line_words(colon + 1, line.len - name.len - 1, word, LEAST_WORDS) < LEAST_WORDS ||
        !word_u64(word[RX_BYTES], &rx) || !word_u64(word[TX_BYTES], &tx))
        return false;
    card_count(w, name, rx, tx);
    for (size_t i = 0; i < w->n_cards; i++) { /* a handful */
        struct card *c = &w->card[i];
        if (!word_is(name, c->name))
            continue;
        if (c->seen + 1 == w->sample && rx >= c->rx && tx >= c->tx) {
            w->bytes += (u128)(rx - c->rx) + (tx - c->tx);
            w->n_counted++;
        }
        *c = (struct card){ c->name, c->bytes_per_s, rx, tx, w->sample };
        w->last = i;
        break;
    }
    return true;
}

static bool load_network(struct source *s, struct text *t, struct gauge *g)
{
    struct network w = { .source = s, .gauge = g, .sample = 1, .at_ns = NO_TIME, .before = NO_TIME };
    if (!read_cards(&w))
        return false;
    int64_t at_ns;
    for (struct word line; text_next(t, &line);) {
        if (line.len > 0 && gauge_head(s, line, &at_ns)) {
            next_network_sample(&w, at_ns);
            if (at_ns == NO_TIME)
                text_lost(t, LOSS_BAD_TEXT);
        } else if (line.len > 0 && (w.sample == 1 || !network_line(&w, line))) {
            text_lost(t, LOSS_BAD_TEXT);
        }
    }
    next_network_sample(&w, NO_TIME);
    keep_cards(&w);
    return true;
}

/* ---- host_disk.data: what iotop prints, and "start_time <ns>" ---- */

struct disk_unit {
    const char *text;
    double kb;
};
static const struct disk_unit disk_units[] = {
    { "B/s", 1.0 / 1024 }, { "K/s", 1 }, { "M/s", 1024 }, { "G/s", 1048576 }
};

static bool disk_speed(struct word number, struct word unit, double *out)
{
    for (size_t i = 0; i < sizeof disk_units / sizeof *disk_units; i++)
        if (word_is(unit, disk_units[i].text) && word_real(number, out) && *out >= 0) {
            *out *= disk_units[i].kb;
            return true;
        }
    return false;
}

/* hh:mm:ss pid prio user read unit write unit [swap % io %] command */
static bool disk_line(struct gauge *g, struct word line)
{
    enum { PID = 1, READ = 4, WRITE = 6, SWAP = 8, IO = 10, LEAST_WORDS = 8 };
    struct word word[IO + 1];
    const size_t n = line_words(line.at, line.len, word, IO + 1);
    uint64_t pid;
    double speed[2], percent = 0;
    if (n < LEAST_WORDS || !word_u64(word[PID], &pid) || !disk_speed(word[READ], word[READ + 1], &speed[0]) ||
        !disk_speed(word[WRITE], word[WRITE + 1], &speed[1]))
        return false;
    const bool is_known = n > IO && !memmem(word[SWAP].at, word[SWAP].len, "unavailable", strlen("unavailable"));
    if (is_known && !word_real(word[IO], &percent))
        return false;
    const size_t row = gauge_add(g, 0, percent);
    g->speed[0][row] = speed[0];
    g->speed[1][row] = speed[1];
    return true;
}

/* The times of iotop are whole seconds: lines are placed one period apart, beginning when it was started. */
static void place_disk_rows(struct gauge *g, size_t first, int64_t start_ns, uint64_t per_s)
{
    for (size_t i = first; i < g->n; i++)
        g->begin_ns[i] = start_ns + (int64_t)((i - first) * 1000000000 / per_s);
}

static bool load_disk(struct source *s, struct text *t, struct gauge *g)
{
    const int64_t asked = s->settings.disk_samples_per_s;
    const uint64_t per_s = asked > 0 && asked <= 1000000000 ? (uint64_t)asked : 50;
    g->period_s = 1.0 / (double)per_s;
    size_t first = 0; /* row of the current run of the tool */
    int64_t start_ns = s->begin_ns;
    bool is_ahead =
        false; /* the start was reported before the lines; the collector reports it when the tool has ended */
    for (struct word line; text_next(t, &line);) {
        struct word word[2];
        const size_t n = line_words(line.at, line.len, word, 2);
        int64_t at_ns;
        if (n == 2 && word_is(word[0], "start_time") && gauge_time(s, word[1], &at_ns)) {
            is_ahead = is_ahead || g->n == 0;
            place_disk_rows(g, first, is_ahead ? start_ns : at_ns, per_s);
            start_ns = is_ahead ? at_ns : s->begin_ns;
            first = g->n;
        } else if (n > 0 && !disk_line(g, line) && !memmem(line.at, line.len, "DISK", 4)) {
            text_lost(t, LOSS_BAD_TEXT); /* the tool's own headings and totals contain DISK READ and DISK WRITE */
        }
    }
    place_disk_rows(g, first, start_ns, per_s);
    return true;
}

/* ---- all of them ---- */

static const struct {
    const char *family;
    bool (*load)(struct source *s, struct text *t, struct gauge *g);
    bool has_cpu;
    uint8_t n_speeds;
} gauge_files[GAUGES] = {
    [GAUGE_CPU] = { "host_cpu.data", gauge_load_cpu, true, 0 },
    [GAUGE_MEMORY] = { "host_mem.data", load_memory, false, 0 },
    [GAUGE_NETWORK] = { "host_network.data", load_network, false, 1 },
    [GAUGE_DISK] = { "host_disk.data", load_disk, false, 2 },
};

/* A period takes a line at least, so there are no more rows than lines. */
static bool take_rows(struct source *s, struct gauge *g, size_t most, bool has_cpu, size_t n_speeds)
{
    g->is_sampled = true;
    g->begin_ns = arena_take(s->mem, most, sizeof *g->begin_ns);
    g->percent = arena_take(s->mem, most, sizeof *g->percent);
    g->cpu = has_cpu ? arena_take(s->mem, most, sizeof *g->cpu) : NULL;
    for (size_t i = 0; i < n_speeds; i++)
        g->speed[i] = arena_take(s->mem, most, sizeof *g->speed[i]);
    return !arena_failed(s->mem);
}

bool gauges_load(struct source *s, struct usage *u, struct error *e)
{
    for (size_t k = 0; k < GAUGES; k++) {
        struct gauge *g = &u->gauge[k];
        size_t n;
        const struct stream *stream = source_streams(s, gauge_files[k].family, &n);
        struct text t;
        if (!stream)
            continue;
        if (!text_open(&t, s, stream, e))
            return false;
        if (!take_rows(s, g, text_lines(&t), gauge_files[k].has_cpu, gauge_files[k].n_speeds) ||
            !gauge_files[k].load(s, &t, g) || arena_failed(s->mem))
            return error_no_memory(e, s->path);
        for (size_t i = 0; i < g->n; i++)
            losses_add(&s->lost, LOSS_OUTSIDE, g->begin_ns[i] < s->begin_ns, stream->slice[0].name, 0);
    }
    return true;
}
