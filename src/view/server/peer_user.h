/* SPDX-License-Identifier: Apache-2.0 */
/* peer_user.h - whose process is at the other end of a TCP connection within this machine.
 *
 * The system's table of connections shows the user of every socket. Anything else about a client, such as what it
 * knows, may have been read from the argument list of another process.
 */
#ifndef ASCOPE_VIEW_SERVER_PEER_USER_H
#define ASCOPE_VIEW_SERVER_PEER_USER_H

enum peer_user {
    PEER_SAME,   /* this user, or root, or who started this process with sudo */
    PEER_OTHER,  /* another user, or one who has closed half of the connection, which hides the user */
    PEER_UNKNOWN /* not in the table: there is none without /proc, and clients of a virtual machine are not in it */
};

enum peer_user peer_user_of(int socket);

#endif
