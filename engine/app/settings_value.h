/// Settings values: how durations, sizes, shares, numbers and addresses are written.
///
/// Threads: any; plain functions.
/// Memory:  owns nothing.
#pragma once

#include "base/text.h"

/// What was wrong with a value: a sentence that follows "`VALUE` ", and a remedy, both constants. NULL: fine.
struct value_problem {
    const char *sentence;
    const char *help;
};

/// "250us", "1500ms", "1.5s", "2min", "24h", "7d" in µs. A fraction of a µs is refused.
MUST_CHECK bool value_duration(struct text text, uint64_t *duration_us, struct value_problem *problem);
/// "256KiB", "16MiB", "1GiB" in bytes.
MUST_CHECK bool value_size(struct text text, uint64_t *bytes, struct value_problem *problem);
/// "2.5%" in millionths: 25,000. At most 100 %.
MUST_CHECK bool value_share(struct text text, uint64_t *millionths, struct value_problem *problem);
/// "1.5" in millionths: 1,500,000. No sign.
MUST_CHECK bool value_decimal(struct text text, uint64_t *millionths, struct value_problem *problem);
/// Decimal digits, no sign.
MUST_CHECK bool value_integer(struct text text, uint64_t *value, struct value_problem *problem);
/// "true" or "false".
MUST_CHECK bool value_flag(struct text text, bool *flag, struct value_problem *problem);
/// "127.0.0.1:8080" or "[::1]:8080"; port 0 to 65535. Names are refused: what is listened on must not depend on a
/// look-up.
MUST_CHECK bool value_address(struct text text, struct value_problem *problem);
/// "ip" or "ip:port", "[ip6]:port", for name servers; port 1 to 65535.
MUST_CHECK bool value_name_server(struct text text, struct value_problem *problem);
/// Can nobody but this machine reach an address that value_address took?
bool value_is_loopback(struct text address);
/// An origin as browsers send it ("https://www.example.com", "http://localhost:3000"), or "*".
MUST_CHECK bool value_origin(struct text text, struct value_problem *problem);
/// The name of an environment variable.
MUST_CHECK bool value_variable(struct text text);
/// A name of suppliers, accounts and callers: a lower-case letter, then letters, digits and single underscores; at most
/// 63 bytes.
MUST_CHECK bool value_name(struct text text, struct value_problem *problem);
