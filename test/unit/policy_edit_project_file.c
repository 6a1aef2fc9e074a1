#include "policy/edit/project_file.h"

#include "policy/layers/trust.h"
#include "policy_help.h"
#include "tap.h"

static const char key[] = "network.allow";

static struct ab_project_file open_project(void)
{
	struct ab_project_file file;

	memset(&error, 0, sizeof(error));
	ok(ab_project_file_open(&input, at("home/work"), &file, &error) == 0, "it is opened");
	return file;
}

static int allow_host(struct ab_project_file *file, const char *host)
{
	const struct ab_list_change change = { .key = key, .value = host };
	ab_autostrv struct ab_strv diff = { 0 };
	int r;

	memset(&error, 0, sizeof(error));
	r = ab_project_file_change(file, &change, &diff, &error);
	ab_project_file_fini(file);
	return r;
}

static char *read_text(const char *name)
{
	FILE *f = fopen(at(name), "re");
	char text[4096] = "";
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return ab_strdup(text);
}

static enum ab_trust_state get_trust(const char *text)
{
	return ab_trust_check(at("home/.local/state/agentbox"), at(PROJECT_FILE), text,
			      strlen(text));
}

/* The link appears after the file was looked at. */
static void test_links(void)
{
	struct ab_project_file file = open_project();
	ab_autofree char *text = NULL, *outside = NULL, *other = NULL;

	ok(allow_host(&file, "a.example") == 1, "a new file is written");
	text = read_text(PROJECT_FILE);
	ok(strstr(text, "a.example") && get_trust(text) == AB_TRUST_HOLDS, "and trusted");

	file = open_project();
	put_file("home/outside.json", text);
	chmod(at("home/outside.json"), 0600);
	remove_file(PROJECT_FILE);
	ok(symlink(at("home/outside.json"), at(PROJECT_FILE)) == 0, "it becomes a link");
	ok(allow_host(&file, "b.example") < 0, "which is refused");
	outside = read_text("home/outside.json");
	is_str(outside, text, "and its target stays as it is");
	ok(get_trust(text) == AB_TRUST_HOLDS, "the old text stays trusted");

	remove_file(PROJECT_FILE);
	file = open_project();
	ok(symlink(at("home/outside.json"), at(PROJECT_FILE)) == 0, "a link instead of a new file");
	ok(allow_host(&file, "a.example") < 0, "is refused");
	remove_file(PROJECT_FILE);
	ok(get_trust(text) == AB_TRUST_NONE, "and what was not written is not trusted");

	file = open_project();
	ok(allow_host(&file, "a.example") == 1, "without a link it is written");
	other = read_text(PROJECT_FILE);
	ok(get_trust(other) == AB_TRUST_HOLDS, "and trusted again");
}

int main(void)
{
	world_init();
	test_links();
	world_fini();
	return done();
}
