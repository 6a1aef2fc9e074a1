#include "hosttools/tool_wire.h"

/* Sorted. What a program needs to know to write to a terminal. None of them names a file or a
 * program. A name that ends with "_" is a prefix. */
static const char variables[][16] = {
	"CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "LANG", "LANGUAGE",
	"LC_",	    "LINES",	      "NO_COLOR",  "TERM",
};

enum { VARIABLE_MAX = 256 };

int ab_tool_variable(const char *text, size_t name_len)
{
	for (size_t i = 0; i < AB_COUNT(variables); i++) {
		size_t n = strlen(variables[i]);

		if (name_len >= n && memcmp(text, variables[i], n) == 0 &&
		    (name_len == n || variables[i][n - 1] == '_'))
			return 1;
	}
	return 0;
}

/* Printable ASCII: a value goes to a program outside of the box, which may trust it more than words. */
static int is_plain(const char *s)
{
	size_t n = 0;

	for (; s[n]; n++)
		if (s[n] < ' ' || s[n] > '~')
			return 0;
	/* "%" is a format for some, "/" the path of a catalogue. */
	return n <= VARIABLE_MAX && !strpbrk(s, "/%");
}

/* The next string of the message, or NULL. */
static const char *take_text(const char **at, const char *end)
{
	const char *s = *at, *nul = s < end ? memchr(s, '\0', (size_t)(end - s)) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return s;
}

static const char *check_environment(const struct ab_tool_request *r)
{
	for (size_t i = 0; i < r->nenv; i++) {
		const char *equals = strchr(r->env[i], '=');

		if (!equals || !ab_tool_variable(r->env[i], (size_t)(equals - r->env[i])))
			return "it has a variable that is not on the list";
		if (!is_plain(r->env[i]))
			return "it has a variable with an invalid value";
	}
	return NULL;
}

const char *ab_tool_request_parse(const char *data, size_t len, const char **room,
				  struct ab_tool_request *ret)
{
	struct ab_tool_request r = { .argv = room };
	const char *at = data + sizeof(struct ab_tool_head), *end = data + len, *wrong;
	struct ab_tool_head head;

	if (len < sizeof(head) || len > AB_TOOL_REQUEST_MAX)
		return "its length is invalid";
	memcpy(&head, data, sizeof(head));
	if (memcmp(head.magic, AB_TOOL_MAGIC, sizeof(head.magic)) != 0)
		return "it has another version";
	if (head.words == 0 || head.words > AB_TOOL_WORDS_MAX)
		return "it has too many words, or none";
	if (head.variables > AB_TOOL_ENV_MAX)
		return "it has too many variables";
	r.cwd = take_text(&at, end);
	if (!r.cwd || r.cwd[0] != '/' || strlen(r.cwd) > AB_TOOL_CWD_MAX)
		return "its folder is not an absolute path";
	for (; r.argc < head.words; r.argc++)
		if (!(r.argv[r.argc] = take_text(&at, end)))
			return "a word is missing";
	r.env = room + r.argc;
	for (; r.nenv < head.variables; r.nenv++)
		if (!(r.env[r.nenv] = take_text(&at, end)))
			return "a variable is missing";
	if (at != end)
		return "it is longer than what it contains";
	wrong = check_environment(&r);
	if (wrong)
		return wrong;
	*ret = r;
	return NULL;
}

const char *ab_tool_request_write(const struct ab_tool_request *r, struct ab_buf *ret)
{
	struct ab_tool_head head = { .words = (uint32_t)r->argc };

	memcpy(head.magic, AB_TOOL_MAGIC, sizeof(head.magic));
	if (r->argc > AB_TOOL_WORDS_MAX)
		return "too many arguments";
	for (size_t i = 0; i < r->nenv; i++)
		head.variables += head.variables < AB_TOOL_ENV_MAX && is_plain(r->env[i]);
	ab_buf_add(ret, &head, sizeof(head));
	ab_buf_add(ret, r->cwd, strlen(r->cwd) + 1);
	for (size_t i = 0; i < r->argc; i++) {
		ab_buf_add(ret, r->argv[i], strlen(r->argv[i]) + 1);
		if (ret->len > AB_TOOL_REQUEST_MAX)
			return "the arguments are too long";
	}
	for (size_t i = 0, n = 0; i < r->nenv && n < AB_TOOL_ENV_MAX; i++)
		if (is_plain(r->env[i])) {
			ab_buf_add(ret, r->env[i], strlen(r->env[i]) + 1);
			n++;
		}
	return ret->len > AB_TOOL_REQUEST_MAX ? "the arguments are too long" : NULL;
}
