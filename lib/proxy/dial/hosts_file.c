#include "proxy/dial/hosts_file.h"

#include <arpa/inet.h>

void ab_hosts_lower(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		text[i] = (char)ab_lower(text[i]);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_end(char c)
{
	return is_space(c) || c == '\n' || c == '#';
}

/* Add the address at the start of the line. As for libc, 127.1 is not one. */
static void add_line_address(const char *line, size_t len, struct ab_answer *ret)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t addr[16];
	size_t n = 0;

	while (len > 0 && is_space(*line)) {
		line++;
		len--;
	}
	while (n < len && !is_end(line[n]))
		n++;
	if (n >= sizeof(text))
		return;
	memcpy(text, line, n);
	text[n] = '\0';
	if (inet_pton(AF_INET, text, addr) == 1)
		ab_answer_add(ret, false, addr);
	else if (inet_pton(AF_INET6, text, addr) == 1)
		ab_answer_add(ret, true, addr);
}

bool ab_hosts_find(const char *text, size_t len, const char *name, struct ab_answer *ret)
{
	struct ab_answer answer = { .kind = AB_ANSWER_OK };
	const char *end = text + len, *at = text;
	size_t n = strlen(name);

	while ((at = memmem(at, (size_t)(end - at), name, n))) {
		const char *line = memrchr(text, '\n', (size_t)(at - text));

		line = line ? line + 1 : text;
		/* A whole word, not the first one, and not in a comment. */
		if (at > line && is_space(at[-1]) && (at + n == end || is_end(at[n])) &&
		    !memchr(line, '#', (size_t)(at - line)))
			add_line_address(line, (size_t)(at - line), &answer);
		at += n;
	}
	if (answer.n4 + answer.n6 == 0)
		return false;
	*ret = answer;
	return true;
}

bool ab_host_is_local(const struct ab_host *host)
{
	static const uint8_t v6[16] = { [15] = 1 };

	switch (host->kind) {
	case AB_HOST_NAME:
		return strcmp(host->text, "localhost") == 0 ||
		       ab_ends_with(host->text, ".localhost");
	case AB_HOST_IPV4:
		return host->addr[0] == 127;
	case AB_HOST_IPV6:
		return memcmp(host->addr, v6, sizeof(v6)) == 0;
	}
	return false;
}
