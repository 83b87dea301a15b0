/// Config print: settings and who said them, as YAML that can be loaded again, or as JSON.
///
/// Threads: any; plain functions.
/// Memory:  writes into the caller's buffer.
#pragma once

#include "app/settings_shown.h"
#include "base/json_write.h"

/// With `has_origin` a comment behind each setting names the winner and what it won over.
void config_print_yaml(const struct settings_shown *shown, bool has_origin, struct buffer *out);

/// Nested like the YAML; with `has_origin` a list of settings, each with its key, value and origins.
void config_print_json(const struct settings_shown *shown, bool has_origin, struct json_writer *json);
