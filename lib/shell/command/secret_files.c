#include "shell/command/secret_files.h"

#include "shell/command/path_place.h"
#include "shell/syntax/name_table.h"

/* Secret in any folder. Sorted. */
static const char names[][19] = {
	".bash_history",  ".git-credentials", ".gitcookies",
	".lesshst",	  ".my.cnf",	      ".mylogin.cnf",
	".mysql_history", ".netrc",	      ".node_repl_history",
	".npmrc",	  ".pgpass",	      ".psql_history",
	".pypirc",	  ".python_history",  ".rediscli_history",
	".s3cfg",	  ".sqlite_history",  ".vault-token",
	".zsh_history",	  "Login Data",	      "_netrc",
	"cookies.sqlite", "fish_history",     "id_dsa",
	"id_ecdsa",	  "id_ecdsa_sk",      "id_ed25519",
	"id_ed25519_sk",  "id_rsa",	      "key4.db",
	"logins.json",
};

/* Folders that are secret with everything in them. Sorted. */
static const char folders[][16] = {
	".aws", ".azure", ".gnupg", ".kube", ".password-store", "keyrings",
};

/* A name in a folder; a final "*" matches any rest. */
static const char inside[] =
	".cargo/credentials* .composer/auth.json .config/gcloud .config/hub "
	".docker/config.json .gem/credentials .terraform.d/credentials* Default/Cookies "
	"Network/Cookies composer/auth.json etc/gshadow etc/gshadow- etc/shadow etc/shadow- "
	"etc/sudoers etc/sudoers.d gcloud/credentials.db gh/hosts.yml git/credentials";

/* What a name with this first byte may be: most are ruled out by it. */
enum {
	NAME = 1,   /* in `names`, `.env`, or a pattern for such a name */
	FOLDER = 2, /* in `folders` */
	PARENT = 4, /* a folder of `inside`, or `.ssh` */
};

static const uint8_t heads[256] = {
	['.'] = NAME | FOLDER | PARENT, ['D'] = PARENT, ['L'] = NAME, ['N'] = PARENT, ['_'] = NAME,
	['c'] = NAME | PARENT,		['e'] = PARENT, ['f'] = NAME, ['g'] = PARENT, ['i'] = NAME,
	['k'] = NAME | FOLDER,		['l'] = NAME,
};

static bool may_be(struct ab_text name, unsigned what)
{
	return name.len > 0 && heads[(unsigned char)name.s[0]] & what;
}

static const char endings[] = ".jks .kdbx .key .p12 .pem .pfx";

/* Endings of `.env` files that are samples. */
static const char samples[] = ".dist .example .sample .template";

enum { ENDING_MAX = sizeof(".template") - 1 };

/* One of these endings, from the last dot on. */
static bool ends_in_one(struct ab_text t, const char *list)
{
	for (uint32_t n = 1; n <= t.len && n <= ENDING_MAX; n++)
		if (t.s[t.len - n] == '.')
			return ab_listed(list, (struct ab_text){ t.s + t.len - n, n });
	return false;
}

static bool is_env(struct ab_text name)
{
	if (!ab_text_starts(name, ".env") || ends_in_one(name, samples))
		return false;
	return name.len == 4 || ab_text_is(name, ".envrc") || strchr(".-_*?", name.s[4]);
}

static bool is_pattern_byte(char c)
{
	return c == '*' || c == '?' || c == '[' || c == AB_UNKNOWN;
}

/* A pattern that matches a common name and begins with two or more of its letters. */
static bool reaches_name(struct ab_text name)
{
	static const char common[][11] = { ".env", ".netrc", "id_ed25519", "id_rsa" };
	uint32_t i = 0;

	while (i < name.len && !is_pattern_byte(name.s[i]))
		i++;
	if (i < 2 || i == name.len || name.s[i] == AB_UNKNOWN || ab_text_ends(name, ".pub"))
		return false;
	for (size_t k = 0; k < AB_COUNT(common); k++)
		if (ab_pattern_reaches(name, ab_text_of(common[k])))
			return true;
	return false;
}

/* cert.pem, fullchain.pem, ca.pem are public. */
static bool is_certificate(struct ab_text name)
{
	return ab_text_ends(name, ".pem") && !ab_contains_listed("key", name) &&
	       (ab_contains_listed("cert chain public bundle", name) || ab_text_is(name, "ca.pem"));
}

static bool is_secret_name(struct ab_text name)
{
	if (name.len < 3)
		return false;
	if (may_be(name, NAME) &&
	    (AB_LOOKUP_WORD(names, name) || is_env(name) || reaches_name(name)))
		return !ab_text_has(name, '\n');
	return name.len > 4 && ends_in_one(name, endings) && !is_certificate(name) &&
	       !ab_text_has(name, ' ') && !ab_text_has(name, '\n');
}

/* In ~/.ssh everything except public keys and settings. */
static bool is_ssh_secret(struct ab_text name)
{
	return !ab_text_ends(name, ".pub") &&
	       !ab_listed(
		       "authorized_keys authorized_keys2 config config.d environment known_hosts known_hosts.old rc",
		       name);
}

static bool is_secret_inside(struct ab_text folder, struct ab_text name)
{
	const char *list = inside;
	struct ab_text item;

	if (!may_be(folder, PARENT))
		return false;
	if (ab_text_is(folder, ".ssh"))
		return is_ssh_secret(name);
	while ((item = ab_list_next(&list)).len > 0) {
		struct ab_text parent = ab_text_cut(&item, '/'), want = item;

		if (!ab_text_same(folder, parent))
			continue;
		if (want.s[want.len - 1] == '*' && name.len >= want.len - 1 &&
		    memcmp(name.s, want.s, want.len - 1) == 0)
			return true;
		if (ab_text_same(name, want))
			return true;
		/* "shad*", but not any "*". */
		if (name.len > 2 && memcmp(name.s, want.s, 2) == 0 &&
		    ab_pattern_reaches(name, want))
			return true;
	}
	return false;
}

static void read_parts(struct ab_secret_folder *r, struct ab_text text, bool own)
{
	while (text.len && !r->secret) {
		struct ab_text part = ab_text_cut(&text, '/');

		if (part.len == 0 || ab_text_is(part, "."))
			continue;
		if (ab_text_is(part, "..")) {
			r->name = r->parent;
			r->parent = (struct ab_text){ 0 };
			continue;
		}
		r->parent = r->name;
		r->name = part;
		r->proc = r->proc || ab_text_is(part, "proc");
		if (own && ((may_be(part, FOLDER) && AB_LOOKUP_WORD(folders, part)) ||
			    is_secret_inside(r->parent, part)))
			r->secret = true;
	}
}

/* Cut the last part off a path. */
static struct ab_text cut_last_part(struct ab_text *path)
{
	struct ab_text part = ab_text_base(*path);

	path->len -= part.len;
	path->len -= path->len > 0;
	return part;
}

/* The last two parts of a clean path: no others matter. */
static void read_last_two(struct ab_secret_folder *r, struct ab_text path)
{
	struct ab_text rest = path, name, parent;

	name = cut_last_part(&rest);
	parent = cut_last_part(&rest);
	if (name.len == 0 || name.s[0] == '.' || (parent.len && parent.s[0] == '.')) {
		read_parts(r, ab_text_rest(path, (uint32_t)(parent.s - path.s)), false);
		return;
	}
	r->name = name;
	if (parent.len)
		r->parent = parent;
	r->proc = r->proc || ab_text_is(name, "proc") || ab_text_is(parent, "proc");
}

struct ab_secret_folder ab_secret_folder(struct ab_text cwd)
{
	struct ab_secret_folder r = { .proc = ab_text_starts(cwd, "/proc/") };

	if (cwd.len)
		read_last_two(&r, cwd);
	r.secret = may_be(r.name, FOLDER) && AB_LOOKUP_WORD(folders, r.name);
	return r;
}

static bool read_path(const struct ab_secret_folder *folder, struct ab_text path,
		      struct ab_secret_folder *ret)
{
	*ret = (struct ab_secret_folder){ 0 };
	if (path.len == 0)
		return false;
	if (path.s[0] != '/' && path.s[0] != AB_UNKNOWN)
		*ret = *folder;
	read_parts(ret, path, true);
	return ret->secret || ab_text_is(ret->name, ".ssh") ||
	       (ret->proc && ab_text_is(ret->name, "environ"));
}

bool ab_secret_word(const struct ab_secret_folder *folder, const struct ab_field *word)
{
	/* One part that is a name in an ordinary folder; its ending needs a dot. */
	if (!ab_field_has(word, AB_BYTES_SLASH | AB_BYTES_UP | AB_BYTES_UNKNOWN) &&
	    !may_be(word->text, NAME | FOLDER) && !folder->secret && !folder->proc &&
	    !may_be(folder->name, PARENT))
		return false;
	return ab_secret_within(folder, word->text);
}

bool ab_secret_within(const struct ab_secret_folder *folder, struct ab_text path)
{
	struct ab_secret_folder r;

	return read_path(folder, path, &r) || is_secret_name(r.name);
}

bool ab_secret_for_sure(const struct ab_secret_folder *folder, struct ab_text path)
{
	struct ab_secret_folder r;

	return read_path(folder, path, &r) ||
	       (r.name.len > 2 && may_be(r.name, NAME) && AB_LOOKUP_WORD(names, r.name));
}

bool ab_secret_tree(struct ab_text path)
{
	struct ab_text first = { 0 };
	uint32_t parts = 0;

	if (path.len == 0 || path.s[0] != '/')
		return false;
	while (path.len) {
		struct ab_text part = ab_text_cut(&path, '/');

		if (part.len && parts++ == 0)
			first = part;
	}
	return parts == 0 || (parts == 1 && ab_listed("etc home root", first));
}

bool ab_secret_in(struct ab_text cwd, struct ab_text path)
{
	const struct ab_secret_folder folder = ab_secret_folder(cwd);

	return ab_secret_within(&folder, path);
}

bool ab_secret_path(struct ab_text path)
{
	return ab_secret_in((struct ab_text){ 0 }, path);
}
