"""Part of the hangtop demo server: a file shared with the supervisor that says what the GPU of each rank does.

A letter a rank, then of each rank nine bytes: the letter of the kernel it launched last, and how many it has launched.
"""
import mmap
import os
import struct

IDLE, WORK, SPIN, HOST, LOAD, GONE = b"I", b"W", b"S", b"H", b"L", b"G"
_map = None
_rank = 0


def open_for(rank):
    global _map, _rank
    fd = os.open(os.environ["HANGTOP_DEMO_STATE"], os.O_RDWR)
    _map = mmap.mmap(fd, 0)
    os.close(fd)
    _rank = rank


def put(letter):
    if _map is not None:
        _map[_rank:_rank + 1] = letter


def launch(kernel):
    """The GPU gets a kernel: a attention, m mlp, c collective, s sampler."""
    if _map is not None:
        at = len(_map) // 10 + 9 * _rank
        launched = struct.unpack_from("<Q", _map, at + 1)[0]
        struct.pack_into("<cQ", _map, at, kernel, launched + 1)


def die_with_parent():
    """PR_SET_PDEATHSIG: nothing of the demo outlives its parent."""
    import ctypes
    import signal
    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
