#pragma once
/* Shared by permit*.c. */
#include <jansson.h>

#include "audit/read/find.h"
#include "policy/layers/layers.h"
#include "policy/values/host.h"
#include "state/state.h"
#include "steer/permit/permit.h"

/* What the argument of `allow` means. */
enum ab_meant_kind {
	AB_MEANT_DENIAL,
	AB_MEANT_HOST,
	AB_MEANT_GROUP,
	AB_MEANT_PATH,
};

struct ab_meant {
	enum ab_meant_kind kind;
	struct ab_denial_name denial;
	char entry[AB_HOST_ENTRY_TEXT]; /* canonical; or "@group" */
	char *path;			/* clean */
};

int ab_permit_read(const struct ab_policy_input *in, const char *what, struct ab_meant *ret,
		   struct ab_error *err);
void ab_meant_fini(struct ab_meant *meant);
/* Add the hosts, if it means some. */
bool ab_meant_hosts(const struct ab_meant *meant, const struct ab_policy_input *in,
		    struct ab_strv *ret);

/* For the command line that starts a run again. */
struct ab_again {
	json_t *start;	 /* its start record, or NULL */
	const char *cwd; /* where the line will be typed */
};
/* "agentbox run FLAGS -- make test"; with "..." for a command that is not
 * known, is too long, or cannot be shown on a terminal. */
char *ab_permit_again(const struct ab_again *again, const char *flags);
/* One flag and its value, quoted for a shell. */
char *ab_permit_flag(const char *flag, const char *value);

/* What would lift a denial: a rule about a host or about a path. -1 if nothing
 * can lift it now; the error says why, and what to do instead. */
struct ab_lift {
	char entry[AB_HOST_ENTRY_TEXT]; /* the host; "" if it is a path */
	const char *path;
};
int ab_permit_judge(const char *id, const json_t *record, bool deny, const struct ab_again *again,
		    struct ab_lift *ret, struct ab_error *err);

/* "7kq2x: x.y is allowed for 10m; 1 waiting request released" */
char *ab_permit_sentence(const char *run, const char *entry, bool deny, uint64_t for_ms,
			 uint64_t released, uint64_t closed);

/* May this real path become writable? Warnings are added to `notes`. */
struct ab_place {
	const char *home, *state, *config; /* or NULL */
	const struct ab_strv *deny_write;
};
int ab_permit_place(const struct ab_place *place, const char *path, struct ab_strv *notes,
		    struct ab_error *err);

/* One call of ab_permit(). */
struct ab_permit_job {
	const struct ab_permit *ask;
	struct ab_permitted *ret;
	struct ab_state state;
	/* The run that was named, or of the denial; id "" if there is none. */
	struct ab_found_run run;
	struct ab_again again; /* its start record is the job's */
};

/* By id or name. */
int ab_permit_find(struct ab_permit_job *job, const char *run, struct ab_error *err);
void ab_permit_forget(struct ab_permit_job *job);
/* The newest run of this workspace, if there is one. */
void ab_permit_find_here(struct ab_permit_job *job, const char *workspace);
/* The policy input as that run had it: its workspace and profile. */
struct ab_policy_input ab_permit_input(const struct ab_permit_job *job);
/* The policy that it gives now, or NULL; free it. err: NULL if nobody wants to know why. */
struct ab_policy *ab_permit_policy(const struct ab_permit_job *job, struct ab_error *err);

int ab_permit_denial(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err);
/* `allow RUN`: resume the network that the monitor paused. */
int ab_permit_hold(struct ab_permit_job *job, struct ab_error *err);
int ab_permit_hosts(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err);
/* `made`: the path is from a denial, so the file may not exist yet. */
int ab_permit_path(struct ab_permit_job *job, const char *path, bool made, struct ab_error *err);
/* A path of the workspace with a protected name. 1: it is allowed in this project; 0: it has no such
 * name. */
int ab_permit_protected(struct ab_permit_job *job, const char *workspace, const char *path,
			struct ab_error *err);
/* The workspace of the run, else the current folder. */
char *ab_permit_workspace(struct ab_permit_job *job);
/* Add to a list in the settings, and remove it from the opposite one. */
int ab_permit_always(struct ab_permit_job *job, const char *key, const char *element,
		     struct ab_error *err);
/* Remove from a list in the settings. */
int ab_permit_undo(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err);
/* The same: from the project's file, if it may be changed and has it, else from the user's. 1: it was
 * there; 0: it was not. */
int ab_permit_remove(struct ab_permit_job *job, const char *key, const char *element,
		     struct ab_error *err);
/* An entry that would have no effect, because its address is private, is refused. */
int ab_permit_refuse_private(struct ab_permit_job *job, const char *entry, struct ab_error *err);
