#pragma once
/*
 * Change a settings file by hand, the user's or the project's. A file that a run would refuse is
 * never written, and nothing is written by halves (policy/edit/edit_file.h).
 *
 * Trust in a project file stays if the text that is replaced was trusted, or there was none: the new
 * text is then the person's own. A file that was not trusted stays so.
 */
#include "base/base.h"

struct ab_policy_input;

struct ab_settings_change {
	bool project; /* the project's file; else the user's */
	/* "network.mode"; of env.set, commands.override and secrets also one member:
	 * "env.set.CI". */
	const char *key;
	/* Texts, or one JSON text that begins with [ or {; of a list its elements. None: remove
	 * the key. */
	const char *const *values;
	size_t nvalues;
	bool unset;
	/* Asked with what the new file allows and the old one does not, one line each: false: leave it. NULL:
	 * nobody is asked. */
	bool (*may_widen)(const struct ab_strv *lines);
};

struct ab_settings_changed {
	char *file;
	struct ab_strv diff;  /* "-old", "+new", safe to print; none: no change */
	struct ab_strv notes; /* sentences for the user */
};

int ab_settings_change(const struct ab_policy_input *input, const struct ab_settings_change *change,
		       struct ab_settings_changed *ret, struct ab_error *err);
void ab_settings_changed_fini(struct ab_settings_changed *changed);

/*
 * `config edit`: the editor works on a copy in a private folder. begin(), then edit() and save() until
 * save() succeeds or the person gives up, then end().
 *
 * Like every command that we run on the host (host/host_command.h) the editor, from VISUAL or
 * EDITOR or else vi, runs in /, and no box may have chosen it or a folder of its PATH.
 */
struct ab_settings_editing {
	const struct ab_policy_input *input;
	bool project;
	char *file;	     /* the settings file */
	char *seen;	     /* its text at the beginning; "" if it does not exist */
	char *folder, *copy; /* private, in the user's settings folder */
	const char *command; /* the editor */
	struct ab_strv env;  /* for it */
};

int ab_settings_edit_begin(const struct ab_policy_input *input, bool project,
			   struct ab_settings_editing *ret, struct ab_error *err);
/* Run the editor and wait for its end. */
int ab_settings_edit(struct ab_settings_editing *editing, struct ab_error *err);
/* Check the copy and save it. AB_ECONFIG: it has a mistake, or the file has changed. */
int ab_settings_edit_save(struct ab_settings_editing *editing, struct ab_settings_changed *ret,
			  struct ab_error *err);
/* Removes the copy. */
void ab_settings_edit_end(struct ab_settings_editing *editing);
