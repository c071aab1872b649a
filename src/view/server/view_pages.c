/* SPDX-License-Identifier: Apache-2.0 */
#include "view/server/view_pages.h"

#include <stddef.h>
#include <string.h>

#define HTML   "text/html; charset=utf-8"
#define STYLE  "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

/* Made of the files in pages/ when the program is built; a row here is a file there. */
#define PAGES(X)                                                                                                       \
    X("index.html", HTML, view_index_html)                                                                             \
    X("view.css", STYLE, view_view_css)                                                                                \
    X("advice.js", SCRIPT, view_advice_js)                                                                             \
    X("api.js", SCRIPT, view_api_js)                                                                                   \
    X("axis.js", SCRIPT, view_axis_js)                                                                                 \
    X("block_cache.js", SCRIPT, view_block_cache_js)                                                                   \
    X("card.js", SCRIPT, view_card_js)                                                                                 \
    X("chart.js", SCRIPT, view_chart_js)                                                                               \
    X("colours.js", SCRIPT, view_colours_js)                                                                           \
    X("details.js", SCRIPT, view_details_js)                                                                           \
    X("elements.js", SCRIPT, view_elements_js)                                                                         \
    X("fit.js", SCRIPT, view_fit_js)                                                                                   \
    X("flame.js", SCRIPT, view_flame_js)                                                                               \
    X("handling.js", SCRIPT, view_handling_js)                                                                         \
    X("heat.js", SCRIPT, view_heat_js)                                                                                 \
    X("job.js", SCRIPT, view_job_js)                                                                                   \
    X("layout.js", SCRIPT, view_layout_js)                                                                             \
    X("main.js", SCRIPT, view_main_js)                                                                                 \
    X("memory.js", SCRIPT, view_memory_js)                                                                             \
    X("minimap.js", SCRIPT, view_minimap_js)                                                                           \
    X("overview.js", SCRIPT, view_overview_js)                                                                         \
    X("paint.js", SCRIPT, view_paint_js)                                                                               \
    X("picture.js", SCRIPT, view_picture_js)                                                                           \
    X("ranks.js", SCRIPT, view_ranks_js)                                                                               \
    X("roofline.js", SCRIPT, view_roofline_js)                                                                         \
    X("sentences.js", SCRIPT, view_sentences_js)                                                                       \
    X("strip.js", SCRIPT, view_strip_js)                                                                               \
    X("tables.js", SCRIPT, view_tables_js)                                                                             \
    X("text.js", SCRIPT, view_text_js)                                                                                 \
    X("timeline.js", SCRIPT, view_timeline_js)                                                                         \
    X("timeline_state.js", SCRIPT, view_timeline_state_js)

#define DECLARE(name, type, symbol) extern const char symbol[];
PAGES(DECLARE)

#define ROW(name, type, symbol) { name, type, symbol },
static const struct view_page pages[] = { PAGES(ROW) };

const struct view_page *view_page_find(const char *name)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (!strcmp(pages[i].name, name))
            return &pages[i];
    return NULL;
}
