#include "base/text/wrap.h"

/* Where the continuation of this line begins. */
static size_t find_indent(const char *line, size_t len, size_t width)
{
	size_t margin = 0, column = 0;

	while (margin < len && line[margin] == ' ')
		margin++;
	for (size_t i = margin + 2; i < len && i <= width / 2; i++)
		if (line[i] != ' ' && line[i - 1] == ' ' && line[i - 2] == ' ')
			column = i;
	if (column)
		return column;
	return margin && margin + 2 <= width / 2 ? margin + 2 : 0;
}

/* The bytes of the line that fit, without the space that ends them. */
static size_t find_break(const char *line, size_t len, size_t from, size_t room)
{
	size_t cut = 0;

	if (len <= room)
		return len;
	for (size_t i = from; i < len; i++) {
		if (line[i] != ' ' || line[i - 1] == ' ')
			continue;
		if (i > room && cut)
			break;
		cut = i;
		if (i > room)
			break;
	}
	return cut ? cut : len;
}

static void wrap_line(struct ab_buf *to, const char *line, size_t len, size_t width)
{
	size_t indent = find_indent(line, len, width), used = 0, margin = 0;

	while (margin < len && line[margin] == ' ')
		margin++;
	for (size_t from = margin + 1;; from = 1) {
		size_t room = width > used ? width - used : 1;
		size_t cut = find_break(line, len, from, room);

		ab_buf_add(to, line, cut);
		ab_buf_puts(to, "\n");
		while (cut < len && line[cut] == ' ')
			cut++;
		if (cut == len)
			return;
		line += cut;
		len -= cut;
		used = indent;
		ab_buf_printf(to, "%*s", (int)indent, "");
	}
}

static bool is_prose(const char *line)
{
	return *line && *line != ' ' && *line != '\n';
}

/* Two spaces inside a line mark a column, as in a table. */
static bool has_columns(const char *line, size_t len)
{
	return memmem(line, len, "  ", 2) != NULL;
}

void ab_wrap_text(struct ab_buf *to, const char *text, size_t width)
{
	while (*text) {
		ab_autobuf struct ab_buf paragraph = { 0 };
		size_t len = strcspn(text, "\n");
		bool prose = is_prose(text) && !has_columns(text, len);

		ab_buf_add(&paragraph, text, len);
		text += len + (text[len] == '\n');
		while (prose && is_prose(text)) {
			len = strcspn(text, "\n");
			if (has_columns(text, len))
				break;
			ab_buf_puts(&paragraph, " ");
			ab_buf_add(&paragraph, text, len);
			text += len + (text[len] == '\n');
		}
		wrap_line(to, paragraph.data ? paragraph.data : "", paragraph.len, width);
	}
}

/* What follows a command in a message. */
static bool ends_command(const char *p)
{
	return strncmp(p, "; ", 2) == 0 || strncmp(p, ", agentbox ", 11) == 0;
}

/* The last character of a command: before "; ", another command or a reference to its help, if
 * that is not quoted, or the end. */
static const char *find_command_end(const char *text)
{
	char quote = 0;
	const char *p = text;

	for (; p[1]; p++) {
		if (!quote && (ends_command(p) || strncmp(p + 1, " (see ", 6) == 0))
			return p;
		if (*p == quote)
			quote = 0;
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
	}
	return p;
}

/* The length of the next word, or of the command that begins here. */
static size_t find_unit(const char *text, bool behind_colon)
{
	static const char name[] = "agentbox ";
	const char *end = NULL;

	if (text[0] == '(' && strncmp(text + 1, name, strlen(name)) == 0)
		end = strchr(text, ')');
	else if (behind_colon && strncmp(text, name, strlen(name)) == 0)
		end = find_command_end(text);
	else if (behind_colon && text[0] == '{')
		end = text + strlen(text) - 1;
	return end ? (size_t)(end + 1 - text) + strcspn(end + 1, " ") : strcspn(text, " ");
}

void ab_wrap_message(struct ab_buf *to, const char *text, size_t margin, size_t width)
{
	size_t column = margin;
	bool colon = false;

	while (*text) {
		size_t gap = strspn(text, " "), n = find_unit(text + gap, colon);

		if (column > margin && column + gap + n > width) {
			ab_buf_printf(to, "\n%*s", (int)margin, "");
			column = margin;
		} else {
			ab_buf_add(to, text, gap);
			column += gap;
		}
		ab_buf_add(to, text + gap, n);
		column += n;
		/* Behind a comma another command may follow. */
		colon = n && (text[gap + n - 1] == ':' || (colon && text[gap + n - 1] == ','));
		text += gap + n;
	}
}
