/* Package managers of the system, and those that install for every project. */
#include "shell/tools/tool.h"

#define SYSTEM AB_RULE_SYSTEM_PACKAGE_INSTALL
#define GLOBAL AB_RULE_GLOBAL_INSTALL

static const struct ab_deed deeds[] = {
	AB_PROGRAMS("update-alternatives", AB_HELP_ALONE, "",
		    "--install --set --set-selections --config --auto --all --remove "
		    "--remove-all",
		    "", SYSTEM),
	AB_PROGRAMS(
		"add-apt-repository apt-add-repository dpkg-reconfigure xbps-install xbps-remove",
		AB_HELP_ALONE, "", .rule = SYSTEM),
	AB_PROGRAMS("apk", AB_HELP_ALONE, "add|del|update|upgrade|fix", "", "-s --simulate",
		    SYSTEM),
	AB_PROGRAMS("apt apt-get apt-mark aptitude", AB_HELP_ALONE,
		    "install|remove|purge|autoremove|autopurge|update|upgrade|safe-upgrade|"
		    "full-upgrade|dist-upgrade|dselect-upgrade|build-dep|reinstall|"
		    "satisfy|edit-sources|clean|autoclean|hold|unhold|markauto|unmarkauto|"
		    "auto|manual",
		    "", "-s --simulate --just-print --dry-run --recon --no-act --print-uris",
		    SYSTEM),
	AB_PROGRAMS("apt-key", AB_HELP_ALONE, "add|del|adv|update|net-update", .rule = SYSTEM),
	AB_PROGRAMS("brew", AB_HELP_LETTER, "services start|stop|restart|run|kill|cleanup",
		    .rule = AB_RULE_SERVICE_MANAGEMENT),
	{ AB_ALSO,
	  "install|uninstall|remove|rm|upgrade|update|reinstall|link|unlink|tap|"
	  "untap|cleanup|autoremove|pin|unpin|bundle|migrate",
	  "", "-n --dry-run", GLOBAL },
	AB_PROGRAMS("composer", AB_HELP_ALONE, "global require|remove|update|install", "",
		    "--dry-run", GLOBAL),
	{ AB_ALSO, "self-update|selfupdate", .rule = GLOBAL },
	AB_PROGRAMS("corepack", AB_HELP_ALONE, "enable|disable|use|up|install", .rule = GLOBAL),
	AB_PROGRAMS("dnf microdnf yum", AB_HELP_LETTER,
		    "install|remove|erase|update|upgrade|upgrade-minimal|downgrade|"
		    "reinstall|autoremove|distro-sync|swap|clean|localinstall|"
		    "groupinstall|groupremove|groupupdate|config-manager|copr|makecache|"
		    "builddep|mark|system-upgrade",
		    "", "--assumeno", SYSTEM),
	{ AB_ALSO,
	  "group|module|environment install|remove|update|upgrade|enable|"
	  "disable|reset|switch-to",
	  "", "--assumeno", SYSTEM },
	{ AB_ALSO, "history undo|redo|rollback", .rule = SYSTEM },
	AB_PROGRAMS("dotnet", AB_HELP_LETTER, "tool install|uninstall|update", "-g --global", "",
		    GLOBAL),
	{ AB_ALSO, "workload install|update|uninstall|restore", .rule = GLOBAL },
	AB_PROGRAMS("dpkg", AB_HELP_ALONE, "",
		    "-i --install -r --remove -P --purge --unpack --configure "
		    "--set-selections --clear-selections --add-architecture "
		    "--remove-architecture --triggers-only",
		    "--dry-run --no-act --simulate", SYSTEM),
	AB_PROGRAMS("emerge", AB_HELP_ALONE, "*", "",
		    "-p --pretend -s --search -S --searchdesc --info", SYSTEM),
	{ AB_ALSO, "", "--sync --depclean", "-p --pretend", SYSTEM },
	AB_PROGRAMS("flatpak", AB_HELP_LETTER,
		    "install|uninstall|remove|update|upgrade|override|remote-add|"
		    "remote-delete|remote-modify|repair|mask|pin",
		    .rule = SYSTEM),
	AB_PROGRAMS("gem", AB_HELP_LETTER, "install|uninstall|update|i|cleanup|pristine", "",
		    "-i --install-dir --user-install --explain", GLOBAL),
	AB_PROGRAMS("nix", AB_HELP_ALONE, "profile install|add|remove|upgrade|rollback",
		    .rule = GLOBAL),
	AB_PROGRAMS("nix-env", AB_HELP_ALONE, "",
		    "-i -e -u --install --uninstall --upgrade --set --rollback",
		    "--dry-run -q --query", GLOBAL),
	AB_PROGRAMS("npm pnpm yarn", AB_HELP_LETTER,
		    "install|i|in|ins|inst|isntall|add|uninstall|un|remove|rm|r|unlink|"
		    "update|up|upgrade|ci",
		    "-g --global --location=global", "--dry-run", GLOBAL),
	/* pnpm and yarn */
	{ AB_ALSO, "global add|remove|upgrade", .rule = GLOBAL },
	{ AB_ALSO, "env use|add|remove", "-g --global", "", GLOBAL },
	AB_PROGRAMS("pacman paru yay", AB_HELP_ALONE, "", "-S --sync",
		    "-s -i -l -g -p --search --info --list --groups --print", SYSTEM),
	{ AB_ALSO, "", "-R -U --remove --upgrade", "-p --print", SYSTEM },
	AB_PROGRAMS("pip", AB_HELP_LETTER, "install|uninstall",
		    "--break-system-packages --prefix=/usr "
		    "--prefix=/usr/local --root=/ --target=/usr",
		    "--dry-run", GLOBAL),
	AB_PROGRAMS("pipx", AB_HELP_LETTER,
		    "install|install-all|uninstall|uninstall-all|upgrade|upgrade-all|"
		    "reinstall|reinstall-all|inject|uninject|ensurepath",
		    .rule = GLOBAL),
	AB_PROGRAMS("opkg pkg port", AB_HELP_ALONE,
		    "install|uninstall|remove|delete|update|upgrade|autoremove|clean|add|"
		    "selfupdate|activate|deactivate|reinstall",
		    "", "-n --dry-run --noaction", SYSTEM),
	AB_PROGRAMS("rpm", AB_HELP_ALONE, "",
		    "-i -U -F -e --install --upgrade --freshen --erase --import "
		    "--rebuilddb --initdb --reinstall",
		    "-q --query -V --verify -K --checksig --test", SYSTEM),
	AB_PROGRAMS("rustup", AB_HELP_LETTER, "default|update|self|install|uninstall",
		    .rule = GLOBAL),
	{ AB_ALSO, "toolchain|component|target install|add|remove|uninstall|link", .rule = GLOBAL },
	AB_PROGRAMS("snap", AB_HELP_LETTER,
		    "install|remove|refresh|revert|enable|disable|connect|disconnect|set|"
		    "unset|start|stop|restart|alias|unalias|switch|try|restore",
		    "", "--list --time", SYSTEM),
	AB_PROGRAMS("choco scoop winget", AB_HELP_ALONE, "install|uninstall|upgrade|update|remove",
		    "", "--dry-run", GLOBAL),
	AB_PROGRAMS("uv", AB_HELP_LETTER, "tool install|uninstall|upgrade|update-shell",
		    .rule = GLOBAL),
	{ AB_ALSO, "pip install|uninstall|sync", "--system --break-system-packages", "--dry-run",
	  GLOBAL },
	{ AB_ALSO, "self update", .rule = GLOBAL },
	AB_PROGRAMS("zypper", AB_HELP_LETTER,
		    "install|in|remove|rm|update|up|dup|dist-upgrade|patch|addrepo|ar|"
		    "removerepo|rr|renamerepo|nr|modifyrepo|mr|refresh|ref|clean|cc|"
		    "source-install|si|addlock|al|removelock|rl",
		    "", "-D --dry-run", SYSTEM),
};

const struct ab_toolbox ab_tools_packages = { deeds, AB_COUNT(deeds), AB_TABLE_PACKAGES };
