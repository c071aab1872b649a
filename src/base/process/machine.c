/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/machine.h"

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ADDRESS_BYTES = 6, MOST_ADDRESSES = 64 };

struct address {
    char text[2 * ADDRESS_BYTES + 2]; /* "-0242ac110002" */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct address *)a)->text, ((const struct address *)b)->text);
}

/* Addresses assigned by a manufacturer, or those generated locally (bit 1 of the first byte). */
static size_t addresses(struct address *out, const struct ifaddrs *list, bool is_local)
{
    size_t n = 0;
    for (const struct ifaddrs *i = list; i && n < MOST_ADDRESSES; i = i->ifa_next) {
        struct sockaddr_ll link;
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_PACKET || (i->ifa_flags & IFF_LOOPBACK))
            continue;
        memcpy(&link, i->ifa_addr, sizeof link);
        if (link.sll_halen != ADDRESS_BYTES || ((link.sll_addr[0] & 2) != 0) != is_local)
            continue;
        out[n].text[0] = '-';
        for (size_t k = 0; k < ADDRESS_BYTES; k++)
            snprintf(out[n].text + 1 + 2 * k, 3, "%02x", link.sll_addr[k]);
        n++;
    }
    qsort(out, n, sizeof *out, by_text);
    return n;
}

uint64_t machine_uid(void)
{
    struct ifaddrs *list = NULL;
    struct address found[MOST_ADDRESSES];
    if (getifaddrs(&list) != 0)
        return 0;
    size_t n = addresses(found, list, false);
    if (n == 0)
        n = addresses(found, list, true);
    freeifaddrs(list);
    uint32_t high = 0, low = 0;
    for (size_t i = 0; i < n; i++)
        for (const char *c = found[i].text + (i == 0); *c; c++) {
            high = high * 29 + (uint8_t)*c;
            low = low * 131 + (uint8_t)*c;
        }
    return (uint64_t)high << 32 | low;
}
