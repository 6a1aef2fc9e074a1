#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>

#include "audit/log.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "session/state.h"

enum { NAME_MAX_LEN = 32 };

json_t *ab_run_start(const struct ab_run *run)
{
	ab_autofree char *line = NULL;

	return ab_log_first(run->dir, &line) < 0 ? NULL : json_loads(line, 0, NULL);
}

char *ab_run_name(const struct ab_run *run)
{
	json_t *start = ab_run_start(run);
	const char *name = json_string_value(json_object_get(start, "name"));
	char *copy = name ? ab_strdup(name) : NULL;

	json_decref(start);
	return copy;
}

static bool is_name(const char *name)
{
	static const char right[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_.";
	size_t len = strlen(name);

	/* One that begins with a dash is an option to every command. */
	return len && len <= NAME_MAX_LEN && strspn(name, right) == len && name[0] != '-';
}

struct taken {
	const char *name;
	char id[8];
};

/* An id is found before a name: that name could never be used. */
static void compare(struct ab_run *run, void *arg)
{
	struct taken *t = arg;
	ab_autofree char *name = ab_run_name(run);

	if (strcmp(run->id, t->name) == 0 || (name && strcmp(name, t->name) == 0))
		memcpy(t->id, run->id, sizeof(t->id));
}

int ab_state_check_name(const struct ab_state *state, const char *name, struct ab_error *err)
{
	struct taken taken = { .name = name };

	if (!is_name(name)) {
		ab_fail(err, AB_EUSAGE, 0, "\"%s\" is not a name for a run", name);
		return ab_hint(err, "1 to 32 letters, digits, - _ and ., "
				    "and no - in front");
	}
	ab_state_each_live(state, compare, &taken);
	if (!taken.id[0])
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "run %s is called %s already", taken.id, name);
	return ab_hint(err, "take another name, or end it: agentbox stop %s", taken.id);
}

int ab_state_claim_name(const struct ab_state *state, const char *name, int *ret_lock,
			struct ab_error *err)
{
	/* Of its own: the lock is that of the open file. */
	ab_autoclose int lock = openat(state->live, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "lock %s/live", state->path);
	if (ab_state_check_name(state, name, err) < 0)
		return -1;
	*ret_lock = ab_take_fd(&lock);
	return 0;
}
