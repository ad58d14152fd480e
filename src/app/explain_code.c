/* explain_code.c - which waves are worth disassembling, and where their code objects are. */
#include "config.h"

#include "app/explain_code.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "app/disassemble.h"
#include "base/text.h"

#define PLACES 3        /* each is a run of llvm-objdump */

struct place {
	struct span code, pc;
	uint64_t load_base, address;
};

static bool stopped_for_a_reason(const struct observation *o)
{
	return o->value[WAVE_reasons].type == VALUE_TEXT && o->value[WAVE_reasons].text.len > 2;
}

/* False when the wave does not say where its code is. */
static bool place_of(const struct observation *o, struct place *p)
{
	struct span loaded, pc;

	if (o->kind != KIND_wave || o->value[WAVE_pc].type != VALUE_TEXT || o->value[WAVE_code_object].type != VALUE_TEXT)
		return false;
	p->code = o->value[WAVE_code_object].text;
	p->pc = pc = o->value[WAVE_pc].text;
	loaded = span_after(p->code, "\"loaded\":\"");
	return span_take_hex(&loaded, &p->load_base) && span_take_hex(&pc, &p->address);
}

static void show(const struct place *p, const char *folder, struct buf *out)
{
	json_t *code = json_loadb(p->code.at, p->code.len, 0, NULL);
	const char *uri = json_string_value(json_object_get(code, "uri"));
	struct error error;

	if (uri && disassemble(folder, span_of(uri), p->load_base, p->address, NULL, out, &error) < 0) {
		buf_printf(out, "pc 0x%" PRIx64 " is not disassembled: %s\n", p->address, error.text);
		if (error.fix[0])
			buf_printf(out, "  %s\n", error.fix);
	}
	json_decref(code);
}

static bool known(const struct place *list, int n, const struct place *p)
{
	for (int i = 0; i < n; i++)
		if (span_same(list[i].code, p->code) && span_same(list[i].pc, p->pc))
			return true;
	return false;
}

void explain_code(const struct observation *const *list, size_t n, const char *folder, struct buf *out)
{
	struct place place[PLACES];
	int places = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n && places < PLACES; i++)
			if (place_of(list[i], &place[places]) && stopped_for_a_reason(list[i]) == (pass == 0) &&
				!known(place, places, &place[places]))
				places++;
	for (int i = 0; i < places; i++) {
		show(&place[i], folder, out);
		if (i + 1 < places)
			buf_char(out, '\n');
	}
	if (!places)
		buf_text(out, "no wave says where its code object is (\"code object:\" and \"loaded at:\" lines), so there is nothing to disassemble\n");
}
