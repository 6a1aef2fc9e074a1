#include "policy/model/ports.h"

#include "policy/model/policy.h"
#include "policy/values/complaint.h"

/* Ports on which agentbox listens inside the box: DNS, the proxy, and captured
 * connections. */
static const uint16_t taken[] = { 53, 61080, 61081 };

/* Each port takes one or two listeners, and the box sends them all up in one
 * message. */
enum { HOST_PORTS_MAX = 48 };

static int check_taken(uint16_t port, const char *text, struct ab_complaint *why)
{
	for (size_t i = 0; i < AB_COUNT(taken); i++)
		if (taken[i] == port)
			return ab_complaint_value(why, text, "is used by agentbox inside the box",
						  "choose another than 53, 61080 and 61081");
	return 0;
}

static int add_once(const struct ab_put *p, const char *text, const char *canonical)
{
	if (ab_value_find(p->v, canonical))
		return ab_complaint_value(p->why, text, "is listed twice", "remove one");
	return ab_put_copy(p, canonical);
}

int ab_host_port_put(const struct ab_put *p, const char *text)
{
	char canonical[8];
	uint16_t port;

	if (!ab_port_parse(text, strlen(text), &port))
		return ab_complaint_value(p->why, text, "is not a port", "use one from 1 to 65535");
	if (check_taken(port, text, p->why) < 0)
		return -1;
	snprintf(canonical, sizeof(canonical), "%u", port);
	return add_once(p, text, canonical);
}

bool ab_publish_parse(const char *s, struct ab_publish *ret)
{
	const char *colon = strchr(s, ':');
	const char *box = colon ? colon + 1 : s;
	struct ab_publish p;

	if (!ab_port_parse(box, strlen(box), &p.port) ||
	    !ab_port_parse(s, strcspn(s, ":"), &p.host))
		return false;
	*ret = p;
	return true;
}

/* Another entry that wants the same port of the host, or NULL. */
static const struct ab_item *find_host_port(const struct ab_value *v, size_t before, uint16_t port)
{
	struct ab_publish p;

	for (size_t i = 0; i < before; i++)
		if (ab_publish_parse(v->items[i].text, &p) && p.host == port)
			return &v->items[i];
	return NULL;
}

static int refuse_second(uint16_t port, struct ab_complaint *why)
{
	return ab_complaint_say(why, "a host port can lead to only one port of the box",
				"host port %u is published twice", port);
}

int ab_publish_put(const struct ab_put *p, const char *text)
{
	char canonical[16];
	struct ab_publish pair;

	if (!ab_publish_parse(text, &pair))
		return ab_complaint_value(p->why, text, "is not a port mapping",
					  "use PORT or HOSTPORT:PORT, as in 8080:3000");
	if (check_taken(pair.port, text, p->why) < 0)
		return -1;
	snprintf(canonical, sizeof(canonical), "%u:%u", pair.host, pair.port);
	if (!ab_value_find(p->v, canonical) && find_host_port(p->v, p->v->len, pair.host))
		return refuse_second(pair.host, p->why);
	return add_once(p, text, canonical);
}

static int refuse_both(uint16_t port, struct ab_complaint *why)
{
	return ab_complaint_say(why, "a port of the box can be in only one of them",
				"port %u is also in network.hostPorts", port);
}

/* In both lists a connection to the port would go in circles. */
static bool is_host_port(const struct ab_value *v, uint16_t port)
{
	char text[8];

	snprintf(text, sizeof(text), "%u", port);
	return ab_value_find(v, text) != NULL;
}

static int check_host_ports(const struct ab_config *c, const struct ab_origin **ret_from,
			    struct ab_complaint *why)
{
	const struct ab_value *v = &c->v[AB_KEY_HOST_PORTS];

	if (v->len <= HOST_PORTS_MAX)
		return 0;
	*ret_from = v->items[HOST_PORTS_MAX].from;
	return ab_complaint_say(why, "list only those you need", "more than %d host ports",
				HOST_PORTS_MAX);
}

static int check_publish(const struct ab_config *c, const struct ab_origin **ret_from,
			 struct ab_complaint *why)
{
	const struct ab_value *v = &c->v[AB_KEY_PUBLISH];

	for (size_t i = 0; i < v->len; i++) {
		struct ab_publish p;

		if (!ab_publish_parse(v->items[i].text, &p))
			continue;
		*ret_from = v->items[i].from;
		if (find_host_port(v, i, p.host))
			return refuse_second(p.host, why);
		if (is_host_port(&c->v[AB_KEY_HOST_PORTS], p.port))
			return refuse_both(p.port, why);
	}
	return 0;
}

int ab_publish_check_late(const struct ab_policy *policy, const struct ab_publish *one,
			  struct ab_complaint *why)
{
	char text[16];
	bool permitted = !policy->net.most_published.bounded;

	snprintf(text, sizeof(text), "%u:%u", one->host, one->port);
	for (size_t i = 0; !permitted && i < policy->net.most_published.len; i++)
		permitted = policy->net.most_published.v[i].host == one->host &&
			    policy->net.most_published.v[i].port == one->port;
	if (!permitted)
		return ab_complaint_say(why, "ask the administrator of this machine",
					"the managed settings do not permit to publish %s", text);
	if (check_taken(one->port, text, why) < 0)
		return -1;
	for (size_t i = 0; i < policy->net.host_ports.len; i++)
		if (policy->net.host_ports.v[i] == one->port)
			return refuse_both(one->port, why);
	for (size_t i = 0; i < policy->net.publish.len; i++)
		if (policy->net.publish.v[i].host == one->host)
			return refuse_second(one->host, why);
	return 0;
}

/* Host ports need the proxy. Published ports need only a network namespace.
 * Path rules need a network without a way around the proxy. */
static const struct need {
	enum ab_key_id key;
	unsigned modes; /* bits */
	const char *words;
} needs[] = {
	{ AB_KEY_HOST_PORTS, 1u << AB_NET_FILTERED, "filtered" },
	{ AB_KEY_PUBLISH, 1u << AB_NET_FILTERED | 1u << AB_NET_BLOCKED, "filtered or blocked" },
	{ AB_KEY_HTTP, 1u << AB_NET_FILTERED | 1u << AB_NET_BLOCKED, "filtered or blocked" },
};

static bool fits_mode(const struct ab_config *c, const struct need *need)
{
	const struct ab_value *v = &c->v[AB_KEY_NET_MODE];

	return !v->from || c->v[need->key].len == 0 ||
	       need->modes >> ab_keys[AB_KEY_NET_MODE].words[v->number].number & 1;
}

static const char *get_mode_name(const struct ab_config *c)
{
	return ab_keys[AB_KEY_NET_MODE].words[c->v[AB_KEY_NET_MODE].number].name;
}

static int check_mode(const struct ab_config *c, const struct ab_origin *chooser,
		      const struct need *need, const struct ab_origin **ret_from,
		      struct ab_complaint *why)
{
	const struct ab_origin *mode = c->v[AB_KEY_NET_MODE].from;
	const struct ab_value *v = &c->v[need->key];
	ab_autofree char *where = NULL;
	enum ab_layer layer;

	if (fits_mode(c, need))
		return 0;
	where = ab_origin_text(mode);
	layer = mode->layer == AB_LAYER_PROFILE && chooser ? chooser->layer : mode->layer;
	for (size_t i = 0; i < v->len; i++) {
		*ret_from = v->items[i].from;
		if (!v->items[i].tighten && (*ret_from)->layer >= layer)
			return ab_complaint_say(why, "change one of them",
						"needs network.mode %s, but %s sets it to %s",
						need->words, where, get_mode_name(c));
	}
	return 0;
}

int ab_ports_check(const struct ab_config *c, const struct ab_origin *chooser,
		   enum ab_key_id *ret_key, const struct ab_origin **ret_from,
		   struct ab_complaint *why)
{
	*ret_key = AB_KEY_HOST_PORTS;
	if (check_host_ports(c, ret_from, why) < 0)
		return -1;
	*ret_key = AB_KEY_PUBLISH;
	if (check_publish(c, ret_from, why) < 0)
		return -1;
	for (size_t i = 0; i < AB_COUNT(needs); i++) {
		*ret_key = needs[i].key;
		if (check_mode(c, chooser, &needs[i], ret_from, why) < 0)
			return -1;
	}
	return 0;
}

void ab_listening_ports_drop(struct ab_config *c, struct ab_strv *notes)
{
	const struct ab_origin *from = c->v[AB_KEY_NET_MODE].from;

	for (size_t i = 0; i < AB_COUNT(needs); i++) {
		ab_autofree char *where = from ? ab_origin_text(from) : NULL;

		if (fits_mode(c, &needs[i]))
			continue;
		ab_strv_addf(notes, "%s is ignored: the network is %s (%s)",
			     ab_keys[needs[i].key].path, get_mode_name(c), where);
		c->v[needs[i].key] = (struct ab_value){ .from = from };
	}
}
