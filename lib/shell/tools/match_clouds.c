/* Clouds and the tools that deploy to them. Best effort: verbs that change. */
#include "base/data/mem.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

#define CLOUD AB_RULE_CLOUD_CHANGE

/* Sorted by name. */
static const struct ab_deed deeds[] = {
	{ "ansible", "*", "", "-C --check --list-hosts --list-tasks --list-tags --syntax-check",
	  CLOUD, .reason = "Changes other machines." },
	{ "aws",
	  "* create-*|delete-*|put-*|update-*|run-*|start-*|stop-*|"
	  "terminate-*|reboot-*|modify-*|attach-*|detach-*|associate-*|"
	  "disassociate-*|add-*|remove-*|register-*|deregister-*|enable-*|"
	  "disable-*|set-*|reset-*|restore-*|revoke-*|authorize-*",
	  "", "--dry-run", CLOUD },
	{ "aws",
	  "* allocate-*|release-*|import-*|export-*|invoke|invoke-*|publish|"
	  "publish-*|send-*|tag-*|untag-*|copy-*|move-*|purge-*|cancel-*|"
	  "execute-*|deploy|deploy-*|upload-*|change-*|replace-*|rotate-*|"
	  "schedule-*|apply-*|accept-*|reject-*",
	  "", "--dry-run", CLOUD },
	{ "aws",
	  "* confirm-*|admin-*|batch-write-*|batch-delete-*|transact-write-*|"
	  "complete-*|abort-*|assign-*|unassign-*|promote-*|failover-*|"
	  "request-*|resend-*|subscribe|unsubscribe|push|package|initiate-*|"
	  "grant-*|upgrade-*",
	  "", "--dry-run", CLOUD },
	{ "aws", "s3 cp|mv|rm|sync|mb|rb|website", "", "--dryrun", CLOUD },
	{ "aws", "configure|sso set|import|sso|add-model|login|logout", .rule = CLOUD,
	  .reason = "Changes the active cloud account." },
	{ "aws", "configure|login|logout", .rule = CLOUD, .bare = true,
	  .reason = "Changes the active cloud account." },
	{ "aws", "ecs|ssm|emr|cloudshell execute-command|start-session|ssh", .rule = CLOUD },
	{ "az",
	  "** create|delete|update|set|add|remove|start|stop|restart|up|"
	  "deploy|deployment|upload*|purge|import|export|assign|invoke|run|"
	  "run-command|reset*|regenerate|renew|rotate|scale|swap|move|cancel|"
	  "approve|attach",
	  .rule = CLOUD },
	{ "az",
	  "** detach|enable*|disable*|deallocate|redeploy|reimage|apply|"
	  "login|logout|get-credentials|config-zip|restore|failover|copy|"
	  "sync|build|revoke|grant|resize|generalize|ssh|clear|install*",
	  .rule = CLOUD },
	{ "deploy",
	  "deploy|destroy|publish|remove|rollback|delete|bootstrap|create|"
	  "terminate|login|logout|import|upload|setenv|scale|swap|restore|"
	  "invoke|sync|use|switch|clone|abort|restart|ext:install|unpublish",
	  "", "--dry-run --local --no-execute-changeset", CLOUD },
	{ "deploy",
	  "secret|kv|r2|d1|queues|pages|versions|worker|dispatch-namespace|"
	  "vectorize|hyperdrive|kv:key|kv:namespace|sites|env|functions "
	  "put|delete|create|deploy|execute|upload|bulk|set|unset|import|"
	  "migrations|object|bucket|key|namespace|update|project",
	  "", "--dry-run --local", CLOUD },
	{ "deploy",
	  "*:delete|*:deploy|*:set|*:unset|*:create|*:disable|*:rollback|"
	  "*:import",
	  .rule = CLOUD },
	{ "gcloud",
	  "** create|delete|update|deploy|set|unset|add|remove|patch|start|"
	  "stop|reset|restart|resume|suspend|ssh|scp|apply|enable|disable|"
	  "import|export|submit|run|call|publish|execute|cancel|promote|"
	  "migrate|move|copy|rollback|add-*|remove-*|set-*",
	  .rule = CLOUD },
	{ "gcloud",
	  "** clear-*|attach-*|detach-*|login|revoke|destroy|undelete|resize|"
	  "activate-service-account|get-credentials|configure-docker|install|"
	  "replace|rename|clone|kill|restore|drain|abandon|approve|reject|"
	  "upload|failover",
	  .rule = CLOUD },
	{ "gsutil",
	  "cp|mv|rm|rsync|mb|rb|setmeta|acl|defacl|iam|cors|web|lifecycle|"
	  "versioning|notification|label|logging|compose|rewrite|config|"
	  "retention|defstorageclass|kms|mk|rmr|load|insert|update|query|"
	  "extract|cancel",
	  .rule = CLOUD },
	{ "packer", "build|push", .rule = CLOUD },
	{ "pulumi", "up|update|destroy|import|refresh|cancel|watch|login|logout|policy|new", "",
	  "--preview-only", CLOUD },
	{ "pulumi", "stack init|rm|import|rename|tag|change-secrets-provider", .rule = CLOUD },
	{ "pulumi", "state delete|edit|move|rename|unprotect|upgrade", .rule = CLOUD },
	{ "terraform", "apply|destroy|import|taint|untaint|refresh|force-unlock|login|logout",
	  .rule = CLOUD },
	{ "terraform", "state rm|mv|push|replace-provider", "", "-dry-run", CLOUD },
	{ "terraform", "workspace new|delete", .rule = CLOUD },
	{ "terraform", "run|run-all|stack apply|destroy|import|refresh|run", .rule = CLOUD },
	{ "verbs",
	  "** create|delete|destroy|update|deploy|set|unset|add|remove|rm|"
	  "start|stop|restart|scale|rollback|run|launch|apply|upgrade|import|"
	  "attach|detach|enable|disable|resize|reboot|shutdown",
	  "", "--dry-run --dryrun", CLOUD },
	{ "verbs",
	  "** rename|promote|rebuild|power-*|*:set|*:unset|*:create|"
	  "*:destroy|*:add|*:remove|*:restart|*:scale|*:promote|*:rollback|"
	  "*:transfer|*:run|*:stop|ps:*|ssh|sftp|proxy|console|machine",
	  "", "--dry-run --dryrun", CLOUD },
	{ "verbs",
	  "** init|login|logout|up|down|link|unlink|publish|release|push|"
	  "terminate|clone|swap|abort|move|extend|restore|import-*|connect|"
	  "redeploy|secrets",
	  "", "--dry-run --dryrun", CLOUD },
	/* Without arguments it deploys. */
	{ "vercel", "", .rule = CLOUD, .bare = true },
	{ "vercel",
	  "deploy|alias|rm|remove|promote|rollback|redeploy|login|logout|link|"
	  "switch",
	  .rule = CLOUD },
	{ "vercel",
	  "env|domains|dns|certs|secrets|project|projects|git|integration|cache "
	  "add|rm|remove|import|buy|move|transfer-in|issue|update|connect|"
	  "disconnect|purge",
	  .rule = CLOUD },
	{ "vercel", "", "--prod --production", "", CLOUD },
};

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "amplify", "verbs", AB_HELP_LETTER },
	{ "ansible", "ansible", AB_HELP_LETTER },
	{ "ansible-playbook", "ansible", AB_HELP_LETTER },
	{ "aws", "aws" },
	{ "az", "az", AB_HELP_LETTER },
	{ "bq", "gsutil" },
	{ "cdk", "deploy", AB_HELP_LETTER },
	{ "cdktf", "deploy", AB_HELP_LETTER },
	{ "doctl", "verbs", AB_HELP_LETTER },
	{ "eb", "deploy", AB_HELP_LETTER },
	{ "eksctl", "verbs", AB_HELP_LETTER },
	{ "firebase", "deploy", AB_HELP_LETTER },
	{ "fly", "verbs", AB_HELP_LETTER },
	{ "flyctl", "verbs", AB_HELP_LETTER },
	{ "gcloud", "gcloud" },
	{ "gsutil", "gsutil" },
	{ "hcloud", "verbs", AB_HELP_LETTER },
	{ "heroku", "verbs", AB_HELP_LETTER },
	{ "linode-cli", "verbs", AB_HELP_LETTER },
	{ "netlify", "deploy", AB_HELP_LETTER },
	{ "ntl", "deploy", AB_HELP_LETTER },
	{ "openstack", "verbs", AB_HELP_LETTER },
	{ "packer", "packer", AB_HELP_LETTER },
	{ "pulumi", "pulumi", AB_HELP_LETTER },
	{ "railway", "verbs", AB_HELP_LETTER },
	{ "sam", "deploy", AB_HELP_LETTER },
	{ "scw", "verbs", AB_HELP_LETTER },
	{ "serverless", "deploy", AB_HELP_LETTER },
	{ "sls", "deploy", AB_HELP_LETTER },
	{ "sst", "deploy", AB_HELP_LETTER },
	{ "surge", "vercel", AB_HELP_LETTER },
	{ "terraform", "terraform", AB_HELP_LETTER },
	{ "terragrunt", "terraform", AB_HELP_LETTER },
	{ "tofu", "terraform", AB_HELP_LETTER },
	{ "vercel", "vercel", AB_HELP_LETTER },
	{ "wrangler", "deploy", AB_HELP_LETTER },
};

const struct ab_toolbox ab_tools_clouds = { tools, AB_COUNT(tools), deeds, AB_COUNT(deeds),
					    AB_TABLE_CLOUDS };
