#include "layer/journal/plan.h"

#include "layer/walk/records.h"
#include "workspace/tree/names.h"

static const char plan_kind[8] ab_unterminated = "ab-plan1";
static const char ready_kind[8] ab_unterminated = "ab-redy1";

#define STEPS_MAX (1u << 20)
#define CONFLICT ((uint64_t)1 << 8) /* beside the kind of a step */

struct ab_step *ab_steps_add(struct ab_steps *steps, enum ab_step_kind kind, const char *path)
{
	ab_make_room(steps->v, steps->len);
	steps->v[steps->len] = (struct ab_step){ .kind = kind, .path = ab_strdup(path) };
	return &steps->v[steps->len++];
}

void ab_steps_fini(struct ab_steps *steps)
{
	ab_free_rows(steps->v, steps->len, path);
	ab_strv_fini(&steps->shown);
	*steps = (struct ab_steps){ 0 };
}

void ab_step_name(const struct ab_steps *steps, size_t i, char ret[AB_STEP_NAME])
{
	snprintf(ret, AB_STEP_NAME, ".agentbox-%s-%zu", steps->token, i);
}

/* ---- files ---- */

void ab_steps_write(const struct ab_steps *steps, struct ab_buf *ret)
{
	ab_record_put(ret, steps->home);
	ab_record_put(ret, steps->copy);
	ab_record_put(ret, steps->far);
	ab_record_put_text(ret, steps->token);
	ab_record_put_identity(ret, &steps->root);
	ab_record_put(ret, steps->len);
	for (size_t i = 0; i < steps->len; i++) {
		const struct ab_step *step = &steps->v[i];

		ab_record_put(ret, step->kind | (step->conflict ? CONFLICT : 0));
		ab_record_put_text(ret, step->path);
		ab_record_put_identity(ret, &step->old);
		ab_record_put(ret, step->mode);
		ab_record_put(ret, step->changes);
	}
	ab_record_put_list(ret, &steps->shown);
}

int ab_steps_save(const struct ab_steps *steps, int dir)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_steps_write(steps, &b);
	return ab_record_file_save(dir, "plan", plan_kind, &b);
}

static void get_step(struct ab_record_reader *r, struct ab_steps *steps)
{
	uint64_t kind = ab_record_get(r);
	bool conflict = kind & CONFLICT;
	ab_autofree char *path = ab_record_get_text(r);
	struct ab_step *step;

	kind &= ~CONFLICT;
	/* It is only used beneath the root; it must not even try to leave. */
	if (kind > AB_STEP_MOVE || !ab_name_is_clean(path))
		r->bad = true;
	if (r->bad)
		return;
	step = ab_steps_add(steps, (enum ab_step_kind)kind, path);
	step->conflict = conflict;
	ab_record_get_identity(r, &step->old);
	step->mode = (mode_t)ab_record_get(r);
	step->changes = ab_record_get(r);
}

static bool is_token(const char *token)
{
	return strlen(token) == AB_TOKEN_LEN && strspn(token, "0123456789abcdef") == AB_TOKEN_LEN;
}

int ab_steps_read(struct ab_record_reader *r, struct ab_steps *ret)
{
	ab_autofree char *token = NULL;
	struct ab_steps steps = { 0 };
	uint64_t n;

	steps.home = ab_record_get(r);
	steps.copy = ab_record_get(r);
	steps.far = ab_record_get(r);
	token = ab_record_get_text(r);
	ab_record_get_identity(r, &steps.root);
	n = ab_record_get(r);
	if (!is_token(token) || n > STEPS_MAX)
		r->bad = true;
	for (uint64_t i = 0; i < n && !r->bad; i++)
		get_step(r, &steps);
	ab_record_get_list(r, &steps.shown);
	for (size_t i = 0; i < steps.shown.len; i++)
		r->bad |= !ab_name_is_clean(steps.shown.v[i]);
	if (r->bad || r->left) {
		ab_steps_fini(&steps);
		return ab_errno(EBADMSG);
	}
	memcpy(steps.token, token, sizeof(steps.token));
	*ret = steps;
	return 0;
}

int ab_steps_load(int dir, struct ab_steps *ret)
{
	ab_autofree char *file = NULL;
	struct ab_record_reader r;

	if (ab_record_file_load(dir, "plan", plan_kind, &file, &r) < 0)
		return -1;
	return ab_steps_read(&r, ret);
}

int ab_steps_save_ready(const struct ab_steps *steps, int dir)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_record_put(&b, steps->len);
	for (size_t i = 0; i < steps->len; i++)
		ab_record_put_identity(&b, &steps->v[i].staged);
	return ab_record_file_save(dir, "ready", ready_kind, &b);
}

int ab_steps_read_ready(struct ab_record_reader *r, struct ab_steps *steps)
{
	if (ab_record_get(r) != steps->len)
		r->bad = true;
	for (size_t i = 0; i < steps->len && !r->bad; i++)
		ab_record_get_identity(r, &steps->v[i].staged);
	return r->bad || r->left ? ab_errno(EBADMSG) : 0;
}

int ab_steps_load_ready(int dir, struct ab_steps *steps)
{
	ab_autofree char *file = NULL;
	struct ab_record_reader r;

	if (ab_record_file_load(dir, "ready", ready_kind, &file, &r) < 0)
		return -1;
	return ab_steps_read_ready(&r, steps);
}
