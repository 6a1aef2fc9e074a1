#include "policy/members.h"

#include <string.h>

#include "base/guess.h"
#include "base/mem.h"

static void unknown(struct ab_reader *r, uint32_t node, const char *path,
		    const char *name, const char *guess)
{
	ab_autofree char *whole = ab_printf("%s.%s", path, name);
	ab_autofree char *right =
		guess ? ab_printf("did you mean %s?", guess) : NULL;

	ab_reader_report(r, node, whole, "no such key", right ? right : "");
}

bool ab_members_find(struct ab_reader *r, uint32_t node, const char *path,
		     const json_t *object, const char *const *names, size_t n,
		     const json_t **ret_given, uint32_t *ret_at)
{
	bool good = true;

	for (uint32_t k = node + 1; k < r->nodes[node].next;
	     k = r->nodes[k].next) {
		json_t *key = ab_reader_key(r, k);
		const char *name = json_string_value(key);
		size_t m = 0;

		while (m < n && strcmp(names[m], name) != 0)
			m++;
		if (m < n) {
			ret_given[m] = json_object_get(object, name);
			ret_at[m] = k;
		} else {
			unknown(r, k, path, name, ab_guess(name, names, n));
			good = false;
		}
		json_decref(key);
	}
	return good;
}
