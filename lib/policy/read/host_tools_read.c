#include "policy/model/host_tools.h"
#include "policy/model/list_element.h"
#include "policy/read/members.h"
#include "policy/values/complaint.h"

enum member { PROGRAM, ALLOW, ASK, UNCONFINED, OWN };

/* The members of a tool, and the sections that are settings of its box. */
static const char *const members[] = { [PROGRAM] = "program",
				       [ALLOW] = "allow",
				       [ASK] = "ask",
				       [UNCONFINED] = "unconfined",
				       "extends",
				       "with",
				       "filesystem",
				       "network",
				       "env",
				       "limits",
				       "secrets",
				       "ssh" };

static const struct ab_members_kind kind = {
	.names = members,
	.n = AB_COUNT(members),
	.most = AB_HOST_TOOL_PATTERN,
	.fitting = "at most 512 bytes",
};

/* A value as JSON without blanks and comments. */
static void put_node(struct ab_buf *b, const struct ab_json_scan_node *node)
{
	bool first = true;

	switch (node->kind) {
	case '"':
		ab_buf_json(b, node->text);
		return;
	case '0':
		ab_buf_printf(b, "%lld", (long long)node->integer);
		return;
	case '{':
	case '[':
		break;
	default:
		ab_buf_puts(b, node->kind == 't' ? "true" : node->kind == 'f' ? "false" : "null");
		return;
	}
	ab_buf_puts(b, node->kind == '{' ? "{" : "[");
	ab_json_scan_each(k, node)
	{
		ab_buf_puts(b, first ? "" : ",");
		first = false;
		if (k->key) {
			ab_buf_json(b, k->key);
			ab_buf_puts(b, ":");
		}
		put_node(b, k);
	}
	ab_buf_puts(b, node->kind == '{' ? "}" : "]");
}

static void put_member(struct ab_buf *b, const struct ab_json_scan_node *node)
{
	ab_buf_puts(b, b->len > 1 ? "," : "");
	ab_buf_json(b, node->key);
	ab_buf_puts(b, ":");
	put_node(b, node);
}

static void read_program(struct ab_members *m, struct ab_host_tool *tool)
{
	static const char right[] = "use an absolute path like \"/usr/bin/gh\"";
	const char *text = ab_members_text(m, PROGRAM);

	if (!m->given[PROGRAM])
		ab_members_complain(m, PROGRAM, "is missing", right);
	if (!text)
		return;
	if (text[0] != '/' && text[0] != '~') {
		ab_members_complain(m, PROGRAM, "is not an absolute path", right);
		return;
	}
	tool->program = ab_list_element_path(m->r->ctx, text, &m->why);
	if (!tool->program)
		ab_members_refuse(m, PROGRAM);
}

/* Words with one blank between them. */
static int take_pattern(const struct ab_context *ctx, struct ab_strv *to, const char *text,
			struct ab_complaint *why)
{
	size_t n = strlen(text);

	if (!n || text[0] == ' ' || text[n - 1] == ' ' || strstr(text, "  "))
		return ab_complaint_value(why, text, "is not a pattern of words",
					  "use one like \"pr view *\"");
	return ab_list_add(ctx->arena, to, text);
}

static void read_patterns(struct ab_members *m, enum member which, struct ab_strv *to)
{
	const struct ab_json_scan_node *given = m->given[which];

	if (given && given->kind == '[' && given->count == 0)
		return;
	ab_members_strings(m, which, AB_HOST_TOOL_PATTERNS, take_pattern, to,
			   "use one like [\"pr view *\"]");
}

/* The sections are read like a file of their own, so that mistakes are found now. */
static void read_box(struct ab_members *m, struct ab_host_tool *tool, struct ab_buf *ret)
{
	struct ab_config *config = ab_arena_alloc(m->r->ctx->arena, sizeof(*config));
	struct ab_reader inner = *m->r;
	size_t before = ab_reader_mistakes(m->r);

	inner.config = config;
	inner.managed = NULL;
	ab_buf_puts(ret, "{");
	if (!m->given[OWN])
		ab_buf_puts(ret, "\"extends\":\"read-only\"");
	for (size_t i = OWN; i < AB_COUNT(members); i++) {
		if (!m->given[i])
			continue;
		if (tool->unconfined) {
			ab_members_complain(m, i, "is a setting of the tool's box, and it has none",
					    "remove it, or \"unconfined\"");
			continue;
		}
		ab_reader_member(&inner, m->given[i]);
		put_member(ret, m->given[i]);
	}
	ab_buf_puts(ret, "}");
	m->bad = m->bad || ab_reader_mistakes(m->r) > before;
}

static void add_tool(struct ab_members *m, struct ab_host_tool tool)
{
	struct ab_arena *a = m->r->ctx->arena;
	struct ab_host_tool *own = ab_arena_alloc(a, sizeof(*own));
	ab_autobuf struct ab_buf text = { 0 };

	*own = tool;
	ab_buf_puts(&text, "{");
	for (size_t i = 0; i < AB_COUNT(members); i++)
		if (m->given[i])
			put_member(&text, m->given[i]);
	ab_buf_puts(&text, "}");
	ab_members_add(m, AB_KEY_HOST_TOOLS,
		       (struct ab_item){
			       .text = ab_arena_cat(a, ab_arena_cat(a, tool.name, "="), text.data),
			       .tool = own });
}

static void read_tool(struct ab_members *m)
{
	struct ab_arena *a = m->r->ctx->arena;
	struct ab_host_tool tool = { .name = ab_arena_dup(a, m->node->key) };
	ab_autobuf struct ab_buf box = { 0 };

	read_program(m, &tool);
	read_patterns(m, ALLOW, &tool.allow);
	read_patterns(m, ASK, &tool.ask);
	tool.unconfined = ab_members_flag(m, UNCONFINED);
	read_box(m, &tool, &box);
	tool.box = tool.unconfined ? "" : ab_arena_dup(a, box.data);
	if (!m->bad)
		add_tool(m, tool);
}

static int check_name(const char *name, struct ab_complaint *why)
{
	if (ab_host_tool_is_name(name))
		return 0;
	return ab_complaint_say(why, "use letters, digits and . _ + -",
				"is not the name of a command");
}

const struct ab_members_list ab_host_tools_members = {
	.kind = &kind,
	.key = AB_KEY_HOST_TOOLS,
	.most = AB_HOST_TOOLS_MAX,
	.too_many = "has more than 32 tools",
	.instead = "leave some out",
	.example = "{ \"program\": \"/usr/bin/gh\", \"allow\": [...] }",
	.object = "{ \"gh\": { \"program\": \"/usr/bin/gh\" } }",
	.check_name = check_name,
	.read = read_tool,
};
