#include "policy/toolchains/host_groups.h"

#include "policy/model/policy.h"
#include "policy/toolchains/registries.h"
#include "policy/toolchains/tool_places.h"
#include "policy/values/host.h"
#include "policy_help.h"
#include "tap.h"

static struct ab_strv got;

static const char *group(const char *name)
{
	struct ab_arena arena = { 0 };
	const struct ab_tool_place *places =
		ab_tool_places_find(&arena, input.environ, input.home, input.cwd, input.cwd);
	bool known;

	ab_strv_fini(&got);
	known = ab_group_expand(name, ab_registries_find(&arena, places), input.environ, &got);
	ab_arena_fini(&arena);
	return known ? joined(&got) : NULL;
}

static void test_tables(void)
{
	for (size_t i = 0; i < ab_group_count; i++) {
		size_t bad = 0;

		ok(group(ab_group_names[i]) && got.len > 0, "@%s has hosts", ab_group_names[i]);
		for (size_t k = 0; k < got.len; k++) {
			char buf[AB_HOST_ENTRY_TEXT] = "";
			struct ab_host_entry e;

			if (ab_host_entry_parse(got.v[k], strlen(got.v[k]), &e, NULL) == 0)
				ab_host_entry_format(&e, buf);
			bad += strcmp(buf, got.v[k]) != 0;
		}
		ok(bad == 0, "all canonical");
	}
	ok(!group("none"), "there is no @none");
	is_str(group("npm"), "*.npmjs.org registry.yarnpkg.com",
	       "without a configuration the table counts");
}

static void test_npm(void)
{
	put_file("home/.npmrc", "; c\n# registry=https://no.example\n"
				"registry = https://npm.corp.example:8443/x/\n"
				"@scope:registry=https://scope.example/\n"
				"//npm.corp.example/:_authToken=secret\n");
	is_str(group("npm"), "npm.corp.example:8443 scope.example *.npmjs.org registry.yarnpkg.com",
	       "npm's registry and its scopes, and the public one");
	put_file("home/.npmrc", "@scope:registry=https://scope.example/\n");
	is_str(group("npm"), "scope.example *.npmjs.org registry.yarnpkg.com", "a scope alone");
	set_env("npm_config_registry", "https://env.example");
	ok(strstr(group("npm"), "env.example"), "a variable counts too");
	reset_input();
	put_file("home/.npmrc", "registry=not a url\nregistry=https:///\n"
				"registry=https://bad!host/\n");
	is_str(group("npm"), "*.npmjs.org registry.yarnpkg.com", "what is no host is left out");
	remove_file("home/.npmrc");
	put_file("home/work/.npmrc", "registry=https://evil.example/\n");
	is_str(group("npm"), "*.npmjs.org registry.yarnpkg.com",
	       "a project's own file is never read");
	make_dir("home/.npmrc");
	is_str(group("npm"), "*.npmjs.org registry.yarnpkg.com",
	       "a folder in its place is ignored");
}

static void test_others(void)
{
	make_dir("home/.config/pip");
	put_file("home/.config/pip/pip.conf",
		 "[global]\nindex-url = https://user:pw@pip.example/simple\n"
		 "extra-index-url = https://extra.example/simple\n");
	is_str(group("pypi"), "pip.example extra.example pypi.org *.pypi.org *.pythonhosted.org",
	       "pip's index and its extra one, without the password");
	make_dir("home/.config/go");
	put_file("home/.config/go/env", "GOPROXY=https://go1.example,https://go2.example|direct\n");
	is_str(group("go"), "go1.example go2.example golang.org *.golang.org go.dev",
	       "all of GOPROXY");
	set_env("GOPROXY", "https://env.example");
	ok(strstr(group("go"), "env.example go1.example"), "the variable first");
	make_dir("home/.cargo");
	put_file("home/.cargo/config.toml",
		 "[source.mirror]\nregistry = \"sparse+https://crates.example/index/\"\n");
	is_str(group("crates"), "crates.example crates.io *.crates.io static.rust-lang.org",
	       "cargo's replacement");
	make_dir("home/.m2");
	put_file(
		"home/.m2/settings.xml",
		"<settings><!-- <mirror><mirrorOf>*</mirrorOf><url>https://no.example</url></mirror> -->\n"
		"<mirrors><mirror><mirrorOf>external:http:*</mirrorOf><url>http://0.0.0.0/</url>"
		"<blocked>true</blocked></mirror>\n"
		"<mirror><url>https://part.example/x</url><mirrorOf>jboss, !central</mirrorOf></mirror>\n"
		"</mirrors><url>https://other.example/</url></settings>\n");
	is_str(group("maven"),
	       "part.example repo.maven.apache.org repo1.maven.org plugins.gradle.org "
	       "plugins-artifacts.gradle.org services.gradle.org downloads.gradle.org",
	       "a mirror of something else");
	put_file("home/.m2/settings.xml",
		 "<settings><mirrors><mirror><id>a</id>\n<mirrorOf>x,central</mirrorOf>\n<url>\n"
		 "https://user:pw@mvn.example:8443/repo\n</url></mirror></mirrors></settings>");
	ok(strstr(group("maven"), "mvn.example:8443 repo.maven"), "a mirror of central");
	put_file("home/.m2/settings.xml",
		 "<settings><mirrors><mirror><mirrorOf>*</mirrorOf><url>https://mvn.example</url>"
		 "</mirror><mirror><url>https://cut.example");
	ok(!strstr(group("maven"), "example"), "settings that are cut off are ignored");
	make_dir("home/.bundle");
	put_file("home/.bundle/config", "BUNDLE_MIRROR__ALL: \"https://u:pw@gems.example/\"\n");
	is_str(group("rubygems"), "gems.example rubygems.org *.rubygems.org", "Bundler's mirror");
	make_dir("home/.config/composer");
	put_file(
		"home/.config/composer/config.json",
		"{\"repositories\":[{\"type\":\"composer\",\"url\":\"https://php.example:8443/x\"}]}");
	ok(strstr(group("packagist"), "php.example:8443 packagist.org"), "Composer's repository");
	make_dir("home/.nuget");
	make_dir("home/.nuget/NuGet");
	put_file(
		"home/.nuget/NuGet/NuGet.Config",
		"<configuration><packageSources><add key=\"c\" value=\"https://u:pw@net.example/v3\"/>"
		"</packageSources></configuration>");
	is_str(group("nuget"), "net.example nuget.org *.nuget.org", "NuGet's source");
	input.home = NULL;
	ok(strstr(group("crates"), "*.crates.io"), "without a home the table");
	reset_input();
	ok(group("debian") && got.len > 0, "apt's sources or the table: %s", joined(&got));
}

static void test_use(void)
{
	struct ab_policy *p;

	add_flag("network.allow", "@github", "--allow");
	add_flag("network.allow", "a.example", "--allow");
	p = load();
	ok(p && ab_strv_has(&p->net.allow, "*.githubusercontent.com") &&
		   ab_strv_has(&p->net.allow, "a.example") &&
		   !ab_strv_has(&p->net.allow, "@github"),
	   "a policy has the hosts of a group");
	ab_policy_free(p);
	reset_input();
}

static bool is_protected(const char *name)
{
	struct ab_policy *p = load();
	bool found = p && ab_strv_has(&p->fs.deny_write, at(name));

	ab_policy_free(p);
	return found;
}

/* A box must not choose the hosts of the next run. */
static void test_protection(void)
{
	put_file("home/.cargo/config.toml", "[source.m]\nregistry = \"https://crates.example/\"\n");
	ok(!is_protected("home/.cargo/config.toml"), "a file that no box can write is left alone");
	add_flag("filesystem.write", "~/.cargo", "--write");
	ok(is_protected("home/.cargo/config.toml"), "in a writable folder it is protected");
	ok(is_protected("home/.cargo/config"), "and so is one that does not exist");
	ok(!is_protected("home/.cargo/credentials.toml"), "other files in there are not");
	reset_input();
	add_flag("filesystem.share", "~/.config", "--share");
	ok(is_protected("home/.config/uv/uv.toml"), "the same in a shared folder");
	reset_input();

	/* Links that lead to where a box can write, or are there. */
	rmdir(at("home/.npmrc"));
	make_dir("home/work/v1");
	if (symlink("work/now/npmrc", at("home/.npmrc")) < 0 ||
	    symlink("v1", at("home/work/now")) < 0)
		abort();
	ok(is_protected("home/work/now") && is_protected("home/work/v1/npmrc"),
	   "a link on the way and the missing file behind it are protected");
	put_file("home/work/v1/npmrc", "registry=https://npm.example/\n");
	ok(is_protected("home/work/now") && is_protected("home/work/v1/npmrc"),
	   "and the file once it exists");
	ok(strstr(group("npm"), "npm.example "), "which counts");
	unlink(at("home/.npmrc"));
	reset_input();
}

/* Does the policy hide this path? */
static bool is_hidden(const char *path)
{
	struct ab_policy *p = load();
	bool found = p && ab_strv_has(&p->fs.deny_read, path);

	ab_policy_free(p);
	return found;
}

static void test_moved(void)
{
	static const char config[] = "[source.m]\nregistry = \"https://moved.example/\"\n";

	put_file("home/.cargo/config.toml", "[source.m]\nregistry = \"https://usual.example/\"\n");
	make_dir("cargo");
	put_file("cargo/config.toml", config);
	ok(!is_hidden(at("cargo/credentials.toml")), "nothing has moved");
	set_env("CARGO_HOME", at("cargo"));
	ok(is_hidden(at("cargo/credentials.toml")) && is_hidden(at("home/.cargo/credentials.toml")),
	   "credentials are hidden in both places");
	ok(strstr(group("crates"), "moved.example") && strstr(group("crates"), "usual.example"),
	   "and the registries of both count");
	add_flag("filesystem.write", at("cargo"), "--write");
	ok(is_protected("cargo/config.toml") && !is_protected("cargo/credentials"),
	   "a box that can write there does not choose them");
	reset_input();
	set_env("CARGO_HOME", "../../cargo");
	ok(is_hidden(at("cargo/credentials")), "a relative path begins in the current folder");
	set_env("CARGO_HOME", "");
	ok(!is_hidden(at("home/work/credentials")) && strstr(group("crates"), "usual.example"),
	   "an empty one says nothing");
	set_env("CARGO_HOME", "~/.cargo/../.cargo");
	ok(is_hidden(at("home/.cargo/credentials")), "the usual place");
	set_env("CARGO_HOME", at("a*[b]"));
	ok(is_hidden(at("a??b]/credentials.toml")), "a star in it is no pattern");

	/* What is in the workspace is the project's. */
	make_dir("home/work/.cargo");
	put_file("home/work/.cargo/config.toml", config);
	set_env("CARGO_HOME", ".cargo");
	ok(!strstr(group("crates"), "moved.example"), "a project's registries do not count");
	ok(!is_hidden(at("home/work/.cargo/credentials.toml")) &&
		   !is_protected("home/work/.cargo/config.toml"),
	   "and its files are neither hidden nor protected");
	set_env("CARGO_HOME", at("home/work/none"));
	ok(!is_hidden(at("home/work/none/credentials.toml")), "nor if there is nothing yet");
	if (symlink(at("home/work/.cargo"), at("into")) < 0 ||
	    symlink(at("cargo"), at("home/work/out")) < 0 ||
	    symlink(at("home/work/out"), at("through")) < 0)
		abort();
	set_env("CARGO_HOME", at("into"));
	ok(!strstr(group("crates"), "moved.example") && !is_hidden(at("into/credentials")),
	   "nor if a link leads there");
	set_env("CARGO_HOME", "out");
	ok(!strstr(group("crates"), "moved.example") && is_hidden(at("home/work/out/credentials")),
	   "a link that leads out of it hides, and names no registry");
	set_env("CARGO_HOME", at("through"));
	ok(!strstr(group("crates"), "moved.example") && is_hidden(at("through/credentials")),
	   "by a link before it, too");
	input.workspace = at("home");
	set_env("CARGO_HOME", at("home/work/.cargo"));
	ok(is_hidden(at("home/work/.cargo/credentials.toml")), "a home folder is no project");
	reset_input();

	/* Files, lists, folders of many tools. */
	set_env("Npm_Config_UserConfig", at("npmrc"));
	set_env("KUBECONFIG", "/srv/a:/srv/b");
	set_env("AWS_SHARED_CREDENTIALS_FILE", "/srv/aws");
	set_env("NETRC", "/dev/null");
	set_env("XDG_CONFIG_HOME", "/srv/config");
	set_env("XDG_DATA_HOME", "/srv/data");
	ok(is_hidden(at("npmrc")), "npm's variables have any case");
	ok(is_hidden("/srv/a") && is_hidden("/srv/b"), "each file of a list");
	ok(is_hidden("/srv/aws"), "a file of a folder that is hidden as a whole");
	ok(!is_hidden("/dev/null"), "a device is nobody's settings");
	ok(is_hidden("/srv/config/gh/hosts.yml") && is_hidden("/srv/config/op"),
	   "what follows the folder of settings");
	ok(is_hidden("/srv/data/opencode/auth.json"), "the login of an agent");
	reset_input();
	set_env("XDG_DATA_HOME", "/srv/data");
	input.profile = "opencode";
	ok(is_hidden("!/srv/data/opencode/auth.json"), "which it sees in its own profile");
	unlink(at("home/.cargo/config.toml"));
	reset_input();
}

static void test_owner(void)
{
	struct ab_policy *p;

	put_file("home/.npmrc", "registry=https://npm.example/\n");
	chmod(at("home/.npmrc"), 0622);
	add_flag("network.allow", "@npm", "--allow");
	p = load();
	ok(p && !ab_strv_has(&p->net.allow, "npm.example"),
	   "a file that others can write is not obeyed");
	ok(notes.len == 1 && strstr(notes.v[0], "/home/.npmrc can be written by others, so its "
						"registries are not used"),
	   "which is said: %s", joined(&notes));
	ab_policy_free(p);
	chmod(at("home/.npmrc"), 0600);
	p = load();
	ok(p && ab_strv_has(&p->net.allow, "npm.example") && !notes.len, "one's own file is");
	ab_policy_free(p);
	reset_input();
}

int main(void)
{
	world_init();
	test_tables();
	test_npm();
	test_others();
	test_use();
	test_protection();
	test_moved();
	test_owner();
	ab_strv_fini(&got);
	world_fini();
	return done();
}
