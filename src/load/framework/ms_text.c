/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/framework_loaders.h"

#include "base/text/utf8.h"

struct tlv_text ms_text_checked(struct tlv_text t, bool *is_bad)
{
    for (size_t i = 0, len; i < t.len; i += len) {
        const unsigned char *at = (const unsigned char *)t.at + i;
        len = *at < 0x80 ? 1 : utf8_len(at, t.len - i);
        if (len == 0) {
            *is_bad = true;
            return (struct tlv_text){ "N/A", 3 };
        }
    }
    return t;
}

name_id ms_text_name(struct names *names, struct tlv_text t, name_id otherwise, bool *is_bad)
{
    const struct tlv_text text = ms_text_checked(t, is_bad);
    return text.at ? names_add(names, text.at, text.len) : otherwise;
}
