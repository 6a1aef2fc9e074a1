/*
 * Tools that reach beyond the box: other machines and databases here; containers,
 * clouds and publishing in tables of their own.
 */
#include "shell/command/grammar.h"
#include "shell/tools/tool.h"

#define TRANSFER AB_RULE_FILE_TRANSFER
#define SCAN AB_RULE_NETWORK_SCAN
#define DATABASE AB_RULE_DATABASE_CLIENT

static const struct ab_deed deeds[] = {
	AB_PROGRAMS(
		"mariadb-dump mongodump mongoexport mongoimport mongorestore mysqldump mysqlimport "
		"pg_basebackup pg_dump pg_dumpall pg_restore",
		AB_HELP_ALONE, "", .rule = AB_RULE_DATABASE_BACKUP),
	AB_PROGRAMS("dumpcap tcpdump tshark wireshark", AB_HELP_ALONE, "", "",
		    "-D --list-interfaces -r --read-file", SCAN,
		    .reason = "Captures network traffic."),
	AB_PROGRAMS("curl", AB_HELP_LONG, "", "-T --upload-file", "", TRANSFER),
	/* Protocols that send what the address says. */
	{ AB_ALSO, "", "dict://* gopher://* gophers://* smtp://* smtps://* telnet://* tftp://*", "",
	  TRANSFER },
	AB_PROGRAMS("clickhouse-client", AB_HELP_LONG, "", .rule = DATABASE),
	AB_PROGRAMS("cqlsh createdb createuser dropdb dropuser mariadb mongo mongosh mycli mysql "
		    "mysqladmin mysqlsh pgcli psql snowsql sqlcmd sqlplus usql",
		    AB_HELP_ALONE, "", .rule = DATABASE),
	AB_PROGRAMS("influx", AB_HELP_LETTER, "", .rule = DATABASE),
	AB_PROGRAMS("nc ncat netcat", AB_HELP_ALONE, "", "-z", "localhost 127.0.0.1 0.0.0.0 ::1",
		    SCAN),
	AB_PROGRAMS("rclone", AB_HELP_LETTER,
		    "copy|copyto|copyurl|sync|bisync|move|moveto|delete|deletefile|purge|"
		    "mkdir|rmdir|rmdirs|mount|rcat|serve|dedupe|cleanup|touch|config|link",
		    "", "-n --dry-run", TRANSFER),
	AB_PROGRAMS("redis-cli valkey-cli", AB_HELP_ALONE, "", .rule = DATABASE),
	{ AB_ALSO, "", "--rdb", "", AB_RULE_DATABASE_BACKUP },
	AB_PROGRAMS("arp-scan bettercap ettercap ffuf masscan netdiscover ngrep nikto nmap rustscan "
		    "sqlmap zmap",
		    AB_HELP_ALONE, "", .rule = SCAN),
	AB_PROGRAMS("dirb hping3 hydra", AB_HELP_ALONE, "*", .rule = SCAN),
	AB_PROGRAMS("gobuster", AB_HELP_LETTER, "*", .rule = SCAN),
	AB_PROGRAMS("scp", AB_HELP_ALONE, "* *", .rule = TRANSFER),
	AB_PROGRAMS("magic-wormhole wormhole", AB_HELP_ALONE, "send|receive|recv|tx|rx",
		    .rule = TRANSFER),
	AB_PROGRAMS("autossh mosh rlogin rsh slogin ssh ssh-copy-id sshpass telnet", AB_HELP_ALONE,
		    "*", "", "-V -G -Q", AB_RULE_SSH_COMMAND),
	AB_PROGRAMS("rsync", AB_HELP_ALONE, "", "*:* rsync://*", "-n --dry-run", TRANSFER),
	{ AB_ALSO, "", "--daemon", "", TRANSFER },
	AB_PROGRAMS(
		"atftp croc curlftpfs ftp lftp ncftp ncftpget ncftpput pscp psftp sftp smbclient "
		"sshfs tftp",
		AB_HELP_ALONE, "*", .rule = TRANSFER),
};

const struct ab_toolbox ab_tools_hosts = { deeds, AB_COUNT(deeds), AB_TABLE_HOSTS };

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
	ab_command_look_up(ret);
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
