#include "shell/code/code_suspect.h"

#include "shell/syntax/name_table.h"

/* A longer text is judged by its beginning. */
enum { SUSPECT_MAX = 1 << 16, CONNECTS = AB_SUSPECT_CONNECTS, RUNS = AB_SUSPECT_RUNS };

/* Sorted. */
static const char connects[][26] = {
	"AF_INET",
	"AF_INET6",
	"AsynchronousSocketChannel",
	"Dial",
	"DialTCP",
	"DialTimeout",
	"INET",
	"Listen",
	"ListenTCP",
	"PF_INET",
	"ServerSocket",
	"Socket",
	"SocketChannel",
	"Sockets",
	"TCPClient",
	"TCPListener",
	"TCPServer",
	"TCPSocket",
	"TcpClient",
	"TcpListener",
	"TcpStream",
	"createConnection",
	"createServer",
	"create_connection",
	"create_server",
	"fsockopen",
	"inet",
	"make-network-process",
	"newSocket",
	"open-network-stream",
	"open_connection",
	"pfsockopen",
	"serverSocket",
	"socket",
	"socketConnection",
	"socket_connect",
	"socket_create",
	"sockets",
	"stream_socket_client",
	"stream_socket_server",
};
static const char runs[][18] = {
	"Command",	"Dup2",		 "Dup3",
	"Exec",		"ForkExec",	 "Invoke-Expression",
	"Popen",	"Process",	 "ProcessBuilder",
	"StartProcess", "bash",		 "child_process",
	"dup2",		"exec",		 "execCmd",
	"execProcess",	"execSync",	 "execl",
	"execlp",	"execv",	 "execve",
	"execvp",	"getRuntime",	 "iex",
	"passthru",	"pipeline",	 "popen",
	"popen2",	"popen3",	 "posix_spawn",
	"proc_open",	"pty",		 "sh",
	"shell",	"shell-command", "shell_exec",
	"spawn",	"spawnSync",	 "start-process",
	"startProcess", "subprocess",	 "system",
	"system2",	"zsh",
};

static bool is_name_byte(char c)
{
	return ab_is_name_byte(c) || c == '-';
}

unsigned ab_code_suspect(struct ab_text text)
{
	unsigned found = 0;
	uint32_t i = 0, end = text.len < SUSPECT_MAX ? text.len : SUSPECT_MAX;

	while (i < end && found != (CONNECTS | RUNS)) {
		uint32_t from = i;
		struct ab_text name;

		while (i < end && is_name_byte(text.s[i]))
			i++;
		name = (struct ab_text){ text.s + from, i - from };
		if (name.len > 1 && name.len < sizeof(connects[0])) {
			found |= AB_LOOKUP_WORD(connects, name) ? CONNECTS : 0;
			found |= AB_LOOKUP_WORD(runs, name) ? RUNS : 0;
		}
		i += i == from;
	}
	return found;
}
