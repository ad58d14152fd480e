#!/usr/bin/env python3
"""Fifty snapshots with a fault in each, on real processes with real gdb: nobody is hurt, all is on record. And the stacks of all ranks of
the demo, once, by `hangtop stacks`. Speaks TAP."""
import json
import os
import shutil
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
hangtop = os.path.join(os.environ.get("builddir", "."), "hangtop")
results = []


def report(ok, name, why):
    results.append(bool(ok))
    print("%s %d - %s" % ("ok" if ok else "not ok", len(results), name))
    print("# " + str(why).strip().replace("\n", "\n# "), flush=True)


def stacks():
    demo = subprocess.Popen([sys.executable, os.path.join(os.environ["HANGTOP_DATA"], "demo", "demo.py"), "--scenario", "one-rank-behind", "--seed", "1",
                             "--hang-after", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        pid = json.loads(demo.stdout.readline())["pid"]
        end = time.monotonic() + 60
        sizes, text = None, ""
        # Until it hangs; and py-spy may meet a process that changes under its eyes.
        while not (sizes == [1, 7] and "ModelRunner.copy_kv" in text and "all_reduce" in text) and time.monotonic() < end:
            done = subprocess.run([hangtop, "stacks", "--json", "--pid", str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
            if done.returncode == 0:
                sizes = sorted(len(group["ranks"]) for group in json.loads(done.stdout)["stack_groups"])
            text = subprocess.run([hangtop, "stacks", "--pid", str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  universal_newlines=True, timeout=60).stdout
        report(sizes == [1, 7] and "ModelRunner.copy_kv" in text and "all_reduce" in text, "the stacks of eight ranks fold into the odd one and seven",
               (sizes, text))
    finally:
        demo.stdin.close()
        demo.wait(30)


def snapshots():
    done = subprocess.run([sys.executable, os.path.join(here, "snapshot_faults.py"), "--hangtop", hangtop, "--count", "50", "--jobs", "3"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    report(done.returncode == 0 and done.stdout.strip().endswith("0 targets hurt of 50"), "fifty snapshots that go wrong hurt nobody", done.stdout)


print("1..2", flush=True)
if os.environ.get("HANGTOP_PY_SPY") or shutil.which("py-spy"):
    stacks()
else:
    results.append(True)
    print("ok 1 # SKIP py-spy is not there")
snapshots()
sys.exit(0 if all(results) else 1)
