#include "steer/settings/settings.h"

#include "base/text/json_scan.h"
#include "policy/edit/edit_file.h"
#include "policy/edit/json_edit.h"
#include "policy/edit/list_origin.h"
#include "policy/layers/layers.h"
#include "policy/layers/trust.h"
#include "policy/model/keys.h"
#include "policy/model/policy.h"
#include "policy/read/settings_file.h"
#include "policy/values/paths.h"
#include "state/file_claim.h"

void ab_settings_changed_fini(struct ab_settings_changed *c)
{
	free(c->file);
	ab_strv_fini_all(&c->diff, &c->notes);
	*c = (struct ab_settings_changed){ 0 };
}

char *ab_settings_file(const struct ab_policy_input *in, bool project, struct ab_error *err)
{
	struct ab_policy_paths paths;
	char *file = NULL;

	if (!project)
		return ab_policy_user_file(in, err);
	if (ab_policy_paths(in, &paths, err) < 0)
		return NULL;
	for (size_t i = 0; i < paths.len; i++)
		if (strcmp(paths.v[i].layer, "project") == 0)
			file = ab_strdup(paths.v[i].path);
	ab_policy_paths_fini(&paths);
	if (!file)
		ab_fail(err, AB_EUSAGE, 0, "there is no project folder here");
	return file;
}

char *ab_settings_read(const char *file, bool project, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	size_t len;

	if (ab_settings_file_read(file, file, project, &text, &len, err) < 0)
		return NULL;
	if (!text)
		return ab_strdup("");
	if (strlen(text) != len) {
		ab_fail(err, AB_ECONFIG, 0, "%s: unexpected NUL byte", file);
		return NULL;
	}
	return ab_take(text);
}

/* Was every byte of it chosen by the person? */
static bool is_own(const struct ab_policy_input *in, const char *file, const char *seen)
{
	ab_autofree char *state = ab_state_dir(in->environ, in->home, in->cwd);

	return !*seen ||
	       (state && ab_trust_check(state, file, seen, strlen(seen)) == AB_TRUST_HOLDS);
}

/* Only what was written here: a box may have changed it since. */
static bool trust_text(const struct ab_policy_input *in, const char *file, const char *text)
{
	struct ab_trust_review review;
	struct ab_error err = { 0 };
	bool done;

	if (ab_trust_review(in, file, &review, &err) < 0)
		return false;
	done = review.len == strlen(text) && memcmp(review.text, text, review.len) == 0 &&
	       ab_trust_record(in, &review, &err) == 0;
	ab_trust_review_fini(&review);
	return done;
}

static int replace_file(const struct ab_policy_input *in, const char *file, bool project,
			const char *seen, const char *text, struct ab_strv *diff,
			struct ab_error *err)
{
	ab_auto(ab_file_claim_release) struct ab_file_claim claim = { 0 };

	/* No box can write to the folder of the user's own. */
	if (project && ab_file_claim_take(in, file, &claim, err) < 0)
		return -1;
	return ab_edit_file_replace(in, file, seen, text, diff, err);
}

int ab_settings_save(const struct ab_policy_input *in, const char *file, bool project,
		     const char *seen, const char *text, struct ab_settings_changed *changed,
		     struct ab_error *err)
{
	bool own = project && is_own(in, file, seen);

	if (replace_file(in, file, project, seen, text, &changed->diff, err) < 0)
		return -1;
	if (project && changed->diff.len && !(own && trust_text(in, file, text)))
		ab_strv_addf(&changed->notes,
			     "%s is not trusted; to read it and trust it: agentbox trust", file);
	return 0;
}

static bool has_members(const struct ab_key *key)
{
	return key->type == AB_TYPE_ASSIGNMENTS || key->type == AB_TYPE_OVERRIDES ||
	       key->type == AB_TYPE_SECRETS || key->type == AB_TYPE_HOST_TOOLS;
}

struct place {
	const struct ab_key *key;
	const char *member; /* of an object, or NULL */
	char group[16];	    /* "network" */
	const char *path[3];
	size_t len;
};

/* "env.set.CI": the key env.set, and the member CI. */
static int find_place(const char *text, struct place *ret, struct ab_error *err)
{
	const char *near;

	*ret = (struct place){ 0 };
	for (size_t i = 0; i < AB_KEY_COUNT && !ret->key; i++) {
		const struct ab_key *key = &ab_keys[i];
		size_t n = strlen(key->path);

		if (strncmp(text, key->path, n) != 0)
			continue;
		if (!text[n] || (text[n] == '.' && text[n + 1] && has_members(key))) {
			ret->key = key;
			ret->member = text[n] ? text + n + 1 : NULL;
		}
	}
	if (!ret->key) {
		near = ab_key_guess(text);
		ab_fail(err, AB_EUSAGE, 0, "unknown key %s", text);
		return near ? ab_hint(err, "did you mean %s?", near)
			    : ab_hint(err, "list them with: agentbox config show --all");
	}
	if (strchr(ret->key->path, '.')) {
		snprintf(ret->group, sizeof(ret->group), "%.*s", (int)strcspn(ret->key->path, "."),
			 ret->key->path);
		ret->path[ret->len++] = ret->group;
		ret->path[ret->len++] = strchr(ret->key->path, '.') + 1;
	} else {
		ret->path[ret->len++] = ret->key->path;
	}
	if (ret->member)
		ret->path[ret->len++] = ret->member;
	return 0;
}

static bool is_number(const char *text)
{
	return *text && strlen(text) < 19 && !text[strspn(text, "0123456789")];
}

/* One value or element, as a file spells it. */
static void put_value(struct ab_buf *b, const struct ab_key *key, const char *text)
{
	bool number = key->type == AB_TYPE_INTEGER || key->type == AB_TYPE_PORTS ||
		      key->type == AB_TYPE_PUBLISH;
	bool word = key->type == AB_TYPE_WORD && strcmp(key->words[0].name, "true") == 0 &&
		    (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);

	if (word || (number && is_number(text)))
		ab_buf_puts(b, text);
	else
		ab_buf_json(b, text);
}

/* A text that is JSON already must be one whole value. */
static int put_json(struct ab_buf *b, const char *text, struct ab_error *err)
{
	ab_autoscan struct ab_json_scan scan = { 0 };

	if (ab_json_scan_parse(&scan, text, strlen(text)) < 0) {
		ab_fail(err, AB_EUSAGE, 0, "the value is not valid JSON: column %u: %s",
			scan.column, scan.wrong);
		return ab_hint(err, "%s", scan.right);
	}
	ab_buf_puts(b, text);
	return 0;
}

static int make_value(const struct place *place, const struct ab_settings_change *c,
		      struct ab_buf *b, struct ab_error *err)
{
	const struct ab_key *key = place->key;
	bool list = ab_key_is_list(key) && !has_members(key) && key->type != AB_TYPE_RULES &&
		    key->type != AB_TYPE_HTTP;
	const char *first = c->values[0];

	if (c->nvalues == 1 && (first[0] == '[' || first[0] == '{') && ab_key_is_list(key))
		return put_json(b, first, err);
	if (c->nvalues > 1 && !list)
		return ab_fail(err, AB_EUSAGE, 0, "%s takes one value", c->key);
	if (place->member || !ab_key_is_list(key)) {
		put_value(b, key, first);
		return 0;
	}
	if (!list) {
		ab_fail(err, AB_EUSAGE, 0, "%s needs JSON", c->key);
		return ab_hint(err,
			       has_members(key) ? "set one member: %s.NAME VALUE, or '{ ... }'"
						: "for example: %s '[{ ... }]'",
			       c->key);
	}
	if (key->type == AB_TYPE_READ && c->nvalues == 1 && strcmp(first, "all") == 0) {
		ab_buf_json(b, first);
		return 0;
	}
	for (size_t i = 0; i < c->nvalues; i++) {
		ab_buf_puts(b, i ? ", " : "[");
		put_value(b, key, c->values[i]);
	}
	ab_buf_puts(b, "]");
	return 0;
}

/* Does another layer decide here? Lists are made of several. */
static void note_effect(const struct ab_policy_input *in, const struct place *place,
			const struct ab_settings_change *c, struct ab_settings_changed *ret)
{
	ab_autofree char *from = NULL;
	struct ab_policy_input here = *in;
	struct ab_error err = { 0 };
	ab_autopolicy struct ab_policy *policy = NULL;

	if (ab_key_is_list(place->key) || c->unset)
		return;
	here.judging = true;
	if (ab_policy_load(&here, &policy, NULL, &err) < 0) {
		ab_strv_addf(&ret->notes, "%s", err.text);
		return;
	}
	from = ab_policy_origin(policy, place->key->path, NULL);
	if (from && strncmp(ab_path_name(from), ab_path_name(ret->file),
			    strlen(ab_path_name(ret->file))) != 0)
		ab_strv_addf(&ret->notes, "it has no effect here: %s is set by %s", c->key, from);
}

static int change_place(const struct ab_policy_input *in, const struct place *place,
			const struct ab_settings_change *c, struct ab_settings_changed *ret,
			struct ab_error *err)
{
	ab_autobuf struct ab_buf json = { 0 };
	ab_autofree char *seen = NULL, *text = NULL;
	int changed;

	if (!c->unset && make_value(place, c, &json, err) < 0)
		return -1;
	ret->file = ab_settings_file(in, c->project, err);
	seen = ret->file ? ab_settings_read(ret->file, c->project, err) : NULL;
	if (!seen)
		return -1;
	changed = c->unset ? ab_json_edit_unset(seen, strlen(seen), place->path, place->len, &text,
						err)
			   : ab_json_edit_set(seen, strlen(seen), place->path, place->len,
					      json.data, &text, err);
	if (changed <= 0)
		return changed < 0 ? ab_wrap(err, "%s", ret->file) : 0;
	if (ab_settings_check(in, ret->file, c->project, text, err) < 0 ||
	    ab_settings_save(in, ret->file, c->project, seen, text, ret, err) < 0)
		return -1;
	note_effect(in, place, c, ret);
	return 0;
}

int ab_settings_change(const struct ab_policy_input *in, const struct ab_settings_change *change,
		       struct ab_settings_changed *ret, struct ab_error *err)
{
	struct place place;

	*ret = (struct ab_settings_changed){ 0 };
	if (find_place(change->key, &place, err) == 0 &&
	    change_place(in, &place, change, ret, err) == 0)
		return 0;
	ab_settings_changed_fini(ret);
	return -1;
}
