/* The box's files for names, and ssh through the door. */
#include "host/etc_files.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "host/git_ssh.h"
#include "tap.h"

static const struct {
	const char *text, *want, *name;
} switches[] = {
	{ "hosts: files dns\n", NULL, "what we want" },
	{ "hosts:\tfiles  dns", NULL, "in other spacing" },
	{ "  hosts:files dns \n", NULL, "or without" },
	{ "", "hosts: files dns\n", "nothing at all" },
	{ "passwd: files\n", "passwd: files\nhosts: files dns\n", "no line for hosts" },
	{ "hosts: files resolve [!UNAVAIL=return] dns\npasswd: files\n",
	  "hosts: files dns\npasswd: files\n", "systemd's resolver" },
	{ "a: b\nhosts: files mdns4_minimal [NOTFOUND=return] dns\nc: d",
	  "a: b\nhosts: files dns\nc: d\n", "multicast names" },
	{ "hosts: dns files\n", "hosts: files dns\n", "the other order" },
	{ "hosts: files dnsx\n", "hosts: files dns\n", "another word" },
	{ "hosts: files dns myhostname\n", "hosts: files dns\n", "one more" },
	{ "hosts: files\n", "hosts: files dns\n", "one less" },
	{ "hosts: files [NOTFOUND=return] dns\n", "hosts: files dns\n", "an action between" },
	{ "hosts: files dns\nhosts: nis\n", "hosts: files dns\n", "two of them" },
	{ "#hosts: nis\n", "#hosts: nis\nhosts: files dns\n", "a comment" },
};

static void check_switches(void)
{
	for (size_t i = 0; i < AB_COUNT(switches); i++) {
		ab_autofree char *got = ab_etc_nsswitch(switches[i].text);

		is_str(got, switches[i].want, switches[i].name);
	}
}

static void check_hosts(void)
{
	ab_autofree char *good = ab_etc_hosts("dev-1.example");
	ab_autofree char *bad = ab_etc_hosts("x\n8.8.8.8 evil");
	ab_autofree char *none = ab_etc_hosts("");

	is_str(good,
	       "127.0.0.1 localhost dev-1.example\n"
	       "::1 localhost ip6-localhost ip6-loopback\n",
	       "the box's own name is among them");
	is_str(bad, none, "one that is no name is not");
}

static void is_followed(const char *dir, const char *name, const char *want)
{
	ab_autofree char *path = ab_printf("%s/%s", dir, name);
	ab_autofree char *wanted = want ? ab_printf("%s/%s", dir, want) : NULL;
	ab_autofree char *got = ab_etc_follow(path);

	is_str(got, wanted, name);
}

static void check_links(void)
{
	char dir[] = "/tmp/agentbox-etc.XXXXXX";
	ab_autofree char *command = NULL;

	if (!mkdtemp(dir) || chdir(dir) < 0 || mkdir("run", 0700) < 0 ||
	    symlink("file", "link") < 0 || symlink("link", "two") < 0 ||
	    symlink("run/gone", "dangling") < 0 || symlink("../x/y/z", "run/far") < 0 ||
	    symlink("run/far", "distant") < 0 || symlink("run", "folder") < 0 ||
	    symlink("folder/gone", "through") < 0 || symlink("round", "round") < 0 ||
	    mkdir("file", 0700) < 0)
		ok(0, "make links");
	is_followed(dir, "file", "file");
	is_followed(dir, "link", "file");
	is_followed(dir, "two", "file");
	is_followed(dir, "dangling", "run/gone");
	is_followed(dir, "through", "run/gone");
	is_followed(dir, "distant", "x/y/z");
	is_followed(dir, "round", NULL);
	is_followed(dir, "none", NULL);
	is_followed(dir, "none/none", NULL);
	command = ab_printf("rm -rf %s", dir);
	ok(chdir("/") == 0 && system(command) == 0, "cleaned up");
}

static const struct {
	const char *path, *want;
} programs[] = {
	{ "/usr/bin/agentbox", "ssh -o 'ProxyCommand=/usr/bin/agentbox connect %h %p'" },
	{ "/home/a b/agentbox",
	  "ssh -o 'ProxyCommand='\\''/home/a b/agentbox'\\'' connect %h %p'" },
	{ "/x/100%/agentbox", "ssh -o 'ProxyCommand=/x/100%%/agentbox connect %h %p'" },
};

static void check_ssh(void)
{
	for (size_t i = 0; i < AB_COUNT(programs); i++) {
		ab_autofree char *got = ab_git_ssh_command(programs[i].path);

		is_str(got, programs[i].want, programs[i].path);
	}
}

/* What the two shells make of it: the first gives ssh one argument, which the
 * second runs. */
static void check_shells(void)
{
	static const char path[] = "/x/it's $(touch /tmp/no) \"a\" b";
	ab_autofree char *value = ab_git_ssh_command(path);
	ab_autofree char *script = ab_printf("ssh() { printf %%s \"${2#ProxyCommand=}\"; }; "
					     "inner=$(%s); "
					     "eval \"set -- $inner\"; "
					     "[ \"$1\" = \"$PROGRAM\" ] && [ \"$2\" = connect ] "
					     "&& [ $# = 4 ]",
					     value);

	setenv("PROGRAM", path, 1);
	ok(system(script) == 0 && access("/tmp/no", F_OK) < 0,
	   "a path with every kind of quote arrives");
}

int main(void)
{
	check_switches();
	check_hosts();
	check_links();
	check_ssh();
	check_shells();
	return done();
}
