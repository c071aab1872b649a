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

static uint64_t python_word(const uint8_t *structure, uint16_t at)
{
    uint64_t v;
    memcpy(&v, structure + at, sizeof v);
    return v;
}

static bool python_read_word(const struct python_process *r, uint64_t at, uint64_t *to)
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
static const char *python_text(const struct python_process *r, uint64_t at)
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
    return arena_text(r->kept, text, used);
}

static int64_t python_line_of(const struct python_process *r, uint64_t lines, int64_t first_line, uint64_t at,
                              struct arena *mem)
{
    uint64_t n = 0;
    if (!python_read_word(r, lines + BYTES_SIZE, &n) || n > MOST_TABLE)
        return first_line;
    uint8_t *const table = arena_take(mem, n + 1, 1);
    const int64_t line =
        table && remote_read(r->pid, lines + BYTES_DATA, table, n) ? python_line(table, n, first_line, at) : first_line;
    arena_drop(mem, table);
    return line;
}

/* ---- frames and threads ------------------------------------------------------------------------------------------ */

/* The names of a code object, which are read once. NULL: no memory. */
static const struct python_code *python_code_of(struct python_process *r, uint64_t at, uint64_t file_at,
                                                uint64_t name_at)
{
    const uint32_t i = keys_add(&r->code_at, at, r->kept);
    if (i == KEYS_NO_MEMORY || (i == r->code.n && !list_add(&r->code, r->kept)))
        return NULL;
    struct python_code *const c = &r->code.at[i];
    if (!c->file || c->file_at != file_at || c->name_at != name_at)
        *c = (struct python_code){ file_at, name_at, python_text(r, file_at), python_text(r, name_at) };
    return c->file && c->function ? c : NULL;
}

static bool python_frame_read(struct python_process *r, uint64_t code, uint64_t instruction, enum python_lines lines,
                              struct live_frame *out, struct arena *mem)
{
    uint8_t is[MOST_STRUCTURE];
    const struct python_layout *const l = &r->layout;
    *out = (struct live_frame){ .file = "?", .function = "?" };
    if (code == 0 || !remote_read(r->pid, code, is, l->instructions))
        return true;
    const struct python_code *const c = python_code_of(r, code, python_word(is, l->file), python_word(is, l->name));
    int32_t first_line;
    memcpy(&first_line, is + l->first_line, sizeof first_line);
    const uint64_t begin = code + l->instructions;
    if (!c)
        return false;
    out->file = c->file;
    out->function = c->function;
    out->line = lines == PYTHON_LINES && instruction >= begin
                    ? python_line_of(r, python_word(is, l->lines), first_line, instruction - begin, mem)
                    : first_line;
    return true;
}

static bool python_thread_read(struct python_process *r, const uint8_t *is, enum python_lines lines,
                               struct python_thread *out, struct arena *mem)
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
        struct live_frame *const to = list_add(&out->frame, mem);
        if (!to || !python_frame_read(r, python_word(at, l->code), python_word(at, l->instruction), lines, to, mem))
            return false;
    }
    return true;
}

/* The thread that holds the GIL of an interpreter; 0: nobody does. */
static uint64_t python_gil_holder(const struct python_process *r, uint64_t interpreter)
{
    uint64_t gil = r->runtime, holder = 0;
    uint32_t locked = 0;
    if (r->layout.gil && !python_read_word(r, interpreter + r->layout.gil, &gil))
        return 0;
    return gil && remote_read(r->pid, gil + r->layout.locked, &locked, sizeof locked) && locked == 1 &&
                   python_read_word(r, gil + r->layout.holder, &holder)
               ? holder
               : 0;
}

static bool python_threads_read(struct python_process *r, uint64_t interpreter, uint64_t holder,
                                enum python_lines lines, struct python_stacks *out, struct arena *mem)
{
    const struct python_layout *const l = &r->layout;
    uint64_t at = 0;
    if (!python_read_word(r, interpreter + l->threads, &at))
        return true;
    while (at != 0 && out->thread.n < MOST_THREADS) {
        uint8_t is[MOST_STRUCTURE];
        if (!remote_read(r->pid, at, is, l->native_id + sizeof(uint64_t)))
            break;
        struct python_thread *const to = list_add(&out->thread, mem);
        if (!to)
            return false;
        to->holds_gil = at == holder;
        if (!python_thread_read(r, is, lines, to, mem))
            return false;
        at = python_word(is, l->thread_next);
    }
    return true;
}

/* NULL: the layout is known. */
static const char *python_layout_find(struct python_process *r, uint64_t version_at)
{
    enum { FREE_THREADED = 16, INTERPRETERS = 40, NEXT = 64, THREADS = 72, GIL = 112, TABLE = 120 };
    uint64_t version = 0;
    uint8_t is[TABLE];
    if (!remote_read(r->pid, version_at ? version_at : r->runtime, &version, sizeof version))
        return errno == EPERM ? "the kernel refuses to read this process: another user, or "
                                "/proc/sys/kernel/yama/ptrace_scope is not 0"
                              : "its memory cannot be read";
    for (size_t i = 0; version_at && i < sizeof python_layouts / sizeof *python_layouts; i++)
        if ((version >> 24 & 255) == 3 && python_layouts[i].minor == (version >> 16 & 255))
            r->layout = python_layouts[i];
    if (r->layout.minor == 0)
        return "stacks are read of Python 3.11 to 3.13 only";
    if (!r->layout.is_described)
        return NULL;
    if (!remote_read(r->pid, r->runtime, is, sizeof is) || memcmp(is, "xdebugpy", 8) != 0)
        return "its memory cannot be read";
    r->layout.interpreters = (uint16_t)python_word(is, INTERPRETERS);
    r->layout.next = (uint16_t)python_word(is, NEXT);
    r->layout.threads = (uint16_t)python_word(is, THREADS);
    r->layout.gil = (uint16_t)python_word(is, GIL);
    return python_word(is, FREE_THREADED) ? "stacks of an interpreter without GIL are not read" : NULL;
}

void python_open(struct python_process *p, pid_t pid, struct arena *kept)
{
    static const char *const prefix[] = { "python", "libpython" };
    const size_t n_prefixes = sizeof prefix / sizeof *prefix;
    *p = (struct python_process){ .pid = pid, .kept = kept };
    p->runtime = remote_symbol(pid, prefix, n_prefixes, "_PyRuntime");
    p->is_python = p->runtime != 0;
    if (p->is_python)
        p->why_not = python_layout_find(p, remote_symbol(pid, prefix, n_prefixes, "Py_Version")); /* since 3.11 */
}

bool python_stacks_read(struct python_stacks *out, struct python_process *p, enum python_lines lines, struct arena *mem)
{
    uint64_t interpreter = 0;
    *out = (struct python_stacks){ 0 };
    if (!p->is_python || p->why_not || !python_read_word(p, p->runtime + p->layout.interpreters, &interpreter))
        return true;
    for (size_t n = 0; interpreter != 0 && n < MOST_INTERPRETERS; n++) {
        if (!python_threads_read(p, interpreter, python_gil_holder(p, interpreter), lines, out, mem))
            return false;
        if (!python_read_word(p, interpreter + p->layout.next, &interpreter))
            break;
    }
    return true;
}
