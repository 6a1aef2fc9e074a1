/* Why the proxy denied a request, and which option would allow it. Pure. */
#include "proxy/record/ledger.h"

const char *const ab_door_names[AB_DOOR_COUNT] = {
	[AB_DOOR_HTTP] = "http",
	[AB_DOOR_CONNECT] = "connect",
	[AB_DOOR_SOCKS] = "socks",
	[AB_DOOR_TRANSPARENT] = "transparent",
	[AB_DOOR_DNS] = "dns",
	[AB_DOOR_PUBLISH] = "publish",
	[AB_DOOR_HOST_PORT] = "host-port",
	[AB_DOOR_GATEWAY] = "gateway",
	[AB_DOOR_AGENT] = "ssh-agent",
	[AB_DOOR_UDP] = "udp",
};

__attribute__((format(printf, 2, 3))) static void add_text(char ret[AB_REASON_ROOM],
							   const char *fmt, ...)
{
	size_t n = strlen(ret);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ret + n, AB_REASON_ROOM - n, fmt, ap);
	va_end(ap);
}

/* The detail after the words of a reason. */
enum detail { NOTHING, ENTRY, PORT, NAME, REQUEST, SECRET, CAUSE, ERROR };

/* The option that would allow it, if there is any. For an address in a denied range these are two: one
 * opens the range, the other puts the address on the list. */
enum hint { NO_HINT, ALLOW, ALLOW_PRIVATE };

struct reason {
	const char *rule;
	const char *words;
	enum detail detail;
	enum hint hint; /* of a basis */
};

static const struct reason by_basis[] = {
	[AB_BASIS_NONE] = { "network.allow", "not on the allow list", NOTHING, ALLOW },
	[AB_BASIS_RANGE] = { "network.allowPrivate", "an address in", ENTRY, ALLOW_PRIVATE },
	[AB_BASIS_OWN] = { "network.allowPrivate", "an address of this host", NOTHING,
			   ALLOW_PRIVATE },
	[AB_BASIS_DENY] = { "network.deny", "on the deny list", ENTRY },
	[AB_BASIS_BOUND] = { "managed", "not one of the hosts that the managed settings permit",
			     NOTHING },
	[AB_BASIS_ALLOW] = { "network.allow", "on the allow list", ENTRY },
	[AB_BASIS_PORT] = { "network.allow", "allowed, but not on", PORT, ALLOW },
	[AB_BASIS_GRANT] = { "grant", "denied for this run", ENTRY },
	[AB_BASIS_QUIET] = { "network.quiet", "denied without a question", ENTRY, ALLOW },
	[AB_BASIS_LEARNED] = { "learn", "allowed by learn", NOTHING },
};

/* A fault without words uses the reason of the verdict. */
static const struct reason by_fault[AB_FAULT_COUNT] = {
	[AB_FAULT_SNI] = { "tls-name", "the TLS hello", NAME },
	[AB_FAULT_NO_SNI] = { "network.sni", "the TLS hello does not name its server", NOTHING },
	[AB_FAULT_ECH] = { "network.ech", "the TLS hello carries an encrypted hello", NOTHING },
	[AB_FAULT_AUTHORITY] = { "http-host", "the request", NAME },
	[AB_FAULT_HTTP2] = { "http2-clear", "HTTP/2 without TLS cannot be filtered", NOTHING },
	[AB_FAULT_MALFORMED] = { "protocol", "does not follow the protocol it claims to use",
				 ERROR },
	[AB_FAULT_NAMES] = { "name-limit", "too many names in one run", NOTHING },
	[AB_FAULT_RULE] = { "network.http", "network.http does not allow", REQUEST },
	[AB_FAULT_HTTP1] = { "http1-only",
			     "this host is inspected, its server speaks only HTTP/1.1, and the "
			     "client offers only other protocols",
			     NOTHING },
	[AB_FAULT_OPAQUE] = { "protocol",
			      "this host is inspected, and the client speaks neither TLS nor HTTP",
			      NOTHING },
	[AB_FAULT_HELD] = { "monitor", "the network is paused", CAUSE },
	[AB_FAULT_CUT] = { "monitor", "the network was cut off", CAUSE },
	[AB_FAULT_TRIPWIRE] = { "secret-tripwire",
				"the request has a placeholder of another host's secret", SECRET },
	[AB_FAULT_CLEAR] = { "secret-tripwire",
			     "the request has a placeholder, over plain HTTP: its host gets the secret "
			     "over https only",
			     SECRET },
	[AB_FAULT_RETIRED] = { "secret-rotated",
			       "the request has a placeholder that is no longer valid", SECRET },
	[AB_FAULT_MISPLACED] = { "secret-place",
				 "the request has a placeholder where none is replaced", SECRET },
	[AB_FAULT_MISSING] = { "secret-require", "the request lacks the required placeholder",
			       SECRET },
	[AB_FAULT_ABSENT] = { "secret-source", "the source of the secret has no value", SECRET },
	[AB_FAULT_SIGNATURE] = { "secret-sign", "the request cannot be signed with the real key",
				 ERROR },
	[AB_FAULT_BODY] = { "network.maxRequestBody", "the body of the request is too long",
			    ERROR },
	[AB_FAULT_NOT_TCP] = { "network.mode", "only TCP connections leave the box", NOTHING },
	[AB_FAULT_TOKEN] = { "secret-oauth", "the request for a token is not answered", ERROR },
	[AB_FAULT_ENCODED] = { "secret-body",
			       "the body is compressed, so its placeholders cannot be found",
			       NOTHING },
};

static const char *text_or_empty(const char *s)
{
	return s ? s : "";
}

static void add_detail(const struct ab_request_record *r, const struct reason *reason,
		       char ret[AB_REASON_ROOM])
{
	switch (reason->detail) {
	case NOTHING:
		break;
	case ENTRY:
		add_text(ret, r->verdict.basis == AB_BASIS_RANGE ? " %s" : " (%s)",
			 text_or_empty(r->verdict.entry));
		break;
	case PORT:
		add_text(ret, " port %u", r->port);
		break;
	case NAME:
		if (r->sni && *r->sni)
			add_text(ret, " asks for %s", r->sni);
		else
			add_text(ret, " does not name this host");
		break;
	case REQUEST:
		add_text(ret, " %.32s %.200s", text_or_empty(r->method), text_or_empty(r->path));
		break;
	case SECRET:
		add_text(ret, " (%.64s)", text_or_empty(r->secret));
		break;
	case CAUSE:
		add_text(ret, ": %.200s", text_or_empty(r->why));
		break;
	case ERROR:
		if (r->error && *r->error)
			add_text(ret, ": %.200s", r->error);
		break;
	}
}

static void add_reply(const struct ab_request_record *r, char ret[AB_REASON_ROOM])
{
	static const char *const replies[AB_REPLY_COUNT] = {
		[AB_REPLY_GONE] = " (the program gave up before you answered)",
		[AB_REPLY_MANY] = " (too many questions are open)",
		[AB_REPLY_FAST] = " (too many questions in a minute)",
		[AB_REPLY_FULL] = " (too many connections are waiting for an answer)",
	};
	const char *why = text_or_empty(r->reply_why);

	if (r->reply == AB_REPLY_NO)
		add_text(ret, " (the answer was no%s%.200s)", *why ? ": " : "", why);
	else if (r->reply == AB_REPLY_TIME)
		add_text(ret, " (nobody answered in %u s)", (r->waited + 999) / 1000);
	else if (replies[r->reply])
		add_text(ret, "%s", replies[r->reply]);
}

const char *ab_ledger_reason(const struct ab_request_record *r, char ret[AB_REASON_ROOM])
{
	const struct reason *reason = &by_fault[r->fault % AB_FAULT_COUNT];

	ret[0] = '\0';
	if (r->fault == AB_FAULT_ANSWER)
		add_text(ret, "the name resolves to %s, ", r->address ? r->address : "an address");
	if (!reason->words)
		reason = &by_basis[r->verdict.basis];
	if (reason->detail == PORT && !r->refusal)
		add_text(ret, "%s is ", text_or_empty(r->host));
	if (r->refusal)
		add_text(ret, "%s%s%.240s", r->refusal->words, r->why ? ": " : "",
			 text_or_empty(r->why));
	else if (reason == &by_basis[AB_BASIS_GRANT] && r->verdict.access == AB_ACCESS_ALLOW)
		add_text(ret, "allowed for this run");
	else
		add_text(ret, "%s", reason->words);
	if (!r->refusal)
		add_detail(r, reason, ret);
	add_reply(r, ret);
	return ret;
}

const char *ab_ledger_rule(const struct ab_request_record *r)
{
	if (r->refusal)
		return r->refusal->rule;
	if (r->door == AB_DOOR_AGENT)
		return r->agent && r->agent->name_space && *r->agent->name_space ? "ssh.sign"
										 : "ssh.hosts";
	if (by_fault[r->fault].rule)
		return by_fault[r->fault].rule;
	if (r->door == AB_DOOR_PUBLISH)
		return "network.publish";
	if (r->door == AB_DOOR_HOST_PORT)
		return "network.hostPorts";
	return by_basis[r->verdict.basis].rule;
}

/* People copy the hint into a shell, so it must contain only valid hosts. */
static bool parse_host(const char *s, struct ab_host *ret)
{
	return s && ab_host_parse(s, strlen(s), ret, NULL) == 0;
}

/* Brackets are quoted: a shell would expand them to file names. */
static void add_flag(char ret[AB_REASON_ROOM], const char *flag, const struct ab_host *host,
		     uint16_t port)
{
	struct ab_host_entry entry = ab_host_entry_of(host, port);
	char words[AB_HOST_ENTRY_TEXT];
	const char *quote;

	ab_host_entry_format(&entry, words);
	quote = words[0] == '[' ? "'" : "";
	add_text(ret, "%s%s %s%s%s", *ret ? " " : "", flag, quote, words, quote);
}

void ab_ledger_hint(const struct ab_request_record *r, char ret[AB_REASON_ROOM])
{
	struct ab_host host, address;
	enum hint hint;

	ret[0] = '\0';
	if (r->refusal) {
		if (strcmp(r->refusal->rule, "ssh.hosts") == 0 && parse_host(r->host, &host))
			add_flag(ret, "--ssh", &host, r->port == 22 ? 0 : r->port);
		return;
	}
	if (r->fault == AB_FAULT_ANSWER) {
		if (r->verdict.basis != AB_BASIS_DENY && parse_host(r->address, &address) &&
		    address.kind != AB_HOST_NAME)
			add_flag(ret, "--allow-private", &address, r->port);
		return;
	}
	if (r->fault != AB_FAULT_NONE || r->door == AB_DOOR_PUBLISH ||
	    r->door == AB_DOOR_HOST_PORT || !parse_host(r->host, &host))
		return;
	hint = by_basis[r->verdict.basis].hint;
	if (hint == ALLOW_PRIVATE && host.kind != AB_HOST_NAME)
		add_flag(ret, "--allow-private", &host, r->port);
	/* 0 if an entry without a port covers it. */
	if (hint != NO_HINT)
		add_flag(ret, "--allow", &host, ab_port_usual(r->port) ? 0 : r->port);
}
