/*
 * Theory of operation.
 *
 * A run's chain is in one of three states: unknown (no line yet), followed, or
 * over (reported). The first line of a run has "prev":null; each later line
 * must name the hash of the line before. The last one has a signature, which
 * covers the whole chain through its "prev".
 *
 * A run removes full files when there are too many (audit/write/log.h): always
 * audit.2.jsonl first, then 3 and so on, and the record "continued" says which.
 * So a gap after audit.1.jsonl is in order if it ends with the file that the
 * last such record names, and the record behind it has the hash of the line
 * before it ("first").
 *
 * A process that is killed while it writes leaves a part of a line. Whoever
 * continues the record says so ("torn"), and continues the chain from the last
 * whole line.
 *
 * A run whose broker was killed ends before its workspace is swept, and its end
 * says so ("swept":false). Whoever sweeps it writes the end once more. A copy of
 * the record does not get that, so the first one counts as long as it is the last
 * line, and the verdict says what is missing.
 */
#include "audit/read/verify.h"

#include "audit/read/details.h"
#include "audit/write/seal.h"
#include "base/text/base64.h"
#include "base/text/sha256.h"

/* Runs that write to one file at the same time. */
enum { CHAINS_MOST = 4096 };

const char *const ab_chain_state_names[AB_CHAIN_STATES] = {
	[AB_CHAIN_WHOLE] = "whole",	  [AB_CHAIN_ACTIVE] = "active",
	[AB_CHAIN_UNENDED] = "unended",	  [AB_CHAIN_UNKNOWN] = "unknown-key",
	[AB_CHAIN_UNSIGNED] = "unsigned", [AB_CHAIN_UNCHAINED] = "unchained",
	[AB_CHAIN_BROKEN] = "broken",
};

struct chain {
	struct ab_chain_verdict verdict;
	char prev[65];
	bool over;	    /* its last record was read */
	unsigned int gap;   /* the last file of a gap; 0: there is none */
	unsigned int gone;  /* the last file that the run says it removed */
	uint64_t fragments; /* lines since the last record that are no records */
	char fragment_file[32];
	uint64_t fragment_line; /* the first of them */
};

struct ab_verifier {
	const struct ab_keys *keys;
	bool single;
	char expected[8]; /* the id of its run; "": any */
	ab_chain_fn fn;
	void *arg;
	struct chain *chains;
	size_t len;
	bool crowded; /* there were too many, which was reported */
};

/* clang-format off */
#define WANTED(X) \
	X(RUN, "run_id") X(KIND, "kind") X(PREV, "prev") X(KEY, "key") X(SIGNATURE, "signature") \
	X(TORN, "torn") X(SWEPT, "swept") X(BEFORE, "before") X(REMOVED, "removed") \
	X(FIRST, "first")
/* clang-format on */
AB_MEMBERS(WANTED)

struct place {
	const char *file;
	uint64_t number;
};

void ab_chain_key(const struct ab_chain_verdict *verdict, char ret[AB_CHAIN_KEY_ROOM])
{
	size_t len = verdict->keyed ? ab_base64_encode(verdict->key, sizeof(verdict->key),
						       AB_BASE64_STANDARD, ret)
				    : 0;

	ret[len] = '\0';
}

bool ab_keys_have(const struct ab_keys *keys, const uint8_t key[AB_ED25519_KEY])
{
	for (size_t i = 0; i < keys->len; i++)
		if (memcmp(keys->v[i], key, AB_ED25519_KEY) == 0)
			return true;
	return false;
}

void ab_keys_add(struct ab_keys *keys, const uint8_t key[AB_ED25519_KEY])
{
	memcpy(ab_append(keys->v, keys->len), key, AB_ED25519_KEY);
}

void ab_keys_fini(struct ab_keys *keys)
{
	free(keys->v);
	*keys = (struct ab_keys){ 0 };
}

struct ab_verifier *ab_verifier_new(const struct ab_keys *keys, bool single, ab_chain_fn fn,
				    void *arg)
{
	struct ab_verifier *v = ab_alloc(sizeof(*v));

	*v = (struct ab_verifier){ .keys = keys, .single = single, .fn = fn, .arg = arg };
	v->chains = ab_alloc((single ? 1 : CHAINS_MOST) * sizeof(*v->chains));
	return v;
}

void ab_verifier_expect(struct ab_verifier *v, const char *run)
{
	snprintf(v->expected, sizeof(v->expected), "%s", run);
}

static void set_broken(struct chain *c, const struct place *at, const char *why)
{
	struct ab_chain_verdict *verdict = &c->verdict;

	verdict->state = AB_CHAIN_BROKEN;
	verdict->why = why;
	verdict->line = at->number;
	snprintf(verdict->file, sizeof(verdict->file), "%s", at->file);
	c->over = true;
}

static unsigned int parse_number(const struct ab_detail *name)
{
	unsigned int number;
	char text[32];

	ab_detail_copy(name, text, sizeof(text));
	return sscanf(text, "audit.%9u.jsonl", &number) == 1 ? number : 0;
}

static bool decode_member(const struct ab_detail *member, uint8_t *ret, size_t len)
{
	uint8_t bytes[AB_BASE64_ROOM(AB_ED25519_SIGNATURE) / 4 * 3 + 3];
	char again[AB_BASE64_ROOM(AB_ED25519_SIGNATURE)];
	size_t n;

	if (member->kind != AB_DETAIL_TEXT || member->len > AB_BASE64_ROOM(AB_ED25519_SIGNATURE) ||
	    !ab_base64_decode(member->at, member->len, bytes, &n) || n != len)
		return false;
	/* The last letter has bits that do not count, but no byte of a record may change. */
	if (ab_base64_encode(bytes, n, AB_BASE64_STANDARD, again) != member->len ||
	    memcmp(again, member->at, member->len) != 0)
		return false;
	memcpy(ret, bytes, len);
	return true;
}

/* The last line of the run: is its signature right? */
static void check_end(struct ab_verifier *v, struct chain *c, const struct place *at,
		      const char *line, size_t len, const struct ab_detail m[])
{
	static const char before[] = ",\"signature\":\"";
	struct ab_chain_verdict *verdict = &c->verdict;
	const char *signature = m[M_SIGNATURE].at;
	uint8_t bytes[AB_ED25519_SIGNATURE];

	c->over = true;
	if (m[M_SIGNATURE].kind == AB_DETAIL_NONE) {
		verdict->state = AB_CHAIN_UNSIGNED;
		return;
	}
	if (!decode_member(&m[M_KEY], verdict->key, AB_ED25519_KEY) ||
	    !decode_member(&m[M_SIGNATURE], bytes, sizeof(bytes)) ||
	    (size_t)(signature - line) < strlen(before) ||
	    /* A member behind it would not be signed. */
	    (size_t)(signature - line) + m[M_SIGNATURE].len + strlen("\"}") != len ||
	    memcmp(signature - strlen(before), before, strlen(before)) != 0) {
		set_broken(c, at, "its signature cannot be read");
		return;
	}
	verdict->keyed = true;
	if (!ab_seal_holds(verdict->key, line, (size_t)(signature - line) - strlen(before), bytes))
		set_broken(c, at, "its signature does not fit");
	else
		verdict->state =
			ab_keys_have(v->keys, verdict->key) ? AB_CHAIN_WHOLE : AB_CHAIN_UNKNOWN;
}

static bool is_last(const struct ab_detail m[])
{
	return ab_detail_is(&m[M_KIND], "end") || ab_detail_is(&m[M_KIND], "refused");
}

/* A "continued" at the start of a file that does not follow the one before. */
static bool opens_gap(const struct ab_verifier *v, const struct chain *c, const struct place *at,
		      const struct ab_detail m[])
{
	return v->single && at->number == 1 && !c->gap && ab_detail_is(&m[M_KIND], "continued") &&
	       parse_number(&m[M_BEFORE]) > 1 && ab_detail_is(&m[M_FIRST], c->prev);
}

/* The end was not the last record: another one must follow. */
static void reopen_chain(struct chain *c)
{
	if (!c->verdict.unswept)
		return;
	c->verdict.state = AB_CHAIN_UNENDED;
	c->verdict.unswept = c->verdict.keyed = false;
}

static void follow_line(struct ab_verifier *v, struct chain *c, const struct place *at,
			const char *line, size_t len, const struct ab_detail m[])
{
	bool end = is_last(m);

	c->verdict.lines++;
	reopen_chain(c);
	if (c->verdict.state == AB_CHAIN_UNCHAINED) {
		c->over = end;
		return;
	}
	if (c->over) {
		set_broken(c, at, "it follows the last record of the run");
		return;
	}
	if (c->fragments && m[M_TORN].kind != AB_DETAIL_TRUE) {
		set_broken(c, &(struct place){ c->fragment_file, c->fragment_line },
			   "it is not a record");
		return;
	}
	c->verdict.torn += c->fragments;
	c->fragments = 0;
	if (!ab_detail_is(&m[M_PREV], c->prev)) {
		if (!opens_gap(v, c, at, m)) {
			set_broken(c, at, "the line before it is not the one it was written after");
			return;
		}
		c->gap = parse_number(&m[M_BEFORE]);
	}
	if (ab_detail_is(&m[M_KIND], "continued") && parse_number(&m[M_REMOVED]))
		c->gone = parse_number(&m[M_REMOVED]);
	ab_sha256(line, len, c->prev);
	if (end)
		check_end(v, c, at, line, len, m);
	if (end && m[M_SWEPT].kind == AB_DETAIL_FALSE && c->verdict.state != AB_CHAIN_BROKEN) {
		c->verdict.unswept = true;
		c->over = false;
	}
}

static void report_chain(struct ab_verifier *v, struct chain *c, bool active)
{
	struct ab_chain_verdict *verdict = &c->verdict;

	if (c->fragments && verdict->state != AB_CHAIN_BROKEN)
		set_broken(c, &(struct place){ c->fragment_file, c->fragment_line },
			   "it is not a record");
	if (c->gap && verdict->state != AB_CHAIN_BROKEN) {
		verdict->removed = c->gap - 1;
		if (c->gap != c->gone)
			set_broken(c, &(struct place){ "audit.2.jsonl", 1 },
				   "a file is missing that the run did not remove");
	}
	if (active && verdict->state == AB_CHAIN_UNENDED)
		verdict->state = AB_CHAIN_ACTIVE;
	v->fn(v->arg, verdict);
}

static struct chain *find_chain(struct ab_verifier *v, const char *run)
{
	for (size_t i = v->len; i-- > 0;)
		if (v->single || strcmp(v->chains[i].verdict.run, run) == 0)
			return &v->chains[i];
	return NULL;
}

static void report_crowd(struct ab_verifier *v, const struct place *at)
{
	struct chain c = { .verdict = { .state = AB_CHAIN_BROKEN } };

	if (v->crowded)
		return;
	v->crowded = true;
	set_broken(&c, at, "too many runs of this file have no end");
	v->fn(v->arg, &c.verdict);
}

static struct chain *begin_chain(struct ab_verifier *v, const struct place *at, const char *run)
{
	struct chain *c;

	if (v->len == (v->single ? 1 : CHAINS_MOST)) {
		report_crowd(v, at);
		return NULL;
	}
	c = &v->chains[v->len++];
	*c = (struct chain){ .verdict = { .state = AB_CHAIN_UNENDED } };
	snprintf(c->verdict.run, sizeof(c->verdict.run), "%s", run);
	return c;
}

/* Every file begins with the start of a run, or its refusal. */
static void follow_first(struct ab_verifier *v, struct chain *c, const struct place *at,
			 const char *line, size_t len, const struct ab_detail m[])
{
	bool refused = ab_detail_is(&m[M_KIND], "refused");
	bool begins = refused || ab_detail_is(&m[M_KIND], "start");

	if (begins && m[M_PREV].kind == AB_DETAIL_NONE) {
		c->verdict.state = AB_CHAIN_UNCHAINED;
		follow_line(v, c, at, line, len, m);
		return;
	}
	c->verdict.lines++;
	if (!begins) {
		set_broken(c, at, "the beginning of the run is missing");
	} else if (m[M_PREV].kind != AB_DETAIL_NULL) {
		set_broken(c, at, "a record before the first one is missing");
	} else {
		ab_sha256(line, len, c->prev);
		if (refused)
			check_end(v, c, at, line, len, m);
	}
}

static void note_fragment(struct ab_verifier *v, const struct place *at)
{
	struct chain *c = v->single && v->len ? &v->chains[0] : NULL;

	if (!c) {
		/* It may belong to any run of the file. */
		struct chain none = { .verdict = { .state = AB_CHAIN_BROKEN } };

		set_broken(&none, at, "it is not a record");
		v->fn(v->arg, &none.verdict);
		return;
	}
	if (c->fragments++ == 0) {
		c->fragment_line = at->number;
		snprintf(c->fragment_file, sizeof(c->fragment_file), "%s", at->file);
	}
}

void ab_verifier_add_part(struct ab_verifier *v, const char *file, uint64_t number)
{
	/* A process that was killed leaves one, or is about to finish it: but not behind the end. */
	if (v->single && v->len && v->chains[0].over)
		note_fragment(v, &(struct place){ file, number });
	else if (v->single && v->len)
		reopen_chain(&v->chains[0]);
}

void ab_verifier_add(struct ab_verifier *v, const char *file, uint64_t number, const char *line,
		     size_t len)
{
	struct place at = { file, number };
	struct ab_detail m[M_COUNT];
	char run[8];
	struct chain *c;

	if (ab_details_find(line, len, members, M_COUNT, m) < 0) {
		note_fragment(v, &at);
		return;
	}
	ab_detail_copy(&m[M_RUN], run, sizeof(run));
	c = find_chain(v, run);
	/* The same id again: another run, or one that was killed before it. */
	if (c && !v->single && ab_detail_is(&m[M_KIND], "start")) {
		report_chain(v, c, false);
		*c = v->chains[--v->len];
		c = NULL;
	}
	if (!c) {
		c = begin_chain(v, &at, run);
		if (c && v->expected[0] && strcmp(v->expected, run) != 0)
			set_broken(c, &at, "it belongs to another run");
		else if (c)
			follow_first(v, c, &at, line, len, m);
	} else if (c->verdict.state == AB_CHAIN_BROKEN) {
		c->verdict.lines++;
	} else if (strcmp(c->verdict.run, run) != 0) {
		set_broken(c, &at, "it belongs to another run");
	} else {
		follow_line(v, c, &at, line, len, m);
	}
	/* A chain that is broken is reported once, with all of its lines. */
	if (c && !v->single && c->over && (c->verdict.state != AB_CHAIN_BROKEN || is_last(m))) {
		report_chain(v, c, false);
		*c = v->chains[--v->len];
	}
}

void ab_verifier_end(struct ab_verifier *v, bool active)
{
	for (size_t i = 0; i < v->len; i++)
		report_chain(v, &v->chains[i], active);
	ab_free_all(v->chains, v);
}
