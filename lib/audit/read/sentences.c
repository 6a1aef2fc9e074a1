/*
 * Theory of operation.
 *
 * A sentence is a template over the members of a record:
 *
 *	{ms}		the value, escaped; the elements of a list
 *	{ms:time}	the value in a format (put_value)
 *	{a|b|'text'}	the first of these that has a value
 *	[, by {by}]	left out if a member in it has no value
 *	[by!x?, text]	left out unless the condition holds
 *
 * A condition is a member that must have a value (`id`), must not (`!id`), must
 * be (`by=x`) or must not be (`by!x`) a certain value. Members with the value
 * null or "" have none.
 */
#include "audit/read/sentences.h"

#include "audit/read/details.h"
#include "audit/read/words.h"

enum { LIST_MAX = 1000 }; /* elements that are shown */

/* Every member that a template names. */
/* clang-format off */
static const char *const members[] = {
	"access", "action", "allowed", "answer", "asked", "boxed", "by", "bytes_down", "bytes_up", "call", "changes",
	"command", "cwd", "domain", "door", "engine", "entry", "error", "event", "findings", "for_ms",
	"given_up", "holds", "id", "image", "key", "kind", "limit", "method", "missing", "missing_why", "ms", "name", "namespace", "number", "packets", "path",
	"policy", "port", "process", "protocol", "reason", "removed", "repeated", "requests_allowed",
	"requests_denied", "route", "rule", "secret", "status", "threshold", "timed_out", "tls", "tool_of", "user",
	"value",
};
/* clang-format on */

struct record {
	struct ab_detail f[AB_COUNT(members)];
};

struct event {
	const char *kind;
	const char *when; /* a condition, or NULL */
	const char *mark;
	const char *about, *said, *more;
};

#define DENIAL                                                                                    \
	"{reason:clause}", "[by {process:who}][by {by}]"                                          \
			   "[id?  and {repeated:count} more times][!id?  {repeated:count} times]" \
			   "[  {id}]"
#define REQUEST                                               \
	"[{method} ]{domain:target|'(no host)'}[{path}]", "", \
		"[{status}][tls=true?  TLS][  {bytes_up:size} up][  {bytes_down:size} down][  {ms:time}]"

#define KEY                                                           \
	"[namespace?a signature for {namespace}][!namespace?a login]" \
	"[ as {user}][ at {domain:target}][ with {key}]"

/* Who answered. */
#define BY                                                                  \
	"[by=terminal? on the terminal][by=control? from another terminal]" \
	"[by=approver? by the approver]"

/* The first row with the kind of a record whose condition holds counts. */
static const struct event events[] = {
	{ "start", NULL, "start", "{command}",
	  "[in {cwd}][, profile {policy:profile}][, name {name}][, a tool of {tool_of}]", "" },
	{ "command", NULL, "command", "{number}: {command}", "[in {cwd}]", "[rule {rule}]" },
	{ "ended", NULL, "ended", "{number}: {command}",
	  "[exit {status}][ after {ms:time}][, {error}]", "" },
	{ "assurance", NULL, "proved",
	  "{holds}[; missing {missing_why|missing}][; given up {given_up}]", "[engine {engine}]",
	  "" },
	{ "end", NULL, "end",
	  "[exit {status}][ after {ms:time}][timed_out=true?, timed out][, {error}]"
	  "[requests_allowed=1?; 1 request][requests_allowed!1?; {requests_allowed:count} requests]"
	  "[, {requests_denied:count} denied][; {findings:each}]",
	  "", "" },
	{ "refused", NULL, "refused", "{command}", "{reason:clause}", "[rule {rule}]" },
	{ "request", "door=ssh-agent", "ssh", KEY,
	  "[error?failed: {error}][route=unproven?, not on a connection of the proxy]"
	  "[allowed=false?denied]",
	  "[by {process:who}]" },
	{ "request", "error", "failed", REQUEST "[  {error}][  with {secret}]" },
	{ "request", NULL, "ok", REQUEST "[  with {secret}]" },
	{ "container", NULL, "docker", "{method} {path|'(no request)'}",
	  "[image {image}][stream=true?, a stream][error?failed: {error}]",
	  "[status {status}][  {ms:time}]" },
	{ "tool", "status", "tool", "{command}", "", "[exit {status}][  {ms:time}]" },
	{ "tool", NULL, "tool", "{command}", "[in {cwd}][boxed=false?, outside of any box]",
	  "[rule {rule}]" },
	{ "exec", NULL, "denied", "{command|path|'programs'}", DENIAL },
	{ "violation", "door=file", "denied", "{access|call|'files or calls'}[ {path}]", DENIAL },
	{ "violation", "door=call", "denied", "{access|call|'files or calls'}[ {path}]", DENIAL },
	{ "violation", "door=container", "denied", "{method} {path|'(no path)'}", DENIAL },
	{ "violation", "door=tool", "denied", "{command|'(no words)'}", DENIAL },
	{ "violation", "door=quarantine", "moved", "{path|'protected files'}", DENIAL },
	{ "violation", "door=ssh-agent", "denied",
	  "[key?an ssh signature][!key?the ssh agent][ at {domain:target}][ with {key}]", DENIAL },
	{ "violation", "door=udp", "denied",
	  "udp to {domain:target|'(no host)'}[packets!1?, {packets:count} packets]",
	  "{reason:clause}", "[by {process:who}][!process?process not known][  {id}]" },
	{ "violation", "protocol", "denied", "[{packets:count} ]{protocol} packet[packets!1?s]",
	  DENIAL },
	{ "violation", "asked", "denied", "{asked}", DENIAL },
	{ "violation", NULL, "denied", "{domain:target|'other hosts'}", DENIAL },
	{ "question", "door=ssh-agent", "asked", "an ssh key[ for {domain:target}]",
	  "[answer=once?allowed once][answer=run?allowed for this run][answer=no?denied]"
	  "[answer=timeout?denied, nobody answered]"
	  "[answer=gone?the program gave up before the answer]" BY
	  "[: {reason}][, after {ms:time}]",
	  "[for {process:chain}]" },
	{ "question", "door=tool", "asked", "{command}",
	  "[answer=once?allowed once][answer=run?allowed for this run][answer=no?denied]" BY, "" },
	{ "question", NULL, "asked", "{domain:target|'(no host)'}",
	  "[answer=once?allowed once][answer=run?allowed for this run][answer=always?allowed always]"
	  "[answer=no?denied][answer=timeout?denied, nobody answered]"
	  "[answer=gone?the program gave up before the answer]" BY
	  "[: {reason}][, after {ms:time}]",
	  "[for {process:chain}]" },
	{ "grant", NULL, "grant", "{entry}",
	  "[allowed=true?allowed][allowed=false?denied]"
	  "[!for_ms? for this run][for_ms=0? for this run][for_ms!0? for {for_ms:time}]" BY
	  "[, not applied: {error}]",
	  "" },
	{ "reload", "error", "reload", "failed, the lists are unchanged: {error}", "", "" },
	{ "reload", NULL, "reload", "{changes:list|'no change'}", "", "" },
	{ "monitor", NULL, "monitor", "{threshold}",
	  "{value}, the limit is {limit}[  {domain}][  action {action}]", "" },
	{ "secret", NULL, "secret", "{name}", "[{event}][: {reason}]", "" },
	{ "finding", NULL, "finding", "{reason}", "", "" },
	{ "program", NULL, "program", "{path}", "", "" },
	{ "continued", NULL, "file",
	  "the record continues in the next file[; {removed} was removed]", "", "" },
};

static const struct ab_detail *find_member(const struct record *r, const char *name, size_t len)
{
	static const struct ab_detail none;

	for (size_t i = 0; i < AB_COUNT(members); i++)
		if (*members[i] == *name && strncmp(members[i], name, len) == 0 && !members[i][len])
			return &r->f[i];
	return &none;
}

static void put_list(struct ab_buf *b, const struct ab_detail *list, const char *between)
{
	struct ab_detail element;
	size_t at = 0, n = 0;

	while (n < LIST_MAX && ab_detail_next(list, &at, &element)) {
		ab_autofree char *text = ab_detail_dup(&element);

		ab_buf_puts(b, n++ ? between : "");
		ab_buf_escape(b, text ? text : "");
	}
}

static void put_profile(struct ab_buf *b, const struct ab_detail *policy)
{
	ab_autofree char *text = NULL;
	struct ab_detail profile;

	if (policy->kind == AB_DETAIL_NESTED &&
	    ab_details_one(policy->at, policy->len, "profile", &profile))
		text = ab_detail_dup(&profile);
	ab_buf_escape(b, text ? text : "");
}

static void put_host(struct ab_buf *b, const struct record *r, const char *host)
{
	ab_autofree char *safe = ab_escape(host);

	if (*safe)
		ab_words_target(b, safe, (uint16_t)ab_detail_number(find_member(r, "port", 4), 0));
}

/* "{name:format|": is it this format? */
static bool is_format(const char *t, const char *format)
{
	size_t len = strlen(format);

	return strncmp(t, format, len) == 0 && strchr("|}", t[len]);
}

/* Appends nothing for a member that has no value. */
static void put_value(struct ab_buf *b, const struct record *r, const struct ab_detail *f,
		      const char *format)
{
	ab_autofree char *text = ab_detail_dup(f);
	int64_t n = ab_detail_number(f, -1);
	char room[AB_AMOUNT_ROOM];

	if (is_format(format, "time"))
		ab_buf_puts(b, n >= 0 ? ab_words_time((uint64_t)n, room) : "");
	else if (is_format(format, "size"))
		ab_buf_puts(b, n > 0 ? ab_words_size((uint64_t)n, room) : "");
	else if (is_format(format, "who"))
		ab_words_chain(b, f, 1);
	else if (is_format(format, "chain"))
		ab_words_chain(b, f, 8);
	else if (is_format(format, "profile"))
		put_profile(b, f);
	else if (is_format(format, "list"))
		put_list(b, f, ", ");
	else if (is_format(format, "each"))
		put_list(b, f, "; ");
	else if (text && is_format(format, "clause"))
		ab_words_clause(b, text);
	else if (text && is_format(format, "target"))
		put_host(b, r, text);
	else if (text)
		ab_buf_escape(b, text);
	else if (f->kind == AB_DETAIL_NESTED)
		put_list(b, f, " ");
	else if (f->kind == AB_DETAIL_NUMBER && (n > 0 || !is_format(format, "count")))
		ab_buf_add(b, f->at, f->len);
}

/* "name:format" or "'text'" */
static bool put_choice(struct ab_buf *b, const struct record *r, const char *t, size_t len)
{
	size_t before = b->len, name = strcspn(t, ":|}");

	if (*t == '\'')
		ab_buf_add(b, t + 1, len - 2);
	else
		put_value(b, r, find_member(r, t, name), t + name + (t[name] == ':'));
	return b->len > before;
}

static bool put_field(struct ab_buf *b, const struct record *r, const char *t, const char *end)
{
	while (t < end) {
		const char *bar = memchr(t, '|', (size_t)(end - t));

		bar = bar ? bar : end;
		if (put_choice(b, r, t, (size_t)(bar - t)))
			return true;
		t = bar + 1;
	}
	return false;
}

static bool has_value(const struct ab_detail *f)
{
	return f->kind != AB_DETAIL_NONE && f->kind != AB_DETAIL_NULL &&
	       !(f->kind == AB_DETAIL_TEXT && !f->len);
}

static bool is_value(const struct ab_detail *f, const char *value, size_t len)
{
	return f->len == len && len && memcmp(f->at, value, len) == 0;
}

static bool meets_condition(const struct record *r, const char *t, size_t len)
{
	bool no = *t == '!';
	size_t name = strcspn(t + no, "=!?") + no;
	const struct ab_detail *f = find_member(r, t + no, (name < len ? name : len) - no);

	if (name >= len)
		return has_value(f) != no;
	return is_value(f, t + name + 1, len - name - 1) == (t[name] == '=');
}

static bool put_template(struct ab_buf *b, const struct record *r, const char *t, const char *end);

/* "condition?template" or a template, all of it or nothing */
static void put_group(struct ab_buf *b, const struct record *r, const char *t, const char *end)
{
	size_t before = b->len, n = strcspn(t, "?{]");

	if (t[n] == '?') {
		if (!meets_condition(r, t, n))
			return;
		t += n + 1;
	}
	if (put_template(b, r, t, end) || b->len == before)
		return;
	b->len = before;
	b->data[before] = '\0';
}

/* Has every member of it a value? */
static bool put_template(struct ab_buf *b, const struct record *r, const char *t, const char *end)
{
	bool whole = true;

	for (const char *stop; t < end; t = stop) {
		size_t n = strcspn(t, "[{");

		stop = t + n < end ? t + n : end;
		if (stop > t) {
			ab_buf_add(b, t, (size_t)(stop - t));
		} else if (*t == '[') {
			stop = strchr(t, ']') + 1;
			put_group(b, r, t + 1, stop - 1);
		} else {
			stop = strchr(t, '}') + 1;
			whole &= put_field(b, r, t + 1, stop - 1);
		}
	}
	return whole;
}

/* Append a part, without the separators that it begins with if its first members
 * have no value. */
static void put_part(struct ab_buf *b, size_t begin, const struct record *r, const char *t)
{
	size_t before = b->len, at, lead;

	if (!*t)
		return;
	ab_buf_puts(b, before > begin ? "  " : "");
	at = b->len;
	put_template(b, r, t, t + strlen(t));
	lead = strspn(b->data + at, " ,;");
	b->len = at + lead < b->len ? b->len - lead : before;
	memmove(b->data + at, b->data + at + lead, b->len > at ? b->len - at : 0);
	b->data[b->len] = '\0';
}

static const struct event *find_event(const struct record *r)
{
	for (size_t i = 0; i < AB_COUNT(events); i++)
		if (ab_detail_is(find_member(r, "kind", 4), events[i].kind) &&
		    (!events[i].when || meets_condition(r, events[i].when, strlen(events[i].when))))
			return &events[i];
	return NULL;
}

const char *ab_sentence(struct ab_buf *b, unsigned int parts, const char *line, size_t len)
{
	struct record r;
	size_t begin = b->len;
	const struct event *event;

	if (ab_details_find(line, len, members, AB_COUNT(members), r.f) < 0)
		return NULL;
	event = find_event(&r);
	if (!event) {
		ab_buf_escape_n(b, line, len);
		return "other";
	}
	if (parts & AB_MARK)
		ab_buf_puts(b, event->mark);
	if (parts & AB_ABOUT)
		put_part(b, begin, &r, event->about);
	if (parts & AB_SAID)
		put_part(b, begin, &r, event->said);
	if (parts & AB_MORE)
		put_part(b, begin, &r, event->more);
	return event->mark;
}

#define NOTHING "nothing can lift it"

/* Order does not matter: rules differ. */
static const struct ab_remedy remedies[] = {
	{ "network.allowPrivate", "private addresses can only be allowed when a run starts" },
	{ "network.deny",
	  "deny rules override allow rules; remove it from network.deny (agentbox config show "
	  "tells you where it is set)" },
	{ "managed", "the managed settings of this machine decide; ask its administrator" },
	{ "network.hostPorts",
	  "ports of this machine can only be opened when a run starts: --host-port" },
	{ "network.publish",
	  "ports of the box can only be published when a run starts: --publish" },
	{ "network.http",
	  "network.http in the settings lists the allowed methods and paths (agentbox config show "
	  "tells you where it is set)" },
	{ "network.mode", "a box with a filtered network can only open TCP connections" },
	{ "monitor",
	  "a threshold in the settings (monitor) was crossed; agentbox log --denied shows which" },
	{ "tls-name", NOTHING ": the TLS hello must name the host of the connection" },
	{ "http-host", NOTHING ": a request must name the host of its connection" },
	{ "http2-clear", NOTHING ": make the client use TLS or HTTP/1.1" },
	{ "http1-only", NOTHING ": make the client use HTTP/1.1 for this host" },
	{ "protocol", NOTHING ": the filter cannot read this protocol" },
	{ "name-limit", NOTHING ": start a new run" },
	{ "secret-tripwire", NOTHING ": the settings (secrets) list the hosts of a secret" },
	{ "secret-rotated",
	  NOTHING ": the user replaced it (agentbox secrets rotate); take the new one from the "
		  "variable, or log in again in the box" },
	{ "secret-place",
	  NOTHING ": the settings (secrets) say where in a request a secret may be" },
	{ "secret-require", NOTHING ": the settings of the secret say \"require\"" },
	{ "secret-source", "its source must return a value: agentbox secrets check" },
	{ "secret-body", NOTHING ": make the client send this body uncompressed" },
	{ "docker",
	  NOTHING ": the container filter gives a container nothing of the host; agentbox.json(5), "
		  "section docker, says what it allows" },
	{ "docker.images",
	  "docker.images in the settings lists the images that containers may have; --docker adds one" },
	{ "docker.mounts",
	  "a container may have the folders in docker.mounts, read-only, as the user who runs agentbox" },
	{ "docker.capabilities",
	  "containers have no capabilities; docker.capabilities \"setup\" in the settings gives them "
	  "those that an image needs to prepare its files" },
	{ "docker.network",
	  "docker.network \"bridge\" in the settings gives containers a network, which agentbox does "
	  "not filter" },
	{ "docker.ports",
	  "docker.ports \"publish\" in the settings lets containers publish ports on localhost" },
	{ "docker.pull",
	  "docker.pull true in the settings lets the engine download the images of docker.images" },
	{ "tools",
	  NOTHING ": a tool is called by its command in the box, from a folder of the workspace" },
	{ "tools.allow",
	  "\"allow\" of this tool in the settings lists the words with which it may be called" },
	{ "tools.ask",
	  "answer the next question, or move its pattern from \"ask\" to \"allow\" in the settings" },
	{ "tools.flags",
	  NOTHING ": whatever the patterns of the tool say, this word would make it do something "
		  "else" },
	{ "filesystem.denyRead", "hidden files can only be shown when a run starts", "--read" },
	{ "filesystem.read",
	  "the box only has what filesystem.read lists: add it in the settings" },
	{ "filesystem.unix", "sockets of this machine can only be opened when a run starts",
	  "--allow-unix" },
	{ "ssh.hosts",
	  "hosts are allowed when a run starts: --ssh; known_hosts must have their keys" },
	{ "ssh.keys", "ssh.keys in the settings lists the keys that a box may use" },
	{ "ssh.users", "ssh.users in the settings lists the user names" },
	{ "ssh.sign",
	  "signatures of commits and tags are allowed in the settings: { \"ssh\": { \"sign\": "
	  "[\"git\"] } }" },
	{ "ssh.ask", "answer the next question, or set ssh.ask to \"never\" in the settings" },
	{ "ssh.route",
	  "a jump host hides the connection from the proxy; { \"ssh\": { \"route\": \"any\" } } in "
	  "the settings allows it" },
	{ "ssh.maxSignatures", "ssh.maxSignatures in the settings is the limit" },
	{ "ssh.maxTime", "ssh.maxTime in the settings is the limit" },
	{ "ssh-known-hosts",
	  "known_hosts outside the box must have the server's key: connect to it once there" },
	{ "ssh-bind",
	  NOTHING ": use ssh of OpenSSH 8.9 or later, which says to which server it logs in" },
	{ "ssh-forward", NOTHING ": an agent is not lent to other machines" },
	{ "ssh-certificate",
	  "add the server's plain key to known_hosts, and HostKeyAlgorithms without -cert to "
	  "ssh_config" },
	{ "ssh-revoked", NOTHING ": your known_hosts revokes this key" },
	{ "ssh-data", NOTHING ": only logins and signatures of git are signed" },
	{ "ssh-agent", NOTHING ": the box's agent lists keys and signs" },
	{ "userNamespaces",
	  "a program's own sandbox is not needed in the box: switch it off; if it must work, user "
	  "namespaces are allowed when a run starts" },
	{ "namespaces", NOTHING
	  ": the box lets nobody mount; a program's own sandbox is not needed in it: switch "
	  "it off" },
	{ "filesystem.unixDatagrams",
	  "datagrams are allowed when a run starts: { \"filesystem\": { \"unixDatagrams\": "
	  "\"allow\" } } in the settings" },
	/* The record's hint has the protected name, which is not the path. */
	{ "filesystem.denyWrite",
	  "it is protected: programs outside the box run or trust it; change it outside, or let the "
	  "command change a copy that you review: agentbox run --review" },
};

const struct ab_remedy *ab_remedy_find(const char *rule)
{
	static const struct ab_remedy none = { .words = NOTHING };
	const struct ab_remedy *found = ab_find_row(remedies, AB_COUNT(remedies), rule, rule);

	return found ? found : &none;
}
