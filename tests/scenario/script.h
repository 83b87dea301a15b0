/// Script: plays written in Lua, read, played and compared with what they expect.
///
/// The words and the comparisons are Lua (words.lua); here are the two ways between a Lua table and a play.
///
/// Threads: one.
/// Memory:  owns its Lua state.
#pragma once

#include <stddef.h>

struct script;

/// Loads tests/scenario/words.lua, below the working directory; NULL (having said why) when it cannot.
struct script *script_create(void);
void script_destroy(struct script **script);

/// Plays every scenario of a file and prints a line for each. Returns how many were not ok.
size_t script_play_file(struct script *script, const char *path);

/// Plays the files of a folder that must fail, each as its first line says. Returns how many were not ok.
size_t script_check_errors(struct script *script, const char *folder);
