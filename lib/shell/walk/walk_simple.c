/*
 * From words to commands: walk the expansions in the words, then evaluate the
 * words once per combination of possible values.
 */
#include "shell/command/name_index.h"
#include "shell/walk/walk_state.h"

/* The command for one combination. */
struct built {
	struct ab_simple command;
	bool prints;		      /* to the shell's own output */
	const struct ab_redirect *to; /* or to this file */
	struct built *next;
};

/* Walk the commands in $( ) and <( ) and keep their output. */
static void walk_substitution(struct ab_walk *w, struct ab_part *part)
{
	struct ab_outlet *outlet = ab_arena_alloc(w->arena, sizeof(*outlet));
	struct ab_walk_saved saved;

	outlet->maybes = w->maybes;
	ab_walk_enter(w, &saved);
	w->out = outlet;
	w->flags &= ~(unsigned)AB_SIMPLE_PIPED;
	ab_walk_node(w, part->command.script);
	ab_walk_leave(w, &saved);
	outlet->data.none = !outlet->any;
	if (!outlet->any)
		outlet->data.text = (struct ab_text){ "", 0 };
	part->command.output = &outlet->data;
}

/* ${x:=word} sets x if it has no value. */
static void assign_default(struct ab_walk *w, const struct ab_part *part)
{
	struct ab_choices choices = { 0 };
	const struct ab_eval e = { w->arena, w->vars, w->at.source, &choices };
	const struct ab_var *former = ab_vars_get(w->vars, part->param.name);
	struct ab_field field;

	if (!part->param.word)
		return;
	ab_eval_single(&e, part->param.word, &field);
	if (!former)
		ab_walk_set(w, part->param.name,
			    ab_vars_join(w->arena, NULL, ab_walk_value(w, &field)));
}

/* ${x@P} expands the value as a prompt, with the commands in it. */
static void walk_prompt(struct ab_walk *w, const struct ab_part *part)
{
	struct ab_text op = part->param.op_text;
	const struct ab_var *value;

	if (!op.s || op.len < 2 || memcmp(op.s + op.len - 2, "@P", 2) != 0)
		return;
	for (value = ab_vars_get(w->vars, part->param.name); value; value = value->next) {
		const struct ab_field text = ab_walk_field(value, ab_walk_map(w, part->range));

		ab_walk_expansions(w, &text);
	}
}

void ab_walk_parts(struct ab_walk *w, struct ab_part *part)
{
	for (; part && !w->over; part = part->next)
		switch (part->kind) {
		case AB_PART_TEXT:
			break;
		case AB_PART_PARAM:
			ab_walk_parts(w, part->param.subscript);
			ab_walk_words(w, part->param.word);
			if (part->param.op == AB_PARAM_ASSIGN)
				assign_default(w, part);
			else if (part->param.op == AB_PARAM_OTHER)
				walk_prompt(w, part);
			break;
		case AB_PART_COMMAND:
		case AB_PART_PROCESS_IN:
			walk_substitution(w, part);
			break;
		case AB_PART_PROCESS_OUT: /* walked after the command */
			break;
		case AB_PART_ARITH:
			ab_walk_parts(w, part->arith);
			break;
		}
}

void ab_walk_words(struct ab_walk *w, const struct ab_shell_word *word)
{
	for (; word && !w->over; word = word->next)
		if (!ab_word_is_text(word))
			ab_walk_parts(w, word->parts);
}

static int get_descriptor(const struct ab_redir *r)
{
	if (r->fd != -1)
		return r->fd;
	return r->op == AB_REDIR_DUP_OUT ||
	       (ab_redir_writes(r->op) && r->op != AB_REDIR_READ_WRITE);
}

static void build_redirects(struct ab_walk *w, const struct ab_eval *e,
			    const struct ab_redir *redirs, struct built *b)
{
	struct ab_redirect *out;
	size_t n = 0;

	b->prints = true;
	if (!redirs)
		return;
	for (const struct ab_redir *r = redirs; r; r = r->next)
		n++;
	out = ab_arena_alloc(w->arena, n * sizeof(*out));
	b->command.redirects = out;
	b->command.nredirects = n;
	for (const struct ab_redir *r = redirs; r; r = r->next, out++) {
		out->op = r->op;
		out->fd = get_descriptor(r);
		out->file.text = (struct ab_text){ "", 0 };
		if (r->target)
			ab_eval_single(e, r->target, &out->file);
	}
	ab_data_redirect(w, &b->command, &b->prints, &b->to);
}

static void build_bindings(struct ab_walk *w, const struct ab_eval *e,
			   const struct ab_assign *assigns, struct ab_simple *command)
{
	struct ab_binding *out;
	size_t n = 0;

	for (const struct ab_assign *a = assigns; a; a = a->next)
		n++;
	if (!n)
		return;
	out = ab_arena_alloc(w->arena, n * sizeof(*out));
	command->bindings = out;
	command->nbindings = n;
	for (const struct ab_assign *a = assigns; a; a = a->next, out++) {
		out->name = a->name;
		out->value.text = (struct ab_text){ "", 0 };
		if (a->value)
			ab_eval_single(e, a->value, &out->value);
	}
}

static void build_words(struct ab_walk *w, const struct ab_eval *e,
			const struct ab_shell_node *node, struct ab_simple *command)
{
	struct ab_fields fields = { .room = node->simple.nwords };

	if (!fields.room)
		return;
	fields.v = ab_arena_alloc(w->arena, fields.room * sizeof(*fields.v));
	for (const struct ab_shell_word *x = node->simple.words; x; x = x->next)
		ab_eval_word(e, x, &fields);
	command->argv = fields.v;
	command->argc = fields.len;
}

void ab_walk_name(struct ab_simple *command)
{
	struct ab_text name = { "", 0 };

	if (command->argc && !command->argv[0].unknown)
		name = command->argv[0].text;
	if (command->argc && ab_field_has(&command->argv[0], AB_BYTES_SLASH))
		name = ab_text_base(name);
	command->name = name;
	ab_command_look_up(command);
}

/* A longer folder counts as unknown: every command is checked against it. */
enum { FOLDER_MAX = 1024 };

struct ab_text ab_walk_folder(const struct ab_walk *w)
{
	const struct ab_var *v = ab_vars_folder(w->vars);

	return v && !v->next && v->text.len <= FOLDER_MAX ? v->text : AB_UNKNOWN_TEXT;
}

/* One of several folders, as any variable has one of several values. */
static __attribute__((noinline)) struct ab_text choose_folder(const struct ab_eval *e)
{
	struct ab_part part = { .kind = AB_PART_PARAM, .quoted = true, .param.name = { "PWD", 3 } };
	struct ab_shell_word word = { .parts = &part };
	struct ab_field field;

	ab_eval_single(e, &word, &field);
	return field.text;
}

static struct ab_text current_folder(const struct ab_eval *e)
{
	const struct ab_var *v = ab_vars_folder(e->vars);

	struct ab_text folder = AB_UNKNOWN_TEXT;

	if (v)
		folder = v->next ? choose_folder(e) : v->text;
	return folder.len > FOLDER_MAX ? AB_UNKNOWN_TEXT : folder;
}

/* Count expanded bytes: a short text with long variables must not cost without
 * bound. */
static void charge_command(struct ab_walk *w, const struct ab_simple *command,
			   const struct ab_shell_node *node)
{
	size_t len = 0, own = node->range.to - node->range.from;

	for (size_t i = 0; i < command->argc; i++)
		len += command->argv[i].text.len;
	if (len > own)
		w->nested += len - own;
	w->commands++;
	if (w->nested > AB_WALK_NESTED_MAX || w->commands > AB_WALK_COMMANDS_MAX)
		ab_walk_stop(w, command->range, "Too complex to analyse completely.");
}

static struct built *build_command(struct ab_walk *w, const struct ab_shell_node *node,
				   struct ab_choices *choices)
{
	const struct ab_eval e = { w->arena, w->vars, w->at.source, choices };
	struct built *b = ab_arena_alloc(w->arena, sizeof(*b));
	struct ab_simple *c = &b->command;

	c->scene = w->scene;
	c->in = w->in;
	c->flags = w->flags;
	c->via = w->via;
	c->range = ab_walk_map(w, node->range);
	c->files = w->files;
	c->cwd = current_folder(&e);
	if (node->kind == AB_NODE_SIMPLE) {
		build_bindings(w, &e, node->simple.assigns, c);
		build_words(w, &e, node, c);
	}
	build_redirects(w, &e, node->redirs, b);
	ab_walk_name(c);
	charge_command(w, c, node);
	return b;
}

/* Build all before any is run: variables set by one would change the words of the
 * next. */
static struct built *build_all(struct ab_walk *w, const struct ab_shell_node *node)
{
	struct ab_choices choices = { 0 };
	struct built *first = NULL, **tail = &first;

	do {
		*tail = build_command(w, node, &choices);
		tail = &(*tail)->next;
		choices.spent |= choices.len && w->rounds++ > AB_WALK_ROUNDS_MAX;
	} while (!w->over && ab_choices_next(&choices));
	return first;
}

static bool is_process_out(const struct ab_shell_word *word)
{
	if (word && ab_word_is_text(word))
		return false;
	for (const struct ab_part *p = word ? word->parts : NULL; p; p = p->next)
		if (p->kind == AB_PART_PROCESS_OUT)
			return true;
	return false;
}

static bool has_process_out(const struct ab_shell_node *node)
{
	for (const struct ab_redir *r = node->redirs; r; r = r->next)
		if (is_process_out(r->target))
			return true;
	if (node->kind != AB_NODE_SIMPLE || !node->simple.composed)
		return false;
	for (const struct ab_shell_word *x = node->simple.words; x; x = x->next)
		if (is_process_out(x))
			return true;
	return false;
}

/* >( ) reads the output of the command. */
static void walk_process_out(struct ab_walk *w, const struct ab_shell_word *word,
			     const struct ab_outlet *printed)
{
	for (struct ab_part *p = word ? word->parts : NULL; p; p = p->next) {
		struct ab_walk_saved saved;

		if (p->kind != AB_PART_PROCESS_OUT || w->over)
			continue;
		ab_walk_enter(w, &saved);
		w->in = printed->data;
		w->in.none = !printed->any;
		ab_walk_node(w, p->command.script);
		ab_walk_leave(w, &saved);
	}
}

static void run_one(struct ab_walk *w, const struct ab_shell_node *node, const struct built *b,
		    void *place)
{
	struct ab_outlet *out = w->out, own = { .maybes = w->maybes };
	bool process = has_process_out(node);

	for (size_t i = 0; i < b->command.nbindings && b->command.argc; i++)
		ab_walk_setting(w, b->command.bindings[i].name, &b->command.bindings[i].value);
	if (process || b->to)
		w->out = &own;
	else if (!b->prints)
		w->out = NULL;
	ab_walk_run(w, &b->command, place);
	w->out = out;
	if (!process) {
		if (b->to && node->kind == AB_NODE_SIMPLE)
			ab_walk_printed(w, &b->command, b->to, &own);
		return;
	}
	if (b->prints)
		ab_outlet_add(w, &own.data);
	for (const struct ab_redir *r = node->redirs; r; r = r->next)
		walk_process_out(w, r->target, &own);
	if (node->kind == AB_NODE_SIMPLE)
		for (const struct ab_shell_word *x = node->simple.words; x; x = x->next)
			walk_process_out(w, x, &own);
}

static bool is_same_data(const struct ab_data *a, const struct ab_data *b)
{
	return a->none == b->none && a->text.s == b->text.s && a->text.len == b->text.len &&
	       a->unknown == b->unknown && a->taint == b->taint;
}

static bool is_same_field(const struct ab_field *a, const struct ab_field *b)
{
	return a->text.len == b->text.len && a->unknown == b->unknown && a->splits == b->splits &&
	       a->pattern == b->pattern && a->taint == b->taint && a->stream == b->stream &&
	       memcmp(a->text.s, b->text.s, a->text.len) == 0;
}

/* Do both start the same function in the same way? The folder is not compared: a function
 * sees all possible folders. */
static bool is_same_call(const struct ab_simple *a, const struct ab_simple *b)
{
	if (a->argc != b->argc || a->nbindings || b->nbindings || a->nredirects || b->nredirects ||
	    !is_same_data(&a->in, &b->in))
		return false;
	for (size_t i = 0; i < a->argc; i++)
		if (!is_same_field(&a->argv[i], &b->argv[i]))
			return false;
	return true;
}

static void run_all(struct ab_walk *w, const struct ab_shell_node *node, const struct built *b,
		    void *place)
{
	const struct built *before = b;
	bool several = b->next;

	w->maybes += several;
	run_one(w, node, b, place);
	for (b = b->next; b && !w->over; before = b, b = b->next) {
		size_t mark = ab_vars_mark(w->vars);

		w->again++;
		w->same_call = is_same_call(&before->command, &b->command);
		run_one(w, node, b, NULL);
		w->again--;
		ab_vars_merge(w->vars, mark);
	}
	w->maybes -= several;
}

static void walk_expansions(struct ab_walk *w, const struct ab_shell_node *node)
{
	for (const struct ab_redir *r = node->redirs; r; r = r->next)
		ab_walk_words(w, r->target);
	if (node->kind != AB_NODE_SIMPLE)
		return;
	if (node->simple.composed)
		ab_walk_words(w, node->simple.words);
	for (const struct ab_assign *a = node->simple.assigns; a; a = a->next) {
		ab_walk_parts(w, a->subscript);
		ab_walk_words(w, a->value);
	}
}

void ab_walk_redirected(struct ab_walk *w, const struct ab_shell_node *node,
			void (*walk)(struct ab_walk *w, const struct ab_shell_node *node))
{
	struct ab_outlet *out = w->out, own = { .maybes = w->maybes };
	const struct ab_data in = w->in;
	void *place = ab_walk_reserve(w);
	const struct built *b;

	walk_expansions(w, node);
	b = build_all(w, node);
	run_all(w, node, b, place);
	w->in = b->command.in;
	if (b->to || !b->prints)
		w->out = b->to ? &own : NULL;
	walk(w, node);
	w->in = in;
	w->out = out;
	if (b->to)
		ab_walk_printed(w, &b->command, b->to, &own);
}

static void assign_all(struct ab_walk *w, const struct ab_shell_node *node)
{
	for (const struct ab_assign *a = node->simple.assigns; a && !w->over; a = a->next) {
		ab_walk_parts(w, a->subscript);
		ab_walk_words(w, a->value);
		ab_walk_assign(w, a);
		if (++w->commands > AB_WALK_COMMANDS_MAX)
			ab_walk_stop(w, ab_walk_map(w, a->range),
				     "Too complex to analyse completely.");
	}
}

void ab_walk_simple(struct ab_walk *w, const struct ab_shell_node *node)
{
	void *place;

	if (!node->simple.words && !node->redirs) {
		assign_all(w, node);
		return;
	}
	place = ab_walk_reserve(w);
	walk_expansions(w, node);
	if (w->over)
		return;
	if (!node->simple.words)
		assign_all(w, node);
	else if (w->named)
		ab_walk_expand(w, node);
	run_all(w, node, build_all(w, node), place);
}
