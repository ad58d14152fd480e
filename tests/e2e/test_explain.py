#!/usr/bin/env python3
"""hangtop explain on inputs in real shapes, each with the part of the answer that must be right; and on bad input. Speaks TAP.

tests/data/explain/KIND/NAME/input.* and expect.json: a subset of the object of --json. Lists are compared in order and length; ranks,
outliers, reasons and suspect_kernels as sets, stack_groups in any order; 0x numbers by value; text without case and final dot; null is
null or missing; `why` says what makes the input hard.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HANGTOP = os.path.join(os.environ.get("builddir", "."), "hangtop")
DATA = os.path.join(os.environ.get("srcdir", "."), "tests", "data", "explain")
SETS = {"ranks", "outliers", "reasons", "suspect_kernels"}
HEX = re.compile(r"^0x[0-9a-f]+$", re.I)
CHECKS = 14     # besides one a kind
results = []


def report(ok, name, why=""):
    results.append(bool(ok))
    print("%s %d - %s" % ("ok" if ok else "not ok", len(results), name), flush=True)
    if not ok:
        print("# " + str(why).replace("\n", "\n# "), flush=True)


def number(x):
    text = str(x).strip()
    if HEX.match(text):
        return int(text, 16)
    return int(text) if text.isdigit() else None


def same(want, got):
    if want is None or got is None:
        return want is got
    if isinstance(want, bool) or isinstance(got, bool):
        return want is got
    if isinstance(want, (int, float)) and isinstance(got, (int, float)):
        return abs(want - got) <= 1e-3 * max(1.0, abs(want))
    if number(want) is not None and number(want) == number(got):
        return True
    return str(want).strip().rstrip(".").lower() == str(got).strip().rstrip(".").lower()


def differences(want, got, path="", key=""):
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return ["%s: no object" % path]
        return [d for k, v in want.items() for d in differences(v, got.get(k), "%s.%s" % (path, k), k)]
    if isinstance(want, list):
        got = got if isinstance(got, list) else []
        if key in SETS:
            return [] if sorted(map(str, want)) == sorted(map(str, got)) else ["%s: %s, not %s" % (path, got, want)]
        if key == "stack_groups":
            have = [sorted(map(str, g["ranks"])) for g in got]
            return ["%s: no group %s" % (path, g["ranks"]) for g in want if sorted(map(str, g["ranks"])) not in have]
        if len(want) != len(got):
            return ["%s: %d entries, not %d" % (path, len(got), len(want))]
        return [d for i, v in enumerate(want) for d in differences(v, got[i], "%s[%d]" % (path, i))]
    return [] if same(want, got) else ["%s: %s, not %s" % (path, json.dumps(got)[:100], json.dumps(want)[:100])]


def run(*args, stdin=None, stdout=subprocess.PIPE):
    return subprocess.run([HANGTOP, "explain", *args], input=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=60)


def explain(*args, stdin=None):
    return json.loads(run("--json", *args, stdin=stdin).stdout.decode("utf-8"))


def without_names(answer):
    text = json.dumps(answer)
    return re.sub(r'"file": (null|"[^"]*")', '"file": 0', text)


def cases():
    return sorted(glob.glob(os.path.join(DATA, "*", "*", "expect.json")))


def kinds():
    for kind in sorted(set(c.split(os.sep)[-3] for c in cases())):
        wrong = []
        for expect in [c for c in cases() if c.split(os.sep)[-3] == kind]:
            source = glob.glob(os.path.join(os.path.dirname(expect), "input.*"))[0]
            want = json.load(open(expect, encoding="utf-8"))
            want.pop("why", None)
            try:
                found = differences(want, explain(source))
                again = explain("-", stdin=open(source, "rb").read())
                if without_names(explain(source)) != without_names(again):
                    found.append("standard input gives another answer")
                text = run(source)
                if text.stderr or not text.stdout.strip():
                    found.append("as text: %s" % text.stderr.decode())
            except Exception as e:  # no JSON, too slow, a crash
                found = ["no usable output: %s" % e]
            wrong += ["%s %s" % (source.split(os.sep)[-2], d) for d in found]
        report(not wrong, "inputs of kind %s" % kind, "\n".join(wrong))


def can_fail():
    source = glob.glob(os.path.join(DATA, "wave", "*assert*", "input.*"))[0]
    answer = explain(source)
    report(differences({"verdict": "healthy", "waves": [{"pc": "0x1"}]}, answer) and not differences({"verdict": "fault"}, answer),
           "a wrong expectation is seen")


def together():
    sources = [glob.glob(os.path.join(os.path.dirname(c), "input.*"))[0] for c in cases()]
    answer = explain(*sources)
    report(answer["verdict"] == "fault" and len(answer["waves"]) > 20 and len(answer["gpus"]) > 60, "all inputs in one call")
    paste = b"\n".join(open(s, "rb").read() for s in sources)
    answer = explain("-", stdin=paste)
    report(answer["verdict"] == "fault" and len(answer["waves"]) > 20 and answer["counts"]["bytes"] == len(paste), "all inputs in one paste",
           {k: len(v) if isinstance(v, list) else v for k, v in answer.items()})


def bad_input(folder):
    empty = os.path.join(folder, "empty")
    open(empty, "w").close()
    noise = os.path.join(folder, "noise")
    with open(noise, "wb") as f:
        f.write(bytes((i * 7919 >> 3) & 255 for i in range(300000)) + b"\0" * 5000 + b"{" * 20000 + b"\r" * 5000 + b'["' + b"x" * 100000)
    missing = run("--json", os.path.join(folder, "no-such"))
    report(missing.returncode == 66 and b"no-such" in missing.stderr, "a missing file is said, status 66", missing)
    report(run("--json", folder).returncode == 66, "a folder is no text")
    report(explain(empty)["verdict"] is None and run("--json", empty).returncode == 3, "an empty file: cannot be told, status 3")
    report(explain(noise)["verdict"] is None, "noise tells nothing")
    report(explain(noise, empty)["counts"]["bytes"] == os.path.getsize(noise), "every byte is counted")
    with open("/dev/full", "w") as full:
        report(run(empty, stdout=full).returncode == 73, "a full standard output is status 73")
    report(run().returncode == 64, "no file is wrong usage")


def session(folder):
    db = os.path.join(folder, "x.hangtop")
    source = glob.glob(os.path.join(DATA, "wave", "*assert*", "input.*"))[0]
    kept = run("--db", db, source)
    lines = subprocess.run([HANGTOP, "export", db], stdout=subprocess.PIPE, timeout=60).stdout.decode().splitlines()
    kinds_kept = [json.loads(line)["kind"] for line in lines]
    report(kept.returncode == 2 and "wave" in kinds_kept and "queue_error" in kinds_kept, "--db keeps what was found", kinds_kept)
    replay = subprocess.run([HANGTOP, "replay", db, "--once", "--json"], stdout=subprocess.PIPE, timeout=60)
    verdict = json.loads(replay.stdout.decode())["verdict"]
    report(verdict == "fault" and replay.returncode == 2, "a replay of it comes to the same verdict", replay.stdout.decode()[:300])


TOOLS = os.pathsep.join([os.environ.get("PATH", ""), "/opt/rocm/llvm/bin"] + sorted(glob.glob("/usr/lib/llvm*/bin")))


def code_objects(folder):
    """A kernel of the distribution's clang, in a dump that names its saved file."""
    name = "a wave's code is disassembled from its saved code object"
    tools = [shutil.which(t, path=TOOLS) for t in ("clang", "ld.lld", "llvm-objdump")]
    if not all(tools):
        results.append(os.environ.get("CI") != "true")
        print("%s %d - %s # SKIP no clang, ld.lld and llvm-objdump" % ("ok" if results[-1] else "not ok", len(results), name))
        report(True, "a code object that was not saved is said # SKIP")
        return
    source = os.path.abspath(os.path.join(DATA, "..", "code_object", "kernels.s"))
    built = os.path.join(folder, "k")
    subprocess.run([tools[0], "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-x", "assembler", "-c", source, "-o", built + ".o"], check=True)
    subprocess.run([tools[1], "-shared", "-Ttext=0x10000", built + ".o", "-o", built + ".so"], check=True)
    size = os.path.getsize(built + ".so")
    saved = os.path.join(folder, "saved")
    os.mkdir(saved)
    os.rename(built + ".so", os.path.join(saved, "memory___42_offset_0x1000_size_%d" % size))
    base = 0x7f1200000000
    dump = os.path.join(folder, "dump.txt")
    with open(dump, "w") as f:
        f.write("wave_1: pc=%#x (kernel_code_entry=%#x <wait_flag>) (stopped, reason: MEMORY_VIOLATION)\n\n"
                "Disassembly for function wait_flag:\n    code object: memory://42#offset=0x1000&size=%d\n"
                "    loaded at: [%#x-%#x]\n\n => %#x <+24>:    s_waitcnt vmcnt(0)\n\nEnd of disassembly.\n"
                % (base + 0x10018, base + 0x10000, size, base, base + 0x20000, base + 0x10018))
    text = run("--code-objects", saved, dump)
    answer = explain("--code-objects", saved, dump)
    report(b" => " in text.stdout and b"(gfx90a)" in text.stdout and "By hand: " in answer["disassembled"], name, text.stdout.decode())
    other = os.path.join(folder, "other")
    os.mkdir(other)
    absent = run("--code-objects", other, dump)
    report(b"is not disassembled" in absent.stdout and absent.returncode == 2, "a code object that was not saved is said", absent)


def main():
    n = len(set(c.split(os.sep)[-3] for c in cases()))
    print("1..%d" % (n + CHECKS))
    kinds()
    can_fail()
    together()
    with tempfile.TemporaryDirectory() as folder:
        bad_input(folder)
        session(folder)
        code_objects(folder)
    return 0 if all(results) and len(results) == n + CHECKS else 1


sys.exit(main())
