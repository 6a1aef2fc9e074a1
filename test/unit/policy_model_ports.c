#include "policy/model/ports.h"

#include "netns/listeners.h"
#include "policy/layers/compare.h"
#include "policy/show/show.h"
#include "policy_help.h"
#include "tap.h"

/* The text of a file, what is wrong with it, and the way out. */
static const struct {
	const char *text, *wrong;
} cases[] = {
	{ "{\"network\":{\n\"hostPorts\":[0]}}",
	  "x.json:2:14: network.hostPorts[0]: \"0\" is not a port; use one from 1 to 65535" },
	{ "{\"network\":{\"hostPorts\":[1,\n65536]}}",
	  "x.json:2:1: network.hostPorts[1]: \"65536\" is not a port; use one from 1 to 65535" },
	{ "{\"network\":{\"hostPorts\":[-1]}}",
	  "x.json:1:26: network.hostPorts[0]: \"-1\" is not a port; use one from 1 to 65535" },
	{ "{\"network\":{\"hostPorts\":[\"5432\"]}}",
	  "x.json:1:26: network.hostPorts[0]: expected a whole number, got a string; use one like 3000" },
	{ "{\"network\":{\"hostPorts\":[5.5]}}",
	  "x.json:1:26: network.hostPorts[0]: expected a whole number, got a fraction; use one like 3000" },
	{ "{\"network\":{\"hostPorts\":5432}}",
	  "x.json:1:13: network.hostPorts: expected a list, got a number; use [5432]" },
	{ "{\"network\":{\"hostPorts\":[5432,\n5432]}}",
	  "x.json:2:1: network.hostPorts[1]: \"5432\" is listed twice; remove one" },
	{ "{\"network\":{\"hostPorts\":[53]}}",
	  "x.json:1:26: network.hostPorts[0]: \"53\" is used by agentbox inside the box; choose another than 53, 61080 and 61081" },
	{ "{\"network\":{\"hostPorts\":[61080]}}",
	  "x.json:1:26: network.hostPorts[0]: \"61080\" is used by agentbox inside the box; choose another than 53, 61080 and 61081" },

	{ "{\"network\":{\"publish\":[\"a\"]}}",
	  "x.json:1:24: network.publish[0]: \"a\" is not a port mapping; use PORT or HOSTPORT:PORT, as in 8080:3000" },
	{ "{\"network\":{\"publish\":[\"1:2:3\"]}}",
	  "x.json:1:24: network.publish[0]: \"1:2:3\" is not a port mapping; use PORT or HOSTPORT:PORT, as in 8080:3000" },
	{ "{\"network\":{\"publish\":[\"127.0.0.1:80\"]}}",
	  "x.json:1:24: network.publish[0]: \"127.0.0.1:80\" is not a port mapping; use PORT or HOSTPORT:PORT, as in 8080:3000" },
	{ "{\"network\":{\"publish\":[\"0:80\"]}}",
	  "x.json:1:24: network.publish[0]: \"0:80\" is not a port mapping; use PORT or HOSTPORT:PORT, as in 8080:3000" },
	{ "{\"network\":{\"publish\":[true]}}",
	  "x.json:1:24: network.publish[0]: expected a whole number or a string, got true or false; use 3000 or \"8080:3000\"" },
	{ "{\"network\":{\"publish\":[\"8080:61080\"]}}",
	  "x.json:1:24: network.publish[0]: \"8080:61080\" is used by agentbox inside the box; choose another than 53, 61080 and 61081" },
	{ "{\"network\":{\"publish\":[3000,\n\"3000:3000\"]}}",
	  "x.json:2:1: network.publish[1]: \"3000:3000\" is listed twice; remove one" },
	{ "{\"network\":{\"publish\":[\"8080:1\",\n\"8080:2\"]}}",
	  "x.json:2:1: network.publish[1]: host port 8080 is published twice; a host port can lead to only one port of the box" },

	{ "{\"network\":{\"hostPorts\":[3000],\n\"publish\":[\"8080:3000\"]}}",
	  "x.json:2:12: network.publish: port 3000 is also in network.hostPorts; a port of the box can be in only one of them" },
	{ "{\"network\":{\"mode\":\"blocked\",\n\"hostPorts\":[3000]}}",
	  "x.json:2:14: network.hostPorts: needs network.mode filtered, but x.json:1 sets it to blocked; change one of them" },
	{ "{\"network\":{\"mode\":\"allowed\",\n\"hostPorts\":[3000]}}",
	  "x.json:2:14: network.hostPorts: needs network.mode filtered, but x.json:1 sets it to allowed; change one of them" },
	{ "{\"network\":{\"publish\":[3000],\n\"mode\":\"allowed\"}}",
	  "x.json:1:24: network.publish: needs network.mode filtered or blocked, but x.json:2 sets it to allowed; change one of them" },

	{ "{\"network\":{\"upstream\":true}}",
	  "x.json:1:13: network.upstream: expected a string, got true or false; put it in quotes" },
	{ "{\"network\":{\n\"upstream\":\"http://u:hunter2@p\"}}",
	  "x.json:2:1: network.upstream: the proxy URL has no port; use http://host:port" },
	{ "{\"network\":{\"upstream\":\"hunter2\"}}",
	  "x.json:1:13: network.upstream: not an HTTP proxy URL; use none, env or http://[user:password@]host:port" },
};

static void test_files(void)
{
	struct ab_strv problems = { 0 };

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		put_file("home/work/x.json", cases[i].text);
		ab_strv_fini(&problems);
		ab_policy_check_file(&input, "x.json", &problems, &error);
		is_str(joined(&problems), cases[i].wrong,
		       "a mistake with its line, its key and the way out");
	}
	put_file("home/work/x.json",
		 "{\"network\":{\"mode\":\"filtered\",\"hostPorts\":[5432,6379],"
		 "\"publish\":[3000,\"8080:3000\",\"54:80\"],\"upstream\":\"env\"}}");
	ab_strv_fini(&problems);
	ab_policy_check_file(&input, "x.json", &problems, &error);
	ok(problems.len == 0, "a good file has none");
	put_file("home/work/x.json", "{\"network\":{\"mode\":\"blocked\",\"publish\":[3000]}}");
	ab_policy_check_file(&input, "x.json", &problems, &error);
	ok(problems.len == 0, "to publish needs no way out");
	remove_file("home/work/x.json");
}

static void test_values(void)
{
	struct ab_policy *p;

	p = load();
	ok(p && !p->net.host_ports.len && !p->net.publish.len, "nothing by default");
	is_str(p->net.upstream, "none", "and no proxy");
	ab_policy_free(p);

	put_file(USER_FILE, "{\"network\":{\"hostPorts\":[5432],"
			    "\"publish\":[\"8080:3000\"],"
			    "\"upstream\":\"http://U:p@Proxy.example:3128/\"}}");
	add_flag("network.hostPorts", "6379", "--host-port");
	add_flag("network.hostPorts", "5432", "--host-port");
	add_flag("network.publish", "9000", "--publish");
	p = load();
	ok(p && p->net.host_ports.len == 2 && p->net.host_ports.v[0] == 5432 &&
		   p->net.host_ports.v[1] == 6379,
	   "flags add ports of the host, one that is there counts once");
	ok(p && p->net.publish.len == 2 && p->net.publish.v[0].host == 8080 &&
		   p->net.publish.v[0].port == 3000 && p->net.publish.v[1].host == 9000 &&
		   p->net.publish.v[1].port == 9000,
	   "and ports to publish");
	is_str(p->net.upstream, "http://U:p@proxy.example:3128", "the proxy's URL is canonical");
	ab_policy_free(p);
	add_flag("network.upstream", "none", "--upstream");
	p = load();
	is_str(p->net.upstream, "none", "a flag takes it back");
	ab_policy_free(p);
	remove_file(USER_FILE);
	reset_input();
}

static void fails(enum ab_code code, const char *text, const char *name)
{
	struct ab_policy *p = load();

	ok(!p && error.code == code, "%s", name);
	is_str(error.text, text, "and it is said where");
	ab_policy_free(p);
}

static void test_layers(void)
{
	struct ab_policy *p;

	put_file(USER_FILE, "{\"network\":{\n\"publish\":[\"8080:3000\"]}}");
	add_flag("network.publish", "8080:4000", "--publish");
	fails(AB_EUSAGE, "--publish: host port 8080 is published twice",
	      "a flag and a file want one port of the host");
	reset_input();
	add_flag("network.hostPorts", "3000", "--host-port");
	fails(AB_ECONFIG,
	      "~/.config/agentbox/config.json:2:12: network.publish: port 3000 is also in network.hostPorts",
	      "a port inside is wanted by a flag and by a file");
	reset_input();
	add_flag("network.mode", "allowed", "--net");
	add_flag("network.publish", "1234", "--publish");
	fails(AB_EUSAGE,
	      "--publish: needs network.mode filtered or blocked, but --net sets it to allowed",
	      "two flags that do not go together");
	reset_input();
	input.profile = "ci";
	add_flag("network.hostPorts", "5432", "--host-port");
	fails(AB_EUSAGE,
	      "--host-port: needs network.mode filtered, but profile ci sets it to blocked",
	      "nor does a flag with the profile of a flag");
	reset_input();

	put_file(USER_FILE, "{\"extends\":\"ci\",\n\"network\":{\"hostPorts\":[5432]}}");
	fails(AB_ECONFIG,
	      "~/.config/agentbox/config.json:2:25: network.hostPorts: needs network.mode filtered, but profile ci sets it to blocked",
	      "nor what one file says with what it extends");

	/* What a later layer decides is no mistake of the earlier one. */
	put_file(USER_FILE, "{\"network\":{\"hostPorts\":[5432],\"publish\":[3000]}}");
	add_flag("network.mode", "blocked", "--net");
	p = load();
	ok(p && !p->net.host_ports.len && p->net.publish.len == 1,
	   "without a network, ports of the host are left out");
	is_str(joined(&notes), "network.hostPorts is ignored: the network is blocked (--net)",
	       "and a note says so");
	ab_policy_free(p);
	reset_input();
	input.profile = "development";
	p = load();
	ok(p && !p->net.host_ports.len && !p->net.publish.len && notes.len == 2,
	   "with the host's own network both");
	ab_policy_free(p);
	reset_input();
	put_file(PROJECT_FILE, "{\"network\":{\"mode\":\"blocked\"}}");
	p = load();
	ok(p && !p->net.host_ports.len && notes.len == 1, "also when a project asks for less");
	ab_policy_free(p);

	put_file(PROJECT_FILE, "{\"network\":{\"hostPorts\":[5432,22],\"publish\":[4000],"
			       "\"upstream\":\"http://u:hunter2@evil.example:1\"}}");
	p = load();
	ok(p && p->net.host_ports.len == 1 && p->net.host_ports.v[0] == 5432 &&
		   p->net.publish.len == 1 && p->net.publish.v[0].port == 3000 &&
		   !strcmp(p->net.upstream, "none"),
	   "a project that is not trusted opens no port and sets no proxy");
	ok(notes.len == 4 && !strstr(joined(&notes), "hunter2") &&
		   strstr(notes.v[3],
			  "network.upstream stays none instead of http://***@evil.example:1"),
	   "it is told, without the password");
	ab_policy_free(p);
	put_file(PROJECT_FILE, "{\"network\":{\"upstream\":\"none\"}}");
	p = load();
	ok(p && notes.len == 0, "to say what is so anyway is no news");
	ab_policy_free(p);
	remove_file(PROJECT_FILE);
	remove_file(USER_FILE);
}

static void test_secret(void)
{
	struct ab_policy *p, *q;
	struct ab_strv lines = { 0 };
	char *text, a[65], b[65];

	add_flag("network.upstream", "http://u:hunter2@p.example:1", "--upstream");
	add_flag("network.hostPorts", "5432", "--host-port");
	add_flag("network.publish", "8080:3000", "--publish");
	p = load();
	for (int json = 0; json < 2; json++) {
		text = ab_policy_show(p, json);
		ok(strstr(text, "http://***@p.example:1") && !strstr(text, "hunter2"),
		   "config show has no password");
		ok(!json || (strstr(text, "{\"value\":5432,") &&
			     strstr(text, "{\"value\":\"8080:3000\",")),
		   "and ports as a file has them");
		free(text);
	}
	text = ab_policy_json(p);
	ok(strstr(text,
		  "\"hostPorts\":[5432],\"publish\":[\"8080:3000\"],\"upstream\":\"http://***@p.example:1\"") &&
		   !strstr(text, "hunter2"),
	   "nor has the record");
	free(text);
	ab_policy_digest(p, a);
	settings[0].value = "http://u:hunter3@p.example:1";
	q = load();
	ab_policy_digest(q, b);
	ok(strcmp(a, b) != 0, "the digest tells two passwords apart");
	ab_policy_wider(p, q, &lines);
	is_str(joined(&lines),
	       "network.upstream: http://***@p.example:1, not http://***@p.example:1",
	       "so does a comparison, without saying them");
	ab_strv_fini(&lines);
	ab_policy_free(p);
	ab_policy_free(q);
	settings[0].value = "http://u:hunter2@p.example";
	ok(!load() && !strstr(error.text, "hunter2") && !strstr(error.hint, "hunter2"),
	   "a mistake in it is not quoted");
	reset_input();
}

static void test_many(void)
{
	struct ab_strv problems = { 0 };

	for (int n = AB_HOST_PORTS_MAX; n <= AB_HOST_PORTS_MAX + 1; n++) {
		FILE *f = fopen(at("home/work/x.json"), "w");

		fputs("{\"network\":{\"hostPorts\":[", f);
		for (int i = 0; i < n; i++)
			fprintf(f, "%s%d", i ? "," : "", 1000 + i);
		fputs("]}}", f);
		fclose(f);
		ab_strv_fini(&problems);
		ab_policy_check_file(&input, "x.json", &problems, &error);
		is_str(joined(&problems),
		       n == AB_HOST_PORTS_MAX
			       ? ""
			       : "x.json:1:266: network.hostPorts: more than 48 host ports; list only those you need",
		       "as many ports as the box can hand up, and no more");
	}
	ab_strv_fini(&problems);
	remove_file("home/work/x.json");
}

int main(void)
{
	world_init();
	test_files();
	test_values();
	test_layers();
	test_secret();
	test_many();
	world_fini();
	return done();
}
