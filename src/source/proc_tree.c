/* proc_tree.c - the table of processes, the server's api process in it, and what is below that. */
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
#define ENV_JSON_MAX (64 * 1024)
#define KTHREADD 2              /* parent of the kernel's threads */
#define AGAIN_WITH_SERVER 10    /* one in so many of the other processes is read again in a scan */
#define AGAIN_WITHOUT 2

bool proc_read(const char *root, int64_t pid, const char *name, struct buf *out, size_t max)
{
	char path[4096], block[4096];
	ssize_t n;
	int fd, why;

	if (pid)
		snprintf(path, sizeof path, "%s/%lld/%s", root, (long long)pid, name);
	else
		snprintf(path, sizeof path, "%s/%s", root, name);
	buf_clear(out);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	do { /* what is read here comes whole, or in full blocks: a short one is the last */
		n = read(fd, block, sizeof block);
		if (n > 0)
			buf_add(out, block, (size_t)n < max - out->len ? (size_t)n : max - out->len);
	} while (n == sizeof block && out->len < max);
	why = errno;
	close(fd);
	errno = why;
	return n >= 0 || out->len;
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

bool proc_any_match(struct pattern *const *list, const char *text, struct span *group)
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
	free(p->env);
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
	free(tree->gone);
	free(tree->matcher);
	free(tree->root);
	map_release(&tree->process);
}

int64_t proc_tree_at(const struct proc_tree *tree)
{
	return tree->at;
}

int64_t proc_tree_start_ms(const struct proc_tree *tree, int64_t ticks)
{
	return tree->boot_ms + (int64_t)((double)ticks * 1000.0 / (double)tree->hertz);
}

/* --- the table of processes --- */

bool proc_is_bystander(const char *cmdline)
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

static int port_of(const struct profile *profile, struct span cmdline)
{
	struct span value;
	int64_t port;
	int found = 0;

	for (int i = 0; i < profile->port_option.count; i++)
		if (proc_cmdline_option(cmdline, profile->port_option.item[i], &value) && span_int(value, &port) && port > 0 && port < 65536)
			found = (int)port;
	return found;
}

static void match_profile(struct proc_tree *tree, struct node_process *p, struct span cmdline)
{
	p->profile = NULL;
	p->port = 0;
	for (int i = 0; i < tree->profiles->count && !p->profile; i++)
		if (!proc_is_bystander(p->cmdline) && proc_any_match(tree->matcher[i].api, p->cmdline, NULL)) {
			p->profile = tree->profiles->profile[i];
			p->port = port_of(p->profile, cmdline);
		}
}

static void read_command(struct proc_tree *tree, struct node_process *p)
{
	struct buf raw, words;
	int64_t handle;

	buf_init(&raw, CMDLINE_MAX + 16);
	buf_init(&words, CMDLINE_MAX);
	if (proc_read(tree->root, p->pid, "cmdline", &raw, CMDLINE_MAX))
		proc_cmdline(buf_as_span(&raw), &words);
	/* A process that ends has no command line any more, but is what it was. */
	if (words.len && (!p->cmdline || strcmp(p->cmdline, buf_string(&words)) != 0)) {
		free(p->cmdline);
		p->cmdline = mem_text(buf_string(&words));
		p->env_looked = false;
		handle = proc_pipe_handle(buf_as_span(&words));
		if (handle >= 0) /* a title hides it later */
			p->pipe_handle = handle;
		match_profile(tree, p, buf_as_span(&raw));
	}
	buf_release(&raw);
	buf_release(&words);
}

static bool read_process(struct proc_tree *tree, struct node_process *p)
{
	struct proc_stat stat;
	struct buf text;
	bool ok;

	tree->at = p->pid;
	buf_init(&text, 4096);
	ok = proc_read(tree->root, p->pid, "stat", &text, 4095) && proc_stat_parse(buf_as_span(&text), &stat);
	buf_release(&text);
	if (ok) {
		p->ppid = stat.ppid;
		p->start_ticks = stat.start;
		p->state = stat.state;
		memcpy(p->comm, stat.comm, sizeof p->comm);
		read_command(tree, p);
	}
	tree->at = 0;
	return ok;
}

static struct node_process *node_process_new(const char *name, uint64_t inode)
{
	struct node_process *p = mem_alloc(sizeof *p);

	p->pid = strtoll(name, NULL, 10);
	p->inode = inode;
	p->pipe_handle = -1;
	p->depth = -1;
	for (int i = 0; i < RANK_VARIABLES; i++)
		p->env_rank[i] = -1;
	return p;
}

/* A server's process may be renamed after it was first seen; any other may become a server by exec. */
static bool is_due(const struct proc_tree *tree, const struct node_process *p)
{
	int64_t every = tree->api ? AGAIN_WITH_SERVER : AGAIN_WITHOUT;

	if (p->ppid == KTHREADD || p->pid == KTHREADD)
		return false;
	return p->depth >= 0 || (p->pid + tree->mark) % every == 0;
}

/* True when it is the process we know; else it has been taken out. */
static bool is_known(struct proc_tree *tree, struct node_process *p, const char *name, uint64_t inode)
{
	struct node_process was = *p;

	p->mark = tree->mark;
	if (p->inode == inode && !is_due(tree, p))
		return true;
	if (!read_process(tree, p))
		return true; /* it has just gone: the next scan misses it */
	if (p->start_ticks == was.start_ticks) {
		p->inode = inode; /* a kernel short of memory numbers its folders anew */
		return true;
	}
	if (p == tree->api)
		tree->api = NULL;
	proc_roles_gone(tree, &was);
	map_remove(&tree->process, name);
	return false;
}

static void see(struct proc_tree *tree, int dir, const char *name)
{
	struct node_process *p = map_get(&tree->process, name);
	struct stat st;

	if (fstatat(dir, name, &st, 0) < 0 || (p && is_known(tree, p, name, st.st_ino)))
		return;
	p = node_process_new(name, st.st_ino);
	p->mark = tree->mark;
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
		proc_roles_gone(tree, p);
		map_remove(&tree->process, tree->process.entry[i].key);
	}
}

/* --- the tree below the api process --- */

struct node_process *proc_tree_find(const struct proc_tree *tree, int64_t pid)
{
	char key[24];

	snprintf(key, sizeof key, "%lld", (long long)pid);
	return map_get(&tree->process, key);
}

static int count_below(const struct proc_tree *tree, int64_t pid)
{
	int n = 0;

	EACH_PROCESS(tree, p)
		n += p->ppid == pid;
	return n;
}

static bool is_below(const struct proc_tree *tree, const struct node_process *p, const struct node_process *above)
{
	for (int depth = 0; p && depth < PROC_DEPTH_MAX; depth++) {
		if (p->ppid == above->pid)
			return true;
		p = proc_tree_find(tree, p->ppid);
	}
	return false;
}

static bool is_candidate(const struct node_process *p, const char *engine)
{
	return p->profile && p->state != 'Z' && p->state != 'X' && (!engine || strcmp(p->profile->name, engine) == 0);
}

/* The api process: the one before while it has children, else that with the most children, else the oldest. A launcher that
 * starts another api process is not it. */
static struct node_process *choose_api(const struct proc_tree *tree, struct node_process *before, const char *engine)
{
	struct node_process *best = NULL;
	int best_below = -1;

	EACH_PROCESS(tree, p) {
		int below;

		if (!is_candidate(p, engine))
			continue;
		below = count_below(tree, p->pid);
		if (below > best_below || (below == best_below && p->start_ticks < best->start_ticks)) {
			best = p;
			best_below = below;
		}
	}
	if (best && before && before != best && is_candidate(before, engine) && count_below(tree, before->pid) > 0 &&
		!is_below(tree, best, before))
		return before;
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
	for (int depth = 1; tree->api && depth <= PROC_DEPTH_MAX; depth++)
		EACH_PROCESS(tree, p) {
			struct node_process *parent = p->depth < 0 ? proc_tree_find(tree, p->ppid) : NULL;

			if (parent && parent->depth == depth - 1)
				p->depth = depth;
		}
}

/* --- environment of the server's processes --- */

static void take_environ(struct node_process *p, struct span raw)
{
	/* Only RANK counts on the whole node; a title wipes all of them, then what was read before stays. */
	static const char *const name[RANK_VARIABLES] = { "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "LOCAL_RANK" };
	struct buf json;
	struct span value;

	if (span_find_char(raw, '=') < 0)
		return;
	buf_init(&json, ENV_JSON_MAX);
	proc_environ_chosen(raw, &json);
	free(p->env);
	p->env = mem_text(buf_string(&json));
	buf_release(&json);
	for (int i = 0; i < RANK_VARIABLES; i++)
		if (!proc_environ_get(raw, name[i], &value) || !span_int(value, &p->env_rank[i]))
			p->env_rank[i] = -1;
}

static void read_environments(struct proc_tree *tree)
{
	struct buf raw;

	buf_init(&raw, ENVIRON_MAX);
	EACH_PROCESS(tree, p) {
		if (p->depth < 0 || p->env_looked)
			continue;
		tree->at = p->pid;
		p->env_looked = true;
		p->env_denied = false;
		if (proc_read(tree->root, p->pid, "environ", &raw, ENVIRON_MAX))
			take_environ(p, buf_as_span(&raw));
		else
			p->env_denied = errno == EACCES || errno == EPERM;
	}
	tree->at = 0;
	buf_release(&raw);
}

void proc_tree_scan(struct proc_tree *tree, int64_t pid, const char *engine)
{
	struct node_process *before;

	scan_table(tree);
	before = tree->api;
	tree->api = pid ? proc_tree_find(tree, pid) : choose_api(tree, before, engine);
	if (tree->api != before)
		tree->gone_count = 0;
	tree->profile = NULL;
	if (engine)
		tree->profile = profile_find(tree->profiles, engine);
	if (!tree->profile && tree->api)
		tree->profile = tree->api->profile;
	measure_depth(tree);
	read_environments(tree);
	proc_roles(tree);
}
