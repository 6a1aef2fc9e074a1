/* Tools that do more than wrap a command and have a syntax of their own. */
#include "base/data/arena.h"
#include "shell/syntax/name_table.h"
#include "shell/wrap/wrapper.h"

/* Settings whose value git runs. `alias.*` and `credential.*` run only values that
 * begin with "!". */
static const char run_settings[][23] = {
	"core.askpass",		  "core.editor",     "core.fsmonitor",
	"core.gitproxy",	  "core.pager",	     "core.sshcommand",
	"credential.helper",	  "diff.external",   "gpg.program",
	"interactive.difffilter", "sequence.editor",
};

static bool is_setting(struct ab_text key, const char *name)
{
	return key.len == strlen(name) && strncasecmp(key.s, name, key.len) == 0;
}

static bool runs_value(struct ab_text key)
{
	for (size_t i = 0; i < sizeof(run_settings) / sizeof(*run_settings); i++)
		if (is_setting(key, run_settings[i]))
			return true;
	return key.len > 6 && strncasecmp(key.s, "pager.", 6) == 0;
}

static void add_setting_command(struct ab_wrapping *w, struct ab_text key, struct ab_field value)
{
	if (value.text.len > 1 && value.text.s[0] == '!' &&
	    (ab_text_starts(key, "alias.") || ab_text_starts(key, "credential."))) {
		value = ab_wrap_rest(&value, 1);
		ab_wrap_script(w, &value);
	} else if (value.text.len > 0 && runs_value(key) && !is_setting(key, "credential.helper")) {
		ab_wrap_script(w, &value);
	}
}

/* git -c KEY=VALUE */
static void read_setting(struct ab_wrapping *w, const struct ab_field *f)
{
	const char *equals = f->text.len ? memchr(f->text.s, '=', f->text.len) : NULL;
	struct ab_text key;

	if (!equals)
		return;
	key = (struct ab_text){ f->text.s, (uint32_t)(equals - f->text.s) };
	add_setting_command(w, key, ab_wrap_rest(f, key.len + 1));
}

/* git config KEY VALUE */
static void read_config(struct ab_wrapping *w, size_t at)
{
	const struct ab_opts opts = ab_grammar_of("git config");
	const struct ab_field *key = NULL;
	struct ab_opt_walk walk;
	enum ab_opt what;

	ab_opt_begin(&walk, &opts, w->argv + at, w->argc - at);
	while ((what = ab_opt_next(&walk)) != AB_OPT_END) {
		if (what != AB_OPT_OPERAND || ab_field_is(&walk.value, "set"))
			continue;
		if (key) {
			add_setting_command(w, key->text, walk.value);
			return;
		}
		key = &w->argv[at + walk.index];
	}
}

static void read_options(struct ab_wrapping *w, size_t at, const char *script, const char *suffix)
{
	const struct ab_opts opts = ab_grammar_sub("git", w->argv[at].text);
	struct ab_opt_walk walk;
	enum ab_opt what;

	ab_opt_begin(&walk, &opts, w->argv + at, w->argc - at);
	while ((what = ab_opt_next(&walk)) != AB_OPT_END) {
		bool hit = what == AB_OPT_LETTER && walk.letter && strchr(script, walk.letter);

		if (what == AB_OPT_LONG && walk.name.len >= strlen(suffix))
			hit = memcmp(walk.name.s + walk.name.len - strlen(suffix), suffix,
				     strlen(suffix)) == 0;
		if (hit && walk.value.text.len > 0)
			ab_wrap_script(w, &walk.value);
	}
}

/* Options that name the remote program, and "ext::CMD", which runs locally. */
static void read_remote(struct ab_wrapping *w, size_t at)
{
	const struct ab_opts opts = ab_grammar_sub("git", w->argv[at].text);
	bool clones = ab_field_is(&w->argv[at], "clone");
	struct ab_opt_walk walk;
	enum ab_opt what;

	ab_opt_begin(&walk, &opts, w->argv + at, w->argc - at);
	while ((what = ab_opt_next(&walk)) != AB_OPT_END) {
		struct ab_field script = walk.value;

		if (!script.text.len)
			continue;
		if (clones && ab_opt_is(&walk, what, 'c', "config")) {
			read_setting(w, &walk.value);
			continue;
		}
		if (what == AB_OPT_OPERAND && ab_text_starts(script.text, "ext::"))
			script = ab_wrap_rest(&script, 5);
		else if (!(clones && ab_opt_is(&walk, what, 'u', NULL)) &&
			 !(what == AB_OPT_LONG &&
			   ab_listed("upload-pack receive-pack exec", walk.name)))
			continue;
		ab_wrap_script(w, &script);
	}
}

/* The words after `git submodule foreach`, `git bisect run`. */
static size_t skip_to_words_after(const struct ab_wrapping *w, size_t at, const char *word)
{
	while (at < w->argc && !ab_field_is(&w->argv[at], word))
		at++;
	for (at++; at < w->argc && ab_text_starts(w->argv[at].text, "-");)
		at++;
	return at;
}

static void read_git(struct ab_wrapping *w, size_t at)
{
	const struct ab_field *sub = &w->argv[at];
	struct ab_field script;
	size_t from;

	if (ab_field_is(sub, "config")) {
		read_config(w, at);
	} else if (ab_listed("archive clone fetch ls-remote pull push", sub->text)) {
		read_remote(w, at);
	} else if (ab_field_is(sub, "rebase")) {
		read_options(w, at, "x", "exec");
	} else if (ab_field_is(sub, "difftool")) {
		read_options(w, at, "x", "extcmd");
	} else if (ab_field_is(sub, "filter-branch")) {
		read_options(w, at, "", "-filter");
	} else if (ab_field_is(sub, "bisect")) {
		from = skip_to_words_after(w, at + 1, "run");
		if (from < w->argc)
			ab_wrap_argv(w, from);
	} else if (ab_field_is(sub, "submodule")) {
		from = skip_to_words_after(w, at + 1, "foreach");
		if (from >= w->argc)
			return;
		script = ab_wrap_join(w->arena, w->argv + from, w->argc - from);
		ab_wrap_script(w, &script);
	}
}

void ab_wrap_git(struct ab_wrapping *w)
{
	struct ab_opt_walk walk;
	enum ab_opt what;

	ab_opt_begin(&walk, &w->opts, w->argv, w->argc);
	while ((what = ab_opt_next(&walk)) != AB_OPT_END) {
		if (what == AB_OPT_OPERAND) {
			read_git(w, walk.index);
			return;
		}
		if (ab_opt_is(&walk, what, 'c', NULL))
			read_setting(w, &walk.value);
	}
}

/* The text that a named key types, "" if none; NULL: not a key name. */
static const char *get_key_text(const struct ab_field *f)
{
	struct ab_text t = f->text;

	if (ab_text_is(t, "Enter") || ab_text_is(t, "C-m") || ab_text_is(t, "KPEnter") ||
	    ab_text_is(t, "C-j"))
		return "\n";
	if (ab_text_is(t, "Space"))
		return " ";
	if (ab_text_is(t, "Tab") || ab_text_is(t, "Escape") || ab_text_is(t, "BSpace") ||
	    ab_text_is(t, "Up") || ab_text_is(t, "Down") ||
	    (t.len == 3 && (ab_text_starts(t, "C-") || ab_text_starts(t, "M-"))))
		return "";
	return NULL;
}

/* tmux send-keys TEXT Enter: join what the keys type. */
void ab_wrap_keys(struct ab_wrapping *w)
{
	struct ab_field script = { 0 };
	struct ab_opt_walk walk;
	size_t len = 0, words = 0;
	enum ab_opt what;
	char *text, *p;

	for (size_t i = 1; i < w->argc; i++)
		len += w->argv[i].text.len;
	text = p = ab_arena_alloc(w->arena, len + 1);
	ab_opt_begin(&walk, &w->opts, w->argv, w->argc);
	while ((what = ab_opt_next(&walk)) != AB_OPT_END) {
		const char *key;

		if (what != AB_OPT_OPERAND)
			continue;
		key = get_key_text(&walk.value);
		if (key) {
			p = (char *)mempcpy(p, key, strlen(key));
			continue;
		}
		if (words++ == 0)
			script = walk.value;
		p = (char *)mempcpy(p, walk.value.text.s, walk.value.text.len);
		script.taint |= walk.value.taint;
	}
	if (words == 0)
		return;
	if (words > 1 || script.text.len != (size_t)(p - text))
		script = ab_wrap_field(&script, (struct ab_text){ text, (uint32_t)(p - text) });
	ab_wrap_script(w, &script);
}

/* Each operand is a command line: concurrently "a" "b". */
void ab_wrap_each(struct ab_wrapping *w)
{
	struct ab_opt_walk walk;
	enum ab_opt what;

	ab_opt_begin(&walk, &w->opts, w->argv, w->argc);
	while ((what = ab_opt_next(&walk)) != AB_OPT_END)
		if (what == AB_OPT_OPERAND && walk.value.text.len > 0)
			ab_wrap_script(w, &walk.value);
}

/* The number of values of an option of bwrap; most take one. */
static size_t count_bwrap_values(struct ab_text option)
{
	static const char none[][25] = {
		"--unshare",  "--share-net", "--die-with-parent", "--new-sess",
		"--clearenv", "--as-pid-1",  "--disable-userns",  "--assert-userns-disabled",
		"--level-",
	};
	static const char two[][12] = {
		"--bind", "--ro-bind", "--dev-bind", "--symlink",   "--setenv",
		"--file", "--chmod",   "--overlay",  "--bind-data",
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (ab_text_starts(option, none[i]))
			return 0;
	for (size_t i = 0; i < sizeof(two) / sizeof(*two); i++)
		if (ab_text_starts(option, two[i]))
			return 2;
	return 1;
}

void ab_wrap_bwrap(struct ab_wrapping *w)
{
	size_t i = 1;

	while (i < w->argc && ab_text_starts(w->argv[i].text, "--")) {
		if (ab_field_is(&w->argv[i], "--")) {
			i++;
			break;
		}
		i += 1 + count_bwrap_values(w->argv[i].text);
	}
	if (i < w->argc)
		ab_wrap_argv(w, i);
}
