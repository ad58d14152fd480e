/* signature_private.h - a condition of a signature, between its reader (signature.c) and the matching (signature_match.c). */
#ifndef HANGTOP_MODEL_SIGNATURE_PRIVATE_H
#define HANGTOP_MODEL_SIGNATURE_PRIVATE_H

#include "model/signature.h"

enum signature_op { OP_IS, OP_IS_NOT, OP_HAS, OP_HAS_NOT, OP_LESS, OP_MORE, OP_AT_MOST, OP_AT_LEAST, OP_NULL, OP_KNOWN };

struct signature_term {
	int field;
	enum signature_op op;
	struct signature_list value;    /* alternatives */
};

enum signature_count { COUNT_LEAST, COUNT_ALL, COUNT_DISTINCT, COUNT_SAME };

struct signature_condition {
	enum kind kind;
	enum signature_count count;
	uint64_t least;
	int field;                      /* of COUNT_DISTINCT and COUNT_SAME */
	int parts;                      /* of the field that count; 0 for the whole */
	struct signature_term *term;
	int terms;
};

#endif
