#!/usr/bin/env python3
"""The screen in a real pseudo-terminal, read by an independent terminal emulator (pyte). Speaks TAP."""
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

try:
    import pyte
except ImportError:
    print("1..0 # SKIP python3-pyte is not there")
    sys.exit(0)

HANGTOP = os.path.join(os.environ.get("builddir", "."), "hangtop")
results = []
PLAN = 10


def report(ok, name, why=""):
    results.append(bool(ok))
    print("%s %d - %s" % ("ok" if ok else "not ok", len(results), name), flush=True)
    if not ok:
        print("# " + str(why).replace("\n", "\n# "), flush=True)


class Terminal:
    def __init__(self, args, width=80, height=24, env=None):
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        pid, self.fd = pty.fork()
        if pid == 0:
            base = {k: v for k, v in os.environ.items() if k not in ("LINES", "COLUMNS", "NO_COLOR", "CLICOLOR")}
            base.update(TERM="xterm-256color", LC_ALL="C.UTF-8", TZ="UTC")
            base.update(env or {})
            os.execve(HANGTOP, [HANGTOP] + args, base)
        self.pid = pid
        self.size(width, height)

    def size(self, width, height):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.screen.resize(height, width)

    def keys(self, text):
        os.write(self.fd, text.encode())

    def pump(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.raw += data
            # pyte 0.8 does not know window titles that end with BEL inside private modes; it skips what it does not know
            self.stream.feed(data)
        return True

    def text(self):
        return "\n".join(self.screen.display)

    def wait(self, words, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if words in self.text():
                return True
            if not self.pump(0.05):
                break
        return words in self.text()

    def end(self, seconds=15):
        """Wait for the end; (exit status or -signal, alternate screen left, cursor shown)."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.pump(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.pump(0.05) and select.select([self.fd], [], [], 0)[0]:
                    pass
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
                left = self.raw.rfind(b"\x1b[?1049l") > self.raw.rfind(b"\x1b[?1049h")
                shown = max(self.raw.rfind(b"\x1b[?25h"), self.raw.rfind(b"\x1b[?12l\x1b[?25h"), self.raw.rfind(b"\x1b[34h\x1b[?25h")) > \
                    self.raw.rfind(b"\x1b[?25l")
                return code, left, shown
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None, False, False


def record(folder):
    """A short real session of the demo."""
    db = os.path.join(folder, "s.hangtop")
    subprocess.run([HANGTOP, "demo", "--scenario", "fault", "--hang-after", "1", "--once", "--db", db], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    return db


def replay_tests(db):
    t = Terminal(["replay", db, "--at", "2037-01-01 00:00"])
    report(t.wait("FAULT") and t.wait("REPLAY"), "replay shows the verdict on line 1", t.text())
    t.keys("5")
    report(t.wait("── Stacks"), "a digit opens its panel", t.text())
    t.keys("?")
    report(t.wait("previous panel"), "help lists the keys", t.text())
    t.keys("q")
    t.keys("7")
    t.keys("/access fault\r")
    report(t.wait("Memory access fault by GPU"), "search in the log", t.text())
    t.size(40, 10)
    os.kill(t.pid, signal.SIGWINCH)
    report(t.wait("FAULT") and all(len(line) <= 40 for line in t.screen.display), "40x10 keeps the verdict", t.text())
    for i in range(60):
        t.size(20 + i * 2, 5 + i % 40)
    t.size(120, 40)
    t.keys("1")
    report(t.wait("── Overview"), "a storm of sizes", t.text())
    t.keys("q")
    report(t.end() == (0, True, True), "q ends with status 0, screen left, cursor shown", t.raw[-200:])


def ascii_test(db):
    t = Terminal(["replay", db, "--ascii", "--at", "2037-01-01 00:00"], env={"LC_ALL": "C", "NO_COLOR": "1"})
    seen = t.wait("FAULT") and t.wait("Overview")
    plain = all(b < 0x80 for b in t.raw)
    coloured = b"\x1b[38;5" in t.raw or b"\x1b[31m" in t.raw
    t.keys("Q")
    t.end()
    report(seen and plain and not coloured, "--ascii with NO_COLOR sends ASCII without colour", t.raw[:300])


def signal_test(db):
    t = Terminal(["replay", db, "--paused"])
    t.wait("REPLAY")
    os.kill(t.pid, signal.SIGTERM)
    code, left, shown = t.end()
    report(left and shown, "SIGTERM restores the terminal", (code, t.raw[-200:]))


def crash_test(db):
    t = Terminal(["replay", db, "--paused"], env={"ASAN_OPTIONS": "handle_segv=0:handle_abort=0"})
    t.wait("REPLAY")
    os.kill(t.pid, signal.SIGABRT)
    code, left, shown = t.end()
    report(code == -signal.SIGABRT and left and shown, "a crash restores the terminal", (code, t.raw[-200:]))


def main():
    print("1..%d" % PLAN)
    folder = tempfile.mkdtemp(prefix="hangtop-screen-")
    try:
        db = record(folder)
        replay_tests(db)
        ascii_test(db)
        signal_test(db)
        crash_test(db)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if all(results) and len(results) == PLAN else 1)


if __name__ == "__main__":
    main()
