/* The machine itself: power, kernel, services, users, network, packages. */
#include "shell/syntax/name_table.h"
#include "shell/tools/tool.h"

#define IPTABLES_CHANGES                                                      \
	"-A -D -I -R -F -Z -N -X -P -E --append --delete --insert --replace " \
	"--flush --zero --new-chain --delete-chain --policy --rename-chain"

static const struct ab_deed deeds[] = {
	AB_PROGRAMS("chroot criu nsenter pivot_root systemd-nspawn unshare", AB_HELP_ALONE, "",
		    .rule = AB_RULE_CONTAINER_ESCAPE),
	AB_PROGRAMS("insmod rmmod", AB_HELP_ALONE, "", .rule = AB_RULE_KERNEL_MODULE),
	AB_PROGRAMS("runuser su", AB_HELP_ALONE, "", .rule = AB_RULE_SU_PRIVILEGE),
	AB_PROGRAMS("doas pkexec run0 sudo sudoedit", AB_HELP_ALONE, "", .rule = AB_RULE_SUDO),
	/* Here the letters excluded by `users` have another meaning. */
	AB_PROGRAMS("addgroup adduser chfn chgpasswd chpasswd delgroup deluser gpasswd groupadd "
		    "groupdel groupmod newusers useradd userdel usermod vigr vipw",
		    AB_HELP_ALONE, "", .rule = AB_RULE_USER_MANAGEMENT),
	AB_PROGRAMS("dscl", AB_HELP_ALONE, "", "-create -delete -append -merge -passwd -change", "",
		    AB_RULE_USER_MANAGEMENT),
	AB_PROGRAMS("firewall-cmd", AB_HELP_ALONE, "",
		    "--add-* --remove-* --set-* --new-* --delete-* --change-* --load-* "
		    "--reload --complete-reload --panic-on --panic-off "
		    "--runtime-to-permanent --reset-to-defaults",
		    "", AB_RULE_FIREWALL_MANAGEMENT),
	AB_PROGRAMS("halt poweroff reboot", AB_HELP_LONG, "", "", "-w --wtmp-only",
		    AB_RULE_SHUTDOWN_REBOOT),
	AB_PROGRAMS("ifconfig", AB_HELP_ALONE, "* *", .rule = AB_RULE_FIREWALL_MANAGEMENT),
	AB_PROGRAMS("init telinit", AB_HELP_ALONE, "0|6", .rule = AB_RULE_SHUTDOWN_REBOOT),
	AB_PROGRAMS("ip", AB_HELP_ALONE,
		    "* add|del|delete|change|chg|replace|append|flush|set|restore",
		    .rule = AB_RULE_FIREWALL_MANAGEMENT),
	{ AB_ALSO, "netns exec", .rule = AB_RULE_CONTAINER_ESCAPE },
	AB_PROGRAMS("arptables ebtables ip6tables ip6tables-legacy ip6tables-nft iptables "
		    "iptables-legacy iptables-nft",
		    AB_HELP_ALONE, "", IPTABLES_CHANGES, "", AB_RULE_FIREWALL_MANAGEMENT),
	AB_PROGRAMS("kexec", AB_HELP_LETTER, "", "-l -e -p -f --load --exec --load-panic --force",
		    "", AB_RULE_KERNEL_MODULE),
	AB_PROGRAMS("launchctl", AB_HELP_ALONE,
		    "load|unload|start|stop|bootstrap|bootout|kickstart|kill|enable|"
		    "disable|remove|submit|setenv|unsetenv|config|reboot",
		    .rule = AB_RULE_SERVICE_MANAGEMENT),
	AB_PROGRAMS("loginctl", AB_HELP_LETTER, "reboot|poweroff|halt",
		    .rule = AB_RULE_SHUTDOWN_REBOOT),
	{ AB_ALSO,
	  "terminate-*|kill-*|lock-*|unlock-*|enable-linger|disable-linger|"
	  "set-*|attach|flush-devices|activate",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
	AB_PROGRAMS("losetup", AB_HELP_ALONE, "*", "", "-l --list -a --all -j --associated",
		    AB_RULE_CONTAINER_ESCAPE),
	{ AB_ALSO, "", "-d -D --detach --detach-all", "", AB_RULE_CONTAINER_ESCAPE },
	AB_PROGRAMS("depmod", AB_HELP_ALONE, "", "",
		    "-n --dry-run --simulate --show -D --show-depends -c --showconfig "
		    "-R --resolve-alias --dump-modversions --show-modversions",
		    AB_RULE_KERNEL_MODULE),
	AB_PROGRAMS("modprobe", AB_HELP_LETTER, "", "",
		    "-n --dry-run --simulate --show -D --show-depends -c --showconfig "
		    "-R --resolve-alias --dump-modversions --show-modversions",
		    AB_RULE_KERNEL_MODULE),
	AB_PROGRAMS("mount umount", AB_HELP_ALONE, "*", .rule = AB_RULE_CONTAINER_ESCAPE),
	{ AB_ALSO, "", "-a --all", "", AB_RULE_CONTAINER_ESCAPE },
	AB_PROGRAMS("nft", AB_HELP_LETTER,
		    "add|create|delete|destroy|flush|insert|replace|rename|reset", "", "-c --check",
		    AB_RULE_FIREWALL_MANAGEMENT),
	{ AB_ALSO, "", "-f --file", "-c --check", AB_RULE_FIREWALL_MANAGEMENT },
	AB_PROGRAMS("nmcli", AB_HELP_ALONE,
		    "connection|con|c up|down|add|modify|delete|reload|load|edit|clone|"
		    "import",
		    .rule = AB_RULE_FIREWALL_MANAGEMENT),
	{ AB_ALSO, "device|dev|d connect|disconnect|set|delete|reapply|modify",
	  .rule = AB_RULE_FIREWALL_MANAGEMENT },
	{ AB_ALSO, "networking|net|n ** on|off", .rule = AB_RULE_FIREWALL_MANAGEMENT },
	AB_PROGRAMS("gcore reptyr", AB_HELP_ALONE, "*", .rule = AB_RULE_CONTAINER_ESCAPE,
		    .reason = "Attaches to another process."),
	AB_PROGRAMS("chkconfig rc-update update-rc.d", AB_HELP_ALONE, "", "", "--list show",
		    AB_RULE_SERVICE_MANAGEMENT),
	AB_PROGRAMS("ip6tables-restore iptables-restore", AB_HELP_ALONE, "", "", "-t --test",
		    AB_RULE_FIREWALL_MANAGEMENT),
	AB_PROGRAMS("route", AB_HELP_ALONE, "add|del|delete|flush|change",
		    .rule = AB_RULE_FIREWALL_MANAGEMENT),
	AB_PROGRAMS("rc-service service", AB_HELP_ALONE,
		    "* start|stop|restart|reload|force-reload|try-restart|condrestart|zap",
		    .rule = AB_RULE_SERVICE_MANAGEMENT),
	AB_PROGRAMS("setenforce", AB_HELP_ALONE, "*", .rule = AB_RULE_FIREWALL_MANAGEMENT,
		    .reason = "Changes a protection of the machine."),
	AB_PROGRAMS("hostnamectl localectl timedatectl", AB_HELP_ALONE,
		    "set-*|hostname|chassis|location|deployment *",
		    .rule = AB_RULE_SERVICE_MANAGEMENT, .reason = "Changes a machine setting."),
	AB_PROGRAMS("shutdown", AB_HELP_LONG, "", "", "-c -k --show", AB_RULE_SHUTDOWN_REBOOT),
	AB_PROGRAMS("initctl supervisorctl sv", AB_HELP_ALONE,
		    "start|stop|restart|reload|update|shutdown|add|remove|signal|clear|"
		    "up|down|once|pause|cont|hup|term|exit",
		    .rule = AB_RULE_SERVICE_MANAGEMENT),
	AB_PROGRAMS("sysctl", AB_HELP_LETTER, "", "-w --write -p --load --system *=*", "",
		    AB_RULE_FIREWALL_MANAGEMENT, false, "Changes a kernel setting."),
	AB_PROGRAMS("systemctl", AB_HELP_LETTER, "reboot|poweroff|halt|kexec|soft-reboot", "",
		    "--dry-run", AB_RULE_SHUTDOWN_REBOOT),
	{ AB_ALSO, "start|isolate reboot.target|poweroff.target|halt.target|kexec.target",
	  .rule = AB_RULE_SHUTDOWN_REBOOT },
	{ AB_ALSO,
	  "start|stop|restart|reload|try-restart|condrestart|"
	  "reload-or-restart|try-reload-or-restart|isolate|kill|clean|freeze|"
	  "thaw|set-property|bind|mount-image|enable|disable|reenable|preset|"
	  "preset-all|mask|unmask|link|revert|add-wants|add-requires",
	  "", "--dry-run", AB_RULE_SERVICE_MANAGEMENT },
	{ AB_ALSO,
	  "edit|set-default|import-environment|set-environment|"
	  "unset-environment|daemon-reload|daemon-reexec|suspend|hibernate|"
	  "hybrid-sleep|suspend-then-hibernate|rescue|emergency|default|"
	  "switch-root|cancel|reset-failed|exit",
	  "", "--dry-run", AB_RULE_SERVICE_MANAGEMENT },
	AB_PROGRAMS("systemd-run", AB_HELP_ALONE, "", .rule = AB_RULE_CONTAINER_ESCAPE,
		    .reason = "Runs a command outside the box."),
	AB_PROGRAMS("tc", AB_HELP_ALONE, "* add|del|delete|change|replace|link",
		    .rule = AB_RULE_FIREWALL_MANAGEMENT),
	AB_PROGRAMS("gdb lldb ltrace strace", AB_HELP_ALONE, "", "-p --pid --attach -pid* -attach*",
		    "", AB_RULE_CONTAINER_ESCAPE, false, "Attaches to another process."),
	AB_PROGRAMS("ufw", AB_HELP_ALONE,
		    "enable|disable|allow|deny|reject|limit|delete|insert|prepend|route|"
		    "reload|reset|default|logging",
		    "", "--dry-run", AB_RULE_FIREWALL_MANAGEMENT),
	AB_PROGRAMS("chage chsh passwd visudo", AB_HELP_ALONE, "", "",
		    "-S --status -l --list -c --check", AB_RULE_USER_MANAGEMENT),
	AB_PROGRAMS("wg wg-quick", AB_HELP_ALONE, "set|setconf|addconf|syncconf|up|down|save",
		    .rule = AB_RULE_FIREWALL_MANAGEMENT),
};

const struct ab_toolbox ab_tools_system = { deeds, AB_COUNT(deeds), AB_TABLE_SYSTEM };

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

	for (struct ab_opt_walk w = ab_opt_begin(none, command->argv, command->argc);
	     ab_opt_next(&w);) {
		by_owner |= ab_opt_is(&w, 'u', NULL) || ab_opt_is(&w, 't', NULL) ||
			    ab_opt_is(&w, 'U', NULL) || ab_opt_is(&w, 0, "user") ||
			    ab_opt_is(&w, 0, "euid");
		if (w.what != AB_OPT_OPERAND)
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
static const struct {
	bool (*kills)(const struct ab_simple *command); /* NULL: always */
} killers[] = {
	AB_PROGRAMS("kill", names_all_processes),
	AB_PROGRAMS("killall pkill skill", selects_all_processes),
	AB_PROGRAMS("killall5", NULL),
};

static bool kills_wholesale(const struct ab_simple *command)
{
	const __typeof__(killers[0]) *row = AB_COMMAND_ROW(killers, AB_TABLE_KILLERS, command);

	return row && (!row->kills || row->kills(command));
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
