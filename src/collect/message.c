/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/message.h"

#include <stdarg.h>
#include <stdio.h>

static ascope_message_fn receiver;
static void *receiver_user;

void ascope_on_message(ascope_message_fn fn, void *user)
{
    receiver_user = user;
    receiver = fn;
}

const char *ascope_version(void)
{
    return ASCOPE_VERSION;
}

void message(enum ascope_severity severity, const char *fmt, ...)
{
    static const char *const word[] = { "note", "warning", "error" };
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (receiver)
        receiver(severity, text, receiver_user);
    else if (severity > ASCOPE_INFO)
        fprintf(stderr, "ascope: %s: %s\n", word[severity], text);
}

bool error_pass(const struct error *e, struct ascope_error *to)
{
    if (to)
        snprintf(to->text, sizeof to->text, "%s", e->text);
    return e->fault == FAULT_NONE;
}
