/* evidence_hash.h - SHA-256 (FIPS 180-4), for the hashes in an evidence bundle's manifest. None of the libraries we link has one.
 *
 * Who: evidence_bundle.c. `hex` is 64 digits and a NUL.
 */
#ifndef HANGTOP_APP_EVIDENCE_HASH_H
#define HANGTOP_APP_EVIDENCE_HASH_H

#include <stddef.h>

void evidence_hash(const void *bytes, size_t n, char hex[65]);

#endif
