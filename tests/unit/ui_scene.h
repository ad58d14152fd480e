/* ui_scene.h - worlds to draw: models fed with observations around one fixed time, and the view of them. */
#ifndef HANGTOP_TESTS_UI_SCENE_H
#define HANGTOP_TESTS_UI_SCENE_H

#include <locale.h>

#include "feed.h"
#include "ui/ui.h"

#define NOW 1796119675000LL /* 2026-12-01 10:07:55 UTC */
#define AT(seconds) ((long long)(NOW - (long long)((seconds)*1000)))

struct scene {
	struct model model;
	struct ranks *ranks;
	struct verdict verdict;
	struct view view;
};

static inline void scene_init(struct scene *s)
{
	memset(s, 0, sizeof *s);
	model_init(&s->model);
	s->ranks = mem_alloc(sizeof *s->ranks);
	s->view = (struct view){ .model = &s->model,
		.ranks = s->ranks,
		.verdict = &s->verdict,
		.now = NOW,
		.node = "n1",
		.mode = VIEW_LIVE,
		.interval_ms = 1000,
		.recording = true,
		.speed = 1 };
}

/* The verdict is set by hand: what the rules say is not the screen's business. */
static inline void scene_judge(struct scene *s, enum state state, const char *where, char grade, double ago, const char *reason,
	const char *next, const char *candidates)
{
	ranks_build(s->ranks, &s->model);
	s->verdict = (struct verdict){ .state = state, .grade = grade, .since = AT(ago), .rule = "scene" };
	snprintf(s->verdict.where, sizeof s->verdict.where, "%s", where);
	snprintf(s->verdict.reason, sizeof s->verdict.reason, "%s", reason);
	snprintf(s->verdict.next, sizeof s->verdict.next, "%s", next);
	snprintf(s->verdict.candidates, sizeof s->verdict.candidates, "%s", candidates);
}

static inline void scene_evidence(struct scene *s, const char *what, const char *value, double ago)
{
	struct evidence *e = &s->verdict.evidence[s->verdict.evidence_count++];

	snprintf(e->what, sizeof e->what, "%s", what);
	snprintf(e->value, sizeof e->value, "%s", value);
	e->t = ago < 0 ? 0 : AT(ago);
}

static inline void scene_release(struct scene *s)
{
	model_release(&s->model);
	free(s->ranks);
}

static inline void scene_gpus(struct scene *s, int count, double busy, double mem)
{
	for (int ago = 120; ago >= 0; ago -= 2)
		for (int g = 0; g < count; g++)
			FEED(&s->model,
				"{'t':%lld,'node':'n1','kind':'gpu','gpu':%d,'busy_pct':%.0f,'mem_activity_pct':%.0f,"
				"'vram_used':%lld,'vram_total':206158430208,'power_w':%d,'temp_c':%d,'temp_edge_c':41,'"
				"temp_mem_c':48,"
				"'sclk_mhz':2100,'mclk_mhz':1300,'kfd_node':%d,'bdf':'0000:%02x:00.0','name':'AMD "
				"Instinct MI300X',"
				"'partition':'SPX/NPS1','via':'rocm-smi','power_cap_w':750}",
				AT(ago), g, ago > 60 ? 30 + (ago * 7 + g) % 50 : busy, ago > 60 ? 40.0 : mem,
				187000000000LL + g * 10000000, 245 + g % 3, 52 + g % 2, g + 2, 5 + 16 * g);
}

static inline void scene_server(struct scene *s, const char *class, int http)
{
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'source','source':'server','state':'ok','detail':'GET "
		"http://127.0.0.1:8000/v1/models','latency_ms':1.2}",
		AT(60));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'hello','agent':'host','version':'0.1.0','sources':'server proc stack "
		"log','host':'6.8.0 x86_64'}",
		AT(700));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'server','url':'http://127.0.0.1:8000/v1/"
		"models','http':%d,'class':'%s','total_ms':1.1,"
		"'connect_ms':0.2,'first_byte_ms':0.9,'bytes':312,'models':['DeepSeek-R1'],'owned_by':'atom','engine':'"
		"atom'}",
		AT(1), http, class);
}

static inline void scene_rank(struct scene *s, int rank, const char *state, double cpu)
{
	int pid = 4100 + rank;

	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'process','pid':%d,'start':%lld,'ppid':4001,'role':'worker','rank':'TP%d'"
		",'rank_how':'title',"
		"'gpu':%d,'title':'atom::worker_TP%d','comm':'python3','env':{'HIP_VISIBLE_DEVICES':'%d','NCCL_DEBUG':'"
		"WARN','HF_TOKEN':'***'},"
		"'uid':0,'ended':0,'exe':'/usr/bin/python3.10','engine':'atom'}",
		AT(700), pid, AT(705), rank, rank, rank, rank);
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'process_sample','pid':%d,'state':'%s','cpu_pct':%.0f,'wchan':%s,'"
		"threads':142,"
		"'rss':8800000000,'vol_switches':120034,'invol_switches':%d,'state_since':%lld}",
		AT(1), pid, state, cpu, *state == 'R' ? "null" : "'futex_wait_queue'", 400 + rank, AT(430));
}

static inline void scene_stack(struct scene *s, int rank, double ago, const char *frames)
{
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'stack','pid':%d,'start':%lld,'rank':'TP%d','how':'py-spy','took_ms':41,'"
		"why':'suspect',"
		"'threads':[{'tid':%d,'name':'MainThread','state':'active','gil':true,'frames':[%s]},"
		"{'tid':9,'name':'ProcessGroupNCCL','state':'idle','gil':false,'frames':['wait "
		"(threading.py:320)','run (threading.py:982)']}]}",
		AT(ago), 4100 + rank, AT(705), rank, 4100 + rank, frames);
}

#define SCENE_WAITS                                                                                                    \
	"'synchronize (torch/cuda/__init__.py:985)','all_reduce (torch/distributed/distributed_c10d.py:2501)',"        \
	"'forward (atom/model_engine/model_runner.py:1802)','run_model (atom/model_engine/model_runner.py:2140)',"     \
	"'busy_loop (atom/model_engine/async_proc.py:88)','<module> (<string>:1)'"
#define SCENE_ODD                                                                                                      \
	"'copy_kv (atom/model_engine/runner.py:2210)','forward (atom/model_engine/model_runner.py:1802)',"             \
	"'run_model (atom/model_engine/model_runner.py:2140)','busy_loop "                                             \
	"(atom/model_engine/async_proc.py:88)','<module> (<string>:1)'"

static inline void scene_log(struct scene *s, double ago, const char *class, const char *rank, const char *text)
{
	static int offset;

	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'log','file':'/var/log/"
		"atom.log','offset':%d,'class':'%s','rank':%s%s%s,'text':'%s'}",
		AT(ago), ++offset * 200, class, *rank ? "'" : "", *rank ? rank : "null", *rank ? "'" : "", text);
}

/* Eight ranks; TP3 is elsewhere, the others wait in a collective; no progress for seven minutes. */
static inline void scene_hung(struct scene *s)
{
	scene_init(s);
	scene_server(s, "ok", 200);
	scene_gpus(s, 8, 100, 0);
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'process','pid':4001,'start':%lld,'role':'api','title':'python3 -m "
		"atom.entrypoints.openai_server --model deepseek-ai/DeepSeek-R1 -tp 8','ended':0,'engine':'atom'}",
		AT(700), AT(710));
	for (int r = 0; r < 8; r++)
		scene_rank(s, r, "R", 100);
	for (int r = 0; r < 8; r++) {
		scene_stack(s, r, 35, r == 3 ? SCENE_ODD : SCENE_WAITS);
		scene_stack(s, r, 7, r == 3 ? SCENE_ODD : SCENE_WAITS);
	}
	for (int g = 0; g < 8; g++)
		FEED(&s->model,
			"{'t':%lld,'node':'n1','kind':'gpu_process','pid':%d,'gpu':%d,'vram':186000000000,'queues':24,'"
			"evicted_ms':0,'cu_occupancy':304,'name':'python3'}",
			AT(1), 4100 + g, g);
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'requests','via':'log','open':41,'arrived':1200,'finished':1159,'open_"
		"since':%lld}",
		AT(130), AT(700));
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'progress','counter':'log:output','value':1159,'delta':3}",
		AT(434));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'source','source':'gpu','state':'ok','detail':'sysfs and "
		"rocm-smi','latency_ms':81}",
		AT(50));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'source','source':'kmsg','state':'failed','detail':'/dev/kmsg: "
		"permission denied','remedy':'sudo sysctl kernel.dmesg_restrict=0'}",
		AT(690));
	scene_log(s, 690, "ready", "", "INFO: Application startup complete.");
	scene_log(s, 435, "progress", "TP0", "Scheduled prefill batch: 19 reqs, 9573 tokens");
	scene_log(s, 300, "warning", "TP3", "RuntimeWarning: kv cache usage over 97%");
	scene_log(s, 134, "request", "", "Request 41 arrived, pending 41");
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'verdict','state':'HEALTHY','grade':'A','since':%lld,'reason':'progress "
		"1 s ago','evidence':[]}",
		AT(600), AT(600));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'verdict','state':'SUSPECT','grade':'C','since':%lld,'reason':'no "
		"progress for 12 s with 41 requests open','evidence':[{'what':'last progress','value':'log:output at "
		"1159','age_ms':12000}],'next':'take stacks'}",
		AT(422), AT(434));
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'mark','name':'before the restart','at':%lld}", AT(100), AT(100));
	scene_judge(s, STATE_HUNG, "collective", 'A', 434, "TP3 is in copy_kv; 7 ranks wait in synchronize <- all_reduce",
		"press 5 and read the odd rank's stack; keep the session before a restart", "TP3");
	scene_evidence(s, "last progress", "log:output at 1159", 434);
	scene_evidence(s, "open requests", "41", 130);
	scene_evidence(s, "GPUs", "busy, memory still (8 of 8 busy)", 0);
	scene_evidence(s, "HTTP", "answers in 1 ms (says only that the HTTP loop turns)", 1);
	scene_evidence(s, "stacks", "TP3: copy_kv, equal x2", 7);
	scene_evidence(s, "stacks", "TP[0-2,4-7]: synchronize <- all_reduce, equal x2", 7);
}

#define SCENE_KERNEL                                                                                                   \
	"void at::native::index_elementwise_kernel<128, 4, at::native::index_copy_kernel_impl<at::native::OpaqueType<4> >"    \
	"(at::TensorIterator&, long, long, long)::{lambda(int)#1}>(long, at::native::index_copy_kernel_impl<at::native::"     \
	"OpaqueType<4> >(at::TensorIterator&, long, long, long)::{lambda(int)#1})"

static inline void scene_wave(struct scene *s, int wave, const char *reasons, const char *pc, const char *kernel, int rank,
	const char *code, const char *more)
{
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'wave','via':'agent','wave':%d,'state':'stopped','reasons':%s,'pc':'%s','kernel':'%s',"
		"'kernel_code_entry':'0x7f20f5e52900','complete':1,'rank':'TP%d','file':'/var/log/server.log','offset':4711,"
		"'code_object':%s,'arrow':{'pc':'%s','offset':3012,'insn':'s_endpgm'}%s}",
		AT(12), wave, reasons, pc, kernel, rank, code, pc, more);
}

/* Faults and a dump: waves of three kernels, one row for many; then what rocgdb saw. */
static inline void scene_fault(struct scene *s)
{
	static const char memory[] = "{'scheme':'memory','pid':12,'offset':4096,'size':400,'uri':'memory://12#offset=0x1000&size=400',"
				     "'loaded':'0x7f20-0x7f30'}",
			  file[] = "{'scheme':'file','offset':8192,'size':63520,'uri':'file:///srv/my%20app/libk.so#offset=8192&size=63520'}";

	scene_init(s);
	scene_server(s, "ok", 200);
	scene_gpus(s, 8, 0, 0);
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'log','file':'/var/log/server.log','offset':4000,'class':'fault','rank':'TP3','text':'Memory "
		"access fault by GPU node-5 (Agent handle: 0x55) on address 0x7f21c8a00000. Reason: Page not present'}",
		AT(12));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'fault','kfd_node':5,'agent':'0x55','address':'0x7f21c8a00000',"
		"'reason':'Page not present or supervisor privilege','rank':'TP3','file':'/var/log/server.log','offset':4000}",
		AT(12));
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'hw_exception','kfd_node':99,'reason':'GPU Hang','rank':'TP1','offset':5000}", AT(11.5));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'queue_error','status':'HSA_STATUS_ERROR_EXCEPTION','code':'0x1016','queue':'0x7f1e','rank':"
		"'TP3','offset':6000}",
		AT(11));
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'packet','kernel':'_swa_write_kernel','grid':[256,1,1],'pending':2}", AT(11));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'page_fault','pci':'0000:35:00.0','address':'0x7f21c8a00000','process':'python','pid':4103,"
		"'vmid':8}",
		AT(12));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'driver_event','pci':'0000:35:00.0','what':'reset','text':'GPU reset begin!'}", AT(9));
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'worker_death','rank':'ModelRunner3/8','exitcode':-6,'offset':7000}", AT(8));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'collective','what':'timeout','rank':'4','seq':1580,'op':'ALLREDUCE','ran_ms':600060,'offset':"
		"8000}",
		AT(7));
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'watchdog','rank':'TP5','timeout_s':300,'offset':9000}", AT(6));
	for (int i = 0; i < 12; i++)
		scene_wave(s, 100 + i, "['ASSERT_TRAP']", "0x7f20f5e534c4", SCENE_KERNEL, i % 4, memory,
			i != 1 ? "" : ",'registers':'scalar registers:\\n            s0: ffffffff            s1: ffffffff\\n','disassembly':"
				      "'    0x7f20f5e534c0 <+3008>:    s_trap 2\\n => 0x7f20f5e534c4 <+3012>:    s_endpgm'");
	scene_wave(s, 200, "['MEMORY_VIOLATION','ILLEGAL_INSTRUCTION']", "0x7e00", "_swa_write_kernel", 3, file, ",'count':30");
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'wave','via':'agent','state':'running','reasons':[]}", AT(12));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'disassembly','kernel':'hypre_kernel(int*)','arrow':{'pc':'0x10','offset':16,'insn':"
		"'s_waitcnt vmcnt(0)'},'code_object':%s,'file':'/var/log/server.log','offset':9}",
		AT(12), file);
	for (int ago = 33; ago >= 3; ago -= 30) {
		FEED(&s->model,
			"{'t':%lld,'node':'n1','kind':'gdb_dispatch','number':1,'target':'1:9:1 (PKID 4)','grid':[20480,1,1],'fence':"
			"'B|Aa|Ra','kernel':'void aiter::allgather_vec<__hip_bfloat16, 8>(aiter::RankData*, int)'}",
			AT(ago));
		FEED(&s->model, "{'t':%lld,'node':'n1','kind':'gdb_queue','target':'1:9','type':'HSA','read':15,'write':32,'pending':17}",
			AT(ago));
		FEED(&s->model,
			"{'t':%lld,'node':'n1','kind':'gdb_agent','number':1,'state':'A','arch':'gfx942','device':'MI300X','location':"
			"'05:00.0'}",
			AT(ago));
	}
	scene_judge(s, STATE_FAULT, "", 'A', 12, "Memory access fault by GPU node-5 on address 0x7f21c8a00000", "read the log around it", "");
}

static inline void scene_healthy(struct scene *s)
{
	scene_init(s);
	scene_server(s, "ok", 200);
	scene_gpus(s, 8, 93, 41);
	for (int r = 0; r < 8; r++)
		scene_rank(s, r, "S", 12);
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'requests','via':'log','open':5,'arrived':1200,'finished':1195}",
		AT(1));
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'progress','counter':'log:output','value':1195,'delta':3}",
		AT(1));
	scene_log(s, 690, "ready", "", "INFO: Application startup complete.");
	scene_log(s, 1, "progress", "TP0", "Scheduled decode batch: 5 reqs");
	scene_judge(s, STATE_HEALTHY, "", 'A', 690, "work gets done: progress 1 s ago", "", "");
	scene_evidence(s, "last progress", "log:output at 1195", 1);
	scene_evidence(s, "GPUs", "busy, memory active (8 of 8 busy)", 0);
}

static inline void scene_empty(struct scene *s)
{
	scene_init(s);
	s->view.recording = false;
	s->view.read_only = true;
	scene_judge(s, STATE_UNKNOWN, "", 'D', 0, "no server found yet: no process, no HTTP answer, no log",
		"start the server, or give --pid PID --log FILE --url URL", "");
}

/* A recording, stopped; readings are old by its clock. */
static inline void scene_replay(struct scene *s)
{
	scene_hung(s);
	s->view.mode = VIEW_REPLAY;
	s->view.recording = false;
	s->view.now = NOW + 20000;
	s->view.playing = true;
	s->view.speed = 4;
	s->view.first_t = NOW - 700000;
	s->view.last_t = NOW + 100000;
}

/* 64 partitions, two of which stand out. */
static inline void scene_many(struct scene *s)
{
	scene_init(s);
	scene_server(s, "unavailable", 503);
	for (int g = 0; g < 64; g++)
		FEED(&s->model,
			"{'t':%lld,'node':'n1','kind':'gpu','gpu':%d,'busy_pct':%d,'mem_activity_pct':%d,'vram_used':"
			"20000000000,"
			"'vram_total':25000000000%s,'temp_c':50}",
			AT(1), g, g == 17 || g == 40 ? 0 : 100, 3, g % 8 ? "" : ",'power_w':600");
	for (int r = 0; r < 64; r++)
		scene_rank(s, r, r == 17 ? "D" : "R", 99);
	for (int r = 0; r < 64; r++)
		if (r != 17)
			scene_stack(s, r, 5, SCENE_WAITS);
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'stack','pid':4117,'rank':'TP17','how':'py-spy','error':'py-spy: "
		"Permission denied (os error 13)','remedy':'run hangtop as root, or sysctl "
		"kernel.yama.ptrace_scope=0'}",
		AT(5));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'process','pid':4163,'start':%lld,'role':'worker','rank':'TP63','ended':"
		"1,'title':'atom::worker_TP63'}",
		AT(3), AT(705));
	scene_judge(s, STATE_DEAD, "", 'C', 3, "rank TP63 (pid 4163) ended", "read the log for its exit; a restart is needed", "TP63");
	scene_evidence(s, "processes", "rank TP63 (pid 4163) ended", 3);
}

/* What a hostile or broken server could put on the screen. */
static inline void scene_foreign(struct scene *s)
{
	scene_init(s);
	scene_server(s, "ok", 200);
	scene_rank(s, 0, "R", 1);
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'source','source':'gpu\\u001b[31m','state':'failed','detail':'\\u001b]0;"
		"owned\\u0007 text\\u202e reversed','remedy':'\\u009b2J\\tfix'}",
		AT(5));
	scene_log(s, 9, "fault", "日本",
		"\\u001b[2J\\u001b[H wide 日本語のログ行 combining e\\u0301a\\u0300\\u0301 emoji \\ud83d\\ude00 end");
	scene_log(s, 8, "warning", "", "bell\\u0007 nul del\\u007f c1\\u0085 zero\\u200bwidth bidi\\u202ecba");
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'note','text':'\\u001b]52;c;ZXZpbA==\\u0007 clipboard'}", AT(4));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'wave','reasons':['\\u001b[31mTRAP','日本'],'pc':'\\u001b[2J','kernel':'void 核\\u001b]0;x\\u0007<日本語"
		"日本語日本語日本語日本語日本語日本語日本語日本語日本語>(\\u202eint)','rank':'\\u009b1m','code_object':{'uri':'file:///%%1b%%5b2J\\u001b','offset':"
		"1,'size':-5},'arrow':{'insn':'\\u001bc','offset':9223372036854775807},'registers':'\\u001b[1m\\ts0'}",
		AT(5));
	FEED(&s->model,
		"{'t':%lld,'node':'n1','kind':'fault','address':'\\u001b[2J','reason':'\\u202e','rank':'\\u0007','kfd_node':-9223372036854775808}",
		AT(5));
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'gdb_dispatch','target':'\\u001b','kernel':'\\u0085','fence':'\\u007f'}", AT(5));
	scene_judge(s, STATE_SUSPECT, "", 'D', 40, "a reason that is longer than one line of eighty columns, with \033[31mcolour\a and 日本語 in it",
		"next \033[2J step", "\033]0;TP3\a");
	scene_evidence(s, "wh\x1b[at", "\x9b value", -1);
}

/* --- snapshots of rank 3, pid 4103 --- */

static inline void scene_snapshot(struct scene *s, const char *id, double ago, const char *state, const char *verified)
{
	bool ended = strcmp(state, "done") == 0 || strcmp(state, "failed") == 0;

	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'snapshot','snapshot':'%s','pid':4103,'start':1796119000000,'rank':'TP3','state':'%s',"
		"'detail':%s,'argv':['/opt/rocm/bin/rocgdb','-nx','-batch','-p','4103','-ex','info dispatches','-ex','python exec(x\\ny)'],"
		"'who':'key','began':%lld,'deadline_ms':90000%s%s%s%s}",
		AT(ago), id, state,
		strcmp(state, "preview") == 0 ? "'stops pid 4103 (61 threads) and suspends its GPU queues while it is attached'" :
		strcmp(state, "refused") == 0 ? "'the debug agent is loaded: it holds the debug slot'" :
		strcmp(state, "failed") == 0 ? "'interrupted at the deadline'" : "null",
		AT(ago + 1), ended ? ",'took_ms':1900.0,'stopped_ms':1300.0,'exit':0,'ended':'by itself','bytes':900,'output':'=== info agents ===\\nline two',"
		"'file':'/home/u/snapshots/x.out','verified':'" : "", ended ? verified : "",
		ended ? "','verify_detail':'" : "", ended ? strcmp(verified, "ok") == 0 ? "state S, no tracer, threads 61 (before: S, 61)'" :
		"STOPPED: 61 of 61 threads, no tracer; the debugger ended regularly, so somebody else stopped it'" : "");
}

/* The checks before it; the one named refuses. */
static inline void scene_guard(struct scene *s, const char *id, const char *refused)
{
	static const char *const check[] = { "alive", "debug-agent", "kfd-version", "role" };

	for (size_t i = 0; i < sizeof check / sizeof *check; i++) {
		bool no = strcmp(check[i], refused) == 0, unknown = i == 2;

		FEED(&s->model, "{'t':%lld,'node':'n1','kind':'guard','pid':4103,'check':'%s','state':'%s','detail':'%s','remedy':%s,'snapshot':'%s'}",
			AT(4), check[i], no ? "refused" : unknown ? "unknown" : "ok", no ? "librocm-debug-agent is mapped" : unknown ? "only the driver tells" : "fine",
			no ? "'start the server without HSA_TOOLS_LIB'" : "null", id);
	}
}

/* What it saw: a collective in its spin loop, `read` packets done of queue 1:1. */
static inline void scene_seen(struct scene *s, const char *id, double ago, int read)
{
	static const char kernel[] = "void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>(aiter::RankData*, int)";

	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'debugger','attach':'ok','detached':1,'complete':1,'snapshot':'%s'}", AT(ago), id);
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'gdb_dispatch','number':1,'target':'1:1:1','pkid':%d,'kernel':'%s','snapshot':'%s'}", AT(ago), read,
		kernel, id);
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'gdb_queue','number':1,'target':'1:1','qid':3,'type':'HSA','read':%d,'write':%d,'address':'0x7f00',"
		"'snapshot':'%s'}", AT(ago), read, read + 1, id);
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'gdb_queue','number':2,'target':'1:2','qid':5,'type':'DMA','address':'0x7e00','snapshot':'%s'}", AT(ago), id);
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'wave','via':'rocgdb','kernel':'%s','pc':'0x7f6a%d','place':'%s + 444','lanes':'0-7','count':640,"
		"'disassembly':'=> 0x7f6a01bc <k(int)+444>:\\ts_sleep 1\\n   0x7f6a01c0 <k(int)+448>:\\ts_branch 65529','snapshot':'%s'}", AT(ago), kernel, read, kernel, id);
	FEED(&s->model, "{'t':%lld,'node':'n1','kind':'gdb_stack','pid':4103,'thread':'LWP 4103','frames':['0x00007f in rocr::core::InterruptSignal::WaitRelaxed () from libhsa',"
		"'0x00007f in hip::ihipMemcpy () from libamdhip64','0x00007f in hipMemcpyWithStream (a=1) from libamdhip64',"
		"'0x00007f in at::native::_local_scalar_dense_cuda(at::Tensor const&) () from libtorch_hip','0x0000 in main ()'],'snapshot':'%s'}", AT(ago), id);
}

#endif
