/* Package managers: of the system, and those that install for every project. */
#include "base/mem.h"
#include "shell/tool.h"

#define SYSTEM AB_RULE_SYSTEM_PACKAGE_INSTALL
#define GLOBAL AB_RULE_GLOBAL_INSTALL

static const struct ab_deed apt[] = {
	{ "install|remove|purge|autoremove|autopurge|update|upgrade|safe-upgrade|"
	  "full-upgrade|dist-upgrade|dselect-upgrade|build-dep|reinstall|"
	  "satisfy|edit-sources|clean|autoclean|hold|unhold|markauto|unmarkauto|"
	  "auto|manual",
	  NULL,
	  "-s --simulate --just-print --dry-run --recon --no-act --print-uris",
	  SYSTEM },
};
static const struct ab_deed any_system[] = { { "", .rule = SYSTEM } };
static const struct ab_deed apt_key[] = {
	{ "add|del|adv|update|net-update", .rule = SYSTEM },
};
static const struct ab_deed dpkg[] = {
	{ "",
	  "-i --install -r --remove -P --purge --unpack --configure "
	  "--set-selections --clear-selections --add-architecture "
	  "--remove-architecture --triggers-only",
	  "--dry-run --no-act --simulate", SYSTEM },
};
static const struct ab_deed alternatives[] = {
	{ "",
	  "--install --set --set-selections --config --auto --all --remove "
	  "--remove-all",
	  NULL, SYSTEM },
};
static const struct ab_deed dnf[] = {
	{ "install|remove|erase|update|upgrade|upgrade-minimal|downgrade|"
	  "reinstall|autoremove|distro-sync|swap|clean|localinstall|"
	  "groupinstall|groupremove|groupupdate|config-manager|copr|makecache|"
	  "builddep|mark|system-upgrade",
	  NULL, "--assumeno", SYSTEM },
	{ "group|module|environment install|remove|update|upgrade|enable|"
	  "disable|reset|switch-to",
	  NULL, "--assumeno", SYSTEM },
	{ "history undo|redo|rollback", .rule = SYSTEM },
};
static const struct ab_deed zypper[] = {
	{ "install|in|remove|rm|update|up|dup|dist-upgrade|patch|addrepo|ar|"
	  "removerepo|rr|renamerepo|nr|modifyrepo|mr|refresh|ref|clean|cc|"
	  "source-install|si|addlock|al|removelock|rl",
	  NULL, "-D --dry-run", SYSTEM },
};
static const struct ab_deed rpm[] = {
	{ "",
	  "-i -U -F -e --install --upgrade --freshen --erase --import "
	  "--rebuilddb --initdb --reinstall",
	  "-q --query -V --verify -K --checksig --test", SYSTEM },
};
static const struct ab_deed pacman[] = {
	{ "", "-S --sync",
	  "-s -i -l -g -p --search --info --list --groups --print", SYSTEM },
	{ "", "-R -U --remove --upgrade", "-p --print", SYSTEM },
};
static const struct ab_deed apk[] = {
	{ "add|del|update|upgrade|fix", NULL, "-s --simulate", SYSTEM },
};
static const struct ab_deed pkg[] = {
	{ "install|uninstall|remove|delete|update|upgrade|autoremove|clean|add|"
	  "selfupdate|activate|deactivate|reinstall",
	  NULL, "-n --dry-run --noaction", SYSTEM },
};
static const struct ab_deed snap[] = {
	{ "install|remove|refresh|revert|enable|disable|connect|disconnect|set|"
	  "unset|start|stop|restart|alias|unalias|switch|try|restore",
	  NULL, "--list --time", SYSTEM },
};
static const struct ab_deed flatpak[] = {
	{ "install|uninstall|remove|update|upgrade|override|remote-add|"
	  "remote-delete|remote-modify|repair|mask|pin",
	  .rule = SYSTEM },
};
static const struct ab_deed emerge[] = {
	{ "*", NULL, "-p --pretend -s --search -S --searchdesc --info",
	  SYSTEM },
	{ "", "--sync --depclean", "-p --pretend", SYSTEM },
};

static const struct ab_deed npm[] = {
	{ "install|i|in|ins|inst|isntall|add|uninstall|un|remove|rm|r|unlink|"
	  "update|up|upgrade|ci",
	  "-g --global --location=global", "--dry-run", GLOBAL },
	/* pnpm's and yarn's */
	{ "global add|remove|upgrade", .rule = GLOBAL },
	{ "env use|add|remove", "-g --global", NULL, GLOBAL },
};
static const struct ab_deed pip[] = {
	{ "install|uninstall",
	  "--break-system-packages --prefix=/usr "
	  "--prefix=/usr/local --root=/ --target=/usr",
	  "--dry-run", GLOBAL },
};
static const struct ab_deed pipx[] = {
	{ "install|install-all|uninstall|uninstall-all|upgrade|upgrade-all|"
	  "reinstall|reinstall-all|inject|uninject|ensurepath",
	  .rule = GLOBAL },
};
static const struct ab_deed uv[] = {
	{ "tool install|uninstall|upgrade|update-shell", .rule = GLOBAL },
	{ "pip install|uninstall|sync", "--system --break-system-packages",
	  "--dry-run", GLOBAL },
	{ "self update", .rule = GLOBAL },
};
static const struct ab_deed gem[] = {
	{ "install|uninstall|update|i|cleanup|pristine", NULL,
	  "-i --install-dir --user-install --explain", GLOBAL },
};
static const struct ab_deed brew[] = {
	{ "services start|stop|restart|run|kill|cleanup",
	  .rule = AB_RULE_SERVICE_MANAGEMENT },
	{ "install|uninstall|remove|rm|upgrade|update|reinstall|link|unlink|tap|"
	  "untap|cleanup|autoremove|pin|unpin|bundle|migrate",
	  NULL, "-n --dry-run", GLOBAL },
};
static const struct ab_deed composer[] = {
	{ "global require|remove|update|install", NULL, "--dry-run", GLOBAL },
	{ "self-update|selfupdate", .rule = GLOBAL },
};
static const struct ab_deed dotnet[] = {
	{ "tool install|uninstall|update", "-g --global", NULL, GLOBAL },
	{ "workload install|update|uninstall|restore", .rule = GLOBAL },
};
static const struct ab_deed corepack[] = {
	{ "enable|disable|use|up|install", .rule = GLOBAL },
};
static const struct ab_deed rustup[] = {
	{ "default|update|self|install|uninstall", .rule = GLOBAL },
	{ "toolchain|component|target install|add|remove|uninstall|link",
	  .rule = GLOBAL },
};
static const struct ab_deed nix[] = {
	{ "profile install|add|remove|upgrade|rollback", .rule = GLOBAL },
};
static const struct ab_deed nix_env[] = {
	{ "", "-i -e -u --install --uninstall --upgrade --set --rollback",
	  "--dry-run -q --query", GLOBAL },
};
static const struct ab_deed stores[] = {
	{ "install|uninstall|upgrade|update|remove", NULL, "--dry-run",
	  GLOBAL },
};

#define APT_OPTS                                                                \
	{                                                                       \
		"oct", "option= config-file= target-release= default-release=", \
			false                                                   \
	}
#define DNF_OPTS                                                                        \
	{                                                                               \
		"cdRx",                                                                 \
			"config= enablerepo= disablerepo= exclude= installroot= repo= " \
			"releasever= setopt=",                                          \
			false                                                           \
	}
#define NPM_OPTS                                                                  \
	{                                                                         \
		"Cw", "prefix= cwd= dir= registry= workspace= filter= loglevel=", \
			false                                                     \
	}

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "add-apt-repository", AB_DEEDS(any_system) },
	{ "apk", AB_DEEDS(apk), { "pX", "root= repository=", false } },
	{ "apt", AB_DEEDS(apt), APT_OPTS },
	{ "apt-add-repository", AB_DEEDS(any_system) },
	{ "apt-get", AB_DEEDS(apt), APT_OPTS },
	{ "apt-key", AB_DEEDS(apt_key) },
	{ "apt-mark", AB_DEEDS(apt) },
	{ "aptitude", AB_DEEDS(apt), APT_OPTS },
	{ "brew", AB_DEEDS(brew), .help = AB_HELP_LETTER },
	{ "choco", AB_DEEDS(stores) },
	{ "composer", AB_DEEDS(composer), { "d", "working-dir=", false } },
	{ "corepack", AB_DEEDS(corepack) },
	{ "dnf", AB_DEEDS(dnf), DNF_OPTS, AB_HELP_LETTER },
	{ "dotnet", AB_DEEDS(dotnet), .help = AB_HELP_LETTER },
	{ "dpkg", AB_DEEDS(dpkg) },
	{ "dpkg-reconfigure", AB_DEEDS(any_system) },
	{ "emerge", AB_DEEDS(emerge) },
	{ "flatpak", AB_DEEDS(flatpak), .help = AB_HELP_LETTER },
	{ "gem", AB_DEEDS(gem), .help = AB_HELP_LETTER },
	{ "microdnf", AB_DEEDS(dnf), DNF_OPTS, AB_HELP_LETTER },
	{ "nix", AB_DEEDS(nix) },
	{ "nix-env", AB_DEEDS(nix_env) },
	{ "npm", AB_DEEDS(npm), NPM_OPTS, AB_HELP_LETTER },
	{ "opkg", AB_DEEDS(pkg) },
	{ "pacman", AB_DEEDS(pacman) },
	{ "paru", AB_DEEDS(pacman) },
	{ "pip",
	  AB_DEEDS(pip),
	  { "rcti", "python= cache-dir= proxy= log=", false },
	  AB_HELP_LETTER },
	{ "pipx", AB_DEEDS(pipx), .help = AB_HELP_LETTER },
	{ "pkg", AB_DEEDS(pkg) },
	{ "pnpm", AB_DEEDS(npm), NPM_OPTS, AB_HELP_LETTER },
	{ "port", AB_DEEDS(pkg) },
	{ "rpm", AB_DEEDS(rpm) },
	{ "rustup", AB_DEEDS(rustup), .help = AB_HELP_LETTER },
	{ "scoop", AB_DEEDS(stores) },
	{ "snap", AB_DEEDS(snap), .help = AB_HELP_LETTER },
	{ "update-alternatives", AB_DEEDS(alternatives) },
	{ "uv",
	  AB_DEEDS(uv),
	  { NULL, "directory= project= config-file=", false },
	  AB_HELP_LETTER },
	{ "winget", AB_DEEDS(stores) },
	{ "xbps-install", AB_DEEDS(any_system) },
	{ "xbps-remove", AB_DEEDS(any_system) },
	{ "yarn", AB_DEEDS(npm), { NULL, "cwd=", false }, AB_HELP_LETTER },
	{ "yay", AB_DEEDS(pacman) },
	{ "yum", AB_DEEDS(dnf), DNF_OPTS, AB_HELP_LETTER },
	{ "zypper", AB_DEEDS(zypper), { "R", "root=", false }, AB_HELP_LETTER },
};

const struct ab_toolbox ab_tools_packages = { tools, AB_COUNT(tools) };
