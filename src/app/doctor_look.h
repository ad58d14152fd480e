/* doctor_look.h - what one check of `hangtop doctor` is, and the looks at this node that need no tool. Who: doctor.c. */
#ifndef HANGTOP_APP_DOCTOR_LOOK_H
#define HANGTOP_APP_DOCTOR_LOOK_H

#include "app/doctor.h"

/* ok; works, with less (poor); not there (missing); there, but of no use (failed). */
enum look { LOOK_OK, LOOK_POOR, LOOK_MISSING, LOOK_FAILED };

struct answer {
	enum look look;
	char text[400];                /* what was found */
	char mend[400];                /* an exact command, or a sentence; "" when there is nothing to do */
};

void answer_set(struct answer *a, enum look look, const char *format, ...) __attribute__((format(printf, 3, 4)));
void answer_mend(struct answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Each fills `a`, which is LOOK_OK and empty before. */
void look_driver(const char *root, struct answer *a);
void look_kfd(const char *root, struct answer *a);
void look_proc(const char *root, struct answer *a);
void look_yama(const char *root, struct answer *a);
void look_sys_ptrace(const char *root, struct answer *a);
void look_syslog(const char *root, struct answer *a);
void look_user(const char *root, struct answer *a);
void look_container(const char *root, struct answer *a);
void look_state_folder(const char *root, struct answer *a);
void look_core(const char *root, struct answer *a);
void look_locale(const char *root, struct answer *a);
void look_term(const char *root, struct answer *a);
void look_pcre2(const char *root, struct answer *a);
void look_libraries(const char *root, struct answer *a);
void look_kernel(const char *root, struct answer *a);
void look_profiles(const char *root, struct answer *a);
void look_debug_agent(const char *root, struct answer *a);

/* First path that matches the blank-separated glob patterns below root; "" when none does. Returns out. */
const char *look_glob(const char *root, const char *patterns, char *out, size_t size);
/* "apt-get install NAME" and the like for the package manager of this machine; NULL columns give words. */
enum manager { APT, DNF, PACMAN, APK, MANAGERS };
void look_install(const char *const package[MANAGERS], const char *words, struct answer *a);

#endif
