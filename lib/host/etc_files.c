#include "host/etc_files.h"

#include <sys/utsname.h>

#include "base/system/linkwalk.h"
#include "sandbox/plan/spec.h"

enum { NSSWITCH_MAX = 64 * 1024 };

/* EDNS0, because programs check for it; two attempts, because our name server does not lose
 * queries. No search list: names are used as they are. */
static const char resolv[] = "nameserver 127.0.0.1\n"
			     "options edns0 timeout:2 attempts:2\n";

#define HOSTS_LINE "hosts: files dns\n"
#define BLANK " \t"

/* Only these two, in this order, without actions between them. */
static bool is_files_dns(const char *sources, size_t len)
{
	static const char *const wanted[] = { "files", "dns" };
	const char *end = sources + len;

	for (size_t i = 0; i < AB_COUNT(wanted); i++) {
		size_t n = strlen(wanted[i]);

		sources += strspn(sources, BLANK);
		if ((size_t)(end - sources) < n || memcmp(sources, wanted[i], n) != 0)
			return false;
		sources += n;
		if (sources < end && !strchr(BLANK, *sources))
			return false;
	}
	return sources + strspn(sources, BLANK) >= end;
}

char *ab_etc_nsswitch(const char *text)
{
	struct ab_buf b = { 0 };
	bool found = false, plain = true;

	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *word = text + strspn(text, BLANK);

		if (strncmp(word, "hosts:", 6) == 0) {
			plain &= is_files_dns(word + 6, len - (size_t)(word + 6 - text));
			if (!found)
				ab_buf_puts(&b, HOSTS_LINE);
			found = true;
		} else {
			ab_buf_add(&b, text, len);
			ab_buf_puts(&b, "\n");
		}
		text += len + (text[len] == '\n');
	}
	if (found && plain) {
		ab_buf_fini(&b);
		return NULL;
	}
	if (!found)
		ab_buf_puts(&b, HOSTS_LINE);
	return ab_buf_take(&b);
}

char *ab_etc_hosts(const char *hostname)
{
	bool good = *hostname && ab_has_only(hostname, strlen(hostname), ".-_");

	return ab_printf("127.0.0.1 localhost%s%s\n"
			 "::1 localhost ip6-localhost ip6-loopback\n",
			 good ? " " : "", good ? hostname : "");
}

char *ab_etc_follow(const char *path)
{
	ab_autolinkwalk struct ab_linkwalk w;
	enum ab_linkwalk_step step;
	ab_autofree char *left = NULL;
	bool linked = false;

	ab_linkwalk_init(&w, "/", path);
	while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK)
		linked |= step == AB_LINKWALK_LINK && !*w.left;
	if (step == AB_LINKWALK_END)
		return ab_take(w.at);
	if (!linked || errno != ENOENT)
		return NULL;
	/* Folders that exist only in the box contain no links. */
	left = ab_path_join(w.path, w.left);
	return ab_path_resolve(left, NULL, NULL);
}

static void add_file(struct ab_spec *spec, const char *path, char *text)
{
	ab_autofree char *real = ab_etc_follow(path);
	ab_autofree char *given = text;
	const struct ab_mount *m = real ? ab_plan_find(&spec->plan, real) : NULL;
	size_t len = strlen(text);

	/* A masked file stays hidden. */
	if (!real || (m && m->op == AB_MOUNT_MASK))
		return;
	ab_spec_add_file(spec, ab_take(real), ab_take(given), len);
}

static void add_nsswitch(struct ab_spec *spec)
{
	static const char path[] = "/etc/nsswitch.conf";
	ab_autofree char *text = NULL;
	char *ours;
	size_t len;

	if (ab_read_file(AT_FDCWD, path, 0, NSSWITCH_MAX, &text, &len) < 0)
		return;
	ours = ab_etc_nsswitch(text);
	if (ours)
		add_file(spec, path, ours);
}

void ab_etc_fill(struct ab_spec *spec)
{
	struct utsname name;

	add_file(spec, "/etc/resolv.conf", ab_strdup(resolv));
	if (uname(&name) == 0)
		add_file(spec, "/etc/hosts", ab_etc_hosts(name.nodename));
	add_nsswitch(spec);
}
