/* http_library.h - libcurl, loaded when it is first needed.
 *
 * Of all processes of hangtop one asks over HTTP, and libcurl brings thirty libraries with it: loaded by all of them it was half of the
 * time to start and a third of the memory. Compiled against its headers, so types are checked. Who: server_http.c, --version, doctor.
 */
#ifndef HANGTOP_SOURCE_HTTP_LIBRARY_H
#define HANGTOP_SOURCE_HTTP_LIBRARY_H

#include <curl/curl.h>

#include "base/error.h"

#define HTTP_LIBRARY_FUNCTIONS(F) \
	F(easy_cleanup) F(easy_getinfo) F(easy_init) F(easy_setopt) F(easy_strerror) F(free) F(global_init) F(multi_add_handle) \
	F(multi_assign) F(multi_cleanup) F(multi_info_read) F(multi_init) F(multi_remove_handle) F(multi_setopt) F(multi_socket_action) \
	F(slist_append) F(slist_free_all) F(url) F(url_cleanup) F(url_get) F(url_set) F(version_info)

struct http_library {
#define HTTP_LIBRARY_MEMBER(name) __typeof__(curl_##name) *name;
	HTTP_LIBRARY_FUNCTIONS(HTTP_LIBRARY_MEMBER)
#undef HTTP_LIBRARY_MEMBER
};

/* Initialised, the same each time; stays loaded. NULL and the error when it is not installed. */
const struct http_library *http_library(struct error *error);
/* Its version, or "missing". */
const char *http_library_version(void);

#endif
