/* Adds and removes fields that the client did not ask for. */
#include <string.h>

#include "base/data/mem.h"
#include "proxy/secrets/swap_state.h"

static void remove_field(struct ab_swap *sw, size_t k)
{
	struct ab_http_head *head = &sw->ret->request.head;
	size_t n = --head->nfields - k;

	memmove(&head->fields[k], &head->fields[k + 1], n * sizeof(head->fields[0]));
	memmove(&sw->values[k], &sw->values[k + 1], n * sizeof(sw->values[0]));
}

static void remove_named(struct ab_swap *sw, const char *name)
{
	const struct ab_http_head *head = &sw->ret->request.head;

	for (size_t k = head->nfields; k-- > 0;)
		if (ab_http_is(head->fields[k].name, name))
			remove_field(sw, k);
}

/* A field that Connection names would be dropped by the next hop. */
static void remove_option(struct ab_http_head *head, const char *name)
{
	for (size_t k = head->noptions; k-- > 0;)
		if (ab_http_is(head->options[k], name))
			memmove(&head->options[k], &head->options[k + 1],
				(--head->noptions - k) * sizeof(head->options[0]));
}

/* Replace all fields of that name by an empty one; NULL: too many fields. */
static struct ab_http_field *replace_fields(struct ab_swap *sw, const char *name)
{
	struct ab_http_head *head = &sw->ret->request.head;
	struct ab_http_field *f;

	remove_named(sw, name);
	if (head->nfields == AB_HTTP_FIELDS)
		return NULL;
	remove_option(head, name);
	f = &head->fields[head->nfields];
	*f = (struct ab_http_field){ .name = { name, strlen(name) } };
	sw->values[head->nfields++] = (struct ab_swap_piece){ 0 };
	return f;
}

static bool has_value(const struct ab_swap *sw, const char *name)
{
	const struct ab_http_head *head = &sw->ret->request.head;

	for (size_t k = 0; k < head->nfields; k++)
		if (sw->values[k].set && ab_http_is(head->fields[k].name, name))
			return true;
	return false;
}

/* Default formats of the whole field; for Basic, of the text to encode (as
 * GitHub expects it). */
static const char *const formats[] = {
	[AB_CARRY_BEARER] = "Bearer {}",
	[AB_CARRY_TOKEN] = "token {}",
	[AB_CARRY_BASIC] = "x-access-token:{}",
	[AB_CARRY_HEADER] = "{}",
	[AB_CARRY_QUERY] = "{}",
};

static void put_basic(struct ab_buf *out, const char *format, const struct ab_vault_entry *e)
{
	struct ab_buf login = { .wipe = true };

	if (strncasecmp(format, "basic ", 6) == 0)
		format += 6;
	ab_swap_put_formatted(&login, format, e, false);
	ab_buf_add(out, "Basic ", 6);
	ab_swap_put_base64(out, &login);
	ab_buf_fini(&login);
}

static bool inject_field(struct ab_swap *sw, size_t i, const struct ab_carrier *c,
			 const char *format)
{
	const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);
	struct ab_buf *out = &sw->ret->scratch;
	const char *name = c->kind == AB_CARRY_HEADER ? c->name : "authorization";
	struct ab_swap_piece *piece;

	/* Keep another secret that the client chose there. */
	if (has_value(sw, name))
		return true;
	if (!replace_fields(sw, name))
		return ab_swap_fail(sw, AB_SWAP_TOO_LONG, (int)i);
	piece = &sw->values[sw->ret->request.head.nfields - 1];
	ab_swap_begin(sw, piece);
	if (c->kind == AB_CARRY_BASIC)
		put_basic(out, format, e);
	else
		ab_swap_put_formatted(out, format, e, false);
	ab_swap_end(sw, piece);
	sw->injected[i] = true;
	return true;
}

bool ab_swap_inject(struct ab_swap *sw, size_t i)
{
	static const struct ab_carrier usual = { AB_CARRY_BEARER, "" };
	const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);
	const struct ab_carrier *c = e->secret->ncarriers ? e->secret->carriers : &usual;
	const char *format = e->secret->format ? e->secret->format : formats[c->kind];

	if (!e->value)
		return ab_swap_fail(sw, AB_SWAP_ABSENT, (int)i);
	return c->kind == AB_CARRY_QUERY ? ab_swap_inject_query(sw, i, c->name, format)
					 : inject_field(sw, i, c, format);
}

bool ab_swap_keep_searchable(struct ab_swap *sw)
{
	/* They lead to partial responses, or to compressed frames or messages. */
	static const char *const unwanted[] = { "range", "if-range", "sec-websocket-extensions",
						"grpc-accept-encoding" };
	struct ab_http_field *f;

	for (size_t i = 0; i < AB_COUNT(unwanted); i++)
		remove_named(sw, unwanted[i]);
	f = replace_fields(sw, "accept-encoding");
	if (!f)
		return ab_swap_fail(sw, AB_SWAP_TOO_LONG, sw->ret->secret);
	f->value = (struct ab_http_text){ "identity", 8 };
	return true;
}
