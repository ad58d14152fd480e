/* test_ui_waves.c - folding of waves, short names, words; and the panel on thousands of waves and on garbage. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ui_scene.h"
#include "ui/event_list.h"
#include "ui/keys.h"
#include "ui/waves_fold.h"

#define LONG_KERNEL                                                                                                    \
	"void at::native::index_elementwise_kernel<128, 4, at::native::index_copy_kernel_impl<at::native::OpaqueType<4> >" \
	"(at::TensorIterator&, long)::{lambda(int)#1}>(long, at::native::x)"

static void names_keep_what_tells(void **state)
{
	static const struct {
		const char *name;
		int columns;
		const char *want;
	} table[] = {
		{ "", 20, "" },
		{ "copy_kv", 7, "copy_kv" },
		{ "copy_kv", 6, "cop~kv" },
		{ "void f<int>(int*)", 40, "void f<int>(int*)" },
		{ "void aiter::allgather_vec<__hip_bfloat16, 8>(aiter::RankData*, int)", 44, "aiter::allgather_vec<__hip_bfloat16, 8>" },
		{ "void aiter::allgather_vec<__hip_bfloat16, 8>(aiter::RankData*, int)", 36, "allgather_vec<__hip_bfloat16, 8>" },
		{ LONG_KERNEL, 110, "at::native::index_elementwise_kernel<128, 4, at::native::index_copy_kernel_impl<at::native::OpaqueType<4>>>" },
		{ LONG_KERNEL, 80, "index_elementwise_kernel<128, 4, index_copy_kernel_impl<OpaqueType<4>>>" },
		{ LONG_KERNEL, 41, "index_elementwise_ke~impl<OpaqueType<4>>>" },
		{ "void (anonymous namespace)::softmax<(bool)1>(float*)", 14, "softmax<1>" },
		{ "_ZN2at6native24index_elementwise_kernelILi128ELi4E", 21, "_ZN2at6nat~Li128ELi4E" },
		{ "(((((", 3, "(~(" },
		{ "{lambda(int)#1}", 30, "{lambda(int)#1}" },
		{ "\xff\xfe", 30, "<ff><fe>" },
		{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, "\xe6\x97\xa5~\xe8\xaa\x9e" },
		{ "abc", 1, "~" },
		{ "abc", 0, "~" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		size_t n = strlen(table[i].name);
		char *exact = malloc(n ? n : 1);
		struct buf out;

		memcpy(exact, table[i].name, n);
		buf_init(&out, 0);
		waves_kernel(&out, span_make(exact, n), table[i].columns, "~");
		assert_string_equal(buf_string(&out), table[i].want);
		buf_release(&out);
		free(exact);
	}
}

/* Whatever the width, a name fits into it. */
static void names_fit(void **state)
{
	(void)state;
	for (int columns = 1; columns < 200; columns++) {
		struct buf out;

		buf_init(&out, 0);
		waves_kernel(&out, span_of(LONG_KERNEL), columns, "~");
		assert_true(out.len <= (size_t)columns);
		buf_release(&out);
	}
}

static void equal_waves_fold(void **state)
{
	static struct waves_fold fold;
	char ranks[64];
	struct scene s;

	(void)state;
	scene_fault(&s);
	waves_fold(&fold, &s.model);
	assert_int_equal(fold.groups, 3);
	assert_int_equal(fold.waves, 43);
	assert_false(fold.full);
	/* Stopped ones first, then the many; the wave shown is the one with registers. */
	assert_int_equal(fold.group[fold.order[0]].waves, 30);
	assert_int_equal(fold.group[fold.order[1]].waves, 12);
	assert_false(observation_is_null(fold.group[fold.order[1]].wave, WAVE_registers));
	assert_false(fold.group[fold.order[2]].stopped);
	assert_string_equal(waves_ranks(&fold, &s.model, fold.order[0], ranks, sizeof ranks), "TP3");
	assert_string_equal(waves_ranks(&fold, &s.model, fold.order[1], ranks, sizeof ranks), "TP[0-3]");
	assert_string_equal(waves_ranks(&fold, &s.model, fold.order[2], ranks, sizeof ranks), "");
	scene_release(&s);
}

/* Same kernel and pc, another reason: two groups with two keys. */
static void other_reasons_are_other_rows(void **state)
{
	static struct waves_fold fold;
	struct scene s;

	(void)state;
	scene_init(&s);
	scene_wave(&s, 1, "['ASSERT_TRAP']", "0x1", "k", 0, "null", "");
	scene_wave(&s, 2, "['MEMORY_VIOLATION']", "0x1", "k", 0, "null", "");
	scene_wave(&s, 3, "['MEMORY_VIOLATION']", "0x2", "k", 0, "null", "");
	scene_wave(&s, 4, "['MEMORY_VIOLATION']", "0x2", "k", 10, "null", ",'count':-4");
	waves_fold(&fold, &s.model);
	assert_int_equal(fold.groups, 3);
	assert_int_equal(fold.waves, 4);
	assert_true(fold.group[0].key != fold.group[1].key && fold.group[1].key != fold.group[2].key);
	scene_release(&s);
}

static void kernels_are_said_in_words(void **state)
{
	static const char rows[] = "index_copy_kernel_impl\tindex\tTensor.index_copy_\n";
	struct ui_options options = { 0 };
	struct kernel_set kernels = { 0 };
	struct ui *ui = ui_new(&options);
	struct request request;
	struct canvas c;
	struct error error;
	struct scene s;
	struct buf text;

	(void)state;
	scene_init(&s);
	scene_wave(&s, 1, "['ASSERT_TRAP']", "0x1", "void index_copy_kernel_impl<4>()", 0, "null", "");
	assert_int_equal(kernels_load(&kernels, span_of(rows), "rows", &error), 0);
	s.view.kernels = &kernels;
	canvas_init(&c);
	canvas_resize(&c, 80, 24);
	ui_key(ui, 'w', &s.view, &request);
	ui_draw(ui, &c, &s.view);
	buf_init(&text, 0);
	canvas_dump(&c, &text);
	assert_non_null(strstr(buf_string(&text), "= Tensor.index_copy_"));
	buf_release(&text);
	canvas_release(&c);
	ui_free(ui);
	kernels_release(&kernels);
	scene_release(&s);
}

/* Draw the panel with every row opened. */
static void draw_all(struct scene *s)
{
	struct ui_options options = { 0 };
	struct ui *ui = ui_new(&options);
	struct request request;
	struct canvas c;

	canvas_init(&c);
	canvas_resize(&c, 80, 24);
	ui_key(ui, 'w', &s->view, &request);
	ui_draw(ui, &c, &s->view);
	for (int i = 0; i < 40; i++) {
		ui_key(ui, UI_KEY_ENTER, &s->view, &request);
		ui_draw(ui, &c, &s->view);
		ui_key(ui, i % 3 ? 'j' : UI_KEY_PAGE_DOWN, &s->view, &request);
	}
	canvas_release(&c);
	ui_free(ui);
}

static void thousands_of_waves(void **state)
{
	static struct waves_fold fold;
	struct scene s;

	(void)state;
	scene_init(&s);
	for (int i = 0; i < 5000; i++) {
		char pc[32], count[40];

		snprintf(pc, sizeof pc, "0x%x", i % 700);
		snprintf(count, sizeof count, ",'count':%lld", i % 2 ? 9223372036854775807LL : 1);
		scene_wave(&s, i, "['TRAP']", pc, SCENE_KERNEL, i, "{}", count);
		FEED(&s.model, "{'t':%lld,'node':'n1','kind':'page_fault','address':'0x%x'}", AT(i), i);
		FEED(&s.model, "{'t':%lld,'node':'n1','kind':'gdb_queue','target':'1:%d','read':-9223372036854775807,'write':2}", AT(5), i);
	}
	waves_fold(&fold, &s.model);
	assert_int_equal(fold.groups, MODEL_EVENTS_MAX);
	assert_true(fold.full && fold.waves > 0);
	draw_all(&s);
	scene_release(&s);
}

static void garbage_draws(void **state)
{
	static const char *const json[] = { "null", "[]", "{}", "[[],{},null,1]", "[null]", "{'uri':5}", "{'uri':''}", "{'uri':'file://'}",
		"{'uri':'file:///a','offset':9223372036854775807,'size':-1}", "{'uri':'file:///a%','offset':-1,'size':1}", "'text'", "'['",
		"'{\\\\u0022uri'", "12", "true" };
	struct scene s;

	(void)state;
	for (size_t i = 0; i < sizeof json / sizeof *json; i++) {
		scene_init(&s);
		FEED(&s.model,
			"{'t':%lld,'node':'n1','kind':'wave','reasons':%s,'code_object':%s,'arrow':%s,'kernel':'','pc':'','registers':"
			"'\\n\\n','disassembly':''}",
			AT(5), json[i], json[i], json[i]);
		FEED(&s.model, "{'t':%lld,'node':'n1','kind':'disassembly','code_object':%s,'arrow':%s}", AT(5), json[i], json[i]);
		for (enum kind k = KIND_wave; k <= KIND_driver_event; k++)
			FEED(&s.model, "{'t':%lld,'node':'n1','kind':'%s'}", AT(5), kind_table[k].name);
		draw_all(&s);
		scene_release(&s);
	}
}

/* A line of the log and what was read of it are one event. */
static void faults_are_told_once(void **state)
{
	static const enum kind want[] = { KIND_fault, KIND_page_fault, KIND_hw_exception, KIND_queue_error, KIND_driver_event,
		KIND_worker_death, KIND_collective, KIND_watchdog };
	static struct event_list list;
	struct scene s;

	(void)state;
	scene_fault(&s);
	event_list_build(&list, &s.model);
	assert_int_equal(list.count, sizeof want / sizeof *want);
	for (int i = 0; i < list.count; i++)
		assert_int_equal(list.event[i]->kind, want[i]);
	scene_log(&s, 5, "fatal", "", "another line");
	event_list_build(&list, &s.model);
	assert_int_equal(list.count, sizeof want / sizeof *want + 1);
	scene_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_keep_what_tells),
		cmocka_unit_test(names_fit),
		cmocka_unit_test(equal_waves_fold),
		cmocka_unit_test(other_reasons_are_other_rows),
		cmocka_unit_test(kernels_are_said_in_words),
		cmocka_unit_test(thousands_of_waves),
		cmocka_unit_test(garbage_draws),
		cmocka_unit_test(faults_are_told_once),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
