/*
 * Tools that reach beyond the box: other machines, databases; and, in tables
 * of their own, containers, clouds and what publishes.
 */
#include "base/mem.h"
#include "shell/tool.h"

#define TRANSFER AB_RULE_FILE_TRANSFER
#define SCAN AB_RULE_NETWORK_SCAN
#define DATABASE AB_RULE_DATABASE_CLIENT

static const struct ab_deed ssh[] = {
	{ "*", NULL, "-V -G -Q", AB_RULE_SSH_COMMAND },
};
static const struct ab_deed transfer[] = { { "*", .rule = TRANSFER } };
static const struct ab_deed sync[] = {
	{ "", "*:* rsync://*", "-n --dry-run", TRANSFER },
	{ "", "--daemon", NULL, TRANSFER },
};
static const struct ab_deed scp[] = { { "* *", .rule = TRANSFER } };
static const struct ab_deed rclone[] = {
	{ "copy|copyto|copyurl|sync|bisync|move|moveto|delete|deletefile|purge|"
	  "mkdir|rmdir|rmdirs|mount|rcat|serve|dedupe|cleanup|touch|config|link",
	  NULL, "-n --dry-run", TRANSFER },
};
static const struct ab_deed send[] = {
	{ "send|receive|recv|tx|rx", .rule = TRANSFER },
};
static const struct ab_deed curl[] = {
	{ "", "-T --upload-file", NULL, TRANSFER },
};
static const struct ab_deed scan[] = { { "", .rule = SCAN } };
static const struct ab_deed scan_target[] = { { "*", .rule = SCAN } };
static const struct ab_deed capture[] = {
	{ "", NULL, "-D --list-interfaces -r --read-file", SCAN,
	  .reason = "Listens to the traffic of the network." },
};
static const struct ab_deed nc[] = {
	{ "", "-z", "localhost 127.0.0.1 0.0.0.0 ::1", SCAN },
};
static const struct ab_deed database[] = { { "", .rule = DATABASE } };
static const struct ab_deed backup[] = {
	{ "", .rule = AB_RULE_DATABASE_BACKUP },
};
static const struct ab_deed redis[] = {
	{ "", .rule = DATABASE },
	{ "", "--rdb", NULL, AB_RULE_DATABASE_BACKUP },
};

#define SSH_OPTS                                     \
	{                                            \
		"BbcDEeFIiJLlmOoPpQRSWw", NULL, true \
	}
#define SCP_OPTS                          \
	{                                 \
		"cDFiJloPSX", NULL, false \
	}

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "arp-scan", AB_DEEDS(scan) },
	{ "autossh", AB_DEEDS(ssh), { "MBbcDEeFIiJLlmOoPpQRSWw", NULL, true } },
	{ "bettercap", AB_DEEDS(scan) },
	{ "clickhouse-client", AB_DEEDS(database), .help = AB_HELP_LONG },
	{ "cqlsh", AB_DEEDS(database) },
	{ "createdb", AB_DEEDS(database) },
	{ "createuser", AB_DEEDS(database) },
	{ "croc", AB_DEEDS(transfer) },
	{ "curl",
	  AB_DEEDS(curl),
	  { "HdFXoubAemrTUxKEYyzCtwcDP",
	    "header= data= form= request= output= user= upload-file= max-time= "
	    "connect-timeout= retry= url= write-out=",
	    false },
	  AB_HELP_LONG },
	{ "dirb", AB_DEEDS(scan_target) },
	{ "dropdb", AB_DEEDS(database) },
	{ "dropuser", AB_DEEDS(database) },
	{ "dumpcap", AB_DEEDS(capture) },
	{ "ettercap", AB_DEEDS(scan) },
	{ "ffuf", AB_DEEDS(scan) },
	{ "ftp", AB_DEEDS(transfer) },
	{ "gobuster", AB_DEEDS(scan_target), .help = AB_HELP_LETTER },
	{ "hping3", AB_DEEDS(scan_target) },
	{ "hydra", AB_DEEDS(scan_target) },
	{ "influx", AB_DEEDS(database), .help = AB_HELP_LETTER },
	{ "lftp", AB_DEEDS(transfer) },
	{ "magic-wormhole", AB_DEEDS(send) },
	{ "mariadb", AB_DEEDS(database) },
	{ "mariadb-dump", AB_DEEDS(backup) },
	{ "masscan", AB_DEEDS(scan) },
	{ "mongo", AB_DEEDS(database) },
	{ "mongodump", AB_DEEDS(backup) },
	{ "mongoexport", AB_DEEDS(backup) },
	{ "mongoimport", AB_DEEDS(backup) },
	{ "mongorestore", AB_DEEDS(backup) },
	{ "mongosh", AB_DEEDS(database) },
	{ "mosh", AB_DEEDS(ssh), { "p", "ssh= port= predict= server=", true } },
	{ "mycli", AB_DEEDS(database) },
	{ "mysql", AB_DEEDS(database) },
	{ "mysqladmin", AB_DEEDS(database) },
	{ "mysqldump", AB_DEEDS(backup) },
	{ "mysqlimport", AB_DEEDS(backup) },
	{ "mysqlsh", AB_DEEDS(database) },
	{ "nc", AB_DEEDS(nc), { "eciIMmOPpqsTVWwXx", NULL, false } },
	{ "ncat", AB_DEEDS(nc), { "ecGgipswm", NULL, false } },
	{ "netcat", AB_DEEDS(nc), { "eciIMmOPpqsTVWwXx", NULL, false } },
	{ "netdiscover", AB_DEEDS(scan) },
	{ "ngrep", AB_DEEDS(scan) },
	{ "nikto", AB_DEEDS(scan) },
	{ "nmap", AB_DEEDS(scan) },
	{ "pg_basebackup", AB_DEEDS(backup) },
	{ "pg_dump", AB_DEEDS(backup) },
	{ "pg_dumpall", AB_DEEDS(backup) },
	{ "pg_restore", AB_DEEDS(backup) },
	{ "pgcli", AB_DEEDS(database) },
	{ "psql", AB_DEEDS(database) },
	{ "rclone",
	  AB_DEEDS(rclone),
	  { NULL, "config= transfers=", false },
	  AB_HELP_LETTER },
	{ "redis-cli", AB_DEEDS(redis) },
	{ "rlogin", AB_DEEDS(ssh), SSH_OPTS },
	{ "rsh", AB_DEEDS(ssh), SSH_OPTS },
	{ "rsync",
	  AB_DEEDS(sync),
	  { "efTBM",
	    "rsh= filter= exclude= include= exclude-from= files-from= "
	    "include-from= rsync-path= out-format= log-file= port= "
	    "backup-dir= suffix= temp-dir= chmod= chown= info= debug=",
	    false } },
	{ "rustscan", AB_DEEDS(scan) },
	{ "scp", AB_DEEDS(scp), SCP_OPTS },
	{ "sftp", AB_DEEDS(transfer), SCP_OPTS },
	{ "slogin", AB_DEEDS(ssh), SSH_OPTS },
	{ "smbclient", AB_DEEDS(transfer) },
	{ "snowsql", AB_DEEDS(database) },
	{ "sqlcmd", AB_DEEDS(database) },
	{ "sqlmap", AB_DEEDS(scan) },
	{ "sqlplus", AB_DEEDS(database) },
	{ "ssh", AB_DEEDS(ssh), SSH_OPTS },
	{ "ssh-copy-id", AB_DEEDS(ssh), { "iopFt", NULL, false } },
	{ "sshpass", AB_DEEDS(ssh), { "fdpPe", NULL, true } },
	{ "tcpdump", AB_DEEDS(capture) },
	{ "telnet", AB_DEEDS(ssh), { "bceklnSX", NULL, false } },
	{ "tftp", AB_DEEDS(transfer) },
	{ "tshark", AB_DEEDS(capture) },
	{ "usql", AB_DEEDS(database) },
	{ "valkey-cli", AB_DEEDS(redis) },
	{ "wireshark", AB_DEEDS(capture) },
	{ "wormhole", AB_DEEDS(send) },
	{ "zmap", AB_DEEDS(scan) },
};

const struct ab_toolbox ab_tools_hosts = { tools, AB_COUNT(tools) };

/*
 * git runs ssh itself, to fetch (upload-pack) and to push (receive-pack). What
 * follows the host is one word with the repository, or several.
 */
static bool is_git_transport(const struct ab_simple *command,
			     struct ab_hits *hits)
{
	static const struct ab_opts opts = SSH_OPTS;
	struct ab_operands words;
	struct ab_text what;

	if (!ab_text_is(command->name, "ssh"))
		return false;
	ab_tool_operands(&opts, command, &words);
	if (words.len < 2)
		return false;
	what = words.v[1]->text;
	if (ab_text_starts(what, "git-receive-pack")) {
		ab_hit_because(hits, AB_RULE_GIT_PUBLISH, command->range,
			       "Publishes commits.");
		return true;
	}
	/* The repository is quoted; whatever else a shell would read is not
	 * git's. */
	return (ab_text_starts(what, "git-upload-pack") ||
		ab_text_starts(what, "git-upload-archive")) &&
	       !words.v[1]->unknown && words.len <= 3 &&
	       !memchr(what.s, ';', what.len) &&
	       !memchr(what.s, '&', what.len) &&
	       !memchr(what.s, '|', what.len) &&
	       !memchr(what.s, '$', what.len) &&
	       !memchr(what.s, '`', what.len) &&
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
	return true;
}

void ab_match_tools(const struct ab_scene *scene,
		    const struct ab_simple *command, struct ab_hits *hits)
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
