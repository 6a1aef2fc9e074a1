/* Package managers of the system, and those that install for every project. */
#include "base/data/mem.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

#define SYSTEM AB_RULE_SYSTEM_PACKAGE_INSTALL
#define GLOBAL AB_RULE_GLOBAL_INSTALL

/* Sorted by name. */
static const struct ab_deed deeds[] = {
	{ "alternatives", "",
	  "--install --set --set-selections --config --auto --all --remove "
	  "--remove-all",
	  "", SYSTEM },
	{ "any_system", "", .rule = SYSTEM },
	{ "apk", "add|del|update|upgrade|fix", "", "-s --simulate", SYSTEM },
	{ "apt",
	  "install|remove|purge|autoremove|autopurge|update|upgrade|safe-upgrade|"
	  "full-upgrade|dist-upgrade|dselect-upgrade|build-dep|reinstall|"
	  "satisfy|edit-sources|clean|autoclean|hold|unhold|markauto|unmarkauto|"
	  "auto|manual",
	  "", "-s --simulate --just-print --dry-run --recon --no-act --print-uris", SYSTEM },
	{ "apt_key", "add|del|adv|update|net-update", .rule = SYSTEM },
	{ "brew", "services start|stop|restart|run|kill|cleanup",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
	{ "brew",
	  "install|uninstall|remove|rm|upgrade|update|reinstall|link|unlink|tap|"
	  "untap|cleanup|autoremove|pin|unpin|bundle|migrate",
	  "", "-n --dry-run", GLOBAL },
	{ "composer", "global require|remove|update|install", "", "--dry-run", GLOBAL },
	{ "composer", "self-update|selfupdate", .rule = GLOBAL },
	{ "corepack", "enable|disable|use|up|install", .rule = GLOBAL },
	{ "dnf",
	  "install|remove|erase|update|upgrade|upgrade-minimal|downgrade|"
	  "reinstall|autoremove|distro-sync|swap|clean|localinstall|"
	  "groupinstall|groupremove|groupupdate|config-manager|copr|makecache|"
	  "builddep|mark|system-upgrade",
	  "", "--assumeno", SYSTEM },
	{ "dnf",
	  "group|module|environment install|remove|update|upgrade|enable|"
	  "disable|reset|switch-to",
	  "", "--assumeno", SYSTEM },
	{ "dnf", "history undo|redo|rollback", .rule = SYSTEM },
	{ "dotnet", "tool install|uninstall|update", "-g --global", "", GLOBAL },
	{ "dotnet", "workload install|update|uninstall|restore", .rule = GLOBAL },
	{ "dpkg", "",
	  "-i --install -r --remove -P --purge --unpack --configure "
	  "--set-selections --clear-selections --add-architecture "
	  "--remove-architecture --triggers-only",
	  "--dry-run --no-act --simulate", SYSTEM },
	{ "emerge", "*", "", "-p --pretend -s --search -S --searchdesc --info", SYSTEM },
	{ "emerge", "", "--sync --depclean", "-p --pretend", SYSTEM },
	{ "flatpak",
	  "install|uninstall|remove|update|upgrade|override|remote-add|"
	  "remote-delete|remote-modify|repair|mask|pin",
	  .rule = SYSTEM },
	{ "gem", "install|uninstall|update|i|cleanup|pristine", "",
	  "-i --install-dir --user-install --explain", GLOBAL },
	{ "nix", "profile install|add|remove|upgrade|rollback", .rule = GLOBAL },
	{ "nix_env", "", "-i -e -u --install --uninstall --upgrade --set --rollback",
	  "--dry-run -q --query", GLOBAL },
	{ "npm",
	  "install|i|in|ins|inst|isntall|add|uninstall|un|remove|rm|r|unlink|"
	  "update|up|upgrade|ci",
	  "-g --global --location=global", "--dry-run", GLOBAL },
	/* pnpm and yarn */
	{ "npm", "global add|remove|upgrade", .rule = GLOBAL },
	{ "npm", "env use|add|remove", "-g --global", "", GLOBAL },
	{ "pacman", "", "-S --sync", "-s -i -l -g -p --search --info --list --groups --print",
	  SYSTEM },
	{ "pacman", "", "-R -U --remove --upgrade", "-p --print", SYSTEM },
	{ "pip", "install|uninstall",
	  "--break-system-packages --prefix=/usr "
	  "--prefix=/usr/local --root=/ --target=/usr",
	  "--dry-run", GLOBAL },
	{ "pipx",
	  "install|install-all|uninstall|uninstall-all|upgrade|upgrade-all|"
	  "reinstall|reinstall-all|inject|uninject|ensurepath",
	  .rule = GLOBAL },
	{ "pkg",
	  "install|uninstall|remove|delete|update|upgrade|autoremove|clean|add|"
	  "selfupdate|activate|deactivate|reinstall",
	  "", "-n --dry-run --noaction", SYSTEM },
	{ "rpm", "",
	  "-i -U -F -e --install --upgrade --freshen --erase --import "
	  "--rebuilddb --initdb --reinstall",
	  "-q --query -V --verify -K --checksig --test", SYSTEM },
	{ "rustup", "default|update|self|install|uninstall", .rule = GLOBAL },
	{ "rustup", "toolchain|component|target install|add|remove|uninstall|link",
	  .rule = GLOBAL },
	{ "snap",
	  "install|remove|refresh|revert|enable|disable|connect|disconnect|set|"
	  "unset|start|stop|restart|alias|unalias|switch|try|restore",
	  "", "--list --time", SYSTEM },
	{ "stores", "install|uninstall|upgrade|update|remove", "", "--dry-run", GLOBAL },
	{ "uv", "tool install|uninstall|upgrade|update-shell", .rule = GLOBAL },
	{ "uv", "pip install|uninstall|sync", "--system --break-system-packages", "--dry-run",
	  GLOBAL },
	{ "uv", "self update", .rule = GLOBAL },
	{ "zypper",
	  "install|in|remove|rm|update|up|dup|dist-upgrade|patch|addrepo|ar|"
	  "removerepo|rr|renamerepo|nr|modifyrepo|mr|refresh|ref|clean|cc|"
	  "source-install|si|addlock|al|removelock|rl",
	  "", "-D --dry-run", SYSTEM },
};

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "add-apt-repository", "any_system" },
	{ "apk", "apk" },
	{ "apt", "apt" },
	{ "apt-add-repository", "any_system" },
	{ "apt-get", "apt" },
	{ "apt-key", "apt_key" },
	{ "apt-mark", "apt" },
	{ "aptitude", "apt" },
	{ "brew", "brew", AB_HELP_LETTER },
	{ "choco", "stores" },
	{ "composer", "composer" },
	{ "corepack", "corepack" },
	{ "dnf", "dnf", AB_HELP_LETTER },
	{ "dotnet", "dotnet", AB_HELP_LETTER },
	{ "dpkg", "dpkg" },
	{ "dpkg-reconfigure", "any_system" },
	{ "emerge", "emerge" },
	{ "flatpak", "flatpak", AB_HELP_LETTER },
	{ "gem", "gem", AB_HELP_LETTER },
	{ "microdnf", "dnf", AB_HELP_LETTER },
	{ "nix", "nix" },
	{ "nix-env", "nix_env" },
	{ "npm", "npm", AB_HELP_LETTER },
	{ "opkg", "pkg" },
	{ "pacman", "pacman" },
	{ "paru", "pacman" },
	{ "pip", "pip", AB_HELP_LETTER },
	{ "pipx", "pipx", AB_HELP_LETTER },
	{ "pkg", "pkg" },
	{ "pnpm", "npm", AB_HELP_LETTER },
	{ "port", "pkg" },
	{ "rpm", "rpm" },
	{ "rustup", "rustup", AB_HELP_LETTER },
	{ "scoop", "stores" },
	{ "snap", "snap", AB_HELP_LETTER },
	{ "update-alternatives", "alternatives" },
	{ "uv", "uv", AB_HELP_LETTER },
	{ "winget", "stores" },
	{ "xbps-install", "any_system" },
	{ "xbps-remove", "any_system" },
	{ "yarn", "npm", AB_HELP_LETTER },
	{ "yay", "pacman" },
	{ "yum", "dnf", AB_HELP_LETTER },
	{ "zypper", "zypper", AB_HELP_LETTER },
};

const struct ab_toolbox ab_tools_packages = { tools, AB_COUNT(tools), deeds, AB_COUNT(deeds),
					      AB_TABLE_PACKAGES };
