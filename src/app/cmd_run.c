/* cmd_run.c - `hangtop [run]` and `hangtop record`. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "app/screen.h"
#include "ui/keys.h"

#define ONCE_SETTLE_MS 4000
#define ONCE_TIMEOUT_MS 45000

static int list_keys(void)
{
	char keys[120];

	for (int i = 0; i < binding_count; i++)
		if (i == 0 || strcmp(binding_table[i].name, binding_table[i - 1].name) != 0)
			printf("%s = %s\n", binding_table[i].name, keys_names(keys, sizeof keys, &binding_table[i]));
	return 0;
}

int cmd_run(const struct app_options *options)
{
	struct session_options session = { 0 };

	if (options->list_keys)
		return list_keys();
	session.tell = options->plain && !options->once;
	session.once = !session.tell && (options->once || !screen_possible());
	session.screen = !session.once && !session.tell;
	session.settle_ms = ONCE_SETTLE_MS;
	if (session.once)
		session.timeout_ms = options->timeout_s > 0 ? (int64_t)(options->timeout_s * 1000) : ONCE_TIMEOUT_MS;
	return session_run(options, &session);
}

int cmd_record(const struct app_options *options)
{
	struct session_options session = { 0 };

	/* Standard output is for one thing: JSON lines when they were asked for there. */
	session.tell = !options->quiet && !(options->jsonl && strcmp(options->jsonl, "-") == 0);
	session.timeout_ms = (int64_t)(options->duration_s * 1000);
	return session_run(options, &session);
}
