/* Commands that run once per item: xargs, parallel, find -exec, fd -x. */
#include "shell/command/known_files.h"
#include "shell/expand/expand.h"
#include "shell/syntax/name_table.h"
#include "shell/wrap/wrapper.h"

/* One command per item, up to this many items and total bytes; beyond that the
 * item is unknown. */
enum { ITEMS_MAX = 64, BYTES_MAX = 1 << 18 };

static const struct ab_text braces = { "{}", 2 };

static void add_item(struct ab_arena *arena, struct ab_fields *list, struct ab_field item)
{
	*ab_fields_next(arena, list) = item;
}

static struct ab_field make_item(const struct ab_data *in, const char *s, size_t len)
{
	struct ab_field like = { .taint = in->taint, .range = in->range };
	struct ab_field item = ab_wrap_field(&like, (struct ab_text){ s, (uint32_t)len });

	if (in->verbatim != AB_NOT_VERBATIM)
		item.verbatim = in->verbatim + (uint32_t)(s - in->text.s);
	/* The unknown part may contain blanks. */
	item.splits = item.unknown;
	return item;
}

/* Read one word as xargs does, without its quotes and backslashes, into `to` if there is one. */
static const char *read_word(const char *s, const char *end, char *to, size_t *ret_len)
{
	char quote = 0;

	for (*ret_len = 0; s < end && (quote || !ab_separates_words(*s)); s++) {
		if (quote ? *s == quote : *s == '\'' || *s == '"') {
			quote = quote ? 0 : *s;
			continue;
		}
		s += !quote && *s == '\\' && s + 1 < end;
		if (to)
			to[*ret_len] = *s;
		++*ret_len;
	}
	return s;
}

static const char *take_word(struct ab_arena *arena, const struct ab_data *in, const char *s,
			     struct ab_fields *list)
{
	const char *end = in->text.s + in->text.len;
	size_t len;
	const char *to = read_word(s, end, NULL, &len);
	char *text;

	if (len == (size_t)(to - s)) {
		add_item(arena, list, make_item(in, s, len));
		return to;
	}
	text = ab_arena_alloc(arena, len + 1);
	read_word(s, end, text, &len);
	add_item(arena, list, make_item(in, text, len));
	list->v[list->len - 1].verbatim = AB_NOT_VERBATIM;
	return to;
}

static void split_words(struct ab_arena *arena, const struct ab_data *in, struct ab_fields *list)
{
	const char *s = in->text.s, *end = s + in->text.len;

	while (s < end) {
		if (ab_separates_words(*s))
			s++;
		else
			s = take_word(arena, in, s, list);
	}
}

static void split_at(struct ab_arena *arena, const struct ab_data *in, char separator,
		     struct ab_fields *list)
{
	const char *s = in->text.s, *end = s + in->text.len;

	while (s < end) {
		const char *to = memchr(s, separator, (size_t)(end - s));

		if (!to)
			to = end;
		if (separator == '\n')
			while (s < to && ab_separates_words(*s))
				s++;
		if (to > s)
			add_item(arena, list, make_item(in, s, (size_t)(to - s)));
		s = to + 1;
	}
}

/* Split the input into items. Never split at NUL: it may also mark unknown text. */
static void read_items(struct ab_wrapping *w, const struct ab_data *in, char separator,
		       struct ab_fields *list)
{
	if (in->none)
		return;
	if (in->text.len == 0) {
		if (in->unknown)
			add_item(w->arena, list, ab_field_unknown(in->range, in->taint));
	} else if (separator) {
		split_at(w->arena, in, separator, list);
	} else {
		split_words(w->arena, in, list);
	}
}

/* Add the words as a command, with the mark replaced. Returns whether the words
 * contain the mark. */
static bool add_replaced(struct ab_wrapping *w, const struct ab_field *v, size_t n,
			 struct ab_text mark, const struct ab_field *item, bool append)
{
	struct ab_field *argv = ab_arena_alloc(w->arena, (n + 1) * sizeof(*argv));
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		uint32_t len;
		const char *text = ab_wrap_replace(w->arena, v[i].text, mark, item->text, &len);

		argv[i] = v[i];
		if (!text)
			continue;
		found = true;
		argv[i].text = (struct ab_text){ text, len };
		argv[i].bytes = 0;
		argv[i].unknown |= item->unknown;
		argv[i].taint |= item->taint;
		argv[i].verbatim = AB_NOT_VERBATIM;
	}
	if (!found && append)
		argv[n++] = *item;
	ab_wrap_add_argv(w, argv, n)->in = (struct ab_data){ .none = true };
	return found;
}

/* Add one command per item. */
static void add_each(struct ab_wrapping *w, size_t at, struct ab_text mark, struct ab_fields *items,
		     bool append)
{
	size_t bytes = 0, n = items->len;

	for (size_t i = at; i < w->argc; i++)
		bytes += w->argv[i].text.len + sizeof(struct ab_field);
	if (n > ITEMS_MAX)
		n = ITEMS_MAX;
	if (n * bytes > BYTES_MAX)
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (items->v[i].text.len <= BYTES_MAX / ITEMS_MAX)
			add_replaced(w, w->argv + at, w->argc - at, mark, &items->v[i], append);
		else
			n = 0;
	if (n < items->len) {
		struct ab_field any = ab_field_unknown(w->command->in.range, w->command->in.taint);

		add_replaced(w, w->argv + at, w->argc - at, mark, &any, append);
	}
}

/* Without -I, xargs appends the items to the words. */
static void add_appended(struct ab_wrapping *w, size_t at, const struct ab_fields *items)
{
	size_t n = w->argc - at;
	struct ab_field *argv = ab_arena_alloc(w->arena, (n + items->len + 1) * sizeof(*argv));

	if (n == 0) {
		argv[0] = ab_wrap_field(&w->argv[0], (struct ab_text){ "echo", 4 });
		n = 1;
	} else {
		memcpy(argv, w->argv + at, n * sizeof(*argv));
	}
	if (items->len)
		memcpy(argv + n, items->v, items->len * sizeof(*argv));
	ab_wrap_add_argv(w, argv, n + items->len)->in = (struct ab_data){ .none = true };
}

static char parse_separator(const struct ab_field *value)
{
	struct ab_text t = value->text;

	if (t.len == 2 && t.s[0] == '\\')
		return t.s[1] == 'n' ? '\n' : t.s[1] == 't' ? '\t' : '\0';
	return t.len > 0 ? t.s[0] : '\0';
}

void ab_wrap_xargs(struct ab_wrapping *w)
{
	struct ab_text mark = { 0 };
	struct ab_fields items = { 0 };
	char separator = 0;
	bool whole = false;
	const struct ab_field *file = NULL;
	struct ab_data in = w->command->in;
	size_t at = w->argc;

	for (struct ab_opt_walk walk = ab_wrap_options(w); ab_opt_next(&walk);) {
		if (walk.what == AB_OPT_OPERAND) {
			at = walk.index;
			break;
		}
		if (ab_opt_is(&walk, 'I', "replace") || ab_opt_is(&walk, 'J', NULL))
			mark = walk.value.text.len ? walk.value.text : braces;
		else if (ab_opt_is(&walk, 'i', NULL))
			mark = braces;
		else if (ab_opt_is(&walk, 'd', "delimiter"))
			whole = !(separator = parse_separator(&walk.value));
		else if (ab_opt_is(&walk, '0', "null"))
			whole = true;
		else if (ab_opt_is(&walk, 'a', "arg-file") && walk.value.text.s)
			file = &w->argv[walk.next - 1];
	}
	if (file && ab_files_read(w->command, file))
		in = *ab_files_read(w->command, file);
	else if (file)
		in = ab_data_unknown(w->command->range, AB_TAINT_FILE);
	if (whole && !in.none && in.text.len)
		add_item(w->arena, &items, make_item(&in, in.text.s, in.text.len));
	else
		read_items(w, &in, mark.len && !separator ? '\n' : separator, &items);
	if (mark.len && items.len)
		add_each(w, at, mark, &items, false);
	else
		add_appended(w, at, &items);
	if (at < w->argc && ab_field_opens_unknown(&w->argv[at]) && at + 1 < w->argc)
		add_appended(w, at + 1, &items);
}

/* parallel passes the joined words of each command to a shell. */
static void join_inners(struct ab_wrapping *w, struct ab_inner *inner)
{
	for (; inner; inner = inner->next) {
		if (inner->argc == 0)
			continue;
		inner->kind = AB_INNER_SCRIPT;
		inner->script = ab_wrap_join(w->arena, inner->argv, inner->argc);
	}
}

void ab_wrap_parallel(struct ab_wrapping *w)
{
	struct ab_inner **from = w->tail;
	struct ab_fields items = { 0 };
	size_t at = w->argc, argc = w->argc, end = w->argc;
	struct ab_opt_walk walk;

	for (size_t i = 1; i < argc; i++)
		if (ab_text_starts(w->argv[i].text, ":::")) {
			end = i;
			break;
		}
	walk = ab_opt_begin(w->opts, w->argv, end);
	if (ab_opt_next_operand(&walk))
		at = walk.index;
	for (size_t i = end + 1; i < argc; i++)
		if (!ab_text_starts(w->argv[i].text, ":::"))
			add_item(w->arena, &items, w->argv[i]);
	if (end == argc && at >= end) {
		ab_wrap_stdin(w);
		return;
	}
	if (end == argc)
		read_items(w, &w->command->in, '\n', &items);
	w->argc = end;
	if (at > end)
		at = end;
	if (items.len)
		add_each(w, at, braces, &items, true);
	else
		ab_wrap_argv(w, at);
	join_inners(w, *from);
}

/* The value of {} in find: a path below a start path, ending in `name` if given. */
static struct ab_field make_path_below(struct ab_arena *arena, const struct ab_field *top,
				       struct ab_span range, const struct ab_field *name)
{
	uint32_t len = top->text.len, more = name ? name->text.len + 1 : 0;
	char *text = ab_arena_alloc(arena, len + more + 3);
	struct ab_field f;

	if (len)
		memcpy(text, top->text.s, len);
	if (len && text[len - 1] != '/')
		text[len++] = '/';
	text[len++] = AB_UNKNOWN;
	if (name) {
		text[len] = '/';
		memcpy(text + len + 1, name->text.s, name->text.len);
	}
	f = ab_wrap_field(top, (struct ab_text){ text, len + more });
	text[len + more] = '\0';
	f.pattern = name && strpbrk(text + len, "*?[");
	f.range = range;
	return f;
}

static const struct ab_field here = { .text = { ".", 1 }, .verbatim = AB_NOT_VERBATIM };

enum { TOPS_MAX = 16 };

/* Add the command in argv[from..to) once per start path. */
static void add_below(struct ab_wrapping *w, size_t from, size_t to, const struct ab_field *tops,
		      size_t ntops, const struct ab_field *name, bool append)
{
	struct ab_span range = { 0 };

	if (from >= to)
		return;
	range = w->argv[from].range;
	for (size_t i = 0; i < ntops && i < TOPS_MAX; i++) {
		struct ab_field item = make_path_below(w->arena, &tops[i], range, name);

		if (!add_replaced(w, w->argv + from, to - from, braces, &item, append))
			return;
	}
	if (ntops > TOPS_MAX) {
		struct ab_field any = ab_field_unknown(range, 0);

		add_replaced(w, w->argv + from, to - from, braces, &any, append);
	}
}

static bool is_expression(const struct ab_field *f)
{
	return f->text.len > 0 &&
	       (f->text.s[0] == '-' || f->text.s[0] == '(' || f->text.s[0] == '!');
}

static bool is_listed_test(const char *list, const struct ab_field *f)
{
	return is_expression(f) && ab_listed(list, f->text);
}

/* The name that every match must have; NULL unless there is exactly one. */
static const struct ab_field *find_only_name(const struct ab_wrapping *w)
{
	const struct ab_field *name = NULL;

	for (size_t i = 1; i + 1 < w->argc; i++) {
		const struct ab_field *f = &w->argv[i];

		if (is_listed_test("! -not -o -or", f))
			return NULL;
		if (ab_field_is(f, "-name") || ab_field_is(f, "-iname"))
			name = &w->argv[++i];
	}
	return name;
}

void ab_wrap_find(struct ab_wrapping *w)
{
	const struct ab_field *tops, *name = find_only_name(w);
	size_t i = 1, ntops;

	while (i < w->argc && ab_listed("-H -L -P", w->argv[i].text))
		i++;
	tops = w->argv + i;
	while (i < w->argc && !is_expression(&w->argv[i]))
		i++;
	ntops = (size_t)(w->argv + i - tops);
	if (ntops == 0) {
		tops = &here;
		ntops = 1;
	}
	while (i < w->argc) {
		size_t from = i + 1;

		if (!is_listed_test("-exec -execdir -ok -okdir", &w->argv[i++]))
			continue;
		while (i < w->argc && !ab_field_is(&w->argv[i], ";") &&
		       !(ab_field_is(&w->argv[i], "+") && ab_field_is(&w->argv[i - 1], "{}")))
			i++;
		add_below(w, from, i, tops, ntops, name, false);
	}
}

/* fd [PATTERN [PATH...]] -x CMD... */
void ab_wrap_fd(struct ab_wrapping *w)
{
	const struct ab_field *tops = &here;
	struct ab_opt_walk walk;
	size_t at = 0, end;

	for (size_t i = 1; i < w->argc && !at; i++)
		if (ab_listed("--exec --exec-batch -X -x", w->argv[i].text))
			at = i + 1;
	if (!at)
		return;
	walk = ab_opt_begin(w->opts, w->argv, at - 1);
	if (ab_opt_next_operand(&walk) && ab_opt_next_operand(&walk))
		tops = &w->argv[walk.index];
	for (end = at; end < w->argc && !ab_field_is(&w->argv[end], ";");)
		end++;
	add_below(w, at, end, tops, 1, NULL, true);
}
