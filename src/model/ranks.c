/* ranks.c - workers in rank order, folded into stack classes. */
#include "config.h"

#include "model/ranks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* --- folding names: TP0 TP1 TP3 -> TP[0-1,3] --- */

/* Split "DP1_TP3" into its head "DP1_TP" and the number 3. */
static bool split_name(const char *name, size_t *head, long *number)
{
	size_t n = strlen(name);

	while (n > 0 && isdigit((unsigned char)name[n - 1]))
		n--;
	if (name[n] == 0 || strlen(name) - n > 9)
		return false;
	*head = n;
	*number = strtol(name + n, NULL, 10);
	return true;
}

/* How many of member[from..] share the head of the first. */
static int same_head(const struct rank *rank, const int *member, int count, int from, size_t head)
{
	int n = 1;
	size_t other;
	long number;

	while (from + n < count) {
		const char *name = rank[member[from + n]].name;

		if (!split_name(name, &other, &number) || other != head ||
			memcmp(name, rank[member[from]].name, head) != 0)
			break;
		n++;
	}
	return n;
}

static void fold_numbers(const struct rank *rank, const int *member, int count, size_t head, struct buf *out)
{
	for (int i = 0; i < count;) {
		int run = 1;
		long first = strtol(rank[member[i]].name + head, NULL, 10);

		while (i + run < count && strtol(rank[member[i + run]].name + head, NULL, 10) == first + run)
			run++;
		buf_printf(out, "%s%ld", i ? "," : "", first);
		if (run > 1)
			buf_printf(out, "%c%ld", run > 2 ? '-' : ',', first + run - 1);
		i += run;
	}
}

void ranks_fold(const struct rank *rank, const int *member, int count, char *out, size_t size)
{
	struct buf text;

	buf_init(&text, 64 * 1024);
	for (int i = 0; i < count;) {
		const char *name = rank[member[i]].name;
		size_t head;
		long number;
		int n = 1;

		if (i)
			buf_char(&text, ' ');
		if (split_name(name, &head, &number))
			n = same_head(rank, member, count, i, head);
		if (n == 1) {
			buf_text(&text, name);
		} else {
			buf_add(&text, name, head);
			buf_char(&text, '[');
			fold_numbers(rank, member + i, n, head, &text);
			buf_char(&text, ']');
		}
		i += n;
	}
	snprintf(out, size, "%s", buf_string(&text));
	if (text.len >= size && size > 4)
		memcpy(out + size - 4, "...", 4);
	buf_release(&text);
}

/* --- collecting --- */

static int order_of(const char *name)
{
	long order = 0;

	for (const char *c = name; *c;) {
		if (isdigit((unsigned char)*c)) {
			char *end;
			long n = strtol(c, &end, 10);

			order = (order * 1024 + (n < 1024 ? n : 1023)) % 1000000000;
			c = end;
		} else {
			c++;
		}
	}
	return (int)order;
}

static void name_rank(struct rank *r, int64_t pid)
{
	struct span text;

	if (observation_get_text(r->process, PROCESS_rank, &text) && text.len && text.len < sizeof r->name) {
		memcpy(r->name, text.at, text.len);
		r->name[text.len] = 0;
		r->order = order_of(r->name);
	} else {
		snprintf(r->name, sizeof r->name, "pid %lld", (long long)pid);
		r->order = 1000000000 + (int)(pid % 1000000000);
	}
}

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int64_t p = 0, q = 0;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	observation_get_int(x->process, PROCESS_start, &p);
	observation_get_int(y->process, PROCESS_start, &q);
	return p < q ? -1 : p > q;
}

static void collect(struct ranks *out, const struct model *m, const char *role)
{
	int64_t since = model_run_start(m), start, pid, ended;
	const struct observation *o;
	size_t at = 0;
	char key[160];

	out->count = 0;
	while ((o = model_next(m, KIND_process, &at)) && out->count < RANKS_MAX) {
		struct rank *r = &out->rank[out->count];

		if (!observation_text_is(o, PROCESS_role, role) || !observation_get_int(o, PROCESS_pid, &pid))
			continue;
		if (observation_get_int(o, PROCESS_start, &start) && start + 1000 < since)
			continue;
		memset(r, 0, sizeof *r);
		r->process = o;
		r->class = -1;
		name_rank(r, pid);
		snprintf(key, sizeof key, "%.120s/process_sample/%lld", o->node, (long long)pid);
		r->sample = model_latest(m, key);
		r->ended = observation_get_int(o, PROCESS_ended, &ended) && ended;
		if (!r->ended)
			r->stack = model_stack(m, o->node, pid);
		out->count++;
	}
	qsort(out->rank, (size_t)out->count, sizeof out->rank[0], compare_ranks);
}

/* --- classes --- */

static void put_in_class(struct ranks *out, int i)
{
	const struct stack_pair *stack = out->rank[i].stack;
	struct stack_class *c;
	int k = 0;

	while (k < out->classes &&
		out->rank[out->class[k].members[0]].stack->summary.print != stack->summary.print)
		k++;
	if (k == CLASSES_MAX)
		return;
	c = &out->class[k];
	if (k == out->classes) {
		out->classes++;
		c->count = 0;
		c->odd = false;
		c->wait = stack->summary.wait;
		memcpy(c->top, stack->summary.top, sizeof c->top);
		memcpy(c->where, stack->summary.where, sizeof c->where);
		c->same_since = stack->same_since;
		c->same_count = (int)stack->same_count;
	}
	c->members[c->count++] = i;
	if (stack->same_since > c->same_since)
		c->same_since = stack->same_since;
	if (stack->same_count < c->same_count)
		c->same_count = (int)stack->same_count;
}

static bool waits_for_gpu(enum wait_kind wait)
{
	return wait == WAIT_GPU || wait == WAIT_COLLECTIVE;
}

/* Outside the largest class; between equal ones those that do not wait for the GPU. */
static void find_odd(struct ranks *out)
{
	int largest = 0, ties = 0, waiting = -1;

	for (int i = 0; i < out->classes; i++)
		if (out->class[i].count > largest)
			largest = out->class[i].count;
	for (int i = 0; i < out->classes; i++)
		if (out->class[i].count == largest) {
			ties++;
			if (waits_for_gpu(out->class[i].wait))
				waiting = i;
		}
	for (int i = 0; i < out->classes; i++) {
		if (ties > 1)
			out->class[i].odd = waiting >= 0 && !waits_for_gpu(out->class[i].wait);
		else
			out->class[i].odd = out->class[i].count < largest;
	}
}

static int compare_classes(const void *a, const void *b)
{
	const struct stack_class *x = a, *y = b;

	if (x->odd != y->odd)
		return x->odd ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->members[0] - y->members[0];
}

/* --- whose GPU --- */

static struct rank *rank_of_pid(struct ranks *ranks, const struct observation *of)
{
	int64_t pid, mine;

	if (!observation_get_int(of, GPU_PROCESS_pid, &pid))
		return NULL;
	for (int i = 0; i < ranks->count; i++) {
		struct rank *r = &ranks->rank[i];

		if (!r->ended && observation_get_int(r->process, PROCESS_pid, &mine) && mine == pid &&
			strcmp(r->process->node, of->node) == 0)
			return r;
	}
	return NULL;
}

/* The GPU that holds most of its memory: a rank opens every GPU of the node, and allocates on one. */
static void find_gpus(struct ranks *out, const struct model *m)
{
	static int64_t most[RANKS_MAX];
	const struct observation *o;
	size_t at = 0;

	for (int i = 0; i < out->count; i++) {
		most[i] = -1;
		out->rank[i].gpu = -1;
		observation_get_int(out->rank[i].process, PROCESS_gpu, &out->rank[i].gpu);
	}
	while ((o = model_next(m, KIND_gpu_process, &at))) {
		struct rank *r = rank_of_pid(out, o);
		int64_t gpu, vram = 0;

		if (!r || !observation_is_null(r->process, PROCESS_gpu) || !observation_get_int(o, GPU_PROCESS_gpu, &gpu) || gpu < 0)
			continue;
		observation_get_int(o, GPU_PROCESS_vram, &vram);
		if (vram > most[r - out->rank]) {
			most[r - out->rank] = vram;
			r->gpu = gpu;
		}
	}
}

void ranks_build(struct ranks *out, const struct model *m)
{
	collect(out, m, "worker");
	if (!out->count)
		collect(out, m, "engine"); /* one GPU: the engine core does the work itself */
	find_gpus(out, m);
	out->classes = out->with_stack = 0;
	out->oldest_stack = out->newest_stack = 0;
	for (int i = 0; i < out->count; i++) {
		const struct stack_pair *stack = out->rank[i].stack;

		if (!stack)
			continue;
		out->with_stack++;
		if (!out->oldest_stack || stack->last->o.t < out->oldest_stack)
			out->oldest_stack = stack->last->o.t;
		if (stack->last->o.t > out->newest_stack)
			out->newest_stack = stack->last->o.t;
		put_in_class(out, i);
	}
	find_odd(out);
	if (out->classes > 1)
		qsort(out->class, (size_t)out->classes, sizeof out->class[0], compare_classes);
	for (int k = 0; k < out->classes; k++) {
		struct stack_class *c = &out->class[k];

		ranks_fold(out->rank, c->members, c->count, c->ranges, sizeof c->ranges);
		for (int i = 0; i < c->count; i++)
			out->rank[c->members[i]].class = k;
	}
}

const struct rank *ranks_suspect(const struct ranks *ranks)
{
	const struct rank *best = NULL;

	for (int i = 0; i < ranks->count; i++) {
		const struct rank *r = &ranks->rank[i];
		bool odd = r->class >= 0 && ranks->class[r->class].odd;
		int64_t since = r->stack ? r->stack->same_since : 0;

		if (r->ended)
			continue;
		if (odd)
			return r;
		if (!best || (since && (!best->stack || since < best->stack->same_since)))
			best = r;
	}
	return best;
}

const struct rank *ranks_by_pid(const struct ranks *ranks, int64_t pid)
{
	int64_t of;

	for (int i = 0; i < ranks->count; i++)
		if (observation_get_int(ranks->rank[i].process, PROCESS_pid, &of) && of == pid)
			return &ranks->rank[i];
	return NULL;
}
