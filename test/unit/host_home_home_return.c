/* A login that the home's layer has, and a layer that cannot be opened. */
#include "host/home/home_return.h"

#include "layer/store/store.h"
#include "sandbox/plan/spec.h"
#include "workspace_help.h"

static struct ab_policy policy;
static struct ab_layer_set set = AB_LAYER_SET_NONE;

/* $T/home has a login and $T/set a kept layer with its renewal; then the script. */
static void prepare(const char *script)
{
	ab_autofree char *path = at("set");

	ok(sh("rm -rf $T/home $T/set; cd $T; "
	      "mkdir -p home/.codex set/home/upper/.codex; cd home/.codex; "
	      "echo '{\"tokens\":{\"access_token\":\"old\"}}' >auth.json; cd ../..; "
	      "echo '{\"tokens\":{\"access_token\":\"new\"}}' >set/home/upper/.codex/auth.json; %s",
	      script) == 0,
	   "prepared: %s", script);
	ab_closep(&set.dir);
	ab_layer_meta_fini(&set.meta);
	set.meta = (struct ab_layer_meta){ 0 };
	set.dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The lines of a run: its start, with the layer's copy as one that is not older, then a script, then its end. */
static void run(const char *script, struct ab_strv *notes, struct ab_strv *lines)
{
	struct ab_home_return files = { 0 };
	struct ab_spec spec = { 0 };
	ab_autofree char *home = at("home");
	ab_autofree char *login = at("home/.codex/auth.json");
	struct stat st;

	if (stat(login, &st) == 0)
		ab_layer_meta_set_return(&set.meta, ".codex/auth.json", &st);
	ab_home_return_begin(&policy, home, &set, &files, notes);
	sh("cd $T; %s", script);
	ab_home_return_end(&files, &spec, -1, lines);
	ab_home_return_fini(&files);
}

static void check(const char *what, const char *before, const char *meanwhile, const char *note,
		  const char *line, const char *token)
{
	ab_autostrv struct ab_strv notes = { 0 }, lines = { 0 };

	prepare(before);
	run(meanwhile, &notes, &lines);
	ok(note ? notes.len == 1 && strstr(notes.v[0], note) != NULL : notes.len == 0,
	   "%s: at the start: %s", what, notes.len ? notes.v[0] : "nothing");
	ok(line ? lines.len == 1 && strstr(lines.v[0], line) != NULL : lines.len == 0,
	   "%s: at the end: %s", what, lines.len ? lines.v[0] : "nothing");
	ok(sh("grep -q %s $T/home/.codex/auth.json", token) == 0, "%s: the login is the %s one",
	   what, token);
}

int main(void)
{
	ab_autofree char *home = NULL;

	start();
	home = at("home");
	ab_strv_give(&policy.fs.returns, at("home/.codex/auth.json"));
	policy.home = home;
	check("a layer with a renewal", ":", ":", NULL, "written back to the host", "new");
	check("no layer", "rm -r set/home/upper", ":", NULL, NULL, "old");
	check("a layer that cannot be opened", "mv set/home away; ln -s ../away set/home", ":",
	      "no login is returned from this run: ", NULL, "old");
	check("nor at the end", "rm -rf away", "mv set/home away; ln -s ../away set/home", NULL,
	      "was not written back: its folder cannot be opened", "old");
	ab_closep(&set.dir);
	ab_layer_meta_fini(&set.meta);
	ab_strv_fini(&policy.fs.returns);
	finish();
	return done();
}
