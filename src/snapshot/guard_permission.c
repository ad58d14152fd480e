/* guard_permission.c - the checks of what the kernel will let us do: ptrace(2), "Ptrace access mode checking".
 *
 * It compares our real ids, and the capabilities that the debugger has behind its exec, with those of the target; then yama has
 * its say. An attach that is refused does no harm, but a key that cannot work should say so before it asks for a confirmation.
 */
#include "config.h"

#include "snapshot/guard.h"

#include <inttypes.h>

#include "snapshot/guard_private.h"

void guard_check_pid_namespace(const struct guard_facts *f, struct guard_row *row)
{
	if (f->proc_is_outer == 1) {
		guard_say(row, GUARD_REFUSED, "/proc here counts the pids of a namespace above ours: a debugger would attach to another process %" PRId64,
			f->pid);
		guard_mend(row, "run hangtop on the host, or with its own /proc: docker run --pid=host");
	} else if (f->namespaces > 0) {
		guard_say(row, GUARD_UNKNOWN, "in a container (pid %" PRId64 " inside): symbols come through its root, and may be missing", f->inner_pid);
		guard_mend(row, "if frames have no names, run hangtop inside: nsenter -t %" PRId64 " -a hangtop", f->pid);
	} else if (f->namespaces < 0) {
		guard_say(row, GUARD_UNKNOWN, "pid namespace cannot be read");
	} else {
		guard_say(row, GUARD_OK, "in our pid namespace");
	}
}

void guard_check_user_namespace(const struct guard_facts *f, struct guard_row *row)
{
	if (f->same_user_namespace == 1)
		return guard_say(row, GUARD_OK, "in our user namespace");
	if (f->same_user_namespace < 0)
		return guard_say(row, GUARD_UNKNOWN, "user namespace cannot be read");
	if (f->ptrace_capable == 1 && f->initial_user_namespace == 1)
		return guard_say(row, GUARD_OK, "in another user namespace; ours is the host's, and we have CAP_SYS_PTRACE");
	if (f->ptrace_capable != 0 || (f->uid >= 0 && f->uid == f->our_uid)) {
		guard_say(row, GUARD_UNKNOWN, "in another user namespace: allowed only when that one was made by us or below ours");
		return;
	}
	guard_say(row, GUARD_REFUSED, "in another user namespace (rootless container), of another user");
	guard_mend(row, "run hangtop as root on the host, or inside the container");
}

static void mend_capability(const struct guard_facts *f, struct guard_row *row)
{
	if (f->our_uid == 0)
		guard_mend(row, "start the container with --cap-add=SYS_PTRACE, or run hangtop on the host");
	else
		guard_mend(row, "sudo hangtop");
}

void guard_check_owner(const struct guard_facts *f, struct guard_row *row)
{
	if (f->ptrace_capable == 1)
		return guard_say(row, GUARD_OK, "we have CAP_SYS_PTRACE");
	if (f->maps_denied == 1)
		guard_say(row, GUARD_REFUSED, "the kernel does not let us read its memory map (another user, or not dumpable), and we lack CAP_SYS_PTRACE");
	else if (f->uid == -1 || f->our_uid == -1)
		return guard_say(row, GUARD_UNKNOWN, "its user or ours cannot be read");
	else if (f->ptrace_capable < 0 && f->uid != f->our_uid)
		return guard_say(row, GUARD_UNKNOWN, "of uid %" PRId64 ", we are %" PRId64 "; our capabilities cannot be read", f->uid, f->our_uid);
	else if (f->uid == -2)
		guard_say(row, GUARD_REFUSED, "its real, effective and saved user differ, and we lack CAP_SYS_PTRACE");
	else if (f->uid != f->our_uid)
		guard_say(row, GUARD_REFUSED, "it belongs to uid %" PRId64 ", we are %" PRId64 " without CAP_SYS_PTRACE", f->uid, f->our_uid);
	else if (f->same_group == 0)
		guard_say(row, GUARD_REFUSED, "its group is not ours, and we lack CAP_SYS_PTRACE");
	else
		return guard_say(row, GUARD_OK, "uid %" PRId64 ", as we", f->uid);
	mend_capability(f, row);
}

void guard_check_capabilities(const struct guard_facts *f, struct guard_row *row)
{
	if (f->ptrace_capable == 1)
		return guard_say(row, GUARD_OK, "CAP_SYS_PTRACE");
	if (f->ptrace_capable < 0 || f->caps_within < 0)
		return guard_say(row, GUARD_UNKNOWN, "capabilities cannot be read");
	if (f->caps_within == 1)
		return guard_say(row, GUARD_OK, "it has no capability that we lack");
	guard_say(row, GUARD_REFUSED, "it has capabilities that we lack, and we lack CAP_SYS_PTRACE");
	mend_capability(f, row);
}

/* Being our descendant does not help: yama asks for one of the debugger, which is a sibling of the target. */
static void check_yama_relational(const struct guard_facts *f, struct guard_row *row)
{
	if (f->ours == 1)
		return guard_say(row, GUARD_UNKNOWN, "yama 1: started by us, yet it must have named us as its tracer (PR_SET_PTRACER), or the attach fails");
	if (f->ptrace_capable < 0)
		return guard_say(row, GUARD_UNKNOWN, "yama 1: allowed only with CAP_SYS_PTRACE, and our capabilities cannot be read");
	guard_say(row, GUARD_REFUSED, "yama 1: only descendants of the debugger may be traced without CAP_SYS_PTRACE");
}

void guard_check_yama(const struct guard_facts *f, struct guard_row *row)
{
	if (f->yama < 0)
		return guard_say(row, GUARD_OK, "no yama in this kernel");
	if (f->yama == 3) {
		guard_say(row, GUARD_REFUSED, "yama 3: nobody may attach until the next boot");
		return guard_mend(row, "kernel.yama.ptrace_scope = 0 in /etc/sysctl.d, then boot");
	}
	if (f->yama == 0 || f->ptrace_capable == 1)
		return guard_say(row, GUARD_OK, "yama %d%s", f->yama, f->yama ? ", and we have CAP_SYS_PTRACE" : "");
	if (f->yama == 1)
		check_yama_relational(f, row);
	else if (f->ptrace_capable < 0)
		guard_say(row, GUARD_UNKNOWN, "yama 2: allowed only with CAP_SYS_PTRACE, and our capabilities cannot be read");
	else
		guard_say(row, GUARD_REFUSED, "yama 2: only with CAP_SYS_PTRACE");
	if (row->state == GUARD_REFUSED)
		guard_mend(row, "%ssysctl kernel.yama.ptrace_scope=0", f->our_uid == 0 ? "on the host: " : "sudo ");
}
