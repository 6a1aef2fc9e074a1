#include "steer/learn/learned.h"

#include <inttypes.h>

#include "audit/read/details.h"
#include "audit/read/sentences.h"
#include "base/text/words.h"
#include "policy/model/policy.h"
#include "policy/values/host.h"
#include "workspace/tree/names.h"

/* Texts, sorted, each with its count. */
struct learned_item {
	char *text;
	char *why; /* or NULL */
	uint64_t count;
};
struct learned_list {
	struct learned_item *v;
	size_t len, most;
	uint64_t lost; /* texts that did not fit */
};

struct ab_learned {
	union {
		struct {
			struct learned_list reached;   /* entries for network.allow */
			struct learned_list failed;    /* entries of hosts not reached */
			struct learned_list denied;    /* hosts; why */
			struct learned_list unwritten; /* paths that filesystem.write denies */
			struct learned_list refused;   /* everything else; why */
			struct learned_list programs;
		};
		struct learned_list all[6];
	};
};

struct ab_learned *ab_learned_new(void)
{
	struct ab_learned *l = ab_alloc(sizeof(*l));

	for (size_t i = 0; i < AB_COUNT(l->all); i++)
		l->all[i].most = AB_LEARNED_NOTES;
	l->reached.most = AB_LEARNED_HOSTS;
	return l;
}

void ab_learned_free(struct ab_learned *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < AB_COUNT(l->all); i++) {
		for (size_t k = 0; k < l->all[i].len; k++)
			ab_free_all(l->all[i].v[k].text, l->all[i].v[k].why);
		free(l->all[i].v);
	}
	free(l);
}

/* The index of a text, or where to insert it. */
static size_t find_text(const struct learned_list *list, const char *text, bool *ret_there)
{
	size_t low = 0, high = list->len;

	*ret_there = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(list->v[middle].text, text);

		if (order == 0) {
			*ret_there = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_text(const struct learned_list *list, const char *text)
{
	bool there;

	find_text(list, text, &there);
	return there;
}

/* Takes ownership of `why`. */
static void count_text(struct learned_list *list, const char *text, char *why, uint64_t times)
{
	bool there;
	size_t at = find_text(list, text, &there);

	if (there) {
		uint64_t *n = &list->v[at].count;

		*n = *n > UINT64_MAX - times ? UINT64_MAX : *n + times;
		free(why);
		return;
	}
	if (list->len == list->most) {
		list->lost++;
		free(why);
		return;
	}
	if (!list->v)
		list->v = ab_alloc(list->most * sizeof(list->v[0]));
	memmove(&list->v[at + 1], &list->v[at], (list->len - at) * sizeof(list->v[0]));
	list->v[at] = (struct learned_item){ .text = ab_strdup(text), .why = why, .count = times };
	list->len++;
}

/* clang-format off */
#define WANTED(X) \
	X(KIND, "kind") X(ALLOWED, "allowed") X(DOMAIN, "domain") X(PORT, "port") X(DOOR, "door") \
	X(ERROR, "error") X(PATH, "path") X(RULE, "rule") X(COMMAND, "command") \
	X(REPEATED, "repeated")
/* clang-format on */
AB_MEMBERS(WANTED)

struct record {
	const char *line;
	size_t len;
	struct ab_detail f[M_COUNT];
};

/* How many events the record stands for. */
static uint64_t count_times(const struct ab_detail f[M_COUNT])
{
	return ab_detail_count(&f[M_REPEATED]) + 1;
}

/* The entry that allows just this; false if it is not a host. */
static bool get_entry(const struct ab_detail f[M_COUNT], char ret[AB_HOST_ENTRY_TEXT])
{
	int64_t port = ab_detail_number(&f[M_PORT], 0);
	struct ab_host_entry entry;
	struct ab_host host;
	char text[AB_HOST_TEXT + 2];
	size_t len = ab_detail_copy(&f[M_DOMAIN], text, sizeof(text));

	if (port < 1 || port > UINT16_MAX || ab_host_parse(text, len, &host, NULL) < 0)
		return false;
	entry = ab_host_entry_for(&host, (uint16_t)port);
	ab_host_entry_format(&entry, ret);
	return true;
}

static void take_request(struct ab_learned *l, const struct record *r)
{
	const struct ab_detail *f = r->f;
	char entry[AB_HOST_ENTRY_TEXT];

	/* Connections through these doors do not leave the box. */
	if (f[M_ALLOWED].kind != AB_DETAIL_TRUE || ab_detail_is(&f[M_DOOR], "publish") ||
	    ab_detail_is(&f[M_DOOR], "host-port") || ab_detail_is(&f[M_DOOR], "dns") ||
	    !get_entry(f, entry))
		return;
	if (f[M_ERROR].kind == AB_DETAIL_TEXT)
		count_text(&l->failed, entry, ab_detail_dup(&f[M_ERROR]), count_times(f));
	else
		count_text(&l->reached, entry, NULL, count_times(f));
}

/* Count a denial by the sentence of its record. */
static void take_denial(struct learned_list *list, const struct record *r)
{
	ab_autobuf struct ab_buf about = { 0 };
	ab_autobuf struct ab_buf why = { 0 };

	ab_sentence(&about, AB_ABOUT, r->line, r->len);
	ab_sentence(&why, AB_SAID, r->line, r->len);
	if (about.len)
		count_text(list, about.data, ab_buf_take(&why), count_times(r->f));
}

static void take_violation(struct ab_learned *l, const struct record *r)
{
	ab_autofree char *path = ab_detail_dup(&r->f[M_PATH]);

	if (!ab_detail_is(&r->f[M_DOOR], "file") && !ab_detail_is(&r->f[M_DOOR], "call")) {
		if (r->f[M_DOMAIN].kind == AB_DETAIL_TEXT)
			take_denial(&l->denied, r);
	} else if (path && path[0] == '/' && ab_detail_is(&r->f[M_RULE], "filesystem.write")) {
		count_text(&l->unwritten, path, NULL, count_times(r->f));
	} else if (path) {
		take_denial(&l->refused, r);
	}
}

static void take_exec(struct ab_learned *l, const struct record *r)
{
	if (r->f[M_COMMAND].kind == AB_DETAIL_TEXT)
		take_denial(&l->refused, r);
}

static void take_program(struct ab_learned *l, const struct record *r)
{
	ab_autofree char *path = ab_detail_dup(&r->f[M_PATH]);

	if (path)
		count_text(&l->programs, path, NULL, count_times(r->f));
}

static const struct {
	const char *kind;
	void (*take)(struct ab_learned *l, const struct record *r);
} kinds[] = {
	{ "exec", take_exec },
	{ "program", take_program },
	{ "request", take_request },
	{ "violation", take_violation },
};

void ab_learned_take(struct ab_learned *l, const char *line, size_t len)
{
	struct record r = { .line = line, .len = len };

	if (ab_details_find(line, len, members, M_COUNT, r.f) < 0)
		return;
	for (size_t i = 0; i < AB_COUNT(kinds); i++)
		if (ab_detail_is(&r.f[M_KIND], kinds[i].kind))
			kinds[i].take(l, &r);
}

/*
 * Hosts and folders that a learned policy must not contain, or only with a reason.
 */

/*
 * Hosts with their subdomains. Order does not matter: none is below another.
 */
static const struct {
	const char *why, *hosts;
} risky_hosts[] = {
	{ "anyone can upload and read files there",
	  "0x0.st anonfiles.com bashupload.com catbox.moe dpaste.com dpaste.org "
	  "file.io gist.github.com gofile.io hastebin.com ix.io mega.nz paste.ee "
	  "paste.rs pastebin.com pixeldrain.com sprunge.us temp.sh termbin.com "
	  "tmpfiles.org transfer.sh wetransfer.com" },
	{ "delivers messages to anyone who registered an address",
	  "api.telegram.org burpcollaborator.net discord.com discordapp.com "
	  "hooks.slack.com interact.sh oast.fun oast.live oast.me oast.online "
	  "oast.pro oast.site oastify.com pipedream.net requestbin.com "
	  "requestbin.net webhook.site" },
	{ "can lead to anyone's machine",
	  "bore.pub duckdns.org loca.lt localhost.run lhr.life localtunnel.me "
	  "ngrok.app ngrok.dev ngrok.io ngrok-free.app ngrok-free.dev pagekite.me "
	  "serveo.net trycloudflare.com ts.net" },
};

static bool is_below(const char *name, const char *top, size_t len)
{
	size_t n = strlen(name);

	return n >= len && memcmp(name + n - len, top, len) == 0 &&
	       (n == len || name[n - len - 1] == '.');
}

static const char *find_host(const struct ab_host *host)
{
	if (host->kind != AB_HOST_NAME)
		return "an address instead of a name: it may belong to someone else tomorrow";
	for (size_t i = 0; i < AB_COUNT(risky_hosts); i++) {
		const char *list = risky_hosts[i].hosts, *top;

		for (size_t n; (top = ab_word_next(&list, &n));)
			if (is_below(host->text, top, n))
				return risky_hosts[i].why;
	}
	return NULL;
}

/* Why this entry of network.allow deserves a second look, or NULL; free it. */
static char *find_risk(const char *text)
{
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_host_entry entry;
	const char *why;

	if (ab_host_entry_parse(text, strlen(text), &entry, NULL) < 0)
		return NULL;
	why = find_host(&entry.host);
	if (why)
		ab_buf_puts(&b, why);
	if (entry.port)
		ab_buf_printf(&b, "%sport %u is unusual", why ? "; " : "", entry.port);
	return b.len ? ab_buf_take(&b) : NULL;
}

/* System folders, with everything in them. */
static const char *const system_folders[] = {
	"/bin",	 "/boot", "/dev",  "/etc",  "/lib", "/lib32", "/lib64", "/opt", "/proc",
	"/root", "/run",  "/sbin", "/snap", "/sys", "/tmp",   "/usr",	"/var",
};

/* Folders in the home folder from which programs take keys, settings or other
 * programs, with everything in them. */
const char ab_learned_closed[] =
	".agentbox .aws .azure .bashrc.d .cargo/bin .claude .codex .config .docker "
	".emacs.d .gem/bin .gemini .git-templates .gnupg .gradle/init.d .ipython "
	".jupyter .kube .local/bin .local/lib .local/share/applications "
	".local/share/nvim .local/state/agentbox .mozilla .npm-global .nvm .oh-my-zsh "
	".password-store .pyenv .rbenv .rustup .sdkman .ssh .terraform.d .thunderbird "
	".vim .vscode .vscode-server .zsh bin go/bin";

static bool is_system(const char *folder)
{
	for (size_t i = 0; i < AB_COUNT(system_folders); i++)
		if (ab_path_within(folder, system_folders[i]))
			return true;
	/* "/data" may be a whole disk. */
	return strchr(folder + 1, '/') == NULL;
}

static bool is_closed(const char *folder, const struct ab_learned_from *from)
{
	const char *list = from->home ? ab_learned_closed : "", *word;

	for (size_t n; (word = ab_word_next(&list, &n));) {
		ab_autofree char *name = ab_strndup(word, n);
		ab_autofree char *top = ab_path_join(from->home, name);

		if (ab_paths_overlap(folder, top))
			return true;
	}
	for (size_t i = 0; from->closed && i < from->closed->len; i++)
		if (ab_paths_overlap(folder, from->closed->v[i]))
			return true;
	return false;
}

/* A box protects certain names in its writable folders, so a writable folder
 * must not be such a name, or be inside one. */
static bool is_protected(const char *folder, const struct ab_learned_from *from)
{
	bool holds;

	if (from->workspace[0] && ab_path_within(folder, from->workspace))
		folder += strlen(from->workspace);
	return ab_names_opened(&from->base->fs.deny_write, folder, &holds);
}

static const char *find_objection(const char *folder, const struct ab_learned_from *from)
{
	bool at_home = from->home && ab_path_within(folder, from->home);

	for (size_t i = 0; i < from->base->fs.write.len; i++)
		if (ab_path_within(folder, from->base->fs.write.v[i]))
			return "denied although the folder is writable";
	if (is_protected(folder, from))
		return "protected: programs outside the box run or trust it";
	if (from->workspace[0] && ab_path_within(folder, from->workspace))
		return NULL;
	if (from->home && ab_path_within(from->home, folder))
		return "would open the whole home folder";
	if (from->workspace[0] && ab_path_within(from->workspace, folder))
		return "would open the folder around the workspace";
	if (is_closed(folder, from))
		return "programs take keys, settings or other programs from there";
	if (!at_home && is_system(folder))
		return "in a system folder";
	return NULL;
}

/* The folder to add to filesystem.write for a denied path; free it. NULL if there is none, and *ret_why
 * says why. */
static char *find_folder(const char *path, const struct ab_learned_from *from, const char **ret_why)
{
	ab_autofree char *clean = ab_path_resolve(path, "/", NULL);
	ab_autofree char *folder = NULL;

	/* A replacement character stands for any byte, so the path is not exact. */
	*ret_why = "not a plain path";
	if (!clean || strcmp(clean, path) != 0 || ab_path_is_pattern(path) ||
	    strstr(path, "\xef\xbf\xbd"))
		return NULL;
	folder = ab_path_parent(path);
	*ret_why = find_objection(folder, from);
	return *ret_why ? NULL : ab_take(folder);
}

/* The path as a person writes it: ".", "./x", "~/x". Free it. */
static char *shorten_path(const char *path, const struct ab_learned_from *from)
{
	size_t n = strlen(from->workspace);

	if (n && ab_path_within(path, from->workspace))
		return ab_printf(".%s", path + n);
	n = from->home ? strlen(from->home) : 0;
	if (n > 1 && ab_path_within(path, from->home) && path[n])
		return ab_printf("~%s", path + n);
	return ab_strdup(path);
}

/* The folders that go into the policy; none is inside another. */
static void list_folders(const struct ab_learned *l, const struct ab_learned_from *from,
			 struct ab_strv *ret)
{
	const char *why;

	for (size_t i = 0; i < l->unwritten.len; i++) {
		ab_autofree char *folder = find_folder(l->unwritten.v[i].text, from, &why);

		if (!folder || ab_path_within_any(folder, ret))
			continue;
		for (size_t k = ret->len; k-- > 0;)
			if (ab_path_within(ret->v[k], folder))
				ab_strv_remove(ret, k);
		if (ret->len < AB_LEARNED_FOLDERS)
			ab_strv_add(ret, folder);
	}
	ab_strv_sort(ret);
}

void ab_learned_check(const struct ab_learned *l, const struct ab_learned_from *from,
		      const struct ab_policy *policy, struct ab_strv *ret)
{
	ab_autostrv struct ab_strv folders = { 0 };

	list_folders(l, from, &folders);
	for (size_t i = 0; i < l->reached.len; i++) {
		const char *entry = l->reached.v[i].text;

		if (policy->net.mode == AB_NET_ALLOWED)
			break;
		if (policy->net.mode == AB_NET_BLOCKED ||
		    !ab_hosts_cover(policy->net.allow.v, policy->net.allow.len, entry, false))
			ab_strv_addf(ret, "network.allow: %s", entry);
	}
	for (size_t i = 0; i < folders.len; i++)
		if (!ab_path_within_any(folders.v[i], &policy->fs.write))
			ab_strv_addf(ret, "filesystem.write: %s", folders.v[i]);
}

/*
 * The learned policy, and notes for the user.
 */

enum { SHOWN = 40 }; /* lines of one note */

/* A list or an object on lines of its own, one element each. */
struct block {
	struct ab_buf *b;
	char close;
	bool any;
};

static struct block open_block(struct ab_buf *b, const char *key, char open)
{
	ab_buf_printf(b, "    \"%s\": %c", key, open);
	return (struct block){ .b = b, .close = open == '[' ? ']' : '}' };
}

static void put_element(struct block *block, const char *key, const char *value)
{
	ab_buf_printf(block->b, "%s\n      ", block->any ? "," : "");
	ab_buf_json(block->b, key);
	if (value) {
		ab_buf_puts(block->b, ": ");
		ab_buf_json(block->b, value);
	}
	block->any = true;
}

static void close_block(struct block *block)
{
	ab_buf_printf(block->b, "%s%c", block->any ? "\n    " : "", block->close);
}

static void open_section(struct ab_buf *b, const char *name)
{
	ab_buf_printf(b, ",\n  \"%s\": {\n", name);
}

static bool needs_network(const struct ab_learned *l, const struct ab_policy *base)
{
	for (size_t i = 0; i < l->reached.len; i++)
		if (base->net.mode != AB_NET_FILTERED ||
		    !ab_hosts_cover(base->net.allow.v, base->net.allow.len, l->reached.v[i].text,
				    false))
			return true;
	return false;
}

static void put_reasons(struct ab_buf *b, const struct ab_strv *entries,
			const struct ab_strv *reasons)
{
	struct block block;

	if (reasons->len == 0)
		return;
	ab_buf_puts(b, ",\n");
	block = open_block(b, "reason", '{');
	for (size_t i = 0; i < reasons->len; i++)
		put_element(&block, entries->v[i], reasons->v[i]);
	close_block(&block);
}

/* Hosts that were not reached are not needed, so the list replaces that of the profile. */
static void put_network(struct ab_buf *b, const struct ab_learned *l, const struct ab_policy *base)
{
	ab_autostrv struct ab_strv entries = { 0 }, reasons = { 0 };
	struct block block;
	bool only;

	if (!needs_network(l, base))
		return;
	open_section(b, "network");
	if (base->net.mode != AB_NET_FILTERED)
		ab_buf_puts(b, "    \"mode\": \"filtered\",\n");
	only = base->net.allow.len > 0;
	block = open_block(b, only ? "allow\": { \"only" : "allow", '[');
	for (size_t i = 0; i < l->reached.len; i++) {
		char *why = find_risk(l->reached.v[i].text);

		put_element(&block, l->reached.v[i].text, NULL);
		if (!why)
			continue;
		ab_strv_add(&entries, l->reached.v[i].text);
		ab_strv_give(&reasons, why);
	}
	close_block(&block);
	ab_buf_puts(b, only ? " }" : "");
	put_reasons(b, &entries, &reasons);
	ab_buf_puts(b, "\n  }");
}

static void put_files(struct ab_buf *b, const struct ab_learned *l,
		      const struct ab_learned_from *from)
{
	ab_autostrv struct ab_strv folders = { 0 }, entries = { 0 };
	ab_autostrv struct ab_strv reasons = { 0 };
	struct block block;

	list_folders(l, from, &folders);
	if (folders.len == 0)
		return;
	open_section(b, "filesystem");
	block = open_block(b, "write", '[');
	for (size_t i = 0; i < folders.len; i++) {
		ab_autofree char *text = shorten_path(folders.v[i], from);

		put_element(&block, text, NULL);
		if (from->workspace[0] && ab_path_within(folders.v[i], from->workspace))
			continue;
		ab_strv_add(&entries, text);
		ab_strv_add(&reasons, "outside the workspace");
	}
	close_block(&block);
	put_reasons(b, &entries, &reasons);
	ab_buf_puts(b, "\n  }");
}

/* Those of --secret; what else a secret may have is in settings, which stay in force. */
static void put_secrets(struct ab_buf *b, const struct ab_secrets *secrets)
{
	bool any = false;

	for (size_t i = 0; secrets && i < secrets->len; i++) {
		const struct ab_secret *s = &secrets->v[i];

		if (!s->wanted || s->part || s->sign || s->oauth || s->from != AB_FROM_ENV)
			continue;
		if (!any)
			open_section(b, "secrets");
		ab_buf_puts(b, any ? ",\n    " : "    ");
		ab_buf_jsonf(b, "%s: { 'hosts': %p }", s->name, ab_list(&s->hosts));
		any = true;
	}
	ab_buf_puts(b, any ? "\n  }" : "");
}

char *ab_learned_policy(const struct ab_learned *l, const struct ab_learned_from *from)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{\n  \"extends\": ");
	ab_buf_json(&b, from->extends);
	put_files(&b, l, from);
	put_network(&b, l, from->base);
	put_secrets(&b, from->secrets);
	ab_buf_puts(&b, "\n}\n");
	return ab_buf_take(&b);
}

/* "  x.y:8080  3 times  why". The caller escapes it. */
static void note_item(const struct learned_item *item, const char *why, struct ab_strv *ret)
{
	ab_autofree char *times =
		item->count > 1 ? ab_printf("  %" PRIu64 " times", item->count) : ab_strdup("");

	ab_strv_addf(ret, "  %.300s%s%s%.300s", item->text, times, why ? "  " : "", why ? why : "");
}

/* `risk`: why each host deserves a second look, instead of why it was denied. */
static void note_list(const struct learned_list *list, const char *title, bool risk,
		      struct ab_strv *ret)
{
	size_t n = list->len < SHOWN ? list->len : SHOWN;
	uint64_t left = list->len - n + list->lost;

	if (list->len == 0)
		return;
	ab_strv_add(ret, title);
	for (size_t i = 0; i < n; i++) {
		ab_autofree char *why = risk ? find_risk(list->v[i].text) : NULL;

		note_item(&list->v[i], risk ? why : list->v[i].why, ret);
	}
	if (left)
		ab_strv_addf(ret, "  and %" PRIu64 " more", left);
}

static void note_reached(const struct learned_list *list, struct ab_strv *ret)
{
	ab_autofree char *title =
		ab_printf("the run connected to %zu host%s:", list->len, list->len == 1 ? "" : "s");

	note_list(list, title, true, ret);
	if (list->lost)
		ab_strv_addf(ret, "the policy has room for only %zu of them", list->most);
}

/* Leave out hosts that were reached at another time. */
static void note_failed(const struct ab_learned *l, struct ab_strv *ret)
{
	struct learned_list left = { .v = ab_alloc(sizeof(left.v[0]) * (l->failed.len + 1)),
				     .lost = l->failed.lost };

	for (size_t i = 0; i < l->failed.len; i++)
		if (!has_text(&l->reached, l->failed.v[i].text))
			left.v[left.len++] = l->failed.v[i];
	note_list(&left, "these connections failed, so the policy leaves the hosts out:", false,
		  ret);
	free(left.v);
}

static void note_unwritten(const struct ab_learned *l, const struct ab_learned_from *from,
			   struct ab_strv *ret)
{
	size_t shown = 0;
	const char *why;

	for (size_t i = 0; i < l->unwritten.len && shown < SHOWN; i++) {
		const struct learned_item *item = &l->unwritten.v[i];
		ab_autofree char *folder = find_folder(item->text, from, &why);

		if (folder)
			continue;
		if (shown++ == 0)
			ab_strv_add(
				ret,
				"these writes were denied, and the policy does not allow them:");
		note_item(item, why, ret);
	}
	if (l->unwritten.lost)
		ab_strv_addf(ret, "%" PRIu64 " more denied writes were not examined",
			     l->unwritten.lost);
}

void ab_learned_notes(const struct ab_learned *l, const struct ab_learned_from *from,
		      struct ab_strv *ret)
{
	note_reached(&l->reached, ret);
	note_failed(l, ret);
	note_list(&l->denied, "these hosts were denied, and the policy does not allow them:", false,
		  ret);
	note_unwritten(l, from, ret);
	note_list(&l->refused, "these were denied, and the policy does not allow them:", false,
		  ret);
	note_list(&l->programs, "programs that ran:", false, ret);
}
