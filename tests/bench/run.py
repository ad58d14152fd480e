#!/usr/bin/env python3
"""make bench: what hangtop costs, one row a figure: what | measured | bar | ok or MISS.

    run.py [--only ROW,...] [--quick] --hangtop PATH --data DIR [BENCH-PROGRAM...]

Against htop in the same run where the bar says so. Ends with status 1 when a row missed its bar.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from terminal import Terminal, command, cpu, pss_mib, stat, tree  # noqa: E402

missed = []
args = None
tmp = None


def row(what, measured, bar, ok=None):
    print("%-58s | %-34s | %-38s | %s" % (what, measured, bar, {None: "-", True: "ok", False: "MISS"}[ok]), flush=True)
    if ok is False:
        missed.append(what)


def median(values):
    return statistics.median(values)


def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(len(values) * p / 100))]


def env():
    """A home of our own: no session files, no settings of the user."""
    return {"HOME": tmp, "XDG_STATE_HOME": tmp + "/state", "XDG_CONFIG_HOME": tmp + "/config", "HANGTOP_DATA": args.data}


# --- what is watched ---

class Demo:
    """The demo server: API process, dispatcher, ranks, GPU files."""

    def __init__(self, scenario):
        script = os.path.join(args.data, "demo", "demo.py")
        self.process = subprocess.Popen([sys.executable, script, "--scenario", scenario, "--seed", "1"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.at = json.loads(self.process.stdout.readline())
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(self.at["url"] + "/v1/models", timeout=2).read()
                return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("bench: the demo server does not get ready")

    def options(self, url=None):
        return ["--pid", str(self.at["pid"]), "--log", self.at["log"], "--url", url or self.at["url"],
                "--sys-root", self.at["sys_root"], "--engine", "atom"]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def hangtop(demo, *more):
    return Terminal([args.hangtop, "run"] + demo.options() + list(more), env())


def htop():
    return Terminal(["htop", "-d", "10"], env())


def sleepers(count):
    script = "i=0; while [ $i -lt %d ]; do sleep 1000 & i=$((i+1)); done; echo; wait" % count
    shell = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    shell.stdout.readline()
    return shell


# --- the rows ---

def first_frame():
    """From fork() until the screen is there: hangtop's line 1, htop's table."""
    demo = Demo("healthy")
    session = tmp + "/frame.hangtop"
    subprocess.run([args.hangtop, "record", "--quiet", "--duration", "3" if args.quick else "20", "--db", session] + demo.options(),
                   env=dict(os.environ, **env()), check=True)
    demo.close()
    ours, theirs = [], []
    for _ in range(5 if args.quick else 21):
        for argv, words, times in (([args.hangtop, "replay", session], b"REPLAY", ours), (["htop", "-d", "10"], b"PID", theirs)):
            t = Terminal(argv, env())
            took = t.wait(words, 10)
            t.close()
            times.append(took * 1e3 if took else 1e4)
    a, b = median(ours), median(theirs)
    row("first frame of hangtop replay", "%.1f ms (htop %.1f ms)" % (a, b), "not slower than htop, under 50 ms", a <= b and a < 50)


def key_to_repaint():
    """One agent stopped, an HTTP server that never answers, a py-spy that hangs: panels are switched at random moments."""
    demo = Demo("livelock")
    silent = socket.socket()
    silent.bind(("127.0.0.1", 0))
    silent.listen(64)
    fake = tmp + "/py-spy"
    with open(fake, "w") as f:
        f.write("#!/bin/sh\nexec sleep 1000\n")
    os.chmod(fake, 0o755)
    t = Terminal([args.hangtop, "run", "--py-spy", fake, "--stacks-every", "5"] +
                 demo.options("http://127.0.0.1:%d" % silent.getsockname()[1]), env(), 120, 40)
    Terminal.idle(6)
    device = [p for p in tree(t.pid) if " agent " in command(p) and "--sources gpu" in command(p)]
    if len(device) != 1:
        raise SystemExit("bench: no device agent below hangtop")
    os.kill(device[0], signal.SIGSTOP)
    dice = random.Random(1)
    times = []
    for i in range(40 if args.quick else 300):
        Terminal.idle(dice.uniform(0.03, 0.25))
        del t.seen[:]
        sent = time.monotonic()
        t.send("24"[i % 2])
        while len(t.seen) < 200 and time.monotonic() - sent < 2: # a tick of the clock is less, a panel is more
            Terminal.pump(0.5)
        times.append((time.monotonic() - sent) * 1e3)
    os.kill(device[0], signal.SIGCONT)
    t.close()
    demo.close()
    silent.close()
    p99 = percentile(times, 99)
    row("key to repaint, one agent stopped, HTTP and py-spy hang", "p50 %.1f, p99 %.1f, max %.1f ms" % (median(times), p99, max(times)),
        "p99 under 33 ms", p99 < 33)


def watch_both(demo, seconds, runs):
    """CPU of both, in percent of a core, and our memory: side by side, the same processes, the same seconds."""
    ours, theirs, memory = [], [], []
    for _ in range(runs):
        a, b = hangtop(demo), htop()
        Terminal.idle(5)
        before = cpu(a.pid), cpu(b.pid)
        began = time.monotonic()
        peak = 0
        while time.monotonic() - began < seconds:
            Terminal.idle(2)
            peak = max(peak, pss_mib([p for p in tree(a.pid) if "hangtop" in command(p)]))
        lasted = time.monotonic() - began
        ours.append((cpu(a.pid) - before[0]) / lasted * 100)
        theirs.append((cpu(b.pid) - before[1]) / lasted * 100)
        memory.append(peak)
        a.close()
        b.close()
    return median(ours), median(theirs), median(memory)


def idle_cost():
    demo = Demo("healthy")
    a, b, memory = watch_both(demo, 8 if args.quick else 30, 1 if args.quick else 3)
    row("idle CPU, 8 GPUs and 8 ranks, all processes, py-spy too", "%.2f %% of a core (htop %.2f %%)" % (a, b),
        "at most 2x htop, under 1 %", a <= 2 * b and a < 1)
    row("memory of all hangtop processes together (PSS)", "%.1f MiB" % memory, "under 24 MiB", memory < 24)
    demo.close()


def many_processes():
    demo = Demo("healthy")
    crowd = sleepers(1000)
    try:
        a, b, _ = watch_both(demo, 8 if args.quick else 30, 1 if args.quick else 3)
    finally:
        os.killpg(crowd.pid, signal.SIGKILL)
        crowd.wait()
    row("CPU with 1000 more processes", "%.2f %% of a core (htop %.2f %%)" % (a, b), "at most a third of htop", a <= b / 3)
    demo.close()


def kill_once(demo, dice, session):
    """Start, kill -9 at random. What the file lacks of what the same process had already put out as JSON lines."""
    lines = tmp + "/kill.jsonl"
    front = subprocess.Popen([args.hangtop, "record", "--quiet", "--db", session, "--jsonl", lines] + demo.options(),
                             env=dict(os.environ, **env()))
    time.sleep(dice.uniform(0.3, 2.5))
    below = tree(front.pid)
    front.kill()
    killed = time.time() * 1000
    front.wait()
    told = []
    with open(lines, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.endswith("\n"):
                told.append(json.loads(line))
    end = time.monotonic() + 8
    while any(stat(p) and stat(p)[1] != "Z" for p in below) and time.monotonic() < end:
        time.sleep(0.02)
    left = sum(1 for p in below if stat(p) and stat(p)[1] != "Z")
    if not os.path.exists(session):
        return 0, 0, left, not told # killed before there was anything
    with sqlite3.connect(session) as db:
        tables = [name for (name,) in db.execute("select name from sqlite_master where type = 'table'")]
        last = max([t for name in ("gpu", "process_sample", "server") if name in tables
                    for (t,) in db.execute("select max(t) from %s" % name) if t] or [0])
        verdicts = {t for (t,) in db.execute("select t from verdict")} if "verdict" in tables else set()
        whole = db.execute("pragma quick_check").fetchone()[0] == "ok"
    lost = [killed - o["t"] for o in told if o["kind"] in ("gpu", "process_sample", "server") and o["t"] > last]
    # A commit takes some milliseconds: a verdict younger than that was not yet said to be kept.
    verdicts_lost = sum(1 for o in told if o["kind"] == "verdict" and o["t"] not in verdicts and killed - o["t"] > 200)
    return max(lost, default=0), verdicts_lost, left, whole


def kill_nine():
    demo = Demo("healthy")
    dice = random.Random(1)
    worst = verdicts = left = broken = 0
    count = 10 if args.quick else 200
    for i in range(count):
        session = "%s/kill-%d.hangtop" % (tmp, i)
        lost, no_verdict, children, whole = kill_once(demo, dice, session)
        worst = max(worst, lost)
        verdicts += no_verdict
        left += children
        broken += not whole
        for suffix in ("", "-wal", "-shm", ".ballast"):
            if os.path.exists(session + suffix):
                os.unlink(session + suffix)
    demo.close()
    row("kill -9 of hangtop at random instants, %d times" % count,
        "lost %.0f ms, %d verdicts, %d files, %d left" % (worst, verdicts, broken, left),
        "at most 1 s, no verdict, no file, no child", worst <= 1000 and not (verdicts or broken or left))


def compare(value, bar):
    found = re.match(r"([<>]=?)?\s*([\d.]+)", bar)
    if not found:
        return None
    limit = float(found[2])
    return {"<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit,
            None: abs(value - limit) <= limit * 0.01}[found[1]]


def program(path):
    """A bench program prints lines `what  value [unit]  bar LIMIT`; the median of each line over some runs is a row."""
    figures, failed = {}, False
    for _ in range(1 if args.quick or "kill" in path else 3):
        done = subprocess.run([path, tmp], stdout=subprocess.PIPE, text=True, env=dict(os.environ, srcdir=args.srcdir, HANGTOP_DATA=args.data))
        failed = failed or done.returncode != 0
        for line in done.stdout.splitlines():
            found = re.match(r"(.*?)\s*(-?\d+(?:\.\d+)?)(?:\s+(\S+))?\s+bar:?\s*(.*)$", line)
            if found:
                figures.setdefault((found[1], found[3] or "", found[4]), []).append(float(found[2]))
    for (what, unit, bar), values in figures.items():
        row(what, "%.10g %s" % (round(median(values), 2), unit), bar, compare(median(values), bar))
    if failed:
        row(os.path.basename(path), "ended with an error", "status 0", False)


# --- explain ---

PATTERN = "stopped, reason|Memory access fault|MEMORY_VIOLATION|Disassembly"
FAULT = b"Memory access fault by GPU node-3 (Agent handle: 0x5581c0de0010) on address 0x7f21c8a00000. Reason: Page not present or supervisor privilege.\n"


def tool(name):
    """Path of a program of this folder that is a tool and not a bench."""
    for path in args.programs:
        if os.path.basename(path) == name:
            return os.path.abspath(path)
    raise SystemExit("bench: %s is not among the programs" % name)


def wave_log(kind, size):
    """(path, what is in it) of a log made up for the bench."""
    path = "%s/%s.log" % (tmp, kind)
    with open(path, "wb") as f:
        told = subprocess.run([tool("wave_log"), "--kind", kind, "--bytes", str(size)], stdout=f, stderr=subprocess.PIPE, check=True).stderr
    return path, json.loads(told)


def measured(argv, out):
    """(seconds, most resident MiB, status) of a program alone on one core."""
    done = subprocess.run([tool("measure"), str(min(os.sched_getaffinity(0)))] + argv, stdin=subprocess.DEVNULL, stdout=out,
                          stderr=subprocess.PIPE, text=True, env=dict(os.environ, LC_ALL="C", **env()))
    seconds, kib, status = done.stderr.splitlines()[-1].split()
    return float(seconds), int(kib) / 1024, int(status)


def in_turns(commands, rounds):
    """Medians of the seconds, the worst memory and status of each: one after the other, so that all see the same machine.
    grep and rg write to a pipe: they stop at the first match when they see /dev/null."""
    taken = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            taken[name].append(measured(argv, subprocess.PIPE if name in ("grep", "rg") else subprocess.DEVNULL))
    return {name: (median([t[0] for t in runs]), max(t[1] for t in runs), max(t[2] for t in runs)) for name, runs in taken.items()}


def explained(path):
    done = subprocess.run([args.hangtop, "explain", "--json", path], stdout=subprocess.PIPE, env=dict(os.environ, **env()))
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {}


def counts_row(what, path, truth):
    """Every count that explain gives and the generator knows; lines, waves and faults it must give, and waves of every group."""
    said = explained(path)
    counts = said.get("counts") or {}
    counts["groups"] = len({(w["kernel"], w["pc"], w["state"], str(w["reasons"])) for w in said.get("waves") or []})
    names = [n for n in truth if n in counts or n in ("lines", "waves", "faults")]
    wrong = [n for n in names if counts.get(n) != truth[n]]
    row("%s: counts" % what, ", ".join("%s %s, not %s" % (n, counts.get(n), truth[n]) for n in wrong) or ", ".join(names) + " right",
        "as the generator counted", not wrong)


def explain_waves():
    size = 100 if args.quick else 1000
    path, truth = wave_log("waves", size * 1000000)
    commands = {"hangtop": [args.hangtop, "explain", "--json", path], "cat": ["cat", path], "grep": ["grep", "-cE", PATTERN, path],
                "rg": ["rg", "-c", PATTERN, path]}
    if not shutil.which("rg"):
        del commands["rg"]
    in_turns(commands, 1) # the file into the cache, all of it, and the programs
    took = in_turns(commands, 5 if args.quick else 11)
    ours, mib, status = took["hangtop"]
    what = "explain of a %s wave log" % ("100 MB" if args.quick else "1 GB")
    if status > 4:
        row(what, "ended with status %d" % status, "a status of a verdict, 0 to 4", False)
        return
    for name, bar, limit in (("cat", "at most 1.35x cat", 1.35), ("grep", "at least 3x faster than grep -cE", 1 / 3), ("rg", "not slower than rg -c", 1)):
        if name in took:
            theirs = took[name][0]
            row(what, "%.0f ms (%s %.0f ms, %.2fx)" % (ours * 1e3, name, theirs * 1e3, ours / theirs), bar, ours <= limit * theirs)
        else:
            row(what, "- (no %s here)" % name, bar)
    row(what + ": resident memory", "%.1f MiB" % mib, "under 16 MiB", mib < 16)
    counts_row(what, path, truth)
    os.unlink(path)


def explain_ordinary():
    path, truth = wave_log("ordinary", 100000000)
    commands = {"hangtop": [args.hangtop, "explain", "--json", path]}
    in_turns(commands, 1)
    seconds, mib, status = in_turns(commands, 3 if args.quick else 7)["hangtop"]
    speed = truth["bytes"] / seconds / 1e9
    what = "explain of a 100 MB log of ordinary lines"
    if status > 4:
        row(what, "ended with status %d" % status, "a status of a verdict, 0 to 4", False)
        return
    row(what, "%.3f GB/s, %.1f MiB resident" % (speed, mib), "at least 0.2 GB/s", speed >= 0.2)
    counts_row(what, path, truth)
    os.unlink(path)


def fault_to_screen():
    """One healthy server; each start follows a log of its own, a copy, so that no start sees the fault of the one before."""
    demo = Demo("healthy")
    log = demo.at["log"]
    times = []
    for i in range(3 if args.quick else 10):
        demo.at["log"] = "%s/live-%d.log" % (tmp, i)
        shutil.copy(log, demo.at["log"])
        t = hangtop(demo)
        if not t.wait(b"HEALTHY", 20):
            raise SystemExit("bench: hangtop does not call the demo server healthy")
        Terminal.idle(0.5 + i % 7 * 0.09)
        del t.seen[:]
        began = time.monotonic()
        with open(demo.at["log"], "ab") as f:
            f.write(FAULT)
        t.started = began
        took = t.wait(b"FAULT", 10)
        times.append(took * 1e3 if took else 1e4)
        t.close()
    demo.close()
    p95 = percentile(times, 95)
    row("fault written to the log -> on the screen", "p50 %.0f, p95 %.0f, max %.0f ms" % (median(times), p95, max(times)),
        "p95 under 250 ms", p95 < 250)


# --- snapshot and stacks ---

THREADS = """
import sys, threading, time
threading.stack_size(65536)
for _ in range(99):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
print("ready", flush=True)
time.sleep(1000)
"""


def snapshot_stop():
    """How long a process of 100 threads stands still while real gdb looks at it."""
    target = subprocess.Popen([sys.executable, "-c", THREADS], stdout=subprocess.PIPE)
    target.stdout.readline()
    root = tmp + "/sys"
    os.makedirs("%s/class/kfd/kfd/proc/%d/queues/0" % (root, target.pid))
    stopped, verified = [], []
    for _ in range(3 if args.quick else 7):
        done = subprocess.run([args.hangtop, "snapshot", "--json", "--target", str(target.pid), "--role", "worker", "--gdb", "gdb", "--plain-gdb",
                               "--sys-root", root, "--yes-i-accept-a-pause"], stdout=subprocess.PIPE, env=dict(os.environ, **env()))
        for line in done.stdout.splitlines():
            o = json.loads(line)
            if o["kind"] == "snapshot" and "stopped_ms" in o:
                stopped.append(o["stopped_ms"])
                verified.append(o["verified"])
    target.kill()
    target.wait()
    row("a process of 100 threads stands still in a snapshot (gdb)", "median %.0f, max %.0f ms, %d of %d run again" %
        (median(stopped or [9e9]), max(stopped or [9e9]), verified.count("ok"), len(verified)), "under 2000 ms, all run again",
        bool(stopped) and max(stopped) < 2000 and set(verified) == {"ok"})


def stacks_of_ranks():
    demo = Demo("healthy")
    times = []
    for _ in range(3 if args.quick else 9):
        began = time.monotonic()
        done = subprocess.run([args.hangtop, "stacks", "--json", "--pid", str(demo.at["pid"])], stdout=subprocess.PIPE, env=dict(os.environ, **env()))
        times.append(time.monotonic() - began)
        ranks = sum(len(group["ranks"]) for group in json.loads(done.stdout)["stack_groups"])
        if ranks != 8:
            times.append(9e9)
    demo.close()
    row("stacks of 8 ranks to folded classes, from the start of hangtop", "median %.2f, max %.2f s" % (median(times), max(times)), "under 2.5 s",
        max(times) < 2.5)


def keys_in_snapshot():
    """Panels change while a snapshot is proposed and taken."""
    demo = Demo("healthy")
    t = hangtop(demo, "--gdb", demo.at["rocgdb"])
    Terminal.idle(4)
    dice = random.Random(1)
    times = []
    for _ in range(1 if args.quick else 5):
        t.send("S")
        Terminal.idle(1.5)
        t.send("yy")
        end = time.monotonic() + 4
        while time.monotonic() < end:
            Terminal.idle(dice.uniform(0.03, 0.15))
            del t.seen[:]
            sent = time.monotonic()
            t.send("24"[len(times) % 2])
            while len(t.seen) < 200 and time.monotonic() - sent < 2:
                Terminal.pump(0.5)
            times.append((time.monotonic() - sent) * 1e3)
    t.close()
    demo.close()
    p99 = percentile(times, 99)
    row("key to repaint while snapshots are taken", "p50 %.1f, p99 %.1f, max %.1f ms" % (median(times), p99, max(times)), "p99 under 33 ms", p99 < 33)


ROWS = [("first-frame", first_frame), ("keys", key_to_repaint), ("idle", idle_cost), ("crowd", many_processes), ("kill", kill_nine),
        ("explain", explain_waves), ("explain-ordinary", explain_ordinary), ("fault", fault_to_screen), ("snapshot", snapshot_stop),
        ("stacks", stacks_of_ranks), ("snapshot-keys", keys_in_snapshot)]


def main():
    global args, tmp
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hangtop", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--srcdir", default=".")
    parser.add_argument("--only", default="", help="comma-separated: %s, or names of bench programs" % ", ".join(n for n, _ in ROWS))
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs, to try the bench itself")
    parser.add_argument("programs", nargs="*")
    args = parser.parse_args()
    args.hangtop, args.data = os.path.abspath(args.hangtop), os.path.abspath(args.data)
    only = [word for word in args.only.split(",") if word]
    tmp = tempfile.mkdtemp(prefix="hangtop-bench-")
    try:
        if not shutil.which("htop"):
            raise SystemExit("bench: htop is not there; ./quickstart bench installs it")
        for name, run in ROWS:
            if not only or name in only:
                run()
        for path in args.programs:
            name = os.path.basename(path)
            if name.startswith("bench_") and (not only or name in only):
                program(path)
    finally:
        for t in list(Terminal.open):
            t.close()
        shutil.rmtree(tmp, ignore_errors=True)
    print("%d rows missed their bar%s" % (len(missed), ": " + "; ".join(missed) if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
