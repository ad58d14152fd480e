/* doctor_look.c - looks at this node: drivers, permissions, folders, limits, locale. They only read. */
#include "config.h"

#include "app/doctor_look.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <inttypes.h>
#include <jansson.h>
#include <langinfo.h>
#include <ncurses.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <pwd.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <uv.h>

#include "app/paths.h"
#include "app/profiles.h"
#include "base/text.h"
#include "source/http_library.h"
#include "transport/child.h"

#define PATH_SIZE 4400
#define CAP_SYS_PTRACE 19
#define CAP_SYSLOG 34
#define FIRST_PID_NAMESPACE 4026531836u /* fixed in the kernel: PROC_PID_INIT_INO */
#define SPACE_NEEDED (64.0 * 1024 * 1024)
#define SPACE_WISHED (2048.0 * 1024 * 1024)

void answer_set(struct answer *a, enum look look, const char *format, ...)
{
	va_list args;

	a->look = look;
	va_start(args, format);
	vsnprintf(a->text, sizeof a->text, format, args);
	va_end(args);
}

void answer_mend(struct answer *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(a->mend, sizeof a->mend, format, args);
	va_end(args);
}

/* --- helpers --- */

static const char *at(const char *root, const char *path, char *out)
{
	snprintf(out, PATH_SIZE, "%s%s", root, path);
	return out;
}

/* The first bytes of a file, trimmed; false when it cannot be read. */
static bool read_text(const char *root, const char *path, char *out, size_t size)
{
	char full[PATH_SIZE];
	FILE *file = fopen(at(root, path, full), "re");
	size_t n;

	*out = 0;
	if (!file)
		return false;
	n = fread(out, 1, size - 1, file);
	fclose(file);
	while (n > 0 && (out[n - 1] == '\n' || out[n - 1] == ' '))
		n--;
	out[n] = 0;
	return true;
}

static bool there(const char *root, const char *path)
{
	char full[PATH_SIZE];

	return access(at(root, path, full), F_OK) == 0;
}

const char *look_glob(const char *root, const char *patterns, char *out, size_t size)
{
	struct span rest = span_of(patterns), word;
	char full[PATH_SIZE];
	glob_t found;

	*out = 0;
	while (!*out && span_word(&rest, &word)) {
		snprintf(full, sizeof full, "%s%.*s", root, (int)word.len, word.at);
		if (glob(full, 0, NULL, &found) == 0 && found.gl_pathc)
			snprintf(out, size, "%s", found.gl_pathv[found.gl_pathc - 1]); /* the newest version sorts last */
		globfree(&found);
	}
	return out;
}

static const char *sudo(void)
{
	return geteuid() == 0 ? "" : "sudo ";
}

void look_install(const char *const package[MANAGERS], const char *words, struct answer *a)
{
	static const struct { const char *program, *command; } manager[MANAGERS] = {
		[APT] = { "apt-get", "apt-get install" }, [DNF] = { "dnf", "dnf install" },
		[PACMAN] = { "pacman", "pacman -S" }, [APK] = { "apk", "apk add" },
	};

	for (int i = 0; i < MANAGERS; i++) {
		char *found = child_find(manager[i].program);

		free(found);
		if (found && package[i]) {
			answer_mend(a, "%s%s %s", sudo(), manager[i].command, package[i]);
			return;
		}
	}
	answer_mend(a, "%s", words);
}

/* --- the GPU --- */

void look_driver(const char *root, struct answer *a)
{
	char version[100];

	if (there(root, "/sys/module/amdgpu")) {
		bool own = read_text(root, "/sys/module/amdgpu/version", version, sizeof version);

		answer_set(a, LOOK_OK, "amdgpu %s", own ? version : "(the kernel's own)");
	} else if (there(root, "/proc/driver/nvidia/version")) {
		answer_set(a, LOOK_POOR, "nvidia: numbers come from nvidia-smi, once in 10 s");
	} else {
		answer_set(a, LOOK_MISSING, "no amdgpu module on this node");
		answer_mend(a, "%smodprobe amdgpu", sudo());
	}
}

void look_kfd(const char *root, struct answer *a)
{
	char path[PATH_SIZE], user[64] = "$USER";
	struct passwd *pw;
	struct group *group;
	struct stat st;

	if (stat(at(root, "/dev/kfd", path), &st) < 0) {
		answer_set(a, LOOK_MISSING, "no /dev/kfd");
		answer_mend(a, "in a container: start it with --device=/dev/kfd --device=/dev/dri");
		return;
	}
	if (access(path, R_OK | W_OK) == 0) {
		answer_set(a, LOOK_OK, "/dev/kfd can be opened");
		return;
	}
	pw = getpwuid(geteuid());
	if (pw)
		snprintf(user, sizeof user, "%s", pw->pw_name);
	group = getgrgid(st.st_gid);
	answer_set(a, LOOK_FAILED, "/dev/kfd: no permission");
	answer_mend(a, "%susermod -aG %s %s, then log in again", sudo(), group ? group->gr_name : "render", user);
}

void look_debug_agent(const char *root, struct answer *a)
{
	static const char *const package[MANAGERS] = { "rocm-debug-agent", "rocm-debug-agent", NULL, NULL };
	char path[PATH_SIZE];

	if (*look_glob(root, "/opt/rocm*/lib/librocm-debug-agent.so* /usr/lib/*/librocm-debug-agent.so* /usr/lib64/librocm-debug-agent.so*",
		path, sizeof path)) {
		answer_set(a, LOOK_OK, "%.390s", path);
		return;
	}
	answer_set(a, LOOK_MISSING, "librocm-debug-agent.so not found");
	look_install(package, "install rocm-debug-agent from AMD's ROCm packages", a);
}

/* --- permissions --- */

void look_proc(const char *root, struct answer *a)
{
	char text[256];

	if (!read_text(root, "/proc/self/status", text, sizeof text)) {
		answer_set(a, LOOK_FAILED, "/proc cannot be read: %s", strerror(errno));
		answer_mend(a, "%smount -t proc proc /proc", sudo());
	} else if (!read_text(root, "/proc/1/stat", text, sizeof text)) {
		answer_set(a, LOOK_POOR, "processes of other users are hidden (hidepid)");
		answer_mend(a, "%smount -o remount,hidepid=0 /proc", sudo());
	} else {
		answer_set(a, LOOK_OK, "processes of all users can be seen");
	}
}

static uint64_t capabilities(const char *root)
{
	struct span rest, line;
	char text[8192];
	uint64_t mask = 0;

	read_text(root, "/proc/self/status", text, sizeof text);
	rest = span_of(text);
	while (span_line(&rest, &line))
		if (span_skip(&line, "CapEff:")) {
			line = span_trim(line);
			span_take_hex(&line, &mask);
		}
	return mask;
}

static bool capable(const char *root, int capability)
{
	return capabilities(root) >> capability & 1;
}

static void look_capability(const char *root, int capability, const char *name, const char *lost, struct answer *a)
{
	if (capable(root, capability)) {
		answer_set(a, LOOK_OK, "held");
		return;
	}
	answer_set(a, LOOK_POOR, "not held: %s", lost);
	answer_mend(a, geteuid() == 0 ? "start the container with --cap-add=%s" : "run hangtop with sudo, or in a container with --cap-add=%s", name);
}

void look_sys_ptrace(const char *root, struct answer *a)
{
	look_capability(root, CAP_SYS_PTRACE, "SYS_PTRACE", "stacks only of your own processes, where yama allows it", a);
}

void look_syslog(const char *root, struct answer *a)
{
	char restrict_[16];

	if (read_text(root, "/proc/sys/kernel/dmesg_restrict", restrict_, sizeof restrict_) && strcmp(restrict_, "0") == 0) {
		answer_set(a, LOOK_OK, "not needed: everybody may read the kernel log");
		return;
	}
	look_capability(root, CAP_SYSLOG, "SYSLOG", "the kernel log cannot be read", a);
}

void look_yama(const char *root, struct answer *a)
{
	char scope[16];

	if (!read_text(root, "/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope)) {
		answer_set(a, LOOK_OK, "no yama in this kernel");
		return;
	}
	if (strcmp(scope, "0") == 0 || (strcmp(scope, "3") != 0 && capable(root, CAP_SYS_PTRACE))) {
		answer_set(a, LOOK_OK, "ptrace_scope %s", scope);
	} else if (strcmp(scope, "3") == 0) {
		answer_set(a, LOOK_FAILED, "ptrace_scope 3: nobody can take stacks until the next boot");
		answer_mend(a, "set kernel.yama.ptrace_scope = 0 in /etc/sysctl.d and boot again");
	} else {
		answer_set(a, LOOK_FAILED, "ptrace_scope %s: py-spy cannot read the server's stacks", scope);
		answer_mend(a, "%ssysctl kernel.yama.ptrace_scope=0", geteuid() == 0 ? "on the host: " : "sudo ");
	}
}

void look_user(const char *root, struct answer *a)
{
	(void)root;
	if (geteuid() == 0)
		answer_set(a, LOOK_OK, "root");
	else
		answer_set(a, LOOK_POOR, "uid %d: servers of other users show less (no stacks, no environment, no wait channel)", (int)geteuid());
	if (geteuid() != 0)
		answer_mend(a, "run hangtop as the server's user, or with sudo");
}

void look_container(const char *root, struct answer *a)
{
	static const struct { const char *file, *words; } mark[] = {
		{ "/.dockerenv", "docker" }, { "/run/.containerenv", "podman" },
	};
	static const char *const word[] = { "kubepods", "docker", "libpod", "slurm", "lxc" };
	char path[PATH_SIZE], cgroup[2048];
	const char *what = NULL;
	struct stat st;
	bool apart = stat(at(root, "/proc/self/ns/pid", path), &st) == 0 && st.st_ino != FIRST_PID_NAMESPACE;

	for (size_t i = 0; i < sizeof mark / sizeof mark[0] && !what; i++)
		if (there(root, mark[i].file))
			what = mark[i].words;
	read_text(root, "/proc/self/cgroup", cgroup, sizeof cgroup);
	for (size_t i = 0; i < sizeof word / sizeof word[0] && !what; i++)
		if (strstr(cgroup, word[i]))
			what = word[i];
	if (!what && !apart)
		answer_set(a, LOOK_OK, "none: the node's own processes are seen");
	else
		answer_set(a, apart ? LOOK_POOR : LOOK_OK, "%s%s", what ? what : "a namespace",
			apart ? " with process ids of its own: GPU process lists name other ids" : ", process ids are the node's");
	if (apart)
		answer_mend(a, "run hangtop where the server runs (same container), or start it with --pid=host");
}

/* --- the session file --- */

/* The folder itself, or the nearest one above it that exists. */
static void nearest_folder(char *path)
{
	while (access(path, F_OK) < 0) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path) {
			snprintf(path, 2, "/");
			return;
		}
		*slash = 0;
	}
}

void look_state_folder(const char *root, struct answer *a)
{
	char *sessions = path_sessions(), path[PATH_SIZE], size[16];
	struct statvfs fs;
	double space;

	(void)root;
	snprintf(path, sizeof path, "%s", sessions);
	nearest_folder(path);
	if (access(path, W_OK | X_OK) < 0) {
		answer_set(a, LOOK_FAILED, "%.200s cannot be written: %s", path, strerror(errno));
		answer_mend(a, "give a file with --db=FILE, or set XDG_STATE_HOME to a folder of yours");
	} else if (statvfs(path, &fs) == 0) {
		space = (double)fs.f_bavail * (double)fs.f_frsize;
		text_bytes(size, sizeof size, space);
		answer_set(a, space < SPACE_NEEDED ? LOOK_FAILED : space < SPACE_WISHED ? LOOK_POOR : LOOK_OK, "%.300s, %s free", sessions, size);
		if (space < SPACE_WISHED)
			answer_mend(a, "make room, or give a file on another disk with --db=FILE");
	} else {
		answer_set(a, LOOK_OK, "%.390s", sessions);
	}
	free(sessions);
}

void look_core(const char *root, struct answer *a)
{
	char pattern[200] = "", limit[32] = "unlimited";
	struct rlimit core = { 0, 0 };

	getrlimit(RLIMIT_CORE, &core);
	read_text(root, "/proc/sys/kernel/core_pattern", pattern, sizeof pattern);
	if (core.rlim_cur == 0) {
		answer_set(a, LOOK_OK, "limit 0, pattern %s", *pattern ? pattern : "?");
		return;
	}
	if (core.rlim_cur != RLIM_INFINITY)
		text_bytes(limit, sizeof limit, (double)core.rlim_cur);
	answer_set(a, LOOK_POOR, "limit %s, pattern %s: a GPU fault can write a core of 30-50 GB (gpucore.PID) and stop the server while it does",
		limit, *pattern ? pattern : "?");
	answer_mend(a, "ulimit -c 0 in the shell that starts the server");
}

/* --- terminal, libraries, data --- */

void look_locale(const char *root, struct answer *a)
{
	const char *codeset = nl_langinfo(CODESET);

	(void)root;
	if (strcmp(codeset, "UTF-8") == 0) {
		answer_set(a, LOOK_OK, "UTF-8");
		return;
	}
	answer_set(a, LOOK_POOR, "%s: the screen is drawn in ASCII", codeset);
	answer_mend(a, "export LC_ALL=C.UTF-8");
}

void look_term(const char *root, struct answer *a)
{
	const char *term = getenv("TERM");

	(void)root;
	if (term && *term && strcmp(term, "dumb") != 0) {
		answer_set(a, LOOK_OK, "%.100s", term);
		return;
	}
	answer_set(a, LOOK_POOR, "%s: no screen, text only (as with --once)", term && *term ? term : "not set");
	answer_mend(a, "export TERM=xterm-256color");
}

void look_pcre2(const char *root, struct answer *a)
{
	uint32_t jit = 0;
	char version[64] = "";

	(void)root;
	pcre2_config(PCRE2_CONFIG_JIT, &jit);
	pcre2_config(PCRE2_CONFIG_VERSION, version);
	answer_set(a, jit ? LOOK_OK : LOOK_POOR, "%s, %s", version, jit ? "JIT" : "no JIT: logs are read about ten times slower");
	if (!jit)
		answer_mend(a, "use a PCRE2 that was built with --enable-jit");
}

void look_libraries(const char *root, struct answer *a)
{
	struct error error;
	bool http = http_library(&error) != NULL;

	(void)root;
	answer_set(a, http ? LOOK_OK : LOOK_POOR, "%s, libuv %s, curl %s, SQLite %s, jansson %s", curses_version(), uv_version_string(),
		http_library_version(), sqlite3_libversion(), JANSSON_VERSION);
	if (!http)
		answer_mend(a, "%s", error.fix);
}

void look_kernel(const char *root, struct answer *a)
{
	struct utsname name;

	(void)root;
	if (uname(&name) == 0)
		answer_set(a, LOOK_OK, "%.100s %.100s %.64s", name.sysname, name.release, name.machine);
}

void look_profiles(const char *root, struct answer *a)
{
	struct profile_set set = { 0 };
	struct buf trouble, names;
	char *data = data_dir();

	(void)root;
	buf_init(&trouble, 4096);
	buf_init(&names, 300);
	profiles_load(&set, NULL, &trouble);
	for (int i = 0; i < set.count; i++)
		buf_printf(&names, "%s%s", i ? " " : "", set.profile[i]->name);
	if (!set.count) {
		answer_set(a, LOOK_MISSING, "no engine profiles in %.300s/profiles", data);
		answer_mend(a, "set HANGTOP_DATA to hangtop's data folder, or install hangtop again");
	} else if (trouble.len) {
		answer_set(a, LOOK_POOR, "%s; but %.*s", buf_string(&names), (int)strcspn(buf_string(&trouble), "\n"), buf_string(&trouble));
		answer_mend(a, "mend that file");
	} else {
		answer_set(a, LOOK_OK, "%s (%.150s/profiles)", buf_string(&names), data);
	}
	profile_set_release(&set);
	buf_release(&trouble);
	buf_release(&names);
	free(data);
}
