/* target.c - what the agent knows of the server. */
#include "config.h"

#include "source/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct target_listener {
	struct target_listener *next;
	void (*changed)(void *);
	void *context;
};

void target_init(struct target *target, const struct profile_set *profiles)
{
	memset(target, 0, sizeof *target);
	target->profiles = profiles;
}

void target_release(struct target *target)
{
	while (target->listener) {
		struct target_listener *next = target->listener->next;

		free(target->listener);
		target->listener = next;
	}
}

void target_listen(struct target *target, void (*changed)(void *), void *context)
{
	struct target_listener *l = mem_alloc(sizeof *l);

	l->changed = changed;
	l->context = context;
	l->next = target->listener;
	target->listener = l;
}

void target_unlisten(struct target *target, void *context)
{
	for (struct target_listener **at = &target->listener; *at;) {
		struct target_listener *l = *at;

		if (l->context == context) {
			*at = l->next;
			free(l);
		} else {
			at = &l->next;
		}
	}
}

void target_changed(struct target *target)
{
	target->version++;
	for (struct target_listener *l = target->listener, *next; l; l = next) {
		next = l->next;
		l->changed(l->context);
	}
}
