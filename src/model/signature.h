/* signature.h - what evidence means, as data: data/signatures/ID.conf, then the user's files.
 *
 * Who: explain and the verdict. A signature says which observations must be there, what they mean together, what they do not
 * mean, and what to do. Grammar (an INI, as of the engine profiles): comment lines start with '#' or ';' in column 1; `key = value`,
 * the value is the raw text to the end of the line, trimmed; no quoting, no continuation. Lines are at most 64 KiB.
 *
 * [signature]
 *   id = device-assert              small letters, digits and '-'; a file with the same id replaces the one loaded before
 *   title = A device-side assert failed
 *   means = TEXT                    (list) what it means, one paragraph each
 *   advice = TEXT                   (list) an exact command or experiment, most telling first
 *   not = TEXT                      (list) what it is not, or what can look the same
 *   kernel = culprit|victim|waiting what the kernel named is, when one is: its own code or input is wrong; it was hit by
 *                                   something else; it waits for something else. Left out: not known
 *   grade = A                       A two layers say it or it is said outright, B one deep layer, C one deep sample, D a hint
 *   see = ID                        (list) other signatures, or words
 *   needs = CONDITION               (list) all must hold; at least one `needs` or `any`
 *   any = CONDITION                 (list) at least one must hold
 *   unless = CONDITION              (list) none may hold
 *
 * CONDITION is   KIND[ COUNT][: FIELD OP VALUE & FIELD OP VALUE ...]   with the kinds and fields of kinds.def.
 *   COUNT  (none)                   at least one observation of that kind holds
 *          3                        at least so many; a wave that stands for many (its field count) counts as many
 *          all                      one holds, and every other of that kind too, but for those in which a field compared is null
 *          distinct FIELD           they have at least 2 different values in FIELD; `3 distinct FIELD` at least 3
 *          same FIELD               at least 2 share one value of FIELD; `3 same FIELD` at least 3
 *          FIELD/N                  only the first N parts between ':' of FIELD: target/2 of 1:9:4:1 is the queue 1:9
 *   OP     = !=                     number or text
 *          ~ !~                     contains, does not contain; small and capital letters are the same; '*' stands for anything
 *          < > <= >=                numbers, and text that is a number or a 0x address
 *          null known               no VALUE
 *   VALUE  a | b                    either; the bar and the ampersand count only with blanks on both sides
 * A field that is null fulfils `null` and nothing else: unknown is not "different". JSON fields are compared as their text, so
 * `reasons ~ "TRAP"` is the reason TRAP and not ASSERT_TRAP.
 *
 * Errors are "file:line: unknown field 'reason' of wave", with the nearest name as the fix. Pure: the app reads the files.
 */
#ifndef HANGTOP_MODEL_SIGNATURE_H
#define HANGTOP_MODEL_SIGNATURE_H

#include <stddef.h>

#include "base/error.h"
#include "base/span.h"
#include "model/observation.h"

#define SIGNATURE_EVIDENCE_MAX 16

struct signature_condition;             /* signature_private.h */

struct signature_list { char **item; int count; };
struct signature_conditions { struct signature_condition *item; int count; };

struct signature {
	char *id, *title, *grade, *kernel;  /* kernel may be NULL */
	struct signature_list means, advice, not_, see;
	struct signature_conditions needs, any, unless;
};

struct signature_set { struct signature **signature; int count; };

struct signature *signature_parse(struct span text, const char *file, struct error *error); /* NULL on error */
void signature_free(struct signature *signature);
void signature_set_add(struct signature_set *set, struct signature *signature); /* replaces one of the same id */
const struct signature *signature_find(const struct signature_set *set, const char *id);
void signature_set_release(struct signature_set *set);

struct signature_hit {
	const struct signature *signature;
	const struct observation *evidence[SIGNATURE_EVIDENCE_MAX]; /* some of each condition that held, in order of the list */
	size_t count;           /* of evidence */
	size_t held;            /* observations that held, also those that evidence has no room for */
};

/* The signatures that hold in a list of observations, best grade first, at most max. Returns how many were written. */
size_t signatures_match(const struct signature_set *set, const struct observation *const *list, size_t n,
	struct signature_hit *out, size_t max);

/* What `log: text ~ ...` conditions look for: lines without any of these words need not become observations for the signatures'
 * sake. The words point into the set; small and capital letters are the same. Free `word`. */
struct signature_words { struct span *word; size_t count; };
void signatures_log_words(const struct signature_set *set, struct signature_words *words);
bool signatures_log_line(const struct signature_words *words, struct span line); /* it has one of the words */

#endif
