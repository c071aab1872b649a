/* SPDX-License-Identifier: Apache-2.0 */
/* mstx.h - marks under the names that existing programs call: see mark.h for what they do.
 *
 * Four ways to the same functions: - a program includes this header instead of the vendor's, and links with
 * libascope.so; - a program that was linked with the vendor's front end runs with libascope's libms_tools_ext.so in its
 * place, or with LD_PRELOAD=libascope.so; - a program whose front end loads a tool by itself runs with
 * MSTX_INJECTION_PATH=libascope.so in its environment: the front end calls InitInjectionMstx(), which fills its tables;
 * - a program calls mark.h's functions, which cost least while nothing is recorded.
 *
 * Where the vendor's header was included before, this one gives way.
 */
#ifndef ASCOPE_MSTX_H
#define ASCOPE_MSTX_H
#ifndef MSTX_TOOLS_EXT
#define MSTX_TOOLS_EXT

#include "ascope/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MSTX_SUCCESS = 0, MSTX_FAIL = 1 };

typedef uint64_t mstxRangeId; /* 0: not recorded */
typedef void *aclrtStream;    /* NULL: the host alone */
typedef struct mstxDomainRegistration_st mstxDomainRegistration_t;
typedef mstxDomainRegistration_t *mstxDomainHandle_t;

/* As ascope_mark(), ascope_range_begin() and ascope_range_end() in the domain "default".
 * Errors, Threads: theirs. */
ASCOPE_API void mstxMarkA(const char *message, aclrtStream stream);
ASCOPE_API mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream);
ASCOPE_API void mstxRangeEnd(mstxRangeId id);

/* As ascope_domain_get(), ascope_domain_destroy() and the same marks in a domain, which must not be NULL here: then
 * they are ignored. A range ends in the domain that it began in. Errors, Threads: theirs. */
ASCOPE_API mstxDomainHandle_t mstxDomainCreateA(const char *name);
ASCOPE_API void mstxDomainDestroy(mstxDomainHandle_t domain);
ASCOPE_API void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);
ASCOPE_API mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);
ASCOPE_API void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

enum { MSTX_TOOL_INVALID_ID = 0, MSTX_TOOL_MSPROF_ID = 0x1000 };
/* Which tool listens: programs ask whether a profiler does, and so the answer is the number of the vendor's profiler.
 * Errors: none; NULL is ignored. Threads: any, and signal handlers. */
ASCOPE_API void mstxGetToolId(uint64_t *id);

/* Memory pools, for tools that watch accesses. These structures are the vendor's: they have no size. */
typedef struct mstxMemHeap_st mstxMemHeap_t;
typedef mstxMemHeap_t *mstxMemHeapHandle_t;
typedef struct mstxMemRegion_st mstxMemRegion_t;
typedef mstxMemRegion_t *mstxMemRegionHandle_t;

typedef enum mstxMemHeapUsageType { MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR = 0 } mstxMemHeapUsageType;
typedef enum mstxMemType { MSTX_MEM_TYPE_VIRTUAL_ADDRESS = 0 } mstxMemType;
typedef enum mstxMemRegionRefType {
    MSTX_MEM_REGION_REF_TYPE_POINTER = 0,
    MSTX_MEM_REGION_REF_TYPE_HANDLE
} mstxMemRegionRefType;

typedef struct mstxMemVirtualRangeDesc_t {
    uint32_t deviceId;
    void const *ptr;
    uint64_t size;
} mstxMemVirtualRangeDesc_t;
typedef struct mstxMemHeapDesc_t {
    mstxMemHeapUsageType usage;
    mstxMemType type;
    void const *typeSpecificDesc;
} mstxMemHeapDesc_t;
typedef struct mstxMemRegionsRegisterBatch_t {
    mstxMemHeapHandle_t heap;
    mstxMemType regionType;
    size_t regionCount;
    void const *regionDescArray;
    mstxMemRegionHandle_t *regionHandleArrayOut;
} mstxMemRegionsRegisterBatch_t;
typedef struct mstxMemRegionRef_t {
    mstxMemRegionRefType refType;
    __extension__ union {
        void const *pointer;
        mstxMemRegionHandle_t handle;
    };
} mstxMemRegionRef_t;
typedef struct mstxMemRegionsUnregisterBatch_t {
    size_t refCount;
    mstxMemRegionRef_t const *refArray;
} mstxMemRegionsUnregisterBatch_t;

/* Accepted, and nothing is recorded.
 * Errors: NULL: no description. Threads: any. */
ASCOPE_API mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain, mstxMemHeapDesc_t const *desc);
ASCOPE_API void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap);
ASCOPE_API void mstxMemRegionsRegister(mstxDomainHandle_t domain, mstxMemRegionsRegisterBatch_t const *desc);
ASCOPE_API void mstxMemRegionsUnregister(mstxDomainHandle_t domain, mstxMemRegionsUnregisterBatch_t const *desc);

typedef void (*mstxFuncPointer)(void);
typedef mstxFuncPointer **mstxFuncTable;
typedef enum mstxFuncModule {
    MSTX_API_MODULE_CORE = 1,
    MSTX_API_MODULE_CORE_DOMAIN = 2,
    MSTX_API_MODULE_CORE_MEM = 3,
    MSTX_API_MODULE_FORCE_INT = 0x7fffffff
} mstxFuncModule;
typedef int (*mstxGetModuleFuncTableFunc)(mstxFuncModule module, mstxFuncTable *table, unsigned int *size);

/* What a front end calls in the tool that it has loaded. It hands out its tables by module: slots are addresses of
 * function pointers, counted from 1, of which the tool fills those that it serves. Errors: MSTX_FAIL: no table, or none
 * of its slots is one of ours. Threads: one at a time. */
ASCOPE_API int InitInjectionMstx(mstxGetModuleFuncTableFunc get_table);

#ifdef __cplusplus
}
#endif
#endif
#endif
