#include <string.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "serve/capture.h"
#include "serve/request.h"
#include "tap.h"

static const struct {
	const char *line, *wrong; /* NULL: it is right */
} lines[] = {
	{ "{\"id\":1,\"do\":\"hello\",\"protocol\":1}", NULL },
	{ "{\"id\":\"a\",\"do\":\"doctor\"}", NULL },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[\"a\"],\"options\":{\"x\":[\"y\",1,true]}}", NULL },
	{ "{\"id\":1,\"do\":\"run\",\"shell\":\"a\",\"stdin\":{\"base64\":\"YQ==\"}}", NULL },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[\"a\"],\"fds\":1,\"stdout\":{\"fd\":0}}", NULL },
	{ "{\"id\":1,\"do\":\"signal\",\"run\":1,\"signal\":15}", NULL },
	{ "", "not JSON" },
	{ "[]", "object" },
	{ "{\"do\":\"doctor\"}", "\"id\"" },
	{ "{\"id\":1.5,\"do\":\"doctor\"}", "\"id\"" },
	{ "{\"id\":1}", "missing \"do\"" },
	{ "{\"id\":1,\"do\":\"hello\"}", "protocol" },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[]}", "list of strings" },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[\"\"]}", "empty" },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[\"a\"],\"shell_path\":\"/bin/sh\"}", "shell" },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[\"a\"],\"stdout\":\"stdout\"}", "invalid stream" },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[\"a\"],\"stdin\":{\"base64\":\"?\"}}", "base64" },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[\"a\"],\"fds\":1,\"stdout\":{\"fd\":1}}", "fds" },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[\"a\"],\"env\":{\"a=b\":\"c\"}}", "variable" },
	{ "{\"id\":1,\"do\":\"run\",\"argv\":[\"a\"],\"policy\":{},\"policy_file\":\"x\"}",
	  "both" },
	{ "{\"id\":1,\"do\":\"stop\"}", "missing \"run\"" },
	{ "{\"id\":1,\"do\":\"stop\",\"run\":-1}", "whole number" },
	{ "{\"id\":1,\"do\":\"doctor\",\"argv\":[\"a\"]}", "no member" },
};

static void check_lines(void)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct ab_serve_request r;
		struct ab_error err = { 0 };
		int result = ab_serve_request_parse(lines[i].line, strlen(lines[i].line), &r, &err);

		ok(lines[i].wrong ? result < 0 && strstr(err.text, lines[i].wrong) : result == 0,
		   "%s: %s", lines[i].line, err.text);
		ab_serve_request_fini(&r);
	}
}

/* Text that comes in two parts, cut at every byte. */
static void check_output(void)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";

	for (size_t at = 0; at <= strlen(text); at++) {
		ab_autobuf struct ab_buf b = { 0 };
		struct ab_cut_char cut = { .len = 0 };

		ab_output_event(&b, 1, "stdout", &cut, text, at, false);
		ab_output_event(&b, 1, "stdout", &cut, text + at, strlen(text) - at, false);
		ok(!strstr(b.data, "base64") && cut.len == 0, "text that was cut at %zu", at);
	}
}

static void check_bytes(void)
{
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_cut_char cut = { .len = 0 };

	ab_output_event(&b, 7, "stderr", &cut, "\xc3", 1, false);
	ok(b.len == 0 && cut.len == 1, "half a character is held back");
	ab_output_event(&b, 7, "stderr", &cut, "", 0, true);
	ok(strcmp(b.data,
		  "{\"event\":\"output\",\"run\":7,\"stream\":\"stderr\",\"base64\":\"ww==\"}") ==
		   0,
	   "at the end it is sent as it is");
}

int main(void)
{
	check_lines();
	check_output();
	check_bytes();
	return done();
}
