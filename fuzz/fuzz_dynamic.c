/* SPDX-License-Identifier: Apache-2.0 */
/* profiler_config.json, and the memory that ranks share: what others have written into it. The first byte says which: 0
 * PyTorch's keys, 1 MindSpore's, else pieces of the memory, each with its offset (3 bytes) in front. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "dynamic/board.h"
#include "dynamic/watch.h"

static char folder[] = "/tmp/ascope-fuzz-XXXXXX"; /* only its name: one for each process */

static void note(enum ascope_severity severity, const char *text, void *user)
{
    (void)severity;
    if (!*text || strchr(text, '\n'))
        abort(); /* one line */
    ++*(unsigned *)user;
}

static void read_config(const struct config_kind *kind, const char *text, size_t n)
{
    struct config c;
    struct error e = { 0 };
    unsigned n_notes = 0;
    if (!config_read(&c, kind, text, n, true, note, &n_notes, &e)) {
        if (e.fault == FAULT_NONE)
            abort(); /* a refusal gives its reason */
        return;
    }
    if (c.active < 1 || c.warmup < 0 || n_notes > 64)
        abort();
    config_has_rank(&c, 0);
    config_fini(&c);
}

/* As a process that has joined does it; nothing of it may reach beyond the memory. */
static void use_board(struct board *b)
{
    static struct board_view v;
    static struct board_rank rank[BOARD_RANKS];
    static struct board_offer offer[BOARD_RANKS];
    unsigned slot[BOARD_RANKS];
    struct board_news news;
    struct config_stamp stamp;
    struct error e = { 0 };
    struct config c;
    bool is_torn;
    uint64_t serial = 0, id;
    board_seen(b, &stamp, &is_torn);
    const size_t n = board_listeners(b, rank, slot);
    if (board_take(b, &serial, &news)) {
        if (news.text[news.n] != '\0')
            abort();
        if (config_read(&c, b->kind, news.text, news.n, false, NULL, NULL, &e)) {
            agreement_make(&(struct agreement){ .config_dir = "/nowhere", .steps_per_s = 1e300 }, &c, rank, slot, n,
                           true, offer);
            config_fini(&c);
        }
        free(news.text);
    }
    board_offer(b, b->number, &id);
    const bool is_read = board_read(folder, ASCOPE_DYNAMIC_PYTORCH, &v, &e); /* not if no rank is left in it */
    if (v.n_ranks > BOARD_RANKS || (is_read && v.n_ranks == 0))
        abort();
    for (uint32_t i = 0; i < v.n_ranks; i++)
        if (strlen(v.rank[i].dir) >= BOARD_DIR_BYTES)
            abort();
}

static void read_memory(const uint8_t *data, size_t size)
{
    enum { REACHED = 1 << 19 }; /* the slots, and the beginning of the text */
    struct board b;
    struct error e = { 0 };
    struct piece p;
    if (strstr(folder, "XXXXXX") && !mkdtemp(folder))
        abort();
    if (!board_join(&b, &config_kinds[ASCOPE_DYNAMIC_PYTORCH], folder, &e))
        abort();
    if (!b.is_private) {
        const int fd = open(b.path, O_RDWR | O_CLOEXEC); /* the board itself opens its file only when it needs it */
        if (fd < 0)
            abort();
        while (piece_next(&data, &size, &p)) {
            const off_t at = p.size > 3 ? (p.data[0] | p.data[1] << 8 | p.data[2] << 16) % REACHED : 0;
            if (p.size > 3 && pwrite(fd, p.data + 3, p.size - 3, at) < 0)
                abort();
        }
        close(fd);
        use_board(&b);
    }
    board_leave(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] < 2) {
        char *const text = malloc(size); /* exactly: a step beyond it is seen */
        memcpy(text, data + 1, size - 1);
        read_config(&config_kinds[data[0]], text, size - 1);
        free(text);
    } else {
        read_memory(data + 1, size - 1);
    }
    return 0;
}
