#include "host/host_command.h"

#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "shell/command/simple.h"
#include "shell/walk/walk.h"
#include "workspace/tree/host_path.h"

/* One check of a text: the first complaint wins. */
struct check {
	const char *option;
	const struct ab_strv *touched;
	const char *path; /* the caller's PATH, or "" */
	char *safe_path;  /* without the box's folders */
	struct ab_error *err;
	bool failed;
};

/* Between the paths in a variable: lists, options ("--require=/x"), several words. */
static const char separators[] = ":;,=@ \t\n";

/* The first complaint wins. */
static void complain(struct check *c, const char *what, const char *hint)
{
	if (c->failed)
		return;
	c->failed = true;
	ab_fail(c->err, AB_EUSAGE, 0, "%s%s", c->option, what);
	ab_hint(c->err, "%s", hint);
	ab_step(c->err, "host commands");
}

static void refuse_path(struct check *c, const char *path)
{
	ab_autofree char *shown = ab_escape(path);
	ab_autofree char *what = ab_printf(
		" would use %s on the host, which a box can write or could have created", shown);

	complain(c, what,
		 "keep it where no box can write, such as ~/.local/bin, and use its absolute path");
}

static void refuse_program(struct check *c, const char *name, const char *why, const char *hint)
{
	ab_autofree char *shown = ab_escape(name);
	ab_autofree char *what = ab_printf(": %s%s%s", shown, *shown ? ": " : "", why);

	complain(c, what, hint);
}

/* An absolute path, or one from the folder `cwd`; as far as it is known. */
static void check_path(struct check *c, const char *cwd, struct ab_text text)
{
	ab_autofree char *raw = ab_strndup(text.s, strnlen(text.s, text.len));
	ab_autofree char *path = NULL;

	if (strlen(raw) < text.len) { /* the rest is unknown: judge its folder */
		char *slash = strrchr(raw, '/');

		if (!slash)
			return;
		slash[slash == raw] = '\0';
	}
	path = ab_path_resolve(raw[0] == '~' ? "" : raw, cwd, NULL);
	if (path && ab_host_path_is_open(c->touched, path))
		refuse_path(c, path);
}

/* Every absolute path between `stops`. */
static void check_paths(struct check *c, struct ab_text text, const char *stops)
{
	for (uint32_t i = 0; i < text.len; i++) {
		uint32_t n = i;

		if (text.s[i] != '/' || (i > 0 && !strchr(stops, text.s[i - 1])))
			continue;
		while (n < text.len && (text.s[n] == '\0' || !strchr(stops, text.s[n])))
			n++;
		check_path(c, "/", (struct ab_text){ text.s + i, n - i });
	}
}

/* The walk does not report assignments alone ("PATH=/x; y"), so look for paths in the text itself,
 * too. */
static void check_text(struct check *c, const char *text, const char *home)
{
	static const char *const homes[] = { "${HOME}/", "$HOME/", "~/" };
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, "");
	while (*text) {
		size_t n = 0;

		for (size_t i = 0; home && i < AB_COUNT(homes) && !n; i++)
			if (strncmp(text, homes[i], strlen(homes[i])) == 0)
				n = strlen(homes[i]) - 1;
		if (n)
			ab_buf_puts(&b, home);
		else
			ab_buf_add(&b, text, n = 1);
		text += n;
	}
	check_paths(c, (struct ab_text){ b.data, (uint32_t)b.len }, ":;,=@ \t\n'\"`()<>|&");
}

/* A word that may be a path, or contain one: "/x", "x/y" in a folder, "-f/x", "--file=/x". */
static void check_word(struct check *c, const char *cwd, struct ab_text text)
{
	const char *slash = text.len ? memchr(text.s, '/', text.len) : NULL;

	check_paths(c, text, separators);
	if (text.len == 0)
		return;
	if (text.s[0] == '-' && slash)
		check_path(c, "/",
			   (struct ab_text){ slash, text.len - (uint32_t)(slash - text.s) });
	else if (slash || cwd[1])
		check_path(c, cwd, text);
}

/* Is there a program of this name in a folder of `path`? *ret_where: its path. */
static bool find_program(const char *path, const char *name, char **ret_where)
{
	for (;; path++) {
		size_t n = strcspn(path, ":");
		ab_autofree char *file = ab_printf("%.*s%s%s", (int)n, path, n ? "/" : "", name);

		if (access(file, X_OK) == 0) {
			*ret_where = ab_take(file);
			return true;
		}
		path += n;
		if (!*path)
			return false;
	}
}

static void check_program(struct check *c, const struct ab_field *f)
{
	ab_autofree char *name = NULL, *where = NULL;

	if (f->unknown || f->splits || f->pattern) {
		refuse_program(c, "", "the program that it runs is not known before it runs",
			       "write the program's absolute path");
		return;
	}
	name = ab_strndup(f->text.s, f->text.len);
	if (strchr(name, '/')) {
		if (name[0] != '/')
			refuse_program(c, name, "the program is a relative path",
				       "the command runs in /, not in the current folder; use an "
				       "absolute path");
		else
			check_path(c, "/", f->text);
		return;
	}
	/* The shell will not find it: say so now, and why. */
	if (!find_program(c->safe_path, name, &where) && find_program(c->path, name, &where))
		refuse_path(c, where);
}

static void check_command(void *arg, const struct ab_simple *cmd, bool hollow, void *place)
{
	struct check *c = arg;
	ab_autofree char *cwd = NULL;

	(void)hollow;
	(void)place;
	/* In another machine or container the paths are not ours. */
	if (c->failed || (cmd->flags & AB_SIMPLE_REMOTE))
		return;
	if (cmd->cwd.len == 0 || memchr(cmd->cwd.s, AB_UNKNOWN, cmd->cwd.len)) {
		refuse_program(c, "", "the folder that it runs in is not known before it runs",
			       "use absolute paths instead of cd");
		return;
	}
	cwd = ab_strndup(cmd->cwd.s, cmd->cwd.len);
	if (cmd->argc > 0)
		check_program(c, &cmd->argv[0]);
	for (size_t i = 1; i < cmd->argc; i++)
		check_word(c, cwd, cmd->argv[i].text);
	for (size_t i = 0; i < cmd->nbindings; i++)
		check_paths(c, cmd->bindings[i].value.text, separators);
	for (size_t i = 0; i < cmd->nredirects; i++) {
		const struct ab_redirect *r = &cmd->redirects[i];

		if (r->op != AB_REDIR_HEREDOC && r->op != AB_REDIR_HERESTRING &&
		    r->op != AB_REDIR_DUP_IN && r->op != AB_REDIR_DUP_OUT)
			check_path(c, cwd, r->file.text);
	}
}

static void check_hit(void *arg, const struct ab_hit *hit)
{
	struct check *c = arg;

	if (hit->rule == AB_RULE_UNPARSED)
		refuse_program(c, "", "the command cannot be read completely",
			       "put it into a script, and name the script");
}

static void *reserve_none(void *arg)
{
	(void)arg;
	return NULL;
}

/* The folders of PATH in which a box cannot create programs. */
static char *filter_path(const struct ab_strv *touched, const char *path)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "");
	for (;; path++) {
		size_t n = strcspn(path, ":");
		ab_autofree char *dir = ab_strndup(path, n), *real = NULL;
		bool led = false;

		if (dir[0] == '/')
			real = ab_host_path_follow(touched, dir, &led);
		if (real && !led && !ab_host_path_writes(touched, real))
			ab_buf_printf(&b, "%s%s", b.len ? ":" : "", dir);
		path += n;
		if (!*path)
			return ab_buf_take(&b);
	}
}

int ab_host_command_check(const char *option, const char *text, const struct ab_policy *policy,
			  char *const *env, struct ab_error *err)
{
	const char *path = ab_environ_get(env, "PATH");
	struct check c = { .option = option,
			   .touched = &policy->fs.touched,
			   .path = path ? path : "",
			   .err = err };
	const struct ab_walk_events events = { reserve_none, check_command, check_hit, &c };
	const struct ab_scene scene = { .home = policy->home, .cwd = "/", .workspace = "" };
	struct ab_text read = { text, (uint32_t)strlen(text) };
	struct ab_arena arena = { 0 };
	struct ab_script script;

	if (strlen(text) > AB_SHELL_TEXT_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "%s: the command is too long", option);
	c.safe_path = filter_path(c.touched, c.path);
	ab_parse(&arena, read, &script);
	ab_walk_script(&arena, &scene, &events, read, &script);
	check_text(&c, text, policy->home);
	ab_arena_fini(&arena);
	free(c.safe_path);
	return c.failed ? -1 : 0;
}

/* Does the value contain a path that a box can write? */
static bool is_boxs(const struct ab_strv *touched, const char *value)
{
	struct ab_error unused = { 0 };
	struct check c = { .option = "", .touched = touched, .err = &unused };

	check_paths(&c, (struct ab_text){ value, (uint32_t)strlen(value) }, separators);
	return c.failed;
}

char **ab_host_command_environ(const struct ab_strv *touched, char *const *env, char **ret_path)
{
	size_t n = 0, kept = 0;
	char **list;

	while (env && env[n])
		n++;
	list = ab_alloc((n + 1) * sizeof(*list));
	*ret_path = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *value = strchr(env[i], '=');

		if (strncmp(env[i], "PATH=", 5) == 0) {
			ab_autofree char *dirs = *ret_path ? NULL : filter_path(touched, value + 1);

			if (dirs)
				list[kept++] = *ret_path = ab_printf("PATH=%s", dirs);
		} else if (!value || strncmp(env[i], "HOME=", 5) == 0 ||
			   !is_boxs(touched, value + 1)) {
			list[kept++] = env[i];
		}
	}
	return list;
}

char *ab_host_command_find(const struct ab_strv *touched, const char *path, const char *name)
{
	ab_autofree char *where = NULL;

	if (!path || !find_program(path, name, &where) || where[0] != '/' ||
	    ab_host_path_is_open(touched, where))
		return NULL;
	return ab_take(where);
}
