# SPDX-License-Identifier: Apache-2.0
"""A recording whose files a test changes: without the list of lengths and checksums, which would notice that."""
import json
import os


def unseal(collection):
    path = os.path.join(collection, "ascope.json")
    with open(path) as f:
        facts = json.load(f)
    facts.pop("files", None)
    with open(path, "w") as f:
        json.dump(facts, f)
