#include "shell/command/known_files.h"

static uint32_t add_name(char *out, uint32_t len, struct ab_text name)
{
	if (!name.len || ab_text_is(name, "."))
		return len;
	if (ab_text_is(name, "..")) {
		while (len && out[--len] != '/')
			;
		return len;
	}
	out[len++] = '/';
	memcpy(out + len, name.s, name.len);
	return len + name.len;
}

uint32_t ab_files_join(struct ab_text folder, struct ab_text path, char *out)
{
	uint32_t len = 0;

	if (path.len && path.s[0] != '/' && folder.len && !ab_text_is(folder, "/"))
		memcpy(out, folder.s, len = folder.len);
	while (path.len)
		len = add_name(out, len, ab_text_cut(&path, '/'));
	return len;
}

uint32_t ab_files_clean(struct ab_text cwd, struct ab_text name, char out[static AB_FILE_NAME_MAX])
{
	/* Other names of a descriptor. */
	if (ab_text_skip(&name, "/proc/self/fd/") || ab_text_skip(&name, "/proc/thread-self/fd/"))
		cwd = AB_TEXT("/dev/fd");
	if (!name.len || (name.len == 1 && name.s[0] == AB_UNKNOWN) ||
	    (size_t)cwd.len + name.len + 2 > AB_FILE_NAME_MAX)
		return 0;
	return ab_files_join(cwd, name, out);
}

const struct ab_file *ab_files_next(const struct ab_simple *command, const struct ab_field *name,
				    const struct ab_file *file)
{
	char clean[AB_FILE_NAME_MAX];
	uint32_t len;

	if (!command->files || (file && !file->maybe))
		return NULL;
	len = ab_files_clean(command->cwd, name->text, clean);
	if (!len)
		return NULL;
	for (file = file ? file->next : command->files; file; file = file->next)
		if (ab_text_same(file->name, (struct ab_text){ clean, len }))
			return file;
	return NULL;
}

const struct ab_data *ab_files_read(const struct ab_simple *command, const struct ab_field *name)
{
	const struct ab_file *file;

	if (name->stream)
		return name->stream;
	file = ab_files_next(command, name, NULL);
	return file ? &file->data : NULL;
}

struct ab_field ab_data_field(const struct ab_data *data)
{
	return (struct ab_field){ .text = data->text,
				  .unknown = data->unknown,
				  .taint = data->taint,
				  .range = data->range,
				  .verbatim = data->verbatim };
}

bool ab_data_unread(const struct ab_data *data)
{
	return data->none ||
	       (data->unknown && data->text.len <= 1 && !(data->taint & ~(unsigned)AB_TAINT_FILE));
}
