/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/command.h"

#include <stdint.h>
#include <string.h>

/* Edit distance, with one row of the matrix. Words longer than NEAREST_WORD_MOST are never similar. */
static size_t distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    size_t row[NEAREST_WORD_MOST + 1];
    if (na > NEAREST_WORD_MOST || nb > NEAREST_WORD_MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t above = row[j], swap = diagonal + (a[i - 1] != b[j - 1]);
            const size_t step = (above < row[j - 1] ? above : row[j - 1]) + 1;
            row[j] = step < swap ? step : swap;
            diagonal = above;
        }
    }
    return row[nb];
}

const char *nearest_word(const char *given, const char *const *word, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(given) < 4 ? 2 : 3; /* one typing error in a short word, two in a longer one */
    for (size_t i = 0; i < n; i++) {
        const size_t d = distance(given, word[i]);
        if (d < least) {
            least = d;
            best = word[i];
        }
    }
    return best;
}
