/* Tools that do more than wrap a command and have a syntax of their own. */
#include "shell/syntax/name_table.h"
#include "shell/wrap/wrapper.h"

/* Settings whose value git runs. `alias.*` and `credential.*` run only values that
 * begin with "!". */
static const char run_settings[] =
	"core.askpass core.editor core.fsmonitor core.gitproxy core.pager core.sshcommand "
	"diff.external gpg.program interactive.difffilter pager.* sequence.editor";

static void add_setting_command(struct ab_wrapping *w, struct ab_text key, struct ab_field value)
{
	if (value.text.len > 1 && value.text.s[0] == '!' &&
	    (ab_text_starts(key, "alias.") || ab_text_starts(key, "credential."))) {
		ab_wrap_script_from(w, &value, 1);
	} else if (value.text.len > 0 && ab_matches_listed(run_settings, key, true)) {
		ab_wrap_script(w, &value);
	}
}

/* git -c KEY=VALUE */
static void read_setting(struct ab_wrapping *w, const struct ab_field *f)
{
	struct ab_text rest = f->text, key = ab_text_cut(&rest, '=');

	if (key.len < f->text.len)
		add_setting_command(w, key, ab_field_rest(f, key.len + 1));
}

/* git config KEY VALUE */
static void read_config(struct ab_wrapping *w, size_t at)
{
	const struct ab_grammar *opts = ab_grammar_of("git config");
	const struct ab_field *key = NULL;

	for (struct ab_opt_walk walk = ab_opt_begin(opts, w->argv + at, w->argc - at);
	     ab_opt_next_operand(&walk);) {
		if (ab_field_is(&walk.value, "set"))
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
	const struct ab_grammar *opts = ab_grammar_sub("git", w->argv[at].text);

	for (struct ab_opt_walk walk = ab_opt_begin(opts, w->argv + at, w->argc - at);
	     ab_opt_next(&walk);) {
		bool hit = walk.what == AB_OPT_LETTER && walk.letter && strchr(script, walk.letter);

		if (walk.what == AB_OPT_LONG)
			hit = ab_text_ends(walk.name, suffix);
		if (hit && walk.value.text.len > 0)
			ab_wrap_script(w, &walk.value);
	}
}

/* Options that name the remote program, and "ext::CMD", which runs locally. */
static void read_remote(struct ab_wrapping *w, size_t at)
{
	const struct ab_grammar *opts = ab_grammar_sub("git", w->argv[at].text);
	bool clones = ab_field_is(&w->argv[at], "clone");

	for (struct ab_opt_walk walk = ab_opt_begin(opts, w->argv + at, w->argc - at);
	     ab_opt_next(&walk);) {
		struct ab_field script = walk.value;

		if (!script.text.len)
			continue;
		if (clones && ab_opt_is(&walk, 'c', "config")) {
			read_setting(w, &walk.value);
			continue;
		}
		if (walk.what == AB_OPT_OPERAND && ab_text_starts(script.text, "ext::"))
			script = ab_field_rest(&script, 5);
		else if (!(clones && ab_opt_is(&walk, 'u', NULL)) &&
			 !(walk.what == AB_OPT_LONG &&
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
		ab_wrap_argv(w, skip_to_words_after(w, at + 1, "run"));
	} else if (ab_field_is(sub, "submodule")) {
		ab_wrap_joined(w, skip_to_words_after(w, at + 1, "foreach"));
	}
}

void ab_wrap_git(struct ab_wrapping *w)
{
	for (struct ab_opt_walk walk = ab_wrap_options(w); ab_opt_next(&walk);) {
		if (walk.what == AB_OPT_OPERAND) {
			read_git(w, walk.index);
			return;
		}
		if (ab_opt_is(&walk, 'c', NULL))
			read_setting(w, &walk.value);
	}
}

/* The text that a named key types, "" if none; NULL: not a key name. */
static const char *get_key_text(const struct ab_field *f)
{
	struct ab_text t = f->text;

	if (ab_listed("C-j C-m Enter KPEnter", t))
		return "\n";
	if (ab_text_is(t, "Space"))
		return " ";
	if (ab_listed("BSpace Down Escape Tab Up", t) ||
	    (t.len == 3 && (ab_text_starts(t, "C-") || ab_text_starts(t, "M-"))))
		return "";
	return NULL;
}

/* tmux send-keys TEXT Enter: join what the keys type. */
void ab_wrap_keys(struct ab_wrapping *w)
{
	struct ab_field script = { 0 };
	size_t len = 0, words = 0;
	char *text, *p;

	for (size_t i = 1; i < w->argc; i++)
		len += w->argv[i].text.len;
	text = p = ab_arena_alloc(w->arena, len + 1);
	for (struct ab_opt_walk walk = ab_wrap_options(w); ab_opt_next_operand(&walk);) {
		const char *key = get_key_text(&walk.value);

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
	for (struct ab_opt_walk walk = ab_wrap_options(w); ab_opt_next_operand(&walk);)
		if (walk.value.text.len > 0)
			ab_wrap_script(w, &walk.value);
}

/* The number of values of an option of bwrap; most take one. */
static size_t count_bwrap_values(struct ab_text option)
{
	if (ab_starts_listed("--unshare --share-net --die-with-parent --new-sess --clearenv "
			     "--as-pid-1 --disable-userns --assert-userns-disabled --level-",
			     option))
		return 0;
	return ab_starts_listed("--bind --ro-bind --dev-bind --symlink --setenv --file --chmod "
				"--overlay --bind-data",
				option)
		       ? 2
		       : 1;
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
	ab_wrap_argv(w, i);
}
