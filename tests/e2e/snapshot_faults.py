#!/usr/bin/env python3
"""Snapshots that go wrong in every way we know, on real processes with real gdb: is a target ever left hurt by our doing?

    snapshot_faults.py --hangtop PATH [--count N] [--seed N] [--jobs N] [--verbose]

Each attempt takes a target (1 to 300 threads), starts `hangtop snapshot` or an agent that does, and injects one fault at a random
moment: of attach, run or detach. Afterwards what a dead hangtop left is imported, and then the target must run as before (unless
the fault itself was to stop, trace or kill it) and the attempt must be on record. Prints a count of each fault and, last,
"0 targets hurt of N". Exit status 1 when one was hurt or not recorded.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TARGET = """
import ctypes, sys, threading, time
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
threading.stack_size(65536)
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=time.sleep, args=(100000,), daemon=True).start()
print("ready", flush=True)
time.sleep(100000)
"""
PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17
END = "=== hangtop: end ==="
SCRIPTS = {
    "debugger never answers": "exec sleep 1000",
    "debugger exits at once": "exit 1",
    "debugger floods": "exec yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "debugger ignores SIGINT": "trap '' INT; while :; do sleep 0.1; done",
    "debugger crashes": "kill -SEGV $$",
    "debugger stops the target and dies": 'while [ "$1" != -p ]; do shift; done; kill -STOP $2; kill -KILL $$',
}
KILLS = [(who, sig) for who in ("gdb", "snapshot") for sig in ("TERM", "INT", "KILL", "HUP")] + [("agent", "KILL"), ("agent", "TERM")]
OTHERS = ["nothing", "output closed", "target dies", "target stopped by others", "target traced by others", "target's pid reused", "disk full",
          "two at once"]
args = None
tmp = None


def state(pid):
    """(state letter, tracer, threads stopped, start ticks), or None when it is gone."""
    try:
        with open("/proc/%d/status" % pid) as f:
            fields = dict(line.split(":", 1) for line in f)
        stopped = 0
        for tid in os.listdir("/proc/%d/task" % pid):
            try:
                with open("/proc/%d/task/%s/stat" % (pid, tid)) as f:
                    stopped += f.read().rpartition(")")[2].split()[0] in "Tt"
            except OSError:
                pass
        return fields["State"].strip()[0], int(fields["TracerPid"]), stopped
    except (OSError, KeyError, ValueError):
        return None


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


class Lane:
    """A folder of its own for state files and one target at a time, used by one thread."""

    def __init__(self, number, seed):
        self.dice = random.Random(seed)
        self.folder = os.path.join(tmp, "lane%d" % number)
        self.sys_root = os.path.join(self.folder, "sys")
        os.makedirs(self.sys_root)
        self.env = dict(os.environ, XDG_STATE_HOME=self.folder, HOME=self.folder)
        self.snapshots = os.path.join(self.folder, "hangtop", "snapshots")
        self.target = None
        self.uses = 0

    def fresh_target(self):
        if self.target and self.target.poll() is None and self.uses < 12 and state(self.target.pid)[0] == "S":
            self.uses += 1
            return
        self.end_target()
        self.uses = 0
        threads = self.dice.choice([1, 1, 4, 30, 300])
        self.target = subprocess.Popen([sys.executable, "-c", TARGET, str(threads)], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.target.stdout.readline()
        os.makedirs(os.path.join(self.sys_root, "class/kfd/kfd/proc/%d/queues/0" % self.target.pid), exist_ok=True)

    def end_target(self):
        if self.target:
            self.target.kill()
            self.target.wait()
            self.target.stdout.close()

    # --- one attempt ---

    def command(self, gdb, more=()):
        return [args.hangtop, "snapshot", "--json", "--target", str(self.target.pid), "--role", "worker", "--rank", "0", "--gdb", gdb,
                "--plain-gdb", "--sys-root", self.sys_root, "--deadline", "20", "--grace", "10", "--yes-i-accept-a-pause", *more]

    def debuggers(self):
        """gdbs that are attached, or about to be, to our target."""
        found = []
        want = b"\0-p\0%d\0" % self.target.pid
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as f:
                    words = f.read()
            except OSError:
                continue
            if want in words and b"hangtop" not in words.split(b"\0")[0]:
                found.append(int(path.split("/")[2]))
        return found

    def script(self, body):
        path = os.path.join(self.folder, "rocgdb")
        with open(path, "w") as f:
            f.write("#!/bin/sh\n" + body + "\n")
        os.chmod(path, 0o755)
        return path

    def run(self, command, inject, how_long=90):
        """Start it, let `inject` do its worst, wait for its end. Returns its exit status."""
        process = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        reader = threading.Thread(target=lambda: [None for _ in process.stdout], daemon=True)
        if not getattr(inject, "closes", False):
            reader.start()
        inject(process)
        try:
            return process.wait(how_long)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
        finally:
            if reader.is_alive():
                reader.join(5)
            process.stdout.close()

    def settle(self):
        """What is left of debuggers ends, and what a dead hangtop left is finished."""
        wait_until(lambda: not self.debuggers(), 40)
        for _ in range(20):
            subprocess.run([args.hangtop, "snapshot", "--import", "--json", "--deadline", "5", "--grace", "5"], env=self.env,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
            if not self.unfinished():
                break
            time.sleep(0.2) # its own process is still at work: only then nothing is imported

    def unfinished(self):
        return [p for p in glob.glob(self.snapshots + "/*.jsonl") if not p.endswith(".done.jsonl")]

    def recorded(self, before):
        """Each attempt that began has its end on record, and something is on record at all."""
        for path in set(glob.glob(self.snapshots + "/*.jsonl")) - before:
            with open(path) as f:
                rows = [json.loads(line) for line in f if line.endswith("\n")]
            states = [r["state"] for r in rows if r["kind"] == "snapshot"]
            if not states or states[-1] not in ("done", "failed") or not any(r.get("verified") for r in rows):
                return False
        return True

    def attempt(self, fault):
        self.fresh_target()
        pid = self.target.pid
        before = set(glob.glob(self.snapshots + "/*.jsonl"))
        excused = fault_functions[fault[0]](self, fault)
        self.settle()
        recorded = self.recorded(before)
        now = None

        def fine():
            nonlocal now
            now = state(pid)
            return now and now[0] not in "TtZX" and now[1] == 0 and now[2] == 0

        fine_now = wait_until(fine, 3)
        if excused:
            fine_now = excused == "dead"
        return fine_now, recorded, now


# --- faults: each returns what the fault itself has done to the target for good ---

def moment(lane):
    time.sleep(lane.dice.choice([lane.dice.uniform(0, 0.15), lane.dice.uniform(0, 0.6), lane.dice.uniform(0, 1.5)]))


def kill(lane, fault):
    who, number = fault[1], getattr(signal, "SIG" + fault[2])
    if who == "agent":
        return kill_agent(lane, number)

    def inject(process):
        moment(lane)
        if who == "snapshot":
            process.send_signal(number)
        else:
            wait_until(lambda: lane.debuggers() or process.poll() is not None, 5)
            time.sleep(lane.dice.uniform(0, 0.5))
            for pid in lane.debuggers():
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
    lane.run(lane.command("gdb"), inject)
    return None


def kill_agent(lane, number):
    agent = subprocess.Popen([args.hangtop, "agent", "--sources", "proc", "--gdb", "gdb", "--plain-gdb", "--sys-root", lane.sys_root,
                              "--pid", str(lane.target.pid), "--deadline", "20", "--grace", "10"],
                             env=lane.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    threading.Thread(target=lambda: [None for _ in agent.stdout], daemon=True).start()
    request = {"do": "snapshot", "take": 1, "pid": lane.target.pid, "role": "worker", "rank": "0", "why": "key"}
    agent.stdin.write(json.dumps(request).encode() + b"\n")
    agent.stdin.flush()
    wait_until(lambda: lane.debuggers(), 5)
    moment(lane)
    agent.send_signal(number)
    agent.wait()
    agent.stdin.close()
    # The snapshot's own process goes on: nothing is to be imported before its end.
    wait_until(lambda: not lane.debuggers(), 40)
    return None


def script(lane, fault):
    body = SCRIPTS[fault[1]]
    more = ["--deadline", "1", "--grace", "1"] if "sleep" in body or "yes" in body else []
    lane.run(lane.command(lane.script(body), more), lambda process: None)
    return None


def other(lane, fault):
    what, pid = fault[1], lane.target.pid
    if what == "output closed":
        def close(process):
            moment(lane)
            process.stdout.close()
        close.closes = True
        lane.run(lane.command("gdb"), close)
    elif what == "target dies":
        lane.run(lane.command("gdb"), lambda process: (moment(lane), os.kill(pid, signal.SIGKILL)))
        return "dead"
    elif what == "target stopped by others":
        lane.run(lane.command("gdb"), lambda process: (moment(lane), os.kill(pid, signal.SIGSTOP)))
        os.kill(pid, signal.SIGCONT)
    elif what == "target traced by others":
        tracer = os.fork()
        if tracer == 0:
            ctypes.CDLL(None).ptrace(PTRACE_SEIZE, pid, None, None)
            time.sleep(2)
            os._exit(0)
        lane.run(lane.command("gdb"), lambda process: None)
        os.kill(tracer, signal.SIGKILL)
        os.waitpid(tracer, 0)
    elif what == "target's pid reused":
        status = lane.run(lane.command("gdb", ["--start", "1000000000000"]), lambda process: None)
        if status != 77:
            return "not refused"
    elif what == "disk full":
        env, lane.env = lane.env, dict(lane.env, XDG_STATE_HOME="/dev/full") # nothing can be written below it, not even by root
        status = lane.run(lane.command("gdb"), lambda process: None)
        lane.env = env
        if status != 73:
            return "not refused"
    elif what == "two at once":
        def second(process):
            moment(lane)
            lane.run(lane.command("gdb"), lambda other_process: None)
        lane.run(lane.command("gdb"), second)
    else:
        lane.run(lane.command("gdb"), lambda process: None)
    return None


fault_functions = {"kill": kill, "script": script, "other": other}


def faults(dice, count):
    kinds = [("kill", who, sig) for who, sig in KILLS] * 3 + [("script", name) for name in SCRIPTS] + [("other", what) for what in OTHERS]
    out = []
    while len(out) < count:
        dice.shuffle(kinds)
        out += kinds
    return out[:count]


def main():
    global args, tmp
    parser = argparse.ArgumentParser()
    parser.add_argument("--hangtop", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if not shutil.which("gdb"):
        sys.exit("snapshot_faults: gdb is not there")
    tmp = tempfile.mkdtemp(prefix="hangtop-faults-")
    todo = faults(random.Random(args.seed), args.count)
    done, hurt, unrecorded = collections.Counter(), [], []
    lock = threading.Lock()

    def work(number):
        lane = Lane(number, args.seed * 1000 + number)
        for fault in todo[number::args.jobs]:
            fine, recorded, now = lane.attempt(fault)
            with lock:
                done[" ".join(fault[1:])] += 1
                if not fine:
                    hurt.append((fault, now))
                if not recorded:
                    unrecorded.append(fault)
                if args.verbose or not fine or not recorded:
                    print("%s: %s%s" % (" ".join(fault[1:]), "fine" if fine else "HURT %s" % (now,), "" if recorded else ", NOT RECORDED"), flush=True)
            if not fine:
                lane.end_target()
                lane.target = None
        lane.end_target()

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for future in [pool.submit(work, n) for n in range(args.jobs)]:
            future.result()
    shutil.rmtree(tmp, ignore_errors=True)
    for fault, count in sorted(done.items()):
        print("%5d  %s" % (count, fault))
    print("%d not recorded" % len(unrecorded))
    print("%d targets hurt of %d" % (len(hurt), sum(done.values())))
    return 1 if hurt or unrecorded else 0


if __name__ == "__main__":
    sys.exit(main())
