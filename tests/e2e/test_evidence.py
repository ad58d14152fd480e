#!/usr/bin/env python3
"""hangtop evidence on a real server: whole, hashed, masked and passive; and with tools that hang, a full disk, no permission,
a stopped process, no server. Speaks TAP."""
import glob
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HANGTOP = os.path.join(os.environ.get("builddir", "."), "hangtop")
DEMO = os.path.join(os.path.abspath(os.environ.get("srcdir", ".")), "data", "demo", "demo.py")
PY_SPY = os.environ.get("HANGTOP_PY_SPY") or shutil.which("py-spy")
SECRETS = {"HF_TOKEN": "hf_abcDEF0123456789xyz", "DB_PASS": "hunter2hunter2", "ODD": "a1b2c3d4e5f6a7b8c9d0e1f2", "PROXY": "http://me:sesame99@proxy:1/"}
CHECKS = 12
results = []


def report(ok, name, why=""):
    results.append(bool(ok))
    print("%s %d - %s" % ("ok" if ok else "not ok", len(results), name), flush=True)
    if not ok:
        print("# " + str(why).replace("\n", "\n# "), flush=True)


class Demo:
    """The demo server, with secrets in its environment; ends with its standard input."""

    def __init__(self, folder, python):
        env = dict(os.environ, TMPDIR=folder, **SECRETS)
        self.process = subprocess.Popen([python, DEMO, "--scenario", "livelock", "--hang-after", "1", "--tp", "4"], env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.said = json.loads(self.process.stdout.readline())
        self.pid = self.said["pid"]
        self.args = ["--pid", str(self.pid), "--engine", "atom", "--sys-root", self.said["sys_root"], "--rocm-smi", self.said["rocm_smi"]]
        end = time.monotonic() + 30
        while len(self.workers()) < 4 and time.monotonic() < end:
            time.sleep(0.05)

    def workers(self):
        """Grandchildren: the engine's children that were spawned."""
        def children(pid):
            try:
                with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                    return [int(p) for p in f.read().split()]
            except OSError:
                return []
        return [w for c in children(self.pid) for w in children(c)]

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def evidence(args, limit=60, **more):
    started = time.monotonic()
    done = subprocess.run([HANGTOP, "evidence"] + args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=limit, **more)
    done.took = time.monotonic() - started
    done.path = done.stdout.decode().strip()
    return done


def read(*parts):
    with open(os.path.join(*parts), "rb") as f:
        return f.read()


def manifest(bundle):
    rows = {}
    for line in read(bundle, "MANIFEST.txt").decode().splitlines():
        if not line.startswith("#"):
            digest, size, path, state, _, origin, why = line.split("\t")
            rows[path] = (digest, int(size), state, origin, why)
    return rows


def wrong_hashes(bundle):
    """Pieces that are not as the manifest says, and files it does not know."""
    rows, out = manifest(bundle), []
    for path, (digest, size, _, _, _) in rows.items():
        if digest != "-":
            data = read(bundle, path)
            if len(data) != size or hashlib.sha256(data).hexdigest() != digest:
                out.append(path)
    known = {p for p, r in rows.items() if r[0] != "-"} | {"MANIFEST.txt"}
    there = {os.path.relpath(os.path.join(d, f), bundle) for d, _, files in os.walk(bundle) for f in files}
    return out + sorted(known ^ there)


def told(folder):
    """The files below a folder that have one of the secrets in them."""
    needles = [s.encode() for s in ("hf_abcDEF", "hunter2", "a1b2c3d4e5f6", "sesame99")]
    return [p for p in glob.glob(folder + "/**", recursive=True) if os.path.isfile(p) and any(n in read(p) for n in needles)]


def tool(folder, name, script):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + script + "\n")
    os.chmod(path, 0o755)
    return path


def state_of(pid):
    return read("/proc/%d/stat" % pid).rsplit(b")", 1)[1].split()[0].decode()


def whole(demo, folder):
    with open(demo.said["log"], "a") as log:  # as a server that prints what it should not
        log.write("[atom 00:00:00] cannot log in with %s as me\n" % SECRETS["DB_PASS"])
    done = evidence(demo.args + ["--out", folder + "/a", "--py-spy", PY_SPY or "py-spy"])
    rows = manifest(done.path)
    lost = [(p, r[2], r[4]) for p, r in rows.items() if r[2] in ("missing", "cut")]
    workers = [p for p in rows if p.endswith("/py-spy.txt") and "-worker-" in p]
    good = len(workers) == 4 and all(rows[w][2] == "ok" for w in workers) if PY_SPY else len(workers) == 4
    report(good and (done.returncode == 0) == (not lost) and done.returncode in (0, 4), "stacks and files of every process; the exit status says whether all is there",
           "%d %s %s" % (done.returncode, workers, lost))
    report(not wrong_hashes(done.path), "the manifest has every file, with its right size and hash", wrong_hashes(done.path))
    environ = [read(p).decode() for p in glob.glob(done.path + "/process/*worker*/environ")]
    report(not told(done.path) and environ and all("HF_TOKEN=***" in e for e in environ), "no secret of the environment is anywhere in it", told(done.path))
    summary = read(done.path, "SUMMARY.txt").decode()
    want = ["worker", "engine", "card1", "busy", "hangtop ", "process"]
    modes = {os.stat(os.path.join(d, f)).st_mode & 0o77 for d, _, files in os.walk(done.path) for f in files} | {os.stat(done.path).st_mode & 0o77}
    report(all(w in summary for w in want) and modes == {0} and b"log in with *** as me" in read(done.path, "log/stdout.log") and
           rows["gpu/kfd-processes.txt"][2] == rows["gpu/rocm-smi.txt"][2] == "ok", "summary, log and GPU state are there, for its owner only", summary)


def all_tools_hang(demo, folder):
    deaf = tool(folder, "deaf", "trap '' INT TERM\nwhile :; do sleep 1; done")
    slow = tool(folder, "slow", "sleep 1000")
    flood = tool(folder, "flood", "exec cat /dev/zero")
    tar = folder + "/b.tar"
    done = evidence(demo.args + ["--out", tar, "--py-spy", deaf, "--rocm-smi", slow, "--amd-smi", flood])
    with tarfile.open(tar) as t:
        names = t.getnames()
        t.extractall(folder + "/b")
    bundle = os.path.join(folder, "b", names[0].split("/")[0])
    rows = manifest(bundle)
    dumps = [r for p, r in rows.items() if p.endswith("/py-spy.txt")]
    report(done.returncode == 4 and done.path == tar and done.took < 20 and not wrong_hashes(bundle) and dumps and all(r[2] == "missing" for r in dumps) and
           rows["gpu/rocm-smi.txt"][2] == "missing" and os.path.getsize(tar) < 64 << 20, "done within 20 s when every tool hangs, as a tar",
           "%d after %.1f s: %s %s" % (done.returncode, done.took, done.stderr, wrong_hashes(bundle)))
    report(all(rows[p][2] == "ok" for p in rows if p.endswith("/tasks") or p.endswith("/stack") or p.endswith("/status")) or os.getuid() != 0,
           "then the kernel's view of every process is there", [p for p in rows if rows[p][2] != "ok"])
    left = subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE).stdout.decode()
    report(deaf not in left and slow not in left and flood not in left, "no tool is left behind", left)


def stopped(demo, folder):
    worker = demo.workers()[0]
    os.kill(worker, signal.SIGSTOP)
    while state_of(worker) != "T":
        time.sleep(0.01)
    done = evidence(demo.args + ["--out", folder + "/c", "--py-spy", PY_SPY or "py-spy"])
    state = state_of(worker)
    os.kill(worker, signal.SIGCONT)
    status = [read(p).decode() for p in glob.glob(done.path + "/process/%d-*/status" % worker)]
    report(state == "T" and status and "State:\tT" in status[0] and not wrong_hashes(done.path), "a stopped process is looked at, and stays stopped",
           "%d %s %s" % (done.returncode, state, status))


def ended(demo, folder):
    worker = demo.workers()[0]
    # The first py-spy ends one of the processes, so that its files are read, or looked for, in vain.
    killer = tool(folder, "killer", '[ "$1" = dump ] && kill -9 %d\necho "Process"' % worker)
    done = evidence(demo.args + ["--out", folder + "/f", "--py-spy", killer])
    gone = not os.path.exists("/proc/%d" % worker) or state_of(worker) == "Z"
    report(gone and not wrong_hashes(done.path) and done.returncode in (0, 4) and glob.glob(done.path + "/process/*-api/status"),
           "a process that ends meanwhile is no trouble", "%d %s" % (done.returncode, done.stderr))


def full_disk(demo, folder):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))
    small = folder + "/small"
    os.mkdir(small)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=800k", "tmpfs", small], stderr=subprocess.DEVNULL).returncode == 0
    try:
        done = evidence(demo.args + ["--out", small], preexec_fn=None if mounted else limit)
        summary = read(done.path, "SUMMARY.txt").decode() if done.path else ""
        report(done.returncode == 73 and "cannot be written" in summary and not wrong_hashes(done.path),
               "a full disk is status 73; summary and manifest are there, and right", "%d %s" % (done.returncode, done.stderr))
    finally:
        if mounted:
            subprocess.run(["umount", small])


def no_server(folder):
    nobody = subprocess.Popen(["true"])
    nobody.wait()
    done = evidence(["--pid", str(nobody.pid), "--out", folder + "/d"])
    report(done.returncode == 3 and os.path.getsize(done.path + "/node/meminfo") and not wrong_hashes(done.path), "without a server: status 3, and the node's part",
           "%d %s" % (done.returncode, done.stderr))
    file = folder + "/file"
    open(file, "w").close()
    done = evidence(["--out", file + "/e"])
    report(done.returncode == 73 and not done.path and b"--out" in done.stderr, "a place that cannot be written is status 73, with the remedy", done.stderr)


def main():
    print("1..%d" % CHECKS)
    folder = tempfile.mkdtemp(prefix="hangtop-e2e-")
    demo = Demo(folder, sys.executable)
    try:
        whole(demo, folder)
        all_tools_hang(demo, folder)
        full_disk(demo, folder)
        stopped(demo, folder)
        ended(demo, folder)
        no_server(folder)
    finally:
        demo.close()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if all(results) and len(results) == CHECKS else 1


sys.exit(main())
