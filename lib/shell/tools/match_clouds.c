/* Clouds and the tools that deploy to them. Best effort: verbs that change. */
#include "shell/tools/tool.h"

#define CLOUD AB_RULE_CLOUD_CHANGE

static const struct ab_deed deeds[] = {
	AB_PROGRAMS("ansible ansible-playbook", AB_HELP_LETTER, "*", "",
		    "-C --check --list-hosts --list-tasks --list-tags --syntax-check", CLOUD,
		    .reason = "Changes other machines."),
	AB_PROGRAMS("aws", AB_HELP_ALONE,
		    "* create-*|delete-*|put-*|update-*|run-*|start-*|stop-*|"
		    "terminate-*|reboot-*|modify-*|attach-*|detach-*|associate-*|"
		    "disassociate-*|add-*|remove-*|register-*|deregister-*|enable-*|"
		    "disable-*|set-*|reset-*|restore-*|revoke-*|authorize-*",
		    "", "--dry-run", CLOUD),
	{ AB_ALSO,
	  "* allocate-*|release-*|import-*|export-*|invoke|invoke-*|publish|"
	  "publish-*|send-*|tag-*|untag-*|copy-*|move-*|purge-*|cancel-*|"
	  "execute-*|deploy|deploy-*|upload-*|change-*|replace-*|rotate-*|"
	  "schedule-*|apply-*|accept-*|reject-*",
	  "", "--dry-run", CLOUD },
	{ AB_ALSO,
	  "* confirm-*|admin-*|batch-write-*|batch-delete-*|transact-write-*|"
	  "complete-*|abort-*|assign-*|unassign-*|promote-*|failover-*|"
	  "request-*|resend-*|subscribe|unsubscribe|push|package|initiate-*|"
	  "grant-*|upgrade-*",
	  "", "--dry-run", CLOUD },
	{ AB_ALSO, "s3 cp|mv|rm|sync|mb|rb|website", "", "--dryrun", CLOUD },
	{ AB_ALSO, "configure|sso set|import|sso|add-model|login|logout", .rule = CLOUD,
	  .reason = "Changes the active cloud account." },
	{ AB_ALSO, "configure|login|logout", .rule = CLOUD, .bare = true,
	  .reason = "Changes the active cloud account." },
	{ AB_ALSO, "ecs|ssm|emr|cloudshell execute-command|start-session|ssh", .rule = CLOUD },
	AB_PROGRAMS("az", AB_HELP_LETTER,
		    "** create|delete|update|set|add|remove|start|stop|restart|up|"
		    "deploy|deployment|upload*|purge|import|export|assign|invoke|run|"
		    "run-command|reset*|regenerate|renew|rotate|scale|swap|move|cancel|"
		    "approve|attach",
		    .rule = CLOUD),
	{ AB_ALSO,
	  "** detach|enable*|disable*|deallocate|redeploy|reimage|apply|"
	  "login|logout|get-credentials|config-zip|restore|failover|copy|"
	  "sync|build|revoke|grant|resize|generalize|ssh|clear|install*",
	  .rule = CLOUD },
	AB_PROGRAMS("cdk cdktf eb firebase netlify ntl sam serverless sls sst wrangler",
		    AB_HELP_LETTER,
		    "deploy|destroy|publish|remove|rollback|delete|bootstrap|create|"
		    "terminate|login|logout|import|upload|setenv|scale|swap|restore|"
		    "invoke|sync|use|switch|clone|abort|restart|ext:install|unpublish",
		    "", "--dry-run --local --no-execute-changeset", CLOUD),
	{ AB_ALSO,
	  "secret|kv|r2|d1|queues|pages|versions|worker|dispatch-namespace|"
	  "vectorize|hyperdrive|kv:key|kv:namespace|sites|env|functions "
	  "put|delete|create|deploy|execute|upload|bulk|set|unset|import|"
	  "migrations|object|bucket|key|namespace|update|project",
	  "", "--dry-run --local", CLOUD },
	{ AB_ALSO,
	  "*:delete|*:deploy|*:set|*:unset|*:create|*:disable|*:rollback|"
	  "*:import",
	  .rule = CLOUD },
	AB_PROGRAMS("gcloud", AB_HELP_ALONE,
		    "** create|delete|update|deploy|set|unset|add|remove|patch|start|"
		    "stop|reset|restart|resume|suspend|ssh|scp|apply|enable|disable|"
		    "import|export|submit|run|call|publish|execute|cancel|promote|"
		    "migrate|move|copy|rollback|add-*|remove-*|set-*",
		    .rule = CLOUD),
	{ AB_ALSO,
	  "** clear-*|attach-*|detach-*|login|revoke|destroy|undelete|resize|"
	  "activate-service-account|get-credentials|configure-docker|install|"
	  "replace|rename|clone|kill|restore|drain|abandon|approve|reject|"
	  "upload|failover",
	  .rule = CLOUD },
	AB_PROGRAMS("bq gsutil", AB_HELP_ALONE,
		    "cp|mv|rm|rsync|mb|rb|setmeta|acl|defacl|iam|cors|web|lifecycle|"
		    "versioning|notification|label|logging|compose|rewrite|config|"
		    "retention|defstorageclass|kms|mk|rmr|load|insert|update|query|"
		    "extract|cancel",
		    .rule = CLOUD),
	AB_PROGRAMS("packer", AB_HELP_LETTER, "build|push", .rule = CLOUD),
	AB_PROGRAMS("pulumi", AB_HELP_LETTER,
		    "up|update|destroy|import|refresh|cancel|watch|login|logout|policy|new", "",
		    "--preview-only", CLOUD),
	{ AB_ALSO, "stack init|rm|import|rename|tag|change-secrets-provider", .rule = CLOUD },
	{ AB_ALSO, "state delete|edit|move|rename|unprotect|upgrade", .rule = CLOUD },
	AB_PROGRAMS("terraform terragrunt tofu", AB_HELP_LETTER,
		    "apply|destroy|import|taint|untaint|refresh|force-unlock|login|logout",
		    .rule = CLOUD),
	{ AB_ALSO, "state rm|mv|push|replace-provider", "", "-dry-run", CLOUD },
	{ AB_ALSO, "workspace new|delete", .rule = CLOUD },
	{ AB_ALSO, "run|run-all|stack apply|destroy|import|refresh|run", .rule = CLOUD },
	AB_PROGRAMS("amplify doctl eksctl fly flyctl hcloud heroku linode-cli openstack railway scw",
		    AB_HELP_LETTER,
		    "** create|delete|destroy|update|deploy|set|unset|add|remove|rm|"
		    "start|stop|restart|scale|rollback|run|launch|apply|upgrade|import|"
		    "attach|detach|enable|disable|resize|reboot|shutdown",
		    "", "--dry-run --dryrun", CLOUD),
	{ AB_ALSO,
	  "** rename|promote|rebuild|power-*|*:set|*:unset|*:create|"
	  "*:destroy|*:add|*:remove|*:restart|*:scale|*:promote|*:rollback|"
	  "*:transfer|*:run|*:stop|ps:*|ssh|sftp|proxy|console|machine",
	  "", "--dry-run --dryrun", CLOUD },
	{ AB_ALSO,
	  "** init|login|logout|up|down|link|unlink|publish|release|push|"
	  "terminate|clone|swap|abort|move|extend|restore|import-*|connect|"
	  "redeploy|secrets",
	  "", "--dry-run --dryrun", CLOUD },
	/* Without arguments it deploys. */
	AB_PROGRAMS("surge vercel", AB_HELP_LETTER, "", .rule = CLOUD, .bare = true),
	{ AB_ALSO,
	  "deploy|alias|rm|remove|promote|rollback|redeploy|login|logout|link|"
	  "switch",
	  .rule = CLOUD },
	{ AB_ALSO,
	  "env|domains|dns|certs|secrets|project|projects|git|integration|cache "
	  "add|rm|remove|import|buy|move|transfer-in|issue|update|connect|"
	  "disconnect|purge",
	  .rule = CLOUD },
	{ AB_ALSO, "", "--prod --production", "", CLOUD },
};

const struct ab_toolbox ab_tools_clouds = { deeds, AB_COUNT(deeds), AB_TABLE_CLOUDS };
