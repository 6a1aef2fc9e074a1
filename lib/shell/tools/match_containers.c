/* Containers and clusters. */
#include "base/data/mem.h"
#include "shell/command/name_index.h"
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

/* Sorted by name. */
static const struct ab_deed deeds[] = {
	{ "argocd",
	  "app|appset|proj|repo|cluster|account|cert create|delete|sync|set|"
	  "unset|rollback|patch|edit|add|rm|terminate-op|delete-resource|"
	  "patch-resource|update-password|rotate-auth|run",
	  .rule = CLUSTER },
	{ "argocd", "login|logout|relogin", .rule = CLUSTER },
	{ "buildah",
	  "build|bud|from|run|commit|config|copy|add|rm|rmi|push|pull|prune|tag|"
	  "mount|unmount|umount|unshare",
	  .rule = BUILD },
	{ "compose", COMPOSE_CHANGES "|build", "", "--dry-run", COMPOSE },
	{ "ctr", "run", .rule = CONTAINER },
	{ "ctr",
	  "containers|container|c|tasks|task|t|images|image|i|run|snapshots|"
	  "namespaces create|delete|rm|del|remove|start|kill|exec|pull|push|"
	  "import|tag|pause|resume|attach|mount",
	  .rule = CONTAINER },
	{ "dev_cluster", "run|dev|deploy|delete|debug|apply|up|down|ci|trigger|purge|enter",
	  .rule = CLUSTER },
	{ "docker", "build|bud", .rule = BUILD },
	{ "docker", "buildx|builder|image build|bake|b|prune|create|rm|use", .rule = BUILD },
	{ "docker",
	  "run|create|start|stop|restart|kill|rm|rmi|exec|cp|commit|pull|pause|"
	  "unpause|rename|update|attach|import|load|tag|deploy|login|logout|"
	  "play|generate|unshare|machine|mount|umount|unmount|reset",
	  .rule = CONTAINER },
	{ "docker",
	  THINGS "run|create|start|stop|restart|kill|rm|exec|cp|commit|pull|pause|"
		 "unpause|rename|update|attach|import|load",
	  .rule = CONTAINER },
	{ "docker",
	  THINGS "tag|prune|remove|connect|disconnect|init|join|leave|deploy|scale|"
		 "rollback|promote|demote|install|enable",
	  .rule = CONTAINER },
	{ "docker",
	  THINGS "disable|set|use|unlock|ca|clean|migrate|reset|play|down|apply|add|"
		 "reload|renumber|delete",
	  .rule = CONTAINER },
	{ "docker", "compose " COMPOSE_CHANGES, "", "--dry-run", COMPOSE },
	{ "docker", "compose build", "", "--dry-run", COMPOSE },
	{ "flux",
	  "bootstrap|install|uninstall|create|delete|suspend|resume|reconcile|"
	  "push|tag",
	  "", "--export", CLUSTER },
	{ "helm", "install|upgrade|uninstall|delete|del|un|rollback|test", "", "--dry-run",
	  CLUSTER },
	{ "kubectl",
	  "apply|create|delete|edit|patch|replace|scale|exec|cp|drain|cordon|"
	  "uncordon|taint|label|annotate|set|expose|run|autoscale|port-forward|"
	  "proxy|attach|debug|new-app|new-project|start-build|process|rsh|rsync|"
	  "import-image|adm|policy|login|logout|project",
	  "", DRY, CLUSTER },
	{ "kubectl", "rollout restart|undo|pause|resume", "", DRY, CLUSTER },
	{ "kubectl", "certificate approve|deny", .rule = CLUSTER },
	{ "kubectl", "config set*|unset|use-context|use|delete-*|rename-context", .rule = CLUSTER,
	  .reason = "Changes the active cluster." },
	{ "local_cluster",
	  "create|delete|start|stop|pause|unpause|load|import|node|cp|ssh|"
	  "mount|tunnel|config",
	  .rule = CLUSTER },
	{ "local_cluster",
	  "cluster|clusters|node|registry|image|addons create|delete|start|stop|"
	  "edit|import|enable|disable|load|rm|build",
	  .rule = CLUSTER },
	{ "lxc",
	  "launch|init|create|start|stop|restart|delete|rm|exec|shell|copy|cp|"
	  "move|mv|rename|publish|restore|snapshot|pause|rebuild|import|admin",
	  .rule = CONTAINER },
	{ "lxc",
	  "config|profile|network|storage|image|file|project|cluster|remote|"
	  "device set|edit|add|remove|create|delete|push|unset|attach|detach|"
	  "device|import|copy|rename|assign|volume",
	  .rule = CONTAINER },
	{ "runc",
	  "run|create|start|kill|delete|exec|pause|resume|update|checkpoint|"
	  "restore",
	  .rule = CONTAINER },
	{ "vagrant",
	  "up|destroy|halt|reload|provision|ssh|suspend|resume|package|push|"
	  "upload|winrm",
	  .rule = CONTAINER, .reason = "Runs or changes a virtual machine." },
};

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "argocd", "argocd", AB_HELP_LETTER },
	{ "buildah", "buildah", AB_HELP_LETTER },
	{ "ctr", "ctr", AB_HELP_LETTER },
	{ "devspace", "dev_cluster", AB_HELP_LETTER },
	{ "docker", "docker", AB_HELP_LETTER },
	{ "docker-compose", "compose", AB_HELP_LETTER },
	{ "flux", "flux", AB_HELP_LETTER },
	{ "helm", "helm", AB_HELP_LETTER },
	{ "incus", "lxc", AB_HELP_LETTER },
	{ "k3d", "local_cluster", AB_HELP_LETTER },
	{ "kind", "local_cluster", AB_HELP_LETTER },
	{ "kubectl", "kubectl", AB_HELP_LETTER },
	{ "lxc", "lxc", AB_HELP_LETTER },
	{ "minikube", "local_cluster", AB_HELP_LETTER },
	{ "nerdctl", "docker", AB_HELP_LETTER },
	{ "oc", "kubectl", AB_HELP_LETTER },
	{ "podman", "docker", AB_HELP_LETTER },
	{ "podman-compose", "compose", AB_HELP_LETTER },
	{ "runc", "runc", AB_HELP_LETTER },
	{ "skaffold", "dev_cluster", AB_HELP_LETTER },
	{ "tilt", "dev_cluster", AB_HELP_LETTER },
	{ "vagrant", "vagrant", AB_HELP_LETTER },
};

const struct ab_toolbox ab_tools_containers = { tools, AB_COUNT(tools), deeds, AB_COUNT(deeds),
						AB_TABLE_CONTAINERS };
