/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/nccl_names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static size_t until_arguments(const char *name)
{
    return strcspn(name, "(<");
}

static const char *nccl_names_find(const char *text, size_t n, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= n; i++)
        if (strncasecmp(text + i, word, length) == 0)
            return text + i;
    return NULL;
}

bool nccl_is_kernel(const char *name)
{
    static const char prefix[] = "nccl", of_hccl[] = "hcom_";
    if (strncmp(name, of_hccl, sizeof of_hccl - 1) == 0)
        return true;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 || !isupper((unsigned char)name[sizeof prefix - 1]))
        return false;
    return nccl_names_find(name, until_arguments(name), "Kernel") != NULL;
}

uint32_t nccl_data_type(const char *word, size_t n)
{
    static const struct {
        const char *word;
        uint8_t type;
    } types[] = {
        { "i8", 0 },       { "int8", 0 },      { "int8_t", 0 },  { "char", 0 },    { "i16", 1 },      { "int16", 1 },
        { "i32", 2 },      { "int32", 2 },     { "int32_t", 2 }, { "int", 2 },     { "f16", 3 },      { "fp16", 3 },
        { "half", 3 },     { "float16", 3 },   { "f32", 4 },     { "fp32", 4 },    { "float", 4 },    { "float32", 4 },
        { "i64", 5 },      { "int64", 5 },     { "int64_t", 5 }, { "long", 5 },    { "u64", 6 },      { "uint64", 6 },
        { "uint64_t", 6 }, { "u8", 7 },        { "uint8", 7 },   { "uint8_t", 7 }, { "u32", 9 },      { "uint32", 9 },
        { "uint32_t", 9 }, { "f64", 10 },      { "fp64", 10 },   { "double", 10 }, { "float64", 10 }, { "bf16", 11 },
        { "bfp16", 11 },   { "bfloat16", 11 }, { "f8e4m3", 15 }, { "f8e5m2", 16 },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].word) == n && strncasecmp(types[i].word, word, n) == 0)
            return types[i].type;
    return NCCL_NO_TYPE;
}

uint32_t nccl_type_bytes(uint32_t data_type)
{
    static const uint8_t bytes[] = { 1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2, 16, 0, 1, 1, 1, 1 };
    return data_type < sizeof bytes ? bytes[data_type] : 0;
}

bool nccl_is_of(const char *collective, const char *reported)
{
    static const struct {
        const char *kernel, *reported;
    } also[] = {
        { "SendRecv", "send" },   { "SendRecv", "recv" },      { "SendRecv", "alltoall" },
        { "SendRecv", "gather" }, { "SendRecv", "coalesced" }, { "AllReduce", "barrier" },
    };
    char letters[64];
    size_t n = 0;
    for (const char *c = reported; *c && n < sizeof letters - 1; c++)
        if (isalpha((unsigned char)*c))
            letters[n++] = *c;
    if (n == 0 || strcmp(collective, "NCCL") == 0)
        return n > 0;
    if (nccl_names_find(letters, n, collective))
        return true;
    for (size_t i = 0; i < sizeof also / sizeof *also; i++)
        if (strcmp(also[i].kernel, collective) == 0 && nccl_names_find(letters, n, also[i].reported))
            return true;
    return strcmp(collective, "SendRecv") == 0 && nccl_names_find(letters, n, "scatter") &&
           !nccl_names_find(letters, n, "reduce");
}

struct nccl_name nccl_name_read(const char *name)
{
    /* Longer ones first, where one contains another. */
    static const char *const collectives[] = { "AllReduce", "AllGather", "ReduceScatter", "AllToAll", "Broadcast",
                                               "SendRecv",  "Reduce",    "Scatter",       "Gather" };
    static const char *const algorithms[] = { "RING-LL128",  "RING-LL", "RING-SIMPLE", "TREE-LL128", "TREE-LL",
                                              "TREE-SIMPLE", "COLLNET", "NVLS",        "PAT" };
    const size_t n = until_arguments(name);
    struct nccl_name out = { "NCCL", NULL, NCCL_NO_TYPE };
    for (size_t i = sizeof collectives / sizeof *collectives; i-- > 0;)
        if (nccl_names_find(name, n, collectives[i]))
            out.collective = collectives[i];
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms && !out.algorithm; i++) {
        char joined[24] = { 0 }, apart[24] = { 0 };
        for (size_t k = 0, at = 0; algorithms[i][k]; k++) {
            apart[k] = algorithms[i][k] == '-' ? '_' : algorithms[i][k];
            if (algorithms[i][k] != '-')
                joined[at++] = algorithms[i][k];
        }
        if (nccl_names_find(name, n, apart) || nccl_names_find(name, n, joined))
            out.algorithm = algorithms[i];
    }
    for (size_t at = 0; at < n && out.data_type == NCCL_NO_TYPE;) {
        const size_t length = strcspn(name + at, "_(<");
        out.data_type = nccl_data_type(name + at, length < n - at ? length : n - at);
        at += length + 1;
    }
    return out;
}
