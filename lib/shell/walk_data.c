#include "shell/walk_state.h"

#include "base/arena.h"
#include "shell/secret.h"

enum { OUTLET_MAX = 64 * 1024 };

static const char unknown_byte[1] = { AB_UNKNOWN };

struct ab_data ab_data_unknown(unsigned taint, struct ab_span range)
{
	return (struct ab_data){ .text = { unknown_byte, 1 },
				 .unknown = true,
				 .taint = taint,
				 .range = range,
				 .verbatim = AB_NOT_VERBATIM };
}

static void append(struct ab_arena *arena, struct ab_outlet *out,
		   const struct ab_data *data)
{
	size_t len = (size_t)out->data.text.len + data->text.len;
	char *text = (char *)out->data.text.s;

	if (len > out->room) {
		text = ab_arena_alloc(arena, 2 * len);
		memcpy(text, out->data.text.s, out->data.text.len);
		out->room = 2 * len;
	}
	memcpy(text + out->data.text.len, data->text.s, data->text.len);
	out->data.text = (struct ab_text){ text, (uint32_t)len };
	out->data.unknown |= data->unknown;
	out->data.taint |= data->taint;
	out->data.verbatim = AB_NOT_VERBATIM;
	if (data->range.to > out->data.range.to)
		out->data.range.to = data->range.to;
}

/*
 * One after the other is one text. Where one of several may have written, the
 * text is not known; a single one is taken to have.
 */
void ab_outlet_add(struct ab_walk *w, const struct ab_data *data)
{
	struct ab_outlet *out = w->out;

	if (!out || data->none || (!data->text.len && !data->unknown))
		return;
	if (!out->any) {
		out->data = *data;
		out->any = true;
	} else if (w->maybes > out->maybes ||
		   out->data.text.len + data->text.len > OUTLET_MAX) {
		out->data = ab_data_unknown(out->data.taint | data->taint,
					    out->data.range);
		out->room = 0;
	} else {
		append(w->arena, out, data);
	}
}

static struct ab_data of_file(const struct ab_field *file,
			      const struct ab_data *before)
{
	unsigned taint = AB_TAINT_FILE | file->taint;

	if (ab_field_is(file, "/dev/null"))
		return (struct ab_data){ .none = true };
	if (ab_field_is(file, "/dev/stdin") || ab_field_is(file, "/dev/fd/0"))
		return *before;
	if (ab_text_starts(file->text, "/dev/tcp/") ||
	    ab_text_starts(file->text, "/dev/udp/"))
		taint = AB_TAINT_NETWORK;
	else if (ab_secret_path(file->text))
		taint |= AB_TAINT_SECRET;
	return ab_data_unknown(taint, file->range);
}

static struct ab_data of_text(const struct ab_field *body)
{
	return (struct ab_data){ .text = body->text,
				 .unknown = body->unknown,
				 .taint = body->taint,
				 .range = body->range,
				 .verbatim = body->verbatim };
}

static const struct ab_data *of_process(const struct ab_redir *redir)
{
	const struct ab_part *part =
		redir->target ? redir->target->parts : NULL;

	if (!part || part->next || part->kind != AB_PART_PROCESS_IN)
		return NULL;
	return part->command.output;
}

static struct ab_data what_is_read(const struct ab_redir *redir,
				   const struct ab_redirect *r,
				   const struct ab_data *before)
{
	const struct ab_data *process;

	switch (r->op) {
	case AB_REDIR_IN:
	case AB_REDIR_READ_WRITE:
		process = of_process(redir);
		return process ? *process : of_file(&r->file, before);
	case AB_REDIR_HEREDOC:
	case AB_REDIR_HERESTRING:
		return of_text(&r->file);
	case AB_REDIR_DUP_IN:
		return ab_data_unknown(0, r->file.range);
	case AB_REDIR_OUT:
	case AB_REDIR_APPEND:
	case AB_REDIR_CLOBBER:
	case AB_REDIR_DUP_OUT:
	case AB_REDIR_BOTH:
	case AB_REDIR_BOTH_APPEND:
		break;
	}
	return *before;
}

static bool is_own_output(const struct ab_redirect *r)
{
	return ab_field_is(&r->file, "/dev/stdout") ||
	       ab_field_is(&r->file, "/dev/fd/1") ||
	       (r->op == AB_REDIR_DUP_OUT && ab_field_is(&r->file, "1"));
}

void ab_data_redirect(const struct ab_redir *redirs,
		      const struct ab_redirect *fields, struct ab_data *in,
		      bool *ret_prints)
{
	*ret_prints = true;
	for (; redirs; redirs = redirs->next, fields++) {
		bool both = fields->op == AB_REDIR_BOTH ||
			    fields->op == AB_REDIR_BOTH_APPEND;

		if (fields->fd == 0)
			*in = what_is_read(redirs, fields, in);
		else if (both || fields->fd == 1)
			*ret_prints = is_own_output(fields);
	}
}
