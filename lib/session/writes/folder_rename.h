#ifndef AB_SESSION_WRITES_FOLDER_RENAME_H
#define AB_SESSION_WRITES_FOLDER_RENAME_H
/*
 * Overlay cannot rename a folder of its lower folder. So for a rename of a folder inside a layer the
 * broker is asked (session/moves/moves.h), and the caller waits for its answer.
 *
 * What is read here decides only whether to ask, and about which two folders: the broker makes sure
 * that they are in a layer, and works without following links. A process that has restricted itself
 * further is left to the kernel: the broker would not be held by its restrictions.
 */
#include <stdbool.h>

struct ab_folder_renames;
struct ab_git_name;
struct ab_held;
struct ab_judge;
struct ab_move_answer;

/* NULL: the box has no layer, or there is no broker to ask. Call before the judge's filter. */
struct ab_folder_renames *ab_folder_renames_open(struct ab_judge *judge);

/* True: the broker was asked, and the call is answered later. `place`: where the old name is
 * according to its text, or NULL. */
bool ab_folder_renames_ask(struct ab_folder_renames *renames, struct ab_judge *judge,
			   const struct ab_held *call, const struct ab_git_name *from,
			   const char *place, const struct ab_git_name *to);

/* Is an answer of the broker due? */
bool ab_folder_renames_wait(const struct ab_folder_renames *renames);
/* A packet of the broker. */
void ab_folder_renames_answer(struct ab_folder_renames *renames, struct ab_judge *judge,
			      const struct ab_move_answer *answer);
/* The broker is gone. */
void ab_folder_renames_give_up(struct ab_folder_renames *renames, struct ab_judge *judge);

#endif
