/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <dlfcn.h>
#include <limits.h>
#include <time.h>

#include "analyse/flow/marks.h"
#include "ascope/mstx.h"
#include "child.h"
#include "export/msprof/tracks/prof_trace.h"
#include "recorded.h"
#include "starting.h"

/* ---- a front end as programs have it: functions that are nothing until a tool has filled the slots ---- */

enum { CORE_NEW = 4, CORE_OLD = 7, DOMAIN = 5, POOLS = 4, SLOTS_MOST = 9 };

static struct front_end {
    unsigned n_core; /* the one with the tool's number, or the older one with pools in the same table */
    bool has_domains;
    mstxFuncPointer core[SLOTS_MOST], domain[SLOTS_MOST], pool[SLOTS_MOST];
    mstxFuncPointer *core_table[SLOTS_MOST], *domain_table[SLOTS_MOST], *pool_table[SLOTS_MOST];
} front;

/* Slots count from 1; the last one is empty. */
static void table_make(mstxFuncPointer **table, mstxFuncPointer *function, unsigned n)
{
    for (unsigned i = 1; i <= n; i++)
        table[i] = &function[i];
}

static void front_make(unsigned n_core, bool has_domains)
{
    memset(&front, 0, sizeof front);
    front.n_core = n_core;
    front.has_domains = has_domains;
    table_make(front.core_table, front.core, n_core);
    table_make(front.domain_table, front.domain, DOMAIN);
    table_make(front.pool_table, front.pool, POOLS);
}

static int get_table(mstxFuncModule module, mstxFuncTable *table, unsigned int *size)
{
    if (module == MSTX_API_MODULE_CORE) {
        *table = front.core_table;
        *size = front.n_core + 1;
    } else if (module == MSTX_API_MODULE_CORE_DOMAIN && front.has_domains) {
        *table = front.domain_table;
        *size = DOMAIN + 1;
    } else if (module == MSTX_API_MODULE_CORE_MEM && front.n_core == CORE_NEW) {
        *table = front.pool_table;
        *size = POOLS + 1;
    } else {
        return MSTX_FAIL;
    }
    return MSTX_SUCCESS;
}

static void *tool;

static void *tool_function(const char *name)
{
    void *f = dlsym(tool, name);
    if (!f)
        fail_msg("%s: %s", name, dlerror());
    return f;
}

static int tool_load(void **state)
{
    const char *path = getenv("MSTX_INJECTION_PATH");
    tool = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (!tool)
        print_message("%s: %s\n", path ? path : "MSTX_INJECTION_PATH", path ? dlerror() : "not set");
    (void)state;
    return tool ? 0 : -1;
}

static void front_ends_are_filled(void **state)
{
    static const struct {
        const char *what;
        unsigned n_core;
        bool has_domains;
        const char *core, *domain; /* x: filled */
    } row[] = {
        { "of today", CORE_NEW, true, "xxxx", "xxxxx" },
        { "with pools among the first functions", CORE_OLD, true, "xxx----", "xxxxx" },
        { "without domains", 3, false, "xxx", "-----" },
        { "with one function", 1, false, "x", "-----" },
    };
    int (*init)(mstxGetModuleFuncTableFunc) = NULL;
    *(void **)&init = tool_function("InitInjectionMstx");
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        front_make(row[i].n_core, row[i].has_domains);
        assert_int_equal(init(get_table), MSTX_SUCCESS);
        for (size_t k = 0; row[i].core[k]; k++)
            assert_int_equal(front.core[k + 1] != NULL, row[i].core[k] == 'x');
        for (size_t k = 0; row[i].domain[k]; k++)
            assert_int_equal(front.domain[k + 1] != NULL, row[i].domain[k] == 'x');
        for (size_t k = 1; k <= POOLS; k++)
            assert_null(front.pool[k]);
    }
    assert_int_equal(init(NULL), MSTX_FAIL);
    front_make(0, false);
    assert_int_equal(init(get_table), MSTX_FAIL);
    (void)state;
}

static size_t load_marks(const char *path, struct collection *r)
{
    struct error e = { 0 };
    const struct collection_request all = { .n_threads = 1 };
    if (!pt_load(r, path, &all, &e) || !marks_analyse(&r->profile, &e))
        fail_msg("%s", e.text);
    return r->profile.host.records.marks.n;
}

static bool has_mark(const struct collection *r, const char *message, const char *domain)
{
    const struct marks *m = &r->profile.host.records.marks;
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(names_text(r->profile.names, m->message[i]), message) == 0)
            return strcmp(mark_domain_text(&r->profile, i), domain) == 0;
    return false;
}

/* The session is the tool's: the functions of the one that this test is linked with are others. */
static void injected_marks_are_recorded(void **state)
{
    int (*init)(mstxGetModuleFuncTableFunc) = NULL;
    void (*options_init)(struct ascope_options *, uint32_t) = NULL;
    struct ascope_session *(*session_new)(const struct ascope_options *, struct ascope_error *) = NULL;
    bool (*session_call[3])(struct ascope_session *, struct ascope_error *) = { NULL };
    const char *(*session_path)(const struct ascope_session *) = NULL;
    *(void **)&init = tool_function("InitInjectionMstx");
    *(void **)&options_init = tool_function("ascope_options_init_sized");
    *(void **)&session_new = tool_function("ascope_session_new");
    *(void **)&session_call[0] = tool_function("ascope_session_start");
    *(void **)&session_call[1] = tool_function("ascope_session_stop");
    *(void **)&session_call[2] = tool_function("ascope_session_end");
    *(void **)&session_path = tool_function("ascope_session_path");

    front_make(CORE_NEW, true);
    assert_int_equal(init(get_table), MSTX_SUCCESS);
    void (*mark)(const char *, aclrtStream) = (void (*)(const char *, aclrtStream))front.core[1];
    mstxRangeId (*begin)(const char *, aclrtStream) = (mstxRangeId(*)(const char *, aclrtStream))front.core[2];
    void (*end)(mstxRangeId) = (void (*)(mstxRangeId))front.core[3];
    void (*get_tool)(uint64_t *) = (void (*)(uint64_t *))front.core[4];
    mstxDomainHandle_t (*create)(const char *) = (mstxDomainHandle_t(*)(const char *))front.domain[1];
    void (*destroy)(mstxDomainHandle_t) = (void (*)(mstxDomainHandle_t))front.domain[2];
    void (*domain_mark)(mstxDomainHandle_t, const char *, aclrtStream) =
        (void (*)(mstxDomainHandle_t, const char *, aclrtStream))front.domain[3];
    mstxRangeId (*domain_begin)(mstxDomainHandle_t, const char *, aclrtStream) =
        (mstxRangeId(*)(mstxDomainHandle_t, const char *, aclrtStream))front.domain[4];
    void (*domain_end)(mstxDomainHandle_t, mstxRangeId) = (void (*)(mstxDomainHandle_t, mstxRangeId))front.domain[5];

    uint64_t number = 0;
    get_tool(&number);
    assert_int_equal(number, MSTX_TOOL_MSPROF_ID);
    mark("before the session", NULL);
    assert_int_equal(begin("before the session", NULL), 0);

    struct ascope_options o;
    struct ascope_error e = { "" };
    options_init(&o, sizeof o);
    o.parent_dir = folder;
    o.device = "none";
    o.mstx = true;
    struct ascope_session *s = session_new(&o, &e);
    if (!s || !session_call[0](s, &e))
        fail_msg("%s", e.text);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", session_path(s));
    mark("a point", NULL);
    const mstxRangeId id = begin("a range", NULL);
    assert_int_not_equal(id, 0);
    mstxDomainHandle_t d = create("injected");
    assert_non_null(d);
    domain_mark(d, "a point of a domain", NULL);
    const mstxRangeId other = domain_begin(d, "a range of a domain", NULL);
    end(other); /* not without its domain */
    domain_end(d, other);
    end(id);
    end(0);
    domain_mark(NULL, "of no domain", NULL);
    assert_int_equal(domain_begin(NULL, "of no domain", NULL), 0);
    destroy(d);
    domain_mark(d, "destroyed", NULL);
    mark("=refused", NULL);
    assert_null(create(""));
    if (!session_call[1](s, &e) || !session_call[2](s, &e))
        fail_msg("%s", e.text);

    struct collection r;
    assert_int_equal(load_marks(path, &r), 4);
    assert_true(has_mark(&r, "a point", "default"));
    assert_true(has_mark(&r, "a range", "default"));
    assert_true(has_mark(&r, "a point of a domain", "injected"));
    assert_true(has_mark(&r, "a range of a domain", "injected"));
    collection_free(&r);
    (void)state;
}

/* Runs it with the variables that its arguments set, and finds the one directory that it leaves in the folder. */
static void run_program(const char *argument, const char *const *variable, char path[PATH_MAX])
{
    const char *const program = getenv("ASCOPE_MSTX_PROGRAM");
    assert_non_null(program);
    const pid_t child = child_fork();
    if (child == 0) {
        for (; *variable; variable += 2)
            setenv(variable[0], variable[1], 1);
        program_become(program, argument);
        _exit(127);
    }
    child_end_well(child);
    *path = '\0';
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (d->d_name[0] != '.')
            snprintf(path, PATH_MAX, "%s/%s", folder, d->d_name);
    closedir(dir);
}

static void linked_programs_are_recorded(void **state)
{
    char path[PATH_MAX];
    run_program(folder, (const char *const[]){ NULL }, path);
    struct collection r;
    assert_int_equal(load_marks(path, &r), 2);
    assert_true(has_mark(&r, "linked range", "default"));
    assert_true(has_mark(&r, "linked point", "linked"));
    collection_free(&r);
    (void)state;
}

static void the_environment_asks_for_a_session(void **state)
{
    char path[PATH_MAX];
    run_program(NULL,
                (const char *const[]){ "ASCOPE_RECORD", folder, "ASCOPE_RECORD_OPTIONS",
                                       "device=none; worker_name=asked;mstx_domain_include=linked", NULL },
                path);
    struct collection r;
    assert_int_equal(load_marks(path, &r), 1);
    assert_true(has_mark(&r, "linked point", "linked"));
    assert_memory_equal(r.name, "asked_", 6);
    const int64_t at_s = source_host_ns(&r.profile.host.source, r.profile.host.records.marks.begin[0]) / 1000000000;
    assert_true(llabs(at_s - (int64_t)time(NULL)) < 100); /* the clock was there before the session */
    collection_free(&r);
    (void)state;
}

static void nobody_asks_and_nothing_is_left(void **state)
{
    char path[PATH_MAX];
    run_program(NULL, (const char *const[]){ NULL }, path);
    assert_string_equal(path, "");
    (void)state;
}

static void pools_are_accepted(void **state)
{
    int bytes[4];
    mstxMemVirtualRangeDesc_t part = { 0, bytes, sizeof bytes };
    mstxMemHeapDesc_t pool = { MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR, MSTX_MEM_TYPE_VIRTUAL_ADDRESS, &part };
    mstxMemHeapHandle_t heap = mstxMemHeapRegister(NULL, &pool);
    assert_non_null(heap);
    mstxMemRegionHandle_t region[1] = { NULL };
    mstxMemRegionsRegisterBatch_t batch = { heap, MSTX_MEM_TYPE_VIRTUAL_ADDRESS, 1, &part, region };
    mstxMemRegionsRegister(NULL, &batch);
    assert_non_null(region[0]);
    mstxMemRegionRef_t ref = { .refType = MSTX_MEM_REGION_REF_TYPE_HANDLE, { .handle = region[0] } };
    mstxMemRegionsUnregisterBatch_t back = { 1, &ref };
    mstxMemRegionsUnregister(NULL, &back);
    mstxMemHeapUnregister(NULL, heap);
    assert_null(mstxMemHeapRegister(NULL, NULL));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(front_ends_are_filled),
        cmocka_unit_test_setup_teardown(injected_marks_are_recorded, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(linked_programs_are_recorded, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(the_environment_asks_for_a_session, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(nobody_asks_and_nothing_is_left, folder_make, folder_remove),
        cmocka_unit_test(pools_are_accepted),
    };
    return cmocka_run_group_tests(tests, tool_load, NULL);
}
