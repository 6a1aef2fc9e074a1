/* Containers and clusters. */
#include "shell/tools/tool.h"

#define BUILD AB_RULE_DOCKER_BUILD
#define CONTAINER AB_RULE_DOCKER_CONTAINER
#define COMPOSE AB_RULE_DOCKER_COMPOSE
#define CLUSTER AB_RULE_KUBERNETES

#define COMPOSE_CHANGES                                                   \
	"up|down|start|stop|restart|rm|run|exec|pull|kill|pause|unpause|" \
	"create|cp|scale|watch|attach|commit|publish"

#define THINGS                                                             \
	"container|image|volume|network|pod|secret|config|service|stack|"  \
	"swarm|node|plugin|context|system|trust|manifest|checkpoint|kube|" \
	"quadlet "

#define DRY "--dry-run=client --dry-run=server --dry-run=true"

static const struct ab_deed deeds[] = {
	AB_PROGRAMS("argocd", AB_HELP_LETTER,
		    "app|appset|proj|repo|cluster|account|cert create|delete|sync|set|"
		    "unset|rollback|patch|edit|add|rm|terminate-op|delete-resource|"
		    "patch-resource|update-password|rotate-auth|run",
		    .rule = CLUSTER),
	{ AB_ALSO, "login|logout|relogin", .rule = CLUSTER },
	AB_PROGRAMS("buildah", AB_HELP_LETTER,
		    "build|bud|from|run|commit|config|copy|add|rm|rmi|push|pull|prune|tag|"
		    "mount|unmount|umount|unshare",
		    .rule = BUILD),
	AB_PROGRAMS("docker-compose podman-compose", AB_HELP_LETTER, COMPOSE_CHANGES "|build", "",
		    "--dry-run", COMPOSE),
	AB_PROGRAMS("ctr", AB_HELP_LETTER, "run", .rule = CONTAINER),
	{ AB_ALSO,
	  "containers|container|c|tasks|task|t|images|image|i|run|snapshots|"
	  "namespaces create|delete|rm|del|remove|start|kill|exec|pull|push|"
	  "import|tag|pause|resume|attach|mount",
	  .rule = CONTAINER },
	AB_PROGRAMS("devspace skaffold tilt", AB_HELP_LETTER,
		    "run|dev|deploy|delete|debug|apply|up|down|ci|trigger|purge|enter",
		    .rule = CLUSTER),
	AB_PROGRAMS("docker nerdctl podman", AB_HELP_LETTER, "build|bud", .rule = BUILD),
	{ AB_ALSO, "buildx|builder|image build|bake|b|prune|create|rm|use", .rule = BUILD },
	{ AB_ALSO,
	  "run|create|start|stop|restart|kill|rm|rmi|exec|cp|commit|pull|pause|"
	  "unpause|rename|update|attach|import|load|tag|deploy|login|logout|"
	  "play|generate|unshare|machine|mount|umount|unmount|reset",
	  .rule = CONTAINER },
	{ AB_ALSO,
	  THINGS "run|create|start|stop|restart|kill|rm|exec|cp|commit|pull|pause|"
		 "unpause|rename|update|attach|import|load",
	  .rule = CONTAINER },
	{ AB_ALSO,
	  THINGS "tag|prune|remove|connect|disconnect|init|join|leave|deploy|scale|"
		 "rollback|promote|demote|install|enable",
	  .rule = CONTAINER },
	{ AB_ALSO,
	  THINGS "disable|set|use|unlock|ca|clean|migrate|reset|play|down|apply|add|"
		 "reload|renumber|delete",
	  .rule = CONTAINER },
	{ AB_ALSO, "compose " COMPOSE_CHANGES, "", "--dry-run", COMPOSE },
	{ AB_ALSO, "compose build", "", "--dry-run", COMPOSE },
	AB_PROGRAMS("flux", AB_HELP_LETTER,
		    "bootstrap|install|uninstall|create|delete|suspend|resume|reconcile|"
		    "push|tag",
		    "", "--export", CLUSTER),
	AB_PROGRAMS("helm", AB_HELP_LETTER, "install|upgrade|uninstall|delete|del|un|rollback|test",
		    "", "--dry-run", CLUSTER),
	AB_PROGRAMS("kubectl oc", AB_HELP_LETTER,
		    "apply|create|delete|edit|patch|replace|scale|exec|cp|drain|cordon|"
		    "uncordon|taint|label|annotate|set|expose|run|autoscale|port-forward|"
		    "proxy|attach|debug|new-app|new-project|start-build|process|rsh|rsync|"
		    "import-image|adm|policy|login|logout|project",
		    "", DRY, CLUSTER),
	{ AB_ALSO, "rollout restart|undo|pause|resume", "", DRY, CLUSTER },
	{ AB_ALSO, "certificate approve|deny", .rule = CLUSTER },
	{ AB_ALSO, "config set*|unset|use-context|use|delete-*|rename-context", .rule = CLUSTER,
	  .reason = "Changes the active cluster." },
	AB_PROGRAMS("k3d kind minikube", AB_HELP_LETTER,
		    "create|delete|start|stop|pause|unpause|load|import|node|cp|ssh|"
		    "mount|tunnel|config",
		    .rule = CLUSTER),
	{ AB_ALSO,
	  "cluster|clusters|node|registry|image|addons create|delete|start|stop|"
	  "edit|import|enable|disable|load|rm|build",
	  .rule = CLUSTER },
	AB_PROGRAMS("incus lxc", AB_HELP_LETTER,
		    "launch|init|create|start|stop|restart|delete|rm|exec|shell|copy|cp|"
		    "move|mv|rename|publish|restore|snapshot|pause|rebuild|import|admin",
		    .rule = CONTAINER),
	{ AB_ALSO,
	  "config|profile|network|storage|image|file|project|cluster|remote|"
	  "device set|edit|add|remove|create|delete|push|unset|attach|detach|"
	  "device|import|copy|rename|assign|volume",
	  .rule = CONTAINER },
	AB_PROGRAMS("runc", AB_HELP_LETTER,
		    "run|create|start|kill|delete|exec|pause|resume|update|checkpoint|"
		    "restore",
		    .rule = CONTAINER),
	AB_PROGRAMS("vagrant", AB_HELP_LETTER,
		    "up|destroy|halt|reload|provision|ssh|suspend|resume|package|push|"
		    "upload|winrm",
		    .rule = CONTAINER, .reason = "Runs or changes a virtual machine."),
};

const struct ab_toolbox ab_tools_containers = { deeds, AB_COUNT(deeds), AB_TABLE_CONTAINERS };
