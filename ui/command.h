/* command.h - what can be typed after ':'. One table, used to run, to complete and to say what there is. */
#ifndef HANGTOP_UI_COMMAND_H
#define HANGTOP_UI_COMMAND_H

#include "ui/keys.h"
#include "ui/view.h"

enum command_result { COMMAND_EMPTY, COMMAND_PANEL, COMMAND_REQUEST, COMMAND_UNKNOWN };

struct command {
	enum panel_id panel;
	struct request request;
	char error[200];
};

enum command_result command_parse(struct span line, struct command *out);
/* Complete the command's name as far as it is clear. */
void command_complete(char *line, size_t size);

#endif
