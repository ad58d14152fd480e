/* http_library.c - from the name of a file to a table of functions. */
#include "config.h"

#include "source/http_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define ROW(name) { "curl_" #name, offsetof(struct http_library, name) },
	HTTP_LIBRARY_FUNCTIONS(ROW)
#undef ROW
};

static int load(struct http_library *out, struct error *error)
{
	/* GNU/Linux has one for each TLS library; Debian calls that of GnuTLS otherwise. */
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	uv_lib_t lib;
	int status = -1;

	for (size_t i = 0; i < sizeof names / sizeof *names && status != 0; i++)
		status = uv_dlopen(names[i], &lib);
	if (status != 0) {
		error_set(error, "libcurl.so.4 cannot be loaded: the server is not asked over HTTP");
		return error_fix(error, "install libcurl (Debian: apt-get install libcurl4)");
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (uv_dlsym(&lib, functions[i].name, (void **)((char *)out + functions[i].at)) != 0) {
			error_set(error, "this libcurl has no %s: it is older than 7.76", functions[i].name);
			return error_fix(error, "install a newer libcurl");
		}
	if (out->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return error_set(error, "libcurl cannot be initialised");
	return 0;
}

const struct http_library *http_library(struct error *error)
{
	static struct http_library library;
	static bool loaded;

	if (!loaded && load(&library, error) < 0)
		return NULL;
	loaded = true;
	return &library;
}

const char *http_library_version(void)
{
	const struct http_library *library = http_library(NULL);

	return library ? library->version_info(CURLVERSION_NOW)->version : "missing";
}
