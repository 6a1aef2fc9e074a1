#include "shell/command/grammar.h"

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "shell/judge/judge.h"
#include "shell/syntax/name_table.h"
#include "shell/tools/tool.h"

#include "tap.h"

static const struct ab_scene scene = { .home = "/home/me",
				       .cwd = "/home/me/project",
				       .workspace = "/home/me/project" };

/* A text that fills its array has no end, which C allows. */
#define ENDS(array) ((array)[sizeof(array) - 1] == '\0')

static bool is_set(const char *letters)
{
	for (size_t i = 0; letters[i]; i++)
		if (strchr(letters + i + 1, letters[i]))
			return false;
	return true;
}

/* The names are sorted, without their "=". */
static bool is_next(const char **before, struct ab_text word)
{
	size_t len = strcspn(*before, "= ");
	int order;

	word.len -= word.s[word.len - 1] == '=';
	order = memcmp(*before, word.s, len < word.len ? len : word.len);
	*before = word.s;
	return order < 0 || (order == 0 && len < word.len);
}

static void test_row(const struct ab_grammar *opts, bool *ret_letters, bool *ret_words)
{
	const char *before = "";
	struct ab_text word;

	*ret_letters &= is_set(opts->values);
	for (size_t i = 0; i <= opts->more; i++) {
		const char *list = opts[i].longs;

		*ret_words &= i == 0 || *list;
		while ((word = ab_list_next(&list)).len > 0)
			*ret_words &= word.s[0] != '-' && is_next(&before, word);
	}
}

/* scripts/judge-tables makes the table of a text, and checks the names. */
static void test_table(void)
{
	bool end = true, letters = true, rest = true, words = true;
	size_t rows = 0;

	for (size_t i = 0; i < ab_ngrammars; i++) {
		end &= ENDS(ab_grammars[i].values) && ENDS(ab_grammars[i].longs);
		rest &= ab_grammars[i].values[0] || ab_grammars[i].longs[0];
	}
	for (uint32_t i = 0; i < ab_name_slots; i++) {
		if (ab_name_index[i].grammar) {
			rows++;
			test_row(ab_grammar_row(&ab_name_index[i]), &letters, &words);
		}
	}
	ok(rows > 0 && rest, "every row says something");
	ok(end, "every text fits into its row");
	ok(letters, "no letter is there twice");
	ok(words, "long names are without dashes, and sorted");
}

static const struct {
	const char *name, *values, *longs;
} lookups[] = {
	{ "kubectl", "n", "as-uid=" },
	{ "oc", "n", "zone=" },
	{ "podman", "H", "tlskey=" },
	{ "git checkout", "b", "conflict=" },
	{ "git diff", "U", "unified=" },
	{ "7z", "o", NULL },
	{ "zypper", "R", "root=" },
	{ "curl", "o", "write-out=" },
	{ "docker-compose", "p", "profile=" },
	{ "no-such-program", NULL, NULL },
	{ "git no-such-command", NULL, NULL },
	{ "", NULL, NULL },
};

static bool has_name(const struct ab_grammar *opts, const char *name)
{
	for (size_t i = 0; i <= opts->more; i++)
		if (ab_listed(opts[i].longs, (struct ab_text){ name, (uint32_t)strlen(name) }))
			return true;
	return false;
}

static void test_lookup(void)
{
	for (size_t i = 0; i < AB_COUNT(lookups); i++) {
		const struct ab_grammar *opts = ab_grammar_of(lookups[i].name);

		if (!lookups[i].values)
			ok(!*opts->values && !*opts->longs, "\"%s\" has no grammar",
			   lookups[i].name);
		else
			ok(strchr(opts->values, lookups[i].values[0]) &&
				   (!lookups[i].longs || has_name(opts, lookups[i].longs)),
			   "%s: -%s and --%s take a value", lookups[i].name, lookups[i].values,
			   lookups[i].longs ? lookups[i].longs : "");
	}
	ok(*ab_grammar_sub("git", (struct ab_text){ "switch", 6 })->values,
	   "a subcommand has its own");
	ok(!*ab_grammar_sub("git", (struct ab_text){ "a-name-that-is-too-long", 23 })->values,
	   "a long name has none");
}

static enum ab_decision judge(const char *text)
{
	struct ab_arena arena = { 0 };
	struct ab_judgement j;

	ab_judge_text(&arena, &scene, (struct ab_text){ text, (uint32_t)strlen(text) }, &j);
	ab_arena_fini(&arena);
	return j.decision;
}

struct subject {
	const char *program, *rest;
	const char *without; /* options that are known to make it harmless */
	enum ab_decision decision;
	bool same; /* not even a stricter verdict */
	size_t tried, bad;
};

/* `PROGRAM OPTION REST` is judged as `PROGRAM REST`. */
static void try_option(struct subject *s, const char *option)
{
	ab_autofree char *line = ab_printf("%s %s %s", s->program, option, s->rest);
	enum ab_decision got = judge(line);

	s->tried++;
	if (s->same ? got == s->decision : got >= s->decision)
		return;
	s->bad++;
	printf("# %s: %s, not %s\n", line, ab_decision_names[got], ab_decision_names[s->decision]);
}

static void try_letters(struct subject *s, const char *values)
{
	for (; *values && *values != '-'; values++) {
		ab_autofree char *apart = ab_printf("-%c v1", *values);
		ab_autofree char *together = ab_printf("-%cv1", *values);

		if (ab_listed(s->without, (struct ab_text){ apart, 2 }))
			continue;
		try_option(s, apart);
		try_option(s, together);
	}
}

static void try_names(struct subject *s, const char *list)
{
	struct ab_text word;

	while ((word = ab_list_next(&list)).len > 0) {
		ab_autofree char *together = ab_printf("--%.*sv1", (int)word.len, word.s);
		ab_autofree char *apart = ab_printf("--%.*s v1", (int)word.len - 1, word.s);

		if (word.s[word.len - 1] != '=')
			continue;
		try_option(s, apart);
		try_option(s, together);
	}
}

static void try_grammar(struct subject *s)
{
	const struct ab_grammar *opts = ab_grammar_of(s->program);

	try_letters(s, opts->values);
	for (size_t i = 0; i <= opts->more; i++)
		try_names(s, opts[i].longs);
}

static void try_unknown(struct subject *s)
{
	static const char *const options[] = {
		"--zzz v1",	  "--zzz=v1",	    "--zzz",
		"--zzz v1 --yyy", "--zzz --yyy v1", "--zzz v1 --yyy v2",
	};

	for (size_t i = 0; i < AB_COUNT(options); i++)
		try_option(s, options[i]);
}

/* The first choice of every word: "pr|issue create|new" is "pr create". */
static void add_words(struct ab_buf *b, const char *words)
{
	struct ab_text level;

	while ((level = ab_list_next(&words)).len > 0) {
		const char *bar = memchr(level.s, '|', level.len);

		if (ab_text_is(level, "**"))
			continue;
		if (bar)
			level.len = (uint32_t)(bar - level.s);
		ab_buf_puts(b, " ");
		for (uint32_t i = 0; i < level.len; i++)
			ab_buf_add(b, level.s[i] == '*' ? "x" : &level.s[i], 1);
	}
}

static void test_deed(const char *program, const struct ab_deed *deed)
{
	struct subject s = { .program = program, .without = deed->without };
	ab_autofree char *line = NULL, *rest = NULL;
	struct ab_buf b = { 0 };
	const char *with = deed->with;
	struct ab_text first = ab_list_next(&with);

	add_words(&b, deed->words);
	ab_buf_printf(&b, " %.*s", (int)first.len, first.s ? first.s : "");
	rest = ab_buf_take(&b);
	line = ab_printf("%s%s", program, rest);
	s.rest = rest;
	s.decision = judge(line);
	if (s.decision < AB_ESCALATED)
		return;
	try_grammar(&s);
	try_unknown(&s);
	ok(s.bad == 0, "%s: %zu options change nothing", line, s.tried);
}

static void test_dangerous(void)
{
	static const struct ab_toolbox *const boxes[] = {
		&ab_tools_system,     &ab_tools_packages, &ab_tools_git,   &ab_tools_publish,
		&ab_tools_containers, &ab_tools_clouds,	  &ab_tools_hosts,
	};

	for (size_t i = 0; i < AB_COUNT(boxes); i++)
		for (uint32_t k = 0; k < ab_name_slots; k++) {
			const struct ab_name_slot *slot = &ab_name_index[k];
			const struct ab_deed *deed =
				AB_SLOT_ROW(boxes[i]->deeds, boxes[i]->table, slot);
			ab_autofree char *program = ab_printf("%.*s", slot->len, slot->name);

			if (!deed)
				continue;
			do
				test_deed(program, deed++);
			while (deed < boxes[i]->deeds + boxes[i]->len && deed->help == AB_ALSO);
		}
}

static const struct {
	const char *program, *rest;
} harmless[] = {
	{ "apt", "list" },	    { "aws", "s3 ls" },		{ "cargo", "build" },
	{ "docker", "ps" },	    { "dnf", "list" },		{ "gcloud", "projects list" },
	{ "gh", "pr list" },	    { "helm", "list" },		{ "kubectl", "get pods" },
	{ "npm", "run build" },	    { "oc", "get pods" },	{ "pip", "list" },
	{ "pnpm", "run build" },    { "podman", "images" },	{ "poetry", "install" },
	{ "pulumi", "preview" },    { "uv", "sync" },		{ "yarn", "build" },
	{ "docker-compose", "ps" }, { "skaffold", "diagnose" },
};

static void test_harmless(void)
{
	for (size_t i = 0; i < AB_COUNT(harmless); i++) {
		ab_autofree char *line = ab_printf("%s %s", harmless[i].program, harmless[i].rest);
		struct subject s = { .program = harmless[i].program,
				     .rest = harmless[i].rest,
				     .decision = judge(line),
				     .same = true };

		ok(s.decision <= AB_SANDBOXED, "%s is harmless", line);
		try_grammar(&s);
		ok(s.bad == 0, "%s: %zu options change nothing", line, s.tried);
	}
}

int main(void)
{
	test_table();
	test_lookup();
	test_dangerous();
	test_harmless();
	return done();
}
