#pragma once
/*
 * One check of the doctor, and what it found.
 *
 * A check really tries the feature. It runs in its own process, so whatever it
 * changes (namespaces, filters, limits) ends with it, and a hanging kernel costs
 * one row, not the whole diagnosis.
 */
#include "base/base.h"
#include "doctor/diagnosis.h"
#include "sandbox/plan/engine.h"

struct ab_verdict {
	const struct ab_policy_input *in; /* what is checked */
	enum ab_health health;
	bool apparmor;		     /* the cause is AppArmor's restriction */
	enum ab_container_need need; /* what a container around us would have to give */
	char seen[320];		     /* "": no row */
	char remedy[640];
};

typedef void (*ab_check_fn)(struct ab_verdict *v);

struct ab_check {
	const char *name;
	bool needs_host;   /* makes no sense inside a box */
	bool needs_userns; /* skipped if user namespaces fail */
	ab_check_fn run;
	bool enters; /* runs in a user namespace of its own, */
	int further; /* and in these: CLONE_NEW... */
};

extern const struct ab_check ab_checks[];
extern const size_t ab_check_count;

/* Set what was seen, the first line of the format, and the remedy, if it has more lines. */
void ab_verdict_set(struct ab_verdict *v, enum ab_health health, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void ab_verdict_remedy(struct ab_verdict *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Run one check in its own process. */
void ab_check_run(const struct ab_check *check, const struct ab_policy_input *input,
		  struct ab_verdict *ret);

/* checks.c: what the kernel can do. */
void ab_check_userns(struct ab_verdict *v);
void ab_check_namespaces(struct ab_verdict *v);
void ab_check_proc(struct ab_verdict *v);
void ab_check_network(struct ab_verdict *v);
void ab_check_capture(struct ab_verdict *v);
void ab_check_mounts(struct ab_verdict *v);
void ab_check_home(struct ab_verdict *v);
void ab_check_terminal(struct ab_verdict *v);
void ab_check_landlock(struct ab_verdict *v);
void ab_check_landlock_newest(struct ab_verdict *v);
void ab_check_seccomp(struct ab_verdict *v);
void ab_check_privileges(struct ab_verdict *v);

/* system.c: how this machine and this user are set up. */
void ab_check_processes(struct ab_verdict *v);
void ab_check_memory(struct ab_verdict *v);
void ab_check_state(struct ab_verdict *v);
void ab_check_hooks(struct ab_verdict *v);
void ab_check_config(struct ab_verdict *v);
void ab_check_identity(struct ab_verdict *v);
void ab_check_surroundings(struct ab_verdict *v);
/* The options with which this container would have to be started: those of its runtime, or of all
 * runtimes that are known. */
char *ab_container_advice(enum ab_container_need need);

/*
 * userns.c: create a user namespace for the calling process, map its own uid and
 * gid, then create these further namespaces. On failure the verdict says what is
 * missing, which setting causes it, and how to change it.
 */
int ab_userns_enter(int further, struct ab_verdict *v);
/* Explain a failed step in the namespace: AppArmor, or the errno of the step. */
void ab_userns_explain(int errnum, const char *step, struct ab_verdict *v);

#define AB_APPARMOR_DIR "/etc/apparmor.d"
#define AB_APPARMOR_NAME "agentbox"

/* Pure: the AppArmor profile of this name for a program at this path; NULL if no
 * profile can name it. `abi4`: the machine has the features file of that version. */
char *ab_apparmor_profile(const char *name, const char *path, bool abi4);

/* apparmor.c: profiles that this machine has. */
struct ab_apparmor_seen {
	bool path; /* one is for this very path */
	bool name; /* one has our usual name and is for another path */
};
/* Pure: what the text of a file of profiles has; adds to `seen`. */
void ab_apparmor_read(const char *text, size_t len, const char *path,
		      struct ab_apparmor_seen *seen);
/* The files of a folder with a profile for this path, sorted, and whether our usual
 * name is taken. */
void ab_apparmor_find(const char *dir, const char *path, struct ab_strv *ret_files,
		      bool *ret_taken);
/* Pure: a name for the file and the profile, which no other path has. */
char *ab_apparmor_name(const char *path, bool taken);
/* Say which profile is missing, not loaded, or there twice. */
void ab_apparmor_explain(const char *path, struct ab_verdict *v);
