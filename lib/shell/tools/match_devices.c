#include "shell/tools/tool.h"

void ab_match_devices(const struct ab_simple *command, struct ab_hits *hits)
{
	if (ab_text_starts(command->name, "mkfs."))
		ab_toolbox_match_as(&ab_tools_devices, ab_name_find((struct ab_text){ "mkfs", 4 }),
				    command, hits);
	else
		ab_toolbox_match(&ab_tools_devices, command, hits);
}
