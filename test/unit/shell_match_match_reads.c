#include "shell_rows.h"

static const struct row rows[] = {
	{ "ls -la", "safe-read" },
	{ "ls $", "" },
	{ "./ls", "" },
	{ "/bin/ls", "safe-read" },
	{ "cat a b", "safe-read" },
	{ "LC_ALL=C sort -u x", "safe-read" },
	{ "LD_PRELOAD=x ls", "" },
	{ "sort -o out x", "" },
	{ "sort -ro out x", "" },
	{ "sort --outp=out x", "" },
	{ "sort -k 2 -t o x", "safe-read" },
	{ "find . -name '*.pyc'", "safe-read" },
	{ "find . -type f -o -name x", "safe-read" },
	{ "find . -exec cat x", "" },
	{ "find . -delete", "" },
	{ "find . -fprintf out x", "" },
	{ "tree -L 2", "safe-read" },
	{ "tree -o out", "" },
	{ "grep -rn 'rm -rf /' .", "safe-read" },
	{ "rg -n foo src", "safe-read" },
	{ "rg --pre evil foo", "" },
	{ "rg --pretty foo", "safe-read" },
	{ "fd -e c", "safe-read" },
	{ "fd -x rm", "" },
	{ "uniq -c in", "safe-read" },
	{ "uniq in out", "" },
	{ "xxd -l 16 in", "safe-read" },
	{ "xxd -r in", "" },
	{ "xxd in out", "" },
	{ "env", "safe-read" },
	{ "env X=1", "" },
	{ "printenv PATH", "safe-read" },
	{ "printenv AWS_SECRET_ACCESS_KEY", "" },
	{ "printenv github_token", "" },
	{ "date", "safe-read" },
	{ "date +%s", "safe-read" },
	{ "date -d yesterday +%F", "safe-read" },
	{ "date -s 12:00", "" },
	{ "date 01020304", "" },
	{ "hostname", "safe-read" },
	{ "hostname x", "" },
	{ "ip addr show", "safe-read" },
	{ "ip a", "safe-read" },
	{ "ip link set lo up", "" },
	{ "jq . x.json", "safe-read" },
	{ "yq -i .a=1 x", "" },
	{ "yq .a x", "safe-read" },
	{ "command -v node", "safe-read" },
	{ "command node", "" },
	{ "set -euo pipefail", "safe-read" },
	{ "history 5", "safe-read" },
	{ "history -c", "" },
	{ "less +F x", "" },
	{ "less x", "safe-read" },
	{ "top -bn1", "safe-read" },
	{ "top", "" },
	{ "tee x", "" },
	{ "printf %s x", "safe-read" },
	{ "printf -v PATH x", "" },
	{ "jobs", "safe-read" },
	{ "jobs -x evil", "" },
	{ "hash -p evil ls", "" },
	{ "curl x", "" },
	{ "sed -n 1,5p x", "safe-read" },
	{ "sed s/a/b/g x", "safe-read" },
	{ "sed -n '/foo/,/bar/p' x", "safe-read" },
	{ "sed 's|a|b|; s/c/d/; /x/d' x", "safe-read" },
	{ "sed -e 's/a/b/' -e '$d' x", "safe-read" },
	{ "sed -i s/a/b/ x", "" },
	{ "sed -ni s/a/b/ x", "" },
	{ "sed --in-place s/a/b/ x", "" },
	{ "sed 's/a/b/w out' x", "" },
	{ "sed 's/a/id/e' x", "" },
	{ "sed 'w out' x", "" },
	{ "sed '1e id' x", "" },
	{ "sed -f script x", "" },
	{ "awk '{print $1}' x", "safe-read" },
	{ "awk -F: '{print $1}' x", "safe-read" },
	{ "awk 'BEGIN{system(1)}'", "" },
	{ "awk '{print > $1}' x", "" },
	{ "awk -f script x", "" },
	{ "python3 --version", "version-check" },
	{ "foo --help", "version-check" },
	{ "./foo --help", "" },
	{ "node -v", "version-check" },
	{ "go version", "version-check" },
	{ "java -version", "version-check" },
	{ "npm help", "version-check" },
	{ "foo -v", "" },
	{ "foo version", "" },
	{ "shutdown -h", "" },
	{ "foo --version x", "" },
	{ "make", "" },
};

static void test_redirects(void)
{
	static const struct {
		enum ab_redir_op op;
		const char *file;
		bool reads;
	} cases[] = {
		{ AB_REDIR_OUT, "x", false },	      { AB_REDIR_APPEND, "x", false },
		{ AB_REDIR_BOTH, "/dev/null", true }, { AB_REDIR_OUT, "/dev/null", true },
		{ AB_REDIR_IN, "x", true },	      { AB_REDIR_DUP_OUT, "1", true },
		{ AB_REDIR_READ_WRITE, "x", false },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		const char *file = cases[i].file;
		struct ab_redirect r = {
			.op = cases[i].op,
			.file.text = { file, (uint32_t)strlen(file) },
		};
		struct row_command c;
		struct ab_hits hits = { 0 };

		row_read(&c, "cat y");
		c.simple.redirects = &r;
		c.simple.nredirects = 1;
		ab_match_reads(&c.simple, &hits);
		ok((hits.len > 0) == cases[i].reads, "redirection %d of %s", (int)cases[i].op,
		   file);
	}
}

static void test_background(void)
{
	struct row_command c;
	struct ab_hits hits = { 0 };

	row_read(&c, "sleep 5");
	c.simple.flags = AB_SIMPLE_BACKGROUND;
	ab_match_reads(&c.simple, &hits);
	ok(hits.len == 0, "a background job is more than reading");
}

int main(void)
{
	rows_check(ab_match_reads, rows, AB_COUNT(rows));
	test_redirects();
	test_background();
	return done();
}
