#include "hosttools/tool_git.h"

#include "base/text/words.h"

/* Only settings of one name: filters and drivers have names that the repository chooses. Without
 * help.autocorrect the repository could turn "confg" into a command. */
static const char settings[] =
	"core.hooksPath=/dev/null core.fsmonitor=false core.pager=cat "
	"core.sshCommand=ssh core.askPass= core.editor=false sequence.editor=false "
	"credential.helper= gpg.program=gpg gpg.x509.program=gpgsm "
	"gpg.ssh.program=ssh-keygen gpg.ssh.defaultKeyCommand=false "
	"core.alternateRefsCommand=false help.autocorrect=0 protocol.ext.allow=never "
	"interactive.diffFilter=";

/*
 * Whoever calls the tool also types at its terminal: in a pager or an editor that is a shell. git
 * prefers these to settings of the repository such as pager.log, or takes their first value.
 */
static const char others[] =
	"GIT_TERMINAL_PROMPT=0 GIT_PAGER=cat GIT_EDITOR=false GIT_SEQUENCE_EDITOR=false "
	"GIT_PROXY_COMMAND= PAGER=cat MANPAGER=cat GH_PAGER=cat LESSSECURE=1 "
	"EDITOR=false VISUAL=false GH_EDITOR=false BROWSER=false GH_BROWSER=false";

void ab_tool_fixed_variables(struct ab_strv *ret)
{
	const char *list = settings, *word;
	size_t n, count = 0;

	for (; (word = ab_word_next(&list, &n)) != NULL; count++) {
		int key = (int)strcspn(word, "=");

		ab_strv_addf(ret, "GIT_CONFIG_KEY_%zu=%.*s", count, key, word);
		ab_strv_addf(ret, "GIT_CONFIG_VALUE_%zu=%.*s", count, (int)n - key - 1,
			     word + key + 1);
	}
	ab_strv_addf(ret, "GIT_CONFIG_COUNT=%zu", count);
	for (list = others; (word = ab_word_next(&list, &n)) != NULL;)
		ab_strv_give(ret, ab_strndup(word, n));
}
