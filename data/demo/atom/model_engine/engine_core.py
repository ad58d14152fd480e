"""Part of the hangtop demo server: the dispatcher. Batches requests, gives them to the workers, says what got done."""
import multiprocessing
import multiprocessing.connection
import os
import time

from atom.model_engine import async_proc, state


def say(text):
    print(time.strftime("[atom %H:%M:%S] ") + text, flush=True)


class EngineCore:
    def __init__(self, api, tp, scenario, hang_after, seed):
        self.api, self.tp, self.scenario, self.hang_after = api, tp, scenario, hang_after
        self.odd = seed % tp if seed else min(3, tp - 1)
        self.workers, self.connections = [], []
        self.waiting = []
        self.finished = self.prompt = 0

    def start_workers(self):
        spawn = multiprocessing.get_context("spawn")
        load = None if self.scenario == "loading" else 0.8
        for rank in range(self.tp):
            ours, theirs = spawn.Pipe()
            process = spawn.Process(target=async_proc.main, args=(rank, self.tp, theirs, load), name="ModelRunner%d/%d" % (rank, self.tp))
            process.start()
            theirs.close()
            self.workers.append(process)
            self.connections.append(ours)
        for connection in self.connections:
            connection.recv()

    def announce(self):
        say("Model Runner0/%d: warmup_model 0.34 seconds with 4 reqs 16384 tokens" % self.tp)
        say("Model warmup done: demo")
        say("Engine Core: cudagraph capture[1, 2, 4, 8] cost: 0.20 seconds, pool: 1.23GB")
        say("Engine Core: load model runner success")
        say("Engine Core: EngineCore fully initialized and ready")
        self.api.send(("ready",))
        self.ready_at = time.monotonic()

    def orders(self):
        """What each rank is told this time; the trouble starts hang_after seconds after ready."""
        due = time.monotonic() - self.ready_at >= self.hang_after
        plain = ["step"] * self.tp
        if self.scenario == "long-decode" and due:
            return ["long:600"] * self.tp
        if not due:
            return plain
        if self.scenario == "livelock":
            return ["collective"] * self.tp
        if self.scenario == "one-rank-behind":
            return ["copy_kv" if rank == self.odd else "collective" for rank in range(self.tp)]
        if self.scenario == "cpu-deadlock":
            return ["lock"] + [""] * (self.tp - 1)
        if self.scenario in ("fault", "worker-death"):
            plain[self.odd] = "fault" if self.scenario == "fault" else "killed"
        return plain

    def check_workers(self):
        for rank, process in enumerate(self.workers):
            if not process.is_alive():
                say("AsyncIOProcManager(ModelRunner): [ModelRunner%d/%d] proc died unexpectedly (exitcode=%s), shutting down." % (
                    rank, self.tp, process.exitcode))
                say("AsyncIOProcManager(ModelRunner): shutdown all runners...")
                os._exit(1)

    def run_batch(self, batch):
        say("Scheduled prefill batch: %d reqs, %d new tokens (cached: %s, new: %s), req_ids: %s" % (
            len(batch), 512 * len(batch), [0] * len(batch), [512] * len(batch), tuple(batch)))
        asked = []
        for connection, order in zip(self.connections, self.orders()):
            if order:
                connection.send(order)
                asked.append(connection)
        while asked:
            for connection in multiprocessing.connection.wait(asked, timeout=0.5):
                try:
                    connection.recv()
                    asked.remove(connection)
                except EOFError:
                    time.sleep(0.1)
                    break
            self.check_workers()
        self.finished += len(batch)
        self.prompt += 512 * len(batch)
        say("Engine Core: output send %d reqs" % len(batch))
        self.api.send(("done", batch, self.finished, self.prompt, len(self.waiting)))

    def busy_loop(self):
        while True:
            if self.api.poll(0.2 if not self.waiting else 0):
                self.waiting.append(self.api.recv())
                continue
            self.check_workers()
            if self.waiting:
                batch, self.waiting = self.waiting[:8], self.waiting[8:]
                self.run_batch(batch)
                time.sleep(0.2)


def main(api, tp, scenario, hang_after, seed):
    import signal
    state.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    core = EngineCore(api, tp, scenario, hang_after, seed)
    core.start_workers()
    core.announce()
    core.busy_loop()
