/* SPDX-License-Identifier: Apache-2.0 */
#include "live/python_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "live/remote_memory.h"

enum {
    MOST_THREADS = 4096,
    MOST_INTERPRETERS = 64,
    MOST_FRAMES = 1024,
    MOST_CHARACTERS = 4096,
    MOST_TABLE = 1 << 20,
    MOST_STRUCTURE = 256
};

/* Offsets within the structures of CPython: pycore_runtime.h, pycore_interp.h, pystate.h, pycore_frame.h, code.h. */
struct python_layout {
    unsigned minor;               /* of Python 3 */
    bool is_described;            /* those of the interpreter are in a table at the begin of _PyRuntime */
    uint16_t gil, holder, locked; /* gil: of the interpreter's pointer to it; 0: it is in _PyRuntime */
    uint16_t interpreters;        /* in _PyRuntime */
    uint16_t next, threads;       /* of an interpreter */
    uint16_t thread_next, native_id;
    uint16_t thread_frame,
        cframe; /* cframe: the former is of a structure that has the frame here; NO_CFRAME: of the frame */
    uint16_t previous, code, instruction, owner;
    uint16_t ascii, wide;                                 /* characters of a text: of ASCII, of others */
    uint16_t file, name, first_line, lines, instructions; /* of a code object */
};

enum { NO_CFRAME = UINT16_MAX, OWNER_IS_C = 3 }; /* frames of C, which have no code */

static const struct python_layout python_layouts[] = {
    { .minor = 11,
      .holder = 368,
      .locked = 376,
      .interpreters = 40,
      .next = 0,
      .threads = 16,
      .thread_next = 8,
      .native_id = 160,
      .thread_frame = 56,
      .cframe = 8,
      .previous = 48,
      .code = 32,
      .instruction = 56,
      .owner = 69,
      .ascii = 48,
      .wide = 72,
      .file = 112,
      .name = 128,
      .first_line = 72,
      .lines = 136,
      .instructions = 184 },
    { .minor = 12,
      .gil = 384,
      .holder = 8,
      .locked = 16,
      .interpreters = 40,
      .next = 0,
      .threads = 72,
      .thread_next = 8,
      .native_id = 144,
      .thread_frame = 56,
      .cframe = 0,
      .previous = 8,
      .code = 0,
      .instruction = 56,
      .owner = 70,
      .ascii = 40,
      .wide = 56,
      .file = 112,
      .name = 128,
      .first_line = 68,
      .lines = 136,
      .instructions = 192 },
    { .minor = 13,
      .is_described = true,
      .holder = 8,
      .locked = 16,
      .thread_next = 8,
      .native_id = 160,
      .thread_frame = 72,
      .cframe = NO_CFRAME,
      .previous = 8,
      .code = 0,
      .instruction = 56,
      .owner = 70,
      .ascii = 40,
      .wide = 56,
      .file = 112,
      .name = 128,
      .first_line = 68,
      .lines = 136,
      .instructions = 200 },
};

/* Of all these versions: PyASCIIObject, PyBytesObject. */
enum { TEXT_LENGTH = 16, TEXT_STATE = 32, BYTES_SIZE = 16, BYTES_DATA = 32 };

struct python_reader {
    pid_t pid;
    struct python_layout layout;
    struct arena *mem;
};

static uint64_t python_word(const uint8_t *structure, uint16_t at)
{
    uint64_t v;
    memcpy(&v, structure + at, sizeof v);
    return v;
}

static bool python_read_word(const struct python_reader *r, uint64_t at, uint64_t *to)
{
    return at != 0 && remote_read(r->pid, at, to, sizeof *to);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static uint32_t python_varint(const uint8_t *table, size_t n, size_t *at)
{
    uint32_t v = 0;
    for (unsigned shift = 0; *at < n && shift < 30; shift += 6) {
        const uint8_t byte = table[(*at)++];
        v |= (uint32_t)(byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return v;
}

int64_t python_line(const uint8_t *table, size_t n, int64_t first_line, uint64_t at)
{
    enum { NO_COLUMNS = 13, LONG = 14, NO_LINE = 15, ONE_LINE = 10 };
    int64_t line = first_line;
    uint64_t end = 0;
    for (size_t i = 0; i < n;) {
        const unsigned kind = table[i] >> 3 & 15;
        end += ((table[i] & 7u) + 1) * 2;
        i++;
        if (kind == LONG || kind == NO_COLUMNS) {
            const uint32_t v = python_varint(table, n, &i);
            line += v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
        } else if (kind >= ONE_LINE && kind < NO_COLUMNS) {
            line += kind - ONE_LINE;
        }
        if (at < end)
            return line;
        while (i < n && !(table[i] & 128)) /* the columns: only the first byte of an entry has this bit */
            i++;
    }
    return line;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static size_t python_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    const unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = { 0, 0xC0, 0xE0, 0xF0 };
    to[0] = (char)(lead[more] | c >> (6 * more));
    for (unsigned i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (c >> (6 * (more - i)) & 63));
    return more + 1;
}

/* "?": it cannot be read. NULL: no memory. */
static const char *python_text(const struct python_reader *r, uint64_t at)
{
    uint8_t head[TEXT_STATE + 8], data[MOST_CHARACTERS * 4];
    char text[MOST_CHARACTERS * 4 + 1];
    if (at == 0 || !remote_read(r->pid, at, head, sizeof head))
        return "?";
    const uint64_t n = python_word(head, TEXT_LENGTH);
    const unsigned kind = head[TEXT_STATE] >> 2 & 7;
    const bool is_compact = head[TEXT_STATE] & 32, is_ascii = head[TEXT_STATE] & 64;
    if (!is_compact || n > MOST_CHARACTERS || (kind != 1 && kind != 2 && kind != 4) ||
        !remote_read(r->pid, at + (is_ascii ? r->layout.ascii : r->layout.wide), data, n * kind))
        return "?";
    size_t used = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t c = 0;
        memcpy(&c, data + i * kind, kind);
        used += python_utf8(text + used, c < 0x110000 ? c : '?');
    }
    return arena_text(r->mem, text, used);
}

static int64_t python_line_of(const struct python_reader *r, uint64_t lines, int64_t first_line, uint64_t at)
{
    uint64_t n = 0;
    if (!python_read_word(r, lines + BYTES_SIZE, &n) || n > MOST_TABLE)
        return first_line;
    uint8_t *const table = arena_take(r->mem, n + 1, 1);
    const int64_t line =
        table && remote_read(r->pid, lines + BYTES_DATA, table, n) ? python_line(table, n, first_line, at) : first_line;
    arena_drop(r->mem, table);
    return line;
}

/* ---- frames and threads ------------------------------------------------------------------------------------------ */

static bool python_frame_read(const struct python_reader *r, uint64_t code, uint64_t instruction,
                              struct live_frame *out)
{
    uint8_t is[MOST_STRUCTURE];
    const struct python_layout *const l = &r->layout;
    *out = (struct live_frame){ .file = "?", .function = "?" };
    if (code == 0 || !remote_read(r->pid, code, is, l->instructions))
        return true;
    out->file = python_text(r, python_word(is, l->file));
    out->function = python_text(r, python_word(is, l->name));
    int32_t first_line;
    memcpy(&first_line, is + l->first_line, sizeof first_line);
    const uint64_t begin = code + l->instructions;
    out->line = instruction >= begin ? python_line_of(r, python_word(is, l->lines), first_line, instruction - begin)
                                     : first_line;
    return out->file && out->function;
}

static bool python_thread_read(const struct python_reader *r, const uint8_t *is, struct python_thread *out)
{
    const struct python_layout *const l = &r->layout;
    uint64_t frame = 0;
    out->tid = (pid_t)python_word(is, l->native_id);
    frame = python_word(is, l->thread_frame);
    if (l->cframe != NO_CFRAME && !python_read_word(r, frame + l->cframe, &frame))
        return true;
    for (size_t n = 0; frame != 0 && n < MOST_FRAMES; n++) {
        uint8_t at[MOST_STRUCTURE];
        if (!remote_read(r->pid, frame, at, l->owner + 1u))
            break;
        frame = python_word(at, l->previous);
        if (at[l->owner] == OWNER_IS_C)
            continue;
        struct live_frame *const to = list_add(&out->frame, r->mem);
        if (!to || !python_frame_read(r, python_word(at, l->code), python_word(at, l->instruction), to))
            return false;
    }
    return true;
}

/* The thread that holds the GIL of an interpreter; 0: nobody does. */
static uint64_t python_gil_holder(const struct python_reader *r, uint64_t runtime, uint64_t interpreter)
{
    uint64_t gil = runtime, holder = 0;
    uint32_t locked = 0;
    if (r->layout.gil && !python_read_word(r, interpreter + r->layout.gil, &gil))
        return 0;
    return gil && remote_read(r->pid, gil + r->layout.locked, &locked, sizeof locked) && locked == 1 &&
                   python_read_word(r, gil + r->layout.holder, &holder)
               ? holder
               : 0;
}

static bool python_threads_read(const struct python_reader *r, uint64_t interpreter, uint64_t holder,
                                struct python_stacks *out)
{
    const struct python_layout *const l = &r->layout;
    uint64_t at = 0;
    if (!python_read_word(r, interpreter + l->threads, &at))
        return true;
    while (at != 0 && out->thread.n < MOST_THREADS) {
        uint8_t is[MOST_STRUCTURE];
        if (!remote_read(r->pid, at, is, l->native_id + sizeof(uint64_t)))
            break;
        struct python_thread *const to = list_add(&out->thread, r->mem);
        if (!to)
            return false;
        to->holds_gil = at == holder;
        if (!python_thread_read(r, is, to))
            return false;
        at = python_word(is, l->thread_next);
    }
    return true;
}

/* NULL: the layout is known. */
static const char *python_layout_find(struct python_reader *r, struct python_stacks *out, uint64_t runtime,
                                      uint64_t version_at)
{
    enum { FREE_THREADED = 16, INTERPRETERS = 40, NEXT = 64, THREADS = 72, GIL = 112, TABLE = 120 };
    uint64_t version = 0;
    uint8_t is[TABLE];
    if (!remote_read(r->pid, version_at ? version_at : runtime, &version, sizeof version))
        return errno == EPERM ? "the kernel refuses to read this process: another user, or "
                                "/proc/sys/kernel/yama/ptrace_scope is not 0"
                              : "its memory cannot be read";
    out->major = version_at ? (unsigned)(version >> 24 & 255) : 0;
    out->minor = version_at ? (unsigned)(version >> 16 & 255) : 0;
    for (size_t i = 0; i < sizeof python_layouts / sizeof *python_layouts; i++)
        if (out->major == 3 && python_layouts[i].minor == out->minor)
            r->layout = python_layouts[i];
    if (r->layout.minor == 0)
        return "stacks are read of Python 3.11 to 3.13 only";
    if (!r->layout.is_described)
        return NULL;
    if (!remote_read(r->pid, runtime, is, sizeof is) || memcmp(is, "xdebugpy", 8) != 0)
        return "its memory cannot be read";
    r->layout.interpreters = (uint16_t)python_word(is, INTERPRETERS);
    r->layout.next = (uint16_t)python_word(is, NEXT);
    r->layout.threads = (uint16_t)python_word(is, THREADS);
    r->layout.gil = (uint16_t)python_word(is, GIL);
    return python_word(is, FREE_THREADED) ? "stacks of an interpreter without GIL are not read" : NULL;
}

bool python_stacks_read(struct python_stacks *out, pid_t pid, struct arena *mem)
{
    static const char *const prefix[] = { "python", "libpython" };
    const size_t n_prefixes = sizeof prefix / sizeof *prefix;
    struct python_reader r = { .pid = pid, .mem = mem };
    uint64_t interpreter = 0;
    *out = (struct python_stacks){ 0 };
    const uint64_t runtime = remote_symbol(pid, prefix, n_prefixes, "_PyRuntime");
    if (runtime == 0)
        return true;
    out->is_python = true;
    out->why_not = python_layout_find(&r, out, runtime, remote_symbol(pid, prefix, n_prefixes, "Py_Version"));
    if (out->why_not)
        return true;
    if (!python_read_word(&r, runtime + r.layout.interpreters, &interpreter)) {
        out->why_not = "its memory cannot be read";
        return true;
    }
    for (size_t n = 0; interpreter != 0 && n < MOST_INTERPRETERS; n++) {
        if (!python_threads_read(&r, interpreter, python_gil_holder(&r, runtime, interpreter), out))
            return false;
        if (!python_read_word(&r, interpreter + r.layout.next, &interpreter))
            break;
    }
    return true;
}
