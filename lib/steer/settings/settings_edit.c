#include <sys/wait.h>

#include "base/process/helper.h"
#include "base/system/folder.h"
#include "host/host_command.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "steer/settings/settings.h"

static const char start_text[] = "{\n}\n";

static const char *choose_editor(char *const *env)
{
	static const char *const names[] = { "VISUAL", "EDITOR" };

	for (size_t i = 0; i < AB_COUNT(names); i++) {
		const char *command = ab_environ_get(env, names[i]);

		if (command && *command)
			return command;
	}
	return "vi";
}

/* The file may be what has to be repaired: then no run has this policy, and the rest of it counts. */
static int load_policy(const struct ab_settings_editing *e, struct ab_policy **ret,
		       struct ab_error *err)
{
	ab_autostrv struct ab_strv absent = { 0 };
	struct ab_policy_input in = *e->input;
	struct ab_error wrong = { 0 };

	in.judging = true;
	if (ab_policy_load(&in, ret, NULL, &wrong) == 0)
		return 0;
	ab_strv_add(&absent, e->file);
	in.absent = &absent;
	in.no_project = e->project;
	return ab_policy_load(&in, ret, NULL, err);
}

static int prepare_editor(struct ab_settings_editing *e, struct ab_error *err)
{
	char *const *env = e->input->environ;
	ab_autofree char **safe = NULL;
	ab_autofree char *path = NULL;
	ab_autopolicy struct ab_policy *policy = NULL;

	e->command = choose_editor(env);
	if (load_policy(e, &policy, err) < 0 ||
	    ab_host_command_check("the editor", e->command, policy, env, err) < 0)
		return -1;
	safe = ab_host_command_environ(&policy->fs.touched, env, &path);
	for (size_t i = 0; safe[i]; i++)
		ab_strv_add(&e->env, safe[i]);
	return 0;
}

/* In the user's settings folder, which no box can write. */
static int make_copy(struct ab_settings_editing *e, const char *text, struct ab_error *err)
{
	ab_autofree char *dir = ab_config_dir(e->input->environ, e->input->home), *failed = NULL;
	ab_autoclose int fd = -1;

	if (!dir)
		return ab_fail(err, AB_EUSAGE, 0, "no home folder to keep settings in");
	failed = ab_folder_make_all(dir, 0700);
	if (failed)
		return ab_fail(err, AB_ECONFIG, errno, "create folder %s", failed);
	e->folder = ab_printf("%s/.edit-XXXXXX", dir);
	if (!mkdtemp(e->folder)) {
		ab_fail(err, AB_ESYSTEM, errno, "create a folder in %s", dir);
		free(ab_take(e->folder));
		return -1;
	}
	e->copy = ab_path_join(e->folder, e->project ? "agentbox.json" : "config.json");
	fd = open(e->copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || ab_write_all(fd, text, strlen(text)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", e->copy);
	return 0;
}

int ab_settings_edit_begin(const struct ab_policy_input *in, bool project,
			   struct ab_settings_editing *ret, struct ab_error *err)
{
	struct ab_settings_editing e = { .input = in, .project = project };

	e.file = ab_settings_file(in, project, err);
	e.seen = e.file ? ab_settings_read(e.file, project, err) : NULL;
	if (!e.seen || prepare_editor(&e, err) < 0 ||
	    make_copy(&e, *e.seen ? e.seen : start_text, err) < 0) {
		ab_settings_edit_end(&e);
		return -1;
	}
	*ret = e;
	return 0;
}

/* In the child. */
static void run_editor(const struct ab_settings_editing *e)
{
	ab_autofree char *line = ab_printf("%s \"$1\"", e->command);
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, line, (char[]){ "sh" }, e->copy, NULL };

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (chdir("/") == 0)
		execve("/bin/sh", argv, e->env.v);
	_exit(127);
}

int ab_settings_edit(struct ab_settings_editing *e, struct ab_error *err)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		run_editor(e);
	if (pid > 0)
		status = ab_await(pid);
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	if (pid < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "start the editor");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		ab_fail(err, AB_ESYSTEM, 0, "the editor cannot be started: %s", e->command);
		return ab_hint(err, "set EDITOR to a program that exists");
	}
	if (status != 0)
		return ab_fail(err, AB_ESYSTEM, 0, "the editor failed; nothing was saved");
	return 0;
}

/* The first mistakes of the copy, as mistakes of the file. */
static int check_copy(const struct ab_settings_editing *e, struct ab_error *err)
{
	enum { SHOWN = 5 };
	ab_autostrv struct ab_strv wrong = { 0 };
	ab_autobuf struct ab_buf more = { 0 };
	size_t skip = strlen(e->copy);
	ab_autopolicy struct ab_policy *policy = NULL;

	if (ab_policy_check_file(e->input, e->copy, &wrong, err) < 0)
		return -1;
	if (wrong.len == 0) {
		/* A profile that extends itself, or a value that no policy can have. */
		return ab_policy_load_one(e->input, e->copy, &policy, err);
	}
	for (size_t i = 0; i < wrong.len && i < SHOWN; i++) {
		const char *rest =
			strncmp(wrong.v[i], e->copy, skip) == 0 ? wrong.v[i] + skip : wrong.v[i];

		if (i == 0)
			ab_fail(err, AB_ECONFIG, 0, "%s%s", e->file, rest);
		else
			ab_buf_printf(&more, "%s%s%s", i > 1 ? "\n" : "", e->file, rest);
	}
	return more.len ? ab_hint(err, "%s", more.data) : -1;
}

int ab_settings_check(const struct ab_policy_input *in, const char *file, bool project,
		      const char *text, struct ab_error *err)
{
	struct ab_settings_editing e = { .input = in, .project = project, .file = ab_strdup(file) };
	int result = make_copy(&e, text, err);

	if (result == 0)
		result = check_copy(&e, err);
	ab_settings_edit_end(&e);
	return result;
}

int ab_settings_edit_save(struct ab_settings_editing *e, struct ab_settings_changed *ret,
			  struct ab_error *err)
{
	ab_autofree char *text = NULL;

	*ret = (struct ab_settings_changed){ .file = ab_strdup(e->file) };
	text = ab_settings_read(e->copy, true, err);
	/* Untouched: also if the file did not exist. */
	if (text && (strcmp(text, *e->seen ? e->seen : start_text) == 0 ||
		     (check_copy(e, err) == 0 && ab_settings_save(e->input, e->file, e->project,
								  e->seen, text, ret, err) == 0)))
		return 0;
	ab_settings_changed_fini(ret);
	return -1;
}

/* With the backups that editors make. */
static void remove_folder(const char *path)
{
	ab_autodir DIR *dir = ab_folder_list(AT_FDCWD, path);
	const char *name;

	while ((name = ab_folder_next(dir)) != NULL)
		(void)unlinkat(dirfd(dir), name, 0);
	(void)rmdir(path);
}

void ab_settings_edit_end(struct ab_settings_editing *e)
{
	if (e->folder)
		remove_folder(e->folder);
	ab_free_all(e->file, e->seen, e->folder, e->copy);
	ab_strv_fini(&e->env);
	*e = (struct ab_settings_editing){ 0 };
}
