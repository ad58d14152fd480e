"""Part of the hangtop demo server: the loop of a worker process."""
import time

from aiter.dist import shm_broadcast
from atom.model_engine import model_runner, state


class AsyncIOProc:
    def __init__(self, rank, tp, connection):
        self.rank, self.tp, self.connection = rank, tp, connection
        self.queue = shm_broadcast.MessageQueue(connection)
        self.runner = model_runner.ModelRunner(rank, tp)

    def get_func(self):
        return self.queue.dequeue()

    def busy_loop(self):
        while True:
            order = self.get_func()
            if order is None:
                return
            self.runner.run_model(order)
            self.connection.send("done")


def load_weights(rank, total, seconds):
    """The bar of the weight loader; total shards in the given time, for ever short of the end when it is None."""
    start = time.monotonic()
    for shard in range(1, total):
        if rank == 0:
            print("\rLoading safetensors shards[demo]: %3d%%|%s| %d/%d [00:%02d<01:00,  1.30it/s]" % (
                shard * 100 // total, "█" * (shard * 10 // total) + " " * (10 - shard * 10 // total), shard, total,
                (time.monotonic() - start) % 60), end="", flush=True)
        time.sleep(seconds / total if seconds else 1.0)
    while not seconds:
        time.sleep(1.0)
    if rank == 0:
        print(flush=True)


def main(rank, tp, connection, load_seconds):
    import signal
    state.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    state.open_for(rank)
    state.put(state.LOAD)
    print(time.strftime("[atom %H:%M:%S] ") + "ModelRunner rank=%d, dp_rank_local=0, pp_rank=0, local_device_rank=%d, "
          "device=cuda:%d" % (rank, rank, rank), flush=True)
    load_weights(rank, 20 if load_seconds else 163, load_seconds)
    print(time.strftime("[atom %H:%M:%S] ") + "[rank_%d] Model load done: demo (weights loaded in %.2fs)" % (rank, load_seconds),
          flush=True)
    state.put(state.IDLE)
    connection.send("ready")
    AsyncIOProc(rank, tp, connection).busy_loop()
