/*
 * The layout of a question about a host. The screen has three parts: the host
 * and the process that wants it; all details, after [?]; the possible answers.
 * A small screen drops the details first, then the process, then the beginning
 * of a long host name: its end says who owns it.
 *
 * The box chooses the names of its processes. A name is shown without blanks
 * (consent/ask/process_chain.h), and a line of arguments begins with "|" or
 * ":", so neither can pass for our own text.
 */
#include "consent/ask/host_prompt.h"

#include "audit/read/find.h"
#include "consent/ask/process_chain.h"
#include "terminal/columns.h"

enum { ARGV_BYTES = 4096 };

static const char margin[] = "          ";
static const char lead[] = "agentbox: ";
static const char small_menu[] = "o/r/p/a/n/d ?";

/* In the order of the menu. `more`: not for a pause of the whole network. */
static const struct {
	char key;
	enum ab_host_choice choice;
	bool more;
	const char *label, *meaning; /* "%s": the name of the group */
	const char *key_meaning;     /* about the ssh agent or a tool; NULL: not offered there */
} choices[] = {
	{ 'o', AB_CHOICE_ONCE, false, "[o]nce", "allow these connections; ask again next time",
	  "allow it this time; ask again next time" },
	{ 'r', AB_CHOICE_RUN, false, "[r]un",
	  "allow this host until the run ends (80 and 443 are one)",
	  "allow it until the run ends (with ssh.ask \"always\": once)" },
	{ 'g', AB_CHOICE_GROUP, true, "[g]roup @%s", "allow all hosts of @%s until the run ends",
	  NULL },
	{ 'p', AB_CHOICE_PROJECT, true, "[p]roject",
	  "as run, and add it to .agentbox.json of this project", NULL },
	{ 'a', AB_CHOICE_ALWAYS, false, "[a]lways", "as run, and add it to your settings", NULL },
	{ 'n', AB_CHOICE_NO, false, "[n]o", "deny this host until the run ends, on every port",
	  "deny it this time" },
	{ 'd', AB_CHOICE_NEVER, true, "[d]eny always",
	  "as no, and add it to network.deny in your settings", NULL },
};

static bool is_offered(const struct ab_host_prompt_question *q, size_t i)
{
	if (q->about)
		return choices[i].key_meaning != NULL;
	if (choices[i].choice == AB_CHOICE_GROUP && !q->group)
		return false;
	return !choices[i].more || !q->held;
}

bool ab_host_prompt_choice(const struct ab_host_prompt_question *q, int key,
			   enum ab_host_choice *ret)
{
	for (size_t i = 0; i < AB_COUNT(choices); i++)
		if (choices[i].key == key && is_offered(q, i)) {
			*ret = choices[i].choice;
			return true;
		}
	return false;
}

/* A text of the table: the name of the group is ours, too. */
static void put_named(struct ab_buf *b, const char *text, const char *group)
{
	const char *at = strstr(text, "%s");

	ab_buf_add(b, text, at ? (size_t)(at - text) : strlen(text));
	if (at)
		ab_buf_printf(b, "%s%s", group, at + 2);
}

static char *name_host(const struct ab_host_prompt_question *q)
{
	struct ab_buf b = { 0 };

	if (q->about)
		return ab_printf("to %s", q->about);
	if (strchr(q->host, ':'))
		ab_buf_printf(&b, "[%s]:%u", q->host, q->port);
	else
		ab_buf_printf(&b, "%s:%u", q->host, q->port);
	return ab_buf_take(&b);
}

/* As much of the text as fits on one line. */
static void put_line(struct ab_strv *lines, const char *text, size_t cols)
{
	struct ab_buf line = { 0 };

	ab_columns_fit(&line, text, strlen(text), cols, NULL);
	ab_strv_give(lines, ab_buf_take(&line));
}

static void put_box(struct ab_buf *line, size_t used, size_t cols, const char *run_id)
{
	ab_autofree char *box = ab_printf("box %s", run_id);
	size_t width = ab_columns_width(box);

	if (used + 2 + width > cols)
		return;
	for (size_t i = cols - used - width; i > 0; i--)
		ab_buf_add(line, " ", 1);
	ab_columns_fit(line, box, strlen(box), width, NULL);
}

/* On one line if it fits, else with the host on lines of its own. */
static void put_sentence(struct ab_strv *lines, const struct ab_host_prompt_question *q,
			 const json_t *who, size_t cols)
{
	ab_autofree char *asker = ab_process_chain_name(who), *host = name_host(q);
	ab_autofree char *whole = ab_printf("%s%s wants %s", lead, asker, host);
	ab_autofree char *first = ab_printf("%s wants", asker);
	size_t width = ab_columns_width(whole);
	struct ab_buf line = { 0 };

	if (width <= cols) {
		ab_columns_fit(&line, whole, strlen(whole), cols, NULL);
		put_box(&line, width, cols, q->run_id);
		ab_strv_give(lines, ab_buf_take(&line));
		return;
	}
	ab_columns_wrap(lines, lead, margin, first, cols);
	ab_columns_wrap(lines, margin, margin, host, cols);
}

static void put_head(struct ab_strv *lines, const struct ab_host_prompt_question *q,
		     const json_t *who, size_t cols)
{
	put_sentence(lines, q, who, cols);
	if (strncmp(q->host, "xn--", 4) == 0 || strstr(q->host, ".xn--"))
		ab_columns_words(lines, margin, margin,
				 "this name contains non-ASCII letters (shown as punycode)", " ",
				 cols);
	if (q->held)
		ab_columns_words(lines, margin, margin,
				 "the monitor has paused the network: new connections "
				 "wait; yes releases them, no denies them",
				 " ", cols);
}

/* Only the host, and only its last lines. */
static void put_small_head(struct ab_strv *lines, const struct ab_host_prompt_question *q,
			   size_t rows, size_t cols)
{
	ab_autofree char *host = name_host(q);
	size_t room = rows * cols;
	ab_autobuf struct ab_buf tail = { 0 };

	ab_columns_tail(&tail, host, room);
	ab_columns_wrap(lines, "", "", tail.data, cols);
	/* Escaped characters are not split, so lines may not be full. */
	while (lines->len > rows)
		ab_strv_remove(lines, 0);
}

static void put_process(struct ab_strv *lines, const json_t *process, size_t cols)
{
	ab_autofree char *head = ab_printf("pid %lld  %s", ab_process_chain_pid(process),
					   ab_process_chain_exe(process));
	ab_autobuf struct ab_buf words = { 0 };

	ab_columns_wrap(lines, margin, margin, head, cols);
	ab_process_chain_command(&words, json_object_get(process, "argv"), ARGV_BYTES);
	if (words.len)
		ab_columns_wrap(lines, "          | ", "          : ", words.data, cols);
}

/* As in the menu, without the brackets and the name of the group. */
static char *name_choice(size_t i)
{
	struct ab_buf b = { 0 };

	for (const char *p = choices[i].label; *p && *p != '@'; p++)
		if (*p != '[' && *p != ']')
			ab_buf_add(&b, p, 1);
	return ab_buf_take(&b);
}

static void put_meanings(struct ab_strv *lines, const struct ab_host_prompt_question *q,
			 size_t cols)
{
	static const char hanging[] = "                       ";

	for (size_t i = 0; i < AB_COUNT(choices); i++) {
		ab_autobuf struct ab_buf text = { 0 };
		ab_autofree char *name = NULL, *first = NULL;

		if (!is_offered(q, i))
			continue;
		name = name_choice(i);
		first = ab_printf("%s%-11s  ", margin, name);
		put_named(&text, q->about ? choices[i].key_meaning : choices[i].meaning, q->group);
		ab_columns_words(lines, first, hanging, text.data, " ", cols);
	}
}

void ab_question_id(const char *run_id, uint32_t number, char ret[32])
{
	/* The question about the paused network has the run's id. */
	if (!number)
		snprintf(ret, 32, "%s", run_id);
	else if (number & AB_QUESTION_OF_TOOL)
		snprintf(ret, 32, "%s-t%u", run_id, number & ~AB_QUESTION_OF_TOOL);
	else
		snprintf(ret, 32, "%s-%u", run_id, number);
}

static void put_more(struct ab_strv *lines, const struct ab_host_prompt_question *q,
		     const json_t *who, size_t cols)
{
	ab_autofree char *via = NULL, *allow = NULL;
	size_t n = ab_process_chain_count(who);
	char id[32];

	ab_question_id(q->run_id, q->number, id);
	via = ab_printf("id %s, via %s", id, q->door ? q->door : "?");
	allow = ab_printf("from another terminal: agentbox allow %s", id);
	ab_strv_add(lines, "");
	put_meanings(lines, q, cols);
	ab_strv_add(lines, "");
	ab_columns_wrap(lines, margin, margin, via, cols);
	ab_columns_words(lines, margin, margin, allow, " ", cols);
	if (n == 0)
		ab_columns_wrap(lines, margin, margin, "the process that wants it is not known",
				cols);
	for (size_t i = 0; i < n; i++)
		put_process(lines, json_array_get(who, i), cols);
}

static void put_foot(struct ab_strv *lines, const struct ab_host_prompt_question *q, size_t cols)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autobuf struct ab_buf menu = { 0 };

	ab_strv_add(lines, "");
	for (size_t i = 0; i < AB_COUNT(choices); i++) {
		if (!is_offered(q, i))
			continue;
		put_named(&menu, choices[i].label, q->group);
		ab_buf_puts(&menu, "  ");
	}
	ab_buf_puts(&menu, "[?] more");
	ab_columns_words(lines, margin, margin, menu.data, "  ", cols);
	ab_buf_printf(&b, "no answer in %llu s means no",
		      (unsigned long long)((q->left_ms + 999) / 1000));
	if (q->others)
		ab_buf_printf(&b, "; %zu other question%s", q->others,
			      q->others == 1 ? " waits" : "s wait");
	ab_columns_words(lines, margin, margin, b.data, " ", cols);
}

/* Adds at most `rows` lines; the last one says how many are missing. */
static void add_lines(struct ab_strv *to, const struct ab_strv *from, size_t rows, size_t cols)
{
	size_t n = from->len <= rows ? from->len : rows ? rows - 1 : 0;

	for (size_t i = 0; i < n; i++)
		ab_strv_add(to, from->v[i]);
	if (n < from->len && rows) {
		ab_autofree char *rest =
			ab_printf("%zu more lines on a larger screen", from->len - n);

		put_line(to, rest, cols);
	}
}

static void put_small(struct ab_strv *lines, const struct ab_host_prompt_question *q, size_t rows,
		      size_t cols)
{
	size_t room = sizeof(small_menu);
	ab_autofree char *host = name_host(q);
	struct ab_buf line = { 0 };

	if (rows > 1) {
		put_small_head(lines, q, rows - 1, cols);
		put_line(lines, small_menu, cols);
		return;
	}
	if (cols > 2 * room) {
		ab_columns_tail(&line, host, cols - room);
		ab_buf_printf(&line, " %s", small_menu);
	} else {
		ab_columns_tail(&line, host, cols);
	}
	ab_strv_give(lines, ab_buf_take(&line));
}

void ab_host_prompt_text(struct ab_buf *b, const struct ab_host_prompt_question *q, bool more,
			 size_t rows, size_t cols)
{
	ab_autostrv struct ab_strv head = { 0 }, foot = { 0 }, body = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };
	json_t *who;

	if (!rows || !cols)
		return;
	who = q->who ? json_loads(q->who, 0, NULL) : NULL;
	put_head(&head, q, who, cols);
	put_foot(&foot, q, cols);
	if (more)
		put_more(&body, q, who, cols);
	json_decref(who);
	if (head.len + foot.len > rows) {
		put_small(&lines, q, rows, cols);
	} else {
		ab_strv_extend(&lines, &head);
		add_lines(&lines, &body, rows - head.len - foot.len, cols);
		ab_strv_extend(&lines, &foot);
	}
	for (size_t i = 0; i < lines.len; i++)
		ab_buf_printf(b, "%s%s", i ? "\n" : "", lines.v[i]);
}
