#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

const char *ab_version(void)
{
	return AB_VERSION;
}

void ab_free(void *text)
{
	free(text);
}

void ab_strings_free(char **strings)
{
	for (size_t i = 0; strings && strings[i]; i++)
		free(strings[i]);
	free(strings);
}

int ab_client_fail(struct ab_fault *fault, enum ab_fault_code code, int errnum, const char *fmt,
		   ...)
{
	va_list ap;
	size_t len;
	char cause[128];

	if (!fault)
		return -1;
	*fault = (struct ab_fault){ .code = code, .errnum = errnum };
	va_start(ap, fmt);
	vsnprintf(fault->text, sizeof(fault->text), fmt, ap);
	va_end(ap);
	len = strlen(fault->text);
	if (errnum)
		snprintf(fault->text + len, sizeof(fault->text) - len, ": %s",
			 strerror_r(errnum, cause, sizeof(cause)));
	return -1;
}

int ab_client_memory(struct ab_fault *fault)
{
	return ab_client_fail(fault, AB_FAULT_MEMORY, 0, "out of memory");
}

const char *ab_client_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

int ab_client_refused(const json_t *reply, struct ab_fault *fault)
{
	static const struct {
		const char *name;
		enum ab_fault_code code;
	} codes[] = {
		{ "usage", AB_FAULT_USAGE },	     { "config", AB_FAULT_CONFIG },
		{ "refused", AB_FAULT_REFUSED },     { "property", AB_FAULT_PROPERTY },
		{ "not-found", AB_FAULT_NOT_FOUND }, { "not-executable", AB_FAULT_NOT_EXECUTABLE },
	};
	const char *name = ab_client_text(reply, "code");
	enum ab_fault_code code = AB_FAULT_SYSTEM;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(codes[i].name, name) == 0)
			code = codes[i].code;
	ab_client_fail(fault, code, 0, "%s", ab_client_text(reply, "error"));
	if (fault)
		snprintf(fault->hint, sizeof(fault->hint), "%s", ab_client_text(reply, "hint"));
	return -1;
}

/* Not json_dumps(): it may leave out a part of a text if there is no memory for it. */
char *ab_client_dump(const json_t *json)
{
	size_t len = json ? json_dumpb(json, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) : 0;
	char *text = len ? malloc(len + 1) : NULL;

	if (text && json_dumpb(json, text, len, JSON_COMPACT | JSON_ENCODE_ANY) != len) {
		free(text);
		return NULL;
	}
	if (text)
		text[len] = '\0';
	return text;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

json_t *ab_client_base64(const void *data, size_t len)
{
	const unsigned char *in = data;
	size_t n = (len + 2) / 3 * 4;
	char *text = malloc(n + 1), *to = text;
	json_t *string;

	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)in[i] << 16 | (i + 1 < len ? (uint32_t)in[i + 1] << 8 : 0) |
			     (i + 2 < len ? in[i + 2] : 0);

		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = i + 1 < len ? digits[v >> 6 & 63] : '=';
		*to++ = i + 2 < len ? digits[v & 63] : '=';
	}
	*to = '\0';
	string = json_stringn_nocheck(text, n);
	free(text);
	return string;
}

/* What agentbox writes is valid. */
static char *decode_base64(const char *s, size_t len, size_t *ret_len)
{
	unsigned char *out = malloc(len / 4 * 3 + 4), *to = out;
	uint32_t v = 0;
	unsigned bits = 0;

	if (!out)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		const char *at = memchr(digits, s[i], 64);

		if (!at)
			break;
		v = v << 6 | (uint32_t)(at - digits);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			*to++ = (unsigned char)(v >> bits);
		}
	}
	*to = '\0';
	*ret_len = (size_t)(to - out);
	return (char *)out;
}

char *ab_client_bytes(const json_t *object, const char *name, size_t *ret_len)
{
	const json_t *value = json_object_get(object, name);
	char base64[32];
	char *copy;

	*ret_len = json_string_length(value);
	if (json_is_string(value)) {
		copy = malloc(*ret_len + 1);
		if (copy)
			memcpy(copy, json_string_value(value), *ret_len + 1);
		return copy;
	}
	if (strcmp(name, "text") == 0)
		snprintf(base64, sizeof(base64), "base64");
	else
		snprintf(base64, sizeof(base64), "%s_base64", name);
	value = json_object_get(object, base64);
	if (!json_is_string(value))
		return strdup("");
	return decode_base64(json_string_value(value), json_string_length(value), ret_len);
}
