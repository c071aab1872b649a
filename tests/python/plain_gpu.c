/* SPDX-License-Identifier: Apache-2.0 */
/* plain_gpu N - a program for a real GPU that knows nothing of a recorder: N kernels and a copy, by the driver alone,
 * so that neither CUDA's compiler nor its headers are needed. For test_gpu.py. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const char kernel[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                             ".visible .entry add_one(.param .u64 p)\n{\n"
                             ".reg .u32 %r<2>;\n.reg .u64 %a<2>;\n"
                             "ld.param.u64 %a0, [p];\ncvta.to.global.u64 %a1, %a0;\n"
                             "ld.global.u32 %r0, [%a1];\nadd.u32 %r1, %r0, 1;\nst.global.u32 [%a1], %r1;\nret;\n}\n";

static void *cuda;

/* Calls a function of the driver, all of whose arguments are as wide as a pointer; ends the program if it fails. */
static void call(const char *name, const void *a, const void *b, const void *c)
{
    int (*function)(const void *, const void *, const void *);
    *(void **)&function = dlsym(cuda, name);
    const int result = function ? function(a, b, c) : -1;
    if (result != 0) {
        fprintf(stderr, "%s: %d\n", name, result);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 10;
    void *context = NULL, *module = NULL, *function = NULL, *memory = NULL;
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    unsigned sum = 0;
    cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (!cuda)
        return 1;
    call("cuInit", NULL, NULL, NULL);
    call("cuDevicePrimaryCtxRetain", &context, NULL, NULL);
    call("cuCtxSetCurrent", context, NULL, NULL);
    call("cuModuleLoadData", &module, kernel, NULL);
    call("cuModuleGetFunction", &function, module, "add_one");
    call("cuMemAlloc_v2", &memory, (void *)sizeof sum, NULL);
    call("cuMemcpyHtoD_v2", memory, &sum, (void *)sizeof sum);
    *(void **)&launch = dlsym(cuda, "cuLaunchKernel");
    void *arguments[] = { &memory };
    for (int i = 0; i < n; i++)
        if (launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL) != 0)
            return 1;
    call("cuMemcpyDtoH_v2", &sum, memory, (void *)sizeof sum);
    printf("%u\n", sum);
    return sum == (unsigned)n ? 0 : 1;
}
