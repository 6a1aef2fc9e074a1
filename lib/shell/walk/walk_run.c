/* Commands that a command starts through wrappers, scripts, functions and aliases. */
#include "shell/code/code.h"
#include "shell/command/name_index.h"
#include "shell/output/printed.h"
#include "shell/syntax/name_table.h"
#include "shell/walk/walk_state.h"
#include "shell/wrap/wrap.h"

/* Parsing a byte of a script costs as much as copying this many. */
enum { READING = 8 };

/* Programs that run others or code. */
#define WRAPS (AB_TABLE_WRAPPERS | AB_TABLE_LANGUAGES)

/* Reading, copying and printing programs, and package managers. */
#define RUNS_NO_WORDS                                                                 \
	(AB_TABLE_READS | AB_TABLE_WRITERS | AB_TABLE_LANGUAGES | AB_TABLE_PACKAGES | \
	 AB_TABLE_BUILTINS)

enum { HIDDEN_MAX = 16 }; /* entries of one name that are searched */

static struct ab_named *find_named(const struct ab_walk *w, struct ab_text name, bool alias)
{
	struct ab_named *n;

	if (!w->named)
		return NULL;
	for (n = w->named[ab_text_hash(name) % AB_NAMED_BUCKETS]; n; n = n->chain)
		if (!n->body == alias && ab_text_same(n->name, name))
			return n;
	return NULL;
}

/* `former`: the older entry of this name and kind that the new one hides, or NULL. */
static struct ab_named *add_named(struct ab_walk *w, struct ab_text name, struct ab_named *former)
{
	struct ab_named *n = ab_arena_alloc(w->arena, sizeof(*n)), **link;

	if (!w->named)
		w->named = ab_arena_alloc(w->arena, AB_NAMED_BUCKETS * sizeof(*w->named));
	link = &w->named[ab_text_hash(name) % AB_NAMED_BUCKETS];
	while (former && *link != former)
		link = &(*link)->chain;
	*n = (struct ab_named){ .name = name,
				.in = w->at,
				.flags = w->flags,
				.via = w->via,
				.hides = former,
				.chain = former ? former->chain : *link };
	/* Beyond the limit, calls do not find it, but ab_walk_uncalled() walks it. */
	if (former || w->nnamed++ < AB_NAMED_MAX)
		*link = n;
	*w->last_named = n;
	w->last_named = &n->next;
	return n;
}

/* Two functions may define each other's names in turn: a hidden entry is used again, so
 * that each of their bodies is walked once if nothing calls it. */
static bool show_hidden(struct ab_walk *w, struct ab_named *top, const struct ab_shell_node *body)
{
	struct ab_named **link, *before = top, *n = top ? top->hides : NULL;

	for (unsigned i = 0; n && i < HIDDEN_MAX; before = n, n = n->hides, i++) {
		if (n->body != body || n->flags != w->flags || n->via != w->via)
			continue;
		link = &w->named[ab_text_hash(top->name) % AB_NAMED_BUCKETS];
		while (*link != top)
			link = &(*link)->chain;
		*link = n;
		before->hides = n->hides;
		n->hides = top;
		n->chain = top->chain;
		return true;
	}
	return false;
}

void ab_walk_define(struct ab_walk *w, const struct ab_shell_node *function)
{
	struct ab_named *n = find_named(w, function->function.name, false);
	const struct ab_shell_node *body = function->function.body;

	if (!body || (n && n->body == body) || show_hidden(w, n, body))
		return;
	n = add_named(w, function->function.name, n);
	n->body = body;
}

void ab_walk_alias(struct ab_walk *w, struct ab_text name, struct ab_text text)
{
	struct ab_named *n = find_named(w, name, true);

	if (!n)
		n = add_named(w, name, NULL);
	n->alias = text;
}

/* Parse the field as a script and walk it. */
static void walk_script(struct ab_walk *w, const struct ab_field *field)
{
	const struct ab_walk_text at = w->at;
	const struct ab_nesting source = { field->range, field->verbatim };
	struct ab_script script;

	w->nested += (size_t)READING * field->text.len;
	if (w->nested > AB_WALK_NESTED_MAX || w->levels >= AB_WALK_LEVELS_MAX) {
		ab_walk_stop(w, field->range, "Nested too deeply to analyse.");
		return;
	}
	ab_parse(w->arena, field->text, &script);
	w->at = (struct ab_walk_text){ field->text, memcpy(ab_arena_alloc(w->arena, sizeof(source)),
							   &source, sizeof(source)) };
	w->levels++;
	ab_walk_node(w, script.list);
	if (script.error)
		ab_walk_unread(w, &script);
	w->levels--;
	w->at = at;
}

void ab_walk_text(struct ab_walk *w, const struct ab_field *script)
{
	struct ab_walk_saved saved;

	ab_walk_enter(w, &saved);
	w->in = (struct ab_data){ .none = true };
	w->out = NULL;
	w->again++;
	walk_script(w, script);
	w->again--;
	ab_walk_leave(w, &saved);
}

static void set_folder(struct ab_walk *w, const char *folder)
{
	const struct ab_field f = { .text = ab_text_of(folder) };

	ab_walk_put(w, AB_TEXT("PWD"), ab_walk_value(w, &f));
}

static void set_bindings(struct ab_walk *w, const struct ab_binding *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ab_walk_set(w, b[i].name, ab_walk_value(w, &b[i].value));
}

/* Walk the script in a separate shell. */
static void walk_separately(struct ab_walk *w, const struct ab_simple *command,
			    const struct ab_inner *inner)
{
	const struct ab_fields *former;
	size_t mark = ab_vars_mark(w->vars);

	set_bindings(w, command->bindings, command->nbindings);
	set_bindings(w, inner->bindings, inner->nbindings);
	if (inner->cwd)
		set_folder(w, inner->cwd);
	former = ab_vars_positional(w->vars, inner->positional);
	walk_script(w, &inner->script);
	ab_vars_positional(w->vars, former);
	ab_vars_undo(w->vars, mark);
}

static void follow_script(struct ab_walk *w, const struct ab_simple *command,
			  const struct ab_inner *inner)
{
	const struct ab_data in = w->in;
	const unsigned flags = w->flags;
	const char *via = w->via;
	unsigned kept = 0;

	if (inner->script.unknown && inner->script.text.len == 1) {
		const struct ab_data data = ab_data_unknown(command->range, inner->script.taint);

		ab_outlet_add(w, &data);
		return;
	}
	w->in = inner->in;
	w->flags = command->flags | inner->flags;
	w->via = ab_arena_ndup(w->arena, command->name.s, command->name.len);
	/* These run the script in this shell and keep its variables. */
	if (ab_listed(". eval source", command->name)) {
		walk_script(w, &inner->script);
		kept = w->flags & AB_SIMPLE_ALTERED;
	} else {
		walk_separately(w, command, inner);
	}
	w->via = via;
	w->flags = flags | kept;
	w->in = in;
}

static void join_bindings(struct ab_walk *w, struct ab_simple *inner,
			  const struct ab_simple *command)
{
	struct ab_binding *all;
	size_t n = inner->nbindings, m = command->nbindings;

	if (!m)
		return;
	all = ab_arena_alloc(w->arena, (n + m) * sizeof(*all));
	memcpy(all, command->bindings, m * sizeof(*all));
	if (n)
		memcpy(all + m, inner->bindings, n * sizeof(*all));
	inner->bindings = all;
	inner->nbindings = n + m;
}

static void follow_argv(struct ab_walk *w, const struct ab_simple *command,
			const struct ab_inner *inner)
{
	void *place = ab_walk_reserve(w);
	struct ab_simple *next = ab_arena_alloc(w->arena, sizeof(*next));

	*next = (struct ab_simple){ .scene = w->scene,
				    .argv = inner->argv,
				    .argc = inner->argc,
				    .bindings = inner->bindings,
				    .nbindings = inner->nbindings,
				    .in = inner->in,
				    .cwd = command->cwd,
				    .files = command->files,
				    .flags = command->flags | inner->flags,
				    .via = ab_arena_ndup(w->arena, command->name.s,
							 command->name.len),
				    .range = command->range };
	if (inner->argc && inner->argv[0].range.to > inner->argv[0].range.from)
		next->range.from = inner->argv[0].range.from;
	if (next->range.from > next->range.to)
		next->range = command->range;
	if (inner->cwd)
		next->cwd = ab_text_of(inner->cwd);
	/* A remote command does not share local descriptors. */
	if (!(inner->flags & AB_SIMPLE_REMOTE)) {
		next->redirects = command->redirects;
		next->nredirects = command->nredirects;
	}
	join_bindings(w, next, command);
	ab_walk_name(next);
	w->nested += inner->argc * sizeof(*inner->argv);
	w->levels++;
	ab_walk_run(w, next, place);
	w->levels--;
}

static void follow_inners(struct ab_walk *w, const struct ab_simple *command,
			  const struct ab_inner *inner)
{
	for (; inner && !w->over; inner = inner->next) {
		for (size_t i = 0; i < inner->nbindings; i++)
			ab_walk_setting(w, inner->bindings[i].name, &inner->bindings[i].value);
		if (w->levels >= AB_WALK_LEVELS_MAX || w->nested > AB_WALK_NESTED_MAX ||
		    w->commands++ > AB_WALK_COMMANDS_MAX) {
			ab_walk_stop(w, command->range, "Nested too deeply to analyse.");
			return;
		}
		if (inner->kind == AB_INNER_ARGV)
			follow_argv(w, command, inner);
		else
			follow_script(w, command, inner);
	}
}

static void walk_body(struct ab_walk *w, struct ab_named *f, const struct ab_fields *given)
{
	const struct ab_fields *former = ab_vars_positional(w->vars, given);
	const struct ab_walk_text at = w->at;
	struct ab_walk_local *locals = w->locals;
	const char *via = w->via;
	bool listed = f->called;

	f->called = true;
	f->running++;
	w->again += listed;
	w->at = f->in;
	w->via = f->via;
	w->calls++;
	ab_walk_node(w, f->body);
	w->calls--;
	w->again -= listed;
	f->running--;
	w->via = via;
	w->at = at;
	for (; w->locals != locals; w->locals = w->locals->next)
		ab_walk_set(w, w->locals->name, w->locals->former);
	ab_vars_positional(w->vars, former);
}

/* `same`: the function was walked with these words already. */
static bool call_function(struct ab_walk *w, const struct ab_simple *command, bool same)
{
	struct ab_named *f = find_named(w, command->name, false);
	const struct ab_fields *given;
	struct ab_data in = w->in;

	if (!f || command->argv[0].text.len != command->name.len)
		return false;
	/* A second nested call sees variables set by the first; a third adds nothing. */
	if (w->calls >= AB_WALK_CALLS_MAX || f->running >= 2 || same)
		return true;
	given = ab_walk_given(w, command->argv, command->argc);
	w->in = command->in;
	walk_body(w, f, given);
	w->in = in;
	return true;
}

void ab_walk_uncalled(struct ab_walk *w)
{
	for (struct ab_named *n = w->first_named; n && !w->over; n = n->next) {
		if (n->called || !n->body)
			continue;
		w->flags = n->flags;
		w->out = NULL;
		walk_body(w, n, NULL);
	}
}

/* The words after the alias are copied from the text unchanged. */
void ab_walk_expand(struct ab_walk *w, const struct ab_shell_node *node)
{
	const struct ab_shell_word *first = node->simple.words;
	struct ab_named *alias;
	struct ab_field script = { .verbatim = AB_NOT_VERBATIM };
	struct ab_text rest;

	if (!first->parts || first->parts->next || first->parts->kind != AB_PART_TEXT ||
	    first->parts->quoted)
		return;
	alias = find_named(w, first->parts->text, true);
	if (!alias || alias->running || node->range.to > w->at.text.len)
		return;
	rest = (struct ab_text){ w->at.text.s + first->range.to, node->range.to - first->range.to };
	script.text = ab_text_join(w->arena, alias->alias, rest);
	script.range = ab_walk_map(w, node->range);
	alias->running++;
	walk_script(w, &script);
	alias->running--;
}

static bool reads_file(const struct ab_simple *command)
{
	for (size_t i = 0; i < command->nredirects; i++)
		if (command->redirects[i].op == AB_REDIR_IN && command->redirects[i].fd == 0)
			return true;
	return false;
}

static void print_output(struct ab_walk *w, const struct ab_simple *command,
			 const struct ab_unwrapped *u)
{
	enum ab_language language;
	struct ab_simple bare;
	struct ab_data data;

	/* $(< FILE) is the content of the file; other shells print it for `< FILE` too. */
	if (!command->argc) {
		if (reads_file(command))
			ab_outlet_add(w, &command->in);
		return;
	}
	/* The caller has already applied the redirections. */
	if (command->nredirects) {
		bare = *command;
		bare.nredirects = 0;
		command = &bare;
	}
	if (!u->inners)
		ab_printed_output(w->arena, command, &data);
	else if (ab_command_in(command, AB_TABLE_LANGUAGES) &&
		 ab_code_language(command->name, &language))
		data = ab_data_unknown(command->range, 0);
	else
		return;
	ab_outlet_add(w, &data);
}

static void report_command(struct ab_walk *w, const struct ab_simple *command,
			   const struct ab_unwrapped *u, void *place)
{
	struct ab_simple wraps;

	if (u->inners) {
		wraps = *command;
		wraps.flags |= AB_SIMPLE_WRAPS;
		command = &wraps;
	}
	w->events->command(w->events->arg, command, u->inners && u->transparent, place);
}

void ab_walk_run(struct ab_walk *w, const struct ab_simple *command, void *place)
{
	struct ab_unwrapped u = { 0 };
	bool called = false, same_call = w->same_call;

	/* Not for what it starts: a script may differ from folder to folder. */
	w->same_call = false;
	if (command->argc && (command->files || ab_command_in(command, WRAPS)))
		ab_unwrap(w->arena, command, &u);
	follow_inners(w, command, u.inners);
	if (!u.inners && command->argc > 1 && !(command->tables & RUNS_NO_WORDS))
		ab_walk_guess(w, command);
	report_command(w, command, &u, place);
	if (w->named && command->name.len)
		called = call_function(w, command, same_call);
	if (!called && w->out)
		print_output(w, command, &u);
	/* A program started by a wrapper does not change this shell. */
	if (!command->via || command->via == w->via || strcmp(command->via, "command") == 0 ||
	    strcmp(command->via, "builtin") == 0)
		ab_walk_builtin(w, command);
	ab_walk_written(w, command);
}
