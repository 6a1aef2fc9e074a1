#include <inttypes.h>

#include "layer/diff/labels.h"
#include "layer/walk/changes.h"
#include "session/review/reviewer.h"

enum { JSON_FILES = 100 };

/* It is not applied with the safe ones. */
static bool is_held(const struct ab_change *c)
{
	return c->labels || c->conflict || c->refused;
}

void ab_review_text_count(const struct ab_changes *changes, struct ab_review_sum *ret)
{
	*ret = (struct ab_review_sum){
		.cut = changes->cut,
		.changed = changes->len,
		.waiting = changes->len,
	};
	for (size_t i = 0; i < changes->len; i++) {
		const struct ab_change *c = &changes->v[i];

		ret->held += is_held(c);
		ret->labelled += c->labels != 0;
		ret->conflicts += c->conflict;
		ret->refused += c->refused != NULL;
	}
}

void ab_review_text_head(struct ab_buf *b, const struct ab_review_sum *sum)
{
	ab_buf_printf(b, "%s%" PRIu64 " change%s", sum->cut ? "at least " : "", sum->changed,
		      sum->changed == 1 ? "" : "s");
	if (sum->labelled)
		ab_buf_printf(b, ", %" PRIu64 " want%s a look", sum->labelled,
			      sum->labelled == 1 ? "s" : "");
	if (sum->conflicts)
		ab_buf_printf(b, ", %" PRIu64 " conflict%s", sum->conflicts,
			      sum->conflicts == 1 ? "" : "s");
	if (sum->refused)
		ab_buf_printf(b, ", %" PRIu64 " cannot be applied", sum->refused);
}

void ab_review_text_lines(const struct ab_review_sum *sum, const char *key, bool automatic,
			  struct ab_strv *ret)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (!sum->waiting && !sum->applied)
		return;
	ab_review_text_head(&b, sum);
	if (sum->cut) {
		ab_buf_printf(&b, "; these are too many to apply: agentbox discard %s", key);
	} else if (automatic && !sum->waiting) {
		ab_buf_printf(&b, "; all applied (to take %s back: agentbox undo %s)",
			      sum->changed == 1 ? "it" : "them", key);
	} else if (sum->busy[0]) {
		ab_buf_puts(&b, "; not applied, because ");
		if (sum->busy[0] == '?')
			ab_buf_puts(&b, "it is not known which runs are active");
		else
			ab_buf_printf(&b, "the run %s can write to the workspace", sum->busy);
		ab_buf_printf(&b,
			      ". Later: agentbox diff %s, agentbox apply %s, agentbox discard %s",
			      key, key, key);
	} else if (sum->unfinished) {
		ab_buf_printf(&b,
			      "; not applied, because the command was killed or timed out. Later: "
			      "agentbox diff %s, agentbox apply %s, agentbox discard %s",
			      key, key, key);
	} else if (automatic) {
		ab_buf_printf(&b,
			      "; %" PRIu64 " applied, %" PRIu64
			      " wait%s: agentbox diff %s, agentbox apply %s, agentbox discard %s",
			      sum->applied, sum->waiting, sum->waiting == 1 ? "s" : "", key, key,
			      key);
	} else {
		ab_buf_printf(&b, "; to see and keep %s: agentbox diff %s, agentbox apply %s",
			      sum->waiting == 1 ? "it" : "them", key, key);
	}
	if (sum->forgotten)
		ab_buf_puts(&b, "; the oldest apply can no longer be taken back");
	ab_strv_give(ret, ab_buf_take(&b));
}

static void add_reasons(struct ab_buf *b, const struct ab_change *c)
{
	const char *comma = "";

	if (c->refused) {
		ab_buf_puts(b, "cannot be applied: ");
		ab_buf_escape(b, c->refused);
		comma = ", ";
	}
	if (c->conflict) {
		ab_buf_printf(b, "%salso changed on the host", comma);
		comma = ", ";
	}
	for (size_t i = 0; i < AB_LABEL_COUNT; i++)
		if (c->labels & AB_LABEL_BIT(i)) {
			ab_buf_printf(b, "%s%s", comma, ab_labels[i].what);
			comma = ", ";
		}
	if (c->labels & AB_LABEL_BIT(AB_LABEL_DELETION))
		ab_buf_printf(b, " (%" PRIu64 " file%s)", c->files, c->files == 1 ? "" : "s");
}

void ab_review_text_list(struct ab_buf *b, const struct ab_changes *changes, size_t most)
{
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < changes->len; i++) {
		if (!is_held(&changes->v[i]))
			continue;
		if (shown++ >= most) {
			left++;
			continue;
		}
		ab_buf_puts(b, "  ");
		ab_buf_escape(b, changes->v[i].path);
		ab_buf_puts(b, ": ");
		add_reasons(b, &changes->v[i]);
		ab_buf_puts(b, "\n");
	}
	if (left)
		ab_buf_printf(b, "  and %zu more\n", left);
}

void ab_review_text_json(const struct ab_changes *changes, const struct ab_review_sum *sum,
			 const char *key, struct ab_buf *b)
{
	size_t n = 0;

	ab_buf_jsonf(b,
		     "{'set':%s,'changed':%ju,'labelled':%ju,'conflicts':%ju,'refused':%ju,"
		     "'applied':%ju,'waiting':%ju,'complete':%hhd,'files':[",
		     key, sum->changed, sum->labelled, sum->conflicts, sum->refused, sum->applied,
		     sum->waiting, (bool)!sum->cut);
	for (size_t i = 0; i < changes->len && n < JSON_FILES; i++) {
		const struct ab_change *c = &changes->v[i];

		if (!is_held(c))
			continue;
		n++;
		ab_buf_jsonf(b, ",{'path':%s,'labels':[", c->path);
		for (size_t k = 0; k < AB_LABEL_COUNT; k++)
			if (c->labels & AB_LABEL_BIT(k))
				ab_buf_jsonf(b, ",%s", ab_labels[k].name);
		ab_buf_jsonf(b, "],'conflict':%hhd}", c->conflict);
	}
	ab_buf_puts(b, "]}");
}

void ab_review_sum_fini(struct ab_review_sum *sum)
{
	free(sum->json);
	*sum = (struct ab_review_sum){ 0 };
}
