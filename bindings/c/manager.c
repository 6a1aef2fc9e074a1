#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

enum { PROTOCOL = 1 };

int ab_client_unsized(struct ab_fault *fault)
{
	return ab_client_fail(fault, AB_FAULT_USAGE, 0,
			      "a struct has no size: initialize it with its macro, for example "
			      "AB_RUN_OPTIONS");
}

int ab_client_options(void *to, size_t room, const void *from, size_t size, struct ab_fault *fault)
{
	if (size == 0)
		return ab_client_unsized(fault);
	memset(to, 0, room);
	memcpy(to, from, size < room ? size : room);
	return 0;
}

/* Keep a copy of this member: 0, or -1 out of memory. */
static int set_text(json_t *to, const char *key, const char *value)
{
	return value ? json_object_set_new(to, key, json_string_nocheck(value)) : 0;
}

/* Each entry is added to those that are there; NULL empties the list. */
static int add_setting(json_t *options, const struct ab_setting_value *s)
{
	json_t *list = json_object_get(options, s->key);

	if (!list || !s->value) {
		list = json_array();
		if (json_object_set_new(options, s->key, list) < 0)
			return -1;
	}
	return s->value ? json_array_append_new(list, json_string_nocheck(s->value)) : 0;
}

static int add_settings(json_t *to, const struct ab_policy_options *p)
{
	json_t *options = json_object_get(to, "options");

	if (p->nsettings == 0)
		return 0;
	if (!options) {
		options = json_object();
		if (json_object_set_new(to, "options", options) < 0)
			return -1;
	}
	for (size_t i = 0; i < p->nsettings; i++)
		if (add_setting(options, &p->settings[i]) < 0)
			return -1;
	return 0;
}

static int add_environment(json_t *to, const char *const *env)
{
	json_t *object = env ? json_object() : NULL;

	if (!env)
		return 0;
	for (size_t i = 0; object && env[i]; i++) {
		const char *value = strchr(env[i], '=');
		char *name = value ? strndup(env[i], (size_t)(value - env[i])) : NULL;
		bool bad = !value || !name ||
			   json_object_set_new_nocheck(object, name,
						       json_string_nocheck(value + 1)) < 0;

		free(name);
		if (bad) {
			json_decref(object);
			return -1;
		}
	}
	return json_object_set_new(to, "env", object);
}

static int add_policy_text(json_t *to, const char *text, struct ab_fault *fault)
{
	json_error_t wrong;
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);

	if (!json_is_object(json)) {
		json_decref(json);
		return ab_client_fail(fault, AB_FAULT_CONFIG, 0,
				      json ? "the policy is not an object"
					   : "the policy is not JSON: line %d: %s",
				      wrong.line, wrong.text);
	}
	(void)json_object_del(to, "policy_file");
	return json_object_set_new(to, "policy", json) < 0 ? ab_client_memory(fault) : 0;
}

/* jansson takes texts in UTF-8 only when it writes them; names of files may be anything. */
bool ab_client_utf8(const char *text)
{
	json_t *string = text ? json_string(text) : NULL;
	bool good = !text || string;

	json_decref(string);
	return good;
}

static int check_texts(const struct ab_policy_options *p, struct ab_fault *fault)
{
	bool good = ab_client_utf8(p->profile) && ab_client_utf8(p->cwd) &&
		    ab_client_utf8(p->workspace) && ab_client_utf8(p->policy_file);

	for (size_t i = 0; i < p->nsettings; i++) {
		if (!p->settings[i].key)
			return ab_client_fail(fault, AB_FAULT_USAGE, 0, "a setting has no key");
		good &= ab_client_utf8(p->settings[i].key) && ab_client_utf8(p->settings[i].value);
	}
	for (size_t i = 0; p->env && p->env[i]; i++) {
		if (!strchr(p->env[i], '='))
			return ab_client_fail(fault, AB_FAULT_USAGE, 0,
					      "the environment must be a list of K=V");
		good &= ab_client_utf8(p->env[i]);
	}
	return good ? 0 : ab_client_fail(fault, AB_FAULT_USAGE, 0, "a text is not UTF-8");
}

static int add_policy(json_t *to, const struct ab_policy_options *from, struct ab_fault *fault)
{
	struct ab_policy_options p;

	if (ab_client_options(&p, sizeof(p), from, from->size, fault) < 0 ||
	    check_texts(&p, fault) < 0)
		return -1;
	if (p.policy && p.policy_file)
		return ab_client_fail(fault, AB_FAULT_USAGE, 0,
				      "give a policy or a file of one, not both");
	if (p.policy && add_policy_text(to, p.policy, fault) < 0)
		return -1;
	if (p.policy_file)
		(void)json_object_del(to, "policy");
	if (set_text(to, "policy_file", p.policy_file) < 0 ||
	    set_text(to, "profile", p.profile) < 0 || set_text(to, "cwd", p.cwd) < 0 ||
	    set_text(to, "workspace", p.workspace) < 0 ||
	    (p.no_project && json_object_set_new(to, "project", json_false()) < 0) ||
	    add_settings(to, &p) < 0 || add_environment(to, p.env) < 0)
		return ab_client_memory(fault);
	return 0;
}

static int add_argv(json_t *to, const char *const *argv, struct ab_fault *fault)
{
	json_t *list = json_array();

	if (json_object_set_new(to, "argv", list) < 0)
		return ab_client_memory(fault);
	for (size_t i = 0; argv[i]; i++) {
		if (!ab_client_utf8(argv[i]))
			return ab_client_fail(fault, AB_FAULT_USAGE, 0, "argument %zu is not UTF-8",
					      i);
		if (json_array_append_new(list, json_string_nocheck(argv[i])) < 0)
			return ab_client_memory(fault);
	}
	return 0;
}

json_t *ab_client_policy(const struct ab_manager *m, const char *what,
			 const struct ab_policy_options *policy, struct ab_fault *fault)
{
	json_t *request = json_deep_copy(m->policy);
	int result = 0;

	if (!request || set_text(request, "do", what) < 0)
		result = ab_client_memory(fault);
	else if (policy)
		result = add_policy(request, policy, fault);
	if (result == 0)
		return request;
	json_decref(request);
	return NULL;
}

json_t *ab_client_request(const struct ab_manager *m, const char *what, const char *const *argv,
			  const char *shell, const struct ab_policy_options *policy,
			  struct ab_fault *fault)
{
	json_t *request = ab_client_policy(m, what, NULL, fault);
	int result = 0;

	if (!request)
		return NULL;
	if (!argv == !shell)
		result = ab_client_fail(fault, AB_FAULT_USAGE, 0,
					"give exactly one of argv and shell");
	else if (argv)
		result = add_argv(request, argv, fault);
	else if (!ab_client_utf8(shell))
		result = ab_client_fail(fault, AB_FAULT_USAGE, 0, "the command is not UTF-8");
	else if (set_text(request, "shell", shell) < 0)
		result = ab_client_memory(fault);
	if (result == 0 && policy)
		result = add_policy(request, policy, fault);
	if (result == 0)
		return request;
	json_decref(request);
	return NULL;
}

static int say_hello(struct ab_manager *m, struct ab_fault *fault)
{
	return ab_client_ask(m,
			     json_pack("{s:s,s:i,s:s}", "do", "hello", "protocol", PROTOCOL,
				       "client", "libagentbox " AB_VERSION),
			     NULL, 0, NULL, NULL, fault);
}

static struct ab_manager *make_manager(void)
{
	struct ab_manager *m = calloc(1, sizeof(*m));
	pthread_condattr_t clock;

	if (!m)
		return NULL;
	*m = (struct ab_manager){ .refs = 1,
				  .sock = -1,
				  .pidfd = -1,
				  .ready = -1,
				  .queued = -1,
				  .policy = json_object() };
	m->last = &m->first;
	pthread_mutex_init(&m->lock, NULL);
	pthread_mutex_init(&m->writing, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&m->moved, &clock);
	pthread_condattr_destroy(&clock);
	return m;
}

/* Events can be read with the reply to a request, so the socket alone does not tell of them. */
static int make_ready(struct ab_manager *m, struct ab_fault *fault)
{
	struct epoll_event in = { .events = EPOLLIN };

	m->ready = epoll_create1(EPOLL_CLOEXEC);
	m->queued = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->ready < 0 || m->queued < 0 || !ab_client_raise(&m->ready) ||
	    !ab_client_raise(&m->queued) || epoll_ctl(m->ready, EPOLL_CTL_ADD, m->sock, &in) < 0 ||
	    epoll_ctl(m->ready, EPOLL_CTL_ADD, m->queued, &in) < 0)
		return ab_client_fail(fault, AB_FAULT_SYSTEM, errno,
				      "make a descriptor for events");
	return 0;
}

int ab_manager_new(const struct ab_manager_options *from, struct ab_manager **ret,
		   struct ab_fault *fault)
{
	struct ab_manager_options options = { 0 };
	struct ab_manager *m;
	int result = 0;

	if (from && ab_client_options(&options, sizeof(options), from, from->size, fault) < 0)
		return -1;
	m = make_manager();
	if (!m || !m->policy)
		result = ab_client_memory(fault);
	else if (options.policy)
		result = add_policy(m->policy, options.policy, fault);
	if (result == 0) {
		m->noop = options.noop;
		m->noop_exit = options.noop_exit;
	}
	if (result == 0 && !m->noop) {
		result = ab_client_launch(&options, &m->sock, &m->pidfd, fault);
		if (result == 0)
			result = make_ready(m, fault);
		if (result == 0)
			result = say_hello(m, fault);
	}
	if (result < 0)
		ab_manager_free(m);
	else
		*ret = m;
	return result;
}

void ab_client_ref(struct ab_manager *m)
{
	pthread_mutex_lock(&m->lock);
	m->refs++;
	pthread_mutex_unlock(&m->lock);
}

void ab_client_unref(struct ab_manager *m)
{
	struct ab_event *event;
	bool last;

	pthread_mutex_lock(&m->lock);
	last = --m->refs == 0;
	pthread_mutex_unlock(&m->lock);
	if (!last)
		return;
	while ((event = m->first) != NULL) {
		m->first = event->next;
		json_decref(event->json);
		free(event);
	}
	json_decref(m->policy);
	free(m->bytes);
	pthread_cond_destroy(&m->moved);
	pthread_mutex_destroy(&m->lock);
	pthread_mutex_destroy(&m->writing);
	free(m);
}

void ab_manager_free(struct ab_manager *m)
{
	if (!m)
		return;
	if (m->sock >= 0)
		ab_client_end(m->sock, m->pidfd);
	pthread_mutex_lock(&m->lock);
	if (m->sock >= 0)
		close(m->sock);
	if (m->ready >= 0)
		close(m->ready);
	if (m->queued >= 0)
		close(m->queued);
	m->sock = m->pidfd = m->ready = m->queued = -1;
	m->dead = true;
	m->why = AB_FAULT_GONE;
	pthread_mutex_unlock(&m->lock);
	ab_client_unref(m);
}

int ab_manager_fd(const struct ab_manager *m)
{
	return m->ready;
}

int ab_manager_dispatch(struct ab_manager *m, int timeout_ms, struct ab_fault *fault)
{
	int64_t until = ab_client_until(timeout_ms);
	int count = 0, result;

	if (ab_client_in_callback(m))
		return ab_client_fail(fault, AB_FAULT_USAGE, 0,
				      "a callback cannot wait for events");
	pthread_mutex_lock(&m->lock);
	do {
		while (ab_client_deliver(m))
			count++;
		/* What has come meanwhile is delivered, too, unless another thread does it. */
		if (m->delivering)
			result = !count && ab_client_await(m, until);
		else
			result = m->noop ? 0 : ab_client_read(m, count ? 0 : until);
	} while (result > 0 || (m->first && !m->delivering));
	if (result < 0 && !count)
		count = ab_client_gone(m, fault);
	pthread_mutex_unlock(&m->lock);
	return count;
}

int ab_manager_available(struct ab_manager *m, bool *ret_available, char **ret_report,
			 struct ab_fault *fault)
{
	json_t *reply = NULL;
	char *report = NULL;

	if (m->noop)
		reply = json_pack("{s:b,s:{}}", "available", 0, "report");
	else if (ab_client_ask(m, json_pack("{s:s}", "do", "doctor"), NULL, 0, NULL, &reply,
			       fault) < 0)
		return -1;
	if (reply && ret_report)
		report = ab_client_dump(json_object_get(reply, "report"));
	if (!reply || (ret_report && !report)) {
		json_decref(reply);
		return ab_client_memory(fault);
	}
	*ret_available = json_is_true(json_object_get(reply, "available"));
	if (ret_report)
		*ret_report = report;
	json_decref(reply);
	return 0;
}

/* The reply to a request about a command. A no-op manager has an answer of its own. */
static json_t *ask_about(struct ab_manager *m, const char *what, const char *const *argv,
			 const char *shell, const struct ab_policy_options *policy,
			 struct ab_fault *fault)
{
	json_t *request = ab_client_request(m, what, argv, shell, policy, fault), *reply = NULL;

	if (!request)
		return NULL;
	if (m->noop) {
		if (shell)
			reply = json_pack("{s:{s:s},s:[sss]}", "verdict", "decision", "sandboxed",
					  "argv", "/bin/sh", "-c", shell);
		else
			reply = json_pack("{s:{s:s},s:O}", "verdict", "decision", "sandboxed",
					  "argv", json_object_get(request, "argv"));
		json_decref(request);
		if (!reply)
			ab_client_memory(fault);
		return reply;
	}
	return ab_client_ask(m, request, NULL, 0, NULL, &reply, fault) < 0 ? NULL : reply;
}

int ab_manager_check(struct ab_manager *m, const char *const *argv, const char *shell,
		     const struct ab_policy_options *policy, enum ab_verdict *ret, char **ret_json,
		     struct ab_fault *fault)
{
	static const char *const names[] = { "allow", "sandboxed", "escalated", "forbidden" };
	json_t *reply = ask_about(m, "check", argv, shell, policy, fault);
	const json_t *verdict = json_object_get(reply, "verdict");
	char *json = reply && ret_json ? ab_client_dump(verdict) : NULL;

	if (!reply)
		return -1;
	if (ret_json && !json) {
		json_decref(reply);
		return ab_client_memory(fault);
	}
	*ret = AB_VERDICT_FORBIDDEN;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], ab_client_text(verdict, "decision")) == 0)
			*ret = (enum ab_verdict)i;
	if (ret_json)
		*ret_json = json;
	json_decref(reply);
	return 0;
}

int ab_manager_wrap(struct ab_manager *m, const char *const *argv, const char *shell,
		    const struct ab_policy_options *policy, char ***ret_argv,
		    struct ab_fault *fault)
{
	json_t *reply = ask_about(m, "wrap", argv, shell, policy, fault), *word;
	const json_t *list = json_object_get(reply, "argv");
	char **copy = reply ? calloc(json_array_size(list) + 1, sizeof(*copy)) : NULL;
	size_t i;

	if (!reply)
		return -1;
	for (i = 0; copy && (word = json_array_get(list, i)) != NULL; i++) {
		copy[i] = strdup(json_string_value(word));
		if (!copy[i]) {
			ab_strings_free(copy);
			copy = NULL;
		}
	}
	json_decref(reply);
	if (!copy)
		return ab_client_memory(fault);
	*ret_argv = copy;
	return 0;
}
