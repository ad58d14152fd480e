"""Part of the hangtop demo server: the message queue in which idle workers wait."""


class MessageQueue:
    def __init__(self, connection):
        self.connection = connection

    def acquire_read(self):
        return self.connection.poll(60.0)

    def dequeue(self):
        while not self.acquire_read():
            print("[aiter] No available shared memory broadcast block found in 60.0 seconds. This typically happens when some "
                  "processes are hanging or doing some time-consuming work (e.g. compilation).", flush=True)
        return self.connection.recv()
