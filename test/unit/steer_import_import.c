#include "steer/import/import.h"

#include "policy_help.h"
#include "tap.h"

static const struct {
	const char *format, *text, *settings, *left; /* left: parts that must be there, by | */
} cases[] = {
	{ "srt",
	  "{\"network\":{\"allowedDomains\":[\"github.com\",\"*.npmjs.org\",\"x y\"],\"deniedDomains\":[\"gist.github.com\"],"
	  "\"httpProxyPort\":1},\n\"filesystem\":{\"denyRead\":[\"~/notes\"],\"allowRead\":[\"~/notes/open\",\"~/.ssh\"],"
	  "\"allowWrite\":[\".\",\"/tmp\",\"~/out\",\"/\"],\"denyWrite\":[\".env\",\"secrets\"]},\"credentials\":{\"a\":[1]}}",
	  "{\n  \"filesystem\": {\n    \"write\": [\"~/out\"],\n    \"denyRead\": [\"~/notes\", \"!~/notes/open\"],\n"
	  "    \"denyWrite\": [\".env\", \"./secrets\"]\n  },\n  \"network\": {\n    \"mode\": \"filtered\",\n"
	  "    \"allow\": [\"github.com\", \"*.npmjs.org\"],\n    \"deny\": [\"gist.github.com\"],\n"
	  "    \"unknown\": \"deny\"\n  }\n}\n",
	  "line 1: network.allowedDomains: \"x y\"|network.httpProxyPort: has no|\"/tmp\": the box|\"/\": the whole|"
	  "line 2: credentials: cred" },
	{ "claude-code",
	  "{\"permissions\":{\"allow\":[\"Bash(npm run test:*)\",\"Bash(git log *)\",\"Bash\",\"WebFetch(domain:x.example)\","
	  "\"Read(~/a)\",\"Edit(//opt/x/**)\",\"Edit(src/**)\",\"mcp__a__b\"],\"deny\":[\"Bash(git push:*)\",\"Read(~/.ssh/**)\","
	  "\"Read(./.env)\",\"Read(**/x)\",\"Edit(/deploy/**)\"],\"ask\":[\"Bash(make *)\"],\"defaultMode\":\"plan\"},"
	  "\"env\":{\"CI\":\"1\",\"MY_TOKEN\":\"hunter2\"},\"model\":\"m\"}",
	  "{\n  \"filesystem\": {\n    \"write\": [\"/opt/x\"],\n    \"denyRead\": [\"~/.ssh\", \"./.env\"],\n"
	  "    \"denyWrite\": [\"./deploy\"]\n  },\n  \"network\": {\n    \"mode\": \"filtered\",\n"
	  "    \"allow\": [\"x.example\"]\n  },\n  \"env\": {\n    \"set\": { \"CI\": \"1\" }\n  },\n  \"commands\": {\n"
	  "    \"rules\": [\n      { \"prefix\": [\"git\", \"push\"], \"decision\": \"forbidden\" },\n"
	  "      { \"match\": \"make *\", \"decision\": \"escalated\" },\n"
	  "      { \"prefix\": [\"npm\", \"run\", \"test\"], \"decision\": \"sandboxed\" },\n"
	  "      { \"match\": \"git log *\", \"decision\": \"sandboxed\" }\n    ]\n  }\n}\n",
	  "mcp__a__b|env.MY_TOKEN: may be|model: has no|permissions.defaultMode|\"./**/x\"" },
	{ "codex",
	  "model = \"m\"\nsandbox_mode = \"workspace-write\"\n[sandbox_workspace_write]\nwritable_roots = [\"/srv/x\"]\n"
	  "network_access = true\n[shell_environment_policy]\nexclude = [\"AWS_*\"]\n[mcp_servers.a]\ncommand = \"x\"\nargs = [\"y\"]\n",
	  "{\n  \"extends\": \"workspace-write\",\n  \"filesystem\": {\n    \"write\": [\"/srv/x\"]\n  },\n  \"network\": {\n"
	  "    \"mode\": \"filtered\"\n  },\n  \"env\": {\n    \"strip\": [\"AWS_*\"]\n  }\n}\n",
	  "line 1: model|line 5: sandbox_workspace_write.network_access|line 9: mcp_servers" },
	{ "nono",
	  "{\"meta\":{\"name\":\"n\"},\"extends\":\"claude-code\",\"filesystem\":{\"allow\":[\"$HOME/.npm\",\"$WORKDIR\",\"$X/y\"],"
	  "\"read\":[\"/usr\"],\"deny\":[\"$HOME/private\"]},\"network\":{\"allow_domain\":[\"a.example\",{\"domain\":\"b\"}],"
	  "\"open_port\":[5432]},\"commands\":{\"deny\":[\"docker\"]},\"secrets\":{\"k\":\"V\"}}",
	  "{\n  \"extends\": \"claude\",\n  \"filesystem\": {\n    \"write\": [\"~/.npm\"],\n    \"denyRead\": [\"~/private\"]\n"
	  "  },\n  \"network\": {\n    \"mode\": \"filtered\",\n    \"allow\": [\"a.example\"],\n    \"hostPorts\": [5432]\n  },\n"
	  "  \"commands\": {\n    \"rules\": [\n      { \"prefix\": [\"docker\"], \"decision\": \"forbidden\" }\n    ]\n  }\n}\n",
	  "\"$X/y\": this variable|filesystem.read: every|network.allow_domain: an entry|secrets: cred" },
	{ "nono", "{\"network\":{\"block\":true}}",
	  "{\n  \"network\": {\n    \"mode\": \"blocked\"\n  }\n}\n", "" },
	{ "claude-code", "{}", "{}\n", "" },
};

static bool has_all(const struct ab_strv *left, const char *parts)
{
	const char *all = joined(left);

	for (size_t n; *parts; parts += n + (parts[n] == '|')) {
		ab_autofree char *part = NULL;

		n = strcspn(parts, "|");
		part = ab_strndup(parts, n);
		if (!strstr(all, part)) {
			printf("# missing: %s\n", part);
			return false;
		}
	}
	return true;
}

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_import im;
		int r = ab_import_read(cases[i].format, "f", cases[i].text, strlen(cases[i].text),
				       &im, &error);

		ok(r == 0, "%s: read: %s", cases[i].format, r ? error.text : "");
		if (r)
			continue;
		is_str(im.settings, cases[i].settings, "its settings");
		ok(has_all(&im.left, cases[i].left), "what is left out: %s", joined(&im.left));
		ok(!strstr(im.settings, "hunter2") && !strstr(joined(&im.left), "hunter2"),
		   "no secret");
		r = ab_policy_check_text(&input, "f", im.settings, strlen(im.settings), &error);
		ok(r == 0, "the settings are good: %s", r ? error.text : "");
		ab_import_fini(&im);
	}
}

static void test_mistakes(void)
{
	struct ab_import im;

	ok(ab_import_read("claude-cod", "f", "{}", 2, &im, &error) < 0 &&
		   strstr(error.hint, "claude-code"),
	   "an unknown format is refused with a suggestion: %s", error.hint);
	ok(ab_import_read("srt", "f", "{,}", 3, &im, &error) < 0 && strstr(error.text, "f:1:2"),
	   "a mistake in JSON has a place: %s", error.text);
	ok(ab_import_read("codex", "f", "a=1\nb", 5, &im, &error) < 0 && strstr(error.text, "f:2"),
	   "and one in TOML: %s", error.text);
	ok(ab_import_read("srt", "f", "[]", 2, &im, &error) < 0,
	   "a list is not a file of settings");
}

int main(void)
{
	world_init();
	test_cases();
	test_mistakes();
	world_fini();
	return done();
}
