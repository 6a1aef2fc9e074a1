/*
 * Adds the hook to an agent's settings. The file is read, changed in memory and
 * shown, and only then replaced in one step. Everything else in it stays, in
 * its order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "base/text/textdiff.h"
#include "session/consent/agent_hook.h"
#include "session/consent/hook_dialects.h"
#include "shell/syntax/quote.h"

enum { SETTINGS_MAX = 4 << 20 };

/* "" if the file does not exist. */
static int read_settings(const char *path, char **ret, struct ab_error *err)
{
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t len;

	if (fd < 0 && errno == ENOENT) {
		*ret = ab_strdup("");
		return 0;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a regular file", path);
	if (ab_read_all(fd, SETTINGS_MAX, ret, &len) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "%s", path);
	if (strlen(*ret) == len)
		return 0;
	free(*ret);
	*ret = NULL;
	return ab_fail(err, AB_ECONFIG, 0, "%s is not a text file", path);
}

/* The command that the agent executes. */
static char *make_hook_command(const struct ab_hook_request *r)
{
	ab_autofree char *own = realpath("/proc/self/exe", NULL);
	struct ab_buf b = { 0 };

	ab_quote(&b, own ? own : "agentbox");
	ab_buf_printf(&b, " hook %s", r->agent);
	if (r->no_box)
		ab_buf_puts(&b, " --no-box");
	if (r->approver) {
		ab_buf_puts(&b, " --approver ");
		ab_quote(&b, r->approver);
	}
	for (size_t i = 0; i < r->noptions; i++) {
		ab_buf_puts(&b, " ");
		ab_quote(&b, r->options[i]);
	}
	return ab_buf_take(&b);
}

/* "hooks" and its lists may be missing, but must have the shape we know. */
static int check_shape(json_t *settings, const char *path, struct ab_error *err)
{
	json_t *hooks = json_object_get(settings, "hooks");
	const char *event;
	json_t *list;

	if (!json_is_object(settings))
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a JSON object", path);
	if (!hooks)
		return 0;
	if (!json_is_object(hooks))
		return ab_fail(err, AB_ECONFIG, 0, "%s: \"hooks\" is not an object", path);
	json_object_foreach(hooks, event, list) if (!json_is_array(list)) return ab_fail(
		err, AB_ECONFIG, 0, "%s: \"hooks.%s\" is not a list", path, event);
	return 0;
}

static int change_settings(const struct ab_hook_dialect *d, const struct ab_hook_request *r,
			   struct ab_hook_plan *plan, struct ab_error *err)
{
	ab_autofree char *command = make_hook_command(r);
	const char *text = plan->before[0] ? plan->before : "{}";
	json_error_t why;
	json_t *settings;
	int result;

	settings = json_loads(text, JSON_REJECT_DUPLICATES, &why);
	if (!settings)
		return ab_fail(err, AB_ECONFIG, 0, "%s:%d: %s", plan->path, why.line, why.text);
	result = check_shape(settings, plan->path, err);
	if (result == 0 && d->install(settings, command)) {
		ab_autofree char *body = json_dumps(settings, JSON_INDENT(2));

		plan->after = ab_printf("%s\n", body);
		ab_text_diff(plan->before, strlen(plan->before), plan->after, strlen(plan->after),
			     &plan->diff);
	}
	json_decref(settings);
	return result;
}

/* A project can come from anybody: its links could lead to one of the user's
 * other files. Links in the home folder are the user's own. */
static int check_links(const char *path, const char *project, struct ab_error *err)
{
	ab_autofree char *at = ab_strdup(path);
	struct stat st;

	while (strlen(at) > strlen(project)) {
		char *above = ab_path_parent(at);

		if (lstat(at, &st) == 0 && S_ISLNK(st.st_mode)) {
			free(above);
			ab_fail(err, AB_ECONFIG, 0, "%s is a symbolic link", at);
			return ab_hint(err, "agentbox does not follow links to change a "
					    "project's settings");
		}
		free(at);
		at = above;
	}
	return 0;
}

int ab_hook_plan(const struct ab_hook_request *request, bool project, struct ab_hook_plan *ret,
		 struct ab_error *err)
{
	const struct ab_hook_dialect *d = ab_hook_find(request->agent);
	const char *top = project ? request->policy.cwd : request->policy.home;
	struct ab_hook_plan plan = { 0 };

	if (!d || !d->install)
		return ab_hook_refuse_agent(request->agent, true, err);
	if (!top)
		return ab_fail(err, AB_EUSAGE, 0, "the home folder is unknown: set HOME");
	plan.path = ab_path_join(top, project ? d->project_settings : d->settings);
	if ((project && check_links(plan.path, top, err) < 0) ||
	    read_settings(plan.path, &plan.before, err) < 0 ||
	    change_settings(d, request, &plan, err) < 0) {
		ab_hook_plan_fini(&plan);
		return -1;
	}
	*ret = plan;
	return 0;
}

static int make_folder(const char *path, struct ab_error *err)
{
	ab_autofree char *dir = ab_path_parent(path);
	ab_autofree char *above = ab_path_parent(dir);

	/* No agent's path has more levels than ".codeium/windsurf". */
	if ((mkdir(above, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(dir, 0755) < 0 && errno != EEXIST))
		return ab_fail(err, AB_ESYSTEM, errno, "make %s", dir);
	return 0;
}

static int write_new(const char *path, const char *text, mode_t mode, struct ab_error *err)
{
	ab_autofree char *tmp = ab_printf("%s.new-XXXXXX", path);
	ab_autoclose int fd = mkostemp(tmp, O_CLOEXEC);

	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make %s", tmp);
	if (fchmod(fd, mode) < 0 || ab_write_all(fd, text, strlen(text)) < 0 || fsync(fd) < 0 ||
	    rename(tmp, path) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "write %s", path);
		unlink(tmp);
		return -1;
	}
	return 0;
}

int ab_hook_apply(const struct ab_hook_plan *plan, struct ab_error *err)
{
	ab_autofree char *now = NULL, *real = NULL;
	struct stat st;
	mode_t mode = 0644;

	if (read_settings(plan->path, &now, err) < 0)
		return -1;
	if (strcmp(now, plan->before) != 0)
		return ab_fail(err, AB_ECONFIG, 0,
			       "%s has changed in the meantime; nothing was written", plan->path);
	if (make_folder(plan->path, err) < 0)
		return -1;
	/* Settings are often links into a dotfiles folder. */
	real = realpath(plan->path, NULL);
	if (real && stat(real, &st) == 0)
		mode = st.st_mode & 07777;
	return write_new(real ? real : plan->path, plan->after, mode, err);
}

void ab_hook_plan_fini(struct ab_hook_plan *plan)
{
	free(plan->path);
	free(plan->before);
	free(plan->after);
	ab_strv_fini(&plan->diff);
	*plan = (struct ab_hook_plan){ 0 };
}
