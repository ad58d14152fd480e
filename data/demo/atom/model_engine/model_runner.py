"""Part of the hangtop demo server: one rank. Every way to hang has its own frames."""
import os
import signal
import sys
import threading
import time

from atom.model_engine import state
from torch import cuda
from torch.distributed import distributed_c10d


def attention(seconds):
    state.launch(b"a")
    time.sleep(seconds)


def mlp(seconds):
    state.launch(b"m")
    time.sleep(seconds)


def sample_tokens(seconds):
    state.launch(b"s")
    time.sleep(seconds)


class ModelRunner:
    def __init__(self, rank, tp):
        self.rank, self.tp = rank, tp
        self.ready = threading.Condition()

    def copy_kv(self):
        """Host code that never ends: the rank that the others wait for."""
        state.put(state.HOST)
        while True:
            time.sleep(0.2)

    def wait_for_buffers(self):
        """A lock that nobody gives back."""
        state.put(state.IDLE)
        with self.ready:
            self.ready.wait()

    def decode_long(self, seconds):
        """Minutes of decoding without a finished request."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            attention(0.31)
            mlp(0.23)
            distributed_c10d.all_reduce(seconds=0.07)
            sample_tokens(0.19)

    def fault(self):
        sys.stderr.write("Memory access fault by GPU node-%d (Agent handle: 0x55d0c%07x) on address 0x7f%08x000. Reason: "
                         "Unknown.\n" % (self.rank + 2, 0x1000 * (self.rank + 1), 0xe3400000 + self.rank))
        sys.stderr.flush()
        os.abort()

    def forward(self, order):
        if order == "collective":
            distributed_c10d.all_reduce(spin=True)
        elif order == "copy_kv":
            self.copy_kv()
        elif order == "lock":
            self.wait_for_buffers()
        elif order == "fault":
            self.fault()
        elif order == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif order.startswith("long:"):
            self.decode_long(float(order[5:]))
        else:
            attention(0.08)
            mlp(0.08)
            distributed_c10d.all_reduce(seconds=0.05)
            cuda.synchronize(seconds=0.02)

    def run_model(self, order):
        state.put(state.WORK)
        self.forward(order)
        state.put(state.IDLE)
