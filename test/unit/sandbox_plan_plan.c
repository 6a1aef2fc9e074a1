/*
 * The mount plan as a table: facts in, operations out. A letter for each
 * operation: P private, W write, L layer, S show, C closed, N pinned, M masked, B a bare
 * layer; "=" behind a path for a file, "@" for a link.
 */
#include "sandbox/plan/plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "tap.h"

static const char letters[] = {
	[AB_MOUNT_PIN] = 'N',	  [AB_MOUNT_WRITE] = 'W', [AB_MOUNT_SHOW] = 'S',
	[AB_MOUNT_PRIVATE] = 'P', [AB_MOUNT_CLOSE] = 'C', [AB_MOUNT_MASK] = 'M',
	[AB_MOUNT_LAYER] = 'L',
};

static void add_fact(struct ab_facts *facts, char letter, const char *path, enum ab_as as)
{
	switch (letter) {
	case 'P':
		ab_strv_add(&facts->privates, path);
		return;
	case 'W':
		ab_objects_add(&facts->write, path, as);
		return;
	case 'L':
	case 'B':
		ab_layer_mounts_add(&facts->layers, path)->bare = letter == 'B';
		return;
	case 'S':
		ab_objects_add(&facts->show, path, as);
		return;
	case 'C':
		ab_objects_add(&facts->closed, path, as);
		return;
	case 'N':
		ab_objects_add(&facts->pinned, path, as);
		return;
	case 'M':
		ab_objects_add(&facts->masked, path, as);
		return;
	}
	abort();
}

/* "P:/tmp W:/w C:/w/.envrc=" */
static void read_facts(const char *text, struct ab_facts *facts)
{
	while (*text) {
		size_t n = strcspn(text, " ");
		ab_autofree char *word = ab_strndup(text, n);
		enum ab_as as = AB_AS_DIR;

		if (word[n - 1] == '=' || word[n - 1] == '@') {
			as = word[n - 1] == '=' ? AB_AS_FILE : AB_AS_LINK;
			word[n - 1] = '\0';
		}
		add_fact(facts, word[0], word + 2, as);
		text += n + (text[n] == ' ');
	}
}

static void facts_fini(struct ab_facts *facts)
{
	ab_strv_fini(&facts->privates);
	ab_objects_fini(&facts->write);
	ab_objects_fini(&facts->show);
	ab_objects_fini(&facts->closed);
	ab_objects_fini(&facts->pinned);
	ab_objects_fini(&facts->masked);
	ab_layer_mounts_fini(&facts->layers);
}

static char *write_plan(const struct ab_plan *plan)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < plan->len; i++)
		ab_buf_printf(&b, "%s%c:%s%s", i ? " " : "", letters[plan->v[i].op],
			      plan->v[i].path,
			      plan->v[i].as == AB_AS_FILE   ? "="
			      : plan->v[i].as == AB_AS_LINK ? "@"
							    : "");
	return ab_buf_take(&b);
}

static const struct {
	const char *facts, *plan, *name;
} cases[] = {
	{ "", "", "nothing from nothing" },
	{ "P:/tmp P:/run W:/home/u/p", "W:/home/u/p P:/run P:/tmp",
	  "private folders and a workspace" },
	{ "W:/a-b W:/a C:/a-b/x C:/a/x", "W:/a C:/a/x W:/a-b C:/a-b/x",
	  "a folder's tree follows it directly" },

	/* closed */
	{ "W:/w C:/w/.envrc=", "W:/w C:/w/.envrc=", "a closed file" },
	{ "W:/w C:/w/.git/hooks", "W:/w N:/w/.git C:/w/.git/hooks",
	  "the folder above a closed one is pinned" },
	{ "W:/w C:/w/a/b/c/d= C:/w/a/x=", "W:/w N:/w/a N:/w/a/b N:/w/a/b/c C:/w/a/b/c/d= C:/w/a/x=",
	  "every folder on the way is pinned, once" },
	{ "W:/w C:/etc/x=", "W:/w", "what is read-only anyway is not closed" },
	{ "W:/f= C:/f=", "", "a writable file that is closed is neither" },
	{ "W:/w C:/w", "", "a root that is closed is not writable" },
	{ "W:/w C:/w/a C:/w/a/b", "W:/w C:/w/a", "closed inside closed" },
	{ "W:/w C:/w/l@", "W:/w C:/w/l@", "a link is closed as a link" },
	{ "C:/w/a/b W:/w/a", "W:/w/a C:/w/a/b", "the order of facts is nothing" },

	/* writable */
	{ "W:/w W:/w/sub", "W:/w", "a root inside a root" },
	{ "W:/w C:/w/a W:/w/a/b", "W:/w C:/w/a",
	  "closed stays closed, whoever wants to write below it" },
	{ "C:/w W:/w/a", "", "also where that is not inside a root" },
	{ "W:/w W:/w", "W:/w", "the same root twice" },
	{ "W:/", "W:/", "all of it" },
	{ "W:/ C:/etc/x=", "W:/ N:/etc C:/etc/x=", "closed below the root" },

	/* masked */
	{ "M:/home/u/.ssh/id=", "M:/home/u/.ssh/id=", "a mask" },
	{ "M:/x M:/x", "M:/x", "the same mask twice" },
	{ "W:/w C:/w/a M:/w/a", "W:/w M:/w/a", "a mask is stronger than closed" },
	{ "W:/w M:/w", "M:/w", "and stronger than writable" },
	{ "W:/w M:/w/a C:/w/a/b W:/w/a/c N:/w/a/d M:/w/a/e S:/w/a/f P:/w/a/g", "W:/w M:/w/a",
	  "nothing below a mask" },
	{ "W:/w M:/w/a/b", "W:/w N:/w/a M:/w/a/b", "the folder above a mask is pinned" },
	{ "M:/m/a/b", "M:/m/a/b", "but not where it is read-only" },
	{ "W:/w C:/w/a M:/w/a/b", "W:/w C:/w/a M:/w/a/b", "a mask inside a closed folder" },
	{ "W:/w C:/w/a M:/w/a/b/c", "W:/w C:/w/a M:/w/a/b/c",
	  "needs no pin there: nothing can be renamed" },

	/* private */
	{ "P:/tmp W:/tmp/w", "P:/tmp W:/tmp/w", "writable inside private" },
	{ "W:/w P:/w/tmp", "W:/w P:/w/tmp", "private inside writable" },
	{ "P:/tmp W:/tmp", "W:/tmp", "writable by name is not private" },
	{ "P:/run M:/run/docker.sock=", "P:/run", "a mask in an empty folder" },
	{ "P:/run S:/run/x/y=", "P:/run S:/run/x/y=", "shown in a private one" },
	{ "P:/run S:/run/d M:/run/d/s=", "P:/run S:/run/d M:/run/d/s=", "masked in what is shown" },
	{ "S:/usr W:/w S:/w/x", "W:/w", "what is visible need not be shown" },
	{ "P:/ S:/w W:/w", "P:/ W:/w", "shown and writable is writable" },
	{ "W:/w P:/w/t C:/w/t/x", "W:/w P:/w/t", "closed in an empty folder" },
	{ "P:/run P:/run/user/1", "P:/run P:/run/user/1", "private in private" },
	{ "P:/h S:/h/.config W:/h/.config/app", "P:/h S:/h/.config W:/h/.config/app",
	  "writable in what is shown" },
	{ "W:/w P:/w/t W:/w/t/p C:/w/t/p/.git/hooks",
	  "W:/w P:/w/t W:/w/t/p N:/w/t/p/.git C:/w/t/p/.git/hooks",
	  "pins reach up to the nearest root" },

	/* an empty root */
	{ "P:/ P:/tmp S:/usr S:/lib@ W:/home/u/w C:/home/u/w/x=",
	  "P:/ W:/home/u/w C:/home/u/w/x= S:/lib@ P:/tmp S:/usr", "the hidden root" },
	{ "P:/ S:/etc M:/etc/shadow= M:/root/x=", "P:/ S:/etc M:/etc/shadow=",
	  "masks only where something is shown" },

	/* layered */
	{ "L:/h", "L:/h", "a layer" },
	{ "L:/h W:/h/p C:/h/p/.git/hooks", "L:/h W:/h/p N:/h/p/.git C:/h/p/.git/hooks",
	  "a workspace in a layer, with its pins" },
	{ "L:/h C:/h/.bashrc= N:/h/.config", "L:/h", "nothing is closed or pinned in a layer" },
	{ "L:/h M:/h/.ssh/id=", "L:/h M:/h/.ssh/id=", "masks apply in it, without a pin" },
	{ "M:/h L:/h", "M:/h", "a mask is stronger" },
	{ "M:/h L:/h/a", "M:/h", "no layer below a mask" },
	{ "L:/h W:/h", "W:/h", "what is writable is direct" },
	{ "L:/h S:/h", "L:/h", "what is layered is shown" },
	{ "L:/h P:/h", "P:/h", "private is stronger" },
	{ "P:/tmp L:/tmp/h W:/tmp/h/w", "P:/tmp L:/tmp/h W:/tmp/h/w",
	  "a layer in a private folder" },
	{ "L:/h S:/h/a.sock= S:/h/l@",
	  "L:/h S:/h/a.sock=", "shown in a layer: a socket, but not a link that is there" },
	{ "P:/ B:/h S:/h/f= S:/h/l@", "P:/ L:/h S:/h/f= S:/h/l@", "in a bare one a link, too" },
	{ "L:/h L:/h/.npm", "L:/h L:/h/.npm", "a layer in a layer" },
	{ "W:/w L:/w/a/p C:/w/a/p/.envrc= M:/w/a/p/d/k=", "W:/w N:/w/a L:/w/a/p M:/w/a/p/d/k=",
	  "a layer in a writable folder cannot be renamed away" },
	{ "W:/w C:/w/a L:/w/a/p", "W:/w C:/w/a", "no layer in what is closed" },
	{ "W:/w P:/w/t L:/w/t/h M:/w/t/h/a/k=", "W:/w P:/w/t L:/w/t/h M:/w/t/h/a/k=",
	  "no pin in a layer for the sake of a root above it" },

	/* pinned */
	{ "W:/w N:/w", "W:/w", "a root is a mount point already" },
	{ "W:/w N:/w/a/b", "W:/w N:/w/a N:/w/a/b", "a pin and those above" },
	{ "N:/x W:/w", "W:/w", "a pin where nothing can be renamed" },
	{ "W:/w N:/w/a C:/w/a", "W:/w C:/w/a", "closed is pinned" },
	{ "W:/w N:/w/a C:/w/a/b", "W:/w N:/w/a C:/w/a/b", "closed below a pin" },
	{ "W:/w N:/w/a W:/w/a/b", "W:/w N:/w/a", "writable below a pin is so" },
};

static void check_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_facts facts = { 0 };
		struct ab_plan plan;
		ab_autofree char *got = NULL;

		read_facts(cases[i].facts, &facts);
		ab_plan_make(&facts, &plan);
		got = write_plan(&plan);
		is_str(got, cases[i].plan, cases[i].name);
		ab_plan_fini(&plan);
		facts_fini(&facts);
	}
}

/* The layers that the plan has go along with it, and only these. */
static void check_layers(void)
{
	static const char *const hidden[] = { ".netrc", ".a/b/c", ".a/b/d", ".a/x" };
	struct ab_facts facts = { 0 };
	struct ab_layer_mounts taken;
	struct ab_plan plan;

	read_facts("L:/h M:/m L:/m/x L:/w W:/w L:/h/.npm", &facts);
	for (size_t i = 0; i < AB_COUNT(hidden); i++)
		ab_strv_add(&ab_layer_mounts_find(&facts.layers, "/h")->hidden, hidden[i]);
	ab_plan_make(&facts, &plan);
	ab_plan_take_layers(&plan, &facts, &taken);
	ok(taken.len == 2 && strcmp(taken.v[0].path, "/h") == 0 &&
		   strcmp(taken.v[1].path, "/h/.npm") == 0,
	   "the layers of the plan are taken");
	ok(facts.layers.len == 2 && ab_layer_mounts_find(&facts.layers, "/m/x"),
	   "the others are left");
	ok(taken.v[0].hidden.len == AB_COUNT(hidden) && taken.v[0].hides && !taken.v[1].hides,
	   "with what they hide");
	ok(taken.v[0].parents.len == 2 && strcmp(taken.v[0].parents.v[0], ".a") == 0 &&
		   strcmp(taken.v[0].parents.v[1], ".a/b") == 0,
	   "and the folders on the way, each once");
	ab_layer_mounts_fini(&taken);
	ab_plan_fini(&plan);
	facts_fini(&facts);
}

static void check_find(void)
{
	static const struct {
		const char *path, *want;
	} finds[] = {
		{ "/", NULL },
		{ "/w", "/w" },
		{ "/w/x", "/w" },
		{ "/w/.git", "/w/.git" },
		{ "/w/.git/index", "/w/.git" },
		{ "/w/.git/hooks/x", "/w/.git/hooks" },
		{ "/w/.git/hooksx", "/w/.git" },
		{ "/w2", NULL },
		{ "/tmp/x/y", "/tmp" },
	};
	struct ab_facts facts = { 0 };
	struct ab_plan plan;

	read_facts("W:/w P:/tmp C:/w/.git/hooks", &facts);
	ab_plan_make(&facts, &plan);
	for (size_t i = 0; i < AB_COUNT(finds); i++) {
		const struct ab_mount *m = ab_plan_find(&plan, finds[i].path);

		is_str(m ? m->path : NULL, finds[i].want, finds[i].path);
	}
	ab_plan_fini(&plan);
	facts_fini(&facts);
}

/* Steady, so that a failure can be repeated. */
static uint32_t seed = 20250101;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void draw_path(char path[16])
{
	uint32_t depth = 1 + draw(4);

	for (uint32_t i = 0; i < depth; i++) {
		path[2 * i] = '/';
		path[2 * i + 1] = (char)('a' + draw(3));
	}
	path[2 * depth] = '\0';
}

static bool covers(const struct ab_objects *list, const char *path)
{
	for (size_t i = 0; i < list->len; i++)
		if (ab_path_within(path, list->v[i].path))
			return true;
	return false;
}

/* Parents first, none twice, nothing below a mask. */
static bool in_order(const struct ab_plan *plan)
{
	for (size_t i = 0; i < plan->len; i++)
		for (size_t k = i + 1; k < plan->len; k++)
			if (ab_path_within(plan->v[i].path, plan->v[k].path) ||
			    (plan->v[i].op == AB_MOUNT_MASK &&
			     ab_path_within(plan->v[k].path, plan->v[i].path)))
				return false;
	return true;
}

static bool is_mount(const struct ab_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->len; i++)
		if (strcmp(plan->v[i].path, path) == 0)
			return true;
	return false;
}

/* No folder between a writable root and what is closed in it can go. */
static bool pinned(const struct ab_plan *plan)
{
	for (size_t i = 0; i < plan->len; i++) {
		char path[16];

		if (plan->v[i].op != AB_MOUNT_CLOSE && plan->v[i].op != AB_MOUNT_MASK)
			continue;
		snprintf(path, sizeof(path), "%s", plan->v[i].path);
		for (char *slash; (slash = strrchr(path, '/')) != path;) {
			const struct ab_mount *m;

			*slash = '\0';
			m = ab_plan_find(plan, path);
			if (m && (m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_PIN) &&
			    !is_mount(plan, path))
				return false;
		}
	}
	return true;
}

/* denyRead > denyWrite > write > nothing, for every path. */
static bool precedence(const struct ab_facts *facts, const struct ab_plan *plan, const char *path)
{
	const struct ab_mount *m = ab_plan_find(plan, path);
	bool open = m && (m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_PIN);

	if (covers(&facts->masked, path))
		return m && m->op == AB_MOUNT_MASK;
	if (covers(&facts->closed, path))
		return !open && (!m || m->op != AB_MOUNT_MASK);
	return open == covers(&facts->write, path);
}

static void check_random(void)
{
	bool order = true, pins = true, wins = true;

	for (int round = 0; round < 3000; round++) {
		struct ab_facts facts = { 0 };
		struct ab_plan plan;
		char path[16];

		for (uint32_t i = 1 + draw(8); i > 0; i--) {
			draw_path(path);
			add_fact(&facts, "WWCMN"[draw(5)], path, AB_AS_DIR);
		}
		ab_plan_make(&facts, &plan);
		order &= in_order(&plan);
		pins &= pinned(&plan);
		for (int i = 0; i < 40; i++) {
			draw_path(path);
			wins &= precedence(&facts, &plan, path);
		}
		ab_plan_fini(&plan);
		facts_fini(&facts);
	}
	ok(order, "random: parents first, none twice, nothing below a mask");
	ok(pins, "random: what is closed cannot be renamed away");
	ok(wins, "random: denyRead over denyWrite over write");
}

/* T: the top, H: the hooks of a repository whose configuration can be changed for the box. */
static const struct {
	const char *name, *facts, *want;
} stages[] = {
	{ "a checkout", "W:/w C:/w/.git/config= C:/w/.git/hooks", "T:/w/.git H:/w/.git/hooks " },
	{ "a bare repository", "W:/w C:/w/config= C:/w/hooks", "H:/w/hooks " },
	{ "a submodule's", "W:/w C:/w/.git/modules/a/config= C:/w/.git/modules/a/hooks",
	  "H:/w/.git/modules/a/hooks " },
	{ "no hooks", "W:/w C:/w/.git/config=", "" },
	{ "no configuration", "W:/w C:/w/.git/hooks", "" },
	{ "hooks that are a link", "W:/w C:/w/.git/config= C:/w/.git/hooks@", "" },
	{ "a configuration that is a link", "W:/w C:/w/.git/config@ C:/w/.git/hooks", "" },
	{ "a closed repository", "W:/w C:/w/.git", "" },
	{ "another folder", "W:/w C:/w/a/config= C:/w/a/hook", "" },
};

static void check_stages(void)
{
	for (size_t i = 0; i < AB_COUNT(stages); i++) {
		struct ab_facts facts = { 0 };
		struct ab_plan plan;
		ab_autobuf struct ab_buf b = { 0 };

		read_facts(stages[i].facts, &facts);
		ab_plan_make(&facts, &plan);
		ab_buf_puts(&b, "");
		for (size_t k = 0; k < plan.len; k++)
			if (ab_plan_stage(&plan, k) != AB_STAGE_NONE)
				ab_buf_printf(&b, "%c:%s ", " TH"[ab_plan_stage(&plan, k)],
					      plan.v[k].path);
		is_str(b.data, stages[i].want, stages[i].name);
		ab_plan_fini(&plan);
		facts_fini(&facts);
	}
}

int main(void)
{
	check_cases();
	check_layers();
	check_find();
	check_stages();
	check_random();
	return done();
}
