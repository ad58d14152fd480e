#include "config.h"

#include "ui/spark.h"

#include <math.h>
#include <string.h>

static const char *bar(double value, double top)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	int level;

	if (isnan(value))
		return " ";
	level = top > 0 ? (int)lround(value / top * 7) : 0;
	return bars[level < 0 ? 0 : level > 7 ? 7 : level];
}

const char *spark_text(char *out, size_t size, const float *points, int n, int columns, double top)
{
	size_t len = 0;

	out[0] = 0;
	if (columns > n)
		columns = n;
	for (int c = 0; c < columns; c++) {
		double value = NAN;
		const char *text;

		for (int i = c * n / columns; i < (c + 1) * n / columns; i++)
			if (!isnan(points[i]) && !(points[i] <= value))
				value = points[i];
		text = bar(value, top);
		if (len + strlen(text) + 1 > size)
			break;
		memcpy(out + len, text, strlen(text) + 1);
		len += strlen(text);
	}
	return out;
}
