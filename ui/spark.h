/* spark.h - a row of small bars. NaN is a blank; canvas.c turns the blocks into ASCII when it must. */
#ifndef HANGTOP_UI_SPARK_H
#define HANGTOP_UI_SPARK_H

#include <stddef.h>

/* `n` points become at most `columns` bars (the maximum of each bucket; newest at the right), scaled to `top`.
 * Returns out (4 bytes a column are enough). */
const char *spark_text(char *out, size_t size, const float *points, int n, int columns, double top);

#endif
