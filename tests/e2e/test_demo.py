#!/usr/bin/env python3
"""End to end, on real processes with real py-spy: every scenario of the demo ends in its verdict and leaves nothing behind;
a replay and a seek give what was live, byte for byte. Speaks TAP."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HANGTOP = os.path.join(os.environ.get("builddir", "."), "hangtop")
PY_SPY = os.environ.get("HANGTOP_PY_SPY") or shutil.which("py-spy")
QUICK = ["--hang-after", "2", "--stall", "15"]
# scenario: (states that are right, word, exit code, candidate)
EXPECT = {
    "healthy": ("HEALTHY", "healthy", 0, None),
    "idle": ("IDLE", "idle", 0, None),
    "loading": ("LOADING", "loading", 0, None),
    "long-decode": ("HEALTHY", "healthy", 0, None),
    "livelock": ("HUNG", "silent livelock", 2, None),
    "livelock without py-spy": ("HUNG", "silent livelock", 2, None),
    "cpu-deadlock": ("HUNG", "CPU-side deadlock", 2, None),
    "one-rank-behind": ("HUNG", "CPU-side deadlock", 2, "3"),
    "fault": ("FAULT", "fault", 2, None),
    "worker-death": ("DEAD", "crashed", 2, None),
}
NEVER_HUNG = ("healthy", "idle", "loading", "long-decode")
results = []


def report(ok, name, why=""):
    results.append(ok)
    print("%s %d - %s" % ("ok" if ok else "not ok", len(results), name), flush=True)
    if not ok:
        print("# " + str(why).replace("\n", "\n# "), flush=True)


def run(args, timeout=150):
    return subprocess.run([HANGTOP] + args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)


def left_behind(folder):
    """Processes that still name the folder: the demo's server runs in one below it."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as f:
                if folder.encode() in f.read():
                    out.append(int(pid))
        except OSError:
            pass
    return [p for p in out if p != os.getpid()]


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def exported_states(db):
    lines = run(["export", db]).stdout.decode().splitlines()
    return [row["state"] for row in map(json.loads, lines) if row["kind"] == "verdict"]


def scenario(name, out):
    folder = tempfile.mkdtemp(prefix="hangtop-e2e-")
    env = dict(os.environ, TMPDIR=folder)
    db = os.path.join(folder, "s.hangtop")
    try:
        without = ["--py-spy", folder + "/none"] if name.endswith("without py-spy") else []
        done = subprocess.run([HANGTOP, "demo", "--scenario", name.split()[0]] + without + ["--once", "--json", "--db", db, "--dump", folder + "/live"] + QUICK,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=180, env=env)
        got = json.loads(done.stdout)
        state, word, code, candidate = EXPECT[name]
        problems = []
        if (got["state"], got["verdict"], done.returncode) != (state, word, code):
            problems.append("got %s %s %d: %s %s" % (got["state"], got["verdict"], done.returncode, got["reason"], got["evidence"]))
        if candidate and got["candidates"] != [candidate]:
            problems.append("candidates %s" % got["candidates"])
        if name in NEVER_HUNG and "HUNG" in exported_states(db):
            problems.append("was HUNG once: %s" % exported_states(db))
        if got["state"] == "HUNG":
            stall = next(e["age_ms"] for e in got["evidence"] if e["what"] == "last progress")
            if stall > 15000 + 3000:
                problems.append("HUNG only %d ms after the last progress" % stall)
            if "SUSPECT" not in exported_states(db):
                problems.append("no SUSPECT before HUNG")
        run(["replay", db, "--once", "--dump", folder + "/play"])
        run(["replay", db, "--once", "--at", "2037-01-01 00:00", "--dump", folder + "/seek"])
        live, play, seek = (open(folder + "/" + n).read() for n in ("live", "play", "seek"))
        if not live or live != play:
            problems.append("the replay is not what was live")
        if play != seek:
            problems.append("the seek is not what was played")
        if not wait_until(lambda: not left_behind(folder)):
            problems.append("left behind: %s" % left_behind(folder))
        if [n for n in os.listdir(folder) if n.startswith("hangtop-demo-")]:
            problems.append("folder left behind")
        out[name] = problems
    except Exception as e:  # a crash, no JSON, too slow
        out[name] = ["%s: %s" % (type(e).__name__, e)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def scenarios():
    out, names = {}, list(EXPECT)
    while names:  # three at a time: two cores
        batch, names = names[:3], names[3:]
        threads = [threading.Thread(target=scenario, args=(n, out)) for n in batch]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    for name in EXPECT:
        report(not out[name], "scenario %s: verdict, replay, seek, nothing left" % name, "\n".join(out[name]))


def killed():
    """kill -9 of hangtop: everything it started goes, agents and demo."""
    folder = tempfile.mkdtemp(prefix="hangtop-e2e-")
    process = subprocess.Popen([HANGTOP, "demo", "--scenario", "healthy", "--once", "--timeout", "100", "--no-db"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=dict(os.environ, TMPDIR=folder))
    up = wait_until(lambda: len(left_behind(folder)) >= 12)
    process.send_signal(signal.SIGKILL)
    process.wait()
    gone = wait_until(lambda: not left_behind(folder))
    empty = wait_until(lambda: not os.listdir(folder))
    report(up and gone and empty, "kill -9 of hangtop leaves no process and no folder",
           "up %s, left %s, folder %s" % (up, left_behind(folder), os.listdir(folder)))
    shutil.rmtree(folder, ignore_errors=True)


def main():
    if not PY_SPY:
        print("1..0 # SKIP py-spy is not there")
        return
    print("1..%d" % (len(EXPECT) + 1))
    scenarios()
    killed()
    sys.exit(0 if all(results) else 1)


main()
