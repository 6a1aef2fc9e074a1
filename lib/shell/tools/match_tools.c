/*
 * Tools that reach beyond the box: other machines and databases here; containers,
 * clouds and publishing in tables of their own.
 */
#include "base/data/mem.h"
#include "shell/command/grammar.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

#define TRANSFER AB_RULE_FILE_TRANSFER
#define SCAN AB_RULE_NETWORK_SCAN
#define DATABASE AB_RULE_DATABASE_CLIENT

/* Sorted by name. */
static const struct ab_deed deeds[] = {
	{ "backup", "", .rule = AB_RULE_DATABASE_BACKUP },
	{ "capture", "", "", "-D --list-interfaces -r --read-file", SCAN,
	  .reason = "Captures network traffic." },
	{ "curl", "", "-T --upload-file", "", TRANSFER },
	/* Protocols that send what the address says. */
	{ "curl", "", "dict://* gopher://* gophers://* smtp://* smtps://* telnet://* tftp://*", "",
	  TRANSFER },
	{ "database", "", .rule = DATABASE },
	{ "nc", "", "-z", "localhost 127.0.0.1 0.0.0.0 ::1", SCAN },
	{ "rclone",
	  "copy|copyto|copyurl|sync|bisync|move|moveto|delete|deletefile|purge|"
	  "mkdir|rmdir|rmdirs|mount|rcat|serve|dedupe|cleanup|touch|config|link",
	  "", "-n --dry-run", TRANSFER },
	{ "redis", "", .rule = DATABASE },
	{ "redis", "", "--rdb", "", AB_RULE_DATABASE_BACKUP },
	{ "scan", "", .rule = SCAN },
	{ "scan_target", "*", .rule = SCAN },
	{ "scp", "* *", .rule = TRANSFER },
	{ "send", "send|receive|recv|tx|rx", .rule = TRANSFER },
	{ "ssh", "*", "", "-V -G -Q", AB_RULE_SSH_COMMAND },
	{ "sync", "", "*:* rsync://*", "-n --dry-run", TRANSFER },
	{ "sync", "", "--daemon", "", TRANSFER },
	{ "transfer", "*", .rule = TRANSFER },
};

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "arp-scan", "scan" },
	{ "atftp", "transfer" },
	{ "autossh", "ssh" },
	{ "bettercap", "scan" },
	{ "clickhouse-client", "database", AB_HELP_LONG },
	{ "cqlsh", "database" },
	{ "createdb", "database" },
	{ "createuser", "database" },
	{ "croc", "transfer" },
	{ "curl", "curl", AB_HELP_LONG },
	{ "curlftpfs", "transfer" },
	{ "dirb", "scan_target" },
	{ "dropdb", "database" },
	{ "dropuser", "database" },
	{ "dumpcap", "capture" },
	{ "ettercap", "scan" },
	{ "ffuf", "scan" },
	{ "ftp", "transfer" },
	{ "gobuster", "scan_target", AB_HELP_LETTER },
	{ "hping3", "scan_target" },
	{ "hydra", "scan_target" },
	{ "influx", "database", AB_HELP_LETTER },
	{ "lftp", "transfer" },
	{ "magic-wormhole", "send" },
	{ "mariadb", "database" },
	{ "mariadb-dump", "backup" },
	{ "masscan", "scan" },
	{ "mongo", "database" },
	{ "mongodump", "backup" },
	{ "mongoexport", "backup" },
	{ "mongoimport", "backup" },
	{ "mongorestore", "backup" },
	{ "mongosh", "database" },
	{ "mosh", "ssh" },
	{ "mycli", "database" },
	{ "mysql", "database" },
	{ "mysqladmin", "database" },
	{ "mysqldump", "backup" },
	{ "mysqlimport", "backup" },
	{ "mysqlsh", "database" },
	{ "nc", "nc" },
	{ "ncat", "nc" },
	{ "ncftp", "transfer" },
	{ "ncftpget", "transfer" },
	{ "ncftpput", "transfer" },
	{ "netcat", "nc" },
	{ "netdiscover", "scan" },
	{ "ngrep", "scan" },
	{ "nikto", "scan" },
	{ "nmap", "scan" },
	{ "pg_basebackup", "backup" },
	{ "pg_dump", "backup" },
	{ "pg_dumpall", "backup" },
	{ "pg_restore", "backup" },
	{ "pgcli", "database" },
	{ "pscp", "transfer" },
	{ "psftp", "transfer" },
	{ "psql", "database" },
	{ "rclone", "rclone", AB_HELP_LETTER },
	{ "redis-cli", "redis" },
	{ "rlogin", "ssh" },
	{ "rsh", "ssh" },
	{ "rsync", "sync" },
	{ "rustscan", "scan" },
	{ "scp", "scp" },
	{ "sftp", "transfer" },
	{ "slogin", "ssh" },
	{ "smbclient", "transfer" },
	{ "snowsql", "database" },
	{ "sqlcmd", "database" },
	{ "sqlmap", "scan" },
	{ "sqlplus", "database" },
	{ "ssh", "ssh" },
	{ "ssh-copy-id", "ssh" },
	{ "sshfs", "transfer" },
	{ "sshpass", "ssh" },
	{ "tcpdump", "capture" },
	{ "telnet", "ssh" },
	{ "tftp", "transfer" },
	{ "tshark", "capture" },
	{ "usql", "database" },
	{ "valkey-cli", "redis" },
	{ "wireshark", "capture" },
	{ "wormhole", "send" },
	{ "zmap", "scan" },
};

const struct ab_toolbox ab_tools_hosts = { tools, AB_COUNT(tools), deeds, AB_COUNT(deeds),
					   AB_TABLE_HOSTS };

/*
 * git itself runs ssh to fetch (upload-pack) and to push (receive-pack). The remote
 * command follows the host as one word or several.
 */
static bool is_git_transport(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_opts ssh;
	struct ab_operands words;
	struct ab_text what;

	if (!ab_text_is(command->name, "ssh"))
		return false;
	ssh = ab_grammar_as(command, "ssh");
	ab_tool_operands(&ssh, command, &words);
	if (words.len < 2)
		return false;
	what = words.v[1]->text;
	if (ab_text_starts(what, "git-receive-pack")) {
		ab_hit_because(hits, AB_RULE_GIT_PUBLISH, command->range, "Publishes commits.");
		return true;
	}
	/* git only quotes the repository; other shell syntax is not from git. */
	return (ab_text_starts(what, "git-upload-pack") ||
		ab_text_starts(what, "git-upload-archive")) &&
	       !words.v[1]->unknown && words.len <= 3 && !memchr(what.s, ';', what.len) &&
	       !memchr(what.s, '&', what.len) && !memchr(what.s, '|', what.len) &&
	       !memchr(what.s, '$', what.len) && !memchr(what.s, '`', what.len) &&
	       !memchr(what.s, '\n', what.len);
}

/* `python3 -m twine upload` is `twine upload`. */
static bool is_module(const struct ab_simple *command, struct ab_simple *ret)
{
	if (!ab_text_starts(command->name, "python") || command->argc < 3 ||
	    !ab_field_is(&command->argv[1], "-m"))
		return false;
	*ret = *command;
	ret->argv += 2;
	ret->argc -= 2;
	ret->name = ret->argv[0].text;
	ret->tables = 0;
	return true;
}

void ab_match_tools(const struct ab_scene *scene, const struct ab_simple *command,
		    struct ab_hits *hits)
{
	struct ab_simple module;

	(void)scene;
	if (is_git_transport(command, hits))
		return;
	if (is_module(command, &module)) {
		ab_toolbox_match(&ab_tools_packages, &module, hits);
		ab_toolbox_match(&ab_tools_publish, &module, hits);
		return;
	}
	ab_toolbox_match(&ab_tools_publish, command, hits);
	ab_toolbox_match(&ab_tools_containers, command, hits);
	ab_toolbox_match(&ab_tools_clouds, command, hits);
	ab_toolbox_match(&ab_tools_hosts, command, hits);
}
