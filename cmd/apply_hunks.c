#include "cmd.h"

static const char choices[] = "y  yes, apply it\n"
			      "n  no, leave it in the layer\n"
			      "q  quit: apply nothing at all\n"
			      "a  apply this one and all later ones\n"
			      "d  done: leave this one and all later ones\n";

/* What is decided about the rest. */
enum rest { REST_ASK, REST_ALL, REST_NONE, REST_QUIT };

static bool ask_about(const char *question, enum rest *rest)
{
	for (;;) {
		switch (*rest == REST_ASK   ? ask_letter(question, "ynad?q")
			: *rest == REST_ALL ? 'y'
					    : 'n') {
		case 'y':
			return true;
		case 'a':
			*rest = REST_ALL;
			return true;
		case 'd':
			*rest = REST_NONE;
			return false;
		case 'q':
			*rest = REST_QUIT;
			return false;
		case '?':
			fputs(choices, stdout);
			break;
		default:
			return false;
		}
	}
}

static void print_line(void *arg, char sign, const char *line, size_t len)
{
	ab_autobuf struct ab_buf b = { 0 };

	(void)arg;
	if (len && line[len - 1] == '\n')
		len--;
	ab_buf_escape_n(&b, line, len);
	printf("%c%s\n", sign, b.data ? b.data : "");
}

/* Ask about each hunk. Some of them: the file gets these. */
static void pick_file(struct ab_apply *apply, size_t i, const struct ab_contents *contents,
		      enum rest *rest)
{
	ab_autohunks struct ab_hunks hunks = { 0 };
	ab_autofree bool *take = NULL;
	size_t taken = 0;

	ab_hunks_find(contents->old.data, contents->old.len, contents->fresh.data,
		      contents->fresh.len, &hunks);
	take = ab_alloc((hunks.len + 1) * sizeof(take[0]));
	for (size_t h = 0; h < hunks.len; h++) {
		char header[AB_HUNK_HEADER];

		if (*rest == REST_ASK) {
			puts(ab_hunk_header(&hunks.v[h], header));
			ab_hunk_each(&hunks, &hunks.v[h], print_line, NULL);
		}
		take[h] = ask_about("apply this hunk [y,n,q,a,d,?]?", rest);
		taken += take[h];
	}
	apply->picks[i].take = taken > 0;
	if (taken > 0 && taken < hunks.len) {
		struct ab_buf text = { 0 };
		size_t len;

		ab_hunks_apply(&hunks, take, &text);
		len = text.len;
		ab_apply_pick_part(apply, i, ab_buf_take(&text), len);
	}
}

/* The whole change as a patch; its labels are printed already. */
static void print_patch(const struct ab_change *change, const struct ab_contents *contents)
{
	ab_autohunks struct ab_hunks hunks = { 0 };
	ab_autobuf struct ab_buf b = { 0 };
	const struct ab_show_style style = { 0 };
	bool text = ab_contents_are_text(contents);
	struct ab_shown shown = { .change = change, .contents = contents };

	if (text) {
		const struct ab_content *old = &contents->old, *fresh = &contents->fresh;

		ab_hunks_find(old->data ? old->data : "", old->len, fresh->data ? fresh->data : "",
			      fresh->len, &hunks);
		shown.hunks = &hunks;
	}
	ab_show_patch(&b, &style, &shown);
	if (b.len)
		fwrite(b.data, 1, b.len, stdout);
}

static void pick_change(struct ab_apply *apply, size_t i, enum ab_apply_conflict conflict,
			enum rest *rest)
{
	struct ab_change *c = &apply->changes.v[i];
	ab_autocontents struct ab_contents contents = { 0 };

	if (c->refused)
		return; /* it is reported at the end */
	if (c->conflict && conflict == AB_APPLY_LEAVE) {
		if (*rest == REST_ASK)
			print_layer_change(c, "conflict: it needs --theirs or --ours");
		return; /* so is this */
	}
	if (*rest == REST_ASK)
		print_layer_change(c, c->conflict ? "conflict" : NULL);
	if (*rest == REST_ASK || c->kind == AB_CHANGE_MODIFIED)
		ab_contents_read(&apply->opened.view, c, &contents);
	if (c->kind == AB_CHANGE_MODIFIED && c->is == AB_TYPE_FILE &&
	    ab_contents_are_text(&contents)) {
		pick_file(apply, i, &contents, rest);
		return;
	}
	if (*rest == REST_ASK)
		print_patch(c, &contents);
	apply->picks[i].take = ask_about("apply this change [y,n,q,a,d,?]?", rest);
}

bool pick_hunks(struct ab_apply *apply, enum ab_apply_conflict conflict)
{
	enum rest rest = REST_ASK;

	ab_apply_label(apply);
	for (size_t i = 0; i < apply->changes.len && rest != REST_QUIT; i++)
		if (apply->picks[i].take)
			pick_change(apply, i, conflict, &rest);
	return rest != REST_QUIT;
}
