#include "audit/show/lines.h"

#include "audit/read/details.h"
#include "audit/read/query.h"
#include "audit/read/sentences.h"
#include "audit/read/words.h"

/* clang-format off */
#define WANTED(X) \
	X(TIMESTAMP, "timestamp") X(RUN_ID, "run_id") X(KIND, "kind") X(ID, "id")
/* clang-format on */
AB_MEMBERS(WANTED)

static bool is_denial(const struct ab_detail *kind)
{
	return ab_detail_is(kind, "violation") || ab_detail_is(kind, "exec") ||
	       ab_detail_is(kind, "refused");
}

void ab_line_show(struct ab_buf *b, const struct ab_line_style *style, const char *line, size_t len)
{
	struct ab_detail m[M_COUNT];
	ab_autobuf struct ab_buf text = { 0 };
	char stamp[AB_STAMP_ROOM], local[AB_LOCAL_ROOM], run[16];
	const char *mark;
	bool red;

	if (ab_details_find(line, len, members, M_COUNT, m) < 0)
		return;
	/* The violation with the same id says it all. */
	if (ab_detail_is(&m[M_KIND], "request") && m[M_ID].kind == AB_DETAIL_TEXT)
		return;
	mark = ab_sentence(&text, AB_SENTENCE, line, len);
	red = style->colour && is_denial(&m[M_KIND]);
	ab_detail_copy(&m[M_TIMESTAMP], stamp, sizeof(stamp));
	ab_detail_copy(&m[M_RUN_ID], run, sizeof(run));
	ab_buf_printf(b, "%s%s  ", red ? "\033[31m" : "", ab_time_local(stamp, local));
	if (style->run)
		ab_words_safe(b, "%s  ", run);
	ab_buf_printf(b, "%-8s %s%s\n", mark, text.len ? text.data : "", red ? "\033[0m" : "");
}
