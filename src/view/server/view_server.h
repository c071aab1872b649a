/* SPDX-License-Identifier: Apache-2.0 */
/* view_server.h - the server of the viewer: pages and answers.
 *
 * The address contains a random token, without which nothing is shown, because other users of the machine can reach the
 * port, too. They also see the argument list of a browser that is started: it is given another address, which leads to
 * the one with the token, but only for a client of the user who runs the server. The Host header of a request must be
 * the loopback address, which prevents DNS rebinding. Answers have a policy that forbids the browser to load anything
 * from elsewhere. The server never writes files.
 */
#ifndef ASCOPE_VIEW_SERVER_VIEW_SERVER_H
#define ASCOPE_VIEW_SERVER_VIEW_SERVER_H

#include "base/text/error.h"
#include "view/answers/answers.h"

enum { VIEW_TOKEN = 32 }; /* hexadecimal digits */

struct view_server;

struct view_server *view_server_open(const struct view *v, const char *address, unsigned port,
                                     struct error *e);         /* NULL: e */
const char *view_server_url(const struct view_server *s);      /* "http://127.0.0.1:41234/5f…/"; lent */
const char *view_server_user_url(const struct view_server *s); /* "http://127.0.0.1:41234/open/a0…": for this user */
unsigned view_server_port(const struct view_server *s);
void view_server_close(struct view_server *s); /* NULL is fine */

#endif
