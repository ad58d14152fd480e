"""For the bench: programs in pseudo-terminals, and what the kernel says of a tree of processes."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

TICK = os.sysconf("SC_CLK_TCK")


def stat(pid):
    """(ppid, state, CPU seconds with waited-for children), or None when it is gone."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            rest = f.read().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return int(rest[1]), rest[0], sum(int(n) for n in rest[11:15]) / TICK


def processes():
    return {int(name): s for name in os.listdir("/proc") if name.isdigit() for s in [stat(int(name))] if s}


def tree(top):
    """The process and everything below it."""
    all_of_them = processes()
    found, rest = [], [top]
    while rest:
        pid = rest.pop()
        if pid in all_of_them:
            found.append(pid)
            rest += [p for p, s in all_of_them.items() if s[0] == pid]
    return found


def cpu(top):
    return sum(s[2] for s in map(stat, tree(top)) if s)


def command(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def pss_mib(pids):
    total = 0
    for pid in pids:
        try:
            with open("/proc/%d/smaps_rollup" % pid) as f:
                total += sum(int(line.split()[1]) for line in f if line.startswith("Pss:"))
        except OSError:
            pass
    return total / 1024


class Terminal:
    """One program in a pseudo-terminal; whoever waits reads all of them, so that none blocks on its output."""

    open = []

    def __init__(self, argv, env, width=80, height=24):
        self.seen = bytearray()
        self.started = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            base = {k: v for k, v in os.environ.items() if k not in ("LINES", "COLUMNS", "NO_COLOR", "CLICOLOR")}
            base.update(TERM="xterm-256color", LC_ALL="C.UTF-8", TZ="UTC", **env)
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
                os.execvpe(argv[0], argv, base)
            finally:
                os._exit(127)
        Terminal.open.append(self)

    @staticmethod
    def pump(seconds):
        """Read whatever any terminal has, for so long at most."""
        fds = {t.fd: t for t in Terminal.open}
        for fd in select.select(list(fds), [], [], max(0, seconds))[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                data = b""
            if data:
                fds[fd].seen += data
            else:
                Terminal.open.remove(fds[fd])

    @staticmethod
    def idle(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            Terminal.pump(end - time.monotonic())

    def wait(self, words, seconds):
        """Seconds from the start until these bytes have come; None when they do not come."""
        end = time.monotonic() + seconds
        while words not in self.seen:
            left = end - time.monotonic()
            if left <= 0 or self not in Terminal.open:
                return None
            Terminal.pump(left)
        return time.monotonic() - self.started

    def send(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(self.pid, number)
            except OSError:
                break
            end = time.monotonic() + 5
            while time.monotonic() < end:
                if self in Terminal.open:
                    Terminal.pump(0.02)
                else:
                    time.sleep(0.02)
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    end = 0
                    number = None
            if number is None:
                break
        if self in Terminal.open:
            Terminal.open.remove(self)
        os.close(self.fd)
