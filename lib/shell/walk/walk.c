/*
 * Control flow. Walks every part of the tree once, in source order, but a loop
 * that sets variables twice: its second turn sees the values of the first.
 */
#include "shell/walk/walk.h"

#include "shell/walk/forkbomb.h"
#include "shell/walk/walk_state.h"

/* Nested loops that get a second turn: each level doubles the work. */
enum { SECOND_TURNS = 2 };

struct ab_span ab_walk_map(const struct ab_walk *w, struct ab_span range)
{
	return ab_nesting_map(w->at.source, range);
}

void *ab_walk_reserve(struct ab_walk *w)
{
	return w->again || !w->events->reserve ? NULL : w->events->reserve(w->events->arg);
}

static void report_hit(struct ab_walk *w, enum ab_rule_id rule, struct ab_span range,
		       const char *reason)
{
	const struct ab_hit hit = { .rule = rule, .range = range, .reason = reason };

	if (w->events->hit)
		w->events->hit(w->events->arg, &hit);
}

void ab_walk_stop(struct ab_walk *w, struct ab_span range, const char *why)
{
	if (!w->over)
		report_hit(w, AB_RULE_UNPARSED, range, why);
	w->over = true;
}

void ab_walk_unread(struct ab_walk *w, const struct ab_script *script)
{
	uint32_t at = script->error_at, len = w->at.text.len;
	const char *why = ab_arena_cat(w->arena, "Cannot parse this: ", script->error);

	if (at >= len)
		at = len ? len - 1 : 0;
	report_hit(w, AB_RULE_UNPARSED, ab_walk_map(w, (struct ab_span){ at, len }),
		   ab_arena_cat(w->arena, why, "."));
}

void ab_walk_enter(struct ab_walk *w, struct ab_walk_saved *saved)
{
	*saved = (struct ab_walk_saved){
		.in = w->in, .out = w->out, .flags = w->flags, .mark = ab_vars_mark(w->vars)
	};
}

void ab_walk_leave(struct ab_walk *w, const struct ab_walk_saved *saved)
{
	ab_vars_undo(w->vars, saved->mark);
	w->in = saved->in;
	w->out = saved->out;
	w->flags = saved->flags;
}

static void walk_children(struct ab_walk *w, const struct ab_shell_node *first)
{
	for (; first && !w->over; first = first->next)
		ab_walk_node(w, first);
}

static void report_bomb(struct ab_walk *w, struct ab_span range)
{
	report_hit(w, AB_RULE_FORK_BOMB, ab_walk_map(w, range), NULL);
}

static void walk_pipeline(struct ab_walk *w, const struct ab_shell_node *node)
{
	struct ab_outlet *last = w->out;
	struct ab_data in = w->in;

	if (ab_forkbomb_pipeline(node))
		report_bomb(w, node->range);
	for (const struct ab_shell_node *n = node->first; n && !w->over; n = n->next) {
		struct ab_outlet between = { .maybes = w->maybes };
		struct ab_walk_saved saved;

		ab_walk_enter(w, &saved);
		w->in = in;
		w->out = n->next ? &between : last;
		if (n->next)
			w->flags |= AB_SIMPLE_PIPED;
		ab_walk_node(w, n);
		ab_walk_leave(w, &saved);
		in = between.data;
		in.none = !between.any;
	}
}

/*
 * A command after && runs only if all before it succeeded, so it sees the
 * variables they set; one after || may follow a failure of any of them.
 */
static void walk_andor(struct ab_walk *w, const struct ab_shell_node *node)
{
	const struct ab_shell_node *n = node->first;
	size_t mark;
	bool either;

	if (!n)
		return;
	ab_walk_node(w, n);
	n = n->next;
	mark = ab_vars_mark(w->vars);
	either = n && n->either;
	w->maybes++;
	for (; n && !w->over; n = n->next) {
		if (n->either || either != n->either) {
			ab_vars_merge(w->vars, mark);
			mark = ab_vars_mark(w->vars);
			either = n->either;
		}
		ab_walk_node(w, n);
	}
	ab_vars_merge(w->vars, mark);
	w->maybes--;
}

static void walk_if(struct ab_walk *w, const struct ab_shell_node *node)
{
	struct ab_walk_join *join;

	ab_walk_node(w, node->branch.test);
	ab_walk_join_begin(w, &join);
	ab_walk_node(w, node->branch.body);
	ab_walk_join_next(w, join);
	if (node->branch.otherwise && !w->over) {
		ab_walk_node(w, node->branch.otherwise);
		ab_walk_join_next(w, join);
	}
	ab_walk_join_end(w, join, node->branch.otherwise);
}

static bool matches_all(const struct ab_shell_word *pattern)
{
	const struct ab_part *p = pattern->parts;

	return p && !p->next && p->kind == AB_PART_TEXT && !p->quoted && ab_text_is(p->text, "*");
}

static void walk_case(struct ab_walk *w, const struct ab_shell_node *node)
{
	struct ab_walk_join *join;
	bool all = false;

	ab_walk_words(w, node->cases.word);
	ab_walk_join_begin(w, &join);
	for (const struct ab_case_item *i = node->cases.items; i && !w->over; i = i->next) {
		ab_walk_words(w, i->patterns);
		for (const struct ab_shell_word *p = i->patterns; p; p = p->next)
			all = all || matches_all(p);
		if (i->body)
			ab_walk_node(w, i->body);
		ab_walk_join_next(w, join);
	}
	ab_walk_join_end(w, join, all);
}

static void walk_turn(struct ab_walk *w, const struct ab_shell_node *test,
		      const struct ab_shell_node *body)
{
	if (test)
		ab_walk_node(w, test);
	if (body && !w->over)
		ab_walk_node(w, body);
}

static void walk_loop(struct ab_walk *w, const struct ab_shell_node *test,
		      const struct ab_shell_node *body)
{
	size_t mark = ab_vars_mark(w->vars);
	struct ab_outlet *out = w->out;
	size_t sets = w->sets;

	w->maybes++;
	w->loops++;
	walk_turn(w, test, body);
	ab_vars_merge(w->vars, mark);
	if (w->loops <= SECOND_TURNS && w->sets != sets && !w->over) {
		mark = ab_vars_mark(w->vars);
		w->again++;
		w->out = NULL;
		walk_turn(w, test, body);
		ab_vars_merge(w->vars, mark);
		w->out = out;
		w->again--;
	}
	w->loops--;
	w->maybes--;
}

/* Each word of a `for` is a possible value of its variable. */
static void set_loop_variable(struct ab_walk *w, const struct ab_shell_node *node)
{
	struct ab_choices choices = { 0 };
	const struct ab_eval e = { w->arena, w->vars, w->at.source, &choices };
	const struct ab_var *all = NULL;
	bool more = !node->loop.words;
	size_t n = 0;

	do {
		struct ab_fields fields = { 0 };

		for (const struct ab_shell_word *x = node->loop.words; x && n <= AB_VALUES_MAX;
		     x = x->next)
			ab_eval_word(&e, x, &fields);
		for (size_t i = 0; i < fields.len; i++, n++) {
			const struct ab_var *v = ab_walk_value(w, &fields.v[i]);

			if (n < AB_VALUES_MAX)
				all = all ? ab_vars_join(w->arena, all, v) : v;
		}
	} while (n <= AB_VALUES_MAX && ab_choices_next(&choices));
	if (more || n > AB_VALUES_MAX)
		all = all ? ab_vars_join(w->arena, all, NULL) : NULL;
	ab_walk_set(w, node->loop.name, all);
}

static void walk_for(struct ab_walk *w, const struct ab_shell_node *node)
{
	ab_walk_words(w, node->loop.words);
	set_loop_variable(w, node);
	walk_loop(w, NULL, node->loop.body);
}

static void walk_subshell(struct ab_walk *w, const struct ab_shell_node *node)
{
	struct ab_walk_saved saved;

	ab_walk_enter(w, &saved);
	walk_children(w, node->first);
	ab_walk_leave(w, &saved);
}

static void walk_function(struct ab_walk *w, const struct ab_shell_node *node)
{
	if (ab_forkbomb_function(node))
		report_bomb(w, node->range);
	ab_walk_define(w, node);
}

static void walk_kind(struct ab_walk *w, const struct ab_shell_node *node)
{
	switch (node->kind) {
	case AB_NODE_SIMPLE:
		ab_walk_simple(w, node);
		break;
	case AB_NODE_PIPELINE:
		walk_pipeline(w, node);
		break;
	case AB_NODE_ANDOR:
		walk_andor(w, node);
		break;
	case AB_NODE_LIST:
	case AB_NODE_GROUP:
		walk_children(w, node->first);
		break;
	case AB_NODE_SUBSHELL:
	case AB_NODE_COPROC:
		walk_subshell(w, node);
		break;
	case AB_NODE_IF:
		walk_if(w, node);
		break;
	case AB_NODE_FOR:
		walk_for(w, node);
		break;
	case AB_NODE_FOR_ARITH:
		ab_walk_parts(w, node->expr.parts);
		walk_loop(w, NULL, node->expr.body);
		break;
	case AB_NODE_WHILE:
		walk_loop(w, node->branch.test, node->branch.body);
		break;
	case AB_NODE_CASE:
		walk_case(w, node);
		break;
	case AB_NODE_FUNCTION:
		walk_function(w, node);
		break;
	case AB_NODE_TEST:
	case AB_NODE_ARITH:
		ab_walk_words(w, node->expr.words);
		ab_walk_parts(w, node->expr.parts);
		ab_walk_test(w, node->expr.words);
		break;
	}
}

void ab_walk_node(struct ab_walk *w, const struct ab_shell_node *node)
{
	unsigned flags = w->flags;

	if (w->over)
		return;
	if (++w->depth > AB_WALK_DEPTH_MAX) {
		ab_walk_stop(w, ab_walk_map(w, node->range), "Nested too deeply to analyse.");
		w->depth--;
		return;
	}
	if (node->background)
		w->flags |= AB_SIMPLE_BACKGROUND;
	if (node->kind == AB_NODE_SIMPLE)
		ab_walk_simple(w, node);
	else if (node->redirs && node->kind != AB_NODE_FUNCTION)
		ab_walk_redirected(w, node, walk_kind);
	else
		walk_kind(w, node);
	w->flags = flags | (w->flags & AB_SIMPLE_ALTERED);
	w->depth--;
}

void ab_walk_script(struct ab_arena *arena, const struct ab_scene *scene,
		    const struct ab_walk_events *events, struct ab_text text,
		    const struct ab_script *script)
{
	const struct ab_nesting outermost = { .where = { 0, text.len } };
	struct ab_walk w = {
		.arena = arena,
		.scene = scene,
		.events = events,
		.vars = ab_vars_new(arena, scene->home, scene->cwd),
		.at = { text, &outermost },
		.in = { .none = true },
	};

	w.last_named = &w.first_named;
	ab_walk_node(&w, script->list);
	ab_walk_uncalled(&w);
	if (script->error)
		ab_walk_unread(&w, script);
}
