/* SPDX-License-Identifier: Apache-2.0 */
/* NVML as a test wants it: the same names and arguments. Its GPUs are numbered the other way round than CUDA's, as
 * those of a program may be that sees some of them; the place on the bus says which is which. Words of $FAKE_CUDA as in
 * fake_cuda.c, and
 *
 *     old_nvml         a driver without fields: power and PCIe by functions of their own
 */
#include "fake_words.h"

struct memory {
    unsigned long long total, free, used;
};
struct load {
    unsigned gpu, memory;
};
struct field {
    unsigned id, scope;
    long long at_us, took_us;
    int32_t type, error;
    unsigned long long value;
};
enum { TYPE_U32 = 1, TYPE_U64 = 3, NOT_SUPPORTED = 3, NOT_FOUND = 6 };
static struct gpu {
    unsigned number;
    unsigned long long n_asked;
} gpus[8];

EXPORTED int32_t nvmlInit_v2(void);
EXPORTED int32_t nvmlShutdown(void);
EXPORTED int32_t nvmlDeviceGetCount_v2(unsigned *n);
EXPORTED int32_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, struct gpu **gpu);
EXPORTED int32_t nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu **gpu);
EXPORTED int32_t nvmlDeviceGetClockInfo(struct gpu *gpu, int32_t type, unsigned *mhz);
EXPORTED int32_t nvmlDeviceGetPowerUsage(struct gpu *gpu, unsigned *mw);
EXPORTED int32_t nvmlDeviceGetTemperature(struct gpu *gpu, int32_t sensor, unsigned *c);
EXPORTED int32_t nvmlDeviceGetMemoryInfo(struct gpu *gpu, struct memory *bytes);
EXPORTED int32_t nvmlDeviceGetUtilizationRates(struct gpu *gpu, struct load *percent);
EXPORTED int32_t nvmlDeviceGetFieldValues(struct gpu *gpu, int32_t n, struct field *values);
EXPORTED int32_t nvmlDeviceGetPcieThroughput(struct gpu *gpu, int32_t direction, unsigned *kb);

int32_t nvmlInit_v2(void)
{
    return result("nvmlInit_v2");
}

int32_t nvmlShutdown(void)
{
    return 0;
}

int32_t nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = (unsigned)number("devices", 1);
    return result("nvmlDeviceGetCount_v2");
}

int32_t nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu **gpu)
{
    const unsigned n = (unsigned)number("devices", 1);
    if (index >= n || n > sizeof gpus / sizeof *gpus)
        return NOT_FOUND;
    *gpu = &gpus[index];
    (*gpu)->number = n - 1 - index;
    return result("nvmlDeviceGetHandleByIndex_v2");
}

int32_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, struct gpu **gpu)
{
    unsigned domain, place;
    const unsigned n = (unsigned)number("devices", 1);
    if (sscanf(bus, "%x:%x:00.0", &domain, &place) != 2 || place < FAKE_BUS || place >= FAKE_BUS + n)
        return NOT_FOUND;
    return nvmlDeviceGetHandleByIndex_v2(n - 1 - (place - FAKE_BUS), gpu);
}

int32_t nvmlDeviceGetClockInfo(struct gpu *gpu, int32_t type, unsigned *mhz)
{
    (void)gpu;
    *mhz = type == 1 ? 1980 : type == 2 ? 3201 : 1;
    return result("nvmlDeviceGetClockInfo");
}

int32_t nvmlDeviceGetPowerUsage(struct gpu *gpu, unsigned *mw)
{
    (void)gpu;
    *mw = 111500;
    return result("nvmlDeviceGetPowerUsage");
}

int32_t nvmlDeviceGetTemperature(struct gpu *gpu, int32_t sensor, unsigned *c)
{
    *c = sensor == 0 ? 40 + gpu->number : 0;
    return result("nvmlDeviceGetTemperature");
}

int32_t nvmlDeviceGetMemoryInfo(struct gpu *gpu, struct memory *bytes)
{
    (void)gpu;
    *bytes = (struct memory){ 141ull << 30, 140ull << 30, 1ull << 30 };
    return result("nvmlDeviceGetMemoryInfo");
}

int32_t nvmlDeviceGetUtilizationRates(struct gpu *gpu, struct load *percent)
{
    (void)gpu;
    *percent = (struct load){ 87, 35 };
    return result("nvmlDeviceGetUtilizationRates");
}

int32_t nvmlDeviceGetFieldValues(struct gpu *gpu, int32_t n, struct field *values)
{
    gpu->n_asked++;
    for (int32_t i = 0; i < n; i++) {
        struct field *const f = &values[i];
        const bool of_links = (f->id == 138 || f->id == 139) && f->scope == UINT32_MAX;
        f->type = f->id == 186 ? TYPE_U32 : TYPE_U64;
        f->error = f->id == 186 || f->id == 197 || f->id == 198 || of_links ? 0 : NOT_SUPPORTED;
        f->value = f->id == 186 ? 350500 | 0xFFull << 40 : gpu->n_asked << 20;
        if (word("old_nvml"))
            f->error = NOT_SUPPORTED;
    }
    return result("nvmlDeviceGetFieldValues");
}

int32_t nvmlDeviceGetPcieThroughput(struct gpu *gpu, int32_t direction, unsigned *kb)
{
    (void)gpu;
    *kb = direction == 0 ? 1024 : 2048;
    return result("nvmlDeviceGetPcieThroughput");
}
