#include "shell/command/rules.h"

const char *const ab_decision_names[AB_FORBIDDEN + 1] = {
	[AB_ALLOW] = "allow",
	[AB_SANDBOXED] = "sandboxed",
	[AB_ESCALATED] = "escalated",
	[AB_FORBIDDEN] = "forbidden",
};

bool ab_decision_parse(const char *name, enum ab_decision *ret)
{
	for (size_t i = 0; i < AB_COUNT(ab_decision_names); i++)
		if (strcmp(ab_decision_names[i], name) == 0) {
			*ret = (enum ab_decision)i;
			return true;
		}
	return false;
}

/* clang-format off: one rule is one block. */
#define ALLOW .decision = AB_ALLOW, .elsewhere = AB_ALLOW
#define ESCALATED .decision = AB_ESCALATED, .elsewhere = AB_ESCALATED
#define FORBIDDEN .decision = AB_FORBIDDEN, .elsewhere = AB_FORBIDDEN
#define FORBIDDEN_OR_MILD .decision = AB_FORBIDDEN, .elsewhere = AB_ESCALATED

/* Indexed by id. Names are unique, in lower case with dashes; a reason is a
 * sentence with a full stop; `instead` and `what` are phrases without one. */
const struct ab_rule ab_rules[AB_RULE_COUNT] = {
	[AB_RULE_FORK_BOMB] = {
		"fork-bomb", FORBIDDEN,
		.reason = "Starts endless copies of itself.",
		.instead = "bound the number of jobs, for example: make -j8",
		.what = "a function that pipes itself into itself",
	},
	[AB_RULE_RECURSIVE_DELETE_ROOT] = {
		"recursive-delete-root", FORBIDDEN,
		.reason = "Deletes the system or your home folder.",
		.instead = "name the folder you mean, for example: rm -rf ./build",
		.what = "rm -r of /, the home folder, or a system folder",
	},
	[AB_RULE_DISK_WIPE] = {
		"disk-wipe", FORBIDDEN,
		.reason = "Overwrites a disk.",
		.instead = "write to a file, for example: dd if=/dev/zero of=./disk.img bs=1M count=64",
		.what = "writing a block device: dd of=, >, tee, wipefs, shred",
	},
	[AB_RULE_FILESYSTEM_FORMAT] = {
		"filesystem-format", FORBIDDEN,
		.reason = "Formats or partitions a disk.",
		.instead = "look at the disks with: lsblk -f",
		.what = "mkfs, mkswap, fdisk, parted and the like",
	},
	[AB_RULE_REVERSE_SHELL] = {
		"reverse-shell", FORBIDDEN_OR_MILD,
		.reason = "Hands a shell to another machine.",
		.mild_reason = "Opens a network connection and runs commands.",
		.what = "a shell with its input and output on a network connection",
	},
	[AB_RULE_PIPE_TO_SHELL] = {
		"pipe-to-shell", FORBIDDEN_OR_MILD,
		.reason = "Runs what it downloads or decodes, unseen.",
		.mild_reason = "Runs a program that it downloads.",
		.instead = "save it, read it, then run it: curl -fsSLo install.sh URL",
		.what = "downloaded or decoded text into a shell or interpreter",
	},
	[AB_RULE_RECURSIVE_PERM_ROOT] = {
		"recursive-perm-root", FORBIDDEN,
		.reason = "Changes the owner or permissions of the whole system or your home folder.",
		.instead = "name the folder you mean, for example: chmod -R u+w ./build",
		.what = "chmod, chown, chgrp -R of a folder that recursive-delete-root protects",
	},
	[AB_RULE_SYSTEM_WRITE] = {
		"system-write", FORBIDDEN,
		.reason = "Writes to a system folder.",
		.instead = "write below the workspace or below /tmp",
		.what = "writing below /etc /boot /usr /bin /sbin /lib /sys /proc /dev",
	},
	[AB_RULE_SHUTDOWN_REBOOT] = {
		"shutdown-reboot", FORBIDDEN,
		.reason = "Stops or restarts the machine.",
		.what = "shutdown, reboot, halt, poweroff, init 0 and 6",
	},
	[AB_RULE_KERNEL_MODULE] = {
		"kernel-module", FORBIDDEN,
		.reason = "Changes the running kernel.",
		.instead = "look at the modules with: lsmod, modinfo NAME",
		.what = "insmod, rmmod, modprobe, depmod, kexec",
	},
	[AB_RULE_HISTORY_EXEC] = {
		"history-exec", FORBIDDEN,
		.reason = "Runs earlier commands again, unseen.",
		.instead = "write the command out",
		.what = "history or fc, executed again",
	},
	[AB_RULE_IFS_BYPASS] = {
		"ifs-bypass", FORBIDDEN,
		.reason = "Hides the words of a command behind $IFS.",
		.instead = "write blanks between the words",
		.what = "$IFS glued between the words of a command",
	},
	[AB_RULE_DESTRUCTIVE_FIND] = {
		"destructive-find", FORBIDDEN_OR_MILD,
		.reason = "Deletes every file it finds in the system or your home folder.",
		.mild_reason = "Deletes every file it finds.",
		.instead = "look first: run the same find with -print",
		.what = "find -delete, find -exec rm",
	},
	[AB_RULE_DESTRUCTIVE_XARGS] = {
		"destructive-xargs", FORBIDDEN_OR_MILD,
		.reason = "Deletes a list of files that includes the system or your home folder.",
		.mild_reason = "Deletes a list of files that is not known in advance.",
		.instead = "look first: put echo before rm",
		.what = "xargs rm",
	},
	[AB_RULE_HISTORY_REWRITE] = {
		"history-rewrite", ESCALATED,
		.reason = "Rewrites history that others may have.",
		.instead = "add a commit: git revert COMMIT, then a plain git push",
		.what = "git push --force, filter-branch, filter-repo, reflog expire, gc --prune=now",
	},
	[AB_RULE_GIT_PUBLISH] = {
		"git-publish", ESCALATED,
		.reason = "Publishes work where others see it.",
		.instead = "see what it would do: git push --dry-run, npm publish --dry-run",
		.what = "git push, gh pr merge, release uploads, npm, cargo, twine, gem, docker push",
	},
	[AB_RULE_GIT_DISCARD] = {
		"git-discard", ESCALATED,
		.reason = "Discards work that git cannot restore.",
		.instead = "keep a copy first: git stash, git branch NAME",
		.what = "git reset --hard, clean -f, checkout -- FILE, restore, stash drop, branch -D",
	},
	[AB_RULE_WORKSPACE_DELETE] = {
		"workspace-delete", ESCALATED,
		.reason = "Deletes the whole workspace.",
		.instead = "name the folder you mean, for example: rm -rf ./build",
		.what = "rm -r of . .. * or of the workspace or its .git",
	},
	[AB_RULE_SUDO] = {
		"sudo", ESCALATED,
		.reason = "Asks for root privileges.",
		.instead = "try it without: the box cannot grant more privileges",
		.what = "sudo, doas, pkexec, run0",
	},
	[AB_RULE_SU_PRIVILEGE] = {
		"su-privilege", ESCALATED,
		.reason = "Becomes another user.",
		.what = "su, runuser",
	},
	[AB_RULE_CREDENTIAL_ACCESS] = {
		"credential-access", ESCALATED,
		.reason = "Reads keys, tokens or passwords.",
		.what = "files and variables with secrets, keyrings",
	},
	[AB_RULE_EXFILTRATION] = {
		"exfiltration", ESCALATED,
		.reason = "Sends a secret to another machine.",
		.what = "secret files or the environment, sent by curl, nc, scp, DNS",
	},
	[AB_RULE_PERSISTENCE] = {
		"persistence", ESCALATED,
		.reason = "Makes something run later on its own.",
		.what = "cron, at, units, shell start-up files, authorized_keys, git hooks, protected names",
	},
	[AB_RULE_SERVICE_MANAGEMENT] = {
		"service-management", ESCALATED,
		.reason = "Starts, stops or changes a system service.",
		.instead = "look at it with: systemctl status NAME",
		.what = "systemctl start, stop, restart; service, launchctl, supervisorctl",
	},
	[AB_RULE_USER_MANAGEMENT] = {
		"user-management", ESCALATED,
		.reason = "Changes the users or passwords of the machine.",
		.what = "useradd, usermod, userdel, passwd, groupadd, visudo",
	},
	[AB_RULE_FIREWALL_MANAGEMENT] = {
		"firewall-management", ESCALATED,
		.reason = "Changes the network of the machine.",
		.what = "iptables, nft, ufw, firewall-cmd, ip route add, sysctl -w",
	},
	[AB_RULE_SYSTEM_PACKAGE_INSTALL] = {
		"system-package-install", ESCALATED,
		.reason = "Installs or removes system packages.",
		.what = "apt, dnf, yum, pacman, apk, zypper, snap: changing forms",
	},
	[AB_RULE_GLOBAL_INSTALL] = {
		"global-install", ESCALATED,
		.reason = "Installs for every project, not only this one.",
		.instead = "install it into the project, for example: npm install NAME",
		.what = "npm install -g, pipx, gem, brew, uv tool, rustup",
	},
	[AB_RULE_DOCKER_BUILD] = {
		"docker-build", ESCALATED,
		.reason = "Builds an image outside the box.",
		.what = "docker build, buildx, podman build, buildah",
	},
	[AB_RULE_DOCKER_CONTAINER] = {
		"docker-container", ESCALATED,
		.reason = "Runs or changes containers outside the box.",
		.what = "docker run, exec, rm, pull, prune; podman, nerdctl, lxc, incus",
	},
	[AB_RULE_DOCKER_COMPOSE] = {
		"docker-compose", ESCALATED,
		.reason = "Starts or stops a group of containers outside the box.",
		.what = "docker compose up, down, run, exec, build",
	},
	[AB_RULE_KUBERNETES] = {
		"kubernetes", ESCALATED,
		.reason = "Changes a cluster.",
		.instead = "see what it would do: kubectl diff -f FILE",
		.what = "kubectl apply, delete, exec; helm install; kind, minikube",
	},
	[AB_RULE_CLOUD_CHANGE] = {
		"cloud-change", ESCALATED,
		.reason = "Changes something in a cloud account.",
		.instead = "see what it would do, for example: terraform plan",
		.what = "terraform apply, pulumi up, aws, gcloud, az, deploy tools: changing forms",
	},
	[AB_RULE_SSH_COMMAND] = {
		"ssh-command", ESCALATED,
		.reason = "Works on another machine.",
		.what = "ssh, mosh, ssh-copy-id",
	},
	[AB_RULE_FILE_TRANSFER] = {
		"file-transfer", ESCALATED,
		.reason = "Copies files to or from another machine.",
		.what = "scp, sftp, ftp, rsync HOST:, rclone, curl --upload-file",
	},
	[AB_RULE_NETWORK_SCAN] = {
		"network-scan", ESCALATED,
		.reason = "Scans other machines or captures their traffic.",
		.what = "nmap, masscan, nc -z, tcpdump, sqlmap, hydra",
	},
	[AB_RULE_DATABASE_CLIENT] = {
		"database-client", ESCALATED,
		.reason = "Works on a database server.",
		.what = "psql, mysql, mongosh, redis-cli, createdb, dropdb",
	},
	[AB_RULE_DATABASE_BACKUP] = {
		"database-backup", ESCALATED,
		.reason = "Exports or imports a whole database.",
		.what = "pg_dump, pg_restore, mysqldump, mongodump",
	},
	[AB_RULE_EVAL_EXEC] = {
		"eval-exec", ESCALATED,
		.reason = "Runs text that is not known before it runs.",
		.instead = "write the command out",
		.what = "eval, sh -c, source of text that is not known",
	},
	[AB_RULE_DYNAMIC_COMMAND] = {
		"dynamic-command", ESCALATED,
		.reason = "The command is not known before it runs.",
		.instead = "write the command out",
		.what = "a command whose name is a variable, a substitution or a pattern",
	},
	[AB_RULE_UNPARSED] = {
		"unparsed", ESCALATED,
		.reason = "A shell cannot parse this, or it is too long or nested too deeply.",
		.instead = "check the quotes and brackets",
		.what = "text that is not a complete command line",
	},
	[AB_RULE_CONTAINER_ESCAPE] = {
		"container-escape", ESCALATED,
		.reason = "Accesses other namespaces, mounts or processes.",
		.what = "nsenter, chroot, unshare, mount, gdb -p, strace -p",
	},
	[AB_RULE_AGENT_CONFIG] = {
		"agent-config", ESCALATED,
		.reason = "Changes the settings of an agent or of agentbox.",
		.what = "writing .claude .codex .cursor .mcp.json .agentbox.json; agentbox allow, trust, config",
	},
	[AB_RULE_SET_ID] = {
		"set-id", ESCALATED,
		.reason = "Lets a program run with the rights of another user.",
		.instead = "leave these bits alone: nothing in a box needs them",
		.what = "chmod u+s, chmod 4755, install -m 4755, setcap",
	},
	[AB_RULE_PROCESS_KILL] = {
		"process-kill", ESCALATED,
		.reason = "Ends processes that it does not name one by one.",
		.instead = "name the process: kill PID, pkill -x NAME",
		.what = "kill -1, killall5, pkill and killall by user or by a pattern that matches all",
	},
	[AB_RULE_PACKAGE_SOURCE] = {
		"package-source", ESCALATED,
		.reason = "Installs packages from an address outside the usual registries.",
		.instead = "install the package by name from its registry",
		.what = "pip --index-url, npm --registry, gem --source, cargo --git, packages by URL",
	},
	[AB_RULE_UNKNOWN_PROGRAM] = {
		"unknown-program", ESCALATED,
		.reason = "Names something dangerous to a program that agentbox does not know.",
		.what = "programs without a table row: system files, devices or commands in their words",
	},
	[AB_RULE_SAFE_READ] = {
		"safe-read", ALLOW,
		.reason = "Only reads and prints.",
		.what = "ls, cat, grep, find and the like, without a writing option",
	},
	[AB_RULE_GIT_READ] = {
		"git-read", ALLOW,
		.reason = "Reads the local repository.",
		.what = "git status, log, diff, show, branch, blame and the like",
	},
	[AB_RULE_VERSION_CHECK] = {
		"version-check", ALLOW,
		.reason = "Prints a version or help.",
		.what = "two words, the second --version, --help or the like",
	},
};
/* clang-format on */

bool ab_rule_find(const char *name, size_t len, enum ab_rule_id *ret)
{
	struct ab_text text = { name, (uint32_t)len };

	for (size_t i = 0; i < AB_RULE_COUNT; i++)
		if (ab_text_is(text, ab_rules[i].name)) {
			*ret = (enum ab_rule_id)i;
			return true;
		}
	return false;
}

static enum ab_decision get_verdict(const struct ab_hit *hit)
{
	const struct ab_rule *rule = &ab_rules[hit->rule];

	return hit->mild ? rule->elsewhere : rule->decision;
}

static void keep_hit(struct ab_hits *hits, const struct ab_hit *hit)
{
	size_t mildest = 0;

	if (hits->len < AB_COUNT(hits->v)) {
		hits->v[hits->len++] = *hit;
		return;
	}
	for (size_t i = 1; i < hits->len; i++)
		if (get_verdict(&hits->v[i]) < get_verdict(&hits->v[mildest]))
			mildest = i;
	if (get_verdict(&hits->v[mildest]) < get_verdict(hit))
		hits->v[mildest] = *hit;
}

bool ab_hits_have(const struct ab_hits *hits, enum ab_rule_id rule)
{
	for (size_t i = 0; i < hits->len; i++)
		if (hits->v[i].rule == rule)
			return true;
	return false;
}

void ab_hit_add(struct ab_hits *hits, enum ab_rule_id rule, struct ab_span range)
{
	keep_hit(hits, &(struct ab_hit){ .rule = rule, .range = range });
}

void ab_hit_mild(struct ab_hits *hits, enum ab_rule_id rule, struct ab_span range)
{
	keep_hit(hits, &(struct ab_hit){ .rule = rule, .mild = true, .range = range });
}

void ab_hit_because(struct ab_hits *hits, enum ab_rule_id rule, struct ab_span range,
		    const char *reason)
{
	keep_hit(hits, &(struct ab_hit){ .rule = rule, .range = range, .reason = reason });
}
