# SPDX-License-Identifier: Apache-2.0
"""How much of a long test runs. Where the tree runs a sample (tests/meson.build), some rows of its tables; tests/support/test.h has it for C."""
import os

IS_SAMPLE = os.environ.get("ASCOPE_DEPTH") == "sample"


def sampled(rows, one_in):
    """One in so many of the rows; else every one."""
    return rows[::one_in] if IS_SAMPLE else rows


def some(*rows):
    """The first row; else every one."""
    return rows[:1] if IS_SAMPLE else rows
