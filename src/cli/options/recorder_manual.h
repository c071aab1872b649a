/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_manual.h - the options of a recording as a page of the documentation, in Markdown. */
#ifndef ASCOPE_CLI_OPTIONS_RECORDER_MANUAL_H
#define ASCOPE_CLI_OPTIONS_RECORDER_MANUAL_H

void recorder_manual_print(void);

#endif
