/* Clouds and the tools that deploy to them. Best effort: verbs that change. */
#include "base/mem.h"
#include "shell/tool.h"

#define CLOUD AB_RULE_CLOUD_CHANGE

static const struct ab_deed terraform[] = {
	{ "apply|destroy|import|taint|untaint|refresh|force-unlock|login|logout",
	  .rule = CLOUD },
	{ "state rm|mv|push|replace-provider", NULL, "-dry-run", CLOUD },
	{ "workspace new|delete", .rule = CLOUD },
	{ "run|run-all|stack apply|destroy|import|refresh|run", .rule = CLOUD },
};
static const struct ab_deed pulumi[] = {
	{ "up|update|destroy|import|refresh|cancel|watch|login|logout|policy|new",
	  NULL, "--preview-only", CLOUD },
	{ "stack init|rm|import|rename|tag|change-secrets-provider",
	  .rule = CLOUD },
	{ "state delete|edit|move|rename|unprotect|upgrade", .rule = CLOUD },
};

#define VERBS                                                                \
	"create-*|delete-*|put-*|update-*|run-*|start-*|stop-*|terminate-*|" \
	"reboot-*|modify-*|attach-*|detach-*|associate-*|disassociate-*|"    \
	"add-*|remove-*|register-*|deregister-*|enable-*|disable-*|set-*|"   \
	"reset-*|restore-*|revoke-*|authorize-*|allocate-*|release-*|"       \
	"import-*|export-*|invoke|invoke-*|publish|publish-*|send-*|tag-*|"  \
	"untag-*|copy-*|move-*|purge-*|cancel-*|execute-*|deploy|deploy-*|"  \
	"upload-*|change-*|replace-*|rotate-*|schedule-*|apply-*|accept-*|"  \
	"reject-*|confirm-*|admin-*|batch-write-*|batch-delete-*|"           \
	"transact-write-*|complete-*|abort-*|assign-*|unassign-*|promote-*|" \
	"failover-*|request-*|resend-*|subscribe|unsubscribe|push|package|"  \
	"initiate-*|grant-*|upgrade-*"

static const struct ab_deed aws[] = {
	{ "* " VERBS, NULL, "--dry-run", CLOUD },
	{ "s3 cp|mv|rm|sync|mb|rb|website", NULL, "--dryrun", CLOUD },
	{ "configure|sso set|import|sso|add-model|login|logout", .rule = CLOUD,
	  .reason = "Changes which cloud account is used." },
	{ "configure|login|logout", .rule = CLOUD, .bare = true,
	  .reason = "Changes which cloud account is used." },
	{ "ecs|ssm|emr|cloudshell execute-command|start-session|ssh",
	  .rule = CLOUD },
};
static const struct ab_deed gcloud[] = {
	{ "** create|delete|update|deploy|set|unset|add|remove|patch|start|stop|"
	  "reset|restart|resume|suspend|ssh|scp|apply|enable|disable|import|"
	  "export|submit|run|call|publish|execute|cancel|promote|migrate|move|"
	  "copy|rollback|add-*|remove-*|set-*|clear-*|attach-*|detach-*|"
	  "login|revoke|destroy|undelete|resize|activate-service-account|"
	  "get-credentials|configure-docker|install|replace|rename|clone|kill|"
	  "restore|drain|abandon|approve|reject|upload|failover",
	  .rule = CLOUD },
};
static const struct ab_deed gsutil[] = {
	{ "cp|mv|rm|rsync|mb|rb|setmeta|acl|defacl|iam|cors|web|lifecycle|"
	  "versioning|notification|label|logging|compose|rewrite|config|"
	  "retention|defstorageclass|kms|mk|rmr|load|insert|update|query|"
	  "extract|cancel",
	  .rule = CLOUD },
};
static const struct ab_deed az[] = {
	{ "** create|delete|update|set|add|remove|start|stop|restart|up|deploy|"
	  "deployment|upload*|purge|import|export|assign|invoke|run|run-command|"
	  "reset*|regenerate|renew|rotate|scale|swap|move|cancel|approve|"
	  "attach|detach|enable*|disable*|deallocate|redeploy|reimage|apply|"
	  "login|logout|get-credentials|config-zip|restore|failover|copy|sync|"
	  "build|revoke|grant|resize|generalize|ssh|clear|install*",
	  .rule = CLOUD },
};
static const struct ab_deed verbs[] = {
	{ "** create|delete|destroy|update|deploy|set|unset|add|remove|rm|"
	  "start|stop|restart|scale|rollback|run|launch|apply|upgrade|import|"
	  "attach|detach|enable|disable|resize|reboot|shutdown|rename|promote|"
	  "rebuild|power-*|*:set|*:unset|*:create|*:destroy|*:add|*:remove|"
	  "*:restart|*:scale|*:promote|*:rollback|*:transfer|*:run|*:stop|"
	  "ps:*|ssh|sftp|proxy|console|machine|init|login|logout|up|down|link|"
	  "unlink|publish|release|push|terminate|clone|swap|abort|move|extend|"
	  "restore|import-*|connect|redeploy|secrets",
	  NULL, "--dry-run --dryrun", CLOUD },
};
static const struct ab_deed vercel[] = {
	/* Without a word it deploys. */
	{ "", .rule = CLOUD, .bare = true },
	{ "deploy|alias|rm|remove|promote|rollback|redeploy|login|logout|link|"
	  "switch",
	  .rule = CLOUD },
	{ "env|domains|dns|certs|secrets|project|projects|git|integration|cache "
	  "add|rm|remove|import|buy|move|transfer-in|issue|update|connect|"
	  "disconnect|purge",
	  .rule = CLOUD },
	{ "", "--prod --production", NULL, CLOUD },
};
static const struct ab_deed deploy[] = {
	{ "deploy|destroy|publish|remove|rollback|delete|bootstrap|create|"
	  "terminate|login|logout|import|upload|setenv|scale|swap|restore|"
	  "invoke|sync|use|switch|clone|abort|restart|ext:install|unpublish",
	  NULL, "--dry-run --local --no-execute-changeset", CLOUD },
	{ "secret|kv|r2|d1|queues|pages|versions|worker|dispatch-namespace|"
	  "vectorize|hyperdrive|kv:key|kv:namespace|sites|env|functions "
	  "put|delete|create|deploy|execute|upload|bulk|set|unset|import|"
	  "migrations|object|bucket|key|namespace|update|project",
	  NULL, "--dry-run --local", CLOUD },
	{ "*:delete|*:deploy|*:set|*:unset|*:create|*:disable|*:rollback|"
	  "*:import",
	  .rule = CLOUD },
};
static const struct ab_deed ansible[] = {
	{ "*", NULL,
	  "-C --check --list-hosts --list-tasks --list-tags --syntax-check",
	  CLOUD, .reason = "Changes other machines." },
};
static const struct ab_deed packer[] = {
	{ "build|push", .rule = CLOUD },
};

#define AWS_OPTS                                                                \
	{                                                                       \
		NULL,                                                           \
			"profile= region= output= query= endpoint-url= color= " \
			"cli-read-timeout= cli-connect-timeout= ca-bundle=",    \
			false                                                   \
	}
#define GCLOUD_OPTS                                                                    \
	{                                                                              \
		"oh",                                                                  \
			"project= account= configuration= format= verbosity= region= " \
			"zone= filter= limit= impersonate-service-account=",           \
			false                                                          \
	}
#define AZ_OPTS                                                               \
	{                                                                     \
		"gnol",                                                       \
			"resource-group= name= output= query= subscription= " \
			"location=",                                          \
			false                                                 \
	}
#define APP_OPTS                                                                             \
	{                                                                                    \
		"atc",                                                                       \
			"app= remote= config= token= access-token= context= output= scope= " \
			"cwd= project= name= env= environment= stack= team= region=",        \
			false                                                                \
	}

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "amplify", AB_DEEDS(verbs), APP_OPTS, AB_HELP_LETTER },
	{ "ansible",
	  AB_DEEDS(ansible),
	  { "ieumafltMPTc", NULL, false },
	  AB_HELP_LETTER },
	{ "ansible-playbook",
	  AB_DEEDS(ansible),
	  { "ieultfM", NULL, false },
	  AB_HELP_LETTER },
	{ "aws", AB_DEEDS(aws), AWS_OPTS },
	{ "az", AB_DEEDS(az), AZ_OPTS, AB_HELP_LETTER },
	{ "bq", AB_DEEDS(gsutil) },
	{ "cdk", AB_DEEDS(deploy), APP_OPTS, AB_HELP_LETTER },
	{ "cdktf", AB_DEEDS(deploy), APP_OPTS, AB_HELP_LETTER },
	{ "doctl", AB_DEEDS(verbs), APP_OPTS, AB_HELP_LETTER },
	{ "eb", AB_DEEDS(deploy), .help = AB_HELP_LETTER },
	{ "eksctl", AB_DEEDS(verbs), APP_OPTS, AB_HELP_LETTER },
	{ "firebase",
	  AB_DEEDS(deploy),
	  { "P", "project= config=", false },
	  AB_HELP_LETTER },
	{ "fly", AB_DEEDS(verbs), APP_OPTS, AB_HELP_LETTER },
	{ "flyctl", AB_DEEDS(verbs), APP_OPTS, AB_HELP_LETTER },
	{ "gcloud", AB_DEEDS(gcloud), GCLOUD_OPTS },
	{ "gsutil", AB_DEEDS(gsutil), { "ohu", NULL, false } },
	{ "hcloud", AB_DEEDS(verbs), APP_OPTS, AB_HELP_LETTER },
	{ "heroku", AB_DEEDS(verbs), APP_OPTS, AB_HELP_LETTER },
	{ "linode-cli", AB_DEEDS(verbs), .help = AB_HELP_LETTER },
	{ "netlify", AB_DEEDS(deploy), APP_OPTS, AB_HELP_LETTER },
	{ "ntl", AB_DEEDS(deploy), APP_OPTS, AB_HELP_LETTER },
	{ "openstack", AB_DEEDS(verbs), .help = AB_HELP_LETTER },
	{ "packer", AB_DEEDS(packer), .help = AB_HELP_LETTER },
	{ "pulumi",
	  AB_DEEDS(pulumi),
	  { "Cs", "cwd= stack=", false },
	  AB_HELP_LETTER },
	{ "railway", AB_DEEDS(verbs), APP_OPTS, AB_HELP_LETTER },
	{ "sam", AB_DEEDS(deploy), APP_OPTS, AB_HELP_LETTER },
	{ "scw", AB_DEEDS(verbs), .help = AB_HELP_LETTER },
	{ "serverless", AB_DEEDS(deploy), APP_OPTS, AB_HELP_LETTER },
	{ "sls", AB_DEEDS(deploy), APP_OPTS, AB_HELP_LETTER },
	{ "sst", AB_DEEDS(deploy), APP_OPTS, AB_HELP_LETTER },
	{ "surge", AB_DEEDS(vercel), .help = AB_HELP_LETTER },
	{ "terraform", AB_DEEDS(terraform), .help = AB_HELP_LETTER },
	{ "terragrunt", AB_DEEDS(terraform), .help = AB_HELP_LETTER },
	{ "tofu", AB_DEEDS(terraform), .help = AB_HELP_LETTER },
	{ "vercel", AB_DEEDS(vercel), APP_OPTS, AB_HELP_LETTER },
	{ "wrangler", AB_DEEDS(deploy), APP_OPTS, AB_HELP_LETTER },
};

const struct ab_toolbox ab_tools_clouds = { tools, AB_COUNT(tools) };
