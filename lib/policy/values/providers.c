#include "policy/values/providers.h"

#include <assert.h>
#include <pthread.h>

#include "agents/agents.h"
#include "base/text/words.h"

/* Services that only one agent uses are with their agents. No variable or base variable is in two
 * rows; a host is only if both services are the same vendor's. */
static const struct ab_provider rows[] = {
	{
		.name = "anthropic",
		.title = "Anthropic",
		.names = { "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN" },
		.hosts = { "api.anthropic.com" },
		AB_CARRIERS({ AB_CARRY_HEADER, "x-api-key" }, { AB_CARRY_BEARER }),
		.prefixes = { "sk-ant-api03-", "sk-ant-oat01-", "sk-ant-" },
		.base_variable = "ANTHROPIC_BASE_URL",
		.base_host = "api.anthropic.com",
		.endpoints = "messages complete models files batches skills",
		.files = { "~/.claude/.credentials.json" },
	},
	{
		.name = "azure",
		.title = "Azure OpenAI",
		.names = { "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_KEY" },
		.hosts = { "*.openai.azure.com" },
		AB_CARRIERS({ AB_CARRY_HEADER, "api-key" }),
	},
	{
		.name = "dashscope",
		.title = "DashScope",
		.names = { "DASHSCOPE_API_KEY" },
		.hosts = { "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
		.prefixes = { "sk-" },
	},
	{
		.name = "deepseek",
		.title = "DeepSeek",
		.names = { "DEEPSEEK_API_KEY" },
		.hosts = { "api.deepseek.com" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
		.prefixes = { "sk-" },
	},
	{
		.name = "github",
		.title = "GitHub",
		.names = { "GITHUB_TOKEN", "GH_TOKEN", "GITHUB_PERSONAL_ACCESS_TOKEN" },
		.hosts = { "github.com", "api.github.com", "uploads.github.com",
			   "codeload.github.com", "raw.githubusercontent.com" },
		AB_CARRIERS({ AB_CARRY_BEARER }, { AB_CARRY_TOKEN }, { AB_CARRY_BASIC }),
		.prefixes = AB_GITHUB_PREFIXES,
		.files = { "~/.config/gh/hosts.yml", "~/.git-credentials" },
	},
	{
		/* Its endpoint for OpenAI clients takes a bearer token. */
		.name = "google",
		.title = "Google Gemini",
		.names = { "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY" },
		.hosts = { "generativelanguage.googleapis.com" },
		AB_CARRIERS({ AB_CARRY_HEADER, "x-goog-api-key" }, { AB_CARRY_QUERY, "key" },
			    { AB_CARRY_BEARER }),
		.prefixes = { "AIza", "AQ." },
		.base_variable = "GOOGLE_GEMINI_BASE_URL",
		.base_host = "generativelanguage.googleapis.com",
	},
	{
		/* Its SDK has "/openai/v1" in the paths. */
		.name = "groq",
		.title = "Groq",
		.names = { "GROQ_API_KEY" },
		.hosts = { "api.groq.com" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
		.prefixes = { "gsk_" },
		.base_variable = "GROQ_BASE_URL",
		.base_host = "api.groq.com",
	},
	{
		/* Basic: git over https. */
		.name = "huggingface",
		.title = "Hugging Face",
		.names = { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACEHUB_API_TOKEN" },
		.hosts = { "huggingface.co", "router.huggingface.co",
			   "api-inference.huggingface.co" },
		AB_CARRIERS({ AB_CARRY_BEARER }, { AB_CARRY_BASIC }),
		.prefixes = { "hf_" },
		.base_variable = "HF_ENDPOINT",
		.base_host = "huggingface.co",
		.files = { "~/.cache/huggingface/token", "~/.huggingface/token" },
	},
	{
		.name = "mistral",
		.title = "Mistral",
		.names = { "MISTRAL_API_KEY" },
		.hosts = { "api.mistral.ai" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
	},
	{
		.name = "nous",
		.title = "Nous",
		.names = { "NOUS_API_KEY" },
		.hosts = { "inference-api.nousresearch.com" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
		.prefixes = { "sk-" },
	},
	{
		.name = "npm",
		.title = "npm",
		.names = { "NPM_TOKEN", "NODE_AUTH_TOKEN" },
		.hosts = { "registry.npmjs.org" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
		.prefixes = { "npm_" },
		.files = { "~/.npmrc" },
	},
	{
		.name = "openai",
		.title = "OpenAI",
		.names = { "OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_ADMIN_KEY" },
		.hosts = { "api.openai.com" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
		.prefixes = { "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-" },
		.base_variable = "OPENAI_BASE_URL",
		.base_path = "/v1",
		.base_host = "api.openai.com",
		.endpoints = "responses chat completions models embeddings files images audio "
			     "batches moderations uploads vector_stores",
		.files = { "~/.codex/auth.json" },
	},
	{
		.name = "openrouter",
		.title = "OpenRouter",
		.names = { "OPENROUTER_API_KEY" },
		.hosts = { "openrouter.ai" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
		.prefixes = { "sk-or-v1-", "sk-or-" },
	},
	{
		/* The user name is "__token__". */
		.name = "pypi",
		.title = "PyPI upload",
		.names = { "TWINE_PASSWORD", "UV_PUBLISH_TOKEN", "POETRY_PYPI_TOKEN_PYPI",
			   "FLIT_PASSWORD" },
		.hosts = { "upload.pypi.org" },
		AB_CARRIERS({ AB_CARRY_BASIC }),
		.prefixes = { "pypi-" },
		.files = { "~/.pypirc" },
	},
	{
		.name = "together",
		.title = "Together",
		.names = { "TOGETHER_API_KEY", "TOGETHERAI_API_KEY" },
		.hosts = { "api.together.xyz", "api.together.ai" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
		.prefixes = { "tgp_v1_" },
		.base_variable = "TOGETHER_BASE_URL",
		.base_path = "/v1",
		.base_host = "api.together.xyz",
		.endpoints = "chat completions models embeddings files images audio",
	},
	{
		.name = "xai",
		.title = "xAI",
		.names = { "XAI_API_KEY" },
		.hosts = { "api.x.ai" },
		AB_CARRIERS({ AB_CARRY_BEARER }),
		.prefixes = { "xai-" },
	},
};

enum { PROVIDERS = 64 };

static const struct ab_provider *providers[PROVIDERS + 1]; /* sorted by name */

static void add_provider(const struct ab_provider *p)
{
	size_t i = 0, n = 0;

	while (providers[n])
		n++;
	assert(n < PROVIDERS);
	while (i < n && strcmp(providers[i]->name, p->name) < 0)
		i++;
	memmove(&providers[i + 1], &providers[i], (n - i) * sizeof(providers[0]));
	providers[i] = p;
}

static void sort_providers(void)
{
	for (size_t i = 0; i < AB_COUNT(rows); i++)
		add_provider(&rows[i]);
	for (size_t i = 0; ab_agents[i]; i++)
		if (ab_agents[i]->service)
			add_provider(ab_agents[i]->service);
}

const struct ab_provider *ab_provider_at(size_t index)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, sort_providers);
	return index < PROVIDERS ? providers[index] : NULL;
}

/* Sorted by provider. */
static const struct ab_token_endpoint endpoints[] = {
	{ "anthropic", "https://platform.claude.com/v1/oauth/token", true },
	{ "github", "https://github.com/login/oauth/access_token", false },
	{ "google", "https://oauth2.googleapis.com/token", false },
	{ "huggingface", "https://huggingface.co/oauth/token", false },
	{ "openai", "https://auth.openai.com/oauth/token", true },
};

const struct ab_token_endpoint *ab_token_endpoint_find(const struct ab_provider *provider,
						       bool service_account)
{
	const char *name = service_account ? "google" : provider ? provider->name : NULL;

	return name ? ab_find_row(endpoints, AB_COUNT(endpoints), provider, name) : NULL;
}

/* No variable and no file is in two rows, or in a row of a provider. */
const struct ab_uncovered ab_uncovered[] = {
	{ "AWS_SECRET_ACCESS_KEY", "~/.aws/credentials", "AWS keys sign requests", true,
	  "let the proxy sign: \"secrets\": { \"AWS\": { \"sign\": \"aws-sigv4\", ... } } in "
	  "your settings" },
	{ NULL, "~/.aws/sso/cache", "AWS keys sign requests" },
	{ "GOOGLE_APPLICATION_CREDENTIALS", "~/.config/gcloud/application_default_credentials.json",
	  "Google Cloud keys sign requests", true,
	  "let the host get the tokens: \"oauth\": { \"grant\": \"service_account\", ... } in a "
	  "secret of your settings" },
	{ NULL, "~/.config/gcloud/credentials.db",
	  "Google Cloud tokens are renewed from this file" },
	{ "AZURE_CLIENT_SECRET", "~/.azure/msal_token_cache.json",
	  "Azure tokens are renewed from it" },
	{ "AZURE_CLIENT_CERTIFICATE_PATH", NULL, "Azure certificates sign requests" },
	{ "KUBECONFIG", "~/.kube/config", "clusters use keys and certificates of their own" },
	{ "OCI_CLI_KEY_FILE", "~/.oci/config", "Oracle Cloud keys sign requests", true },
	{ "ALIBABA_CLOUD_ACCESS_KEY_SECRET", "~/.aliyun/config.json",
	  "Alibaba Cloud keys sign requests", true },
};
const size_t ab_nuncovered = AB_COUNT(ab_uncovered);

const struct ab_uncovered *ab_uncovered_of(const char *variable)
{
	for (size_t i = 0; i < ab_nuncovered; i++)
		if (ab_uncovered[i].variable && strcmp(ab_uncovered[i].variable, variable) == 0)
			return &ab_uncovered[i];
	return NULL;
}

const struct ab_provider *ab_provider_of_host(const char *host)
{
	size_t len = strcspn(host, ":");

	const struct ab_provider *p;

	for (size_t i = 0; len && (p = ab_provider_at(i)); i++)
		for (size_t k = 0; k < AB_PROVIDER_HOSTS; k++)
			if (strncmp(p->hosts[k], host, len) == 0 && !p->hosts[k][len])
				return p;
	return NULL;
}

static bool begins_with(const char *s, size_t len, const char *word, size_t n)
{
	return len >= n && memcmp(s, word, n) == 0 && (len == n || s[n] == '/' || s[n] == '?');
}

static bool is_endpoint(const struct ab_provider *p, const char *s, size_t len)
{
	const char *list = p->endpoints, *word;

	for (size_t n; (word = ab_word_next(&list, &n));)
		if (begins_with(s, len, word, n))
			return true;
	return false;
}

void ab_provider_version(const struct ab_provider *provider, const char *rest, size_t len,
			 const char **ret_before, size_t *ret_skip)
{
	static const char version[] = "/v1";
	size_t n = sizeof(version) - 1;

	*ret_before = "";
	*ret_skip = 0;
	if (!provider || !provider->endpoints[0])
		return;
	if (begins_with(rest, len, version, n)) {
		if (begins_with(rest + n, len - n, version, n))
			*ret_skip = n;
	} else if (len && rest[0] == '/' && is_endpoint(provider, rest + 1, len - 1)) {
		*ret_before = version;
	}
}

const struct ab_provider *ab_provider_find(const char *variable)
{
	const struct ab_provider *p;

	for (size_t i = 0; variable[0] && (p = ab_provider_at(i)); i++)
		for (size_t k = 0; k < AB_PROVIDER_NAMES; k++)
			if (strcmp(p->names[k], variable) == 0)
				return p;
	return NULL;
}
