#!/usr/bin/env python3
"""A small model server that behaves like ATOM and then hangs, for `hangtop demo` and the tests.

Starts real processes, real HTTP and a real log, and emulates only what needs a GPU: a tree of amdgpu and KFD files and a
rocm-smi that reads it. Prints one JSON line when all is started, then works until its standard input ends or it is told to
stop, and leaves nothing behind: children die with their parent, orphans are adopted and killed, the folder is removed.
"""
import argparse
import ctypes
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # this folder is installed, or a source tree
import gpu_state  # noqa: E402

SCENARIOS = ("healthy", "idle", "loading", "long-decode", "livelock", "cpu-deadlock", "one-rank-behind", "fault", "worker-death")
HERE = os.path.dirname(os.path.abspath(__file__))
VRAM = 206141652992
GPU_ID = gpu_state.GPU_ID
QUEUE_TYPES = {"HSA": 0, "DMA": 1}      # the kernel's numbers
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

ROCM_SMI = '''#!%s
"""A stand-in for rocm-smi --json (ROCm 6.2 keys) that reads the demo's GPU files."""
import json, os, sys
root = %r
def read(path):
    with open(os.path.join(root, path)) as f:
        return f.read().strip()
if "--json" not in sys.argv:
    sys.exit("only --json in the demo")
out = {}
for i in range(%d):
    d = "class/drm/card%%d/device/" %% (i + 1)
    used, total = int(read(d + "mem_info_vram_used")), int(read(d + "mem_info_vram_total"))
    out["card%%d" %% i] = {
        "Temperature (Sensor junction) (C)": str(int(read(d + "hwmon/hwmon1/temp2_input")) / 1000),
        "Current Socket Graphics Package Power (W)": str(int(read(d + "hwmon/hwmon1/power1_input")) / 1e6),
        "GPU use (%%)": read(d + "gpu_busy_percent"),
        "GPU Memory Allocated (VRAM%%)": str(used * 100 // total),
        "GPU Memory Read/Write Activity (%%)": read(d + "mem_busy_percent"),
        "VRAM Total Memory (B)": str(total), "VRAM Total Used Memory (B)": str(used)}
print(json.dumps(out))
'''


def prctl(option, value):
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


class GpuTree:
    """DIR/sys in the layout of amdgpu and KFD: nodes 0 and 1 are CPUs, GPU i is node i+2 and card i+1."""

    def __init__(self, root, count, rng):
        self.root, self.count, self.rng = root, count, rng
        self.vram = [0.02] * count
        for node in range(2):
            self.node(node, 0, "cpu_cores_count 96\nsimd_count 0\n")
        for i in range(count):
            self.node(i + 2, GPU_ID + i, "cpu_cores_count 0\nsimd_count 1216\nlocation_id %d\ndomain 0\ndrm_render_minor %d\n"
                      "gfx_target_version 90402\nnum_xcc 8\nunique_id %d\n" % ((0x10 + i) << 8, 128 + i, 7000 + i))
            for name, text in (("vendor", "0x1002"), ("uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:%02x:00.0" % (0x10 + i)),
                               ("mem_info_vram_total", str(VRAM)), ("current_compute_partition", "SPX"),
                               ("current_memory_partition", "NPS1"), ("product_name", "AMD Instinct MI300X"),
                               ("hwmon/hwmon1/power1_cap", "750000000"), ("hwmon/hwmon1/temp2_label", "junction"),
                               ("hwmon/hwmon1/temp3_label", "mem"), ("hwmon/hwmon1/freq1_label", "sclk"),
                               ("hwmon/hwmon1/freq2_label", "mclk"), ("drm/renderD%d/dev" % (128 + i), "226:%d" % (128 + i))):
                self.put(self.card(i, name), text + "\n")
        self.update(b"L" * count)

    def card(self, i, name):
        return "class/drm/card%d/device/%s" % (i + 1, name)

    def node(self, node, gpu_id, properties):
        self.put("class/kfd/kfd/topology/nodes/%d/gpu_id" % node, "%d\n" % gpu_id)
        self.put("class/kfd/kfd/topology/nodes/%d/name" % node, "ip discovery\n")
        self.put("class/kfd/kfd/topology/nodes/%d/properties" % node, properties)

    def put(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def number(self, path, value):
        """In place and of one length, because readers keep the file open as they do with sysfs."""
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(fd, (str(int(value)) + "\n").ljust(16, "\n").encode(), 0)
        os.close(fd)

    def update(self, letters):
        noise = self.rng.uniform
        for i in range(self.count):
            letter = letters[i:i + 1]
            busy, moves, watts, clock = {b"W": (noise(85, 100), noise(30, 60), noise(560, 640), 2000),
                                         b"S": (100, 0, noise(240, 250), 2100),
                                         b"L": (noise(0, 4), noise(0, 1), noise(140, 160), 500)}.get(letter, (0, 0, noise(136, 144), 130))
            if letter == b"L":
                self.vram[i] = min(0.7, self.vram[i] + 0.05)
            elif letter != b"G":
                self.vram[i] = 0.917
            else:
                self.vram[i] = 0.001
            for name, value in (("gpu_busy_percent", busy), ("mem_busy_percent", moves), ("mem_info_vram_used", VRAM * self.vram[i]),
                                ("hwmon/hwmon1/power1_input", watts * 1e6), ("hwmon/hwmon1/temp2_input", 38000 + watts * 30),
                                ("hwmon/hwmon1/temp3_input", 36000 + watts * 20), ("hwmon/hwmon1/freq1_input", clock * 1e6),
                                ("hwmon/hwmon1/freq2_input", 1300e6)):
                self.number(self.card(i, name), value)

    def processes(self, pids, queues):
        base = os.path.join(self.root, "class/kfd/kfd/proc")
        os.makedirs(base, exist_ok=True)
        for old in os.listdir(base):
            if int(old) not in pids:
                shutil.rmtree(os.path.join(base, old), ignore_errors=True)
        for i, pid in enumerate(pids[:self.count]):
            self.number("class/kfd/kfd/proc/%d/vram_%d" % (pid, GPU_ID + i), VRAM * self.vram[i])
            self.number("class/kfd/kfd/proc/%d/stats_%d/evicted_ms" % (pid, GPU_ID + i), 0)
            for queue in queues[pid]:
                for name, value in (("gpuid", GPU_ID + i), ("type", QUEUE_TYPES[queue["type"]]), ("size", queue["size"])):
                    self.number("class/kfd/kfd/proc/%d/queues/%d/%s" % (pid, queue["qid"], name), value)


class Load:
    """Clients that ask for completions, each on a connection of its own."""

    def __init__(self, port, scenario):
        self.port, self.scenario, self.open, self.stop = port, scenario, 0, False
        self.lock = threading.Lock()

    def one(self):
        with self.lock:
            self.open += 1
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            connection.request("POST", "/v1/completions", b'{"prompt":"x"}', {"content-type": "application/json"})
            connection.getresponse().read()
            connection.close()
        except OSError:
            pass
        with self.lock:
            self.open -= 1

    def run(self):
        if self.scenario == "idle":
            for _ in range(3):
                self.one()
            return
        while not self.stop:
            # Two arrivals a second while answers come; when they do not, the queue grows to 41.
            if self.open < (6 if self.scenario == "long-decode" else 41):
                threading.Thread(target=self.one, daemon=True).start()
            time.sleep(0.5)


class Demo:
    def __init__(self, args):
        self.args = args
        self.made = args.dir is None
        self.dir = args.dir or tempfile.mkdtemp(prefix="hangtop-demo-")
        os.makedirs(self.dir, exist_ok=True)
        self.rng = random.Random(args.seed)
        self.path = {name: os.path.join(self.dir, name) for name in ("atom_server.log", "sys", "rocm-smi", "state", "ready")}
        self.ending = False

    def start(self):
        args = self.args
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        self.port = args.port or free_port()
        self.tree = GpuTree(self.path["sys"], args.tp, self.rng)
        with open(self.path["rocm-smi"], "w") as f:
            f.write(ROCM_SMI % (sys.executable, self.path["sys"], args.tp))
        os.chmod(self.path["rocm-smi"], 0o755)
        with open(self.path["state"], "wb") as f:
            f.write(b"L" * args.tp + bytes(9 * args.tp))
        self.gpu = gpu_state.GpuState(self.dir, args.tp)
        self.gpu.write(b"L" * args.tp + bytes(9 * args.tp), [])
        env = dict(os.environ, PYTHONPATH=HERE, PYTHONDONTWRITEBYTECODE="1", PYTHONUNBUFFERED="1", HANGTOP_DEMO_STATE=self.path["state"],
                   HANGTOP_DEMO_READY=self.path["ready"], HANGTOP_DEMO_GPU=self.gpu.path, HANGTOP_DEMO_SCENARIO=args.scenario,
                   HANGTOP_DEMO_HANG_AFTER=str(args.hang_after), HANGTOP_DEMO_SEED=str(args.seed))
        log = open(self.path["atom_server.log"], "ab")
        self.api = subprocess.Popen([sys.executable, "-m", "atom.entrypoints.openai_server", "--model", "/data/DeepSeek-demo", "-tp",
                                     str(args.tp), "--server-port", str(self.port)], cwd=self.dir, env=env, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, start_new_session=True)
        log.close()
        print(json.dumps({"pid": self.api.pid, "port": self.port, "url": "http://127.0.0.1:%d" % self.port, "dir": self.dir,
                          "log": self.path["atom_server.log"], "sys_root": self.path["sys"], "rocm_smi": self.path["rocm-smi"],
                          "rocgdb": os.path.join(HERE, "rocgdb"), "gpu": self.gpu.path,
                          "scenario": args.scenario}), flush=True)

    def workers(self):
        """Pids of the ranks, in order of spawning: grandchildren of the API process."""
        engine = [p for p in children(self.api.pid) if "spawn_main" in command(p)]
        return sorted((p for e in engine for p in children(e) if "spawn_main" in command(p)), key=spawn_order)

    def tick(self):
        with open(self.path["state"], "rb") as f:
            state = f.read()
        pids = self.workers()
        letters = state[:self.args.tp]
        if os.path.exists(self.path["ready"]) and len(pids) < self.args.tp:
            letters = b"G" * self.args.tp
        self.tree.update(letters)
        self.tree.processes(pids, self.gpu.write(state, pids))

    def run(self):
        load = Load(self.port, self.args.scenario)
        loading = True
        while not self.ending:
            if loading and os.path.exists(self.path["ready"]):
                loading = False
                threading.Thread(target=load.run, daemon=True).start()
            self.tick()
            self.api.poll()
            for _ in range(10):
                if not self.ending:
                    time.sleep(0.1)

    def stop(self):
        """Everything below us, again and again until there is nothing: orphans come to us, we are their reaper."""
        for _ in range(100):
            below = descendants(os.getpid())
            if not below:
                break
            for pid in below:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                break
            time.sleep(0.02)
        if self.made and not self.args.keep:
            shutil.rmtree(self.dir, ignore_errors=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


def all_children(pid):
    """Of every thread: a child belongs to the thread that started it."""
    out = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as f:
                out += [int(p) for p in f.read().split()]
    except OSError:
        pass
    return out


def descendants(pid):
    out = []
    for child in all_children(pid):
        out += [child] + descendants(child)
    return out


def command(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def spawn_order(pid):
    text = command(pid).partition("pipe_handle=")[2]
    return int("".join(c for c in text[:8] if c.isdigit()) or 0), pid


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", choices=SCENARIOS, default="livelock")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tp", type=int, default=8)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--dir")
    parser.add_argument("--hang-after", type=float, default=8)
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    if not 1 <= args.tp <= 64:
        parser.error("--tp must be 1 to 64")
    demo = Demo(args)

    def end(*_):
        demo.ending = True

    def watch_stdin():
        while os.read(0, 4096):
            pass
        end()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    try:
        demo.start()
        threading.Thread(target=watch_stdin, daemon=True).start()
        demo.run()
    finally:
        demo.stop()


if __name__ == "__main__":
    main()
