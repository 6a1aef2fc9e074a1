#include "shell/walk/walk_state.h"

#include "shell/command/known_files.h"
#include "shell/command/secret_files.h"

enum { OUTLET_MAX = 64 * 1024 };

static void append_output(struct ab_arena *arena, struct ab_outlet *out, const struct ab_data *data)
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
	if (!(out->data.taint & data->taint & AB_TAINT_SETTINGS))
		out->data.taint &= ~(unsigned)AB_TAINT_SETTINGS;
	out->data.taint |= data->taint & ~(unsigned)AB_TAINT_SETTINGS;
	out->data.verbatim = AB_NOT_VERBATIM;
	if (data->range.to > out->data.range.to)
		out->data.range.to = data->range.to;
}

/*
 * Concatenate outputs. If a second write is uncertain, the text becomes unknown; a
 * single write always counts.
 */
void ab_outlet_add(struct ab_walk *w, const struct ab_data *data)
{
	struct ab_outlet *out = w->out;

	if (!out || data->none || (!data->text.len && !data->unknown))
		return;
	if (!out->any) {
		out->data = *data;
		out->any = true;
	} else if (w->maybes > out->maybes || out->data.text.len + data->text.len > OUTLET_MAX) {
		out->data = ab_data_unknown(out->data.range, out->data.taint | data->taint);
		out->room = 0;
	} else {
		append_output(w->arena, out, data);
	}
}

static struct ab_data get_file_data(const struct ab_simple *command, const struct ab_field *file)
{
	unsigned taint = AB_TAINT_FILE | file->taint;
	const struct ab_data *known;

	if (ab_field_is(file, "/dev/null"))
		return (struct ab_data){ .none = true };
	if (ab_field_is(file, "/dev/stdin") || ab_field_is(file, "/dev/fd/0"))
		return command->in;
	known = ab_files_read(command, file);
	if (known)
		return *known;
	if (ab_text_starts(file->text, "/dev/tcp/") || ab_text_starts(file->text, "/dev/udp/"))
		taint = AB_TAINT_NETWORK;
	else if (ab_secret_path(file->text))
		taint |= AB_TAINT_SECRET;
	return ab_data_unknown(file->range, taint);
}

static struct ab_data make_text_data(const struct ab_field *body)
{
	return (struct ab_data){ .text = body->text,
				 .unknown = body->unknown,
				 .taint = body->taint,
				 .range = body->range,
				 .verbatim = body->verbatim };
}

static struct ab_data get_descriptor_data(struct ab_walk *w, const struct ab_simple *command,
					  const struct ab_field *number)
{
	const struct ab_field name = { .text = ab_text_join(w->arena, AB_TEXT("/dev/fd/"),
							    number->text) };
	const struct ab_data *known = ab_files_read(command, &name);

	if (ab_field_is(number, "-"))
		return (struct ab_data){ .none = true };
	return known ? *known : ab_data_unknown(number->range, 0);
}

/* Returns false if the redirection is not an input. */
static bool read_redirect(struct ab_walk *w, const struct ab_simple *command,
			  const struct ab_redirect *r, struct ab_data *ret)
{
	if (r->op == AB_REDIR_IN || r->op == AB_REDIR_READ_WRITE)
		*ret = get_file_data(command, &r->file);
	else if (r->op == AB_REDIR_HEREDOC || r->op == AB_REDIR_HERESTRING)
		*ret = make_text_data(&r->file);
	else if (r->op == AB_REDIR_DUP_IN)
		*ret = get_descriptor_data(w, command, &r->file);
	else
		return false;
	return true;
}

static void open_descriptor(struct ab_walk *w, struct ab_simple *command, int fd,
			    const struct ab_data *data)
{
	unsigned older = command->files ? command->files->older + 1 : 0;
	struct ab_file *file;
	char number[16];
	int len = snprintf(number, sizeof(number), "%d", fd);

	if (older >= 2 * AB_FILES_MAX)
		return;
	file = ab_arena_alloc(w->arena, sizeof(*file));
	file->older = older;
	file->name = ab_text_join(w->arena, AB_TEXT("/dev/fd/"),
				  (struct ab_text){ number, (uint32_t)len });
	file->data = *data;
	file->next = command->files;
	command->files = file;
}

static bool is_own_output(const struct ab_redirect *r)
{
	return ab_field_is(&r->file, "/dev/stdout") || ab_field_is(&r->file, "/dev/fd/1") ||
	       (r->op == AB_REDIR_DUP_OUT && ab_field_is(&r->file, "1"));
}

void ab_data_redirect(struct ab_walk *w, struct ab_simple *command, bool *ret_prints,
		      const struct ab_redirect **ret_to)
{
	*ret_prints = true;
	*ret_to = NULL;
	for (size_t i = 0; i < command->nredirects; i++) {
		const struct ab_redirect *r = &command->redirects[i];
		bool both = ab_redir_is_both(r->op);
		struct ab_data data;

		if (both || r->fd == 1) {
			*ret_prints = is_own_output(r);
			*ret_to = *ret_prints || r->op == AB_REDIR_DUP_OUT ? NULL : r;
		} else if (r->fd >= 0 && read_redirect(w, command, r, &data)) {
			if (r->fd == 0)
				command->in = data;
			else
				open_descriptor(w, command, r->fd, &data);
		}
	}
}
