#include "policy/read/settings_file.h"

#include <inttypes.h>

#include "base/system/own_path.h"
#include "policy/model/ports.h"
#include "policy/model/secrets_config.h"
#include "policy/read/members.h"
#include "policy/toolchains/toolchains.h"
#include "policy/values/complaint.h"
#include "policy/values/paths.h"
#include "shell/judge/ruling.h"

/* Do not block: the path may be a pipe. */
#define OPEN_FILE (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Read the file behind fd, or report the error with which it was opened. */
static int read_opened(int fd, const char *name, char **ret_text, size_t *ret_len,
		       struct ab_error *err)
{
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		*ret_text = NULL;
		*ret_len = 0;
		return 0;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_fail(err, AB_ECONFIG, errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a file", name);
	if (ab_read_all(fd, AB_FILE_MAX, ret_text, ret_len) < 0) {
		if (errno == EFBIG)
			return ab_fail(err, AB_ECONFIG, 0, "%s is larger than 1 MiB", name);
		return ab_fail(err, AB_ECONFIG, errno, "%s", name);
	}
	return 0;
}

int ab_settings_file_read(const char *path, const char *name, bool nofollow, char **ret_text,
			  size_t *ret_len, struct ab_error *err)
{
	ab_autoclose int fd = open(path, OPEN_FILE | (nofollow ? O_NOFOLLOW : 0));

	if (fd < 0 && nofollow && errno == ELOOP)
		return ab_fail(err, AB_ECONFIG, 0,
			       "%s is a symbolic link, and links are not followed here", name);
	return read_opened(fd, name, ret_text, ret_len, err);
}

/* What is wrong with the owner or the mode, or NULL. */
static const char *find_fault(int fd, const char *path, bool roots, char **ret_where)
{
	const char *fault = ab_own_path_check(fd, path, ret_where);

	return fault || !roots ? fault : ab_own_path_check_root(fd, path, ret_where);
}

int ab_settings_file_read_own(const char *path, const char *name, bool roots, char **ret_text,
			      size_t *ret_len, struct ab_error *err)
{
	ab_autoclose int fd = ab_own_path_open(path, OPEN_FILE);
	ab_autofree char *where = NULL;
	const char *fault;
	struct stat st;

	if (fd < 0 && errno == EPERM)
		return ab_fail(err, AB_ECONFIG, 0, "%s: a link of another user leads there", name);
	if (fd < 0 && errno == ENOSYS)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", name);
	/* Anything but a file is refused as such. */
	fault = fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)
			? NULL
			: find_fault(fd, path, roots, &where);
	if (!fault)
		return read_opened(fd, name, ret_text, ret_len, err);
	if (fault == ab_own_path_unknown)
		return ab_fail(err, AB_ESYSTEM, errno, "examine %s", name);
	if (strcmp(where, path) == 0)
		ab_fail(err, AB_ECONFIG, 0, "%s %s, so its settings are not obeyed", name, fault);
	else
		ab_fail(err, AB_ECONFIG, 0, "%s is not obeyed: its folder %s %s", name, where,
			fault);
	if (roots)
		return ab_hint(err, "chown root %s, and chmod go-w %s", where, where);
	return ab_hint(err,
		       "if the settings are yours: chown it to you, and chmod go-w %s; otherwise "
		       "remove the file",
		       where);
}

void ab_problems_fini(struct ab_problems *p)
{
	ab_strv_fini_all(&p->wrong, &p->right);
}

int ab_settings_file_fail(const struct ab_problems *problems, struct ab_error *err)
{
	ab_fail(err, AB_ECONFIG, 0, "%s", problems->wrong.v[0]);
	return ab_hint(err, "%s", problems->right.v[0]);
}

static void report_at(struct ab_reader *r, uint32_t line, uint32_t column, const char *path,
		      const char *wrong, const char *right)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *start = ab_strndup(path, 120);

	if (ab_reader_full(r))
		return;
	ab_buf_escape(&b, r->name);
	ab_buf_printf(&b, ":%u:%u: ", line, column);
	ab_buf_escape(&b, start);
	ab_buf_printf(&b, "%s%s", start[0] ? ": " : "", wrong);
	ab_strv_add(&r->problems->wrong, b.data);
	ab_strv_add(&r->problems->right, right);
}

/* "network.allow[2]" */
static void put_path(struct ab_buf *b, const struct ab_json_scan_node *node)
{
	const struct ab_json_scan_node *parent = node - node->up;
	size_t i = 0;

	if (parent == node)
		return;
	put_path(b, parent);
	if (node->key) {
		ab_buf_printf(b, "%s%s", b->len ? "." : "", node->key);
		return;
	}
	ab_json_scan_each(k, parent) i += k < node;
	ab_buf_printf(b, "[%zu]", i);
}

void ab_reader_report(struct ab_reader *r, const struct ab_json_scan_node *node, const char *member,
		      const char *wrong, const char *right)
{
	ab_autobuf struct ab_buf path = { 0 };

	if (ab_reader_full(r))
		return;
	put_path(&path, node);
	if (member)
		ab_buf_printf(&path, ".%s", member);
	report_at(r, node->line, node->column, path.len ? path.data : "", wrong, right);
}

bool ab_reader_full(const struct ab_reader *r)
{
	return r->problems->wrong.len >= AB_PROBLEMS_MAX;
}

const struct ab_origin *ab_reader_origin(struct ab_reader *r, const struct ab_json_scan_node *node)
{
	struct ab_origin *from = ab_origin_new(r->ctx->arena, r->layer, r->name);

	from->line = node->line;
	from->column = node->column;
	return from;
}

static const char *get_type_name(const struct ab_json_scan_node *value)
{
	switch (value->kind) {
	case '{':
		return "an object";
	case '[':
		return "a list";
	case '"':
		return "a string";
	case '0':
		return "a number";
	case '.':
		return "a fraction";
	case 'n':
		return "null";
	default:
		return "true or false";
	}
}

void ab_reader_wrong_type(struct ab_reader *r, const struct ab_json_scan_node *node,
			  const char *wanted, const char *right)
{
	ab_autofree char *wrong = ab_printf("expected %s, got %s", wanted, get_type_name(node));

	ab_reader_report(r, node, NULL, wrong, right);
}

static void put_text(struct ab_reader *r, const struct ab_json_scan_node *node, enum ab_key_id id,
		     const char *text)
{
	struct ab_complaint why = { .right = "" };

	if (ab_value_put(r->ctx, id, &r->config->v[id], text, ab_reader_origin(r, node), &why) < 0)
		ab_reader_report(r, node, NULL, why.wrong, why.right);
}

static void put_integer(struct ab_reader *r, const struct ab_json_scan_node *value,
			enum ab_key_id id)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, value->integer);
	put_text(r, value, id, text);
}

static bool in_managed(const struct ab_reader *r)
{
	return r->layer == AB_LAYER_MANAGED;
}

static bool takes_number(const struct ab_key *key)
{
	return key->type == AB_TYPE_PORTS || key->type == AB_TYPE_PUBLISH;
}

static void put_element(struct ab_reader *r, const struct ab_json_scan_node *value,
			enum ab_key_id id)
{
	bool ports = ab_keys[id].type == AB_TYPE_PORTS;

	if (in_managed(r) && value->text && value->text[0] == '!')
		ab_reader_report(r, value, NULL, "a managed list takes nothing back",
				 "leave out what must stay allowed");
	else if (takes_number(&ab_keys[id]) && value->kind == '0')
		put_integer(r, value, id);
	else if (ports)
		ab_reader_wrong_type(r, value, "a whole number", "use one like 3000");
	else if (value->text)
		put_text(r, value, id, value->text);
	else if (ab_keys[id].type == AB_TYPE_PUBLISH)
		ab_reader_wrong_type(r, value, "a whole number or a string",
				     "use 3000 or \"8080:3000\"");
	else
		ab_reader_wrong_type(r, value, "a string", "put it in quotes");
}

/* The string that stands for a list. */
static const char *get_list_word(const struct ab_key *key)
{
	return key->all ? "all" : key->type == AB_TYPE_PRESETS ? AB_TOOLCHAIN_AUTO : NULL;
}

/* A value that should be a list: it may have been meant as its one element. */
static void report_no_list(struct ab_reader *r, const struct ab_json_scan_node *value,
			   const struct ab_key *key)
{
	ab_autofree char *right = NULL, *wanted = NULL;
	const char *word = get_list_word(key);

	if (value->text && strlen(value->text) < 60) {
		ab_autofree char *e = ab_escape(value->text);

		right = ab_printf("use [\"%s\"]", e);
	} else if (value->kind == '0' && takes_number(key)) {
		right = ab_printf("use [%" PRId64 "]", value->integer);
	}
	wanted = word ? ab_printf("\"%s\" or a list", word) : ab_strdup("a list");
	ab_reader_wrong_type(r, value, wanted, right ? right : "use [\"...\"]");
}

/* Does this list of the managed settings restrict the lists of other layers? */
static bool is_most(const struct ab_key *key)
{
	return key->tighten == AB_TIGHTEN_COVERED || key->tighten == AB_TIGHTEN_NEVER;
}

const struct ab_json_scan_node *
ab_reader_only(struct ab_reader *r, const struct ab_json_scan_node *value, enum ab_key_id id)
{
	const struct ab_json_scan_node *list = value;
	struct ab_value *v = &r->config->v[id];

	if (ab_keys[id].merge != AB_MERGE_ADD)
		return value;
	if (value->kind == '{') {
		list = value->count == 1 ? value + 1 : NULL;
		if (!list || strcmp(list->key, "only") != 0) {
			ab_reader_report(r, value, NULL, "has other members than \"only\"",
					 "use [...] to add, or { \"only\": [...] }");
			return NULL;
		}
	}
	if (list->kind == '[' && (list != value || list->count == 0)) {
		v->only = ab_reader_origin(r, value);
	} else if (list->kind == '[' && in_managed(r) && is_most(&ab_keys[id])) {
		ab_reader_report(
			r, value, NULL,
			"a managed list is the most that is allowed, and allows nothing itself",
			"use { \"only\": [...] }");
		return NULL;
	}
	return list;
}

static void put_list(struct ab_reader *r, const struct ab_json_scan_node *value, enum ab_key_id id)
{
	const struct ab_json_scan_node *list = ab_reader_only(r, value, id);

	if (!list)
		return;
	if (list->kind != '[') {
		report_no_list(r, list, &ab_keys[id]);
		return;
	}
	/* An empty list is set too: it means "nothing". */
	r->config->v[id].from = ab_reader_origin(r, list);
	ab_json_scan_each(e, list)
	{
		if (ab_reader_full(r))
			return;
		put_element(r, e, id);
	}
}

static void put_assignments(struct ab_reader *r, const struct ab_json_scan_node *object,
			    enum ab_key_id id)
{
	if (object->kind != '{') {
		ab_reader_wrong_type(r, object, "an object", "use { \"NAME\": \"value\" }");
		return;
	}
	r->config->v[id].from = ab_reader_origin(r, object);
	ab_json_scan_each(k, object)
	{
		ab_autofree char *text = NULL;

		if (!k->text) {
			ab_reader_wrong_type(r, k, "a string", "put it in quotes");
		} else if (strchr(k->key, '=') && id == AB_KEY_OVERRIDE) {
			ab_reader_report(r, k, NULL, "unknown rule",
					 "list them with: agentbox rules list");
		} else if (strchr(k->key, '=') && id == AB_KEY_TOOLS) {
			ab_reader_report(r, k, NULL, "is not the name of a tool",
					 "use a name or a pattern, such as \"mcp__github__*\"");
		} else if (strchr(k->key, '=')) {
			ab_reader_report(r, k, NULL, "is not a valid variable name",
					 "use letters, digits and _");
		} else {
			text = ab_printf("%s=%s", k->key, k->text);
			put_text(r, k, id, text);
		}
	}
}

static bool is_switch(const struct ab_key *key)
{
	for (size_t i = 0; key->type == AB_TYPE_WORD && i < key->nwords; i++)
		if (strcmp(key->words[i].name, "true") == 0)
			return true;
	return false;
}

static void put_scalar(struct ab_reader *r, const struct ab_json_scan_node *value,
		       enum ab_key_id id)
{
	const struct ab_key *key = &ab_keys[id];
	bool integer = key->type == AB_TYPE_INTEGER;

	if (value->text && (!integer || strcmp(value->text, "none") == 0)) {
		put_text(r, value, id, value->text);
	} else if (is_switch(key) && (value->kind == 't' || value->kind == 'f')) {
		put_text(r, value, id, value->kind == 't' ? "true" : "false");
	} else if (integer && value->kind == '0') {
		put_integer(r, value, id);
	} else if (integer) {
		ab_reader_wrong_type(r, value, "a whole number",
				     key->none ? "use one like 100, or \"none\""
					       : "use one like 100");
	} else {
		ab_reader_wrong_type(r, value, "a string",
				     key->type == AB_TYPE_SIZE	     ? "use one like \"512M\""
				     : key->type == AB_TYPE_DURATION ? "use one like \"30m\""
								     : "put it in quotes");
	}
}

static void put_value(struct ab_reader *r, const struct ab_json_scan_node *value, enum ab_key_id id)
{
	const struct ab_key *key = &ab_keys[id];
	const char *word = get_list_word(key);
	const struct ab_members_list *const objects[] = { &ab_rules_members, &ab_http_members,
							  &ab_secrets_members,
							  &ab_host_tools_members };

	for (size_t i = 0; i < AB_COUNT(objects); i++)
		if (objects[i]->key == id) {
			ab_members_list(objects[i], r, value);
			return;
		}
	if (word && value->text && strcmp(value->text, word) == 0)
		put_text(r, value, id, word);
	else if (key->type == AB_TYPE_ASSIGNMENTS || key->type == AB_TYPE_OVERRIDES ||
		 key->type == AB_TYPE_TOOLS)
		put_assignments(r, value, id);
	else if (ab_key_is_list(key))
		put_list(r, value, id);
	else
		put_scalar(r, value, id);
}

static void report_unknown_key(struct ab_reader *r, const struct ab_json_scan_node *node,
			       const char *path)
{
	const char *name = node->key, *guess = ab_key_guess(path);
	ab_autofree char *right = NULL;

	if (strchr(name, '.') && ab_key_find(name, strlen(name)))
		right = ab_printf("use { \"%.*s\": { \"%s\": ... } }", (int)strcspn(name, "."),
				  name, strchr(name, '.') + 1);
	else if (guess)
		right = ab_printf("did you mean %s?", guess);
	ab_reader_report(r, node, NULL, "unknown key", right ? right : "");
}

/* Report what has no direction in which it could be stricter. */
static void check_managed(struct ab_reader *r)
{
	static const enum ab_key_id never[] = { AB_KEY_EXTENDS, AB_KEY_SECRETS, AB_KEY_HOST_TOOLS };
	const struct ab_value *rules = &r->config->v[AB_KEY_RULES];

	for (size_t i = 0; i < AB_COUNT(never); i++) {
		const struct ab_origin *from = r->config->v[never[i]].from;

		if (from)
			report_at(r, from->line, from->column, ab_keys[never[i]].path,
				  "cannot be managed",
				  never[i] == AB_KEY_HOST_TOOLS
					  ? "to forbid tools: \"hostTools\": \"deny\""
					  : "move it out of \"managed\"");
	}
	for (size_t i = 0; i < rules->len; i++) {
		const struct ab_origin *from = rules->items[i].from;

		if (rules->items[i].rule->decision == AB_ALLOW)
			report_at(r, from->line, from->column, ab_keys[AB_KEY_RULES].path,
				  "a managed rule can only make a verdict stricter",
				  "use sandboxed, escalated or forbidden");
	}
}

/* A comment on a section, or on single elements of its lists, for people who
 * read the file. */
static void check_reason(struct ab_reader *r, const struct ab_json_scan_node *value)
{
	static const char right[] = "use \"...\", or { \"entry\": \"...\" }";

	if (value->text)
		return;
	if (value->kind != '{') {
		ab_reader_wrong_type(r, value, "a string or an object of strings", right);
		return;
	}
	ab_json_scan_each(k, value) if (!k->text) ab_reader_wrong_type(r, k, "a string", right);
}

static void read_object(struct ab_reader *r, const struct ab_json_scan_node *object, bool top);

static void read_managed(struct ab_reader *r, const struct ab_json_scan_node *object)
{
	struct ab_reader inner = *r;

	if (!r->managed || in_managed(r)) {
		ab_reader_report(r, object, NULL, "is only for the system's settings",
				 "put it into " AB_SYSTEM_CONFIG);
		return;
	}
	if (object->kind != '{') {
		ab_reader_wrong_type(r, object, "an object", "use { ... }");
		return;
	}
	inner.layer = AB_LAYER_MANAGED;
	inner.config = r->managed;
	read_object(&inner, object, true);
	check_managed(&inner);
}

/* The member `k` of a section, or of the file if `section` is NULL. */
static void read_member(struct ab_reader *r, const char *section, const struct ab_json_scan_node *k)
{
	ab_autofree char *path = section ? ab_printf("%s.%s", section, k->key) : ab_strdup(k->key);
	const struct ab_key *found = ab_key_find(path, strlen(path));

	if (!section && strcmp(k->key, "managed") == 0) {
		read_managed(r, k);
	} else if (!section &&
		   (strcmp(k->key, "$schema") == 0 || strcmp(k->key, "description") == 0)) {
		if (!k->text)
			ab_reader_wrong_type(r, k, "a string", "put it in quotes");
	} else if (section && strcmp(k->key, "reason") == 0) {
		check_reason(r, k);
	} else if (found && !strchr(k->key, '.')) {
		put_value(r, k, (enum ab_key_id)(found - ab_keys));
	} else if (!section && ab_key_is_group(path, strlen(path))) {
		if (k->kind == '{')
			read_object(r, k, false);
		else
			ab_reader_wrong_type(r, k, "an object", "use { ... }");
	} else {
		report_unknown_key(r, k, path);
	}
}

static void read_object(struct ab_reader *r, const struct ab_json_scan_node *object, bool top)
{
	ab_json_scan_each(k, object) read_member(r, top ? NULL : object->key, k);
}

void ab_reader_member(struct ab_reader *r, const struct ab_json_scan_node *node)
{
	read_member(r, NULL, node);
}

size_t ab_reader_mistakes(const struct ab_reader *r)
{
	return r->problems->wrong.len;
}

/* Report conflicts that no later layer can resolve. */
static void check_conflicts(struct ab_reader *r)
{
	struct ab_complaint why = { .right = "" };
	const struct ab_origin *from;
	enum ab_key_id key;

	if (ab_ports_check(r->config, NULL, &key, &from, &why) < 0)
		report_at(r, from->line, from->column, ab_keys[key].path, why.wrong, why.right);
	if (ab_secrets_check(&r->config->v[AB_KEY_SECRETS], &from, &why) < 0)
		report_at(r, from->line, from->column, ab_keys[AB_KEY_SECRETS].path, why.wrong,
			  why.right);
}

void ab_settings_file_parse(const struct ab_context *ctx, enum ab_layer layer, const char *name,
			    const char *text, size_t len, struct ab_config *ret,
			    struct ab_config *ret_managed, struct ab_problems *problems)
{
	ab_autoscan struct ab_json_scan scan = { 0 };
	struct ab_reader r = { ctx, layer, name, ret, ret_managed, problems };

	if (ab_jsonc_scan_parse(&scan, text, len) < 0) {
		report_at(&r, scan.line, scan.column, scan.key, scan.wrong, scan.right);
	} else if (scan.nodes->kind != '{') {
		ab_reader_wrong_type(&r, scan.nodes, "an object", "use { ... }");
	} else {
		read_object(&r, scan.nodes, true);
		check_conflicts(&r);
	}
}
