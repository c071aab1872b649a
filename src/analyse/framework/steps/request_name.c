/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/request_name.h"

#include <string.h>

static const struct {
    const char *key;
    enum request_event event;
} request_keys[] = {
    { "request_begin", REQUEST_BEGIN },     { "request_end", REQUEST_END }, { "request_id", REQUEST_RANGE },
    { "request", REQUEST_RANGE },           { "req", REQUEST_RANGE },       { "first_token", REQUEST_FIRST_TOKEN },
    { "first token", REQUEST_FIRST_TOKEN }, { "token", REQUEST_TOKEN },
};

struct request_name request_name_of(const char *name)
{
    for (size_t i = 0; i < sizeof request_keys / sizeof *request_keys; i++) {
        const size_t n = strlen(request_keys[i].key);
        const char *id = name + n;
        if (strncmp(name, request_keys[i].key, n) != 0 || !*id || !strchr(" :=#", *id))
            continue;
        id += strspn(id, " :=#");
        const size_t n_id = strcspn(id, " ,");
        return n_id > 0 ? (struct request_name){ request_keys[i].event, id, n_id } : (struct request_name){ 0 };
    }
    return (struct request_name){ 0 };
}
