#include "policy/toolchains/tool_places.h"

#include <strings.h>

#include "base/system/linkwalk.h"
#include "base/text/words.h"

/* VARIABLE=PATH in the home folder; with a colon behind it the value is a list, with a "~" the name of a file
 * that the tool looks for there. npm takes its variables in any case. Maven and NuGet have none. */
/* clang-format off */
static const char table[] =
	"XDG_CACHE_HOME=.cache XDG_CONFIG_HOME=.config XDG_DATA_HOME=.local/share "
	"npm_config_userconfig=.npmrc npm_config_globalconfig=.npmrc YARN_RC_FILENAME=.yarnrc.yml~ "
	"PIP_CONFIG_FILE=.config/pip/pip.conf UV_CONFIG_FILE=.config/uv/uv.toml "
	"UV_CREDENTIALS_DIR=.local/share/uv/credentials POETRY_CONFIG_DIR=.config/pypoetry "
	"CARGO_HOME=.cargo GOENV=.config/go/env GRADLE_USER_HOME=.gradle COMPOSER_HOME=.composer "
	"BUNDLE_USER_HOME=.bundle BUNDLE_USER_CONFIG=.bundle/config GEMRC=.gemrc: HEX_HOME=.hex "
	"HF_HOME=.cache/huggingface HF_TOKEN_PATH=.cache/huggingface/token NETRC=.netrc "
	"DOCKER_CONFIG=.docker REGISTRY_AUTH_FILE=.config/containers/auth.json "
	"HELM_CONFIG_HOME=.config/helm HELM_REGISTRY_CONFIG=.config/helm/registry/config.json "
	"KUBECONFIG=.kube/config: GH_CONFIG_DIR=.config/gh GNUPGHOME=.gnupg "
	"AWS_CONFIG_FILE=.aws/config AWS_SHARED_CREDENTIALS_FILE=.aws/credentials "
	"AZURE_CONFIG_DIR=.azure CLOUDSDK_CONFIG=.config/gcloud BOTO_CONFIG=.boto "
	"OCI_CLI_CONFIG_FILE=.oci/config RCLONE_CONFIG=.config/rclone/rclone.conf "
	"TF_CLI_CONFIG_FILE=.terraformrc PULUMI_HOME=.pulumi GLAB_CONFIG_DIR=.config/glab-cli "
	"SOPS_AGE_KEY_FILE=.config/sops/age/keys.txt PASSWORD_STORE_DIR=.password-store "
	"PGPASSFILE=.pgpass MYSQL_TEST_LOGIN_FILE=.mylogin.cnf XAUTHORITY=.Xauthority "
	"ICEAUTHORITY=.ICEauthority CLAUDE_CONFIG_DIR=.claude CODEX_HOME=.codex";
/* clang-format on */

struct search {
	struct ab_arena *arena;
	const char *home, *cwd, *workspace;
	const struct ab_tool_place *found;
};

static void add_place(struct search *s, const char *from, const char *to, bool linked)
{
	struct ab_tool_place *p = ab_arena_alloc(s->arena, sizeof(*p));

	*p = (struct ab_tool_place){ s->found, ab_arena_dup(s->arena, from),
				     ab_arena_dup(s->arena, to[1] ? to : ""), linked };
	s->found = p;
}

/* A variable may also name /dev/null or a pipe, which hold no settings. A link in the workspace is not
 * trusted: it came with a clone, or a box made it. */
static void add_value(struct search *s, const char *from, const char *value, const char *base)
{
	ab_autofree char *to = ab_path_resolve(value, base, s->home);
	ab_autofree char *usual = ab_path_resolve(from, "/", s->home);
	ab_autofree char *top = realpath(s->workspace, NULL);
	ab_autofree char *own = s->home ? realpath(s->home, NULL) : NULL;
	/* What has the home folder in it is no project. */
	bool project = top && !(own && ab_path_within(own, top));
	ab_autolinkwalk struct ab_linkwalk w = { 0 };
	enum ab_linkwalk_step step;
	bool linked = false;
	const char *end;
	struct stat st;

	if (!to || (usual && strcmp(to, usual) == 0) ||
	    (stat(to, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return;
	ab_linkwalk_init(&w, "/", to);
	while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK)
		linked |= step == AB_LINKWALK_LINK && project && ab_path_within(w.path, top);
	end = step == AB_LINKWALK_END ? w.at : w.path;
	if (!project || !end || !ab_path_within(end, top))
		add_place(s, from, to, linked);
}

static void add_values(struct search *s, const char *usual, size_t len, const char *value)
{
	bool list = usual[len - 1] == ':', named = usual[len - 1] == '~';
	ab_autofree char *from = ab_printf("~/%.*s", (int)len - (list || named), usual);
	ab_autofree char *copy = ab_strdup(value);

	for (char *rest = copy, *part; (part = strsep(&rest, list ? ":" : ""));)
		add_value(s, from, part, named && s->home ? s->home : s->cwd);
}

const struct ab_tool_place *ab_tool_places_find(struct ab_arena *arena, char *const *env,
						const char *home, const char *cwd,
						const char *workspace)
{
	struct search s = { arena, home, cwd, workspace, NULL };
	const char *list = table, *word;

	if (home)
		add_place(&s, "~", home, false);
	for (size_t n; (word = ab_word_next(&list, &n));) {
		size_t len = strcspn(word, "=") + 1;

		for (char *const *e = env; e && *e; e++)
			/* At every start: most differ in the first letter. */
			if (((**e ^ *word) & ~0x20) == 0 && strncasecmp(*e, word, len) == 0)
				add_values(&s, word + len, n - len, *e + len);
	}
	return s.found;
}

char *ab_tool_place_path(const struct ab_tool_place *p, const char *path)
{
	int mark = path[0] == '!';
	const char *named = path + mark;
	const char *rest = ab_path_within(named, p->from) ? named + strlen(p->from) : "";

	if (!*rest && !(p->to[0] && ab_path_within(p->from, named)))
		return NULL;
	return ab_printf("%.*s%s%s", mark, path, p->to, rest);
}
