#include "consent/ask/process_chain.h"

#include "shell/syntax/quote.h"

enum {
	CHAIN_MAX = 4, /* ancestors shown, the nearest ones */
	NAME_COLS = 24,
};

static bool is_plain(unsigned char c)
{
	return ab_is_alnum(c) || (c && strchr("._-+@", c));
}

static void put_name(struct ab_buf *b, const char *exe)
{
	ab_autobuf struct ab_buf name = { 0 };
	const char *slash = strrchr(exe, '/');

	for (const char *s = slash ? slash + 1 : exe; *s; s++) {
		if (name.len > NAME_COLS)
			break;
		if (is_plain((unsigned char)*s))
			ab_buf_add(&name, s, 1);
		else
			ab_buf_printf(&name, "\\x%02x", (unsigned char)*s);
	}
	if (name.len > NAME_COLS) {
		name.len = NAME_COLS - 3;
		ab_buf_puts(&name, "...");
	}
	ab_buf_puts(b, name.len ? name.data : "?");
}

const char *ab_process_chain_exe(const json_t *process)
{
	const char *exe = json_string_value(json_object_get(process, "exe"));
	const json_t *argv = json_object_get(process, "argv");

	if (exe && *exe)
		return exe;
	exe = json_string_value(json_array_get(argv, 0));
	return exe ? exe : "";
}

long long ab_process_chain_pid(const json_t *process)
{
	return json_integer_value(json_object_get(process, "pid"));
}

size_t ab_process_chain_count(const json_t *who)
{
	size_t n = json_array_size(who);

	while (n > 1 && ab_process_chain_pid(json_array_get(who, n - 1)) == 1)
		n--;
	return n;
}

char *ab_process_chain_name(const json_t *who)
{
	size_t n = ab_process_chain_count(who), shown;
	struct ab_buf b = { 0 };

	if (n == 0)
		return ab_strdup("something in the box");
	put_name(&b, ab_process_chain_exe(json_array_get(who, 0)));
	ab_buf_printf(&b, " (pid %lld", ab_process_chain_pid(json_array_get(who, 0)));
	shown = n - 1 < CHAIN_MAX ? n - 1 : CHAIN_MAX;
	if (shown)
		ab_buf_puts(&b, n - 1 > shown ? ", started by ... -> " : ", started by ");
	for (size_t i = shown; i > 0; i--) {
		put_name(&b, ab_process_chain_exe(json_array_get(who, i)));
		ab_buf_puts(&b, i > 1 ? " -> " : "");
	}
	ab_buf_puts(&b, ")");
	return ab_buf_take(&b);
}

void ab_process_chain_command(struct ab_buf *b, const json_t *argv, size_t most)
{
	size_t begin = b->len, i;
	const json_t *word;

	json_array_foreach(argv, i, word)
	{
		const char *text = json_string_value(word);

		ab_buf_puts(b, i ? " " : "");
		ab_quote(b, text ? text : "");
		if (b->len - begin > most)
			break;
	}
}
