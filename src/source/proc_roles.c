/* proc_roles.c - role and rank of each process of the server. */
#include "config.h"

#include "source/proc_tree.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define GONE_MAX 1024

const char *role_word(enum role role)
{
	static const char *const word[] = { "", "api", "engine", "worker", "helper" };

	return word[role];
}

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
		return proc_any_match(m->spawn, p->cmdline, NULL);
	return p->pipe_handle >= 0;
}

static bool has_spawned_child(const struct proc_tree *tree, const struct matcher *m, int64_t pid)
{
	EACH_PROCESS(tree, p)
		if (p->ppid == pid && is_spawned(m, p))
			return true;
	return false;
}

/* A forked child keeps its parent's title until it takes one of its own. */
static bool has_parents_title(const struct proc_tree *tree, const struct node_process *p)
{
	const struct node_process *parent = proc_tree_find(tree, p->ppid);

	return parent && parent->cmdline && parent->depth > 0 && strcmp(parent->cmdline, p->cmdline) == 0;
}

static void role_by_title(struct proc_tree *tree, const struct matcher *m, struct node_process *p)
{
	struct span group;

	if (!m || !p->cmdline)
		return;
	if (proc_any_match(m->worker, p->cmdline, &group)) {
		p->role = has_parents_title(tree, p) ? ROLE_HELPER : ROLE_WORKER;
		if (p->role == ROLE_WORKER && group.len) {
			normal_rank(group, p->rank, sizeof p->rank);
			p->how = "title";
		}
	} else if (proc_any_match(m->engine, p->cmdline, NULL)) {
		p->role = has_parents_title(tree, p) ? ROLE_HELPER : ROLE_ENGINE;
	} else if (proc_any_match(m->helper, p->cmdline, NULL)) {
		p->role = ROLE_HELPER;
	}
}

/* Without titles: a spawned process with spawned children gives work, one below it does it. */
static void role_by_place(struct proc_tree *tree, const struct matcher *m, struct node_process *p)
{
	struct node_process *parent = proc_tree_find(tree, p->ppid);

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
		p->role = m && (m->engine[0] || m->worker[0]) ? ROLE_ENGINE : ROLE_WORKER;
}

/* Shells between a launcher and its rank are not the rank. */
static const struct node_process *parent_of(const struct proc_tree *tree, const struct node_process *p)
{
	const struct node_process *parent = proc_tree_find(tree, p->ppid);

	for (int i = 0; i < PROC_DEPTH_MAX && parent && parent->depth > 0 && parent->cmdline && proc_is_bystander(parent->cmdline); i++)
		parent = proc_tree_find(tree, parent->ppid);
	return parent;
}

/* RANK is inherited: by helpers of a worker, and from what started the server (SLURM_PROCID). It counts where the parent does not
 * have the same. */
static void rank_by_environ(struct proc_tree *tree, struct node_process *p, bool adopt)
{
	const struct node_process *parent = parent_of(tree, p);

	if (p->rank[0] || (p->role != ROLE_WORKER && !adopt) || !p->cmdline || proc_is_bystander(p->cmdline))
		return;
	for (int i = 0; i < RANK_VARIABLES; i++) {
		if (p->env_rank[i] < 0)
			continue;
		if (!parent || parent->env_rank[i] != p->env_rank[i]) {
			p->role = ROLE_WORKER;
			snprintf(p->rank, sizeof p->rank, "%lld", (long long)p->env_rank[i]);
			p->how = "environ";
			return;
		}
		if (i == 0 && adopt && p->role == ROLE_WORKER && parent->depth > 0)
			p->role = ROLE_HELPER;
		if (p->role == ROLE_HELPER)
			return;
	}
}

static struct spawn_place place_of(const struct node_process *p)
{
	return (struct spawn_place){ p->ppid, p->pipe_handle, p->start_ticks, p->pid };
}

static bool spawned_before(struct spawn_place a, struct spawn_place b)
{
	if (a.ppid != b.ppid)
		return false;
	if (a.pipe_handle >= 0 && b.pipe_handle >= 0 && a.pipe_handle != b.pipe_handle)
		return a.pipe_handle < b.pipe_handle;
	if (a.start_ticks != b.start_ticks)
		return a.start_ticks < b.start_ticks;
	return a.pid < b.pid;
}

void proc_roles_gone(struct proc_tree *tree, const struct node_process *p)
{
	if (p->role != ROLE_WORKER || tree->gone_count == GONE_MAX)
		return;
	tree->gone = mem_array(tree->gone, (size_t)tree->gone_count + 1, sizeof *tree->gone);
	tree->gone[tree->gone_count++] = place_of(p);
}

static void rank_by_order(struct proc_tree *tree)
{
	EACH_PROCESS(tree, p) {
		struct spawn_place place = place_of(p);
		int before = 0;

		if (p->depth < 0 || p->role != ROLE_WORKER || p->rank[0])
			continue;
		for (size_t i = 0; i < tree->process.count; i++) {
			const struct node_process *q = tree->process.entry[i].value;

			before += q->role == ROLE_WORKER && q->depth >= 0 && spawned_before(place_of(q), place);
		}
		for (int i = 0; i < tree->gone_count; i++)
			before += spawned_before(tree->gone[i], place);
		snprintf(p->rank, sizeof p->rank, "%d", before);
		p->how = p->pipe_handle >= 0 ? "spawn-order" : "start-order";
	}
}

/* An unknown server (--pid, no profile): its children that look alike are its workers. */
static void roles_of_unknown(struct proc_tree *tree)
{
	EACH_PROCESS(tree, p)
		if (p->depth == 1 && p->role == ROLE_HELPER && p->cmdline && strstr(p->cmdline, "python") &&
			!strstr(p->cmdline, "resource_tracker") && !has_spawned_child(tree, NULL, p->pid))
			p->role = ROLE_WORKER;
}

void proc_roles(struct proc_tree *tree)
{
	const struct matcher *m = matcher_of(tree);
	bool adopt = !m || !m->worker[0];

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

