--- The layer table as data: who may see whom, and where a foreign header may stand.
--
-- engine.md draws it; lint.lua compares it with every #include and with the links in CMakeLists.txt.

local M = {}

--- Folder of engine/ -> the folders whose headers it may include. Its own is always allowed.
M.sees = {
  base = {},
  model = { "base" },
  policy = { "model", "base" },
  io = { "model", "base" },
  script = { "model", "base" },
  telemetry = { "model", "base" },
  token = { "model", "base" },
  store = { "model", "base" },
  search = { "policy", "model", "base" },
  app = { "search", "policy", "io", "script", "store", "telemetry", "token", "model", "base" },
  cli = { "app", "search", "policy", "io", "script", "store", "telemetry", "token", "model", "base" },
}

--- Sources outside of the folders of engine/, by the longest prefix of their path -> the folders they may include.
--- "*": all of them.
M.sees_outside = {
  ["engine/main.c"] = { "cli", "base" },
  ["examples/farm/"] = { "base" },
  ["tests/"] = "*",
}

--- Foreign headers, by a pattern of the name between < and >.
---   in_folders  folders that may include it
---   everywhere  in these of them, any .c may; in the others one .c only
---   headers     folders of which even headers may include it
---   package     its name in CMakeLists.txt
M.foreign = {
  { pattern = "^uv%.h$", in_folders = { "io", "app" }, everywhere = { "io", "app" }, package = "UV" },
  { pattern = "^curl/", in_folders = { "io" }, package = "CURL" },
  { pattern = "^ares", in_folders = { "io" }, package = "CARES" },
  { pattern = "^microhttpd%.h$", in_folders = { "io" }, package = "MICROHTTPD" },
  { pattern = "^lua", in_folders = { "script" }, everywhere = { "script" }, headers = { "script" }, package = "LUAJIT" },
  { pattern = "^lauxlib%.h$", in_folders = { "script" }, everywhere = { "script" }, headers = { "script" }, package = "LUAJIT" },
  { pattern = "^expat%.h$", in_folders = { "script" }, package = "EXPAT" },
  { pattern = "^zlib%.h$", in_folders = { "script", "store", "examples/farm/" }, package = "ZLIB" },
  { pattern = "^openssl/", in_folders = { "script", "io", "token", "store", "examples/farm/" }, package = "CRYPTO" },
  { pattern = "^yaml%.h$", in_folders = { "app" }, package = "YAML" },
  { pattern = "^lmdb%.h$", in_folders = { "store" }, package = "LMDB" },
  { pattern = "^hiredis/", in_folders = { "store" }, package = "HIREDIS" },
  -- Of the compiler's sanitizers; there only in their builds.
  { pattern = "^sanitizer/", in_folders = { "script" } },
}

--- Headers of the C library, POSIX and Linux: allowed everywhere.
M.system = {
  "^assert%.h$", "^ctype%.h$", "^dirent%.h$", "^errno%.h$", "^fcntl%.h$", "^float%.h$", "^getopt%.h$", "^glob%.h$",
  "^inttypes%.h$", "^langinfo%.h$", "^limits%.h$", "^locale%.h$", "^malloc%.h$", "^math%.h$", "^netdb%.h$", "^poll%.h$",
  "^pthread%.h$", "^pwd%.h$", "^sched%.h$", "^semaphore%.h$", "^setjmp%.h$", "^signal%.h$", "^stdalign%.h$", "^stdarg%.h$",
  "^stdatomic%.h$", "^stdbool%.h$", "^stddef%.h$", "^stdint%.h$", "^stdio%.h$", "^stdlib%.h$", "^stdnoreturn%.h$",
  "^string%.h$", "^strings%.h$", "^termios%.h$", "^threads%.h$", "^time%.h$", "^unistd%.h$", "^execinfo%.h$",
  "^endian%.h$", "^ftw%.h$", "^spawn%.h$", "^ucontext%.h$", "^wchar%.h$", "^wctype%.h$",
  "^arpa/", "^linux/", "^net/", "^netinet/", "^sys/",
}

--- What a folder must not call: decisions take time as an argument and own no memory; a search reads time from its world.
M.forbidden_calls = {
  policy = { "malloc", "calloc", "realloc", "free", "clock_gettime", "clock_now_us", "time", "fopen", "printf", "fprintf" },
  search = { "clock_gettime", "clock_now_us", "gettimeofday", "fopen", "socket", "pthread_create" },
}

--- Longest allowed, in lines.
M.limits = { source = 600, header = 200, ["function"] = 60 }

return M
