#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Joins the receipts that shards of gpu_tests wrote (GTEST_TOTAL_SHARDS, FURROW_RECEIPT) to that of one run.

  join_receipts.py RECEIPT... > tests/gpu/receipt.json

All must be of one commit, driver and runtime. `seconds` are those of all shards together.
"""
import json
import pathlib
import sys


def joined(parts):
    whole = parts[0]
    for key in ("version", "commit", "driver", "runtime", "devices", "problem"):
        told = {json.dumps(p[key]) for p in parts}
        if len(told) > 1:
            sys.exit(f"the receipts differ in their {key}: {', '.join(sorted(told))}")
    tests = [p["tests"] for p in parts]
    whole["tests"] = {
        "run": sum(t["run"] for t in tests),
        "passed": sum(t["passed"] for t in tests),
        "failed": sorted(n for t in tests for n in t["failed"]),
        "skipped": sorted(n for t in tests for n in t["skipped"]),
    }
    whole["worst_row_error"] = max(p["worst_row_error"] for p in parts)
    whole["seconds"] = sum(p["seconds"] for p in parts)
    return whole


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(json.dumps(joined([json.loads(pathlib.Path(f).read_text()) for f in sys.argv[1:]]), indent=2))
