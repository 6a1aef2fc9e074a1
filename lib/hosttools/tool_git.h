#pragma once
/*
 * git, alone or started by another tool, obeys files of the workspace. Those of its settings that run
 * programs are overridden by variables. So are the pager, the editor and the browser of every tool.
 */
#include "base/base.h"

/* Adds them, as "K=V". */
void ab_tool_fixed_variables(struct ab_strv *ret);
