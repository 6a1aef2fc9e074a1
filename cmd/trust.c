#include "cmd.h"

static const struct option options_trust[] = {
	FLAG("yes", 'y', "trust it without asking"),
	FLAG("json", 0, "print JSON, and do not ask"),
	FLAG("revoke", 0, "no longer trust it"),
	{ 0 },
};

static void print_lines(const char *title, const struct ab_strv *lines)
{
	if (!lines->len)
		return;
	printf("%s\n", title);
	print_safe("  ", lines);
}

/* The lines of a review are safe to print as they are. */
static void print_review(const struct ab_trust_review *r, const char *path)
{
	printf("%s %s\n", path,
	       r->state == AB_TRUST_CHANGED ? "has changed since you trusted it:"
					    : "is not trusted yet; it contains:");
	print_lines("", &r->diff);
	printf("\n");
	if (!r->widens.len)
		printf("It does not allow anything more.\n");
	print_lines("Allowed only with this file:", &r->widens);
	print_lines("Allowed only without this file:", &r->tightens);
	printf("\n");
}

/* What a script needs to ask a person itself, and then --yes. */
static int trust_json(const struct args *args, const struct ab_trust_review *r,
		      struct ab_error *err)
{
	bool trusted = r->state == AB_TRUST_HOLDS;

	if (!trusted && given(args, "yes")) {
		if (ab_trust_record(&args->input, r, err) < 0)
			return -1;
		trusted = true;
	}
	put_json("{'file':%s,'trusted':%hhd,'changed':%hhd,'diff':%p,'widens':%p,'tightens':%p}\n",
		 r->path, trusted, (bool)(r->state == AB_TRUST_CHANGED), ab_list(&r->diff),
		 ab_list(&r->widens), ab_list(&r->tightens));
	return trusted ? 0 : 1;
}

static int trust_file(const struct args *args, const struct ab_trust_review *r,
		      struct ab_error *err)
{
	ab_autofree char *path = ab_escape(r->path);
	ab_autobuf struct ab_buf without = { 0 };

	ab_buf_printf(&without,
		      "not trusted: there is no terminal to ask on; to trust this content: "
		      "agentbox trust --yes%s",
		      args->nrest ? " " : "");
	ab_quote_argv(&without, args->rest, args->nrest);

	if (r->state == AB_TRUST_HOLDS) {
		printf("%s is already trusted\n", path);
		return 0;
	}
	print_review(r, path);
	if (get_consent(args, "Trust exactly this content?", without.data,
			"not trusted; the file can still tighten the box") >= 0)
		return 1;
	if (ab_trust_record(&args->input, r, err) < 0)
		return -1;
	printf("%s is trusted until it changes\n", path);
	return 0;
}

static int revoke_trust(const struct args *args, const char *file, struct ab_error *err)
{
	bool had;

	if (ab_trust_revoke(&args->input, file, &had, err) < 0)
		return -1;
	if (given(args, "json"))
		put_json("{'trusted':false,'revoked':%hhd}\n", had);
	else
		puts(had ? "no longer trusted" : "it was not trusted");
	return 0;
}

static int trust_main(struct args *args, struct ab_error *err)
{
	const char *file = args->rest[0];
	ab_auto(ab_trust_review_fini) struct ab_trust_review review = { 0 };

	if (given(args, "revoke"))
		return revoke_trust(args, file, err);
	if (ab_trust_review(&args->input, file, &review, err) < 0)
		return -1;
	return given(args, "json") ? trust_json(args, &review, err)
				   : trust_file(args, &review, err);
}

const struct command command_trust = {
	.name = "trust",
	.usage = "[OPTIONS] [FILE]",
	.summary = "let a project's .agentbox.json widen the policy",
	.groups = OPTION_GROUPS({ NULL, options_trust }),
	.words = { 0, 1 },
	.rows = OPTION_ROWS("yes revoke"),
	.main = trust_main,
};
