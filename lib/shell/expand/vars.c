/*
 * Names are in a hash table with open addressing that grows up to
 * AB_VARS_MAX. While a mark is open, the first change of each name is logged
 * with the previous value. Merging a mark moves each entry to the enclosing
 * mark, unless that one already has an entry for the name: so a mark never has
 * more entries than there are names, however often they are set.
 */
#include "shell/expand/vars.h"

#include "shell/syntax/grow.h"

enum {
	SLOTS_FIRST = 16,
	SLOTS_MAX = 2 * AB_VARS_MAX,
	/* Comparing longer values would cost more than it saves. */
	COMPARE_MAX = 1024,
	SPEND_MAX = 4 << 20,
};

struct slot {
	struct ab_text name; /* s NULL: free */
	uint32_t hash;
	uint32_t logged; /* its newest entry's index + 1; 0: none */
	const struct ab_var *value;
};

struct entry {
	uint32_t slot;	 /* MARK: a mark; `before` is the enclosing one */
	uint32_t before; /* the slot's `logged` until then */
	const struct ab_var *value;
};

#define MARK UINT32_MAX

struct ab_vars {
	struct ab_arena *arena;
	struct slot *slots;
	uint32_t nslots, nnames;
	struct entry *log;
	size_t nlog, log_room;
	uint32_t mark; /* the innermost mark's index + 1; 0: none */
	const struct ab_fields *args;
	const struct slot *folder; /* PWD, which every command asks for; NULL: search */
	size_t *left;		   /* separate, so that a const table can spend */
};

static const struct ab_var unknown_value = {
	.text = { "", 1 }, /* the terminator is AB_UNKNOWN */
	.unknown = true,
};

static const struct ab_text pwd = { "PWD", 3 };
#define PWD_HASH 0x9a24aca4u

static struct slot *find_slot(struct slot *slots, uint32_t nslots, struct ab_text name,
			      uint32_t hash)
{
	uint32_t at = hash & (nslots - 1);

	while (slots[at].name.s && (slots[at].hash != hash || slots[at].name.len != name.len ||
				    memcmp(slots[at].name.s, name.s, name.len) != 0))
		at = (at + 1) & (nslots - 1);
	return &slots[at];
}

static void grow_slots(struct ab_vars *vars)
{
	uint32_t n = vars->nslots * 2;
	struct slot *slots = ab_arena_alloc(vars->arena, n * sizeof(*slots));

	for (uint32_t i = 0; i < vars->nslots; i++) {
		const struct slot *from = &vars->slots[i];
		struct slot *to;

		if (!from->name.s)
			continue;
		to = find_slot(slots, n, from->name, from->hash);
		*to = *from;
		/* The log refers to slots by index: update its entries. */
		for (uint32_t e = from->logged; e; e = vars->log[e - 1].before)
			vars->log[e - 1].slot = (uint32_t)(to - slots);
	}
	vars->slots = slots;
	vars->nslots = n;
	if (vars->folder)
		vars->folder = find_slot(slots, n, pwd, PWD_HASH);
}

static const struct ab_var *make_value(struct ab_arena *arena, const char *text)
{
	struct ab_var *value;

	if (!text)
		return NULL;
	value = ab_arena_alloc(arena, sizeof(*value));
	value->text = ab_text_of(text);
	return value;
}

/* Each of the first names has a slot of its own. NULL: not set. */
static void set_first(struct ab_vars *vars, struct ab_text name, uint32_t hash,
		      const struct ab_var *value)
{
	if (!value)
		return;
	vars->slots[hash & (SLOTS_FIRST - 1)] =
		(struct slot){ .name = name, .hash = hash, .value = value };
	vars->nnames++;
}

struct ab_vars *ab_vars_new(struct ab_arena *arena, const char *home, const char *cwd)
{
	/* A shell ignores the one of the environment. */
	static const struct ab_var ifs = { .text = { " \t\n", 3 } };
	/* Any shell will do. */
	static const struct ab_var shell = { .text = { "/bin/sh", 7 } };
	struct first {
		struct ab_vars vars;
		struct slot slots[SLOTS_FIRST];
		size_t left;
	} *first = ab_arena_alloc(arena, sizeof(*first));
	struct ab_vars *vars = &first->vars;

	vars->arena = arena;
	vars->nslots = SLOTS_FIRST;
	vars->slots = first->slots;
	vars->left = &first->left;
	first->left = SPEND_MAX;
	/* With the hashes of the names. */
	set_first(vars, AB_TEXT("IFS"), 0xcbaff94fu, &ifs);
	set_first(vars, AB_TEXT("SHELL"), 0xbc2835a1u, &shell);
	set_first(vars, AB_TEXT("HOME"), 0x10b8c84eu, make_value(arena, home));
	set_first(vars, pwd, PWD_HASH, make_value(arena, cwd));
	if (cwd)
		vars->folder = find_slot(vars->slots, SLOTS_FIRST, pwd, PWD_HASH);
	return vars;
}

const struct ab_var *ab_vars_folder(const struct ab_vars *vars)
{
	return vars->folder ? vars->folder->value : ab_vars_get(vars, pwd);
}

const struct ab_var *ab_vars_get(const struct ab_vars *vars, struct ab_text name)
{
	if (!name.len)
		return NULL;
	return find_slot(vars->slots, vars->nslots, name, ab_text_hash(name))->value;
}

static void push_entry(struct ab_vars *vars, const struct entry *e)
{
	AB_GROW(vars->arena, vars->log, vars->nlog, vars->log_room, 16);
	vars->log[vars->nlog++] = *e;
}

static void log_change(struct ab_vars *vars, struct slot *slot)
{
	if (!vars->mark || slot->logged > vars->mark)
		return;
	push_entry(vars, &(struct entry){
				 .slot = (uint32_t)(slot - vars->slots),
				 .before = slot->logged,
				 .value = slot->value,
			 });
	slot->logged = (uint32_t)vars->nlog;
}

static bool same_value(const struct ab_var *a, const struct ab_var *b)
{
	if (a->text.len != b->text.len || a->unknown != b->unknown || a->taint != b->taint ||
	    a->items != b->items || a->pattern != b->pattern)
		return false;
	return a->text.s == b->text.s ||
	       (a->text.len <= COMPARE_MAX && memcmp(a->text.s, b->text.s, a->text.len) == 0);
}

static bool has_value(const struct ab_var *list, const struct ab_var *v)
{
	for (; list; list = list->next)
		if (same_value(list, v))
			return true;
	return false;
}

static bool has_all(const struct ab_var *list, const struct ab_var *v)
{
	while (v && has_value(list, v))
		v = v->next;
	return !v;
}

/* A copy of at most AB_VALUES_MAX values of both lists, and one unknown value for the rest. */
static const struct ab_var *copy_values(struct ab_arena *arena, const struct ab_var *a,
					const struct ab_var *b)
{
	const struct ab_var *sources[] = { a, b }, *list = NULL, **link = &list;
	size_t n = 0;

	for (size_t i = 0; i < 2; i++)
		for (const struct ab_var *v = sources[i]; v; v = v->next) {
			struct ab_var *copy;

			if (has_value(list, v))
				continue;
			copy = ab_arena_alloc(arena, sizeof(*copy));
			*copy = n < AB_VALUES_MAX ? *v : unknown_value;
			copy->next = NULL;
			*link = copy;
			link = &copy->next;
			if (n++ == AB_VALUES_MAX)
				return list;
		}
	return list;
}

const struct ab_var *ab_vars_join(struct ab_arena *arena, const struct ab_var *a,
				  const struct ab_var *b)
{
	const struct ab_var *other = b ? b : &unknown_value;

	if (a == b || (a && has_all(a, other)))
		return a;
	return copy_values(arena, a ? a : &unknown_value, other);
}

void ab_vars_set(struct ab_vars *vars, struct ab_text name, const struct ab_var *value)
{
	uint32_t hash = ab_text_hash(name);
	struct slot *slot;

	if (!name.len)
		return;
	slot = find_slot(vars->slots, vars->nslots, name, hash);
	if (!slot->name.s) {
		if (!value || vars->nnames == AB_VARS_MAX)
			return;
		if (2 * (vars->nnames + 1) > vars->nslots && vars->nslots < SLOTS_MAX) {
			grow_slots(vars);
			slot = find_slot(vars->slots, vars->nslots, name, hash);
		}
		slot->name = name;
		slot->hash = hash;
		vars->nnames++;
	}
	log_change(vars, slot);
	slot->value = copy_values(vars->arena, value, NULL);
}

size_t ab_vars_mark(struct ab_vars *vars)
{
	push_entry(vars, &(struct entry){ .slot = MARK, .before = vars->mark });
	vars->mark = (uint32_t)vars->nlog;
	return vars->nlog - 1;
}

/* Restores from the log, back to `mark`, the slots' log indexes and values;
 * `joined`: the former values joined with the current ones. */
static void roll_back(struct ab_vars *vars, size_t mark, bool joined)
{
	for (size_t i = vars->nlog; i > mark + 1; i--) {
		const struct entry *e = &vars->log[i - 1];
		struct slot *slot;

		if (e->slot == MARK)
			continue;
		slot = &vars->slots[e->slot];
		slot->logged = e->before;
		slot->value = joined ? ab_vars_join(vars->arena, e->value, slot->value) : e->value;
	}
	vars->mark = vars->log[mark].before;
}

void ab_vars_merge(struct ab_vars *vars, size_t mark)
{
	size_t kept = mark;

	roll_back(vars, mark, true);
	for (size_t i = mark + 1; i < vars->nlog && vars->mark; i++) {
		struct entry e = vars->log[i];
		struct slot *slot;

		if (e.slot == MARK)
			continue;
		slot = &vars->slots[e.slot];
		if (slot->logged > vars->mark)
			continue;
		e.before = slot->logged;
		vars->log[kept++] = e;
		slot->logged = (uint32_t)kept;
	}
	vars->nlog = kept;
}

void ab_vars_undo(struct ab_vars *vars, size_t mark)
{
	roll_back(vars, mark, false);
	vars->nlog = mark;
}

const struct ab_fields *ab_vars_positional(struct ab_vars *vars, const struct ab_fields *fields)
{
	const struct ab_fields *former = vars->args;

	vars->args = fields;
	return former;
}

const struct ab_fields *ab_vars_args(const struct ab_vars *vars)
{
	return vars->args;
}

bool ab_vars_spend(const struct ab_vars *vars, size_t bytes)
{
	if (bytes > *vars->left) {
		*vars->left = 0;
		return false;
	}
	*vars->left -= bytes;
	return true;
}
