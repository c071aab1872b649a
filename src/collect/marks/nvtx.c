/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/nvtx.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "ascope/mark.h"

/* ---- what NVTX hands over, as its headers lay it out ---- */

enum { EXPORT_CALLBACKS = 1 };
enum { MODULE_CORE = 1, MODULE_DOMAINS = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

typedef void function(void);
struct callbacks {
    size_t size;
    int (*table)(int module, function ****table, unsigned int *size);
};

/* ---- texts ---- */

enum { TEXT_MOST = 4096 };

/* A registered text is never freed: its address is the handle. */
static struct nvtx_kept {
    struct nvtx_kept *next;
    char text[];
} * kept[256];
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *text_keep(const char *text)
{
    unsigned hash = 5381;
    for (const char *c = text; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    struct nvtx_kept **const first = &kept[hash % (sizeof kept / sizeof *kept)];
    pthread_mutex_lock(&kept_lock);
    struct nvtx_kept *k = *first;
    while (k && strcmp(k->text, text) != 0)
        k = k->next;
    const size_t n = strlen(text) + 1;
    if (!k && (k = malloc(sizeof *k + n))) {
        memcpy(k->text, text, n);
        k->next = *first;
        *first = k;
    }
    pthread_mutex_unlock(&kept_lock);
    return k ? k->text : NULL;
}

/* As UTF-8, cut off at the end of the buffer; invalid code points become '?'. */
static const char *text_of_wide(const wchar_t *wide, char out[TEXT_MOST])
{
    size_t n = 0;
    for (; wide && *wide && n + 5 < TEXT_MOST; wide++) {
        const uint32_t c = (uint32_t)*wide > 0x10FFFF ? '?' : (uint32_t)*wide;
        static const uint8_t lead[] = { 0, 0xC0, 0xE0, 0xF0 };
        const unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        out[n++] = (char)(lead[more] | c >> 6 * more);
        for (unsigned k = more; k-- > 0;)
            out[n++] = (char)(0x80 | (c >> 6 * k & 0x3F));
    }
    out[n] = '\0';
    return out;
}

/* What marks refuse as a message (ascope/mark.h) gets an apostrophe in front: a program's own tool would show it. */
static const char *text_allowed(const char *text, char out[TEXT_MOST])
{
    if (!text || !strchr("=+-@", *text) || !*text)
        return text;
    out[0] = '\'';
    strncpy(out + 1, text, TEXT_MOST - 2);
    out[TEXT_MOST - 1] = '\0';
    return out;
}

static const char *nvtx_text_of(const struct attributes *a, char out[TEXT_MOST])
{
    if (!a || a->size < offsetof(struct attributes, message) + sizeof a->message || !a->message)
        return NULL;
    return a->message_type == MESSAGE_WIDE                                             ? text_of_wide(a->message, out)
           : a->message_type == MESSAGE_ASCII || a->message_type == MESSAGE_REGISTERED ? a->message
                                                                                       : NULL;
}

/* ---- marks and ranges, of a domain ---- */

static void mark_put(struct ascope_domain *d, const char *text)
{
    char allowed[TEXT_MOST];
    if (ascope_records(ASCOPE_RECORDS_MARKS))
        ascope_mark_record(d, text_allowed(text, allowed), NULL);
}

static uint64_t range_begin(struct ascope_domain *d, const char *text)
{
    char allowed[TEXT_MOST];
    return ascope_records(ASCOPE_RECORDS_MARKS) ? ascope_range_record(d, text_allowed(text, allowed), NULL) : 0;
}

/* Ranges that were pushed on this thread, of all domains. What is pushed while nothing is recorded has a place, too, so
 * that pops find their pushes; what does not fit is counted. In memory of its own: a library that is loaded late has
 * little for threads. */
enum { DEPTH_MOST = 64 };
struct pushed {
    struct {
        struct ascope_domain *domain;
        uint64_t range;
    } at[DEPTH_MOST];
    unsigned n, n_above;
};
static __thread struct pushed *here __attribute__((tls_model("initial-exec")));
static pthread_key_t at_end_of_thread;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void key_make(void)
{
    /* without a key, the memory of a thread is leaked when it ends */
    has_key = pthread_key_create(&at_end_of_thread, free) == 0;
}

/* NULL: no memory, and the ranges are not recorded. */
static struct pushed *pushed_here(void)
{
    if (!here) {
        pthread_once(&key_once, key_make);
        here = calloc(1, sizeof *here);
        if (has_key)
            pthread_setspecific(at_end_of_thread, here);
    }
    return here;
}

static int depth_of(const struct pushed *p, const struct ascope_domain *d)
{
    int depth = 0;
    for (unsigned i = 0; i < p->n; i++)
        depth += p->at[i].domain == d;
    return depth;
}

static int push(struct ascope_domain *d, const char *text)
{
    struct pushed *const p = pushed_here();
    if (!p)
        return -1;
    const int depth = depth_of(p, d);
    if (p->n == DEPTH_MOST) {
        p->n_above++;
        return depth;
    }
    p->at[p->n].domain = d;
    p->at[p->n++].range = range_begin(d, text);
    return depth;
}

static int pop(struct ascope_domain *d)
{
    struct pushed *const p = pushed_here();
    if (p && p->n_above > 0) {
        p->n_above--;
        return depth_of(p, d);
    }
    unsigned i = p ? p->n : 0;
    while (i > 0 && p->at[i - 1].domain != d)
        i--;
    if (i == 0)
        return -1; /* there was no push */
    ascope_range_end(d, p->at[i - 1].range);
    memmove(&p->at[i - 1], &p->at[i], (p->n - i) * sizeof *p->at);
    p->n--;
    return depth_of(p, d);
}

/* ---- NVTX's functions ---- */

#define NAMED_AND_WIDE(result, name, call)                                                                             \
    static result name##_ascii(const char *text)                                                                       \
    {                                                                                                                  \
        return call(NULL, text);                                                                                       \
    }                                                                                                                  \
    static result name##_wide(const wchar_t *text)                                                                     \
    {                                                                                                                  \
        char out[TEXT_MOST];                                                                                           \
        return call(NULL, text_of_wide(text, out));                                                                    \
    }                                                                                                                  \
    static result name##_domain(struct ascope_domain *d, const struct attributes *a)                                   \
    {                                                                                                                  \
        char out[TEXT_MOST];                                                                                           \
        return call(d, nvtx_text_of(a, out));                                                                          \
    }                                                                                                                  \
    static result name##_attributes(const struct attributes *a)                                                        \
    {                                                                                                                  \
        return name##_domain(NULL, a);                                                                                 \
    }
NAMED_AND_WIDE(void, mark, mark_put)
NAMED_AND_WIDE(uint64_t, range_start, range_begin)
NAMED_AND_WIDE(int, range_push, push)

static void domain_range_end(struct ascope_domain *d, uint64_t id)
{
    ascope_range_end(d, id);
}

static void range_end(uint64_t id)
{
    ascope_range_end(NULL, id);
}

static int range_pop(void)
{
    return pop(NULL);
}

static const void *register_ascii(struct ascope_domain *d, const char *text)
{
    (void)d;
    return text ? text_keep(text) : NULL;
}

static const void *register_wide(struct ascope_domain *d, const wchar_t *text)
{
    char out[TEXT_MOST];
    return register_ascii(d, text_of_wide(text, out));
}

static void *domain_create_ascii(const char *name)
{
    return ascope_domain_get(name);
}

static void *domain_create_wide(const wchar_t *name)
{
    char out[TEXT_MOST];
    return ascope_domain_get(text_of_wide(name, out));
}

static void initialize(const void *reserved)
{
    (void)reserved;
}

/* Our functions by slot of NVTX's tables; slots that are not listed keep NVTX's own. */
static const struct {
    uint8_t module, slot;
    function *function;
} slots[] = {
    { MODULE_CORE, 1, (function *)mark_attributes },
    { MODULE_CORE, 2, (function *)mark_ascii },
    { MODULE_CORE, 3, (function *)mark_wide },
    { MODULE_CORE, 4, (function *)range_start_attributes },
    { MODULE_CORE, 5, (function *)range_start_ascii },
    { MODULE_CORE, 6, (function *)range_start_wide },
    { MODULE_CORE, 7, (function *)range_end },
    { MODULE_CORE, 8, (function *)range_push_attributes },
    { MODULE_CORE, 9, (function *)range_push_ascii },
    { MODULE_CORE, 10, (function *)range_push_wide },
    { MODULE_CORE, 11, (function *)range_pop },
    { MODULE_DOMAINS, 1, (function *)mark_domain },
    { MODULE_DOMAINS, 2, (function *)range_start_domain },
    { MODULE_DOMAINS, 3, (function *)domain_range_end },
    { MODULE_DOMAINS, 4, (function *)range_push_domain },
    { MODULE_DOMAINS, 5, (function *)pop },
    { MODULE_DOMAINS, 10, (function *)register_ascii },
    { MODULE_DOMAINS, 11, (function *)register_wide },
    { MODULE_DOMAINS, 12, (function *)domain_create_ascii },
    { MODULE_DOMAINS, 13, (function *)domain_create_wide },
    { MODULE_DOMAINS, 14, (function *)ascope_domain_destroy },
    { MODULE_DOMAINS, 15, (function *)initialize },
};

int InitializeInjectionNvtx2(ascope_nvtx_export export)
{
    const struct callbacks *const c = export ? export(EXPORT_CALLBACKS) : NULL;
    if (!c || c->size < sizeof *c || !c->table)
        return 0;
    unsigned n_filled = 0;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        function ***table = NULL;
        unsigned size = 0;
        if (!c->table(slots[i].module, &table, &size) || !table || slots[i].slot >= size || !table[slots[i].slot])
            continue;
        *table[slots[i].slot] = slots[i].function;
        n_filled++;
    }
    return n_filled > 0;
}
