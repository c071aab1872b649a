/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/message.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

enum { TEXT_MOST = 1024, HELD_MOST = 8 };

/* Messages wait here for the receiver. When HELD_MOST wait, further ones are dropped. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    bool is_over;
    unsigned n;
    struct {
        enum ascope_severity severity;
        char text[TEXT_MOST];
    } message[HELD_MOST];
} held = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };
static __thread bool holds __attribute__((tls_model("initial-exec")));

void messages_hold(void)
{
    holds = true;
}

static void message_keep(enum ascope_severity severity, const char *text)
{
    pthread_mutex_lock(&held.lock);
    if (held.n < HELD_MOST) {
        held.message[held.n].severity = severity;
        strcpy(held.message[held.n++].text, text);
    }
    pthread_cond_signal(&held.more);
    pthread_mutex_unlock(&held.lock);
}

/* One at a time: the receiver is the user's code. */
static bool held_take(enum ascope_severity *severity, char text[TEXT_MOST])
{
    pthread_mutex_lock(&held.lock);
    const bool is_any = held.n > 0;
    if (is_any) {
        *severity = held.message[0].severity;
        strcpy(text, held.message[0].text);
        memmove(held.message, held.message + 1, --held.n * sizeof *held.message);
    }
    pthread_mutex_unlock(&held.lock);
    return is_any;
}

void messages_pass(void)
{
    enum ascope_severity severity;
    for (char text[TEXT_MOST]; held_take(&severity, text);)
        message(severity, "%s", text);
}

bool messages_wait(void)
{
    pthread_mutex_lock(&held.lock);
    while (held.n == 0 && !held.is_over)
        pthread_cond_wait(&held.more, &held.lock);
    const bool is_over = held.is_over;
    pthread_mutex_unlock(&held.lock);
    messages_pass();
    return !is_over;
}

void messages_end(bool is_over)
{
    pthread_mutex_lock(&held.lock);
    held.is_over = is_over;
    pthread_cond_signal(&held.more);
    pthread_mutex_unlock(&held.lock);
}

void messages_forget(void)
{
    pthread_mutex_init(&held.lock, NULL);
    pthread_cond_init(&held.more, NULL);
    held.n = 0;
}

void message(enum ascope_severity severity, const char *fmt, ...)
{
    static const char *const word[] = { "note", "warning", "error" };
    char text[TEXT_MOST];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (holds)
        message_keep(severity, text);
    else if (receiver)
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
