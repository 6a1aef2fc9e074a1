#include "steer/permit/permit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/layers/layers.h"
#include "sandbox/mount/furniture.h"
#include "steer/client/steer.h"
#include "steer/permit/permit_state.h"

/* A run's id can be a host's name, too; and a run can be held as a whole. */
static bool names_run(struct ab_permit_job *job, const char *what)
{
	struct ab_error none = { 0 };

	if (!ab_run_id_valid(what) || ab_permit_find(job, what, &none) < 0)
		return false;
	if (strcmp(job->run.id, what) == 0)
		return true;
	ab_permit_forget(job);
	return false;
}

static int permit(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err)
{
	switch (meant->kind) {
	case AB_MEANT_DENIAL:
		return ab_permit_denial(job, meant, err);
	case AB_MEANT_HOST:
		if (names_run(job, job->ask->what))
			return ab_permit_hold(job, err);
		return ab_permit_hosts(job, meant, err);
	case AB_MEANT_GROUP:
		return ab_permit_hosts(job, meant, err);
	case AB_MEANT_PATH:
		return ab_permit_path(job, meant->path, false, err);
	}
	return -1;
}

/* All of the network is no matter of lists. */
static int refuse_all(const struct ab_permit *ask, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0, "\"*\" is not a host");
	return ab_hint(err, ask->deny ? "a run without a network:  "
					"agentbox run --net blocked -- ..."
				      : "a run with all of the network:  "
					"agentbox run --net allowed -- ...");
}

int ab_permit(const struct ab_permit *ask, struct ab_permitted *ret, struct ab_error *err)
{
	struct ab_permit_job job = {
		.ask = ask, .ret = ret, .run = { .dir = -1 }, .again = { .cwd = ask->input->cwd }
	};
	struct ab_meant meant;
	int result;

	*ret = (struct ab_permitted){ 0 };
	if (access(AB_MARKER, F_OK) == 0)
		return ab_fail(err, AB_EREFUSED, 0, "inside a box nothing can be %s",
			       ask->deny ? "denied" : "allowed");
	if (ask->always && ask->for_ms)
		return ab_fail(err, AB_EUSAGE, 0, "--for and --always exclude each other");
	if (strcmp(ask->what, "*") == 0)
		return refuse_all(ask, err);
	if (ab_permit_read(ask->input, ask->what, &meant, err) < 0)
		return -1;
	result = ab_steer_state(ask->input, &job.state, err);
	if (result == 0) {
		result = permit(&job, &meant, err);
		ab_state_fini(&job.state);
	}
	ab_permit_forget(&job);
	ab_meant_fini(&meant);
	return result;
}

static void add_text(struct ab_buf *b, const char *key, const char *text)
{
	ab_buf_printf(b, ",\"%s\":", key);
	if (text && *text)
		ab_buf_json(b, text);
	else
		ab_buf_puts(b, "null");
}

static void add_list(struct ab_buf *b, const char *key, const struct ab_strv *list)
{
	ab_buf_printf(b, ",\"%s\":", key);
	ab_buf_json_list(b, list);
}

char *ab_permitted_json(const struct ab_permit *ask, const struct ab_permitted *p)
{
	struct ab_buf b = { 0 };

	ab_buf_printf(&b, "{\"allowed\":%s", ask->deny ? "false" : "true");
	add_text(&b, "run", p->run);
	add_list(&b, "entries", &p->entries);
	ab_buf_printf(&b, ",\"for_ms\":%llu,\"released\":%llu", (unsigned long long)ask->for_ms,
		      (unsigned long long)p->released);
	add_text(&b, "path", p->path);
	add_text(&b, "workspace", p->workspace);
	add_text(&b, "command", p->command);
	add_text(&b, "file", p->file);
	add_list(&b, "diff", &p->diff);
	add_list(&b, "said", &p->said);
	add_list(&b, "notes", &p->notes);
	ab_buf_puts(&b, "}\n");
	return ab_buf_take(&b);
}

void ab_permitted_fini(struct ab_permitted *p)
{
	ab_strv_fini(&p->entries);
	ab_strv_fini(&p->diff);
	ab_strv_fini(&p->said);
	ab_strv_fini(&p->notes);
	free(p->path);
	free(p->workspace);
	free(p->command);
	free(p->file);
	*p = (struct ab_permitted){ 0 };
}
