/* The machine itself: power, kernel, services, users, network, packages. */
#include "base/data/mem.h"
#include "shell/syntax/name_table.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

#define IPTABLES_CHANGES                                                      \
	"-A -D -I -R -F -Z -N -X -P -E --append --delete --insert --replace " \
	"--flush --zero --new-chain --delete-chain --policy --rename-chain"

/* Sorted by name; test/unit/shell_command_rules.c checks the order. */
static const struct ab_deed deeds[] = {
	{ "always_escape", "", .rule = AB_RULE_CONTAINER_ESCAPE },
	{ "always_module", "", .rule = AB_RULE_KERNEL_MODULE },
	{ "always_su", "", .rule = AB_RULE_SU_PRIVILEGE },
	{ "always_sudo", "", .rule = AB_RULE_SUDO },
	/* Here the letters excluded by `users` have another meaning. */
	{ "always_users", "", .rule = AB_RULE_USER_MANAGEMENT },
	{ "dscl", "", "-create -delete -append -merge -passwd -change", "",
	  AB_RULE_USER_MANAGEMENT },
	{ "firewall_cmd", "",
	  "--add-* --remove-* --set-* --new-* --delete-* --change-* --load-* "
	  "--reload --complete-reload --panic-on --panic-off "
	  "--runtime-to-permanent --reset-to-defaults",
	  "", AB_RULE_FIREWALL_MANAGEMENT },
	{ "halt", "", "", "-w --wtmp-only", AB_RULE_SHUTDOWN_REBOOT },
	{ "ifconfig", "* *", .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "init", "0|6", .rule = AB_RULE_SHUTDOWN_REBOOT },
	{ "ip", "* add|del|delete|change|chg|replace|append|flush|set|restore",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "ip", "netns exec", .rule = AB_RULE_CONTAINER_ESCAPE },
	{ "iptables", "", IPTABLES_CHANGES, "", AB_RULE_FIREWALL_MANAGEMENT },
	{ "kexec", "", "-l -e -p -f --load --exec --load-panic --force", "",
	  AB_RULE_KERNEL_MODULE },
	{ "launchctl",
	  "load|unload|start|stop|bootstrap|bootout|kickstart|kill|enable|"
	  "disable|remove|submit|setenv|unsetenv|config|reboot",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
	{ "loginctl", "reboot|poweroff|halt", .rule = AB_RULE_SHUTDOWN_REBOOT },
	{ "loginctl",
	  "terminate-*|kill-*|lock-*|unlock-*|enable-linger|disable-linger|"
	  "set-*|attach|flush-devices|activate",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
	{ "losetup", "*", "", "-l --list -a --all -j --associated", AB_RULE_CONTAINER_ESCAPE },
	{ "losetup", "", "-d -D --detach --detach-all", "", AB_RULE_CONTAINER_ESCAPE },
	{ "modprobe", "", "",
	  "-n --dry-run --simulate --show -D --show-depends -c --showconfig "
	  "-R --resolve-alias --dump-modversions --show-modversions",
	  AB_RULE_KERNEL_MODULE },
	{ "mount", "*", .rule = AB_RULE_CONTAINER_ESCAPE },
	{ "mount", "", "-a --all", "", AB_RULE_CONTAINER_ESCAPE },
	{ "nft", "add|create|delete|destroy|flush|insert|replace|rename|reset", "", "-c --check",
	  AB_RULE_FIREWALL_MANAGEMENT },
	{ "nft", "", "-f --file", "-c --check", AB_RULE_FIREWALL_MANAGEMENT },
	{ "nmcli",
	  "connection|con|c up|down|add|modify|delete|reload|load|edit|clone|"
	  "import",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "nmcli", "device|dev|d connect|disconnect|set|delete|reapply|modify",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "nmcli", "networking|net|n ** on|off", .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "pid", "*", .rule = AB_RULE_CONTAINER_ESCAPE, .reason = "Attaches to another process." },
	{ "rc", "", "", "--list show", AB_RULE_SERVICE_MANAGEMENT },
	{ "restore", "", "", "-t --test", AB_RULE_FIREWALL_MANAGEMENT },
	{ "route", "add|del|delete|flush|change", .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "service", "* start|stop|restart|reload|force-reload|try-restart|condrestart|zap",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
	{ "setenforce", "*", .rule = AB_RULE_FIREWALL_MANAGEMENT,
	  .reason = "Changes a protection of the machine." },
	{ "settings", "set-*|hostname|chassis|location|deployment *",
	  .rule = AB_RULE_SERVICE_MANAGEMENT, .reason = "Changes a machine setting." },
	{ "shutdown", "", "", "-c -k --show", AB_RULE_SHUTDOWN_REBOOT },
	{ "supervisorctl",
	  "start|stop|restart|reload|update|shutdown|add|remove|signal|clear|"
	  "up|down|once|pause|cont|hup|term|exit",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
	{ "sysctl", "", "-w --write -p --load --system *=*", "", AB_RULE_FIREWALL_MANAGEMENT, false,
	  "Changes a kernel setting." },
	{ "systemctl", "reboot|poweroff|halt|kexec|soft-reboot", "", "--dry-run",
	  AB_RULE_SHUTDOWN_REBOOT },
	{ "systemctl", "start|isolate reboot.target|poweroff.target|halt.target|kexec.target",
	  .rule = AB_RULE_SHUTDOWN_REBOOT },
	{ "systemctl",
	  "start|stop|restart|reload|try-restart|condrestart|"
	  "reload-or-restart|try-reload-or-restart|isolate|kill|clean|freeze|"
	  "thaw|set-property|bind|mount-image|enable|disable|reenable|preset|"
	  "preset-all|mask|unmask|link|revert|add-wants|add-requires",
	  "", "--dry-run", AB_RULE_SERVICE_MANAGEMENT },
	{ "systemctl",
	  "edit|set-default|import-environment|set-environment|"
	  "unset-environment|daemon-reload|daemon-reexec|suspend|hibernate|"
	  "hybrid-sleep|suspend-then-hibernate|rescue|emergency|default|"
	  "switch-root|cancel|reset-failed|exit",
	  "", "--dry-run", AB_RULE_SERVICE_MANAGEMENT },
	{ "systemd_run", "", .rule = AB_RULE_CONTAINER_ESCAPE,
	  .reason = "Runs a command outside the box." },
	{ "tc", "* add|del|delete|change|replace|link", .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ "tracer", "", "-p --pid --attach -pid* -attach*", "", AB_RULE_CONTAINER_ESCAPE, false,
	  "Attaches to another process." },
	{ "ufw",
	  "enable|disable|allow|deny|reject|limit|delete|insert|prepend|route|"
	  "reload|reset|default|logging",
	  "", "--dry-run", AB_RULE_FIREWALL_MANAGEMENT },
	{ "users", "", "", "-S --status -l --list -c --check", AB_RULE_USER_MANAGEMENT },
	{ "wg", "set|setconf|addconf|syncconf|up|down|save", .rule = AB_RULE_FIREWALL_MANAGEMENT },
};

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "addgroup", "always_users" },
	{ "adduser", "always_users" },
	{ "arptables", "iptables" },
	{ "chage", "users" },
	{ "chfn", "always_users" },
	{ "chgpasswd", "always_users" },
	{ "chkconfig", "rc" },
	{ "chpasswd", "always_users" },
	{ "chroot", "always_escape" },
	{ "chsh", "users" },
	{ "criu", "always_escape" },
	{ "delgroup", "always_users" },
	{ "deluser", "always_users" },
	{ "depmod", "modprobe" },
	{ "doas", "always_sudo" },
	{ "dscl", "dscl" },
	{ "ebtables", "iptables" },
	{ "firewall-cmd", "firewall_cmd" },
	{ "gcore", "pid" },
	{ "gdb", "tracer" },
	{ "gpasswd", "always_users" },
	{ "groupadd", "always_users" },
	{ "groupdel", "always_users" },
	{ "groupmod", "always_users" },
	{ "halt", "halt", AB_HELP_LONG },
	{ "hostnamectl", "settings" },
	{ "ifconfig", "ifconfig" },
	{ "init", "init" },
	{ "initctl", "supervisorctl" },
	{ "insmod", "always_module" },
	{ "ip", "ip" },
	{ "ip6tables", "iptables" },
	{ "ip6tables-legacy", "iptables" },
	{ "ip6tables-nft", "iptables" },
	{ "ip6tables-restore", "restore" },
	{ "iptables", "iptables" },
	{ "iptables-legacy", "iptables" },
	{ "iptables-nft", "iptables" },
	{ "iptables-restore", "restore" },
	{ "kexec", "kexec", AB_HELP_LETTER },
	{ "launchctl", "launchctl" },
	{ "lldb", "tracer" },
	{ "localectl", "settings" },
	{ "loginctl", "loginctl", AB_HELP_LETTER },
	{ "losetup", "losetup" },
	{ "ltrace", "tracer" },
	{ "modprobe", "modprobe", AB_HELP_LETTER },
	{ "mount", "mount" },
	{ "newusers", "always_users" },
	{ "nft", "nft", AB_HELP_LETTER },
	{ "nmcli", "nmcli" },
	{ "nsenter", "always_escape" },
	{ "passwd", "users" },
	{ "pivot_root", "always_escape" },
	{ "pkexec", "always_sudo" },
	{ "poweroff", "halt", AB_HELP_LONG },
	{ "rc-service", "service" },
	{ "rc-update", "rc" },
	{ "reboot", "halt", AB_HELP_LONG },
	{ "reptyr", "pid" },
	{ "rmmod", "always_module" },
	{ "route", "route" },
	{ "run0", "always_sudo" },
	{ "runuser", "always_su" },
	{ "service", "service" },
	{ "setenforce", "setenforce" },
	{ "shutdown", "shutdown", AB_HELP_LONG },
	{ "strace", "tracer" },
	{ "su", "always_su" },
	{ "sudo", "always_sudo" },
	{ "sudoedit", "always_sudo" },
	{ "supervisorctl", "supervisorctl" },
	{ "sv", "supervisorctl" },
	{ "sysctl", "sysctl", AB_HELP_LETTER },
	{ "systemctl", "systemctl", AB_HELP_LETTER },
	{ "systemd-nspawn", "always_escape" },
	{ "systemd-run", "systemd_run" },
	{ "tc", "tc" },
	{ "telinit", "init" },
	{ "timedatectl", "settings" },
	{ "ufw", "ufw" },
	{ "umount", "mount" },
	{ "unshare", "always_escape" },
	{ "update-rc.d", "rc" },
	{ "useradd", "always_users" },
	{ "userdel", "always_users" },
	{ "usermod", "always_users" },
	{ "vigr", "always_users" },
	{ "vipw", "always_users" },
	{ "visudo", "users" },
	{ "wg", "wg" },
	{ "wg-quick", "wg" },
};

const struct ab_toolbox ab_tools_system = { tools, AB_COUNT(tools), deeds, AB_COUNT(deeds),
					    AB_TABLE_SYSTEM };

#define SYSRQ "/proc/sysrq-trigger"

/* Includes `echo b | tee`, the usual way with sudo. */
static bool writes_sysrq(const struct ab_simple *command)
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

/* A pattern that every process matches. */
static bool matches_every_process(struct ab_text pattern)
{
	return ab_listed(". .* ^ ^.* .+ [a-z] [a-z]* $", pattern) || pattern.len == 0;
}

/* Sorted by name. */
static const struct {
	char name[10];
	enum { BY_NUMBER, BY_PATTERN, EVERYTHING } kills;
} killers[] = {
	{ "kill", BY_NUMBER },	 { "killall", BY_PATTERN }, { "killall5", EVERYTHING },
	{ "pkill", BY_PATTERN }, { "skill", BY_PATTERN },
};

/* The first "-1" may be a signal; a later one is every process. */
static bool names_all_processes(const struct ab_simple *command)
{
	for (size_t i = 2; i < command->argc; i++)
		if (ab_field_is(&command->argv[i], "-1"))
			return true;
	return false;
}

static bool selects_all_processes(const struct ab_simple *command)
{
	static const struct ab_opts none = { "Ggstu-9", "", 0, false, 0 };
	bool by_owner = false, named = false, every = false;
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &none, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		by_owner |= ab_opt_is(&w, what, 'u', NULL) || ab_opt_is(&w, what, 't', NULL) ||
			    ab_opt_is(&w, what, 'U', NULL) || ab_opt_is(&w, what, 0, "user") ||
			    ab_opt_is(&w, what, 0, "euid");
		if (what != AB_OPT_OPERAND)
			continue;
		named = true;
		every |= matches_every_process(w.value.text);
	}
	return every || (by_owner && !named);
}

/*
 * Processes that are killed wholesale: `kill -1` (all), killall5, pkill and killall by
 * user, by terminal or by a pattern that matches all of them.
 */
static bool kills_wholesale(const struct ab_simple *command)
{
	const __typeof__(killers[0]) *row = AB_COMMAND_ROW(killers, AB_TABLE_KILLERS, command);

	if (!row)
		return false;
	switch (row->kills) {
	case BY_NUMBER:
		return names_all_processes(command);
	case BY_PATTERN:
		return selects_all_processes(command);
	case EVERYTHING:
		return true;
	}
	return false;
}

void ab_match_system(const struct ab_scene *scene, const struct ab_simple *command,
		     struct ab_hits *hits)
{
	(void)scene;
	if (writes_sysrq(command))
		ab_hit_add(hits, AB_RULE_SHUTDOWN_REBOOT, command->range);
	if (is_init_script(command))
		ab_hit_add(hits, AB_RULE_SERVICE_MANAGEMENT, command->range);
	if (kills_wholesale(command))
		ab_hit_add(hits, AB_RULE_PROCESS_KILL, command->range);
	ab_toolbox_match(&ab_tools_system, command, hits);
	ab_toolbox_match(&ab_tools_packages, command, hits);
}
