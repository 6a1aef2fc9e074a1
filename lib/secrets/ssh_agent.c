#include "secrets/ssh_agent.h"

#include <sys/un.h>

#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "proxy/conn/agent_terms.h"
#include "proxy/io/tls_ssh_key.h"
#include "sandbox/plan/spec.h"
#include "workspace/tree/host_path.h"

enum { KNOWN_HOSTS_MAX = 4 << 20 };

/* NULL: it can be used. */
static const char *find_fault(const char *socket)
{
	struct sockaddr_un at;
	struct stat st;

	if (!socket || !*socket)
		return "SSH_AUTH_SOCK is not set";
	if (socket[0] != '/' || strlen(socket) >= sizeof(at.sun_path))
		return "SSH_AUTH_SOCK is not the path of a socket";
	if (stat(socket, &st) < 0)
		return "there is no socket where SSH_AUTH_SOCK points";
	return S_ISSOCK(st.st_mode) ? NULL : "SSH_AUTH_SOCK does not point to a socket";
}

/* A file that a box can write says nothing about hosts. */
static bool is_touched(const struct ab_policy *policy, const char *path)
{
	ab_autofree char *real = realpath(path, NULL);

	return real && ab_host_path_writes(&policy->fs.touched, real);
}

static void learn_file(const struct ab_policy *policy, struct ab_agent_terms *terms,
		       const char *path, struct ab_strv *notes)
{
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ab_autofree char *text = NULL;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (is_touched(policy, path))
		ab_strv_addf(notes, "ssh: %s is ignored, because boxes can write it", path);
	else if (ab_read_all(fd, KNOWN_HOSTS_MAX, &text, &len) < 0)
		ab_strv_addf(notes, "ssh: %s is ignored: %s", path, strerror(errno));
	else
		ab_agent_terms_learn(terms, text, len);
}

static void learn_hosts(const struct ab_policy *policy, struct ab_agent_terms *terms,
			struct ab_strv *notes)
{
	static const char *const own[] = { ".ssh/known_hosts", ".ssh/known_hosts2" };
	static const char *const common[] = { "/etc/ssh/ssh_known_hosts",
					      "/etc/ssh/ssh_known_hosts2" };

	for (size_t i = 0; policy->home && i < AB_COUNT(own); i++) {
		ab_autofree char *path = ab_path_join(policy->home, own[i]);

		learn_file(policy, terms, path, notes);
	}
	for (size_t i = 0; i < AB_COUNT(common); i++)
		learn_file(policy, terms, common[i], notes);
}

static void note_unknown(const struct ab_agent_terms *terms, struct ab_strv *notes)
{
	for (size_t i = 0; i < terms->nhosts; i++) {
		const struct ab_agent_host *h = &terms->hosts[i];

		if (h->nkeys)
			continue;
		ab_strv_addf(notes,
			     "ssh: known_hosts has no key of %s%s, so no login there is signed; "
			     "connect to it once outside the box",
			     h->host.text, h->authorities ? " (only a certificate authority)" : "");
	}
}

int ab_ssh_agent_prepare(const struct ab_policy *policy, char *const *env, bool nested,
			 struct ab_spec *spec, struct ab_ssh_agent *ret, struct ab_strv *notes,
			 struct ab_error *err)
{
	const char *socket, *fault;

	*ret = (struct ab_ssh_agent){ 0 };
	if (!nested && !ab_policy_lends_keys(policy))
		return 0;
	socket = ab_environ_get(env, "SSH_AUTH_SOCK");
	if (nested) {
		if (socket && strcmp(socket, AB_AGENT_SOCKET) == 0)
			ab_env_set(&spec->env, "SSH_AUTH_SOCK", AB_AGENT_SOCKET);
		return 0;
	}
	fault = find_fault(socket);
	if (fault) {
		ab_strv_addf(notes, "ssh: no key can be used: %s; start an agent with ssh-agent",
			     fault);
		return 0;
	}
	if (ab_ssh_key_prepare(err) < 0)
		return ab_step(err, "ssh agent");
	ret->socket = ab_strdup(socket);
	ret->terms = ab_agent_terms_new(policy);
	learn_hosts(policy, ret->terms, notes);
	note_unknown(ret->terms, notes);
	spec->agent = true;
	ab_env_set(&spec->env, "SSH_AUTH_SOCK", AB_AGENT_SOCKET);
	return 0;
}

void ab_ssh_agent_fini(struct ab_ssh_agent *agent)
{
	ab_agent_terms_free(agent->terms);
	free(agent->socket);
	*agent = (struct ab_ssh_agent){ 0 };
}
