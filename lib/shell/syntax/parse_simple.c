#include "shell/syntax/lex.h"

/* The operators, each before its own prefixes. */
static const struct {
	const char *text;
	enum ab_redir_op op;
} operators[] = {
	{ "<<<", AB_REDIR_HERESTRING },	 { "<<", AB_REDIR_HEREDOC }, { "<&", AB_REDIR_DUP_IN },
	{ "<>", AB_REDIR_READ_WRITE },	 { "<", AB_REDIR_IN },	     { ">>", AB_REDIR_APPEND },
	{ ">&", AB_REDIR_DUP_OUT },	 { ">|", AB_REDIR_CLOBBER }, { ">", AB_REDIR_OUT },
	{ "&>>", AB_REDIR_BOTH_APPEND }, { "&>", AB_REDIR_BOTH },
};

static bool at_angle(const struct ab_reader *r, uint32_t at)
{
	return at < r->end && (r->s[at] == '<' || r->s[at] == '>') &&
	       !(r->end - at >= 2 && r->s[at + 1] == '(');
}

/* Where the operator of 2> or {name}> begins; r->at: no descriptor. */
static uint32_t measure_fd(const struct ab_reader *r, int *ret_fd)
{
	uint32_t from = r->at, at = from;
	int fd = 0;

	if (r->s[from] == '{') {
		for (at++; at < r->end && ab_lex_is(r->s[at], AB_LEX_NAME);)
			at++;
		if (at == from + 1 || at >= r->end || r->s[at] != '}')
			return from;
		*ret_fd = -2;
		return at + 1;
	}
	/* More digits than any descriptor has: a word. */
	for (; at < r->end && ab_lex_is(r->s[at], AB_LEX_DIGIT); at++) {
		if (at - from == 9)
			return from;
		fd = fd * 10 + (r->s[at] - '0');
	}
	if (at > from)
		*ret_fd = fd;
	return at;
}

/* >&2 >&- >&2-; otherwise it is a file name. */
static bool is_fd_word(const struct ab_shell_word *word)
{
	const struct ab_part *part = word->parts;
	struct ab_text t;

	if (!part || part->next || part->kind != AB_PART_TEXT)
		return false;
	t = part->text;
	if (t.len && t.s[t.len - 1] == '-')
		t.len--;
	while (t.len && ab_lex_is(t.s[t.len - 1], AB_LEX_DIGIT))
		t.len--;
	return t.len == 0;
}

static void parse_target(struct ab_reader *r, struct ab_redir *redir)
{
	bool strip = redir->op == AB_REDIR_HEREDOC && ab_lex_take(r, "-");

	ab_lex_skip_blanks(r);
	if (!ab_lex_at_word(r)) {
		redir->target = ab_lex_new(r, sizeof(*redir->target));
		if (r->at >= r->end)
			ab_lex_fail(r, r->at, "a redirection has no file name");
		else
			ab_lex_unexpected(r, NULL);
		return;
	}
	if (redir->op == AB_REDIR_HEREDOC) {
		ab_parse_heredoc(r, redir, strip);
		return;
	}
	redir->target = ab_parse_word(r, AB_WORD_PLAIN);
	if (redir->op == AB_REDIR_DUP_OUT && (redir->fd == -1 || redir->fd == 1) &&
	    !is_fd_word(redir->target))
		redir->op = AB_REDIR_BOTH;
}

bool ab_parse_redir(struct ab_reader *r, struct ab_redir ***tail)
{
	uint32_t from = r->at;
	struct ab_redir *redir;
	int fd = -1;
	size_t i = 0;

	if (!ab_lex_at_redir(r))
		return false;
	r->at = measure_fd(r, &fd);
	if (!at_angle(r, r->at) && !(fd == -1 && ab_lex_at(r, '&'))) {
		r->at = from;
		return false;
	}
	while (i < AB_COUNT(operators) && !ab_lex_take(r, operators[i].text))
		i++;
	if (i == AB_COUNT(operators)) {
		r->at = from;
		return false;
	}
	redir = ab_lex_new(r, sizeof(*redir));
	redir->op = operators[i].op;
	redir->fd = fd;
	parse_target(r, redir);
	redir->range = ab_lex_span(r, from, r->at);
	**tail = redir;
	*tail = &redir->next;
	return true;
}

/* (a b c), after the "(". */
static struct ab_shell_word *parse_array(struct ab_reader *r)
{
	struct ab_shell_word *first = NULL, **tail = &first;

	for (;;) {
		ab_lex_skip_newlines(r);
		if (ab_lex_take(r, ")"))
			return first;
		if (!ab_lex_at_word(r)) {
			ab_lex_unexpected(r, ")");
			return first;
		}
		*tail = ab_parse_word(r, AB_WORD_PLAIN);
		tail = &(*tail)->next;
	}
}

static void parse_value(struct ab_reader *r, struct ab_assign *assign)
{
	assign->append = ab_lex_take(r, "+");
	ab_lex_take(r, "=");
	if (ab_lex_take(r, "(")) {
		assign->array = true;
		assign->value = parse_array(r);
	} else if (ab_lex_at_word(r)) {
		assign->value = ab_parse_word(r, AB_WORD_PLAIN);
	}
}

/*
 * An assignment, or in *ret_word a word that only begins like one:
 * name[pattern]. Neither: nothing was read.
 */
static struct ab_assign *parse_assign(struct ab_reader *r, struct ab_shell_word **ret_word)
{
	uint32_t from = r->at, to = from;
	struct ab_parts parts = { 0 }, index = { 0 };
	struct ab_assign *assign;

	if (ab_lex_is(r->s[from], AB_LEX_DIGIT))
		return NULL;
	while (to < r->end && ab_lex_is(r->s[to], AB_LEX_NAME))
		to++;
	r->work += to - from;
	if (to == from || to >= r->end || (r->s[to] != '=' && r->s[to] != '+' && r->s[to] != '['))
		return NULL;
	if (r->s[to] == '[') {
		r->at = to + 1;
		ab_parse_balanced(r, &index, '[', ']', false);
	} else {
		r->at = to;
	}
	if (!ab_lex_at(r, '=') && !ab_lex_at2(r, '+', '=')) {
		if (r->s[to] != '[') {
			r->at = from;
			return NULL;
		}
		ab_parts_text(r, &parts, from, to + 1, false);
		if (index.first) {
			parts.last->next = index.first;
			parts.last = index.last;
		}
		if (!r->error)
			ab_parts_text(r, &parts, r->at - 1, r->at, false);
		*ret_word = ab_parse_word_rest(r, from, &parts, AB_WORD_PLAIN);
		return NULL;
	}
	assign = ab_lex_new(r, sizeof(*assign));
	assign->name = (struct ab_text){ r->s + from, to - from };
	assign->indexed = r->s[to] == '[';
	assign->subscript = index.first;
	parse_value(r, assign);
	assign->range = ab_lex_span(r, from, r->at);
	return assign;
}

/* f ( ): after the name. */
static bool at_function(struct ab_reader *r)
{
	uint32_t from = r->at;

	if (!ab_lex_take(r, "("))
		return false;
	ab_lex_skip_blanks(r);
	if (ab_lex_take(r, ")"))
		return true;
	r->at = from;
	return false;
}

/* Keywords that cannot name a command; "time" can, after a pipe. */
static bool is_reserved(enum ab_keyword key)
{
	return key != AB_KEY_NONE && key != AB_KEY_IN && key != AB_KEY_TIME;
}

struct ab_shell_node *ab_parse_simple(struct ab_reader *r)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_SIMPLE);
	struct ab_assign **assigns = &node->simple.assigns;
	struct ab_shell_word **words = &node->simple.words;
	struct ab_redir **redirs = &node->redirs;
	uint32_t from = r->at, composed = r->composed, nwords = 0;

	if (is_reserved(ab_lex_keyword(r)))
		ab_lex_unexpected(r, NULL);
	for (;; ab_lex_skip_blanks(r)) {
		struct ab_shell_word *word = NULL;

		if (ab_lex_at_redir(r) && ab_parse_redir(r, &redirs))
			continue;
		if (!ab_lex_at_word(r))
			break;
		if (!node->simple.words) {
			*assigns = parse_assign(r, &word);
			if (*assigns) {
				assigns = &(*assigns)->next;
				continue;
			}
		}
		if (!word)
			word = ab_parse_argument(r, node->simple.words);
		*words = word;
		words = &word->next;
		nwords++;
		if (word != node->simple.words)
			continue;
		ab_lex_skip_blanks(r);
		if (!node->redirs && !node->simple.assigns && at_function(r))
			return ab_parse_function(r, from, word);
	}
	node->range = ab_lex_since(r, from);
	node->simple.nwords = nwords;
	node->simple.composed = r->composed != composed;
	if (r->at == from || ab_lex_at(r, '('))
		ab_lex_unexpected(r, NULL);
	return node;
}
