/* health.c - the observation by which a source says how it is. */
#include "config.h"

#include "base/clock.h"
#include "source/source.h"

void source_health(struct source_env *env, const char *source, const char *state, const char *detail, const char *remedy,
	double latency_ms)
{
	struct observation o;

	observation_init(&o, KIND_source, env->node, clock_wall_ms());
	observation_text(&o, SOURCE_source, source);
	observation_text(&o, SOURCE_state, state);
	observation_text(&o, SOURCE_detail, detail);
	observation_text(&o, SOURCE_remedy, remedy);
	if (latency_ms >= 0)
		observation_real(&o, SOURCE_latency_ms, latency_ms);
	env->emit(env->context, &o);
}
