/* evidence_find.c - the search for the server, its table, and the way round a search that hangs. */
#include "config.h"

#include "app/evidence_find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "app/evidence_mask.h"
#include "app/evidence_read.h"
#include "base/text.h"
#include "source/proc_tree.h"

#define ALL_MAX 32768           /* processes of a node, for the family */

void evidence_process_folder(const struct evidence_process *p, char *out, size_t size)
{
	int n = snprintf(out, size, "process/%lld%s%s%s%s", (long long)p->pid, *p->role ? "-" : "", p->role, *p->rank ? "-" : "", p->rank);

	for (int i = 8; i < n && (size_t)i < size - 1; i++)
		if (!isalnum((unsigned char)out[i]) && !strchr("-_.", out[i]))
			out[i] = '_';
}

int find_init(struct find *f, const struct app_options *options, const struct profile_set *profiles)
{
	memset(f, 0, sizeof *f);
	f->options = options;
	f->profiles = profiles;
	f->tree = mmap(NULL, sizeof *f->tree, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (f->tree == MAP_FAILED)
		f->tree = NULL;
	return f->tree ? 0 : -1;
}

void find_release(struct find *f)
{
	if (f->tree)
		munmap(f->tree, sizeof *f->tree);
}

/* --- in the child --- */

static void say_process(struct reading *r, const struct node_process *p, const char *profile)
{
	struct buf masked, clean;

	buf_init(&masked, 0);
	buf_init(&clean, 0);
	evidence_mask_text(&masked, span_of(p->cmdline));
	text_scrub(&clean, buf_as_span(&masked));
	reading_printf(r, "%lld\t%lld\t%s\t%s\t%c\t%lld\t%s\t", (long long)p->pid, (long long)p->ppid, *role_word(p->role) ? role_word(p->role) : "-",
		*p->rank ? p->rank : "-", p->state, (long long)p->start_ticks, profile ? profile : "-");
	reading_say(r, buf_string(&clean), clean.len);
	reading_say(r, "\n", 1);
	buf_release(&masked);
	buf_release(&clean);
}

static void read_processes(struct reading *r, const struct item *item)
{
	const struct find *f = item->context;
	const struct source_options *o = &f->options->source;
	struct error error;

	proc_tree_init(f->tree, o->proc_root, f->profiles, &error);
	proc_tree_scan(f->tree, o->pid, o->engine);
	reading_printf(r, "# pid\tparent\trole\trank\tstate\tstart ticks\tprofile\tcommand\n");
	EACH_PROCESS(f->tree, p)
		if (p->depth >= 0)
			say_process(r, p, f->tree->profile ? f->tree->profile->name : NULL);
	if (!f->tree->api)
		reading_end(r, EVIDENCE_NONE, "no model server was found");
}

void find_item(struct find *f, struct item *item)
{
	snprintf(item->path, sizeof item->path, "process/list.txt");
	snprintf(item->from, sizeof item->from, "%s", f->options->source.proc_root);
	item->read = read_processes;
	item->context = f;
}

/* --- the table --- */

static int order_of(const char *role)
{
	static const char *const order[] = { "worker", "engine", "api", "", "helper" };

	for (int i = 0; i < 5; i++)
		if (strcmp(role, order[i]) == 0)
			return i;
	return 5;
}

static int by_role(const void *a, const void *b)
{
	const struct evidence_process *x = a, *y = b;
	int order = order_of(x->role) - order_of(y->role);

	return order ? order : x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void keep(char *out, size_t size, struct span text)
{
	snprintf(out, size, "%.*s", span_is(text, "-") ? 0 : (int)(text.len < size ? text.len : size), text.at);
}

static bool take_line(struct find *f, struct span line)
{
	struct evidence_process *p = &f->process[f->count];
	struct span field[7];

	memset(p, 0, sizeof *p);
	for (int i = 0; i < 7; i++)
		if (!span_cut(&line, '\t', &field[i]))
			return false;
	if (!span_int(field[0], &p->pid) || !span_int(field[1], &p->ppid) || !span_int(field[5], &p->start_ticks) || !field[4].len)
		return false;
	keep(p->role, sizeof p->role, field[2]);
	keep(p->rank, sizeof p->rank, field[3]);
	keep(p->command, sizeof p->command, line);
	p->state = field[4].at[0];
	p->python = strcmp(p->role, "helper") != 0 || span_contains(line, "python");
	if (strcmp(p->role, "api") == 0) {
		char name[64];

		f->api_pid = p->pid;
		f->api_start = p->start_ticks;
		keep(name, sizeof name, field[6]);
		f->profile = *name ? profile_find(f->profiles, name) : NULL;
	}
	f->count++;
	return true;
}

void find_take(struct find *f, struct span text)
{
	struct span line;

	while (span_line(&text, &line) && f->count < EVIDENCE_PROCESSES_MAX)
		if (!span_starts(line, "#"))
			take_line(f, line);
	qsort(f->process, (size_t)f->count, sizeof *f->process, by_role);
}

/* --- the family --- */

struct table {
	struct proc_stat *at;
	size_t count;
};

static void read_table(const char *root, struct table *t)
{
	DIR *dir = opendir(root);
	struct buf text;

	t->at = calloc(ALL_MAX, sizeof *t->at);
	t->count = 0;
	buf_init(&text, 4096);
	for (struct dirent *e; dir && t->at && t->count < ALL_MAX && (e = readdir(dir));)
		if (isdigit((unsigned char)e->d_name[0]) && proc_read(root, strtoll(e->d_name, NULL, 10), "stat", &text, 4095) &&
			proc_stat_parse(buf_as_span(&text), &t->at[t->count]))
			t->count++;
	if (dir)
		closedir(dir);
	buf_release(&text);
}

static const struct proc_stat *in_table(const struct table *t, int64_t pid)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->at[i].pid == pid)
			return &t->at[i];
	return NULL;
}

/* Up to what a shell, a launcher or the system has started. */
static int64_t head_of(const struct table *t, int64_t pid)
{
	for (int depth = 0; depth < PROC_DEPTH_MAX; depth++) {
		const struct proc_stat *p = in_table(t, pid), *parent = p ? in_table(t, p->ppid) : NULL;

		if (!parent || parent->pid <= 1 || proc_is_bystander(parent->comm) || strncmp(parent->comm, "systemd", 7) == 0 ||
			strncmp(parent->comm, "containerd", 10) == 0 || strncmp(parent->comm, "sshd", 4) == 0)
			break;
		pid = parent->pid;
	}
	return pid;
}

static bool is_below(const struct table *t, const struct proc_stat *p, int64_t head)
{
	for (int depth = 0; p && depth <= PROC_DEPTH_MAX; depth++) {
		if (p->pid == head)
			return true;
		p = in_table(t, p->ppid);
	}
	return false;
}

void find_family(struct find *f)
{
	int64_t stuck = proc_tree_at(f->tree), head = f->options->source.pid;
	struct table t;

	read_table(f->options->source.proc_root, &t);
	if (!head)
		head = stuck ? head_of(&t, stuck) : 0;
	for (size_t i = 0; head && i < t.count && f->count < EVIDENCE_PROCESSES_MAX; i++) {
		struct evidence_process *p = &f->process[f->count];

		if (!is_below(&t, &t.at[i], head))
			continue;
		memset(p, 0, sizeof *p);
		p->pid = t.at[i].pid;
		p->ppid = t.at[i].ppid;
		p->start_ticks = t.at[i].start;
		p->state = t.at[i].state;
		p->python = true;
		snprintf(p->comm, sizeof p->comm, "%s", t.at[i].comm);
		snprintf(p->command, sizeof p->command, "(%s)", t.at[i].comm);
		f->count++;
		if (p->pid == head) {
			f->api_pid = p->pid;
			f->api_start = p->start_ticks;
		}
	}
	free(t.at);
}
