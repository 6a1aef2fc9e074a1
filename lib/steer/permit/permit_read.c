#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/layers/layers.h"
#include "policy/values/complaint.h"
#include "policy/values/host_groups.h"
#include "steer/permit/permit_state.h"

static bool is_path(const char *what)
{
	static const char *const starts[] = { "/", "./", "../", "~/" };
	static const char *const whole[] = { ".", "..", "~" };

	for (size_t i = 0; i < AB_COUNT(starts); i++)
		if (strncmp(what, starts[i], strlen(starts[i])) == 0)
			return true;
	for (size_t i = 0; i < AB_COUNT(whole); i++)
		if (strcmp(what, whole[i]) == 0)
			return true;
	return false;
}

static int read_path(const struct ab_policy_input *in, const char *what, struct ab_meant *ret,
		     struct ab_error *err)
{
	ret->kind = AB_MEANT_PATH;
	ret->path = ab_path_resolve(what, in->cwd, in->home);
	return ret->path ? 0 : ab_fail(err, AB_EUSAGE, 0, "%s: the home folder is not known", what);
}

static int read_group(const char *what, struct ab_meant *ret, struct ab_error *err)
{
	for (size_t i = 0; i < ab_group_count; i++)
		if (strcmp(what + 1, ab_group_names[i]) == 0) {
			ret->kind = AB_MEANT_GROUP;
			strncpy(ret->entry, what, sizeof(ret->entry) - 1);
			return 0;
		}
	ab_fail(err, AB_EUSAGE, 0, "there is no group %s", what);
	return ab_hint(err, "there are @github @npm @pypi @crates @go @debian "
			    "@llm");
}

/* A name without a dot may be a host, and is one of the files here. */
static int refuse_file(const char *what, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0, "%s is a host or a file", what);
	return ab_hint(err, "write ./%s for the file, %s. for the host", what, what);
}

/* "7kq-1" is a name that a host can have, and rather an id with a letter too
 * few: what was to be allowed would go on being refused, and nobody said so. */
static bool is_nearly_id(const char *what)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t run = strspn(what, letters);
	const char *p = what + run;

	if (run < 3 || run > 7 || *p++ != '-')
		return false;
	p += *p == 'e' || *p == 'f';
	return *p && !p[strspn(p, "0123456789")];
}

static int refuse_nearly(const char *what, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0, "%s is no id of a denial; one is like 7kq2x-1", what);
	return ab_hint(err,
		       "what was refused: agentbox log --denied\n"
		       "if it is a host, write it with a dot: %s.",
		       what);
}

static int read_host(const struct ab_policy_input *in, const char *what, struct ab_meant *ret,
		     struct ab_error *err)
{
	ab_autofree char *file = ab_path_join(in->cwd, what);
	bool exists = access(file, F_OK) == 0;
	struct ab_complaint why = { .right = "" };
	struct ab_host_entry entry;

	if (ab_host_entry_parse(what, strlen(what), &entry, &why) == 0) {
		/* "*" and ":" are no mistake for a file, a range is none. */
		if (exists && !strpbrk(what, "*:/") && what[strlen(what) - 1] != '.')
			return refuse_file(what, err);
		if (is_nearly_id(what))
			return refuse_nearly(what, err);
		ret->kind = AB_MEANT_HOST;
		ab_host_entry_format(&entry, ret->entry);
		return 0;
	}
	ab_fail(err, AB_EUSAGE, 0, "%s", why.wrong);
	if (exists)
		return ab_hint(err, "if the file is meant: ./%s", what);
	return ab_hint(err, "%s", why.right);
}

int ab_permit_read(const struct ab_policy_input *in, const char *what, struct ab_meant *ret,
		   struct ab_error *err)
{
	*ret = (struct ab_meant){ 0 };
	if (!*what)
		return ab_fail(err, AB_EUSAGE, 0, "\"\" is no host");
	if (is_path(what))
		return read_path(in, what, ret, err);
	if (what[0] == '@')
		return read_group(what, ret, err);
	if (ab_denial_parse(what, &ret->denial) == 0) {
		ret->kind = AB_MEANT_DENIAL;
		return 0;
	}
	return read_host(in, what, ret, err);
}

void ab_meant_fini(struct ab_meant *meant)
{
	free(meant->path);
	meant->path = NULL;
}
