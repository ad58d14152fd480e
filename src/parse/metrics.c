/* metrics.c - Prometheus text. */
#include "config.h"

#include "parse/metrics.h"

#include <math.h>

/* Swallow {label="text",...}; false when it does not end. */
static bool skip_labels(struct span *rest)
{
	bool quoted = false;

	for (size_t i = 1; i < rest->len; i++) {
		char c = rest->at[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (c == '}' && !quoted) {
			*rest = span_sub(*rest, i + 1, rest->len);
			return true;
		}
	}
	return false;
}

static bool sample_value(struct span rest, const char *name, double *value)
{
	struct span word;

	if (!span_skip(&rest, name) || rest.len == 0)
		return false;
	if (rest.at[0] == '{' && !skip_labels(&rest))
		return false;
	if (rest.len == 0 || (rest.at[0] != ' ' && rest.at[0] != '\t'))
		return false;
	return span_word(&rest, &word) && span_real(word, value) && isfinite(*value);
}

bool metrics_sum(struct span text, const char *name, double *sum)
{
	struct span line;
	double value, total = 0;
	bool any = false;

	while (span_line(&text, &line)) {
		if (!sample_value(line, name, &value))
			continue;
		total += value;
		any = true;
	}
	if (any)
		*sum = total;
	return any;
}
