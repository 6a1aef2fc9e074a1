#ifndef AB_WORKSPACE_TREE_OBEYED_H
#define AB_WORKSPACE_TREE_OBEYED_H
/*
 * Which program outside the box runs or obeys a protected name, for messages: the difference
 * between ".envrc" and ".vimrc" is what a person must know before allowing one. Pure.
 */

/* A clause about an entry of filesystem.denyWrite, or about a file below one: "direnv runs it when
 * you enter the folder". Never NULL. */
const char *ab_obeyed_by(const char *name);

#endif
