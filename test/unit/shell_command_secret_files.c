#include "shell/command/secret_files.c" /* its tables */

#include "shell_simple.h"

/* clang-format off */
static const char *const secrets[] = {
	"/home/me/.ssh/id_rsa", "id_ed25519", "/home/me/.ssh/work_key",
	"/home/me/.ssh", "/home/me/.ssh/", "/home/me/.ssh/*", "~/.ssh/x",
	"/home/me/.aws/credentials", "/home/me/.aws/config", ".aws",
	"/home/me/.config/gcloud/x.json", "/home/me/.azure/x",
	"/home/me/.kube/config", "/home/me/.docker/config.json",
	"/home/me/.npmrc", "/home/me/.pypirc", "/home/me/.netrc", "_netrc",
	"/home/me/.pgpass", "/home/me/.my.cnf", "/home/me/.gnupg/x",
	"/home/me/.config/gh/hosts.yml", "/home/me/.git-credentials",
	"/home/me/.config/git/credentials", "/home/me/.cargo/credentials.toml",
	"/home/me/.vault-token", "/home/me/.password-store/a.gpg", "db.kdbx",
	"/etc/shadow", "/etc/shadow-", "/etc/shad*", "/etc/sudoers", "/etc/sudoers.d/x",
	".env", "./.env", "a/.env", ".env.local", ".env.production", ".env*",
	".envrc", "server.pem", "server.key", "a.p12", "a.pfx", "a.jks",
	"*.pem", "/proc/self/environ", "/proc/1/environ", "/proc/*/environ",
	"/home/me/.bash_history", ".zsh_history", ".python_history",
	"key4.db", "Default/Login Data", ".e*", "id_*",
	"/home/me//.aws/./credentials",
};
/* clang-format on */

/* clang-format off */
static const char *const plain[] = {
	"", ".", "/", "/home/me", ".env.example", ".env.sample",
	".env.template", ".env.dist", ".env.local.example", ".environment",
	"/home/me/.ssh/id_rsa.pub", "/home/me/.ssh/known_hosts",
	"/home/me/.ssh/config", "id_rsa.pub", "key.pub", "README.md",
	"src/key.c", "keys", "monkey", ".key", "credentials", "config",
	"config.json", "hosts.yml", "/etc/passwd", "/etc/hosts", "environ",
	"src/environ", "*", ".*", "*.c", "shadow.css", "etc/shadow.example", "/etc/*", "src/shadow",
	".gitignore", "notes about server.pem", "/home/me/.ssh/../x",
	"/home/me/.docker", "/home/me/.cargo/bin", "git/credentials.md",
	"Cookies",
};
/* clang-format on */

static struct ab_text text(const char *s)
{
	return (struct ab_text){ s, (uint32_t)strlen(s) };
}

/* The first byte of each row is among `heads`. */
static void test_heads(void)
{
	const char *list = inside;
	struct ab_text item;

	for (size_t i = 0; i < AB_COUNT(names); i++)
		ok(may_be(text(names[i]), NAME), "first byte of the name %s", names[i]);
	for (size_t i = 0; i < AB_COUNT(folders); i++)
		ok(may_be(text(folders[i]), FOLDER), "first byte of the folder %s", folders[i]);
	while ((item = ab_list_next(&list)).len > 0)
		ok(may_be(item, PARENT), "first byte of %.*s", (int)item.len, item.s);
}

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(secrets); i++)
		ok(ab_secret_path(text(secrets[i])), "secret: %s", secrets[i]);
	for (size_t i = 0; i < AB_COUNT(plain); i++)
		ok(!ab_secret_path(text(plain[i])), "not secret: \"%s\"", plain[i]);
	ok(ab_secret_in(text("/home/me/.aws"), text("x")), "x in ~/.aws");
	ok(ab_secret_in(text("/home/me/.ssh"), text("work")), "work in ~/.ssh");
	ok(ab_secret_in(text("/etc"), text("shadow")), "shadow in /etc");
	ok(!ab_secret_in(text("/etc"), text("passwd")), "passwd in /etc");
	ok(!ab_secret_in(text("/home/me/.ssh"), text("x.pub")), "x.pub in ~/.ssh");
	ok(!ab_secret_in(text("/home/me/.ssh"), text("/tmp/x")), "/tmp/x is not in ~/.ssh");
	ok(ab_secret_path((struct ab_text){ "/home/me/.ssh/\0", 15 }), "an unknown name in ~/.ssh");
	ok(!ab_secret_path((struct ab_text){ "\0", 1 }), "an unknown name");
	test_sorted(names);
	test_sorted(folders);
	test_heads();
	return done();
}
