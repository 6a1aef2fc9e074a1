#include "containers/container_watch.h"

#include <inttypes.h>

#include "audit/read/summary.h"
#include "audit/read/words.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/process/helper_watch.h"
#include "containers/container_filter.h"

enum {
	SWEEP_MS = 90000, /* how long the supervisor waits at the end */
	WIDTH = 48,
};

struct ab_container_watch {
	struct ab_helper_watch filter;
	struct ab_container_sweep sweep;
	struct ab_log *log;
	struct ab_buf line;
	struct ab_summary denied;
};

/* The command that would allow it, or NULL. */
static char *find_hint(const struct ab_engine_note *note)
{
	static const struct setting {
		const char *rule, *command;
	} settings[] = {
		{ "docker.pull", "agentbox config set docker.pull true" },
		{ "docker.network", "agentbox config set docker.network bridge" },
		{ "docker.ports", "agentbox config set docker.ports publish" },
	};
	static const char image[] = "the image ";
	const char *name = note->reason + strlen(image);
	const struct setting *found;
	size_t n;

	if (strcmp(note->rule, "docker.images") == 0 &&
	    strncmp(note->reason, image, strlen(image)) == 0) {
		n = strcspn(name, " ");
		return ab_printf("agentbox run --docker %.*s -- ...", (int)n, name);
	}
	found = ab_find_row(settings, AB_COUNT(settings), rule, note->rule);
	return found ? ab_strdup(found->command) : NULL;
}

static void count_denial(struct ab_container_watch *w, const struct ab_engine_note *note)
{
	struct ab_summary_row *row = ab_summary_count(&w->denied, 'c', note->number);
	ab_autofree char *path = NULL, *request = NULL;
	ab_autobuf struct ab_buf about = { 0 };

	if (!row)
		return;
	path = ab_escape(note->path);
	request = ab_printf("%s %s", note->method, path);
	ab_words_short(&about, request, WIDTH);
	row->about = ab_buf_take(&about);
	row->reason = ab_escape(note->reason);
	row->next = find_hint(note);
}

static void put_request(struct ab_buf *line, const struct ab_engine_note *note)
{
	ab_buf_jsonf(line, ",'method':%s,'path':%s,'image':%s,'allowed':%hhd,'status':%d",
		     note->method, note->path, ab_text_or_null(note->image), note->allowed,
		     note->status);
	if (note->engine)
		ab_record_number(line, "engine_status", note->engine);
	if (note->stream)
		ab_record_json(line, "stream", "true");
}

static int write_denial(struct ab_container_watch *w, const struct ab_engine_note *note,
			struct ab_error *err)
{
	ab_autofree char *hint = find_hint(note);
	struct ab_buf *line = &w->line;
	char id[24];

	count_denial(w, note);
	snprintf(id, sizeof(id), "%s-c%" PRIu32, w->denied.run_id, note->number);
	ab_record_open(line, w->denied.run_id, "violation");
	ab_buf_jsonf(line, ",'id':%s,'door':'container'", id);
	put_request(line, note);
	ab_buf_jsonf(line, ",'rule':%s,'reason':%s?,'hint':%s", note->rule, note->reason, hint);
	return ab_log_write(w->log, line, err);
}

static int take_note(void *arg, const void *data, struct ab_error *err)
{
	struct ab_container_watch *w = arg;
	const struct ab_container_note *note = data;

	if (note->swept) {
		w->sweep = note->sweep;
		return 0;
	}
	if (note->request.number)
		return write_denial(w, &note->request, err);
	ab_record_open(&w->line, w->denied.run_id, "container");
	put_request(&w->line, &note->request);
	ab_record_maybe(&w->line, "error", note->request.reason);
	ab_record_number(&w->line, "ms", note->request.ms);
	return ab_log_write(w->log, &w->line, err);
}

int ab_container_watch_start(const struct ab_container_filter_setup *setup, struct ab_log *log,
			     bool strict, struct ab_container_watch **ret, struct ab_error *err)
{
	struct ab_container_watch *w = ab_alloc(sizeof(*w));

	w->log = log;
	w->denied.run_id = setup->run;
	w->filter = (struct ab_helper_watch){ .strict = strict,
					      .size = sizeof(struct ab_container_note),
					      .take = take_note,
					      .arg = w };
	if (ab_container_filter_start(setup, &w->filter.helper, err) < 0) {
		free(w);
		return -1;
	}
	*ret = w;
	return 0;
}

int ab_container_watch_attach(struct ab_container_watch *w, struct ab_loop *loop,
			      void (*fail)(void *arg, const struct ab_error *err), void *arg,
			      struct ab_error *err)
{
	return ab_helper_watch_attach(&w->filter, loop, fail, arg, err);
}

void ab_container_watch_listen(struct ab_container_watch *w, int fd)
{
	/* If the filter is gone, connections of the box fail. */
	(void)ab_send_fds(w->filter.helper.sock, "", 1, &fd, 1);
	close(fd);
}

void ab_container_watch_end(struct ab_container_watch *w)
{
	ab_helper_watch_end(&w->filter);
}

/* Why containers may be left. */
static char *explain_rest(const struct ab_container_watch *w)
{
	if (w->sweep.done)
		return NULL;
	if (w->sweep.text[0])
		return ab_printf("%.*s", (int)sizeof(w->sweep.text) - 1, w->sweep.text);
	return ab_strdup(w->filter.ended ? "the container filter died"
					 : "the container engine does not answer");
}

int ab_container_watch_ended(struct ab_container_watch *w, struct ab_strv *ret_denied,
			     char **ret_left, struct ab_error *err)
{
	int result = ab_helper_watch_await(&w->filter, SWEEP_MS, err);

	*ret_left = explain_rest(w);
	ab_summary_denied(&w->denied, "request to the container engine was",
			  "requests to the container engine were", ret_denied);
	ab_buf_fini(&w->line);
	free(w);
	return result;
}
