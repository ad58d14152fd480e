/* proc_tree.c - scanning and telling roles and ranks. */
#include "config.h"

#include "source/proc_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define CMDLINE_MAX 4096
#define ENVIRON_MAX (128 * 1024)
#define DEPTH_MAX 8

/* Compiled patterns of one profile. */
struct matcher {
	const struct profile *profile;
	struct pattern **api, **engine, **worker, **helper, **spawn; /* NULL at the end of each */
};

const char *role_word(enum role role)
{
	static const char *const word[] = { "", "api", "engine", "worker", "helper" };

	return word[role];
}

bool proc_read(const char *root, int64_t pid, const char *name, struct buf *out, size_t max)
{
	char path[4096], block[4096];
	ssize_t n;
	int fd;

	if (pid)
		snprintf(path, sizeof path, "%s/%lld/%s", root, (long long)pid, name);
	else
		snprintf(path, sizeof path, "%s/%s", root, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	buf_clear(out);
	while (out->len < max && (n = read(fd, block, sizeof block)) > 0)
		buf_add(out, block, (size_t)n < max - out->len ? (size_t)n : max - out->len);
	close(fd);
	return true;
}

/* --- patterns --- */

static struct pattern **compile_list(const struct profile_list *list, struct error *error, int *failed)
{
	struct pattern **out = mem_array(NULL, (size_t)list->count + 1, sizeof *out);
	int n = 0;

	for (int i = 0; i < list->count; i++) {
		out[n] = pattern_new(list->item[i], error);
		if (out[n])
			n++;
		else
			*failed = -1;
	}
	out[n] = NULL;
	return out;
}

static void free_list(struct pattern **list)
{
	for (int i = 0; list && list[i]; i++)
		pattern_free(list[i]);
	free(list);
}

static bool any_match(struct pattern *const *list, const char *text, struct span *group)
{
	for (int i = 0; list[i]; i++)
		if (pattern_find(list[i], span_of(text), group))
			return true;
	return false;
}

static int64_t boot_time_ms(const char *root)
{
	struct buf text;
	struct span rest, line;
	uint64_t seconds = 0;

	buf_init(&text, 1 << 20);
	if (proc_read(root, 0, "stat", &text, 1 << 20)) {
		rest = buf_as_span(&text);
		while (span_line(&rest, &line))
			if (span_skip(&line, "btime ") && span_uint(line, &seconds))
				break;
	}
	buf_release(&text);
	return (int64_t)seconds * 1000;
}

static void node_process_free(void *value)
{
	struct node_process *p = value;

	free(p->cmdline);
	free(p);
}

int proc_tree_init(struct proc_tree *tree, const char *root, const struct profile_set *profiles, struct error *error)
{
	int failed = 0;

	memset(tree, 0, sizeof *tree);
	tree->root = mem_text(root);
	tree->profiles = profiles;
	map_init(&tree->process, node_process_free);
	tree->hertz = sysconf(_SC_CLK_TCK);
	tree->boot_ms = boot_time_ms(root);
	tree->matcher = mem_alloc(sizeof *tree->matcher * (size_t)(profiles->count + 1));
	for (int i = 0; i < profiles->count; i++) {
		const struct profile *p = profiles->profile[i];
		struct matcher *m = &tree->matcher[i];

		m->profile = p;
		m->api = compile_list(&p->api, error, &failed);
		m->engine = compile_list(&p->engine, error, &failed);
		m->worker = compile_list(&p->worker, error, &failed);
		m->helper = compile_list(&p->helper, error, &failed);
		m->spawn = compile_list(&p->spawn_worker, error, &failed);
	}
	return failed;
}

void proc_tree_release(struct proc_tree *tree)
{
	for (int i = 0; i < tree->profiles->count; i++) {
		free_list(tree->matcher[i].api);
		free_list(tree->matcher[i].engine);
		free_list(tree->matcher[i].worker);
		free_list(tree->matcher[i].helper);
		free_list(tree->matcher[i].spawn);
	}
	free(tree->matcher);
	free(tree->root);
	map_release(&tree->process);
}

int64_t proc_tree_start_ms(const struct proc_tree *tree, int64_t ticks)
{
	return tree->boot_ms + (int64_t)((double)ticks * 1000.0 / (double)tree->hertz);
}

/* --- the table of processes --- */

/* What starts, shows or carries a server's command line without being it. */
static bool is_bystander(const char *cmdline)
{
	static const char *const name[] = { "sh", "bash", "dash", "zsh", "fish", "tmux", "screen", "ssh", "sudo", "su", "grep", "rg", "vim",
		"vi", "nano", "less", "tail", "watch", "hangtop", "gdb", "rocgdb", "strace", "py-spy", "srun", "mpirun", "docker", "timeout",
		"nohup", "setpriv", "env", "tini", "dumb-init", "runc", "ps", "pgrep", "pkill" };
	struct span first = span_sub(span_of(cmdline), 0, strcspn(cmdline, " "));
	long slash = span_find_last(first, '/');

	if (slash >= 0)
		first = span_sub(first, (size_t)slash + 1, first.len);
	for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
		if (span_is(first, name[i]))
			return true;
	return false;
}

static void read_command(struct proc_tree *tree, struct node_process *p)
{
	struct buf raw, words;

	buf_init(&raw, CMDLINE_MAX + 16);
	buf_init(&words, CMDLINE_MAX);
	if (proc_read(tree->root, p->pid, "cmdline", &raw, CMDLINE_MAX)) {
		struct span value;

		proc_cmdline(buf_as_span(&raw), &words);
		p->pipe_handle = proc_pipe_handle(buf_as_span(&words));
		for (int i = 0; i < tree->profiles->count && words.len; i++) {
			const struct profile *profile = tree->profiles->profile[i];
			int64_t port;

			if (p->profile || is_bystander(buf_string(&words)) || !any_match(tree->matcher[i].api, buf_string(&words), NULL))
				continue;
			p->profile = profile;
			for (int k = 0; k < profile->port_option.count; k++)
				if (proc_cmdline_option(buf_as_span(&raw), profile->port_option.item[k], &value) && span_int(value, &port) &&
					port > 0 && port < 65536)
					p->port = (int)port;
		}
	}
	free(p->cmdline);
	p->cmdline = words.len ? mem_text(buf_string(&words)) : NULL;
	buf_release(&raw);
	buf_release(&words);
}

static bool read_process(struct proc_tree *tree, struct node_process *p)
{
	struct proc_stat stat;
	struct buf text;
	bool ok;

	buf_init(&text, 4096);
	ok = proc_read(tree->root, p->pid, "stat", &text, 4095) && proc_stat_parse(buf_as_span(&text), &stat);
	buf_release(&text);
	if (!ok)
		return false;
	p->ppid = stat.ppid;
	p->start_ticks = stat.start;
	memcpy(p->comm, stat.comm, sizeof p->comm);
	read_command(tree, p);
	return true;
}

static void see(struct proc_tree *tree, int dir, const char *name)
{
	struct node_process *p = map_get(&tree->process, name);
	struct stat st;

	if (fstatat(dir, name, &st, 0) < 0)
		return;
	if (p && p->inode == st.st_ino) {
		p->mark = tree->mark;
		/* A server's process may be renamed (setproctitle) after it was first seen. */
		if (p->depth >= 0)
			read_process(tree, p);
		return;
	}
	p = mem_alloc(sizeof *p);
	p->pid = strtoll(name, NULL, 10);
	p->inode = st.st_ino;
	p->mark = tree->mark;
	p->pipe_handle = -1;
	p->depth = -1;
	if (read_process(tree, p))
		map_set(&tree->process, name, p);
	else
		node_process_free(p);
}

static void scan_table(struct proc_tree *tree)
{
	DIR *dir = opendir(tree->root);
	struct dirent *entry;

	tree->mark++;
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			see(tree, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < tree->process.count;) {
		struct node_process *p = tree->process.entry[i].value;

		if (p->mark == tree->mark) {
			i++;
			continue;
		}
		if (p == tree->api)
			tree->api = NULL;
		map_remove(&tree->process, tree->process.entry[i].key);
	}
}

/* --- the tree below the api process --- */

static struct node_process *by_pid(const struct proc_tree *tree, int64_t pid)
{
	char key[24];

	snprintf(key, sizeof key, "%lld", (long long)pid);
	return map_get(&tree->process, key);
}

#define EACH_PROCESS(tree, p) \
	for (size_t each_i = 0; each_i < (tree)->process.count; each_i++) \
		for (struct node_process *p = (tree)->process.entry[each_i].value; p; p = NULL)

static int count_below(const struct proc_tree *tree, int64_t pid)
{
	int n = 0;

	EACH_PROCESS(tree, p)
		n += p->ppid == pid;
	return n;
}

/* The api process: with the most children, else the oldest. A launcher that starts another api process is not it. */
static struct node_process *choose_api(const struct proc_tree *tree, const char *engine)
{
	struct node_process *best = NULL;
	int best_below = -1;

	EACH_PROCESS(tree, p) {
		int below;

		if (!p->profile || (engine && strcmp(p->profile->name, engine) != 0))
			continue;
		below = count_below(tree, p->pid);
		if (below > best_below || (below == best_below && p->start_ticks < best->start_ticks)) {
			best = p;
			best_below = below;
		}
	}
	return best;
}

static void measure_depth(struct proc_tree *tree)
{
	EACH_PROCESS(tree, p) {
		p->depth = p == tree->api ? 0 : -1;
		p->role = ROLE_NONE;
		p->rank[0] = 0;
		p->how = NULL;
	}
	for (int depth = 1; tree->api && depth <= DEPTH_MAX; depth++)
		EACH_PROCESS(tree, p) {
			struct node_process *parent = p->depth < 0 ? by_pid(tree, p->ppid) : NULL;

			if (parent && parent->depth == depth - 1)
				p->depth = depth;
		}
}

/* --- roles and ranks --- */

static const struct matcher *matcher_of(const struct proc_tree *tree)
{
	for (int i = 0; i < tree->profiles->count; i++)
		if (tree->matcher[i].profile == tree->profile)
			return &tree->matcher[i];
	return NULL;
}

/* "_DP1_TP3", "DP1TP3", "TP3", "3" -> "DP1_TP3", "DP1_TP3", "TP3", "3". */
static void normal_rank(struct span text, char *out, size_t size)
{
	size_t n = 0;
	bool digit_before = false;

	for (size_t i = 0; i < text.len && n + 2 < size; i++) {
		char c = text.at[i];

		if (!isalnum((unsigned char)c))
			continue;
		if (isalpha((unsigned char)c) && digit_before)
			out[n++] = '_';
		out[n++] = c;
		digit_before = isdigit((unsigned char)c);
	}
	out[n] = 0;
}

static bool is_spawned(const struct matcher *m, const struct node_process *p)
{
	if (!p->cmdline)
		return false;
	if (m && m->spawn[0])
		return any_match(m->spawn, p->cmdline, NULL);
	return p->pipe_handle >= 0;
}

static bool has_spawned_child(const struct proc_tree *tree, const struct matcher *m, int64_t pid)
{
	EACH_PROCESS(tree, p)
		if (p->ppid == pid && is_spawned(m, p))
			return true;
	return false;
}

static void role_by_title(struct proc_tree *tree, const struct matcher *m, struct node_process *p)
{
	struct node_process *parent = by_pid(tree, p->ppid);
	struct span group;

	if (!m || !p->cmdline)
		return;
	if (any_match(m->worker, p->cmdline, &group)) {
		/* A forked child keeps its parent's title. */
		if (parent && parent->cmdline && strcmp(parent->cmdline, p->cmdline) == 0 && parent->depth > 0) {
			p->role = ROLE_HELPER;
			return;
		}
		p->role = ROLE_WORKER;
		if (group.len) {
			normal_rank(group, p->rank, sizeof p->rank);
			p->how = "title";
		}
	} else if (any_match(m->engine, p->cmdline, NULL)) {
		p->role = ROLE_ENGINE;
	} else if (any_match(m->helper, p->cmdline, NULL)) {
		p->role = ROLE_HELPER;
	}
}

/* Without titles: a spawned process with spawned children gives work, one below it does it. */
static void role_by_place(struct proc_tree *tree, const struct matcher *m, struct node_process *p)
{
	struct node_process *parent = by_pid(tree, p->ppid);

	if (p->role != ROLE_NONE)
		return;
	p->role = ROLE_HELPER;
	if (!is_spawned(m, p))
		return;
	if (has_spawned_child(tree, m, p->pid))
		p->role = ROLE_ENGINE;
	else if (p->depth > 1 && parent && (parent->role == ROLE_ENGINE || is_spawned(m, parent)))
		p->role = ROLE_WORKER;
	else if (p->depth == 1)
		p->role = m && (m->engine[0] || m->worker[0]) && strcmp(m->profile->name, "torchrun") != 0 ? ROLE_ENGINE : ROLE_WORKER;
}

static bool rank_of_environ(struct proc_tree *tree, int64_t pid, char *out, size_t size)
{
	static const char *const name[] = { "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK" };
	struct buf text;
	bool found = false;

	buf_init(&text, ENVIRON_MAX);
	if (proc_read(tree->root, pid, "environ", &text, ENVIRON_MAX))
		for (size_t i = 0; i < sizeof name / sizeof name[0] && !found; i++) {
			struct span value;
			uint64_t number;

			found = proc_environ_get(buf_as_span(&text), name[i], &value) && span_uint(value, &number);
			if (found)
				snprintf(out, size, "%llu", (unsigned long long)number);
		}
	buf_release(&text);
	return found;
}

/* RANK is inherited by helpers of a worker: it counts where the parent does not have the same. */
static void rank_by_environ(struct proc_tree *tree, struct node_process *p, bool adopt)
{
	char mine[32], parents[32];

	if (p->rank[0] || (p->role != ROLE_WORKER && !adopt) || !rank_of_environ(tree, p->pid, mine, sizeof mine))
		return;
	if (rank_of_environ(tree, p->ppid, parents, sizeof parents) && strcmp(mine, parents) == 0) {
		if (p->role == ROLE_WORKER && adopt)
			p->role = ROLE_HELPER;
		return;
	}
	p->role = ROLE_WORKER;
	snprintf(p->rank, sizeof p->rank, "%s", mine);
	p->how = "environ";
}

static bool spawned_before(const struct node_process *a, const struct node_process *b)
{
	if (a->pipe_handle >= 0 && b->pipe_handle >= 0 && a->pipe_handle != b->pipe_handle)
		return a->pipe_handle < b->pipe_handle;
	if (a->start_ticks != b->start_ticks)
		return a->start_ticks < b->start_ticks;
	return a->pid < b->pid;
}

static void rank_by_order(struct proc_tree *tree)
{
	EACH_PROCESS(tree, p) {
		int before = 0;

		if (p->depth < 0 || p->role != ROLE_WORKER || p->rank[0])
			continue;
		for (size_t i = 0; i < tree->process.count; i++) {
			const struct node_process *q = tree->process.entry[i].value;

			if (q != p && q->role == ROLE_WORKER && q->ppid == p->ppid && q->depth >= 0 && spawned_before(q, p))
				before++;
		}
		snprintf(p->rank, sizeof p->rank, "%d", before);
		p->how = p->pipe_handle >= 0 ? "spawn-order" : "start-order";
	}
}

/* An unknown server (--pid, no profile): its children that look alike are its workers. */
static void roles_of_unknown(struct proc_tree *tree)
{
	EACH_PROCESS(tree, p)
		if (p->depth >= 1 && p->role == ROLE_HELPER && p->cmdline && strstr(p->cmdline, "python") &&
			!strstr(p->cmdline, "resource_tracker") && !has_spawned_child(tree, NULL, p->pid) && p->depth == 1)
			p->role = ROLE_WORKER;
}

static void tell_roles(struct proc_tree *tree)
{
	const struct matcher *m = matcher_of(tree);
	bool adopt = !m || !m->worker[0] || strcmp(m->profile->name, "torchrun") == 0;

	EACH_PROCESS(tree, p)
		if (p->depth > 0)
			role_by_title(tree, m, p);
	EACH_PROCESS(tree, p)
		if (p->depth > 0)
			role_by_place(tree, m, p);
	if (!m)
		roles_of_unknown(tree);
	EACH_PROCESS(tree, p)
		if (p->depth > 0)
			rank_by_environ(tree, p, adopt);
	if (tree->api)
		tree->api->role = ROLE_API;
	rank_by_order(tree);
}

void proc_tree_scan(struct proc_tree *tree, int64_t pid, const char *engine)
{
	scan_table(tree);
	tree->api = pid ? by_pid(tree, pid) : choose_api(tree, engine);
	tree->profile = NULL;
	if (engine)
		tree->profile = profile_find(tree->profiles, engine);
	if (!tree->profile && tree->api)
		tree->profile = tree->api->profile;
	measure_depth(tree);
	tell_roles(tree);
}
