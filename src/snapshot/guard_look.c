/* guard_look.c - the facts, from /proc and /sys. */
#include "config.h"

#include "snapshot/guard.h"
