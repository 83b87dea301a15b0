/// Name server: a tiny DNS server over UDP inside a test program.
///
/// Unknown names do not exist. A name's row can be changed while it runs.
///
/// Threads: one of its own; the functions from the test's.
/// Memory:  name_server_stop frees everything.
#pragma once

#include <stdint.h>

struct name_server;

enum name_server_mood { ANSWERS, SAYS_NO_NAME, FAILS, REFUSES, IS_SILENT, IS_SILENT_ABOUT_IPV6 };

struct name_server *name_server_start(void); // on 127.0.0.1
void name_server_stop(struct name_server **server);
uint16_t name_server_port(const struct name_server *server);

/// `addresses`: IPv4 and IPv6, separated by commas; may be empty.
void name_server_set(struct name_server *server, const char *name, enum name_server_mood mood, const char *addresses,
                     uint32_t ttl_s);
unsigned name_server_questions(struct name_server *server, const char *name); // asked so far, of both families
