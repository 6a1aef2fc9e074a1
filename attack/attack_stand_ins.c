#include "attack/attack_stand_ins.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>

#include "attack/attack.h"
#include "attack/trial.h"
#include "base/process/helper.h"
#include "base/text/base64.h"
#include "policy/values/host.h"
#include "proxy/io/tls.h"

enum { WAIT_MS = 4000, SERVE_SECONDS = 20, ROOM = 64 * 1024, SILENT_MAX = 256 };

#define TOKEN "stand-in-token-7f3a"
#define LOGIN "stand-in-login-that-the-host-exchanges"
/* Each of the form of an AWS key, and nobody's. */
#define KEY                                          \
	"[default]\n"                                \
	"aws_access_key_id = AKIASTANDIN234567ABC\n" \
	"aws_secret_access_key = stand-in/Secret/Key/0123456789+abcdefgh\n"
#define RAW "Content-Type: application/vnd.docker.raw-stream\r\n"
#define UPGRADE "Connection: Upgrade\r\nUpgrade: "

const char *const ab_spelled[AB_SPELL_COUNT] = {
	[AB_SPELL_PLAIN] = TOKEN,
	[AB_SPELL_PART] = "stand-in-t",
	[AB_SPELL_LINES] = "c3RhbmQtaW4t\r\ndG9rZW4tN2Yz\r\nYQ==",
	[AB_SPELL_HTML] = "&#0000115&#0000116&#000097&#0000110&#0000100&#000045&#0000105&#0000110"
			  "&#000045&#0000116&#0000111&#0000107&#0000101&#0000110&#000045&#000055"
			  "&#0000102&#000051&#000097",
};

static const struct {
	const char *path, *head;
	enum ab_spelling body;
} answers[] = {
	{ "/value ", "200 OK", AB_SPELL_PLAIN },
	{ "/lines ", "200 OK", AB_SPELL_LINES },
	{ "/html ", "200 OK\r\nContent-Type: text/html", AB_SPELL_HTML },
	{ "/part ", "206 Partial Content", AB_SPELL_PART },
	{ "/range ", "200 OK\r\nContent-Range: bytes 0-9/19", AB_SPELL_PART },
	{ "/ranges ", "200 OK\r\nContent-Type: multipart/byteranges; boundary=x", AB_SPELL_PART },
	{ "/switch ", "101 Switching Protocols\r\n" UPGRADE "stand-in", AB_SPELL_PLAIN },
};

/* By the number of a command. The first one is honest. */
static const char *const streams[] = {
	"HTTP/1.1 101 UPGRADED\r\n" RAW UPGRADE "tcp\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\n" RAW "Content-Length: 2\r\n\r\nOK",
	"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 101 UPGRADED\r\n" RAW UPGRADE
	"tcp\r\n\r\n",
	"HTTP/1.1 101 UPGRADED\r\n" UPGRADE "h2c\r\n\r\n",
};

/* Connections. */

struct ab_side ab_wire_open(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return (struct ab_side){ .source.fd = fd, .readable = true, .writable = true };
}

/* Wait for what was not ready. */
static bool await_socket(struct ab_side *side)
{
	struct pollfd p = { .fd = side->source.fd };

	p.events = (short)((side->readable ? 0 : POLLIN) | (side->writable ? 0 : POLLOUT));
	side->readable = side->writable = poll(&p, 1, WAIT_MS) > 0;
	return side->readable;
}

bool ab_wire_use_tls(struct ab_side *side, struct ab_tls_site *site, bool server)
{
	struct ab_host host = { .kind = AB_HOST_NAME, .text = AB_STAND_IN };
	enum ab_tls_end end;

	side->tls = (server ? ab_tls_accept : ab_tls_connect)(site, side, &host, AB_TLS_HTTP1);
	while ((end = ab_tls_handshake(side->tls)) == AB_TLS_WAIT && await_socket(side))
		;
	return end == AB_TLS_OK;
}

bool ab_wire_send(struct ab_side *side, const char *text)
{
	enum ab_io io;

	ab_buf_puts(&side->out, text);
	while ((io = ab_side_flush(side)) == AB_IO_WAIT && await_socket(side))
		;
	return io == AB_IO_DONE;
}

bool ab_wire_more(struct ab_side *side)
{
	enum ab_io io;

	while ((io = ab_side_read(side, ROOM)) == AB_IO_WAIT && await_socket(side))
		;
	return io == AB_IO_DONE;
}

bool ab_wire_message(struct ab_side *side)
{
	do {
		const char *end = side->in.len ? strstr(side->in.data, "\r\n\r\n") : NULL;
		const char *length = end ? strcasestr(side->in.data, "\r\ncontent-length:") : NULL;

		if (end && (!length || strlen(end) - 4 >= strtoul(length + 17, NULL, 10)))
			return true;
	} while (ab_wire_more(side));
	return false;
}

/* The servers: each connection has a process of its own. */

static void reply(struct ab_side *side, const char *head, const char *body)
{
	/* What follows a switch has no length. */
	ab_autofree char *length = strncmp(head, "101", 3) == 0
					   ? NULL
					   : ab_printf("Content-Length: %zu\r\n", strlen(body));
	ab_autofree char *text =
		ab_printf("HTTP/1.1 %s\r\n%s\r\n%s", head, length ? length : "", body);

	ab_wire_send(side, text);
}

/* Say the whole request, and harmless digits. */
static void show_signed(struct ab_side *side, struct ab_heard *heard)
{
	ab_autofree char *body = ab_printf("%s" AB_STAND_IN_DIGITS "\n", side->in.data);
	const char *signature = strstr(body, "Signature=");

	if (signature)
		snprintf(heard->signature, sizeof(heard->signature), "%.64s", signature + 10);
	reply(side, "200 OK", body);
}

/* Begin an answer, and end it with the signature of a request that comes meanwhile. */
static void show_later(struct ab_side *side, struct ab_heard *heard)
{
	ab_autofree char *text = NULL;

	heard->signature[0] = '\0';
	ab_wire_send(side, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" AB_STAND_IN_DIGITS "\n");
	for (int ms = 0; ms < WAIT_MS && strlen(heard->signature) < 64; ms += 10)
		poll(NULL, 0, 10);
	text = ab_printf("Signature=%s\n", heard->signature);
	ab_wire_send(side, text);
}

static void answer_request(struct ab_side *side, struct ab_heard *heard)
{
	const char *path = strchr(side->in.data, ' ') + 1;

	if (strncmp(path, "/signed", 7) == 0) {
		show_signed(side, heard);
		return;
	}
	if (strncmp(path, "/later ", 7) == 0) {
		show_later(side, heard);
		return;
	}
	for (size_t i = 0; i < AB_COUNT(answers); i++)
		if (strncmp(answers[i].path, path, strlen(answers[i].path)) == 0) {
			reply(side, answers[i].head, ab_spelled[answers[i].body]);
			return;
		}
	/* The exchange of the host's own login, or a path that anybody may ask for. */
	heard->requests += strncmp(path, "/plain ", 7) != 0 &&
			   (strncmp(path, "/token ", 7) != 0 || !strstr(path, LOGIN));
	reply(side, "200 OK\r\nContent-Type: application/json",
	      "{\"access_token\":\"" TOKEN "\",\"token_type\":\"bearer\",\"expires_in\":3600}");
}

static void serve_host(struct ab_side *side, struct ab_tls_site *site, struct ab_heard *heard)
{
	static const char ours[] = "CONNECT " AB_STAND_IN ":443 ";

	if (strncmp(side->in.data, ours, strlen(ours)) != 0) {
		/* The box must not have been let through. */
		heard->requests++;
		reply(side, "200 OK", "reached");
		return;
	}
	ab_buf_skip(&side->in, side->in.len);
	if (ab_wire_send(side, "HTTP/1.1 200 OK\r\n\r\n") && ab_wire_use_tls(side, site, true) &&
	    ab_wire_message(side))
		answer_request(side, heard);
}

/* The id of a command is its number. */
static void serve_engine(struct ab_side *side, struct ab_heard *heard)
{
	static const char mark[] = "\"Cmd\":[\"";
	const char *start = strstr(side->in.data, "/start "), *number = strstr(side->in.data, mark);
	ab_autofree char *id = ab_printf("{\"Id\":\"%064d\"}", number ? atoi(number + 8) : 0);
	unsigned i = start ? (unsigned)(start[-1] - '0') : 0;

	if (!start || i >= AB_COUNT(streams)) {
		reply(side, "200 OK\r\nContent-Type: application/json",
		      strstr(side->in.data, "/containers/json") ? "[]" : id);
		return;
	}
	ab_wire_send(side, streams[i]);
	while (ab_wire_more(side)) {
		heard->bytes += i > 0;
		ab_wire_send(side, AB_STAND_IN_HEARD);
	}
}

/* In a process of its own. Takes over the socket. */
static void serve_connection(int fd, bool engine, struct ab_tls_site *site, struct ab_heard *heard)
{
	struct ab_side side = ab_wire_open(fd);

	if (fork() == 0) {
		ab_close_others(&fd, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(SERVE_SECONDS);
		if (ab_wire_message(&side) && !engine)
			serve_host(&side, site, heard);
		else if (side.in.len)
			serve_engine(&side, heard);
		ab_side_close(&side, false);
		_exit(0);
	}
	close(fd);
}

/* Is the password in the first bytes? Our proxy sends its request in one piece. */
static bool is_of_proxy(int fd, const char *password)
{
	char head[2048];
	ssize_t n = recv(fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);

	return n > 0 && memmem(head, (size_t)n, password, strlen(password));
}

/* Connections of others cost a descriptor and no process; the oldest silent one makes room for a new one. */
static _Noreturn void serve(const int *listeners, const char *password, struct ab_tls_site *site,
			    struct ab_heard *heard)
{
	struct pollfd p[SILENT_MAX + 2] = { [SILENT_MAX] = { listeners[0], POLLIN, 0 },
					    [SILENT_MAX + 1] = { listeners[1], POLLIN, 0 } };
	size_t next = 0;

	signal(SIGCHLD, SIG_IGN);
	for (size_t i = 0; i < SILENT_MAX; i++)
		p[i] = (struct pollfd){ -1, POLLIN, 0 };
	while (poll(p, AB_COUNT(p), -1) >= 0 || errno == EINTR) {
		for (size_t i = 0; i < AB_COUNT(p); i++) {
			int fd = !p[i].revents	  ? -1
				 : i < SILENT_MAX ? ab_take_fd(&p[i].fd)
						  : accept4(p[i].fd, NULL, NULL, SOCK_CLOEXEC);

			if (i == SILENT_MAX && fd >= 0) {
				ab_closep(&p[next % SILENT_MAX].fd);
				p[next++ % SILENT_MAX] = (struct pollfd){ fd, POLLIN, 0 };
			} else if (i > SILENT_MAX ? fd >= 0 : is_of_proxy(fd, password)) {
				serve_connection(fd, i > SILENT_MAX, site, heard);
			} else {
				ab_closep(&fd);
			}
		}
	}
	_exit(1);
}

/* Starting them. */

/* Paths start at the workspace. The engine is last: ab_stand_ins_without_engine(). */
#define ENGINE ",\"docker\""
static char *write_config(const struct ab_trial *t, const char *login, int port)
{
	ab_autofree char *url = ab_printf("http://%s@127.0.0.1:%d", login, port);
	ab_autofree char *late = ab_printf("%s/" AB_LATE_FILE, t->base);
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b,
		     "{'network':{'allow':['" AB_STAND_IN "'],'roots':['../../root.pem'],"
		     "'upstream':%s},'filesystem':{'share':['~/shared']},"
		     "'secrets':{'" AB_STAND_IN_VARIABLE "':{'from':'file','file':'../../login',"
		     "'as':'bearer','hosts':['" AB_STAND_IN
		     "'],'oauth':{'url':'https://" AB_STAND_IN "/token','client':'doctor'}},",
		     url);
	ab_buf_jsonf(
		&b,
		"'AWS':{'sign':'aws-sigv4','from':'file','file':'../../key','hosts':['" AB_STAND_IN
		"'],'services':['" AB_STAND_IN_SERVICE "'],'regions':['" AB_STAND_IN_REGION "']}");
	/* Its command is a program that logs in while the start runs. */
	if (access("/bin/sh", X_OK) == 0)
		ab_buf_jsonf(
			&b,
			",'LATE_TOKEN':{'from':'command','command':['/bin/sh','-c',%s,'sh',%s],"
			"'hosts':['" AB_STAND_IN "']}",
			"printf '[global]\\ntimeout = 7\\nindex-url = https://me:" AB_PLANTED_LOGIN
			"@mirror.test/simple\\n' >\"$1\" && echo stand-in-late",
			late);
	ab_buf_jsonf(&b, "},'docker':{'images':['" AB_STAND_IN_IMAGE
			 "'],'socket':'../../engine.sock'}}");
	return ab_buf_take(&b);
}

bool ab_stand_ins_without_engine(struct ab_trial *t)
{
	char *engine = t->config ? strstr(t->config, ENGINE) : NULL;

	if (engine)
		strcpy(engine, "}");
	return engine != NULL;
}

static bool pick_word(struct ab_trial *t, char ret[AB_WORD_SIZE])
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	snprintf(ret, AB_WORD_SIZE, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	return ab_stage_plant(t, "home/project/" AB_WORD_FILE, ret) == 0;
}

void ab_stand_ins_start(struct ab_trial *t, struct ab_stand_ins *ret)
{
	ab_autofree char *path = ab_printf("%s/engine.sock", t->base);
	ab_autofree char *login = NULL;
	ab_autobuf struct ab_buf password = { 0 };
	ab_autostrv struct ab_strv hosts = { 0 };
	struct ab_tls_setup setup = { .hosts = &hosts, .roots = "" };
	struct ab_tls_site *site = NULL;
	struct ab_stand_ins s = { -1, mmap(NULL, sizeof(*s.heard), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0) };
	struct ab_error err;
	int port = 0,
	    listeners[] = { ab_stage_listen_loopback(&port), ab_stage_listen(path, false) };
	bool ready = pick_word(t, s.word);

	login = ab_printf("doctor:%s", s.word);
	ab_base64_add(&password, login, strlen(login), AB_BASE64_STANDARD, true);
	ab_strv_add(&hosts, AB_STAND_IN);
	if (ready && s.heard != MAP_FAILED && port && listeners[1] >= 0 &&
	    ab_tls_site_new(&setup, &site, &err) == 0 &&
	    ab_stage_plant(t, "root.pem", ab_tls_site_pem(site)) == 0 &&
	    ab_stage_plant(t, "login", LOGIN) == 0 && ab_stage_plant(t, "key", KEY) == 0)
		s.pid = fork();
	if (s.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ab_close_others(listeners, AB_COUNT(listeners));
		serve(listeners, password.data, site, s.heard);
	}
	if (s.pid > 0)
		t->config = write_config(t, login, port);
	if (site)
		ab_tls_site_free(site);
	ab_close_all(&listeners[0], &listeners[1]);
	*ret = s;
}

void ab_stand_ins_stop(struct ab_stand_ins *s)
{
	if (s->pid <= 0)
		return;
	kill(s->pid, SIGKILL);
	(void)ab_await(s->pid);
}
