/* doctor.h - `hangtop doctor`: tools, permissions and limits, each with the command that mends it. Who: main.c.
 *
 * One line a check: "ok" or "missing", what was found, and the remedy. Exit status 0 when py-spy works and the state folder
 * can be written, 69 when not: those two hangtop itself needs. --json prints an array instead.
 */
#ifndef HANGTOP_APP_DOCTOR_H
#define HANGTOP_APP_DOCTOR_H

int cmd_doctor(int argc, char **argv);

#endif
