#!/usr/bin/env python3
"""The keys S, y and y on the demo's livelock, in a real terminal with real gdb: two snapshots prove it stuck, the worker runs again, and
a replay shows the same. Speaks TAP."""
import os
import shutil
import sqlite3
import sys
import tempfile

from test_screen import Terminal, report, results

PLAN = 6


def propose_and_take(t):
    t.keys("S")
    if not t.wait("y twice takes it", 30):
        return False
    t.keys("y")
    if not t.wait("y again stops pid"):
        return False
    t.keys("y")
    return True


def main():
    print("1..%d" % PLAN, flush=True)
    folder = tempfile.mkdtemp(prefix="hangtop-test-")
    db = os.path.join(folder, "s.hangtop")
    env = {"XDG_STATE_HOME": folder}
    t = Terminal(["demo", "--scenario", "livelock", "--hang-after", "2", "--stall", "10", "--db", db], 120, 40, env)
    report(t.wait("HUNG", 90), "the demo hangs", t.text())
    report(propose_and_take(t) and t.wait("runs again, checked", 60), "a snapshot is taken, and the worker runs again", t.text())
    report(t.wait("cross_device_reduce") and t.wait("pending") and t.wait("640 waves"), "it names the collective, the queue and the waves", t.text())
    t.wait("no such words", 3) # two that are closer than 2 s prove nothing
    report(propose_and_take(t) and t.wait("proved stuck: same dispatch, same pcs, pointers unchanged", 60), "a second one proves it stuck", t.text())
    t.keys("Q")
    t.end()
    with sqlite3.connect(db) as session:
        rows = session.execute("select state, verified, output is not null from snapshot where state = 'done'").fetchall()
    report(rows == [("done", "ok", 1)] * 2, "both are in the session, with their output", rows)
    r = Terminal(["replay", "--paused", "--at", "2037-01-01 00:00", db], 120, 40, env)
    r.wait("REPLAY")
    r.keys("v")
    report(r.wait("proved stuck") and r.wait("640 waves"), "a replay shows the same", r.text())
    r.keys("Q")
    r.end()
    shutil.rmtree(folder, ignore_errors=True)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
