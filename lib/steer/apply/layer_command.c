#include "steer/apply/layer_command.h"

#include "layer/diff/labels.h"
#include "layer/diff/show.h"
#include "layer/walk/look.h"
#include "policy/layers/layers.h"
#include "state/live_writers.h"
#include "state/state.h"
#include "steer/client/steer.h"

/* ---- which set ---- */

/* When the last apply was done; zero: there is none, or it is of another folder. */
static struct timespec get_applied(const struct ab_layer_store *store, const char *key,
				   const char *cwd)
{
	ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;
	ab_autoclose int undo = -1, newest = -1;
	struct ab_look look;
	struct ab_error err;

	if (ab_layers_open(store, key, 0, &set, &err) < 0)
		return (struct timespec){ 0 };
	undo = ab_layer_set_open(&set, "undo", O_RDONLY | O_DIRECTORY);
	newest = undo < 0 ? -1 : ab_undo_open_newest(undo);
	if (newest < 0 || ab_look_at(newest, "done", &look) < 0 || !set.meta.workspace ||
	    set.meta.workspace[0] != '/' || !ab_path_within(cwd, set.meta.workspace))
		return (struct timespec){ 0 };
	return look.id.mtime;
}

static int find_applied(const struct ab_layer_store *store, const char *cwd,
			struct ab_layer_set *ret, struct ab_error *err)
{
	ab_autostrv struct ab_strv keys = { 0 };
	struct timespec newest = { 0 };
	const char *key = NULL;

	if (ab_layers_list(store, &keys, err) < 0)
		return -1;
	for (size_t i = 0; i < keys.len; i++) {
		struct timespec at = get_applied(store, keys.v[i], cwd);

		if (ab_time_later(at, newest)) {
			newest = at;
			key = keys.v[i];
		}
	}
	if (!key) {
		ab_fail(err, AB_EREFUSED, 0, "no apply to this folder can be taken back");
		return ab_hint(err, "name a run, or list all layers with: agentbox layers");
	}
	return ab_layers_open(store, key, AB_LAYERS_LOCK, ret, err);
}

static int find_set(struct ab_layer_command *c, const char *which, const char *cwd,
		    enum ab_layer_use use, struct ab_error *err)
{
	*err = (struct ab_error){ 0 };
	if (!which && use == AB_LAYER_APPLIED)
		return find_applied(&c->store, cwd, &c->set, err);
	return ab_layers_find(&c->store, which, cwd, AB_LAYERS_LOCK, &c->set, err);
}

/* The set, and how many of the words name it. */
static int choose_set(struct ab_layer_command *c, const struct ab_layer_words *words,
		      const char *cwd, enum ab_layer_use use, size_t *ret_used,
		      struct ab_error *err)
{
	size_t named = words->dashes ? words->before : words->n;
	const char *first = named ? words->v[0] : NULL;

	/* ./a and ../b cannot be names. */
	if (first && !words->dashes && !ab_layer_key_valid(first))
		first = NULL;
	*ret_used = first ? 1 : 0;
	if (find_set(c, first, cwd, use, err) == 0)
		return 0;
	if (!first || words->dashes || err->errnum != ENOENT)
		return -1;
	*ret_used = 0;
	return find_set(c, NULL, cwd, use, err);
}

/* ---- paths ---- */

static int add_path(struct ab_layer_command *c, const char *word, const char *root,
		    const struct ab_policy_input *input, struct ab_error *err)
{
	ab_autofree char *path = ab_path_resolve(word, input->cwd, input->home);

	if (!path || !ab_path_within(path, root))
		return ab_fail(err, AB_EUSAGE, 0, "%s is not in %s", word, root);
	ab_strv_add(&c->paths, strcmp(path, root) == 0 ? "" : path + strlen(root) + (root[1] != 0));
	return 0;
}

/* Say it before anybody is asked; the guard looks again (state/claim.h). */
static int check_writers(const struct ab_layer_command *c, bool home, struct ab_error *err)
{
	static const struct ab_strv nothing;
	const char *place = home ? c->set.meta.home : c->set.meta.workspace;
	/* Which files of the home folder will be chosen is not known yet. */
	struct ab_writer_search search = { .root = place, .paths = home ? &nothing : NULL };
	char run[8];

	if (!place || place[0] != '/' || !ab_find_live_writer(c->state, &search, run))
		return 0;
	return ab_fail_live_writer(place, run, err);
}

int ab_layer_command_open(const struct ab_policy_input *input, const struct ab_layer_words *words,
			  enum ab_layer_use use, bool home, struct ab_layer_command *ret,
			  struct ab_error *err)
{
	const char *root;
	size_t used;

	ret->state = ab_alloc(sizeof(*ret->state));
	if (ab_steer_state(input, ret->state, err) < 0) {
		free(ab_take(ret->state));
		return -1;
	}
	ret->store = (struct ab_layer_store){ ret->state->root, ret->state->path };
	ab_claim_init(&ret->claim, ret->state, NULL);
	if (choose_set(ret, words, input->cwd, use, &used, err) < 0 ||
	    (use == AB_LAYER_WAITING && check_writers(ret, home, err) < 0) ||
	    ab_layer_recover(&ret->set, &ret->claim.guard, &ret->notes, err) < 0)
		return -1;
	ret->chosen = !used;
	ret->home = home;
	root = home ? ret->set.meta.home : ret->set.meta.workspace;
	for (size_t i = used; i < words->n; i++)
		if (add_path(ret, words->v[i], root ? root : "/", input, err) < 0)
			return -1;
	return 0;
}

void ab_layer_command_fini(struct ab_layer_command *c)
{
	ab_claim_release(&c->claim);
	ab_layer_set_fini(&c->set);
	ab_strv_fini_all(&c->paths, &c->notes);
	if (c->state)
		ab_state_fini(c->state);
	free(c->state);
	*c = (struct ab_layer_command)AB_LAYER_COMMAND_NONE;
}

int ab_layer_command_pick(const struct ab_layer_command *c, struct ab_apply *apply,
			  struct ab_error *err)
{
	for (size_t i = 0; i < c->paths.len; i++)
		if (!ab_apply_pick_path(apply, c->paths.v[i]) && c->paths.v[i][0]) {
			ab_fail(err, AB_ENOTFOUND, 0, "%s has no change in %s", c->set.key,
				c->paths.v[i]);
			return ab_hint(err, "see its changes with: agentbox diff --stat %s%s",
				       c->home ? "--home " : "", c->set.key);
		}
	return 0;
}

/* ---- text ---- */

char *ab_change_labels(const struct ab_change *change)
{
	struct ab_buf b = { 0 };

	for (unsigned int id = 0; id < AB_LABEL_COUNT; id++)
		if (change->labels & AB_LABEL_BIT(id))
			ab_buf_printf(&b, "%s%s", b.len ? ", " : "", ab_labels[id].name);
	return ab_buf_take(&b);
}

static void add_change_json(struct ab_buf *b, const struct ab_change *change, const char *why)
{
	ab_buf_jsonf(b, ",{'path':%s,'change':%s", change->path, ab_show_kind(change));
	if (change->labels) {
		ab_buf_jsonf(b, ",'labels':[");
		for (unsigned int id = 0; id < AB_LABEL_COUNT; id++)
			if (change->labels & AB_LABEL_BIT(id))
				ab_buf_jsonf(b, ",%s", ab_labels[id].name);
		ab_buf_puts(b, "]");
	}
	if (change->conflict)
		ab_buf_jsonf(b, ",'conflict':true");
	if (why)
		ab_buf_jsonf(b, ",'reason':%s", why);
	ab_buf_puts(b, "}");
}

enum list { LIST_DONE, LIST_LEFT, LIST_DROPPED };

static bool is_in_list(const struct ab_pick *pick, enum list list)
{
	if (pick->dropped || list == LIST_DROPPED)
		return pick->dropped && list == LIST_DROPPED;
	return list == LIST_DONE ? pick->done : pick->left != NULL;
}

static void add_list_json(struct ab_buf *b, const struct ab_apply *apply, const char *name,
			  enum list list)
{
	ab_buf_jsonf(b, ",%s:[", name);
	for (size_t i = 0; i < apply->changes.len; i++)
		if (is_in_list(&apply->picks[i], list))
			add_change_json(b, &apply->changes.v[i],
					list == LIST_LEFT ? apply->picks[i].left : NULL);
	ab_buf_puts(b, "]");
}

char *ab_layer_command_json(const struct ab_layer_command *c, const struct ab_apply *apply,
			    const char *verb)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'set':%s,'root':%s", c->set.key,
		     (apply->view.home ? c->set.meta.home : c->set.meta.workspace) ?: "");
	add_list_json(&b, apply, verb, LIST_DONE);
	add_list_json(&b, apply, "left", LIST_LEFT);
	add_list_json(&b, apply, "dropped", LIST_DROPPED);
	ab_buf_printf(&b, ",\"rest\":%zu}\n", ab_apply_rest(apply));
	return ab_buf_take(&b);
}
