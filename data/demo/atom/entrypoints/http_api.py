"""Part of the hangtop demo server: the HTTP routes of atom.entrypoints.openai_server."""
import http.server
import json
import threading
import time

from atom.model_engine.engine_core import say


class Api:
    def __init__(self, model, engine):
        self.model, self.engine = model, engine
        self.lock = threading.Lock()
        self.count = 0
        self.pending = {}
        self.snapshot = {"finished": 0, "prompt": 0, "running": 0, "waiting": 0}

    def submit(self):
        done = threading.Event()
        with self.lock:
            self.count += 1
            number = self.count
            self.pending[number] = done
            say("Request %d arrived, input tokens: 512, pending requests: %d" % (number, len(self.pending)))
            self.engine.send(number)
        return number, done

    def read_engine(self):
        """Answers of the engine; when it is gone nobody is told, as in the real one."""
        try:
            while True:
                message = self.engine.recv()
                if message[0] != "done":
                    continue
                with self.lock:
                    for number in message[1]:
                        self.pending.pop(number).set()
                    self.snapshot = {"finished": message[2], "prompt": message[3], "running": len(self.pending), "waiting": message[4]}
        except (EOFError, OSError):
            pass

    def metrics(self):
        """The last snapshot of the engine, with a fresh timestamp: frozen by a hang, but never looking old."""
        s = self.snapshot
        return "".join("# TYPE %s %s\n%s %s\n" % row for row in (
            ("atom:requests_running", "gauge", "atom:requests_running", s["running"]),
            ("atom:requests_waiting", "gauge", "atom:requests_waiting", s["waiting"]),
            ("atom:requests_finished_total", "counter", "atom:requests_finished_total", s["finished"]),
            ("atom:prompt_tokens_total", "counter", "atom:prompt_tokens_total", s["prompt"]),
            ("atom:generation_tokens_total", "counter", "atom:generation_tokens_total", s["finished"] * 128),
            ("atom:metrics_last_refresh_timestamp_seconds", "gauge", "atom:metrics_last_refresh_timestamp_seconds", "%.3f" % time.time())))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "uvicorn"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        print('INFO:     %s:%d - "%s %s HTTP/1.1" %d %s' % (self.client_address[0], self.client_address[1], self.command, self.path,
                                                            status, "OK" if status == 200 else "Not Found"), flush=True)

    def do_GET(self):
        api = self.server.api
        if self.path == "/v1/models":
            self.answer(200, json.dumps({"object": "list", "data": [{"id": api.model, "object": "model", "created": int(time.time()),
                                                                     "owned_by": "atom"}]}))
        elif self.path == "/health":
            self.answer(200, '{"status":"ok"}')
        elif self.path == "/metrics":
            self.answer(200, api.metrics(), "text/plain; version=0.0.4")
        else:
            self.answer(404, '{"detail":"Not Found"}')

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        number, done = self.server.api.submit()
        done.wait()
        self.answer(200, json.dumps({"id": "cmpl-%d" % number, "choices": [{"text": "done"}]}))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, *_):
        pass  # a client that went away is not worth a traceback


def listen(api, port):
    server = Server(("127.0.0.1", port), Handler)
    server.api = api
    return server
