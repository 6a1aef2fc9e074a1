#include "policy/read/settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/model/commands.h"
#include "policy/model/http_config.h"
#include "policy/model/ports.h"
#include "policy/model/secrets_config.h"
#include "policy/read/member_reader.h"
#include "policy/values/complaint.h"

int ab_settings_file_read(const char *path, const char *name, bool nofollow, char **ret_text,
			  size_t *ret_len, struct ab_error *err)
{
	/* Not blocking: somebody may have put a pipe there. */
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
						 (nofollow ? O_NOFOLLOW : 0));
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		*ret_text = NULL;
		*ret_len = 0;
		return 0;
	}
	if (fd < 0 && nofollow && errno == ELOOP)
		return ab_fail(err, AB_ECONFIG, 0, "%s is a symbolic link, which is not followed",
			       name);
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

void ab_problems_fini(struct ab_problems *p)
{
	ab_strv_fini(&p->wrong);
	ab_strv_fini(&p->right);
}

int ab_settings_file_fail(const struct ab_problems *problems, struct ab_error *err)
{
	ab_fail(err, AB_ECONFIG, 0, "%s", problems->wrong.v[0]);
	return ab_hint(err, "%s", problems->right.v[0]);
}

static void report(struct ab_reader *r, uint32_t line, const char *key, const char *wrong,
		   const char *right)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *head = ab_strndup(key, 120);

	if (ab_reader_full(r))
		return;
	ab_buf_escape(&b, r->name);
	ab_buf_printf(&b, ":%u: ", line);
	ab_buf_escape(&b, head);
	ab_buf_printf(&b, "%s%s", head[0] ? ": " : "", wrong);
	ab_strv_add(&r->problems->wrong, b.data);
	ab_strv_add(&r->problems->right, right);
}

void ab_reader_report(struct ab_reader *r, uint32_t node, const char *path, const char *wrong,
		      const char *right)
{
	report(r, r->nodes[node].line, path, wrong, right);
}

bool ab_reader_full(const struct ab_reader *r)
{
	return r->problems->wrong.len >= AB_PROBLEMS_MAX;
}

const struct ab_origin *ab_reader_origin(struct ab_reader *r, uint32_t node)
{
	struct ab_origin *from = ab_arena_alloc(r->ctx->arena, sizeof(*from));

	from->layer = r->layer;
	from->name = r->name;
	from->line = r->nodes[node].line;
	return from;
}

json_t *ab_reader_key(struct ab_reader *r, uint32_t node)
{
	const struct ab_json_scan_node *n = &r->nodes[node];

	return json_loadb(r->text + n->key_begin, n->key_end - n->key_begin, JSON_DECODE_ANY, NULL);
}

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a text";
	case JSON_INTEGER:
		return "a number";
	case JSON_REAL:
		return "a fraction";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	case JSON_NULL:
		return "null";
	}
	return "something else";
}

void ab_reader_wrong_type(struct ab_reader *r, uint32_t node, const char *path, const json_t *value,
			  const char *wanted, const char *right)
{
	ab_autofree char *wrong = ab_printf("must be %s, not %s", wanted, type_name(value));

	ab_reader_report(r, node, path, wrong, right);
}

static void put_text(struct ab_reader *r, uint32_t node, const char *path, enum ab_key_id id,
		     const char *text)
{
	struct ab_complaint why = { .right = "" };

	if (ab_value_put(r->ctx, id, &r->config->v[id], text, ab_reader_origin(r, node), &why) < 0)
		ab_reader_report(r, node, path, why.wrong, why.right);
}

static void put_integer(struct ab_reader *r, uint32_t node, const char *path, enum ab_key_id id,
			const json_t *value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	put_text(r, node, path, id, text);
}

static void put_element(struct ab_reader *r, uint32_t node, const char *path, enum ab_key_id id,
			const json_t *value)
{
	bool ports = ab_keys[id].type == AB_TYPE_PORTS;
	bool publish = ab_keys[id].type == AB_TYPE_PUBLISH;

	if ((ports || publish) && json_is_integer(value))
		put_integer(r, node, path, id, value);
	else if (ports)
		ab_reader_wrong_type(r, node, path, value, "a whole number", "without quotes");
	else if (json_is_string(value))
		put_text(r, node, path, id, json_string_value(value));
	else if (publish)
		ab_reader_wrong_type(r, node, path, value, "a whole number or a text",
				     "write 3000 or \"8080:3000\"");
	else
		ab_reader_wrong_type(r, node, path, value, "a text", "put it in quotes");
}

static void put_list(struct ab_reader *r, uint32_t node, enum ab_key_id id, const json_t *list)
{
	const struct ab_key *key = &ab_keys[id];
	uint32_t k = node + 1;

	if (!json_is_array(list)) {
		ab_autofree char *right = NULL;

		if (json_is_string(list) && strlen(json_string_value(list)) < 60) {
			ab_autofree char *e = ab_escape(json_string_value(list));

			right = ab_printf("write [\"%s\"]", e);
		} else if (json_is_integer(list) &&
			   (key->type == AB_TYPE_PORTS || key->type == AB_TYPE_PUBLISH)) {
			right = ab_printf("write [%" JSON_INTEGER_FORMAT "]",
					  json_integer_value(list));
		}
		ab_reader_wrong_type(r, node, key->path, list,
				     key->type == AB_TYPE_READ ? "\"all\" or a list" : "a list",
				     right ? right : "write [\"...\"]");
		return;
	}
	/* An empty list is set too: it means "nothing". */
	r->config->v[id].from = ab_reader_origin(r, node);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *e = json_array_get(list, i);
		ab_autofree char *path = ab_printf("%s[%zu]", key->path, i);

		if (ab_reader_full(r))
			return;
		put_element(r, k, path, id, e);
		k = r->nodes[k].next;
	}
}

static void put_assignments(struct ab_reader *r, uint32_t node, enum ab_key_id id,
			    const json_t *object)
{
	if (!json_is_object(object)) {
		ab_reader_wrong_type(r, node, ab_keys[id].path, object, "an object",
				     "write { \"NAME\": \"value\" }");
		return;
	}
	r->config->v[id].from = ab_reader_origin(r, node);
	for (uint32_t k = node + 1; k < r->nodes[node].next; k = r->nodes[k].next) {
		json_t *key = ab_reader_key(r, k);
		const char *name = json_string_value(key);
		const json_t *value = json_object_get(object, name);
		ab_autofree char *path = ab_printf("%s.%s", ab_keys[id].path, name);
		ab_autofree char *text = NULL;

		if (!json_is_string(value)) {
			ab_reader_wrong_type(r, k, path, value, "a text", "put it in quotes");
		} else if (strchr(name, '=') && id == AB_KEY_OVERRIDE) {
			ab_reader_report(r, k, path, "no such rule", "");
		} else if (strchr(name, '=')) {
			ab_reader_report(r, k, path, "is not the name of a variable",
					 "letters, digits and _");
		} else {
			text = ab_printf("%s=%s", name, json_string_value(value));
			put_text(r, k, path, id, text);
		}
		json_decref(key);
	}
}

static void put_scalar(struct ab_reader *r, uint32_t node, enum ab_key_id id, const json_t *value)
{
	const struct ab_key *key = &ab_keys[id];
	bool integer = key->type == AB_TYPE_INTEGER;

	if (json_is_string(value) && (!integer || strcmp(json_string_value(value), "none") == 0)) {
		put_text(r, node, key->path, id, json_string_value(value));
	} else if (integer && json_is_integer(value)) {
		put_integer(r, node, key->path, id, value);
	} else if (integer) {
		ab_reader_wrong_type(r, node, key->path, value, "a whole number",
				     key->none ? "without quotes; or \"none\"" : "without quotes");
	} else {
		ab_reader_wrong_type(r, node, key->path, value, "a text",
				     key->type == AB_TYPE_SIZE	     ? "write one like \"512M\""
				     : key->type == AB_TYPE_DURATION ? "write one like \"30m\""
								     : "put it in quotes");
	}
}

static void put_value(struct ab_reader *r, uint32_t node, enum ab_key_id id, const json_t *value)
{
	const struct ab_key *key = &ab_keys[id];

	if (key->type == AB_TYPE_READ && json_is_string(value)) {
		if (strcmp(json_string_value(value), "all") != 0)
			put_list(r, node, id, value);
		else
			put_text(r, node, key->path, id, "all");
	} else if (key->type == AB_TYPE_ASSIGNMENTS || key->type == AB_TYPE_OVERRIDES) {
		put_assignments(r, node, id, value);
	} else if (key->type == AB_TYPE_RULES) {
		ab_rules_read(r, node, value);
	} else if (key->type == AB_TYPE_HTTP) {
		ab_http_read(r, node, value);
	} else if (key->type == AB_TYPE_SECRETS) {
		ab_secrets_read(r, node, value);
	} else if (ab_key_is_list(key)) {
		put_list(r, node, id, value);
	} else {
		put_scalar(r, node, id, value);
	}
}

static void unknown_key(struct ab_reader *r, uint32_t node, const char *path, const char *name)
{
	const char *guess = ab_key_guess(path);
	ab_autofree char *right = NULL;

	if (strchr(name, '.') && ab_key_find(name, strlen(name)))
		right = ab_printf("write { \"%.*s\": { \"%s\": ... } }", (int)strcspn(name, "."),
				  name, strchr(name, '.') + 1);
	else if (guess)
		right = ab_printf("did you mean %s?", guess);
	ab_reader_report(r, node, path, "no such key", right ? right : "");
}

/* Words about a section, or about elements of its lists: for people who read
 * the file. */
static void check_reason(struct ab_reader *r, uint32_t node, const char *path, const json_t *value)
{
	static const char right[] = "write \"...\", or { \"entry\": \"...\" }";
	const char *name;
	json_t *inner;

	if (json_is_string(value))
		return;
	if (!json_is_object(value)) {
		ab_reader_wrong_type(r, node, path, value, "a text or an object of texts", right);
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)value, name, inner) if (!json_is_string(inner))
	{
		ab_reader_wrong_type(r, node, path, inner, "a text for each entry", right);
		return;
	}
}

static void read_object(struct ab_reader *r, uint32_t node, const char *prefix,
			const json_t *object)
{
	for (uint32_t k = node + 1; k < r->nodes[node].next; k = r->nodes[k].next) {
		json_t *key = ab_reader_key(r, k);
		const char *name = json_string_value(key);
		const json_t *value = json_object_get(object, name);
		ab_autofree char *path = ab_printf("%s%s%s", prefix, prefix[0] ? "." : "", name);
		const struct ab_key *found = ab_key_find(path, strlen(path));
		bool top = !prefix[0];

		if (top && strcmp(name, "$schema") == 0) {
			if (!json_is_string(value))
				ab_reader_wrong_type(r, k, path, value, "a text",
						     "put it in quotes");
		} else if (!top && strcmp(name, "reason") == 0) {
			check_reason(r, k, path, value);
		} else if (found && !strchr(name, '.')) {
			put_value(r, k, (enum ab_key_id)(found - ab_keys), value);
		} else if (top && ab_key_is_group(path, strlen(path))) {
			if (json_is_object(value))
				read_object(r, k, path, value);
			else
				ab_reader_wrong_type(r, k, path, value, "an object",
						     "write { ... }");
		} else {
			unknown_key(r, k, path, name);
		}
		json_decref(key);
	}
}

/* What no later layer could put right. */
static void check_together(struct ab_reader *r)
{
	struct ab_complaint why = { .right = "" };
	const struct ab_origin *from;
	enum ab_key_id key;

	if (ab_ports_check(r->config, NULL, &key, &from, &why) < 0)
		report(r, from->line, ab_keys[key].path, why.wrong, why.right);
	if (ab_secrets_check(&r->config->v[AB_KEY_SECRETS], &from, &why) < 0)
		report(r, from->line, ab_keys[AB_KEY_SECRETS].path, why.wrong, why.right);
}

void ab_settings_file_parse(const struct ab_context *ctx, enum ab_layer layer, const char *name,
			    const char *text, size_t len, struct ab_config *ret,
			    struct ab_problems *problems)
{
	ab_autoscan struct ab_json_scan scan = { 0 };
	struct ab_reader r = { ctx, layer, name, text, NULL, ret, problems };
	json_error_t error;
	json_t *root;

	if (ab_json_scan_parse(&scan, text, len) < 0) {
		report(&r, scan.line, "", scan.wrong, "");
		return;
	}
	r.nodes = scan.nodes;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!root) {
		ab_autofree char *what = ab_escape(error.text);

		report(&r, error.line > 0 ? (uint32_t)error.line : 1, "", what, "");
	} else if (!json_is_object(root)) {
		ab_reader_wrong_type(&r, 0, "", root, "an object", "write { ... }");
	} else {
		read_object(&r, 0, "", root);
		check_together(&r);
	}
	json_decref(root);
}
