#include "secrets/renew.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "base/process/helper.h"
#include "base/text/sha256.h"
#include "proxy/secrets/vault.h"
#include "secrets/sources.h"
#include "secrets/tokens/token_fetch.h"

struct renewal {
	pid_t reader; /* the child that reads it, or 0 */
	bool fixed;   /* a variable, or the box could change it: never read again */
	bool begun;   /* it was read again at least once */
	unsigned lost; /* so many readers in a row did not start, or could not hand over what they read */
	int64_t at;	/* when it was last read, at first our start */
	unsigned calm;	/* `changes` when it was last read unasked */
	uint64_t stamp; /* of the file when it was last read */
	uint64_t seen;	/* of the file at the last look */
};

/* Renew before the end: a quarter of the time before it, at most this. */
#define LEAD_MS 300000

/* The time between two readings doubles this often. */
enum { DOUBLED_MOST = 9 };

/* Shared with the children, which read the value. */
struct outcome {
	int64_t expires;  /* ms of the wall clock; 0: never */
	uint64_t mark;	  /* of the value, from its hash; 0: it was not read again */
	unsigned changes; /* how often it was another one than before */
};

struct ab_renewals {
	struct ab_renewals_setup setup;
	struct outcome *outcomes;
	int64_t known[AB_SECRETS_MAX]; /* as it was when renew_at was computed */
	int64_t renew_at[AB_SECRETS_MAX];
	struct renewal v[AB_SECRETS_MAX];
};

static bool is_fixed(const struct ab_secret *secret)
{
	if (secret->oauth)
		return secret->part;
	return secret->from == AB_FROM_ENV || secret->part || ab_source_is_open(secret);
}

struct ab_renewals *ab_renewals_new(const struct ab_renewals_setup *setup)
{
	struct ab_renewals *r = ab_alloc(sizeof(*r));

	r->setup = *setup;
	r->outcomes = mmap(NULL, AB_SECRETS_MAX * sizeof(r->outcomes[0]), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r->outcomes == MAP_FAILED)
		abort();
	for (size_t i = 0; i < setup->secrets->len; i++) {
		r->v[i].stamp = r->v[i].seen = setup->stamps[i];
		r->v[i].at = ab_now_ms();
		r->outcomes[i].expires = setup->expires ? setup->expires[i] * 1000 : 0;
		r->v[i].fixed = is_fixed(&setup->secrets->v[i]);
	}
	return r;
}

/* A value that is held, because its variable was wiped or the box could change it, or the source
 * now. */
static int read_part(const struct ab_renewals *r, const struct ab_secret *secret, size_t i,
		     struct ab_sourced *ret, struct ab_error *err)
{
	const char *held = r->setup.held ? r->setup.held[i] : NULL;

	if (held)
		ab_sourced_hold(ret, held, strlen(held));
	else if (ab_source_read(secret, r->setup.environ, AB_SOURCE_MS, ret, err) < 0)
		return -1;
	return ret->data
		       ? 0
		       : ab_fail(err, AB_EUSAGE, 0, "secret %s: environment variable %s is not set",
				 secret->name, secret->env);
}

static void get_token(const struct ab_renewals *r, size_t i, struct ab_sourced *ret,
		      struct ab_error *err)
{
	const struct ab_secret *secret = &r->setup.secrets->v[i];
	ab_autosourced struct ab_sourced credential = { 0 }, login = { 0 };
	struct ab_token_setup setup = { .secret = secret,
					.policy = r->setup.policy,
					.environ = r->setup.environ,
					.state = r->setup.state };
	char *token;

	if (read_part(r, secret, i + 1, &credential, err) < 0 ||
	    (secret->oauth->client_secret &&
	     read_part(r, secret->oauth->client_secret, i, &login, err) < 0))
		return;
	setup.credential = (struct ab_token_text){ credential.data, credential.len };
	setup.login = (struct ab_token_text){ login.data, login.len };
	if (ab_token_fetch(&setup, &token, &ret->expires, err) < 0)
		return;
	ab_sourced_hold(ret, token, strlen(token));
	ab_free_wiped(token);
}

static void note_value(struct outcome *outcome, const struct ab_sourced *value)
{
	uint8_t digest[AB_SHA256_SIZE];
	uint64_t mark;

	ab_sha256_bytes(value->data, value->len, digest);
	memcpy(&mark, digest, sizeof(mark));
	mark |= 1;
	outcome->changes += outcome->mark && outcome->mark != mark;
	outcome->mark = mark;
	outcome->expires = value->expires * 1000;
}

struct reading {
	struct ab_renewals *renewals;
	size_t i;
};

static int serve_reading(int sock, void *arg)
{
	const struct reading *reading = arg;
	struct ab_renewals *r = reading->renewals;
	size_t i = reading->i;
	const struct ab_secret *secret = &r->setup.secrets->v[i];
	ab_autosourced struct ab_sourced value = { 0 };
	struct ab_error err = { 0 };

	(void)sock;
	if (secret->oauth)
		get_token(r, i, &value, &err);
	else
		(void)ab_source_read(secret, r->setup.environ, AB_SOURCE_MS, &value, &err);
	if (r->setup.answer(r->setup.arg, i, &value, &err) < 0)
		return 1;
	if (value.data)
		note_value(&r->outcomes[i], &value);
	return 0;
}

static bool may_read(const struct renewal *v, unsigned doubled)
{
	if (v->lost)
		doubled += v->lost - 1;
	if (doubled > DOUBLED_MOST)
		doubled = DOUBLED_MOST;
	return !v->reader && !v->fixed &&
	       (!v->begun || ab_now_ms() - v->at >= (int64_t)AB_RENEWAL_MS << doubled);
}

static void read_again(struct ab_renewals *r, size_t i)
{
	struct renewal *v = &r->v[i];
	struct reading reading = { .renewals = r, .i = i };
	const int keep[] = { r->setup.sock, r->setup.state };
	const struct ab_helper_setup setup = {
		.what = "the process that reads a secret",
		.keep = keep,
		.nkeep = AB_COUNT(keep),
		.group = true,
		/* It kills the command it runs before it exits. */
		.end_signal = SIGTERM,
		.serve = serve_reading,
		.arg = &reading,
	};
	struct ab_helper helper;
	struct ab_error err;

	/* Taken before reading, so a write in between causes another reading. */
	v->stamp = v->seen = ab_source_stamp(&r->setup.secrets->v[i]);
	v->begun = true;
	v->at = ab_now_ms();
	v->reader = ab_helper_start(&setup, &helper, &err) == 0 ? helper.pid : 0;
	v->lost += !v->reader;
}

/*
 * The box decides how often a host answers 401. If each time there is a new value, which
 * does not end the one before, it could use up the service, and values that are still valid
 * would be too many to look for in responses: those of 36 hours, as long as one lasts at most.
 */
_Static_assert(DOUBLED_MOST + 36 * 3600 / (AB_RENEWAL_MS / 1000 << DOUBLED_MOST) < AB_VAULT_FORMER,
	       "all that may be valid are searched for");
void ab_renewals_ask(struct ab_renewals *r, size_t i)
{
	if (i < r->setup.secrets->len && may_read(&r->v[i], r->outcomes[i].changes - r->v[i].calm))
		read_again(r, i);
}

static void reap_reader(struct renewal *v)
{
	int status = 0;
	pid_t pid = v->reader ? waitpid(v->reader, &status, WNOHANG) : 0;

	if (pid == 0 || (pid < 0 && errno != ECHILD))
		return;
	v->reader = 0;
	v->lost = status ? v->lost + 1 : 0;
}

/* A file that is being written changes between two looks, so it is read only
 * after two equal ones. If it is gone, the old value stays. */
static bool has_changed(struct renewal *v, const struct ab_secret *secret)
{
	uint64_t stamp = ab_source_stamp(secret);
	bool stable = stamp == v->seen;

	v->seen = stamp;
	return stable && stamp && stamp != v->stamp;
}

/* The source has said until when the value is valid. */
static bool is_ending(struct ab_renewals *r, size_t i)
{
	int64_t end = r->outcomes[i].expires, now = ab_clock_ms(CLOCK_REALTIME), lead;

	if (end != r->known[i]) {
		lead = (end - now) / 4;
		r->known[i] = end;
		r->renew_at[i] = end - (lead < 0 ? 0 : lead > LEAD_MS ? LEAD_MS : lead);
	}
	return end && now >= r->renew_at[i];
}

static bool has_expired(const struct renewal *v, const struct ab_secret *secret)
{
	return secret->expires_ms && ab_now_ms() - v->at >= (int64_t)secret->expires_ms;
}

void ab_renewals_look(struct ab_renewals *r)
{
	for (size_t i = 0; i < r->setup.secrets->len; i++) {
		const struct ab_secret *secret = &r->setup.secrets->v[i];
		struct renewal *v = &r->v[i];

		reap_reader(v);
		if ((v->lost || has_expired(v, secret) || is_ending(r, i) ||
		     (secret->from == AB_FROM_FILE && !secret->oauth && has_changed(v, secret))) &&
		    may_read(v, 0)) {
			/* A repetition is what was asked for before. */
			if (!v->lost)
				v->calm = r->outcomes[i].changes;
			read_again(r, i);
		}
	}
}
