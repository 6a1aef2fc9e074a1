/*
 * Why something was refused and what would allow it, in words. Pure.
 */
#include "proxy/record/ledger.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const ab_door_names[AB_DOOR_COUNT] = {
	[AB_DOOR_HTTP] = "http",
	[AB_DOOR_CONNECT] = "connect",
	[AB_DOOR_SOCKS] = "socks",
	[AB_DOOR_TRANSPARENT] = "transparent",
	[AB_DOOR_DNS] = "dns",
	[AB_DOOR_PUBLISH] = "publish",
	[AB_DOOR_HOST_PORT] = "host-port",
	[AB_DOOR_GATEWAY] = "gateway",
};

/* Put a formatted text behind what is in ret. */
__attribute__((format(printf, 2, 3))) static void add(char ret[AB_REASON_ROOM], const char *fmt,
						      ...)
{
	size_t n = strlen(ret);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ret + n, AB_REASON_ROOM - n, fmt, ap);
	va_end(ap);
}

static const char *text(const char *s)
{
	return s ? s : "";
}

/* `answer`: it is about where the name leads, not about the name. */
static void explain_verdict(const struct ab_request_record *r, bool answer,
			    char ret[AB_REASON_ROOM])
{
	const char *entry = text(r->verdict.entry);

	switch (r->verdict.basis) {
	case AB_BASIS_NONE:
		add(ret, "not on the allow list");
		break;
	case AB_BASIS_RANGE:
		add(ret, "%sin %s", answer ? "" : "an address ", entry);
		break;
	case AB_BASIS_OWN:
		add(ret, "an address of this host");
		break;
	case AB_BASIS_DENY:
		add(ret, "on the deny list (%s)", entry);
		break;
	case AB_BASIS_ALLOW:
		add(ret, "on the allow list (%s)", entry);
		break;
	case AB_BASIS_PORT:
		add(ret, "%s is allowed, but not with port %u", text(r->host), r->port);
		break;
	case AB_BASIS_GRANT:
		add(ret,
		    r->verdict.access == AB_ACCESS_ALLOW ? "allowed for this run (%s)"
							 : "denied for this run (%s)",
		    entry);
		break;
	case AB_BASIS_LEARNED:
		add(ret, "let through to learn");
		break;
	}
}

static void explain_reply(const struct ab_request_record *r, char ret[AB_REASON_ROOM])
{
	static const char *const replies[AB_REPLY_COUNT] = {
		[AB_REPLY_NO] = ", and the answer was no",
		[AB_REPLY_GONE] = ", and it did not wait for an answer",
		[AB_REPLY_MANY] = ", and too many questions are open",
		[AB_REPLY_FAST] = ", and too many were asked in a minute",
		[AB_REPLY_FULL] = ", and too many connections wait for an "
				  "answer",
	};

	if (r->reply == AB_REPLY_TIME)
		add(ret, ", and nobody answered in %u s", (r->waited + 999) / 1000);
	else if (replies[r->reply])
		add(ret, "%s", replies[r->reply]);
}

const char *ab_ledger_reason(const struct ab_request_record *r, char ret[AB_REASON_ROOM])
{
	bool named = r->sni && *r->sni;

	ret[0] = '\0';
	switch (r->fault) {
	case AB_FAULT_HELD:
		add(ret, "the network is held: %.200s", text(r->why));
		break;
	case AB_FAULT_CUT:
		add(ret, "there is no network any more: %.200s", text(r->why));
		break;
	case AB_FAULT_NONE:
	case AB_FAULT_COUNT:
		explain_verdict(r, false, ret);
		break;
	case AB_FAULT_ANSWER:
		add(ret, "the name leads to %s, ", r->address ? r->address : "an address");
		explain_verdict(r, true, ret);
		break;
	case AB_FAULT_SNI:
		add(ret, "the TLS hello %s%s", named ? "asks for " : "does not name this host",
		    named ? r->sni : "");
		break;
	case AB_FAULT_AUTHORITY:
		add(ret, "the request %s%s", named ? "asks for " : "does not name this host",
		    named ? r->sni : "");
		break;
	case AB_FAULT_HTTP2:
		add(ret, "HTTP/2 without TLS cannot be judged");
		break;
	case AB_FAULT_MALFORMED:
		add(ret, "not the protocol that it claims to be");
		break;
	case AB_FAULT_NAMES:
		add(ret, "too many names in one run");
		break;
	case AB_FAULT_RULE:
		add(ret, "network.http does not permit %.32s %.200s there", text(r->method),
		    text(r->path));
		break;
	case AB_FAULT_HTTP1:
		add(ret, "this host is looked into, which takes HTTP/1.1, and "
			 "the client offers only other protocols");
		break;
	case AB_FAULT_OPAQUE:
		add(ret, "this host is looked into, and the client speaks "
			 "neither TLS nor HTTP");
		break;
	case AB_FAULT_TRIPWIRE:
		add(ret, "a placeholder of %.64s was on its way there", text(r->secret));
		break;
	case AB_FAULT_MISPLACED:
		add(ret,
		    "the placeholder of %.64s stands where it is not "
		    "replaced",
		    text(r->secret));
		break;
	case AB_FAULT_MISSING:
		add(ret, "a request to it must carry the placeholder of %.64s", text(r->secret));
		break;
	case AB_FAULT_ABSENT:
		add(ret, "there is no value for %.64s: its source fails", text(r->secret));
		break;
	case AB_FAULT_ENCODED:
		add(ret, "its body is compressed, and placeholders in it "
			 "could not be found");
		break;
	}
	explain_reply(r, ret);
	return ret;
}

const char *ab_ledger_rule(const struct ab_request_record *r)
{
	static const char *const by_fault[AB_FAULT_COUNT] = {
		[AB_FAULT_SNI] = "tls-name",
		[AB_FAULT_AUTHORITY] = "http-host",
		[AB_FAULT_HTTP2] = "http2-clear",
		[AB_FAULT_MALFORMED] = "protocol",
		[AB_FAULT_NAMES] = "name-limit",
		[AB_FAULT_RULE] = "network.http",
		[AB_FAULT_HTTP1] = "http1-only",
		[AB_FAULT_OPAQUE] = "protocol",
		[AB_FAULT_HELD] = "monitor",
		[AB_FAULT_CUT] = "monitor",
		[AB_FAULT_TRIPWIRE] = "secret-tripwire",
		[AB_FAULT_MISPLACED] = "secret-place",
		[AB_FAULT_MISSING] = "secret-require",
		[AB_FAULT_ABSENT] = "secret-source",
		[AB_FAULT_ENCODED] = "secret-body",
	};
	static const char *const by_basis[] = {
		[AB_BASIS_NONE] = "network.allow",
		[AB_BASIS_RANGE] = "network.allowPrivate",
		[AB_BASIS_OWN] = "network.allowPrivate",
		[AB_BASIS_DENY] = "network.deny",
		[AB_BASIS_ALLOW] = "network.allow",
		[AB_BASIS_PORT] = "network.allow",
		[AB_BASIS_GRANT] = "grant",
		[AB_BASIS_LEARNED] = "learn",
	};

	if (by_fault[r->fault])
		return by_fault[r->fault];
	if (r->door == AB_DOOR_PUBLISH)
		return "network.publish";
	if (r->door == AB_DOOR_HOST_PORT)
		return "network.hostPorts";
	return by_basis[r->verdict.basis];
}

/* Only a host that is one gets into words that people copy. */
static bool parse(const char *s, struct ab_host *ret)
{
	return s && ab_host_parse(s, strlen(s), ret, NULL) == 0;
}

/* Brackets are quoted: shells look for files of such names. */
static void add_flag(char ret[AB_REASON_ROOM], const char *flag, const struct ab_host *host,
		     uint16_t port)
{
	struct ab_host_entry entry = ab_host_entry_of(host, port);
	char words[AB_HOST_ENTRY_TEXT];
	const char *quote;

	ab_host_entry_format(&entry, words);
	quote = words[0] == '[' ? "'" : "";
	add(ret, "%s%s %s%s%s", *ret ? " " : "", flag, quote, words, quote);
}

/* Unless an entry without one means it too. */
static uint16_t port_beside(uint16_t port)
{
	return ab_port_usual(port) ? 0 : port;
}

void ab_ledger_hint(const struct ab_request_record *r, char ret[AB_REASON_ROOM])
{
	struct ab_host host, address;

	ret[0] = '\0';
	if (r->fault == AB_FAULT_ANSWER) {
		if (r->verdict.basis != AB_BASIS_DENY && parse(r->address, &address) &&
		    address.kind != AB_HOST_NAME)
			add_flag(ret, "--allow-private", &address, r->port);
		return;
	}
	if (r->fault != AB_FAULT_NONE || r->door == AB_DOOR_PUBLISH ||
	    r->door == AB_DOOR_HOST_PORT || !parse(r->host, &host))
		return;
	switch (r->verdict.basis) {
	case AB_BASIS_RANGE:
	case AB_BASIS_OWN:
		/* The range is opened, and the address is put on the list. */
		if (host.kind != AB_HOST_NAME)
			add_flag(ret, "--allow-private", &host, r->port);
		add_flag(ret, "--allow", &host, port_beside(r->port));
		break;
	case AB_BASIS_NONE:
	case AB_BASIS_PORT:
		add_flag(ret, "--allow", &host, port_beside(r->port));
		break;
	case AB_BASIS_DENY: /* forbidding is stronger than any flag */
	case AB_BASIS_ALLOW:
	case AB_BASIS_GRANT:
	case AB_BASIS_LEARNED:
		break;
	}
}
