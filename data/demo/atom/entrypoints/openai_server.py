"""Part of the hangtop demo server: the API process. python -m atom.entrypoints.openai_server --model demo -tp 8 --server-port N"""


def main():
    import argparse
    import multiprocessing
    import os
    import threading
    import time

    from atom.model_engine import engine_core, state
    from atom.entrypoints import http_api

    say = engine_core.say
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="demo")
    parser.add_argument("-tp", type=int, default=8)
    parser.add_argument("--server-port", type=int, default=8000)
    args = parser.parse_args()
    state.die_with_parent()
    scenario = os.environ["HANGTOP_DEMO_SCENARIO"]
    say("Raised RLIMIT_NOFILE soft limit 1024 -> 65535 (hard=1048576)")
    say("Loading tokenizer from %s..." % args.model)
    say("Initializing engine with model %s..." % args.model)
    say("Engine Core Mgr: Creating EngineCore engine 0 (dp=0, pp=0) of 1")
    say("Creating EngineCore process: DP rank 0, will use GPUs 0 to %d" % (args.tp - 1))
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    engine = spawn.Process(target=engine_core.main, name="EngineCore-DP0", args=(
        theirs, args.tp, scenario, float(os.environ["HANGTOP_DEMO_HANG_AFTER"]), int(os.environ["HANGTOP_DEMO_SEED"])))
    engine.start()
    theirs.close()
    ours.recv()
    say("Engine Core Mgr: All EngineCores are fully initialized and ready")
    say("LLMEngine init with 1 data parallel ranks")
    say("Starting server on 127.0.0.1:%d (loop=uvloop)..." % args.server_port)
    api = http_api.Api(args.model, ours)
    server = http_api.listen(api, args.server_port)
    threading.Thread(target=api.read_engine, name="engine-reader", daemon=True).start()
    print("INFO:     Started server process [%d]" % os.getpid(), flush=True)
    print("INFO:     Waiting for application startup.", flush=True)
    say("Server started successfully and ready to accept requests")
    print("INFO:     Application startup complete.", flush=True)
    print("INFO:     Uvicorn running on http://127.0.0.1:%d (Press CTRL+C to quit)" % args.server_port, flush=True)
    with open(os.environ["HANGTOP_DEMO_READY"], "w") as ready:
        ready.write("%f\n" % time.time())
    server.serve_forever(poll_interval=0.5)


if __name__ == "__main__":
    main()
