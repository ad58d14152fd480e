"""Part of the hangtop demo server: what its GPUs execute, for gpu_tables.py: a JSON file and an ELF file with the kernels' symbols.

Derived from what the workers really do (atom/model_engine/state.py): each calls launch() when a GPU would get a kernel. gpu.json:
  seq         grows by one each time it is written
  symbols     the ELF file; kernels lie in it at their offsets, and in a process at code_base + offset
  agents      rows of info agents, in order: the first has number 1
  kernels     name -> {function, symbol, nick, offset, size, code: [[offset in the kernel, length, text], ...]}
  processes   pid -> {code_base, object, queues, dispatches: [{..., waves: {count, per_group, lanes, pcs}}]}; workers only
pcs are offsets in the kernel; wave i is at pcs[i mod their number], and of its 64 lanes the first `lanes` are active. Who: demo.py.
"""
import json
import os
import struct
import zlib

GPU_ID = 51000
SIMDS, WAVES_PER_SIMD = 1216, 8
PACKETS_BEFORE = 8000       # of the start: weights, warm-up, graphs
CODE_BASE, CODE_STEP = 0x7d3aa1c00000, 0x140000000
COLLECTIVE = "collective"
LETTERS = {ord("a"): "attention", ord("m"): "mlp", ord("c"): COLLECTIVE, ord("s"): "sampler"}

# The barrier at the start of a custom all-reduce: lane i of the first wave waits for the flag of rank i.
SPIN = ["s_load_dwordx2 s[2:3], s[0:1], 0x8|8", "s_waitcnt lgkmcnt(0)|4", "v_mov_b32_e32 v2, s2|4",
        "global_load_dword v4, v[2:3], off sc0 sc1|8", "s_waitcnt vmcnt(0)|4", "v_cmp_ge_u32_e32 vcc, v4, v1|4",
        "s_or_b64 s[4:5], vcc, s[4:5]|4", "s_andn2_b64 exec, exec, s[4:5]|4", "s_cbranch_execnz 65529|4",
        "s_or_b64 exec, exec, s[4:5]|4", "s_barrier|4", "global_load_dwordx4 v[8:11], v[6:7], off|8", "s_waitcnt vmcnt(0)|4",
        "v_pk_add_f32 v[12:13], v[8:9], v[12:13]|8", "global_store_dwordx4 v[6:7], v[12:15], off|8", "s_endpgm|4"]
MATRIX = ["s_waitcnt lgkmcnt(4)|4", "v_mfma_f32_16x16x16_bf16 v[0:3], v[32:33], v[40:41], v[0:3]|8", "ds_read_b128 v[44:47], v60|8",
          "v_mfma_f32_16x16x16_bf16 v[4:7], v[34:35], v[42:43], v[4:7]|8", "global_load_dwordx4 v[48:51], v[62:63], off|8",
          "v_mfma_f32_16x16x16_bf16 v[8:11], v[36:37], v[44:45], v[8:11]|8", "ds_write_b128 v61, v[48:51]|8", "s_barrier|4",
          "s_sub_u32 s8, s8, 1|4", "s_cmp_lg_u32 s8, 0|4", "s_cbranch_scc1 65519|4", "s_endpgm|4"]
KERNELS = {
    # kind: (function, symbol, offset, size, where its code begins, code, grid, workgroup)
    COLLECTIVE: ("void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>(aiter::RankData*, aiter::RankSignals, aiter::Signal*, "
                 "__hip_bfloat16*, int, int)", "_ZN5aiter26cross_device_reduce_2stageI14__hip_bfloat16Li8EEEvPNS_8RankDataENS_"
                 "11RankSignalsEPNS_6SignalEPT_ii", 0xb980, 0x900, 420, SPIN, [40960, 1, 1], [512, 1, 1]),
    "attention": ("paged_attention_decode_bf16_hd128",) * 2 + (0x10000, 0x2400, 1024, MATRIX, [65536, 8, 1], [256, 1, 1]),
    "mlp": ("gemm_bf16_tn_64x64_mfma16",) * 2 + (0x14000, 0x1800, 640, MATRIX, [32768, 4, 1], [256, 1, 1]),
    "sampler": ("void aiter::add_rmsnorm_kernel<__hip_bfloat16, 256>(__hip_bfloat16*, __hip_bfloat16*, __hip_bfloat16 const*, float, "
                "int)", "_ZN5aiter18add_rmsnorm_kernelI14__hip_bfloat16Li256EEEvPT_S3_PKS2_fi", 0x18000, 0x600, 128, MATRIX,
                [16384, 1, 1], [256, 1, 1]),
}
WAVES_MAX = 640             # resident at once


def layout(first, code):
    """[[offset, length, text]] of instructions that follow each other."""
    out = []
    for line in code:
        text, _, length = line.rpartition("|")
        out.append([first, int(length), text])
        first += int(length)
    return out


def nickname(function):
    """At most 16 characters, as recent rocgdbs abbreviate: no namespace, template or parameters; long ones cut, with a hash."""
    name = function.split("(")[0].split("<")[0].split(" ")[-1].split("::")[-1]
    return name if len(name) <= 16 else "%s-%04x" % (name[:11], zlib.crc32(function.encode()) & 0xffff)


def elf(symbols):
    """An ELF64 object with a section of code without content and a symbol for each (name, offset, size). For x86-64, whatever the
    GPU's: gdb must be able to read it."""
    strings, table = b"\0", struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for name, offset, size in symbols:
        table += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, offset, size)     # global function of section 1
        strings += name.encode() + b"\0"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    start = min(s[1] for s in symbols)
    end = max(s[1] + s[2] for s in symbols)
    at_table = 64
    at_strings = at_table + len(table)
    at_names = at_strings + len(strings)
    at_headers = (at_names + len(names) + 7) // 8 * 8

    def section(name, kind, flags, address, offset, size, link=0, info=0, align=1, entry=0):
        return struct.pack("<IIQQQQIIQQ", names.index(name), kind, flags, address, offset, size, link, info, align, entry)

    headers = bytes(64)
    headers += section(b".text", 8, 6, start, at_table, end - start, align=16)             # NOBITS, ALLOC | EXECINSTR
    headers += section(b".symtab", 2, 0, 0, at_table, len(table), link=3, info=1, align=8, entry=24)
    headers += section(b".strtab", 3, 0, 0, at_strings, len(strings))
    headers += section(b".shstrtab", 3, 0, 0, at_names, len(names))
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, at_headers, 0, 64, 0, 0, 64, 5, 4)
    return (header + table + strings + names).ljust(at_headers, b"\0") + headers


class GpuState:
    def __init__(self, folder, count):
        self.path, self.count, self.seq = os.path.join(folder, "gpu.json"), count, 0
        symbols = os.path.join(folder, "kernels.elf")
        with open(symbols, "wb") as f:
            f.write(elf([k[1:4] for k in KERNELS.values()]))
        self.fixed = {
            "symbols": symbols,
            "agents": [{"state": "A", "gpuid": GPU_ID + i, "arch": "gfx942", "device": "AMD Instinct MI300X", "cores": SIMDS,
                        "threads": SIMDS * WAVES_PER_SIMD, "location": "0000:%02x:00.0" % (0x10 + i)} for i in range(count)],
            "kernels": {kind: {"function": k[0], "symbol": k[1], "nick": nickname(k[0]), "offset": k[2], "size": k[3],
                               "code": layout(k[4], k[5])} for kind, k in KERNELS.items()}}

    def queues(self, rank, launched, running):
        """The one that kernels go through, a small one of the runtime, and one for copies, which has no pointers to show."""
        done, high = PACKETS_BEFORE + launched, 0x100000000 * rank
        return [{"agent": rank + 1, "qid": 0, "type": "HSA", "read": done - running, "write": done, "size": 1048576,
                 "address": 0x7f49f8c00000 + high},
                {"agent": rank + 1, "qid": 1, "type": "HSA", "read": 40, "write": 40, "size": 4096, "address": 0x7f4a0be6e000 + high},
                {"agent": rank + 1, "qid": 2, "type": "DMA", "size": 8388608, "address": 0x7f49f2400000 + high}]

    def dispatch(self, kind, launched, spins):
        kernel = KERNELS[kind]
        code = layout(kernel[4], kernel[5])
        grid, workgroup = kernel[6:]
        waves = grid[0] * grid[1] // 64
        if spins:
            pcs = [code[4][0]]      # where it waits for the flag it has just asked for
        else:
            pcs = [code[(launched * 5 + self.seq + i) % len(code)][0] for i in range(7)]
        return {"queue": 1, "pkid": PACKETS_BEFORE + launched - 1, "grid": grid, "workgroup": workgroup, "fence": "B|Aa|Ra",
                "kernel": kind, "waves": {"count": min(waves, WAVES_MAX), "per_group": workgroup[0] // 64,
                                          "lanes": min(self.count, 64) if spins else 64, "pcs": pcs}}

    def process(self, rank, letter, kind, launched):
        running = kind if letter in (b"W", b"S") else None
        return {"code_base": CODE_BASE + CODE_STEP * rank, "object": "memory://%%d#offset=0x%x&size=%d" % (0x5a3e1c0 + rank * 64, 118784),
                "queues": self.queues(rank, launched, 1 if running else 0),
                "dispatches": [self.dispatch(running, launched, letter == b"S")] if running else []}

    def write(self, state, pids):
        """The bytes of the state file, and the pid of each rank. Readers see the old file or the new one."""
        processes = {}
        for rank, pid in enumerate(pids[:self.count]):
            kind, launched = struct.unpack_from("<BQ", state, self.count + 9 * rank)
            processes[pid] = p = self.process(rank, state[rank:rank + 1], LETTERS.get(kind), launched)
            p["object"] %= pid
        self.seq += 1
        with open(self.path + ".new", "w") as f:
            json.dump(dict(self.fixed, seq=self.seq, processes=processes), f)
        os.rename(self.path + ".new", self.path)
        return {pid: p["queues"] for pid, p in processes.items()}
