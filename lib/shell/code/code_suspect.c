#include "shell/code/code_suspect.h"

#include "shell/syntax/name_table.h"

/* A longer text is judged by its beginning. */
enum { SUSPECT_MAX = 1 << 16, CONNECTS = AB_SUSPECT_CONNECTS, RUNS = AB_SUSPECT_RUNS };

/* Sorted by name. */
static const struct {
	char name[26];
	unsigned suspect;
} names[] = {
	{ "AF_INET", CONNECTS },
	{ "AF_INET6", CONNECTS },
	{ "AsynchronousSocketChannel", CONNECTS },
	{ "Command", RUNS },
	{ "Dial", CONNECTS },
	{ "DialTCP", CONNECTS },
	{ "DialTimeout", CONNECTS },
	{ "Dup2", RUNS },
	{ "Dup3", RUNS },
	{ "Exec", RUNS },
	{ "ForkExec", RUNS },
	{ "INET", CONNECTS },
	{ "Invoke-Expression", RUNS },
	{ "Listen", CONNECTS },
	{ "ListenTCP", CONNECTS },
	{ "PF_INET", CONNECTS },
	{ "Popen", RUNS },
	{ "Process", RUNS },
	{ "ProcessBuilder", RUNS },
	{ "ServerSocket", CONNECTS },
	{ "Socket", CONNECTS },
	{ "SocketChannel", CONNECTS },
	{ "Sockets", CONNECTS },
	{ "StartProcess", RUNS },
	{ "TCPClient", CONNECTS },
	{ "TCPListener", CONNECTS },
	{ "TCPServer", CONNECTS },
	{ "TCPSocket", CONNECTS },
	{ "TcpClient", CONNECTS },
	{ "TcpListener", CONNECTS },
	{ "TcpStream", CONNECTS },
	{ "bash", RUNS },
	{ "child_process", RUNS },
	{ "createConnection", CONNECTS },
	{ "createServer", CONNECTS },
	{ "create_connection", CONNECTS },
	{ "create_server", CONNECTS },
	{ "dup2", RUNS },
	{ "exec", RUNS },
	{ "execSync", RUNS },
	{ "execCmd", RUNS },
	{ "execProcess", RUNS },
	{ "execl", RUNS },
	{ "execlp", RUNS },
	{ "execv", RUNS },
	{ "execve", RUNS },
	{ "execvp", RUNS },
	{ "fsockopen", CONNECTS },
	{ "getRuntime", RUNS },
	{ "iex", RUNS },
	{ "inet", CONNECTS },
	{ "make-network-process", CONNECTS },
	{ "newSocket", CONNECTS },
	{ "open-network-stream", CONNECTS },
	{ "open_connection", CONNECTS },
	{ "passthru", RUNS },
	{ "pfsockopen", CONNECTS },
	{ "pipeline", RUNS },
	{ "popen", RUNS },
	{ "popen2", RUNS },
	{ "popen3", RUNS },
	{ "posix_spawn", RUNS },
	{ "proc_open", RUNS },
	{ "pty", RUNS },
	{ "serverSocket", CONNECTS },
	{ "sh", RUNS },
	{ "shell", RUNS },
	{ "shell-command", RUNS },
	{ "shell_exec", RUNS },
	{ "socket", CONNECTS },
	{ "socketConnection", CONNECTS },
	{ "socket_connect", CONNECTS },
	{ "socket_create", CONNECTS },
	{ "sockets", CONNECTS },
	{ "spawn", RUNS },
	{ "spawnSync", RUNS },
	{ "start-process", RUNS },
	{ "startProcess", RUNS },
	{ "stream_socket_client", CONNECTS },
	{ "stream_socket_server", CONNECTS },
	{ "subprocess", RUNS },
	{ "system", RUNS },
	{ "system2", RUNS },
	{ "zsh", RUNS },
};

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
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
		if (name.len > 1 && name.len <= sizeof(names[0].name)) {
			const __typeof__(names[0]) *row = AB_LOOKUP(names, name);

			found |= row ? row->suspect : 0;
		}
		i += i == from;
	}
	return found;
}
