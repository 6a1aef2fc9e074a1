#include "shell/command/rules.h"

#include "shell/tools/tool.h"
#include "shell_rows.h"

/* As the specification has them. */
static const struct {
	const char *name;
	enum ab_decision decision;
} wanted[] = {
	{ "fork-bomb", AB_FORBIDDEN },
	{ "recursive-delete-root", AB_FORBIDDEN },
	{ "disk-wipe", AB_FORBIDDEN },
	{ "filesystem-format", AB_FORBIDDEN },
	{ "reverse-shell", AB_FORBIDDEN },
	{ "pipe-to-shell", AB_FORBIDDEN },
	{ "recursive-perm-root", AB_FORBIDDEN },
	{ "system-write", AB_FORBIDDEN },
	{ "shutdown-reboot", AB_FORBIDDEN },
	{ "kernel-module", AB_FORBIDDEN },
	{ "history-exec", AB_FORBIDDEN },
	{ "ifs-bypass", AB_FORBIDDEN },
	{ "destructive-find", AB_FORBIDDEN },
	{ "destructive-xargs", AB_FORBIDDEN },
	{ "history-rewrite", AB_ESCALATED },
	{ "git-publish", AB_ESCALATED },
	{ "git-discard", AB_ESCALATED },
	{ "workspace-delete", AB_ESCALATED },
	{ "sudo", AB_ESCALATED },
	{ "su-privilege", AB_ESCALATED },
	{ "credential-access", AB_ESCALATED },
	{ "exfiltration", AB_ESCALATED },
	{ "persistence", AB_ESCALATED },
	{ "service-management", AB_ESCALATED },
	{ "user-management", AB_ESCALATED },
	{ "firewall-management", AB_ESCALATED },
	{ "system-package-install", AB_ESCALATED },
	{ "global-install", AB_ESCALATED },
	{ "docker-build", AB_ESCALATED },
	{ "docker-container", AB_ESCALATED },
	{ "docker-compose", AB_ESCALATED },
	{ "kubernetes", AB_ESCALATED },
	{ "cloud-change", AB_ESCALATED },
	{ "ssh-command", AB_ESCALATED },
	{ "file-transfer", AB_ESCALATED },
	{ "network-scan", AB_ESCALATED },
	{ "database-client", AB_ESCALATED },
	{ "database-backup", AB_ESCALATED },
	{ "eval-exec", AB_ESCALATED },
	{ "dynamic-command", AB_ESCALATED },
	{ "unparsed", AB_ESCALATED },
	{ "container-escape", AB_ESCALATED },
	{ "agent-config", AB_ESCALATED },
	{ "set-id", AB_ESCALATED },
	{ "process-kill", AB_ESCALATED },
	{ "package-source", AB_ESCALATED },
	{ "unknown-program", AB_ESCALATED },
	{ "safe-read", AB_ALLOW },
	{ "git-read", AB_ALLOW },
	{ "version-check", AB_ALLOW },
};

static void test_names(void)
{
	enum ab_rule_id id;

	ok(AB_COUNT(wanted) == AB_RULE_COUNT, "every rule of the specification");
	for (size_t i = 0; i < AB_COUNT(wanted); i++) {
		const char *name = wanted[i].name;

		ok(ab_rule_find(name, strlen(name), &id) &&
			   ab_rules[id].decision == wanted[i].decision,
		   "%s is %s", name, ab_decision_names[wanted[i].decision]);
	}
	ok(!ab_rule_find("sud", 3, &id) && !ab_rule_find("sudo ", 5, &id) &&
		   !ab_rule_find("", 0, &id),
	   "a part of a name is none");
}

static bool is_sentence(const char *s)
{
	size_t len = strlen(s);

	return len > 10 && len < 90 && s[0] >= 'A' && s[0] <= 'Z' && s[len - 1] == '.';
}

static bool is_phrase(const char *s)
{
	return strlen(s) > 5 && s[strlen(s) - 1] != '.' && !(s[0] >= 'A' && s[0] <= 'Z');
}

static void test_table(void)
{
	for (size_t i = 0; i < AB_RULE_COUNT; i++) {
		const struct ab_rule *r = &ab_rules[i];
		bool twice = false;

		for (size_t k = 0; k < i; k++)
			twice |= strcmp(r->name, ab_rules[k].name) == 0;
		ok(!twice && is_sentence(r->reason) && is_phrase(r->what) &&
			   (!r->mild_reason || is_sentence(r->mild_reason)) &&
			   (!r->instead || strlen(r->instead) > 5),
		   "%s has a name, a sentence and a phrase", r->name);
		ok(r->elsewhere <= r->decision && (r->elsewhere == r->decision) == !r->mild_reason,
		   "%s: what is mild is milder", r->name);
	}
}

static void test_decisions(void)
{
	enum ab_decision d;

	ok(ab_decision_parse("allow", &d) && d == AB_ALLOW, "allow");
	ok(ab_decision_parse("forbidden", &d) && d == AB_FORBIDDEN, "forbidden");
	ok(!ab_decision_parse("Allow", &d) && !ab_decision_parse("", &d),
	   "nothing else is a decision");
}

static void test_hits(void)
{
	struct ab_hits hits = { 0 };
	struct ab_span range = { 1, 2 };
	bool forbidden = false;

	for (int i = 0; i < 20; i++)
		ab_hit_add(&hits, AB_RULE_SAFE_READ, range);
	ab_hit_add(&hits, AB_RULE_FORK_BOMB, range);
	for (int i = 0; i < 20; i++)
		ab_hit_mild(&hits, AB_RULE_DESTRUCTIVE_FIND, range);
	for (size_t i = 0; i < hits.len; i++)
		forbidden |= hits.v[i].rule == AB_RULE_FORK_BOMB;
	ok(hits.len == AB_COUNT(hits.v) && forbidden, "of too many hits the strictest stay");
	ok(hits.v[0].rule != AB_RULE_SAFE_READ && hits.v[7].rule != AB_RULE_SAFE_READ,
	   "and the mildest go");
}

/* A text that fills its array has no end, which C allows. */
#define ENDS(array) ((array)[sizeof(array) - 1] == '\0')

/* scripts/judge-tables checks the names: sorted in a row, and each in one row. */
static void check_box(const struct ab_toolbox *box, const char *name)
{
	bool led = false, end = true, filled = true;

	for (size_t i = 0; i < box->len; i++) {
		const struct ab_deed *d = &box->deeds[i];

		end &= ENDS(d->words) && ENDS(d->with) && ENDS(d->without) && ENDS(d->reason);
		filled &= !d->reason[0] || is_sentence(d->reason);
	}
	for (uint32_t i = 0; i < ab_name_slots; i++) {
		const struct ab_deed *d = AB_SLOT_ROW(box->deeds, box->table, &ab_name_index[i]);

		led |= d != NULL;
		filled &= !d || d->help != AB_ALSO;
	}
	ok(box->len && box->deeds[0].help != AB_ALSO && led, "%s: every deed is some tool's", name);
	ok(filled, "%s: every tool does something", name);
	ok(end, "%s: every text fits", name);
}

static const struct row system_rows[] = {
	{ "sudo ls", "sudo" },
	{ "doas ls", "sudo" },
	{ "sudo -l", "sudo" },
	{ "sudo ls --help", "sudo" },
	{ "sudo --version", "" },
	{ "su -", "su-privilege" },
	{ "su --help", "" },
	{ "shutdown -h now", "shutdown-reboot" },
	{ "shutdown -h", "shutdown-reboot" },
	{ "shutdown", "shutdown-reboot" },
	{ "shutdown -c", "" },
	{ "shutdown --help", "" },
	{ "/sbin/reboot", "shutdown-reboot" },
	{ "systemctl --no-wall reboot", "shutdown-reboot" },
	{ "systemctl poweroff -i", "shutdown-reboot" },
	{ "init 6", "shutdown-reboot" },
	{ "init 3", "" },
	{ "telinit 0", "shutdown-reboot" },
	{ "tee /proc/sysrq-trigger", "shutdown-reboot" },
	{ "cat /proc/sysrq-trigger", "" },
	{ "insmod x.ko", "kernel-module" },
	{ "modprobe -r kvm", "kernel-module" },
	{ "modprobe -n kvm", "" },
	{ "modprobe --show-depends kvm", "" },
	{ "modinfo kvm", "" },
	{ "lsmod", "" },
	{ "systemctl restart nginx", "service-management" },
	{ "systemctl --user -H box restart nginx", "service-management" },
	{ "systemctl status nginx", "" },
	{ "systemctl is-active nginx", "" },
	{ "systemctl list-units --type service", "" },
	{ "systemctl daemon-reload", "service-management" },
	{ "service nginx restart", "service-management" },
	{ "service nginx status", "" },
	{ "service --status-all", "" },
	{ "/etc/init.d/nginx stop", "service-management" },
	{ "/etc/init.d/nginx status", "" },
	{ "supervisorctl restart all", "service-management" },
	{ "supervisorctl status", "" },
	{ "useradd -m bob", "user-management" },
	{ "passwd root", "user-management" },
	{ "passwd -S root", "" },
	{ "visudo -c", "" },
	{ "visudo", "user-management" },
	{ "iptables -A INPUT -j DROP", "firewall-management" },
	{ "iptables -t nat -F", "firewall-management" },
	{ "iptables -t nat -nvL", "" },
	{ "iptables -S", "" },
	{ "ip6tables -P INPUT DROP", "firewall-management" },
	{ "nft flush ruleset", "firewall-management" },
	{ "nft list ruleset", "" },
	{ "ufw allow 22", "firewall-management" },
	{ "ufw status verbose", "" },
	{ "firewall-cmd --permanent --add-port=80/tcp", "firewall-management" },
	{ "firewall-cmd --list-all", "" },
	{ "firewall-cmd --state", "" },
	{ "ip route add default via 10.0.0.1", "firewall-management" },
	{ "ip link set eth0 down", "firewall-management" },
	{ "ip addr", "" },
	{ "ip -br a show", "" },
	{ "ip route get 1.1.1.1", "" },
	{ "ifconfig eth0 down", "firewall-management" },
	{ "ifconfig -a", "" },
	{ "sysctl -w vm.swappiness=1", "firewall-management" },
	{ "sysctl kernel.x=1", "firewall-management" },
	{ "sysctl -n kernel.hostname", "" },
	{ "sysctl -a", "" },
	{ "apt-get install -y jq", "system-package-install" },
	{ "apt-get -y -qq install jq", "system-package-install" },
	{ "apt-get -o Dpkg::Use-Pty=0 update", "system-package-install" },
	{ "apt-get -s install jq", "" },
	{ "apt list --installed", "" },
	{ "apt-cache policy jq", "" },
	{ "apt show jq", "" },
	{ "dpkg -i x.deb", "system-package-install" },
	{ "dpkg -l", "" },
	{ "dpkg -L jq", "" },
	{ "rpm -qi bash", "" },
	{ "rpm -Uvh x.rpm", "system-package-install" },
	{ "pacman -Syu", "system-package-install" },
	{ "pacman -Ss jq", "" },
	{ "pacman -Rs jq", "system-package-install" },
	{ "pacman -Q", "" },
	{ "apk add --no-cache jq", "system-package-install" },
	{ "apk info", "" },
	{ "dnf -y install jq", "system-package-install" },
	{ "yum list installed", "" },
	{ "brew install jq", "global-install" },
	{ "brew list", "" },
	{ "brew services restart x", "service-management" },
	{ "npm install", "" },
	{ "npm install -D typescript", "" },
	{ "npm i -g typescript", "global-install" },
	{ "npm install --global typescript", "global-install" },
	{ "npm --prefix web install", "" },
	{ "npm ls -g", "" },
	{ "yarn global add x", "global-install" },
	{ "yarn add x", "" },
	{ "pnpm add -g x", "global-install" },
	{ "pip install -r requirements.txt", "" },
	{ "pip3.11 install --break-system-packages x", "global-install" },
	{ "pipx install black", "global-install" },
	{ "pipx run black", "" },
	{ "uv tool install ruff", "global-install" },
	{ "uv pip install ruff", "" },
	{ "uv sync", "" },
	{ "gem install bundler", "global-install" },
	{ "gem list", "" },
	{ "cargo install ripgrep", "" },
	{ "go install ./...", "" },
	{ "rustup show", "" },
	{ "rustup target add wasm32-unknown-unknown", "global-install" },
	{ "dotnet tool install -g x", "global-install" },
	{ "dotnet build", "" },
	{ "nsenter -t 1 -m", "container-escape" },
	{ "chroot /mnt", "container-escape" },
	{ "unshare -r", "container-escape" },
	{ "unshare --help", "" },
	{ "mount", "" },
	{ "mount -l", "" },
	{ "mount -t ext4", "" },
	{ "mount -o bind /a /b", "container-escape" },
	{ "umount /mnt", "container-escape" },
	{ "losetup -a", "" },
	{ "losetup /dev/loop0 x.img", "container-escape" },
	{ "gdb -p 1", "container-escape" },
	{ "gdb ./a.out", "" },
	{ "strace -f -p 1", "container-escape" },
	{ "strace -f ./a.out -p 1", "" },
	{ "strace -o log ls", "" },
};

int main(void)
{
	test_names();
	test_table();
	test_decisions();
	test_hits();
	check_box(&ab_tools_system, "system");
	check_box(&ab_tools_packages, "packages");
	check_box(&ab_tools_git, "git");
	check_box(&ab_tools_publish, "publish");
	check_box(&ab_tools_containers, "containers");
	check_box(&ab_tools_clouds, "clouds");
	check_box(&ab_tools_hosts, "hosts");
	check_box(&ab_tools_reads, "reads");
	rows_check(ab_match_system, system_rows, AB_COUNT(system_rows));
	return done();
}
