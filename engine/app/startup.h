/// Startup: what would keep the engine from starting, beside the settings and scripts themselves.
///
/// These are the very checks that it makes when it starts, asked beforehand: tokens that are not set, an admin listener
/// that anybody could reach, certificates of authorities that cannot be read, a folder that takes no file. No socket is
/// opened, nothing is written.
///
/// Threads: any.
/// Memory:  owns nothing.
#pragma once

#include "app/settings.h"

/// Reports each as a finding.
void startup_check(const struct settings *settings, settings_finding report, void *context);
