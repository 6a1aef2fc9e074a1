/* Colours: on a terminal, unless NO_COLOR or --color says otherwise. Nothing is said by a colour only. */
#include "cmd.h"

static enum { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } when;

bool set_colour(const char *value)
{
	static const char words[][8] = { "auto", "always", "never" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], value) == 0) {
			when = i;
			return true;
		}
	return false;
}

bool wants_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != WHEN_AUTO)
		return when == WHEN_ALWAYS;
	return isatty(fd) && (!no || !*no) && (!term || strcmp(term, "dumb") != 0);
}

/* The codes restore only what they change: the command may have set other attributes. */
static const struct {
	char on[8], off[8];
} codes[] = {
	[COLOUR_NONE] = { "", "" },
	[COLOUR_BOLD] = { "\033[1m", "\033[22m" },
	[COLOUR_RED] = { "\033[31m", "\033[39m" },
	[COLOUR_YELLOW] = { "\033[33m", "\033[39m" },
	[COLOUR_GREEN] = { "\033[32m", "\033[39m" },
};

void add_coloured(struct ab_buf *b, int fd, enum colour colour, const char *text, size_t len)
{
	bool on = wants_colour(fd);

	ab_buf_puts(b, on ? codes[colour].on : "");
	ab_buf_add(b, text, len);
	ab_buf_puts(b, on ? codes[colour].off : "");
}

void print_rows(const char *text)
{
	static const struct {
		char word[8];
		enum colour colour;
	} marks[] = {
		{ "ok", COLOUR_GREEN }, { "stopped", COLOUR_GREEN }, { "warn", COLOUR_YELLOW },
		{ "fail", COLOUR_RED }, { "BROKEN", COLOUR_RED },
	};
	ab_autobuf struct ab_buf fitted = { 0 }, b = { 0 };

	fit_text(&fitted, text);
	for (text = fitted.data ? fitted.data : ""; *text;) {
		size_t margin = strspn(text, " "), word = strcspn(text + margin, " \n");
		enum colour colour = COLOUR_NONE;
		size_t rest;

		for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
			if (strlen(marks[i].word) == word && margin <= 2 &&
			    strncmp(marks[i].word, text + margin, word) == 0)
				colour = marks[i].colour;
		ab_buf_add(&b, text, margin);
		add_coloured(&b, STDOUT_FILENO, colour, text + margin, word);
		text += margin + word;
		rest = strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
		ab_buf_add(&b, text, rest);
		text += rest;
	}
	fputs(b.data ? b.data : "", stdout);
}
