/*
 * Why a handshake failed, for people. Text from a peer's certificate is shown
 * only if it is a host name.
 */
#include <openssl/err.h>

#include "proxy/io/tls_state.h"

struct clause {
	int code;
	const char *text;
};

static const char *find_clause(const struct clause *clauses, size_t len, int code)
{
	for (size_t i = 0; i < len; i++)
		if (clauses[i].code == code)
			return clauses[i].text;
	return NULL;
}

#define UNKNOWN "its certificate is from an authority that this machine does not trust"
#define WEAK_KEY "its certificate has a weak key"
#define OUTSIDE "its certificate has a name that its authority may not certify"

/* Each code once. */
static const struct clause certificates[] = {
	{ X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, UNKNOWN },
	{ X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, UNKNOWN },
	{ X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, UNKNOWN },
	{ X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, UNKNOWN },
	{ X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "its certificate is self-signed" },
	{ X509_V_ERR_CERT_SIGNATURE_FAILURE, "its certificate has an invalid signature" },
	{ X509_V_ERR_CERT_NOT_YET_VALID, "its certificate is not valid yet" },
	{ X509_V_ERR_CERT_HAS_EXPIRED, "its certificate has expired" },
	{ X509_V_ERR_INVALID_PURPOSE, "its certificate is not for servers" },
	{ X509_V_ERR_INVALID_CA, "its certificate was not signed by a certificate authority" },
	{ X509_V_ERR_PERMITTED_VIOLATION, OUTSIDE },
	{ X509_V_ERR_EXCLUDED_VIOLATION, OUTSIDE },
	{ X509_V_ERR_EE_KEY_TOO_SMALL, WEAK_KEY },
	{ X509_V_ERR_CA_KEY_TOO_SMALL, WEAK_KEY },
	{ X509_V_ERR_CA_MD_TOO_WEAK, "its certificate is signed with a weak digest" },
};

/* About either end. Each code once. */
static const struct clause protocols[] = {
	{ SSL_R_UNSUPPORTED_PROTOCOL, "does not support TLS 1.2 or later" },
	{ SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "does not support TLS 1.2 or later" },
	{ SSL_R_VERSION_TOO_LOW, "does not support TLS 1.2 or later" },
	{ SSL_R_WRONG_VERSION_NUMBER, "does not use TLS" },
	{ SSL_R_HTTP_REQUEST, "does not use TLS" },
	{ SSL_R_PACKET_LENGTH_TOO_LONG, "does not use TLS" },
	{ SSL_AD_REASON_OFFSET + SSL_AD_NO_APPLICATION_PROTOCOL, "does not support HTTP/1.1" },
	{ SSL_R_NO_SHARED_CIPHER, "supports no strong cipher" },
	{ SSL_R_DH_KEY_TOO_SMALL, "uses a weak key exchange" },
	{ SSL_R_UNEXPECTED_EOF_WHILE_READING, "closed the connection during the handshake" },
};

/* Does this alert come from a client that does not trust the authority? */
static bool is_distrust(int reason)
{
	return reason == SSL_R_SSLV3_ALERT_BAD_CERTIFICATE ||
	       reason == SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE ||
	       reason == SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN ||
	       reason == SSL_R_TLSV1_ALERT_UNKNOWN_CA;
}

/* Its first valid host name, and the number of other names. */
static char *find_first_name(const X509 *cert, int *ret_others)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	char *first = NULL;

	*ret_others = 0;
	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
		struct ab_host_entry e;
		char text[AB_HOST_ENTRY_TEXT];

		if (name->type != GEN_DNS)
			continue;
		if (first) {
			++*ret_others;
			continue;
		}
		if (ab_host_entry_parse((const char *)ASN1_STRING_get0_data(name->d.dNSName),
					(size_t)ASN1_STRING_length(name->d.dNSName), &e, NULL) < 0)
			continue;
		ab_host_entry_format(&e, text);
		first = ab_strdup(text);
	}
	GENERAL_NAMES_free(names);
	return first;
}

static char *explain_mismatch(const X509 *cert, const struct ab_host *want)
{
	int others;
	ab_autofree char *name = find_first_name(cert, &others);

	if (!name)
		return ab_printf("its certificate is not for %s", want->text);
	if (others)
		return ab_printf("its certificate is for %s and %d other name%s, not for %s", name,
				 others, others == 1 ? "" : "s", want->text);
	return ab_printf("its certificate is for %s, not for %s", name, want->text);
}

int ab_tls_note_certificate(int good, X509_STORE_CTX *ctx)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct ab_tls *tls = SSL_get_app_data(ssl);
	int result = X509_STORE_CTX_get_error(ctx);

	if (!good && !tls->mismatch &&
	    (result == X509_V_ERR_HOSTNAME_MISMATCH || result == X509_V_ERR_IP_ADDRESS_MISMATCH))
		tls->mismatch = explain_mismatch(X509_STORE_CTX_get0_cert(ctx), &tls->name);
	return good;
}

static char *explain_certificate(const struct ab_tls *tls, long result)
{
	const char *text = find_clause(certificates, AB_COUNT(certificates), (int)result);

	if (text)
		return ab_strdup(text);
	if (tls->mismatch)
		return ab_strdup(tls->mismatch);
	return ab_printf("its certificate was rejected: %s", X509_verify_cert_error_string(result));
}

static char *explain_protocol(const struct ab_tls *tls)
{
	const char *who = tls->client ? "the server" : "the client", *text;
	unsigned long code = ERR_peek_error();
	int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;

	if (!tls->client && is_distrust(reason))
		return ab_strdup("the client does not trust the box's "
				 "certificate authority");
	text = find_clause(protocols, AB_COUNT(protocols), reason);
	if (text)
		return ab_printf("%s %s", who, text);
	if (tls->errnum)
		return ab_printf("%s aborted the handshake: %s", who, strerror(tls->errnum));
	if (reason > SSL_AD_REASON_OFFSET)
		return ab_printf("%s aborted the handshake: %s", who,
				 SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET));
	text = ERR_reason_error_string(code);
	return ab_printf("the handshake failed: %s", text ? text : "unknown reason");
}

char *ab_tls_explain(const struct ab_tls *tls)
{
	long result = SSL_get_verify_result(tls->ssl);

	if (tls->wrong_name)
		return ab_strdup("the client asked for another host");
	if (tls->no_protocol)
		return ab_printf("%s does not support HTTP/1.1",
				 tls->client ? "the server" : "the client");
	if (result != X509_V_OK)
		return explain_certificate(tls, result);
	return explain_protocol(tls);
}
