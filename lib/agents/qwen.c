#include "agents/list.h"

/* It shares nothing, because it mixes conversations with the permissions of paused agents. */
const struct ab_agent ab_agent_qwen = {
	.name = "qwen",
	.program = "qwen",
	.folder = ".qwen",
	.takes_prompt = true,
	.obeys = { "Qwen Code", .closed = ".qwen", .reported = "QWEN.md" },
	.credentials = "~/.qwen/oauth_creds.json",
	/* Left out on purpose: "resource_url" says which server gets every later conversation. */
	.login = { "~/.qwen/oauth_creds.json",
		   .renewed = "access_token=token refresh_token=token expiry_date=number",
		   .login = "token_type=token" },
	.doc = "Qwen Code: a home layer of its own, its logins and the model services.",
	.hosts = "chat.qwen.ai portal.qwen.ai dashscope.aliyuncs.com dashscope-intl.aliyuncs.com "
		 "@llm",
	.keys = "DASHSCOPE_API_KEY BAILIAN_CODING_PLAN_API_KEY OPENAI_API_KEY",
	.set = "QWEN_SANDBOX=false",
};
