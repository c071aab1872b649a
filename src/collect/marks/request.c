/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/request.h"

#include <string.h>

enum { REQUEST_ID_MOST = 200, REQUEST_TEXT = REQUEST_ID_MOST + 16 };

/* False: the id is not allowed. */
static bool request_text(char out[REQUEST_TEXT], const char *begin, const char *id)
{
    const size_t n_begin = strlen(begin), n = id ? strnlen(id, REQUEST_ID_MOST + 1) : 0;
    if (n == 0 || n > REQUEST_ID_MOST)
        return false;
    memcpy(out, begin, n_begin);
    memcpy(out + n_begin, id, n + 1);
    return true;
}

uint64_t ascope_request_record(enum ascope_request_event event, const char *id, uint64_t range)
{
    static const char *const begins[] = {
        [ASCOPE_REQUEST_BEGIN] = "request_begin ",
        [ASCOPE_REQUEST_FIRST_TOKEN] = "first_token ",
        [ASCOPE_REQUEST_TOKEN] = "token ",
        [ASCOPE_REQUEST_END] = "request_end ",
    };
    char text[REQUEST_TEXT];
    struct ascope_op op;
    const bool has_marks = ascope_records(ASCOPE_RECORDS_MARKS);
    struct ascope_domain *domain = has_marks || range != 0 ? ascope_domain_get(ASCOPE_REQUESTS) : NULL;
    if (event == ASCOPE_REQUEST_END && range != 0) {
        ascope_range_end(domain, range);
        return 0;
    }
    if ((unsigned)event >= sizeof begins / sizeof *begins)
        return 0;
    if (event == ASCOPE_REQUEST_BEGIN && has_marks)
        return request_text(text, "request ", id) ? ascope_range_begin(domain, text, NULL) : 0;
    if (!request_text(text, begins[event], id))
        return 0;
    if (has_marks) {
        ascope_mark(domain, text, NULL);
        return 0;
    }
    ascope_op_begin(&op, text);
    op.scope = ASCOPE_SCOPE_USER;
    ascope_op_end(&op);
    return 0;
}
