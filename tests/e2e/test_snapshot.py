#!/usr/bin/env python3
"""Fifty snapshots with a fault in each, on real processes with real gdb: nobody is hurt, all is on record. Speaks TAP."""
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
hangtop = os.path.join(os.environ.get("builddir", "."), "hangtop")
print("1..1", flush=True)
done = subprocess.run([sys.executable, os.path.join(here, "snapshot_faults.py"), "--hangtop", hangtop, "--count", "50", "--jobs", "3"],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
print("# " + done.stdout.strip().replace("\n", "\n# "))
ok = done.returncode == 0 and done.stdout.strip().endswith("0 targets hurt of 50")
print("%sok 1 - fifty snapshots that go wrong hurt nobody" % ("" if ok else "not "))
sys.exit(0 if ok else 1)
