/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/iteration.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

const char *const iteration_class_keys[ITERATION_CLASSES] = {
    [ITERATION_OTHER] = "other", [ITERATION_PREFILL] = "prefill", [ITERATION_DECODE] = "decode",
    [ITERATION_MIXED] = "mixed", [ITERATION_IDLE] = "idle",
};

enum { MOST_NUMBER = 1000000000 }; /* sums of a few still fit; nothing on earth has larger batches */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number that begins here, and where it ends. Larger ones are unknown. */
static uint64_t number_at(const char *text, const char **end)
{
    uint64_t number = 0;
    for (; is_digit(*text); text++)
        number = number > MOST_NUMBER ? number : 10 * number + (uint64_t)(*text - '0');
    *end = text;
    return number > MOST_NUMBER ? 0 : number;
}

/* The number behind a key that stands by itself: "bs=" in "step[DECODE bs=3]". 0: there is none. */
static uint64_t number_of_key(const char *text, const char *key)
{
    for (const char *at = text; (at = strstr(at, key)); at++)
        if (at > text && (at[-1] == ' ' || at[-1] == '[' || at[-1] == '(' || at[-1] == ','))
            return number_at(at + strlen(key), &at);
    return 0;
}

/* ---- vLLM -------------------------------------------------------------------------------------------------------- */

struct phase {
    uint64_t requests, tokens, kv;
};

/* "2(128)", or "2(sq128sk128sqsq8192sqsk8192)". False: it is something else. */
static bool phase_read(struct phase *out, const char *text)
{
    const char *at = text;
    *out = (struct phase){ .requests = number_at(text, &at) };
    if (at == text || *at++ != '(')
        return false;
    const bool is_detailed = strncmp(at, "sq", 2) == 0;
    const char *tokens = at + (is_detailed ? 2 : 0);
    out->tokens = number_at(tokens, &at);
    if (at == tokens)
        return false;
    if (is_detailed && strncmp(at, "sk", 2) == 0)
        out->kv = number_at(at + 2, &at);
    return is_detailed ? strchr(at, ')') != NULL : *at == ')';
}

static struct iteration vllm_read(const char *name)
{
    static const char context[] = "context_", generation[] = "generation_";
    const char *c = strstr(name, context), *g = c ? strstr(c, generation) : NULL;
    struct phase prefill, decode;
    if (!c || !g || !phase_read(&prefill, c + sizeof context - 1) || !phase_read(&decode, g + sizeof generation - 1))
        return (struct iteration){ 0 };
    return (struct iteration){
        .class_of = prefill.requests > 0 && decode.requests > 0 ? ITERATION_MIXED
                    : prefill.requests > 0                      ? ITERATION_PREFILL
                    : decode.requests > 0                       ? ITERATION_DECODE
                                                                : ITERATION_IDLE,
        .requests = prefill.requests + decode.requests,
        .tokens = prefill.tokens + decode.tokens,
        .kv = prefill.kv + decode.kv,
    };
}

/* ---- SGLang, and words ------------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    enum iteration_class class_of;
    bool has_token_each; /* a request gets one token */
} modes[] = {
    { "EXTEND", ITERATION_PREFILL, false },       { "PREFILL", ITERATION_PREFILL, false },
    { "DECODE", ITERATION_DECODE, true },         { "MIXED", ITERATION_MIXED, false },
    { "TARGET_VERIFY", ITERATION_DECODE, false }, { "IDLE", ITERATION_IDLE, false },
};

static struct iteration words_read(const char *word, size_t n)
{
    static const char *const requests[] = { "bs=", "batch=", "batch_size=" };
    static const char *const tokens[] = { "toks=", "tokens=", "num_tokens=" };
    struct iteration x = { 0 };
    size_t mode = 0;
    while (mode < sizeof modes / sizeof *modes &&
           (n != strlen(modes[mode].word) || strncasecmp(word, modes[mode].word, n) != 0))
        mode++;
    if (mode == sizeof modes / sizeof *modes)
        return x;
    x.class_of = modes[mode].class_of;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        x.requests = x.requests > 0 ? x.requests : number_of_key(word, requests[i]);
        x.tokens = x.tokens > 0 ? x.tokens : number_of_key(word, tokens[i]);
    }
    if (x.tokens == 0)
        x.tokens = number_of_key(word, "c_sq=") + number_of_key(word, "g_sq=");
    if (x.tokens == 0 && modes[mode].has_token_each)
        x.tokens = x.requests;
    x.kv = number_of_key(word, "c_sk=") + number_of_key(word, "g_sk=");
    return x;
}

static struct iteration sglang_read(const char *name)
{
    const char *word = strchr(name, '[') + 1;
    return words_read(word, strcspn(word, " ]"));
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *begin, *inside, *by;
    struct iteration (*read)(const char *name);
} servers[] = {
    { "execute_", "_generation_", "execute_*_generation_*", vllm_read },
    { "step[", "", "step[*]", sglang_read },
};

static size_t server_row(const char *name)
{
    size_t i = 0;
    while (i < sizeof servers / sizeof *servers &&
           (strncmp(name, servers[i].begin, strlen(servers[i].begin)) != 0 || !strstr(name, servers[i].inside)))
        i++;
    return i;
}

const char *iteration_server(const char *name)
{
    const size_t row = server_row(name);
    return row < sizeof servers / sizeof *servers ? servers[row].by : NULL;
}

struct iteration iteration_of(const char *name)
{
    const size_t row = server_row(name);
    return row < sizeof servers / sizeof *servers ? servers[row].read(name)
                                                  : words_read(name, strcspn(name, " ([:#/0123456789"));
}

bool iterations_sort(const struct iteration *v, size_t n, uint32_t *class_of, double *size)
{
    bool has[ITERATION_CLASSES] = { 0 };
    uint32_t number[ITERATION_CLASSES] = { 0 }, n_classes = 0;
    for (size_t i = 0; i < n; i++)
        has[v[i].class_of] = true;
    for (int c = 0; c < ITERATION_CLASSES; c++)
        number[c] = has[c] ? n_classes++ : 0;
    for (size_t i = 0; i < n; i++) {
        class_of[i] = number[v[i].class_of];
        size[i] = iteration_size(&v[i]);
    }
    return has[ITERATION_OTHER] ? n_classes > 1 : n_classes > 0;
}

double iteration_size(const struct iteration *x)
{
    return (double)(x->tokens > 0 ? x->tokens : x->requests);
}
