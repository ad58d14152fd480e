/* map.c - open addressing over an ordered list of entries. */
#include "config.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

uint64_t map_hash(const void *at, size_t len)
{
	const unsigned char *byte = at;
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ byte[i]) * 1099511628211u;
	return hash;
}

void map_init(struct map *map, void (*free_value)(void *))
{
	memset(map, 0, sizeof *map);
	map->free_value = free_value;
}

void map_clear(struct map *map)
{
	for (size_t i = 0; i < map->count; i++) {
		free(map->entry[i].key);
		if (map->free_value)
			map->free_value(map->entry[i].value);
	}
	map->count = 0;
	if (map->slots)
		memset(map->slot, 0, map->slots * sizeof *map->slot);
}

void map_release(struct map *map)
{
	map_clear(map);
	free(map->entry);
	free(map->slot);
	map_init(map, map->free_value);
}

/* The slot of a key, or the empty one where it belongs. */
static size_t find_slot(const struct map *map, const char *key, uint64_t hash)
{
	size_t i = hash & (map->slots - 1);

	while (map->slot[i]) {
		const struct map_entry *entry = &map->entry[map->slot[i] - 1];

		if (entry->hash == hash && strcmp(entry->key, key) == 0)
			break;
		i = (i + 1) & (map->slots - 1);
	}
	return i;
}

static void rebuild(struct map *map, size_t slots)
{
	if (slots != map->slots) {
		free(map->slot);
		map->slot = mem_array(NULL, slots, sizeof *map->slot);
		map->slots = slots;
	}
	memset(map->slot, 0, slots * sizeof *map->slot);
	for (size_t i = 0; i < map->count; i++)
		map->slot[find_slot(map, map->entry[i].key, map->entry[i].hash)] = (uint32_t)i + 1;
}

void *map_get(const struct map *map, const char *key)
{
	size_t at;

	if (!map->count)
		return NULL;
	at = find_slot(map, key, map_hash(key, strlen(key)));
	return map->slot[at] ? map->entry[map->slot[at] - 1].value : NULL;
}

void map_set(struct map *map, const char *key, void *value)
{
	uint64_t hash = map_hash(key, strlen(key));
	struct map_entry *entry;
	size_t at;

	if ((map->count + 1) * 2 > map->slots)
		rebuild(map, map->slots ? map->slots * 2 : 16);
	at = find_slot(map, key, hash);
	if (map->slot[at]) {
		entry = &map->entry[map->slot[at] - 1];
		if (map->free_value && entry->value != value)
			map->free_value(entry->value);
		entry->value = value;
		return;
	}
	if (map->count == map->cap) {
		map->cap = map->cap ? map->cap * 2 : 8;
		map->entry = mem_array(map->entry, map->cap, sizeof *map->entry);
	}
	entry = &map->entry[map->count++];
	entry->key = mem_text(key);
	entry->value = value;
	entry->hash = hash;
	map->slot[at] = (uint32_t)map->count;
}

bool map_remove(struct map *map, const char *key)
{
	size_t at, index;

	if (!map->count)
		return false;
	at = find_slot(map, key, map_hash(key, strlen(key)));
	if (!map->slot[at])
		return false;
	index = map->slot[at] - 1;
	free(map->entry[index].key);
	if (map->free_value)
		map->free_value(map->entry[index].value);
	map->count--;
	memmove(&map->entry[index], &map->entry[index + 1], (map->count - index) * sizeof *map->entry);
	rebuild(map, map->slots);
	return true;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct map_entry *)a)->key, ((const struct map_entry *)b)->key);
}

void map_sort(struct map *map)
{
	if (map->count < 2)
		return;
	qsort(map->entry, map->count, sizeof *map->entry, compare_keys);
	rebuild(map, map->slots);
}
