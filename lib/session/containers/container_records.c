#include "session/containers/container_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/summary.h"
#include "audit/read/words.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "session/containers/engine_relay.h"

enum { REMEMBERED = 64, WIDTH = 48 };

struct row {
	char *about, *reason, *hint;
	uint64_t count;
};

struct ab_container_records {
	char run_id[8];
	struct ab_log *log;
	struct ab_buf line;
	struct row v[REMEMBERED];
	uint32_t len;
	uint64_t count;
};

struct ab_container_records *ab_container_records_new(const char *run_id, struct ab_log *log)
{
	struct ab_container_records *r = ab_alloc(sizeof(*r));

	snprintf(r->run_id, sizeof(r->run_id), "%s", run_id);
	r->log = log;
	return r;
}

void ab_container_records_free(struct ab_container_records *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->len; i++) {
		free(r->v[i].about);
		free(r->v[i].reason);
		free(r->v[i].hint);
	}
	ab_buf_fini(&r->line);
	free(r);
}

/* The command that would allow it, or NULL. */
static char *find_hint(const struct ab_engine_relay_note *note)
{
	static const struct {
		const char *rule, *command;
	} settings[] = {
		{ "docker.pull", "agentbox config set docker.pull true" },
		{ "docker.network", "agentbox config set docker.network bridge" },
		{ "docker.ports", "agentbox config set docker.ports publish" },
	};
	static const char image[] = "the image ";
	const char *name = note->reason + strlen(image);
	size_t n;

	if (strcmp(note->rule, "docker.images") == 0 &&
	    strncmp(note->reason, image, strlen(image)) == 0) {
		n = strcspn(name, " ");
		return ab_printf("agentbox run --docker %.*s -- ...", (int)n, name);
	}
	for (size_t i = 0; i < AB_COUNT(settings); i++)
		if (strcmp(note->rule, settings[i].rule) == 0)
			return ab_strdup(settings[i].command);
	return NULL;
}

/* Numbers come one after the other, and again. */
static struct row *find_row(struct ab_container_records *r, const struct ab_engine_relay_note *note)
{
	ab_autofree char *path = NULL;
	struct row *row;

	if (note->number <= r->len)
		return &r->v[note->number - 1];
	if (r->len == REMEMBERED || note->number != r->len + 1)
		return NULL;
	path = ab_escape(note->path);
	row = &r->v[r->len++];
	row->about = ab_printf("%s %s", note->method, path);
	row->reason = ab_escape(note->reason);
	row->hint = find_hint(note);
	return row;
}

static int write_denial(struct ab_container_records *r, const struct ab_engine_relay_note *note,
			struct ab_error *err)
{
	struct row *row = find_row(r, note);
	struct ab_buf *line = &r->line;
	char id[24];

	r->count++;
	if (row)
		row->count++;
	snprintf(id, sizeof(id), "%s-c%" PRIu32, r->run_id, note->number);
	ab_record_open(line, r->run_id, "violation");
	ab_record_text(line, "id", id);
	ab_record_text(line, "door", "container");
	ab_record_text(line, "method", note->method);
	ab_record_text(line, "path", note->path);
	ab_record_maybe(line, "image", note->image);
	ab_record_json(line, "allowed", "false");
	ab_record_text(line, "rule", note->rule);
	ab_record_text(line, "reason", note->reason);
	if (row && row->hint)
		ab_record_text(line, "hint", row->hint);
	ab_record_number(line, "status", note->status);
	return ab_log_write(r->log, line, err);
}

int ab_container_records_take(struct ab_container_records *r,
			      const struct ab_engine_relay_note *note, struct ab_error *err)
{
	struct ab_buf *line = &r->line;

	if (note->number)
		return write_denial(r, note, err);
	ab_record_open(line, r->run_id, "container");
	ab_record_text(line, "method", note->method);
	ab_record_text(line, "path", note->path);
	ab_record_maybe(line, "image", note->image);
	ab_record_json(line, "allowed", "true");
	ab_record_number(line, "status", note->status);
	ab_record_number(line, "ms", note->ms);
	return ab_log_write(r->log, line, err);
}

void ab_container_records_summary(const struct ab_container_records *r, struct ab_strv *ret)
{
	struct ab_summary summary = { .run_id = r->run_id, .rest = r->count };
	ab_autofree char *headline =
		ab_printf("%" PRIu64 " request%s to the container engine %s denied", r->count,
			  r->count == 1 ? "" : "s", r->count == 1 ? "was" : "were");

	for (uint32_t i = 0; i < r->len && i < AB_SUMMARY_ROWS; i++) {
		struct ab_summary_row *row;
		ab_autobuf struct ab_buf about = { 0 };

		summary.rest -= r->v[i].count;
		row = ab_summary_add(&summary, r->v[i].count);
		snprintf(row->id, sizeof(row->id), "%s-c%" PRIu32, r->run_id, i + 1);
		ab_words_short(&about, r->v[i].about, WIDTH);
		row->about = ab_buf_take(&about);
		row->reason = ab_strdup(r->v[i].reason);
		row->next = ab_strdup(r->v[i].hint);
	}
	ab_summary_end(&summary, headline, ret);
}
