/* map.h - from a text key to a pointer, in order of insertion.
 *
 * Keys are copied. Values are the caller's; `free_value` (may be NULL) is run on removal, clear and release.
 * Walking `entry[0..count)` is in insertion order; an index stays valid until a removal.
 */
#ifndef HANGTOP_BASE_MAP_H
#define HANGTOP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	char *key;
	void *value;
	uint64_t hash;
};

struct map {
	struct map_entry *entry;
	size_t count, cap;
	uint32_t *slot;         /* open addressing; 0 empty, else entry index + 1 */
	size_t slots;
	void (*free_value)(void *);
};

void map_init(struct map *map, void (*free_value)(void *));
void map_release(struct map *map);
void map_clear(struct map *map);
void *map_get(const struct map *map, const char *key);
void map_set(struct map *map, const char *key, void *value);   /* replaces (and frees) an old value */
bool map_remove(struct map *map, const char *key);             /* keeps the order of the others */
void map_sort(struct map *map);                                /* from now on walk in order of the keys, until something is added */
uint64_t map_hash(const void *at, size_t len);                 /* FNV-1a 64; also used for content hashes of small texts */

#endif
