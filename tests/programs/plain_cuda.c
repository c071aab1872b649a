/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses CUDA and knows nothing of a recorder.
 *
 *     plain_cuda WORD...
 *
 * Words: kernels=N; device=N (0); nvtx (a range around them); children=N (processes that do the same), fork (a process
 * that uses CUDA first there, then this one), worker (a forked process beside a parent that uses CUDA, as a DataLoader
 * has them), cupti (subscribes to CUPTI first), kill, status=N. */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cuda/fake_cuda.h"

static int n_words;
static char **words;

static unsigned number_of(const char *key, unsigned otherwise)
{
    const size_t n = strlen(key);
    for (int i = 0; i < n_words; i++)
        if (strncmp(words[i], key, n) == 0 && (words[i][n] == '=' || !words[i][n]))
            return words[i][n] ? (unsigned)strtoul(words[i] + n + 1, NULL, 10) : 1;
    return otherwise;
}

static void *library(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lib64/%s", getenv("CUDA_HOME"), name);
    void *const handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!handle)
        exit(90);
    return handle;
}

static void callback(void *user, int domain, uint32_t id, const void *call)
{
    (void)user, (void)domain, (void)id, (void)call;
}

static void subscribe(void)
{
    int (*function)(void **subscriber, void *callback, void *user);
    void *subscriber;
    *(void **)&function = dlsym(library("libcupti.so"), "cuptiSubscribe");
    if (!function || function(&subscriber, (void *)callback, NULL) != 0)
        exit(91);
}

/* ---- NVTX as its headers have it ---- */

typedef void function(void);
enum { NVTX_SLOTS = 16, NVTX_CORE = 1 };
static function *nvtx[NVTX_SLOTS], **nvtx_table[NVTX_SLOTS];

static int nvtx_module(int module, function ****table, unsigned *size)
{
    if (module != NVTX_CORE)
        return 0;
    for (unsigned i = 1; i < NVTX_SLOTS; i++)
        nvtx_table[i] = &nvtx[i];
    *table = nvtx_table;
    *size = NVTX_SLOTS;
    return 1;
}

static const void *nvtx_export(uint32_t id)
{
    static const struct {
        size_t size;
        int (*module)(int, function ****, unsigned *);
    } callbacks = { sizeof callbacks, nvtx_module };
    return id == 1 ? &callbacks : NULL;
}

static void nvtx_load(void)
{
    const char *const path = getenv("NVTX_INJECTION64_PATH");
    void *const tool = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*begin)(const void *(*)(uint32_t));
    if (!tool)
        return;
    *(void **)&begin = dlsym(tool, "InitializeInjectionNvtx2");
    if (!begin || begin(nvtx_export) != 1)
        exit(94);
}

static void nvtx_push(const char *text)
{
    int (*push)(const char *);
    memcpy(&push, &nvtx[9], sizeof push);
    if (push)
        push(text);
}

static void nvtx_pop(void)
{
    int (*pop)(void);
    memcpy(&pop, &nvtx[11], sizeof pop);
    if (pop)
        pop();
}

static void use_cuda(const char *kernel)
{
    const struct fake_task task = { .name = kernel,
                                    .device = number_of("device", 0),
                                    .stream = 7,
                                    .ns = 5000,
                                    .grid = { 16, 2, 1 },
                                    .block = { 128, 1, 1 } };
    int (*init)(unsigned flags);
    fake_cuda_call *call;
    if (number_of("cupti", 0))
        subscribe();
    *(void **)&init = dlsym(library("libcuda.so.1"), "cuInit");
    if (!init || init(0) != 0)
        exit(92);
    *(void **)&call = dlsym(library("libcupti.so"), "fake_cuda");
    if (number_of("nvtx", 0))
        nvtx_load();
    nvtx_push("all kernels");
    for (unsigned i = 0; i < number_of("kernels", 1); i++)
        call(FAKE_KERNEL, &task, 1);
    nvtx_pop();
}

static void child_wait(pid_t pid)
{
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        exit(93);
}

int main(int argc, char **argv)
{
    words = argv + 1;
    n_words = argc - 1;
    alarm(60); /* nobody waits for a process that hangs */
    for (unsigned i = 0; i < number_of("children", 0); i++) {
        char kernels[32];
        snprintf(kernels, sizeof kernels, "kernels=%u", i + 1);
        const pid_t pid = fork();
        if (pid == 0)
            execl(argv[0], argv[0], kernels, (char *)NULL);
        child_wait(pid);
    }
    if (number_of("fork", 0)) {
        const pid_t pid = fork();
        if (pid == 0) {
            use_cuda("forked_kernel");
            return 0;
        }
        child_wait(pid);
    }
    use_cuda("plain_kernel");
    if (number_of("worker", 0)) {
        const pid_t pid = fork();
        if (pid == 0)
            _exit(0); /* as Python's do */
        child_wait(pid);
    }
    if (number_of("kill", 0)) {
        usleep(500000); /* longer than what is asked for now and then takes to be asked for */
        raise(SIGKILL);
    }
    return (int)number_of("status", 0);
}
