#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

bool error_set(struct error *e, enum fault fault, const char *fmt, ...)
{
    if (e->fault != FAULT_NONE)
        return false;
    e->fault = fault;
    va_list args;
    va_start(args, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, args);
    va_end(args);
    return false;
}

static const struct {
    const char *key, *text;
    bool is_damage;
} loss_kind[LOSS_KINDS] = {
    [LOSS_CUT_SHORT] = { "cut_short", "records cut short", true },
    [LOSS_MISSING_SLICE] = { "missing_slice", "slices missing inside a stream", true },
    [LOSS_BAD_MAGIC] = { "bad_magic", "records that do not begin as they must", true },
    [LOSS_BAD_VALUE] = { "bad_value", "records with impossible values", true },
    [LOSS_BAD_TEXT] = { "bad_text", "lines that could not be understood", true },
    [LOSS_UNREADABLE] = { "unreadable", "files that could not be read", true },
    [LOSS_AMBIGUOUS] = { "ambiguous", "device tasks claimed by several host tasks", true },
    [LOSS_NEWER] = { "newer", "records of a newer form, of which only the known part was used", true },
    [LOSS_OTHER_KIND] = { "other_kind", "records of kinds that no report uses", false },
    [LOSS_UNPAIRED] = { "unpaired", "begins without an end, or ends without a begin", false },
    [LOSS_UNMATCHED] = { "unmatched", "records that belong to no call or task", false },
    [LOSS_OUTSIDE] = { "outside", "records from before the collection began", false },
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
