/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/marks/mark_domain.h"

#include <stdlib.h>
#include <string.h>

#include "raw/name_hash.h"

struct ascope_domain domains[DOMAINS_MOST] = { { .name = "default", .name_bytes = 7 } };
static _Atomic uint32_t n_domains = 1; /* used elements of `domains` */

enum { TABLE = 2 * DOMAINS_MOST };
static struct ascope_domain *_Atomic table[TABLE];

/* ---- which are recorded ---- */

/* Lists are never freed: a domain may be in the making on another thread. The same ones again cost nothing. */
struct filter {
    const struct filter *older;
    const char *exclude; /* behind the other one */
    char include[];
};
static const struct filter *_Atomic filter;

static bool list_has(const char *list, const char *name, size_t n)
{
    for (const char *at = list; *at;) {
        at += strspn(at, ", ");
        const char *const end = at + strcspn(at, ",");
        size_t length = (size_t)(end - at);
        while (length > 0 && at[length - 1] == ' ')
            length--;
        if (length == n && memcmp(at, name, n) == 0)
            return true;
        at = end;
    }
    return false;
}

static bool mark_domain_is_wanted(const struct filter *f, const struct ascope_domain *d)
{
    if (!f)
        return true;
    if (f->include[0])
        return list_has(f->include, d->name, d->name_bytes);
    return !list_has(f->exclude, d->name, d->name_bytes);
}

static void decide(struct ascope_domain *d)
{
    const struct filter *f;
    do { /* again when another thread has changed the lists in between: the last word is about the last lists */
        f = atomic_load(&filter);
        const bool is_gone = atomic_load(&d->is_gone);
        atomic_store(&d->is_recorded, !is_gone && mark_domain_is_wanted(f, d));
    } while (f != atomic_load(&filter));
}

bool marks_filter(const char *include, const char *exclude)
{
    include = include ? include : "";
    exclude = exclude ? exclude : "";
    const struct filter *now = atomic_load(&filter);
    if (!now ? include[0] || exclude[0] : strcmp(now->include, include) != 0 || strcmp(now->exclude, exclude) != 0) {
        const size_t n_include = strlen(include) + 1, n_exclude = strlen(exclude) + 1;
        struct filter *fresh = malloc(sizeof *fresh + n_include + n_exclude);
        if (fresh) {
            memcpy(fresh->include, include, n_include);
            memcpy(fresh->include + n_include, exclude, n_exclude);
            fresh->exclude = fresh->include + n_include;
            fresh->older = now;
        }
        now = fresh;
        atomic_store(&filter, fresh);
        if (!fresh)
            return false;
    }
    if (domains[0].hash == 0)
        domains[0].hash = name_hash_of(domains[0].name, domains[0].name_bytes);
    decide(&domains[0]);
    for (size_t i = 0; i < TABLE; i++) {
        struct ascope_domain *d = atomic_load(&table[i]);
        if (d)
            decide(d);
    }
    return true;
}

/* ---- which there are ---- */

bool mark_text_is_allowed(const char *text)
{
    return text && text[0] != '\0' && text[0] != '=' && text[0] != '+' && text[0] != '-' && text[0] != '@';
}

static struct ascope_domain *found_again(struct ascope_domain *d)
{
    if (atomic_load_explicit(&d->is_gone, memory_order_relaxed)) {
        atomic_store(&d->is_gone, false);
        decide(d);
    }
    return d;
}

static struct ascope_domain *domain_new(uint64_t hash, const char *name, size_t n)
{
    uint32_t place = atomic_load(&n_domains);
    do
        if (place >= DOMAINS_MOST)
            return NULL;
    while (!atomic_compare_exchange_weak(&n_domains, &place, place + 1));
    char *copy = malloc(n);
    if (!copy)
        return NULL;
    memcpy(copy, name, n);
    struct ascope_domain *d = &domains[place];
    d->name = copy;
    d->name_bytes = (uint32_t)n;
    d->hash = hash;
    return d;
}

struct ascope_domain *ascope_domain_get(const char *name)
{
    if (!mark_text_is_allowed(name))
        return NULL;
    const size_t n = strnlen(name, DOMAIN_NAME_MOST + 1);
    if (n > DOMAIN_NAME_MOST)
        return NULL;
    if (n == domains[0].name_bytes && memcmp(name, domains[0].name, n) == 0)
        return found_again(&domains[0]);
    const uint64_t hash = name_hash_of(name, n);
    /* if another thread adds the same name first, this element stays unused */
    struct ascope_domain *fresh = NULL;
    for (size_t i = hash % TABLE;; i = (i + 1) % TABLE) { /* ends: half of the places are never taken */
        /* acquire: its name was set before it was published */
        struct ascope_domain *d = atomic_load_explicit(&table[i], memory_order_acquire);
        if (!d) {
            fresh = fresh ? fresh : domain_new(hash, name, n);
            if (!fresh)
                return NULL;
            if (atomic_compare_exchange_strong(&table[i], &d, fresh)) {
                decide(fresh);
                return fresh;
            }
        }
        if (d->hash == hash && d->name_bytes == n && memcmp(d->name, name, n) == 0)
            return found_again(d);
    }
}

void ascope_domain_destroy(struct ascope_domain *d)
{
    /* The default domain cannot be destroyed. */
    if (!d || d == domains || (uintptr_t)d - (uintptr_t)domains >= sizeof domains)
        return;
    atomic_store(&d->is_gone, true);
    decide(d);
}
