/* Containers and clusters. */
#include "base/mem.h"
#include "shell/tool.h"

#define BUILD AB_RULE_DOCKER_BUILD
#define CONTAINER AB_RULE_DOCKER_CONTAINER
#define COMPOSE AB_RULE_DOCKER_COMPOSE
#define CLUSTER AB_RULE_KUBERNETES

#define COMPOSE_CHANGES                                                   \
	"up|down|start|stop|restart|rm|run|exec|pull|kill|pause|unpause|" \
	"create|cp|scale|watch|attach|commit|publish"

static const struct ab_deed docker[] = {
	{ "build|bud", .rule = BUILD },
	{ "buildx|builder|image build|bake|b|prune|create|rm|use",
	  .rule = BUILD },
	{ "run|create|start|stop|restart|kill|rm|rmi|exec|cp|commit|pull|pause|"
	  "unpause|rename|update|attach|import|load|tag|deploy|login|logout|"
	  "play|generate|unshare|machine|mount|umount|unmount|reset",
	  .rule = CONTAINER },
	{ "container|image|volume|network|pod|secret|config|service|stack|"
	  "swarm|node|plugin|context|system|trust|manifest|checkpoint|kube|"
	  "quadlet "
	  "run|create|start|stop|restart|kill|rm|exec|cp|commit|pull|pause|"
	  "unpause|rename|update|attach|import|load|tag|prune|remove|connect|"
	  "disconnect|init|join|leave|deploy|scale|rollback|promote|demote|"
	  "install|enable|disable|set|use|unlock|ca|clean|migrate|reset|play|"
	  "down|apply|add|reload|renumber|delete",
	  .rule = CONTAINER },
	{ "compose " COMPOSE_CHANGES, NULL, "--dry-run", COMPOSE },
	{ "compose build", NULL, "--dry-run", COMPOSE },
};
static const struct ab_deed compose[] = {
	{ COMPOSE_CHANGES "|build", NULL, "--dry-run", COMPOSE },
};
static const struct ab_deed buildah[] = {
	{ "build|bud|from|run|commit|config|copy|add|rm|rmi|push|pull|prune|tag|"
	  "mount|unmount|umount|unshare",
	  .rule = BUILD },
};
static const struct ab_deed lxc[] = {
	{ "launch|init|create|start|stop|restart|delete|rm|exec|shell|copy|cp|"
	  "move|mv|rename|publish|restore|snapshot|pause|rebuild|import|admin",
	  .rule = CONTAINER },
	{ "config|profile|network|storage|image|file|project|cluster|remote|"
	  "device set|edit|add|remove|create|delete|push|unset|attach|detach|"
	  "device|import|copy|rename|assign|volume",
	  .rule = CONTAINER },
};
static const struct ab_deed vagrant[] = {
	{ "up|destroy|halt|reload|provision|ssh|suspend|resume|package|push|"
	  "upload|winrm",
	  .rule = CONTAINER, .reason = "Runs or changes a virtual machine." },
};
static const struct ab_deed ctr[] = {
	{ "run", .rule = CONTAINER },
	{ "containers|container|c|tasks|task|t|images|image|i|run|snapshots|"
	  "namespaces create|delete|rm|del|remove|start|kill|exec|pull|push|"
	  "import|tag|pause|resume|attach|mount",
	  .rule = CONTAINER },
};
static const struct ab_deed runc[] = {
	{ "run|create|start|kill|delete|exec|pause|resume|update|checkpoint|"
	  "restore",
	  .rule = CONTAINER },
};

#define DRY "--dry-run=client --dry-run=server --dry-run=true"

static const struct ab_deed kubectl[] = {
	{ "apply|create|delete|edit|patch|replace|scale|exec|cp|drain|cordon|"
	  "uncordon|taint|label|annotate|set|expose|run|autoscale|port-forward|"
	  "proxy|attach|debug|new-app|new-project|start-build|process|rsh|rsync|"
	  "import-image|adm|policy|login|logout|project",
	  NULL, DRY, CLUSTER },
	{ "rollout restart|undo|pause|resume", NULL, DRY, CLUSTER },
	{ "certificate approve|deny", .rule = CLUSTER },
	{ "config set*|unset|use-context|use|delete-*|rename-context",
	  .rule = CLUSTER, .reason = "Changes which cluster is worked on." },
};
static const struct ab_deed helm[] = {
	{ "install|upgrade|uninstall|delete|del|un|rollback|test", NULL,
	  "--dry-run", CLUSTER },
};
static const struct ab_deed local_cluster[] = {
	{ "create|delete|start|stop|pause|unpause|load|import|node|cp|ssh|"
	  "mount|tunnel|config",
	  .rule = CLUSTER },
	{ "cluster|clusters|node|registry|image|addons create|delete|start|stop|"
	  "edit|import|enable|disable|load|rm|build",
	  .rule = CLUSTER },
};
static const struct ab_deed argocd[] = {
	{ "app|appset|proj|repo|cluster|account|cert create|delete|sync|set|"
	  "unset|rollback|patch|edit|add|rm|terminate-op|delete-resource|"
	  "patch-resource|update-password|rotate-auth|run",
	  .rule = CLUSTER },
	{ "login|logout|relogin", .rule = CLUSTER },
};
static const struct ab_deed flux[] = {
	{ "bootstrap|install|uninstall|create|delete|suspend|resume|reconcile|"
	  "push|tag",
	  NULL, "--export", CLUSTER },
};
static const struct ab_deed dev_cluster[] = {
	{ "run|dev|deploy|delete|debug|apply|up|down|ci|trigger|purge|enter",
	  .rule = CLUSTER },
};

#define DOCKER_OPTS                                                                      \
	{                                                                                \
		"Hclfp",                                                                 \
			"host= context= config= log-level= tlscacert= tlscert= tlskey= " \
			"url= connection= root= namespace= address= file= "              \
			"project-name= project-directory= profile= env-file= ansi= "     \
			"parallel= progress=",                                           \
			false                                                            \
	}
#define KUBE_OPTS                                                                       \
	{                                                                               \
		"nsf",                                                                  \
			"namespace= context= cluster= user= kubeconfig= kube-context= " \
			"server= token= as= as-group= request-timeout= profile= "       \
			"filename= cache-dir= driver=",                                 \
			false                                                           \
	}

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "argocd", AB_DEEDS(argocd), KUBE_OPTS, AB_HELP_LETTER },
	{ "buildah", AB_DEEDS(buildah), DOCKER_OPTS, AB_HELP_LETTER },
	{ "ctr",
	  AB_DEEDS(ctr),
	  { "an", "namespace= address=", false },
	  AB_HELP_LETTER },
	{ "devspace", AB_DEEDS(dev_cluster), KUBE_OPTS, AB_HELP_LETTER },
	{ "docker", AB_DEEDS(docker), DOCKER_OPTS, AB_HELP_LETTER },
	{ "docker-compose", AB_DEEDS(compose), DOCKER_OPTS, AB_HELP_LETTER },
	{ "flux", AB_DEEDS(flux), KUBE_OPTS, AB_HELP_LETTER },
	{ "helm", AB_DEEDS(helm), KUBE_OPTS, AB_HELP_LETTER },
	{ "incus", AB_DEEDS(lxc), .help = AB_HELP_LETTER },
	{ "k3d", AB_DEEDS(local_cluster), .help = AB_HELP_LETTER },
	{ "kind", AB_DEEDS(local_cluster), .help = AB_HELP_LETTER },
	{ "kubectl", AB_DEEDS(kubectl), KUBE_OPTS, AB_HELP_LETTER },
	{ "lxc", AB_DEEDS(lxc), .help = AB_HELP_LETTER },
	{ "minikube",
	  AB_DEEDS(local_cluster),
	  { "p", "profile= driver=", false },
	  AB_HELP_LETTER },
	{ "nerdctl", AB_DEEDS(docker), DOCKER_OPTS, AB_HELP_LETTER },
	{ "oc", AB_DEEDS(kubectl), KUBE_OPTS, AB_HELP_LETTER },
	{ "podman", AB_DEEDS(docker), DOCKER_OPTS, AB_HELP_LETTER },
	{ "podman-compose", AB_DEEDS(compose), DOCKER_OPTS, AB_HELP_LETTER },
	{ "runc", AB_DEEDS(runc), .help = AB_HELP_LETTER },
	{ "skaffold", AB_DEEDS(dev_cluster), KUBE_OPTS, AB_HELP_LETTER },
	{ "tilt", AB_DEEDS(dev_cluster), KUBE_OPTS, AB_HELP_LETTER },
	{ "vagrant", AB_DEEDS(vagrant), .help = AB_HELP_LETTER },
};

const struct ab_toolbox ab_tools_containers = { tools, AB_COUNT(tools) };
