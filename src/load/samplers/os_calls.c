/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "load/samplers/usage_load.h"

#include <string.h>

#include "load/prof/text.h"

/* System calls are reported if their name contains one of these. */
/* clang-format off */
static const char *const reported_calls[] = {
    "_sysctl", "accept", "acct", "alarm", "bind", "bpf", "brk", "chroot", "connect", "copy_file_range", "creat",
    "dup", "fallocate", "fcntl", "flock", "fork", "futex", "ioctl", "ioperm", "iopl", "kill", "listen", "membarrier",
    "mlock", "mmap", "mount", "move_pages", "mprotect", "mq_notify", "mq_receive", "mq_timedreceive", "mremap",
    "msgctl", "msgget", "msgrcv", "msgsnd", "munmap", "nanosleep", "nfsservctl", "open", "pause", "pipe",
    "pivot_root", "poll", "prctl", "ptrace", "read", "reboot", "recv", "rt_sigqueueinfo", "sched_yield", "seccomp",
    "select", "semctl", "semget", "semop", "semtimedop", "send", "shmat", "shmctl", "shmdt", "shmget", "shutdown",
    "sigaction", "sigsuspend", "socket", "splice", "swapoff", "swapon", "sync", "tee", "tgsigqueueinfo", "truncate",
    "unshare", "uselib", "vhangup", "wait", "write",
};
/* clang-format on */

static bool is_reported_syscall(struct word name)
{
    for (size_t i = 0; i < sizeof reported_calls / sizeof *reported_calls; i++)
        if (memmem(name.at, name.len, reported_calls[i], strlen(reported_calls[i])))
            return true;
    return false;
}

static bool is_reported_pthread(struct word name)
{
    return !word_is(name, "pthread_once"); /* runs on every entry into a library, mostly to find that it already ran */
}

/* One line of a tracer. */
struct os_calls_os_call {
    struct word name;
    uint64_t thread; /* NO_THREAD: only one thread was traced so far */
    uint64_t at_ns;  /* on the tracer's clock */
    uint64_t dur_ns;
};
static const uint64_t NO_THREAD = UINT64_MAX, NOBODY = 0;

enum line_kind {
    LINE_BAD,
    LINE_CALL,
    LINE_REST,   /* of a call that was reported to be open, with its whole duration */
    LINE_OPEN,   /* a call that has not returned; its rest follows unless the tracer was stopped */
    LINE_NOTICE, /* not about a call: signals, exits */
    LINE_START,  /* the first line of a slice of ascope's recorder: when the collection started, on the clock of the
                   lines */
};

struct tracer {
    const char *family;
    enum line_kind (*read)(struct word line, struct os_calls_os_call *out);
    bool (*is_reported)(struct word name);
};

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name before the first parenthesis that follows one; *before is what stands in front of it. */
static bool find_name(struct word w, struct word *name, struct word *before)
{
    for (size_t i = 1; i < w.len; i++) {
        if (w.at[i] != '(' || !is_name_char(w.at[i - 1]))
            continue;
        size_t start = i;
        while (start > 0 && is_name_char(w.at[start - 1]))
            start--;
        *name = (struct word){ w.at + start, i - start };
        *before = word_trim((struct word){ w.at, start });
        return true;
    }
    return false;
}

/* "<command>/<thread>", or nothing. */
static bool read_command(struct word w, uint64_t *thread)
{
    *thread = NO_THREAD;
    if (w.len == 0)
        return true;
    const char *slash = memrchr(w.at, '/', w.len);
    if (!slash)
        return false;
    const size_t start = (size_t)(slash - w.at) + 1;
    return word_u64((struct word){ w.at + start, w.len - start }, thread);
}

/* perf trace: <ms> (<ms> ms): [<command>/<thread>] <name>(<arguments>) = <result>
 * A call that is not over yet has no duration; its rest has "... [continued]: <name>" for the name. A question mark for
 * the time: it began before the tracer did. */
static enum line_kind read_syscall(struct word line, struct os_calls_os_call *out)
{
    static const char rest_mark[] = "... [continued]:";
    const char *open = memchr(line.at, '(', line.len), *close = memmem(line.at, line.len, "):", 2);
    if (!open || !close || close < open)
        return LINE_BAD;
    struct word dur[2], time = word_trim((struct word){ line.at, (size_t)(open - line.at) });
    const size_t n = line_words(open + 1, (size_t)(close - open) - 1, dur, 2);
    struct word call = word_skip(line, (size_t)(close - line.at) + 2), command;
    const char *mark = memmem(call.at, call.len, rest_mark, sizeof rest_mark - 1);
    if (mark) {
        command = word_trim((struct word){ call.at, (size_t)(mark - call.at) });
        struct word nothing;
        if (!find_name(word_skip(call, (size_t)(mark - call.at) + sizeof rest_mark - 1), &out->name, &nothing))
            return LINE_BAD;
    } else if (!find_name(call, &out->name, &command)) {
        return LINE_BAD;
    }
    if (!read_command(command, &out->thread) || (!word_is(time, "?") && !word_fixed(time, 6, &out->at_ns)))
        return LINE_BAD;
    if (n == 0 || word_is(time, "?"))
        return LINE_OPEN;
    if (n < 2 || !word_is(dur[1], "ms") || !word_fixed(dur[0], 6, &out->dur_ns))
        return LINE_BAD;
    return mark ? LINE_REST : LINE_CALL;
}

/* ltrace: [[pid <thread>]] <s> <module>-><name>(<arguments>) = <result> <<s>>
 * A call that is not over yet ends in "<unfinished ...>"; its rest is "<... <name> resumed> …", with the time at which
 * it came back. */
static enum line_kind read_pthread(struct word line, struct os_calls_os_call *out)
{
    static const char unfinished[] = "<unfinished ...>";
    out->thread = NO_THREAD;
    if (word_starts(line, "[pid ")) {
        const char *close = memchr(line.at, ']', line.len);
        const size_t head = close ? (size_t)(close - line.at) : 0;
        if (!close || !word_u64(word_trim((struct word){ line.at + 5, head - 5 }), &out->thread))
            return LINE_BAD;
        line = word_skip(line, head + 1);
    }
    struct word word[3], nothing;
    const size_t n = line_words(line.at, line.len, word, 3);
    if (n < 2 || !word_fixed(word[0], 9, &out->at_ns))
        return LINE_BAD;
    if (word_is(word[1], "---") || word_is(word[1], "+++"))
        return LINE_NOTICE;
    const bool is_rest = n == 3 && word_is(word[1], "<...");
    out->name = word[n - 1];
    if (!is_rest && !find_name(word_skip(line, word[0].len), &out->name, &nothing))
        return LINE_BAD;
    const size_t len = sizeof unfinished - 1;
    if (line.len > len && memcmp(line.at + line.len - len, unfinished, len) == 0)
        return LINE_OPEN;
    const char *dur = memrchr(line.at, '<', line.len);
    if (!dur || line.at[line.len - 1] != '>' ||
        !word_fixed((struct word){ dur + 1, (size_t)(line.at + line.len - dur) - 2 }, 9, &out->dur_ns))
        return LINE_BAD;
    if (is_rest)
        out->at_ns -= out->dur_ns < out->at_ns ? out->dur_ns : out->at_ns;
    return is_rest ? LINE_REST : LINE_CALL;
}

static const struct tracer tracers[] = {
    { "host_pthreadcall.data", read_pthread, is_reported_pthread },
    { "host_syscall.data", read_syscall, is_reported_syscall },
};
enum { TRACERS = sizeof tracers / sizeof *tracers };

/* A cache: a program makes the same few calls again and again. */
struct os_calls_known_name {
    struct word text;
    bool is_reported;
    name_id id;
};
enum { KNOWN_NAMES = 64 };

struct os_reader {
    struct profile *profile;
    struct source *source;
    struct os_calls *calls;
    struct os_calls_known_name known[KNOWN_NAMES];
};

static const struct os_calls_known_name *look_up(struct os_reader *r, const struct tracer *tracer, struct word name)
{
    const size_t slot = (name.len * 31 + (uint8_t)name.at[0] * 7 + (uint8_t)name.at[name.len - 1]) % KNOWN_NAMES;
    struct os_calls_known_name *k = &r->known[slot];
    if (k->text.len != name.len || memcmp(k->text.at, name.at, name.len) != 0) {
        *k = (struct os_calls_known_name){ name, tracer->is_reported(name), NAME_EMPTY };
        if (k->is_reported)
            k->id = names_add(r->profile->names, name.at, name.len);
    }
    return k;
}

/* The offset of the tracers' clocks to the collection's was not recorded: as in the reference, the first line is
 * assumed to be at the beginning of the collection. In files of our recorder it is. */
static bool add_call(struct os_reader *r, const struct os_calls_os_call *call, uint64_t first_at_ns, name_id name)
{
    const uint64_t thread = call->thread == NO_THREAD ? r->source->pid : call->thread;
    const int64_t since = (int64_t)(call->at_ns - first_at_ns), most = INT64_MAX / 4;
    if (thread > UINT32_MAX || since > most || since < -most || call->dur_ns > (uint64_t)most)
        return false;
    struct os_calls *c = r->calls;
    c->name[c->n] = name;
    c->thread[c->n] = (uint32_t)thread;
    c->begin_ns[c->n] = stamp_add(r->source->begin_ns, since);
    c->dur_ns[c->n] = call->dur_ns;
    c->n++;
    return true;
}

static void read_trace(struct os_reader *r, const struct tracer *tracer, struct text *t)
{
    uint64_t first_at_ns = 0, n_open = 0;
    bool has_first = false;
    memset(r->known, 0, sizeof r->known);
    for (struct word line; text_next(t, &line);) {
        struct os_calls_os_call call = { 0 };
        enum line_kind kind = line.len > 0 ? tracer->read(line, &call) : LINE_NOTICE;
        if (kind == LINE_BAD)
            text_lost(t, LOSS_BAD_TEXT);
        if (kind == LINE_CALL && call.thread == NOBODY)
            kind = LINE_START;
        n_open += kind == LINE_OPEN;
        n_open -= kind == LINE_REST && n_open > 0;
        if (kind != LINE_CALL && kind != LINE_REST && kind != LINE_START)
            continue;
        if (!has_first)
            first_at_ns = call.at_ns;
        has_first = true;
        if (kind == LINE_START)
            continue;
        const struct os_calls_known_name *name = look_up(r, tracer, call.name);
        if (!name->is_reported)
            text_lost(t, LOSS_OTHER_KIND);
        else if (!add_call(r, &call, first_at_ns, name->id))
            text_lost(t, LOSS_BAD_VALUE);
    }
    losses_add(&r->source->lost, LOSS_UNPAIRED, n_open, t->stream->slice[0].name, 0);
}

bool os_calls_load(struct profile *p, struct source *s, struct usage *u, struct error *e)
{
    struct os_reader r = { .profile = p, .source = s, .calls = &u->calls };
    struct text text[TRACERS];
    bool is_there[TRACERS] = { false };
    size_t most = 0, n;
    for (size_t i = 0; i < TRACERS; i++) {
        const struct stream *stream = source_streams(s, tracers[i].family, &n);
        if (stream && !text_open(&text[i], s, stream, e))
            return false;
        is_there[i] = stream != NULL;
        most += stream ? text_lines(&text[i]) : 0;
    }
    struct os_calls *c = &u->calls;
    arena_columns(s->mem, most, c->name, c->thread, c->begin_ns, c->dur_ns);
    if (!c->name || !c->thread || !c->begin_ns || !c->dur_ns)
        return error_no_memory(e, s->path);
    for (size_t i = 0; i < TRACERS; i++)
        if (is_there[i])
            read_trace(&r, &tracers[i], &text[i]);
    for (size_t i = 0; i < c->n; i++)
        losses_add(&s->lost, LOSS_OUTSIDE, c->begin_ns[i] < s->begin_ns, "host_syscall.data", 0);
    return true;
}
