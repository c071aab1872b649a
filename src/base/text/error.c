/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/large_memory.h"

/* The end of a long text is worth more than its middle, which is the path of a file. */
static void keep_both_ends(char *to, size_t size, const char *text)
{
    static const char gap[] = " ... ";
    const size_t len = strlen(text), head = (size - sizeof gap) / 2, tail = size - sizeof gap - head;
    if (len < size) {
        memcpy(to, text, len + 1);
        return;
    }
    memcpy(to, text, head);
    memcpy(to + head, gap, sizeof gap - 1);
    memcpy(to + head + sizeof gap - 1, text + len - tail, tail + 1);
}

bool error_set(struct error *e, enum fault fault, const char *fmt, ...)
{
    if (e->fault != FAULT_NONE)
        return false;
    e->fault = fault;
    char text[5000]; /* the longest path and a sentence */
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    keep_both_ends(e->text, sizeof e->text, n > 0 ? text : fmt);
    return false;
}

const char *no_memory_text(void)
{
    return memory_limit_met() ? "out of memory; raise --memory-limit, or free disk space for what exceeds it"
                              : "out of memory; free some memory and try again";
}

bool error_no_memory(struct error *e, const char *what)
{
    return error_set(e, FAULT_LIMIT, "%.4500s: %s", what, no_memory_text());
}

static const struct {
    const char *key, *text;
    bool is_damage;
    enum loss_place place;
} loss_kind[LOSS_KINDS] = {
    [LOSS_CUT_SHORT] = { "cut_short", "records cut short", true, LOSS_AT_BYTE },
    [LOSS_MISSING_SLICE] = { "missing_slice", "slices missing inside a stream", true, LOSS_AT_BYTE },
    [LOSS_BAD_MAGIC] = { "bad_magic", "records with a wrong magic number", true, LOSS_AT_BYTE },
    [LOSS_BAD_VALUE] = { "bad_value", "records with impossible values", true, LOSS_AT_BYTE },
    [LOSS_BAD_TEXT] = { "bad_text", "lines that could not be parsed", true, LOSS_AT_BYTE },
    [LOSS_HOLE] = { "holes", "holes in files, whose bytes were never written", true, LOSS_IN_FILE },
    [LOSS_UNREADABLE] = { "unreadable", "files that could not be read", true, LOSS_IN_FILE },
    [LOSS_FILE_GONE] = { "file_gone", "files missing since the recording ended", true, LOSS_IN_FILE },
    [LOSS_FILE_LENGTH] = { "file_length", "files cut or extended since the recording ended", true, LOSS_IN_FILE },
    [LOSS_FILE_CHANGED] = { "file_changed", "files with other content than when the recording ended", true,
                            LOSS_IN_FILE },
    [LOSS_UNREAD] = { "unread", "streams that this version does not read", true, LOSS_IN_FILE },
    [LOSS_AMBIGUOUS] = { "ambiguous", "device tasks claimed by several host tasks", true, LOSS_AT_BYTE },
    [LOSS_NEWER] = { "newer", "records of a newer format, of which only the known part was used", true, LOSS_AT_BYTE },
    [LOSS_REPAIRED] = { "repaired", "events with unescaped texts, which were read nevertheless", false, LOSS_AT_BYTE },
    [LOSS_DEVICE_KIND] = { "device_kind", "slices of a device of unknown categories", true, LOSS_IN_FILE },
    [LOSS_OTHER_KIND] = { "other_kind", "records of kinds that no report uses", false, LOSS_AT_BYTE },
    [LOSS_RING_FULL] = { "ring_full", "records dropped while recording: ring full", true, LOSS_REPORTED_BY },
    [LOSS_THREADS] = { "too_many_threads", "records dropped while recording: too many threads", true,
                       LOSS_REPORTED_BY },
    [LOSS_DESCRIPTOR] = { "no_descriptor", "records dropped while recording: no free descriptor", true,
                          LOSS_REPORTED_BY },
    [LOSS_PERMISSION] = { "no_permission", "records dropped while recording: no permission", true, LOSS_REPORTED_BY },
    [LOSS_SPACE] = { "no_space", "records dropped while recording: no space on the disk", true, LOSS_REPORTED_BY },
    [LOSS_LONG_NAME] = { "name_too_long", "records dropped while recording: name too long", true, LOSS_REPORTED_BY },
    [LOSS_NOT_WRITTEN] = { "not_written", "records dropped while recording: a file could not be written", true,
                           LOSS_REPORTED_BY },
    [LOSS_RINGS] = { "damaged_rings", "damaged places in ascope.rings, whose records are missing", true,
                     LOSS_REPORTED_BY },
    [LOSS_NOT_RECOVERED] = { "not_recovered", "recordings that never ended, whose last records are missing", true,
                             LOSS_REPORTED_BY },
    [LOSS_AGED] = { "aged", "slices deleted to stay within the storage limit", false, LOSS_REPORTED_BY },
    [LOSS_OPEN_RANGE] = { "open_range", "ranges of marks that never ended", false, LOSS_REPORTED_BY },
    [LOSS_UNPAIRED] = { "unpaired", "unpaired begin/end records", false, LOSS_AT_BYTE },
    [LOSS_UNMATCHED] = { "unmatched", "records that match no call or task", false, LOSS_AT_BYTE },
    [LOSS_OUTSIDE] = { "outside", "records from before the collection began", false, LOSS_AT_BYTE },
};

void losses_add(struct losses *l, enum loss why, uint64_t n, const char *file, uint64_t offset)
{
    if (n == 0)
        return;
    if (l->by[why].n == 0) {
        l->by[why].file = file;
        l->by[why].first_at = offset;
    }
    l->by[why].n += n;
}

void losses_merge(struct losses *into, const struct losses *from)
{
    for (int why = 0; why < LOSS_KINDS; why++)
        losses_add(into, (enum loss)why, from->by[why].n, from->by[why].file, from->by[why].first_at);
}

const char *loss_text(enum loss why)
{
    return loss_kind[why].text;
}

const char *loss_key(enum loss why)
{
    return loss_kind[why].key;
}

enum loss_place loss_place(enum loss why)
{
    return loss_kind[why].place;
}

bool loss_is_damage(enum loss why)
{
    return loss_kind[why].is_damage;
}

uint64_t losses_damage(const struct losses *l)
{
    uint64_t n = 0;
    for (int why = 0; why < LOSS_KINDS; why++)
        n += loss_kind[why].is_damage ? l->by[why].n : 0;
    return n;
}
