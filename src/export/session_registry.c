#include "export/session.h"

/* Every file of ASCEND_PROFILER_OUTPUT. The large ones come first, so that no thread ends up alone with one of them. */
/* clang-format off */
const struct session_output session_outputs[] = {
    { .file = "op_statistic.csv", .about = "operators by type and core: how often they ran, and for how long",
      .report = "op_statistic" },
};
/* clang-format on */
const size_t n_session_outputs = sizeof session_outputs / sizeof *session_outputs;
