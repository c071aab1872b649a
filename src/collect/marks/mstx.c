/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/mstx.h"

#include "ascope/mark.h"

/* This file is libms_tools_ext.so, too, where it stands on libascope.so: it calls nothing that is not in mark.h. */

/* ---- marks ---- */

/* Tables that a front end gets point at these, and never at the names that are exported: where the front end is a
 * library, those names are its own, and it would call itself. */
#define EXPORTED_AS(own) __attribute__((alias(#own)))

static struct ascope_domain *domain_of(mstxDomainHandle_t handle)
{
    return (struct ascope_domain *)handle;
}

static void mstx_mark(const char *message, aclrtStream stream)
{
    ascope_mark(NULL, message, stream);
}
EXPORTED_AS(mstx_mark) void mstxMarkA(const char *message, aclrtStream stream);

static mstxRangeId range_start(const char *message, aclrtStream stream)
{
    return ascope_range_begin(NULL, message, stream);
}
EXPORTED_AS(range_start) mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream);

static void range_end(mstxRangeId id)
{
    ascope_range_end(NULL, id);
}
EXPORTED_AS(range_end) void mstxRangeEnd(mstxRangeId id);

static mstxDomainHandle_t domain_create(const char *name)
{
    return (mstxDomainHandle_t)ascope_domain_get(name);
}
EXPORTED_AS(domain_create) mstxDomainHandle_t mstxDomainCreateA(const char *name);

static void domain_destroy(mstxDomainHandle_t domain)
{
    ascope_domain_destroy(domain_of(domain));
}
EXPORTED_AS(domain_destroy) void mstxDomainDestroy(mstxDomainHandle_t domain);

/* These functions ignore a NULL domain: the default domain has functions of its own. */

static void domain_mark(mstxDomainHandle_t domain, const char *message, aclrtStream stream)
{
    if (domain)
        ascope_mark(domain_of(domain), message, stream);
}
EXPORTED_AS(domain_mark) void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);

static mstxRangeId domain_range_start(mstxDomainHandle_t domain, const char *message, aclrtStream stream)
{
    return domain ? ascope_range_begin(domain_of(domain), message, stream) : 0;
}
EXPORTED_AS(domain_range_start)
mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);

static void domain_range_end(mstxDomainHandle_t domain, mstxRangeId id)
{
    if (domain)
        ascope_range_end(domain_of(domain), id);
}
EXPORTED_AS(domain_range_end) void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

static void tool_id(uint64_t *id)
{
    if (id)
        *id = MSTX_TOOL_MSPROF_ID;
}
EXPORTED_AS(tool_id) void mstxGetToolId(uint64_t *id);

/* ---- memory pools: handles that are not NULL, so that programs do not take us for failing ---- */

static char a_heap, a_region;

mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain, mstxMemHeapDesc_t const *desc)
{
    (void)domain;
    return desc ? (mstxMemHeapHandle_t)&a_heap : NULL;
}

void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap)
{
    (void)domain;
    (void)heap;
}

void mstxMemRegionsRegister(mstxDomainHandle_t domain, mstxMemRegionsRegisterBatch_t const *desc)
{
    (void)domain;
    for (size_t i = 0; desc && desc->regionHandleArrayOut && i < desc->regionCount; i++)
        desc->regionHandleArrayOut[i] = (mstxMemRegionHandle_t)&a_region;
}

void mstxMemRegionsUnregister(mstxDomainHandle_t domain, mstxMemRegionsUnregisterBatch_t const *desc)
{
    (void)domain;
    (void)desc;
}

/* ---- injection ---- */

/* Older front ends have their heap functions in the slots from 4 on of the first module, where newer ones have the
 * tool's number; the size distinguishes them. The heap functions stay empty: then a program need not describe its
 * memory to anybody. */
enum { NEWER_CORE_SIZE_MOST = 7 };
static const struct {
    mstxFuncModule module;
    unsigned int slot, size_most;
    mstxFuncPointer function;
} slots[] = {
    { MSTX_API_MODULE_CORE, 1, UINT32_MAX, (mstxFuncPointer)mstx_mark },
    { MSTX_API_MODULE_CORE, 2, UINT32_MAX, (mstxFuncPointer)range_start },
    { MSTX_API_MODULE_CORE, 3, UINT32_MAX, (mstxFuncPointer)range_end },
    { MSTX_API_MODULE_CORE, 4, NEWER_CORE_SIZE_MOST, (mstxFuncPointer)tool_id },
    { MSTX_API_MODULE_CORE_DOMAIN, 1, UINT32_MAX, (mstxFuncPointer)domain_create },
    { MSTX_API_MODULE_CORE_DOMAIN, 2, UINT32_MAX, (mstxFuncPointer)domain_destroy },
    { MSTX_API_MODULE_CORE_DOMAIN, 3, UINT32_MAX, (mstxFuncPointer)domain_mark },
    { MSTX_API_MODULE_CORE_DOMAIN, 4, UINT32_MAX, (mstxFuncPointer)domain_range_start },
    { MSTX_API_MODULE_CORE_DOMAIN, 5, UINT32_MAX, (mstxFuncPointer)domain_range_end },
};

int InitInjectionMstx(mstxGetModuleFuncTableFunc get_table)
{
    unsigned int n_filled = 0;
    for (size_t i = 0; get_table && i < sizeof slots / sizeof *slots; i++) {
        mstxFuncTable table = NULL;
        unsigned int size = 0;
        if (get_table(slots[i].module, &table, &size) != MSTX_SUCCESS || !table)
            continue;
        if (slots[i].slot > size || size > slots[i].size_most || !table[slots[i].slot])
            continue;
        *table[slots[i].slot] = slots[i].function;
        n_filled++;
    }
    return n_filled > 0 ? MSTX_SUCCESS : MSTX_FAIL;
}
