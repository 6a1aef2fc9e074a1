/* The machine itself: its power, kernel, services, users, network, packages. */
#include "base/mem.h"
#include "shell/tool.h"

static const struct ab_deed always_sudo[] = { { "", .rule = AB_RULE_SUDO } };
static const struct ab_deed always_su[] = {
	{ "", .rule = AB_RULE_SU_PRIVILEGE },
};
static const struct ab_deed users[] = {
	{ "", NULL, "-S --status -l --list -c --check",
	  AB_RULE_USER_MANAGEMENT },
};
/* For these the letters of `users` do something. */
static const struct ab_deed always_users[] = {
	{ "", .rule = AB_RULE_USER_MANAGEMENT },
};
static const struct ab_deed dscl[] = {
	{ "", "-create -delete -append -merge -passwd -change", NULL,
	  AB_RULE_USER_MANAGEMENT },
};

static const struct ab_deed shutdown_[] = {
	{ "", NULL, "-c -k --show", AB_RULE_SHUTDOWN_REBOOT },
};
static const struct ab_deed halt[] = {
	{ "", NULL, "-w --wtmp-only", AB_RULE_SHUTDOWN_REBOOT },
};
static const struct ab_deed init[] = {
	{ "0|6", .rule = AB_RULE_SHUTDOWN_REBOOT },
};
static const struct ab_deed always_module[] = {
	{ "", .rule = AB_RULE_KERNEL_MODULE },
};
static const struct ab_deed modprobe[] = {
	{ "", NULL,
	  "-n --dry-run --simulate --show -D --show-depends -c --showconfig "
	  "-R --resolve-alias --dump-modversions --show-modversions",
	  AB_RULE_KERNEL_MODULE },
};
static const struct ab_deed kexec[] = {
	{ "", "-l -e -p -f --load --exec --load-panic --force", NULL,
	  AB_RULE_KERNEL_MODULE },
};

static const struct ab_deed systemctl[] = {
	{ "reboot|poweroff|halt|kexec|soft-reboot", NULL, "--dry-run",
	  AB_RULE_SHUTDOWN_REBOOT },
	{ "start|isolate reboot.target|poweroff.target|halt.target|kexec.target",
	  .rule = AB_RULE_SHUTDOWN_REBOOT },
	{ "start|stop|restart|reload|try-restart|condrestart|"
	  "reload-or-restart|try-reload-or-restart|isolate|kill|clean|freeze|"
	  "thaw|set-property|bind|mount-image|enable|disable|reenable|preset|"
	  "preset-all|mask|unmask|link|revert|add-wants|add-requires|edit|"
	  "set-default|import-environment|set-environment|unset-environment|"
	  "daemon-reload|daemon-reexec|suspend|hibernate|hybrid-sleep|"
	  "suspend-then-hibernate|rescue|emergency|default|switch-root|cancel|"
	  "reset-failed|exit",
	  NULL, "--dry-run", AB_RULE_SERVICE_MANAGEMENT },
};
static const struct ab_deed service[] = {
	{ "* start|stop|restart|reload|force-reload|try-restart|condrestart|zap",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
};
static const struct ab_deed launchctl[] = {
	{ "load|unload|start|stop|bootstrap|bootout|kickstart|kill|enable|"
	  "disable|remove|submit|setenv|unsetenv|config|reboot",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
};
static const struct ab_deed supervisorctl[] = {
	{ "start|stop|restart|reload|update|shutdown|add|remove|signal|clear|"
	  "up|down|once|pause|cont|hup|term|exit",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
};
static const struct ab_deed rc[] = {
	{ "", NULL, "--list show", AB_RULE_SERVICE_MANAGEMENT },
};
static const struct ab_deed loginctl[] = {
	{ "reboot|poweroff|halt", .rule = AB_RULE_SHUTDOWN_REBOOT },
	{ "terminate-*|kill-*|lock-*|unlock-*|enable-linger|disable-linger|"
	  "set-*|attach|flush-devices|activate",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
};
static const struct ab_deed settings[] = {
	{ "set-*|hostname|chassis|location|deployment *",
	  .rule = AB_RULE_SERVICE_MANAGEMENT,
	  .reason = "Changes a setting of the machine." },
};

#define IPTABLES_CHANGES                                                      \
	"-A -D -I -R -F -Z -N -X -P -E --append --delete --insert --replace " \
	"--flush --zero --new-chain --delete-chain --policy --rename-chain"

static const struct ab_deed iptables[] = {
	{ "", IPTABLES_CHANGES, NULL, AB_RULE_FIREWALL_MANAGEMENT },
};
static const struct ab_deed restore[] = {
	{ "", NULL, "-t --test", AB_RULE_FIREWALL_MANAGEMENT },
};
static const struct ab_deed nft[] = {
	{ "add|create|delete|destroy|flush|insert|replace|rename|reset", NULL,
	  "-c --check", AB_RULE_FIREWALL_MANAGEMENT },
	{ "", "-f --file", "-c --check", AB_RULE_FIREWALL_MANAGEMENT },
};
static const struct ab_deed ufw[] = {
	{ "enable|disable|allow|deny|reject|limit|delete|insert|prepend|route|"
	  "reload|reset|default|logging",
	  NULL, "--dry-run", AB_RULE_FIREWALL_MANAGEMENT },
};
static const struct ab_deed firewall_cmd[] = {
	{ "",
	  "--add-* --remove-* --set-* --new-* --delete-* --change-* --load-* "
	  "--reload --complete-reload --panic-on --panic-off "
	  "--runtime-to-permanent --reset-to-defaults",
	  NULL, AB_RULE_FIREWALL_MANAGEMENT },
};
static const struct ab_deed ip[] = {
	{ "* add|del|delete|change|chg|replace|append|flush|set|restore",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "netns exec", .rule = AB_RULE_CONTAINER_ESCAPE },
};
static const struct ab_deed ifconfig[] = {
	{ "* *", .rule = AB_RULE_FIREWALL_MANAGEMENT },
};
static const struct ab_deed route[] = {
	{ "add|del|delete|flush|change", .rule = AB_RULE_FIREWALL_MANAGEMENT },
};
static const struct ab_deed tc[] = {
	{ "* add|del|delete|change|replace|link",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
};
static const struct ab_deed sysctl[] = {
	{ "", "-w --write -p --load --system *=*", NULL,
	  AB_RULE_FIREWALL_MANAGEMENT, false,
	  "Changes a setting of the kernel." },
};
static const struct ab_deed setenforce[] = {
	{ "*", .rule = AB_RULE_FIREWALL_MANAGEMENT,
	  .reason = "Switches a protection of the machine." },
};
static const struct ab_deed nmcli[] = {
	{ "connection|con|c up|down|add|modify|delete|reload|load|edit|clone|"
	  "import",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "device|dev|d connect|disconnect|set|delete|reapply|modify",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "networking|net|n|radio|r ** on|off",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
};
static const struct ab_deed wg[] = {
	{ "set|setconf|addconf|syncconf|up|down|save",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
};

static const struct ab_deed always_escape[] = {
	{ "", .rule = AB_RULE_CONTAINER_ESCAPE },
};
static const struct ab_deed mount[] = {
	{ "*", .rule = AB_RULE_CONTAINER_ESCAPE },
	{ "", "-a --all", NULL, AB_RULE_CONTAINER_ESCAPE },
};
static const struct ab_deed losetup[] = {
	{ "*", NULL, "-l --list -a --all -j --associated",
	  AB_RULE_CONTAINER_ESCAPE },
	{ "", "-d -D --detach --detach-all", NULL, AB_RULE_CONTAINER_ESCAPE },
};
static const struct ab_deed tracer[] = {
	{ "", "-p --pid --attach -pid* -attach*", NULL,
	  AB_RULE_CONTAINER_ESCAPE, false, "Reaches into another process." },
};
static const struct ab_deed pid[] = {
	{ "*", .rule = AB_RULE_CONTAINER_ESCAPE,
	  .reason = "Reaches into another process." },
};
static const struct ab_deed systemd_run[] = {
	{ "", .rule = AB_RULE_CONTAINER_ESCAPE,
	  .reason = "Runs a command outside the box." },
};

#define SYSTEMCTL_OPTS                                                                  \
	{                                                                               \
		"HMtpnso",                                                              \
			"host= machine= type= state= property= signal= lines= output= " \
			"root= job-mode= kill-whom= what= when= dry-run",               \
			false                                                           \
	}
#define IPTABLES_OPTS                                                         \
	{                                                                     \
		"tpsdiojm",                                                   \
			"table= protocol= source= destination= jump= match=", \
			false                                                 \
	}

/* Sorted by program; test/unit/shell_rules.c holds it to that. */
static const struct ab_tool tools[] = {
	{ "addgroup", AB_DEEDS(always_users) },
	{ "adduser", AB_DEEDS(always_users) },
	{ "arptables", AB_DEEDS(iptables), IPTABLES_OPTS },
	{ "chage", AB_DEEDS(users) },
	{ "chfn", AB_DEEDS(always_users) },
	{ "chgpasswd", AB_DEEDS(always_users) },
	{ "chkconfig", AB_DEEDS(rc) },
	{ "chpasswd", AB_DEEDS(always_users) },
	{ "chroot", AB_DEEDS(always_escape) },
	{ "chsh", AB_DEEDS(users) },
	{ "criu", AB_DEEDS(always_escape) },
	{ "delgroup", AB_DEEDS(always_users) },
	{ "deluser", AB_DEEDS(always_users) },
	{ "depmod", AB_DEEDS(modprobe) },
	{ "doas", AB_DEEDS(always_sudo) },
	{ "dscl", AB_DEEDS(dscl) },
	{ "ebtables", AB_DEEDS(iptables), IPTABLES_OPTS },
	{ "firewall-cmd", AB_DEEDS(firewall_cmd) },
	{ "gcore", AB_DEEDS(pid) },
	{ "gdb", AB_DEEDS(tracer), { "x", "command= eval-command=", false } },
	{ "gpasswd", AB_DEEDS(always_users) },
	{ "groupadd", AB_DEEDS(always_users) },
	{ "groupdel", AB_DEEDS(always_users) },
	{ "groupmod", AB_DEEDS(always_users) },
	{ "halt", AB_DEEDS(halt), .help = AB_HELP_LONG },
	{ "hostnamectl", AB_DEEDS(settings) },
	{ "ifconfig", AB_DEEDS(ifconfig) },
	{ "init", AB_DEEDS(init) },
	{ "initctl", AB_DEEDS(supervisorctl) },
	{ "insmod", AB_DEEDS(always_module) },
	{ "ip", AB_DEEDS(ip), { "n", NULL, false } },
	{ "ip6tables", AB_DEEDS(iptables), IPTABLES_OPTS },
	{ "ip6tables-legacy", AB_DEEDS(iptables), IPTABLES_OPTS },
	{ "ip6tables-nft", AB_DEEDS(iptables), IPTABLES_OPTS },
	{ "ip6tables-restore", AB_DEEDS(restore) },
	{ "iptables", AB_DEEDS(iptables), IPTABLES_OPTS },
	{ "iptables-legacy", AB_DEEDS(iptables), IPTABLES_OPTS },
	{ "iptables-nft", AB_DEEDS(iptables), IPTABLES_OPTS },
	{ "iptables-restore", AB_DEEDS(restore) },
	{ "kexec", AB_DEEDS(kexec), .help = AB_HELP_LETTER },
	{ "launchctl", AB_DEEDS(launchctl) },
	{ "lldb", AB_DEEDS(tracer), { "o", "one-line=", false } },
	{ "localectl", AB_DEEDS(settings) },
	{ "loginctl", AB_DEEDS(loginctl), SYSTEMCTL_OPTS, AB_HELP_LETTER },
	{ "losetup", AB_DEEDS(losetup) },
	{ "ltrace", AB_DEEDS(tracer), { "eouSsalnDxF", NULL, true } },
	{ "modprobe", AB_DEEDS(modprobe), .help = AB_HELP_LETTER },
	{ "mount",
	  AB_DEEDS(mount),
	  { "toLUO", "types= options= label= uuid= source= target=", false } },
	{ "newusers", AB_DEEDS(always_users) },
	{ "nft", AB_DEEDS(nft), { "ID", NULL, false }, AB_HELP_LETTER },
	{ "nmcli", AB_DEEDS(nmcli), { "fgme", "fields= mode= colors=", false } },
	{ "nsenter", AB_DEEDS(always_escape) },
	{ "passwd", AB_DEEDS(users) },
	{ "pivot_root", AB_DEEDS(always_escape) },
	{ "pkexec", AB_DEEDS(always_sudo) },
	{ "poweroff", AB_DEEDS(halt), .help = AB_HELP_LONG },
	{ "rc-service", AB_DEEDS(service) },
	{ "rc-update", AB_DEEDS(rc) },
	{ "reboot", AB_DEEDS(halt), .help = AB_HELP_LONG },
	{ "reptyr", AB_DEEDS(pid) },
	{ "rmmod", AB_DEEDS(always_module) },
	{ "route", AB_DEEDS(route), { "A", NULL, false } },
	{ "run0", AB_DEEDS(always_sudo) },
	{ "runuser", AB_DEEDS(always_su) },
	{ "service", AB_DEEDS(service) },
	{ "setenforce", AB_DEEDS(setenforce) },
	{ "shutdown", AB_DEEDS(shutdown_), .help = AB_HELP_LONG },
	{ "strace", AB_DEEDS(tracer), { "eEoaISOPsuX", NULL, true } },
	{ "su", AB_DEEDS(always_su) },
	{ "sudo", AB_DEEDS(always_sudo) },
	{ "sudoedit", AB_DEEDS(always_sudo) },
	{ "supervisorctl",
	  AB_DEEDS(supervisorctl),
	  { "csupr", "configuration= serverurl= username= password=", false } },
	{ "sv", AB_DEEDS(supervisorctl), { "w", NULL, false } },
	{ "sysctl", AB_DEEDS(sysctl), .help = AB_HELP_LETTER },
	{ "systemctl", AB_DEEDS(systemctl), SYSTEMCTL_OPTS, AB_HELP_LETTER },
	{ "systemd-nspawn", AB_DEEDS(always_escape) },
	{ "systemd-run", AB_DEEDS(systemd_run) },
	{ "tc", AB_DEEDS(tc) },
	{ "telinit", AB_DEEDS(init) },
	{ "timedatectl", AB_DEEDS(settings) },
	{ "ufw", AB_DEEDS(ufw) },
	{ "umount", AB_DEEDS(mount), { "tO", "types=", false } },
	{ "unshare", AB_DEEDS(always_escape) },
	{ "update-rc.d", AB_DEEDS(rc) },
	{ "useradd", AB_DEEDS(always_users) },
	{ "userdel", AB_DEEDS(always_users) },
	{ "usermod", AB_DEEDS(always_users) },
	{ "vigr", AB_DEEDS(always_users) },
	{ "vipw", AB_DEEDS(always_users) },
	{ "visudo", AB_DEEDS(users) },
	{ "wg", AB_DEEDS(wg) },
	{ "wg-quick", AB_DEEDS(wg) },
};

const struct ab_toolbox ab_tools_system = { tools, AB_COUNT(tools) };

#define SYSRQ "/proc/sysrq-trigger"

/* Also `echo b | tee`, because that is how it is done with sudo. */
static bool pulls_sysrq(const struct ab_simple *command)
{
	for (size_t i = 0; i < command->nredirects; i++)
		if (ab_field_is(&command->redirects[i].file, SYSRQ) &&
		    command->redirects[i].op != AB_REDIR_IN)
			return true;
	if (!ab_text_is(command->name, "tee"))
		return false;
	for (size_t i = 1; i < command->argc; i++)
		if (ab_field_is(&command->argv[i], SYSRQ))
			return true;
	return false;
}

static bool is_init_script(const struct ab_simple *command)
{
	return command->argc > 1 &&
	       (ab_text_starts(command->argv[0].text, "/etc/init.d/") ||
		ab_text_starts(command->argv[0].text, "/etc/rc.d/")) &&
	       !ab_field_is(&command->argv[1], "status");
}

void ab_match_system(const struct ab_scene *scene,
		     const struct ab_simple *command, struct ab_hits *hits)
{
	(void)scene;
	if (pulls_sysrq(command))
		ab_hit_add(hits, AB_RULE_SHUTDOWN_REBOOT, command->range);
	if (is_init_script(command))
		ab_hit_add(hits, AB_RULE_SERVICE_MANAGEMENT, command->range);
	ab_toolbox_match(&ab_tools_system, command, hits);
	ab_toolbox_match(&ab_tools_packages, command, hits);
}
