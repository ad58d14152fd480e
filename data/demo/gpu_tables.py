"""Teaches a plain gdb (13 or newer, with Python) what rocgdb says of GPUs, for the processes of the hangtop demo, which have none.

    gdb -iex 'source gpu_tables.py' -p PID -ex 'info agents' ...         or the script `rocgdb` beside this file

What the GPUs execute is in the JSON file that the process has in its environment as HANGTOP_DEMO_GPU (gpu_state.py says how it looks),
read once an attach. A process without that variable, or not in the file, has agents and no queues. The layout of the tables is
rocgdb's, blanks at the ends of lines included.

New: info agents, info queues, info dispatches, info lanes (of the selected wave), each with ids or without.
Changed: `info threads` has the waves behind the threads; `thread N` selects one, and then `bt` shows its frame and `$pc` is its pc,
so that `x/6i $pc`, `info symbol $pc` and `info line *$pc` answer for it. This without a change to the process: the wave is frame 1 of
the thread that was selected before, made by an unwinder. `x/i` of a wave's code needs no wave selected.
Cannot: other registers and memory of waves, `thread apply` on waves, -gid and -full, `frame 0` and `up` while a wave is selected,
continue, breakpoints in kernels. `-no-filters` makes bt show the thread's stack. `thread apply all bt` comes with threads only.
"""
import json
import re

import gdb
import gdb.unwinder

try:
    import gdb.disassembler
except ImportError:  # before gdb 13: waves have no code to show
    pass

WAVE_SIZE = 64
DEFAULT_AGENTS = [{"state": "A", "gpuid": 51000 + i, "arch": "gfx942", "device": "AMD Instinct MI300X", "cores": 1216, "threads": 9728,
                   "location": "0000:%02x:00.0" % (0x10 + i)} for i in range(8)]


def table(columns, rows):
    """columns: (title, width); width 0 is as wide as the widest cell, None is not padded at all. rows: (current, cells)."""
    widths = [w if w is None or w > len(t) else max([len(t)] + ([len(r[1][i]) for r in rows] if w == 0 else []))
              for i, (t, w) in enumerate(columns)]

    def line(mark, cells, header=False):
        out = mark + " "
        for cell, width in zip(cells, widths):
            out += cell + (" " if header else "") if width is None else cell.ljust(width) + " "
        return out + "\n"

    gdb.write(line(" ", [c[0] for c in columns], True) + "".join(line("*" if current else " ", cells) for current, cells in rows))


def wanted(argument):
    """The ids of "1 3-5", None for all; options are refused."""
    ids = set()
    for word in argument.replace(",", " ").split():
        m = re.fullmatch(r"(?:1\.)?(\d+)(?:-(\d+))?", word)
        if not m:
            raise gdb.GdbError("The demo's stand-in for rocgdb does not know `%s'." % word)
        ids.update(range(int(m.group(1)), min(int(m.group(2) or m.group(1)), 1000000) + 1))
    return ids or None


class Wave:
    def __init__(self, number, target, place, index, kernel, pc, frame, lanes):
        self.number, self.target, self.place, self.index, self.kernel, self.pc = number, target, place, index, kernel, pc
        self.frame, self.lanes = frame, lanes

    def thread_target(self):
        return 'AMDGPU Wave %s (%s)/%d "%s"' % (self.target, self.place, self.index, self.kernel["nick"])

    def lane_target(self, lane):
        return "AMDGPU Lane %s/%d (%s)[%d,0,0]" % (self.target, lane, self.place, self.index * WAVE_SIZE + lane)


class Gpu:
    """What one attached process has of the GPUs."""

    def __init__(self, pid):
        self.pid, self.selected, self.host = pid, None, None
        self.agents, self.process, self.kernels = DEFAULT_AGENTS if pid else [], {}, {}
        state = self.read()
        if state:
            self.agents, self.kernels = state["agents"], state["kernels"]
            self.process = state["processes"].get(str(pid), {})
        self.queues = self.process.get("queues", [])
        self.dispatches = self.process.get("dispatches", [])
        self.base = self.process.get("code_base", 0)
        if self.base:
            gdb.execute("add-symbol-file %s -o 0x%x" % (state["symbols"], self.base), to_string=True)
        self.waves = None

    def read(self):
        try:
            with open("/proc/%d/environ" % self.pid, "rb") as f:
                names = dict(v.partition(b"=")[::2] for v in f.read().split(b"\0"))
            with open(names[b"HANGTOP_DEMO_GPU"]) as f:
                return json.load(f)
        except (OSError, KeyError, ValueError):
            return None

    def queue_target(self, number):
        return "%d:%d" % (self.queues[number - 1]["agent"], number)

    def function(self, dispatch):
        return self.kernels[dispatch["kernel"]]["function"]

    def all_waves(self):
        if self.waves is None:
            self.waves = []
            first = 1 + max([t.num for t in gdb.selected_inferior().threads()] or [0])
            for number, dispatch in enumerate(self.dispatches, 1):
                self.waves += self.waves_of(number, dispatch, first + len(self.waves))
        return self.waves

    def waves_of(self, number, dispatch, first):
        kernel, said = self.kernels[dispatch["kernel"]], dispatch["waves"]
        across = max(1, dispatch["grid"][0] // dispatch["workgroup"][0])
        target = "%s:%d" % (self.queue_target(dispatch["queue"]), number)
        out = []
        for i in range(said["count"]):
            group, index = divmod(i, said["per_group"])
            pc = self.base + kernel["offset"] + said["pcs"][i % len(said["pcs"])]
            frame = "0x%016x in %s () from %s" % (pc, kernel["function"], self.process["object"])
            out.append(Wave(first + i, "%s:%d" % (target, i + 1), "%d,%d,0" % (group % across, group // across), index, kernel, pc,
                            frame, said["lanes"]))
        return out

    def code_at(self, address):
        """(length, text) of the instruction, None when no kernel has one there."""
        for kernel in self.kernels.values():
            offset = address - self.base - kernel["offset"]
            if self.base and 0 <= offset < kernel["size"]:
                return next(((length, text) for at, length, text in kernel["code"] if at == offset), None)
        return None

    # --- which wave is selected ---

    def select(self, wave):
        self.selected, self.host = wave, gdb.selected_thread()
        unwinder.enabled = frames.enabled = True
        gdb.invalidate_cached_frames()
        self.stand()

    def stand(self):
        """At the wave's frame. Not by the command `frame`: that tells the user."""
        gdb.newest_frame().older().select()

    def unselect(self):
        if self.selected:
            self.selected = None
            unwinder.enabled = frames.enabled = False
            gdb.invalidate_cached_frames()

    def current(self, thread):
        """The selected wave, when it stands for this thread."""
        return self.selected if self.selected and thread and self.host.is_valid() and thread.num == self.host.num else None


def gpu():
    """Of the process that is attached now."""
    global _gpu
    pid = gdb.selected_inferior().pid
    if _gpu.pid != pid:
        unwinder.enabled = frames.enabled = False
        _gpu = Gpu(pid)
    return _gpu


class WaveUnwinder(gdb.unwinder.Unwinder):
    """Frame 1 is the selected wave, and nothing is behind it."""

    class FrameId:
        def __init__(self, sp, pc):
            self.sp, self.pc = sp, pc

    def __call__(self, pending):
        wave = _gpu.current(gdb.selected_thread())
        if not wave or pending.level() > 1:
            return None
        x86 = pending.architecture().name().startswith("i386")
        pc_name, sp_name = ("rip", "rsp") if x86 else ("pc", "sp")
        pc, sp = pending.read_register(pc_name), pending.read_register(sp_name)
        info = pending.create_unwind_info(self.FrameId(sp, pc))
        info.add_saved_register(pc_name, gdb.Value(0 if pending.level() else wave.pc).cast(pc.type))
        info.add_saved_register(sp_name, gdb.Value(int(sp) + 16).cast(sp.type))
        return info


class WaveFrames:
    """bt of a wave: its one frame, as rocgdb writes it; gdb's own frames are kept back."""
    name, priority, enabled = "hangtop-demo-wave", 1000, False

    def filter(self, iterator):
        wave = _gpu.current(gdb.selected_thread())
        if not wave:
            return iterator
        gdb.write("#0  %s\n" % wave.frame)
        return iter(())


# --- commands ---

class Info(gdb.Command):
    """One `info` table. name: the word; method(argument) prints it."""

    def __init__(self, name, doc, method):
        self.__doc__, self.name, self.method = doc, name, method
        super().__init__("info " + name, gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        self.method(self.name, argument.strip())


def print_rows(name, argument, columns, rows):
    """rows: (current, cells), where cells begin with the number; sorted already."""
    ids = wanted(argument)
    rows = [r for r in rows if ids is None or int(r[1][0]) in ids]
    if rows:
        table(columns, rows)
    elif ids is None:
        gdb.write("No %s are currently active.\n" % name)
    else:
        gdb.write("No active %s match '%s'.\n" % (name, argument))


def marks():
    """Agent, queue and dispatch of the selected wave, as numbers."""
    wave = gpu().current(gdb.selected_thread())
    return [int(n) for n in wave.target.split(":")[:3]] if wave else [0, 0, 0]


def info_agents(name, argument):
    rows = [(i == marks()[0], [str(i), a["state"], "AMDGPU Agent (GPUID %d)" % a["gpuid"], a["arch"], a["device"], str(a["cores"]),
                               str(a["threads"]), a["location"]]) for i, a in enumerate(gpu().agents, 1)]
    print_rows(name, argument, [("Id", 2), ("State", 5), ("Target Id", 0), ("Architecture", 12), ("Device Name", 0), ("Cores", 5),
                                ("Threads", 7), ("Location", 8)], rows)


def info_queues(name, argument):
    g = gpu()
    rows = [(i == marks()[1], [str(i), "AMDGPU Queue %s (QID %d)" % (g.queue_target(i), q["qid"]), q["type"], str(q.get("read", "")),
                               str(q.get("write", "")), str(q["size"]), "0x%016x" % q["address"]]) for i, q in enumerate(g.queues, 1)]
    print_rows(name, argument, [("Id", 4), ("Target Id", 0), ("Type", 12), ("Read", 6), ("Write", 6), ("Size", 8), ("Address", 18)], rows)


def info_dispatches(name, argument):
    g = gpu()
    rows = [(i == marks()[2], [str(i), "AMDGPU Dispatch %s:%d (PKID %d)" % (g.queue_target(d["queue"]), i, d["pkid"]),
                               "[%s]" % ",".join(map(str, d["grid"])), "[%s]" % ",".join(map(str, d["workgroup"])), d["fence"],
                               g.function(d)]) for i, d in enumerate(g.dispatches, 1)]
    print_rows(name, argument, [("Id", 4), ("Target Id", 0), ("Grid", 0), ("Workgroup", 0), ("Fence", 7), ("Kernel Function", 15)], rows)


def info_lanes(name, argument):
    wave = gpu().current(gdb.selected_thread())
    if not wave:
        raise gdb.GdbError("The selected thread has no lanes: it is no AMDGPU Wave.")
    ids = wanted(argument)
    rows = [(i == 0, [str(i), "A" if i < wave.lanes else "I", wave.lane_target(i), wave.frame if i < wave.lanes else "(inactive)"])
            for i in range(WAVE_SIZE) if ids is None or i in ids]
    table([("Id", 4), ("State", 5), ("Target Id", 0), ("Frame", None)], rows)


def host_rows():
    """(number, target id, frame) of gdb's threads, from `thread apply`, because `info threads` itself is ours."""
    text = gdb.execute("thread apply all -ascending bt -no-filters 1", to_string=True) if gdb.selected_inferior().threads() else ""
    out, head = [], None
    for line in text.splitlines():
        m = re.match(r"Thread (\d+) \((.*)\):$", line)
        if m:
            head = m
        elif head and line.startswith("#0 "):
            out.append((int(head.group(1)), head.group(2), line[3:].strip()))
            head = None
    return out


def info_threads(name, argument):
    g, selected, ids = gpu(), gdb.selected_thread(), wanted(argument)
    wave = g.current(selected)
    rows = [(not wave and selected is not None and n == selected.num, [str(n), target, frame]) for n, target, frame in host_rows()]
    rows += [(w is wave, [str(w.number), w.thread_target(), w.frame]) for w in g.all_waves()]
    rows = [r for r in rows if ids is None or int(r[1][0]) in ids]
    if wave:
        g.stand()  # `thread apply` went elsewhere and came back to a frame of its own choice
    if rows:
        table([("Id", 4), ("Target Id", 0), ("Frame", None)], rows)
    else:
        gdb.write("No threads.\n" if ids is None else "No threads match '%s'.\n" % argument)


def say_current(verb, wave, thread):
    if wave:
        gdb.write("[%s %d, lane 0 (%s)]\n" % (verb, wave.number, wave.lane_target(0)))
        return
    target = next((target for n, target, _ in host_rows() if n == thread.num), "Thread")
    gdb.write("[%s %d (%s)]\n" % (verb, thread.num, re.sub(r' "[^"]*"$', "", target)))


class Thread(gdb.Command):
    """Use this command to switch between threads and waves."""

    def __init__(self):
        super().__init__("hangtop-demo-thread", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        g, argument = gpu(), argument.strip()
        if not argument:
            if not gdb.selected_thread():
                raise gdb.GdbError("No thread selected")
            say_current("Current thread is", g.current(gdb.selected_thread()), gdb.selected_thread())
            return
        m = re.fullmatch(r"(?:1\.)?(\d+)", argument)
        if not m:
            raise gdb.GdbError("Invalid thread ID: %s" % argument)
        self.switch(g, int(m.group(1)))

    def switch(self, g, number):
        wave = next((w for w in g.all_waves() if w.number == number), None)
        thread = next((t for t in gdb.selected_inferior().threads() if t.num == number), None)
        if not wave and not thread:
            raise gdb.GdbError("Unknown thread %d." % number)
        if wave:
            g.select(wave)
            say_current("Switching to thread", wave, None)
            gdb.write("#0  %s\n" % wave.frame)
        else:
            g.unselect()
            thread.switch()
            say_current("Switching to thread", None, thread)
            gdb.execute("frame")


def install():
    for name, doc, method in (("agents", "GPUs.", info_agents), ("queues", "Queues of the process.", info_queues),
                              ("dispatches", "Kernels in flight.", info_dispatches), ("threads", "Threads and waves.", info_threads),
                              ("lanes", "Lanes of the selected wave.", info_lanes)):
        Info(name, doc, method)
    Thread()
    confirm = gdb.parameter("confirm")
    gdb.execute("set confirm off")
    # By `define` and not in Python: it keeps the commands below `thread`, such as `thread apply`.
    gdb.execute("define thread\nif $argc == 0\nhangtop-demo-thread\nelse\nhangtop-demo-thread $arg0\nend\nend")
    gdb.execute("set confirm %s" % ("on" if confirm else "off"))
    gdb.frame_filters[frames.name] = frames
    gdb.unwinder.register_unwinder(None, unwinder, True)
    if hasattr(gdb, "disassembler"):
        class WaveCode(gdb.disassembler.Disassembler):
            def __call__(self, info):
                found = gpu().code_at(info.address)
                return gdb.disassembler.DisassemblerResult(*found) if found else None
        gdb.disassembler.register_disassembler(WaveCode("hangtop-demo-wave"), None)


_gpu = Gpu(0)
unwinder, frames = WaveUnwinder("hangtop-demo-wave"), WaveFrames()
unwinder.enabled = False
install()
gdb.events.stop.connect(lambda event: gpu())    # an attach ends with one: the symbols are there for the first command
