/* SPDX-License-Identifier: Apache-2.0 */
/* request_name.h - which events belong to a request of an inference server, by their names.
 *
 *     request 17      a range: from its arrival to its end ("request:17", "request=17", "request_id=17", "req 17")
 *     first_token 17  a point, or a range that ends then
 *     token 17        each further token, the same
 *     request_begin 17, request_end 17  points in place of the range
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_REQUEST_NAME_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_REQUEST_NAME_H

#include <stddef.h>

enum request_event { REQUEST_NONE, REQUEST_RANGE, REQUEST_BEGIN, REQUEST_FIRST_TOKEN, REQUEST_TOKEN, REQUEST_END };

struct request_name {
    enum request_event event;
    const char *id; /* in the name: up to its end, or to a space or comma */
    size_t n;
};

struct request_name request_name_of(const char *name);

#endif
