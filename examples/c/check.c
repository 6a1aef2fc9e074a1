/* What would the policy say, and how would the program run it itself? */
#include <agentbox.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static const char *const names[] = { "allow", "sandboxed", "escalated", "forbidden" };
	const char *command = argc > 1 ? argv[1] : "git push --force";
	enum ab_verdict verdict;
	struct ab_manager *manager;
	struct ab_fault fault;
	char **words;
	bool available;

	if (ab_manager_new(NULL, &manager, &fault) < 0 ||
	    ab_manager_available(manager, &available, NULL, &fault) < 0 ||
	    ab_manager_check(manager, NULL, command, NULL, &verdict, NULL, &fault) < 0 ||
	    ab_manager_wrap(manager, NULL, command, NULL, &words, &fault) < 0)
		return fprintf(stderr, "%s\n", fault.text), 1;
	printf("boxes: %s\n%s: %s\n", available ? "yes" : "no", command, names[verdict]);
	for (size_t i = 1; words[i]; i++)
		printf("%s\n", words[i]);
	ab_strings_free(words);
	ab_manager_free(manager);
	return 0;
}
