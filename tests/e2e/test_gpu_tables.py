#!/usr/bin/env python3
"""End to end: the demo's stand-in for rocgdb, a real gdb, on the demo's real workers. Its tables have rocgdb's layout to the last
blank, hangtop explain reads them, what moves moves, and the worker runs on afterwards. Speaks TAP."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HANGTOP = os.path.join(os.environ.get("builddir", "."), "hangtop")
DEMO = os.path.join(os.environ.get("HANGTOP_DATA") or os.path.join(os.environ.get("srcdir", "."), "data"), "demo")
ROCGDB = os.path.join(DEMO, "rocgdb")
SCENARIOS = ("livelock", "one-rank-behind", "cpu-deadlock", "long-decode", "healthy")
RANKS = 2       # the last is the odd one of one-rank-behind
KERNEL = ("void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>(aiter::RankData*, aiter::RankSignals, aiter::Signal*, "
          "__hip_bfloat16*, int, int)")
SYMBOL = "_ZN5aiter26cross_device_reduce_2stageI14__hip_bfloat16Li8EEEvPNS_8RankDataENS_11RankSignalsEPNS_6SignalEPT_ii"
AGENTS = "  Id State Target Id                  Architecture Device Name         Cores Threads Location "
AGENT = r"[* ] %d  A     AMDGPU Agent \(GPUID \d{5}\) gfx942       AMD Instinct MI300X 1216  9728    0000:[0-9a-f]{2}:00\.0 "
QUEUES = "  Id   Target Id                Type         Read   Write  Size     Address            "
QUEUE_HSA = r"  (\d)    AMDGPU Queue (\d:\d) \(QID (\d)\) HSA          (\d+) +(?<=^.{52})(\d+) +(?<=^.{59})(\d+) +(?<=^.{68})0x[0-9a-f]{16} "
QUEUE_DMA = r"  (\d)    AMDGPU Queue (\d:\d) \(QID (\d)\) DMA                        (\d+) +(?<=^.{68})0x[0-9a-f]{16} "
DISPATCH = r"  1    AMDGPU Dispatch (\d:1:1) \(PKID (\d+)\) +(\[\d+,\d+,1\]) +(\[\d+,1,1\]) +B\|Aa\|Ra (.*\S) +"
WAVE = r'([* ]) (\d+) +AMDGPU Wave (\d:1:1:\d+) \((\d+,\d+,0)\)/(\d+) "[^"]{1,16}" +(0x[0-9a-f]{16}) in (.*) \(\) from memory://\d+#offset=0x[0-9a-f]+&size=\d+'
HOST = r'([* ]) (\d+) +Thread 0x[0-9a-f]+ \(LWP \d+\) "[^"]+" +\S.* (?:at|from) .*'
CHECKS = 23
results = []


def report(problems, name):
    results.append(not problems)
    print("%s %d - %s" % ("not ok" if problems else "ok", len(results), name), flush=True)
    for line in "\n".join(map(str, problems)).splitlines():
        print("# " + line[:300], flush=True)


def wait_until(condition, seconds=15):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def read(path, mode="r"):
    with open(path, mode) as f:
        return f.read()


class Demo:
    def __init__(self, scenario, folder):
        self.process = subprocess.Popen([sys.executable, os.path.join(DEMO, "demo.py"), "--scenario", scenario, "--tp", str(RANKS),
                                         "--hang-after", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=dict(os.environ, TMPDIR=folder))

    def begin(self):
        self.answer = json.loads(self.process.stdout.readline())
        self.dir = self.answer["dir"]

    def gpu(self):
        return json.loads(read(self.answer["gpu"]))

    def letters(self):
        return read(os.path.join(self.dir, "state"), "rb")[:RANKS]

    def settled(self, letters):
        """The first batch is out, each rank is at what it stays at, and the GPUs' file was written since."""
        if not wait_until(lambda: "Scheduled prefill batch" in read(self.answer["log"]) and self.letters() == letters):
            return False
        seq = self.gpu()["seq"]
        return wait_until(lambda: self.gpu()["seq"] >= seq + 2)

    def workers(self):
        return [int(pid) for pid in self.gpu()["processes"]]

    def dispatcher(self):
        for pid in children(self.answer["pid"]):
            if set(self.workers()) & set(children(pid)):
                return pid
        return None


def children(pid):
    return [int(c) for task in os.listdir("/proc/%d/task" % pid) for c in read("/proc/%d/task/%s/children" % (pid, task)).split()]


def rocgdb(pid, *commands):
    """{command: its lines, blanks at the ends included}, and all of the output. One -ex a command, as one should."""
    args = [ROCGDB, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no", "-p", str(pid)]
    for command in commands:
        args += ["-ex", "echo === %s ===\\n" % command, "-ex", command]
    done = subprocess.run(args + ["-ex", "echo === detach ===\\n", "-ex", "detach"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, env=dict(os.environ, TERM="dumb", LC_ALL="C"))
    text = done.stdout.decode("utf-8", "replace")
    parts = re.split(r"^=== (.*) ===\n", text, flags=re.M)
    return {name: body.splitlines() for name, body in zip(parts[1::2], parts[2::2])}, text


ALL = ("info dispatches", "info queues", "info agents", "bt 30", "info threads")


def lines_like(lines, patterns):
    """What is not as said, line by line."""
    out = ["%d lines, not %d" % (len(lines), len(patterns))] if len(lines) != len(patterns) else []
    return out + ["%r is not like %s" % (line, p) for line, p in zip(lines, patterns) if not re.fullmatch(p, line)]


def waves(lines):
    return [m.groups() for m in (re.fullmatch(WAVE, line) for line in lines) if m]


def pointers(lines):
    return [(int(m.group(4)), int(m.group(5))) for m in (re.fullmatch(QUEUE_HSA, line) for line in lines) if m]


def runs(pid):
    status = read("/proc/%d/status" % pid)
    return re.search(r"^State:\s+[SR] ", status, re.M) and re.search(r"^TracerPid:\s+0$", status, re.M)


def tables(demo, pid, tables, text):
    agents = [re.escape(AGENTS)] + [AGENT % (i + 1) for i in range(RANKS)]
    report(lines_like(tables["info agents"], agents), "info agents: a row a GPU, in the layout of rocgdb")
    queues = tables["info queues"]
    wrong = lines_like(queues, [re.escape(QUEUES), QUEUE_HSA, QUEUE_HSA, QUEUE_DMA])
    if [write - read for read, write in pointers(queues)] != [1, 0]:
        wrong.append("not one packet is pending: %s" % queues[1])
    report(wrong, "info queues: two with pointers, one of copies without")
    dispatches = tables["info dispatches"]
    wrong = lines_like(dispatches, ["  Id   Target Id +Grid +Workgroup Fence   Kernel Function ", DISPATCH])
    if not wrong:
        offsets = [dispatches[0].index(w) for w in ("Grid", "Workgroup", "Fence", "Kernel Function")]
        cells = [dispatches[1].index(w) for w in ("[40960,1,1]", "[512,1,1]", "B|Aa|Ra", KERNEL)]
        wrong = [] if offsets == cells else ["columns at %s, cells at %s" % (offsets, cells)]
    report(wrong, "info dispatches: the collective, its cells below its titles")


def threads(lines):
    found, wrong = waves(lines), lines_like(lines[:1], ["  Id   Target Id +Frame "])
    hosts = [m for m in (re.fullmatch(HOST, line) for line in lines) if m]
    if len(found) + len(hosts) + 1 != len(lines) or not hosts or len(found) < 64:
        wrong.append("%d lines, %d threads, %d waves" % (len(lines), len(hosts), len(found)))
    frame = lines[0].index("Frame")
    wrong += [line for line in lines[1:] if line[frame - 1] != " " or line[frame] == " "][:3]
    numbers = [int(m.group(2)) for m in hosts] + [int(w[1]) for w in found]
    if numbers != sorted(set(numbers)) or [m.group(1) for m in hosts].count("*") != 1 or any(w[0] == "*" for w in found):
        wrong.append("numbers or marks")
    if len(set(w[5:] for w in found)) != 1 or found[0][6] != KERNEL:
        wrong.append("waves stand at %s" % set(w[5:] for w in found))
    groups = {}
    for w in found:
        groups.setdefault(w[3], []).append(int(w[4]))
    if any(g != list(range(8)) for g in groups.values()):
        wrong.append("waves of a group: %s" % groups)
    report(wrong, "info threads: threads, then waves, all of these at one pc of the collective")


def one_wave(pid, lines):
    number, target, place, index, pc = waves(lines)[9][1:6]
    short = "0x%x" % int(pc, 16)
    plus = int(short, 16) & 0xfff
    got, _ = rocgdb(pid, "thread " + number, "bt", "x/6i $pc", "x/1i " + short, "info symbol $pc", "info line *$pc", "info lanes",
                    "info threads %s 1" % number, "info dispatches", "thread 1", "p $pc != " + short, "info lanes 0", "thread 99999",
                    "thread apply 1 bt 1", "x/1i $pc", "info queues")
    lane = re.escape("AMDGPU Lane %s/0 (%s)[%d,0,0]" % (target, place, int(index) * 64))
    frame = r"0x[0-9a-f]{16} in %s \(\) from memory://\S+" % re.escape(KERNEL)
    wrong = lines_like(got["thread " + number], [r"\[Switching to thread %s, lane 0 \(%s\)\]" % (number, lane), "#0  " + frame])
    wrong += lines_like(got["bt"], ["#0  " + frame])
    code = [r"   0x[0-9a-f]+ <%s\+\d+>:\t[sv]_\w+.*" % SYMBOL] * 6
    code[0] = r"=> %s <%s\+\d+>:\ts_waitcnt vmcnt\(0\)" % (short, SYMBOL)
    wrong += lines_like(got["x/6i $pc"], code)
    if not any("s_cbranch" in line for line in got["x/6i $pc"]):
        wrong.append("no loop at %x: %s" % (plus, got["x/6i $pc"]))
    wrong += lines_like(got["info symbol $pc"], [re.escape(KERNEL) + r" \+ \d+ in section \.text of .*"])
    wrong += lines_like(got["info line *$pc"], [r"No line number information available for address %s <%s\+\d+>" % (short, SYMBOL)])
    report(wrong, "a selected wave: frame, code, symbol and line of its pc")
    lanes = [r"%s %-4d %s     AMDGPU Lane %s/%d \(.*\)\[%d,0,0\] +(?:%s)" % (
        "\\*" if i == 0 else " ", i, "A" if i < RANKS else "I", target, i, int(index) * 64 + i, frame if i < RANKS else r"\(inactive\)")
        for i in range(64)]
    wrong = lines_like(got["info lanes"], ["  Id   State Target Id +Frame "] + lanes)
    marked = [line for line in got["info threads %s 1" % number] + got["info dispatches"] if line.startswith("*")]
    if len(marked) != 2 or not re.match(r"\* %s +AMDGPU Wave" % number, marked[0]):
        wrong.append("marked: %s" % marked)
    report(wrong, "a selected wave: its lanes, and the marks of tables")
    wrong = lines_like(got["thread 1"][:2], [r"\[Switching to thread 1 \(Thread 0x[0-9a-f]+ \(LWP %d\)\)\]" % pid, "#0  .*"])
    wrong += lines_like(got["thread 99999"], [r"Unknown thread 99999\."])
    wrong += [] if got["p $pc != " + short] == ["$1 = 1"] and got["x/1i $pc"][0].startswith("=> ") else ["$pc is still the wave's"]
    wrong += [] if any(line.startswith("#0 ") for line in got["thread apply 1 bt 1"]) else ["thread apply is lost"]
    wrong += [] if not any(line.startswith("*") for line in got["info queues"]) else ["a queue is marked for a thread"]
    report(wrong, "back at a thread all is gdb's own")


def explained(text):
    done = subprocess.run([HANGTOP, "explain", "--json", "-"], input=text.encode(), stdout=subprocess.PIPE, timeout=30)
    got = json.loads(done.stdout)
    wrong = []
    for name, is_so in (("suspect", got["suspect_kernel"] == KERNEL), ("dispatch", [d["kernel"] for d in got["dispatches"]] == [KERNEL]),
                        ("queues", [(q["type"], q["pending"]) for q in got["queues"]] == [("HSA", 1), ("HSA", 0), ("DMA", None)]),
                        ("agents", [a["arch"] for a in got["agents"]] == ["gfx942"] * RANKS),
                        ("waves", len(got["waves"]) >= 64 and len(set(w["pc"] for w in got["waves"])) == 1),
                        ("signature", "collective-spin" in [s["id"] for s in got["signatures"]]),
                        ("session", got["rocgdb"]["attach"] == "ok" and got["rocgdb"]["complete"])):
        wrong += [] if is_so else ["%s: %s" % (name, json.dumps(got)[:2000])]
    report(wrong, "hangtop explain gets kernel, queues, waves and the spin")


def livelock(demo):
    pid = demo.workers()[0]
    seq = demo.gpu()["seq"]
    got, text = rocgdb(pid, *ALL)
    refused = "ptrace: Operation not permitted." in text
    report(["ptrace is forbidden here: gdb cannot attach; give CAP_SYS_PTRACE or set kernel.yama.ptrace_scope to 0"] if refused else
           [] if "detached]" in text else [text], "gdb attaches to a worker and detaches")
    if refused or "detached]" not in text:
        return False
    report([] if runs(pid) else [read("/proc/%d/status" % pid)], "the worker runs on, without a tracer")
    tables(demo, pid, got, text)
    threads(got["info threads"])
    one_wave(pid, got["info threads"])
    explained(text)
    wait_until(lambda: demo.gpu()["seq"] > seq)
    again, _ = rocgdb(pid, *ALL)
    report([n for n in ("info queues", "info dispatches") if again[n] != got[n]] +
           ([] if waves(again["info threads"]) == waves(got["info threads"]) else ["waves"]), "livelock: nothing moves from one to the next")
    return True


def others(demo):
    wrong = []
    for pid in (demo.answer["pid"], demo.dispatcher()):
        got, text = rocgdb(pid, *ALL)
        wrong += lines_like(got["info agents"], [re.escape(AGENTS)] + [AGENT % (i + 1) for i in range(RANKS)])
        wrong += lines_like(got["info queues"], [r"No queues are currently active\."])
        wrong += lines_like(got["info dispatches"], [r"No dispatches are currently active\."])
        wrong += [line for line in got["info threads"] if "AMDGPU" in line]
        wrong += [] if runs(pid) else [read("/proc/%d/status" % pid)]
    return wrong


def kfd(demo):
    base, wrong = os.path.join(demo.answer["sys_root"], "class/kfd/kfd/proc"), []
    for rank, pid in enumerate(demo.workers()):
        folder = os.path.join(base, str(pid), "queues")
        found = {q: [read(os.path.join(folder, q, n)).strip() for n in ("gpuid", "type", "size")] for q in sorted(os.listdir(folder))}
        gpu = str(demo.gpu()["agents"][rank]["gpuid"])
        if found != {"0": [gpu, "0", "1048576"], "1": [gpu, "0", "4096"], "2": [gpu, "1", "8388608"]}:
            wrong.append("%d: %s" % (pid, found))
    if sorted(map(int, os.listdir(base))) != sorted(demo.workers()):
        wrong.append("processes %s" % os.listdir(base))
    return wrong


def idle(got):
    wrong = [] if got["info dispatches"] == ["No dispatches are currently active."] else got["info dispatches"]
    return wrong + [p for p in pointers(got["info queues"]) if p[0] != p[1]] + ([] if len(pointers(got["info queues"])) == 2 else ["queues"])


def behind(demo):
    others, odd = [rocgdb(pid, *ALL)[0] for pid in demo.workers()]
    return ([] if KERNEL in others["info dispatches"][-1] else others["info dispatches"]) + idle(odd)


def deadlocked(demo):
    return idle(rocgdb(demo.workers()[0], *ALL)[0])


def moving(demo, busy):
    """busy: it is in a kernel whenever one looks; a healthy server is idle now and then, so only its pointers are compared."""
    pid = demo.workers()[0]
    first, _ = rocgdb(pid, *ALL)
    launched = demo.gpu()["processes"][str(pid)]["queues"][0]["write"]
    wait_until(lambda: demo.gpu()["processes"][str(pid)]["queues"][0]["write"] > launched)
    second, _ = rocgdb(pid, *ALL)
    wrong = []
    if not pointers(second["info queues"])[:1] > pointers(first["info queues"])[:1] > []:
        wrong.append("pointers %s, then %s" % (pointers(first["info queues"]), pointers(second["info queues"])))
    pcs = [set(w[5] for w in waves(got["info threads"])) for got in (first, second)]
    if busy and (pcs[0] == pcs[1] or min(map(len, pcs)) < 2):
        wrong.append("pcs %s, then %s" % tuple(pcs))
    return wrong


def without_demo():
    process = subprocess.Popen(["sleep", "60"])
    got, _ = rocgdb(process.pid, *ALL)
    process.kill()
    process.wait()
    wrong = [] if got["info agents"][0] == AGENTS and len(got["info agents"]) > 1 else got["info agents"]
    report(wrong + lines_like(got["info queues"] + got["info dispatches"],
                              [r"No queues are currently active\.", r"No dispatches are currently active\."]) +
           lines_like(got["info threads"][1:], [HOST]), "a process without GPU: agents, no queues")
    got, text = rocgdb(process.pid, *ALL)
    report(lines_like(got["info agents"] + got["info queues"] + got["info threads"] + got["bt 30"],
                      [r"No agents are currently active\.", r"No queues are currently active\.", r"No threads\.", r"No stack\."]) +
           ([] if "ptrace: No such process." in text else [text]), "an attach that fails: nothing in any table")


def wrapper():
    text = subprocess.run([ROCGDB, "--version"], stdout=subprocess.PIPE, timeout=20).stdout.decode().splitlines()
    wrong = [] if text[0].startswith("GNU gdb") and "rocm-rel" not in text[0] and "stand-in" in text[-1] else text
    report(wrong, "--version says what it is")
    done = subprocess.run(["/bin/sh", ROCGDB, "-p", "1"], env={"PATH": "/nonexistent"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    report([] if done.returncode == 127 and b"needs gdb" in done.stderr else [done], "without gdb it says so")


def the_rest(demos):
    """What needs no other's answer, two at a time: attaching is work, and there may be two cores."""
    checks = [("API process and dispatcher: agents, no queues, no waves", others, demos["livelock"]),
              ("KFD's files have the same queues, of workers only", kfd, demos["livelock"]),
              ("one rank behind: the others are in the collective, its queues are idle", behind, demos["one-rank-behind"]),
              ("CPU-side deadlock: queues idle, nothing in flight", deadlocked, demos["cpu-deadlock"]),
              ("a long decode: pointers and pcs move", moving, demos["long-decode"], True),
              ("a healthy server: pointers move", moving, demos["healthy"], False)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = [(check[0], pool.submit(*check[1:])) for check in checks]
        for name, answer in answers:
            report(answer.result(), name)


def main():
    print("1..%d" % CHECKS)
    if not shutil.which("gdb"):
        report(["gdb is not installed"], "gdb is there")
        sys.exit(1)
    folder = tempfile.mkdtemp(prefix="hangtop-e2e-")
    demos = {name: Demo(name, folder) for name in SCENARIOS}
    try:
        for demo in demos.values():
            demo.begin()
        wrapper()
        without_demo()
        letters = {"livelock": b"SS", "one-rank-behind": b"SH", "cpu-deadlock": b"II", "long-decode": b"WW"}
        report([n for n in letters if not demos[n].settled(letters[n])], "the demos come to where they stay")
        if livelock(demos["livelock"]):
            the_rest(demos)
    finally:
        for demo in demos.values():
            demo.process.stdin.close()
        codes = [demo.process.wait(timeout=15) for demo in demos.values()]
        left = os.listdir(folder)
        shutil.rmtree(folder, ignore_errors=True)
    report([codes, left] if any(codes) or left else [], "the demos end and leave nothing behind")
    sys.exit(0 if all(results) and len(results) == CHECKS else 1)


main()
