--- Proves that each rule of the lint can fail: small bad trees, each with the one finding it must give.
--
--   luajit tests/lint/selftest.lua        prints TAP, exits 1 when a case is not ok

local here = arg[0]:match("^(.*)/") or "."
package.path = here .. "/?.lua;" .. package.path

local rules = require("rules")

local HEADER = "/// Thing: a noun.\n///\n/// Threads: any.\n#pragma once\n"
local LINKS = [[
lastcall_library(base LINKS Threads::Threads m)
lastcall_library(model LINKS base)
lastcall_library(policy LINKS model base)
lastcall_library(io LINKS model base PkgConfig::UV)
lastcall_library(script LINKS model base PkgConfig::LUAJIT)
lastcall_library(telemetry LINKS model base)
lastcall_library(search LINKS policy model base)
lastcall_library(store LINKS model base)
lastcall_library(app LINKS search policy io script store telemetry token model base)
lastcall_library(cli LINKS app)
lastcall_library(token LINKS model base)
]]

local function lines(count)
  return string.rep("int x;\n", count)
end

--- A function whose body, braces included, has so many lines.
local function body(count)
  return "static int long_one(int a,\n                    int b)\n{\n" .. string.rep("    a++;\n", count - 2) .. "}\n"
end

local function replace(text, from, to)
  local start, stop = text:find(from, 1, true)
  assert(start, "nothing to replace: " .. from)
  return text:sub(1, start - 1) .. to .. text:sub(stop + 1)
end

--- name, rule, files, what must be found: "path:line: a part of the sentence", or nothing at all.
local cases = {
  { "an adapter may see the model", "includes",
    { ["engine/io/a.c"] = "#include \"model/b.h\"\n", ["engine/model/b.h"] = HEADER } },
  { "a lower layer must not see a higher one", "includes",
    { ["engine/base/a.c"] = "\n#include \"model/b.h\"\n", ["engine/model/b.h"] = HEADER },
    "engine/base/a.c:2: base must not see model" },
  { "siblings must not see each other", "includes",
    { ["engine/io/a.h"] = "#include \"script/b.h\"\n", ["engine/script/b.h"] = HEADER },
    "engine/io/a.h:1: io must not see script" },
  { "the heart must not see an adapter", "includes",
    { ["engine/search/a.c"] = "#  include \"io/b.h\"\n", ["engine/io/b.h"] = HEADER },
    "engine/search/a.c:1: search must not see io" },
  { "main sees the command line only", "includes",
    { ["engine/main.c"] = "#include \"app/b.h\"\n", ["engine/app/b.h"] = HEADER },
    "engine/main.c:1: engine/main.c must not see app" },
  { "the farm must not see the engine's heart", "includes",
    { ["examples/farm/a.c"] = "#include \"search/b.h\"\n", ["engine/search/b.h"] = HEADER },
    "examples/farm/a.c:1: examples/farm/ must not see search" },
  { "tests see everything", "includes",
    { ["tests/unit/a.c"] = "#include \"search/b.h\"\n#include <cmocka.h>\n", ["engine/search/b.h"] = HEADER } },
  { "an include carries its folder", "includes",
    { ["engine/base/a.c"] = "#include \"b.h\"\n" }, "engine/base/a.c:1: #include \"b.h\" must carry its folder" },
  { "an included header exists", "includes",
    { ["engine/base/a.c"] = "#include \"base/b.h\"\n" }, "engine/base/a.c:1: #include \"base/b.h\": there is no engine/" },
  { "a source outside of the table is found", "includes",
    { ["lib/a.c"] = "int x;\n" }, "lib/a.c:1: this source belongs to no part" },
  { "a folder outside of the table is found", "includes",
    { ["engine/misc/a.c"] = "int x;\n" }, "engine/misc/a.c:1: this source belongs to no part" },
  { "a foreign header stays in its folder", "includes",
    { ["engine/search/a.c"] = "#include <uv.h>\n" }, "engine/search/a.c:1: <uv.h> belongs to io and app" },
  { "a foreign header stays in one file", "includes",
    { ["engine/io/a.c"] = "#include <curl/curl.h>\n", ["engine/io/b.c"] = "#include <curl/multi.h>\n" },
    "engine/io/b.c:1: <curl/multi.h> is already included by engine/io/a.c" },
  { "uv.h may stand in several files of io", "includes",
    { ["engine/io/a.c"] = "#include <uv.h>\n", ["engine/io/b.c"] = "#include <uv.h>\n" } },
  { "a foreign header stays out of our headers", "includes",
    { ["engine/io/a.h"] = "#include <uv.h>\n" }, "engine/io/a.h:1: <uv.h> stands in a header of ours" },
  { "lua.h may stand in the headers of script", "includes",
    { ["engine/script/a.h"] = "#include <lua.h>\n" } },
  { "an unknown foreign header is found", "includes",
    { ["engine/io/a.c"] = "#include <nats/nats.h>\n" }, "engine/io/a.c:1: <nats/nats.h> is not in the table" },
  { "a system header is not foreign", "includes",
    { ["engine/base/a.c"] = "#include <stdio.h>\n#include <sys/timerfd.h>\n" } },

  { "the links agree with the table", "links", { ["CMakeLists.txt"] = LINKS } },
  { "a link too many is found", "links",
    { ["CMakeLists.txt"] = replace(LINKS, "io LINKS model base", "io LINKS model base script") },
    "CMakeLists.txt:4: io links base model script" },
  { "a missing link is found", "links",
    { ["CMakeLists.txt"] = replace(LINKS, "model LINKS base", "model LINKS") }, "CMakeLists.txt:2: model links nothing" },
  { "a missing library is found", "links",
    { ["CMakeLists.txt"] = replace(LINKS, "lastcall_library(cli LINKS app)", "") },
    "CMakeLists.txt:1: no lastcall_library for the folder cli" },
  { "a foreign library stays in its folder", "links",
    { ["CMakeLists.txt"] = replace(LINKS, "search LINKS policy", "search LINKS PkgConfig::CURL policy") },
    "CMakeLists.txt:7: search links CURL" },

  { "600 lines are a file", "sizes", { ["engine/base/a.c"] = lines(600) } },
  { "601 lines are two", "sizes", { ["engine/base/a.c"] = lines(601) }, "engine/base/a.c:601: 601 lines, at most 600" },
  { "201 lines are two headers", "sizes",
    { ["engine/base/a.h"] = lines(201) }, "engine/base/a.h:201: 201 lines, at most 200" },
  { "60 lines are a function", "sizes", { ["engine/base/a.c"] = body(60) } },
  { "61 lines are two functions", "sizes",
    { ["engine/base/a.c"] = body(61) }, "engine/base/a.c:3: long_one has 61 lines" },
  { "a brace in a comment ends no function", "sizes",
    { ["engine/base/a.c"] = replace(body(61), "    a++;\n", "/*\n}\n*/\n") }, "engine/base/a.c:3: long_one has 63 lines" },

  { "a typedef of a struct is found", "typedefs",
    { ["engine/base/a.h"] = "\ntypedef struct a {\n    int x;\n} a;\n" }, "engine/base/a.h:2: typedef of a struct" },
  { "a typedef of a forward struct is found", "typedefs",
    { ["engine/base/a.h"] = "typedef struct a a;\n" }, "engine/base/a.h:1: typedef of a struct" },
  { "a typedef of an enum is found", "typedefs",
    { ["engine/base/a.c"] = "typedef enum { A } a;\n" }, "engine/base/a.c:1: typedef of a enum" },
  { "a typedef of a function is fine", "typedefs",
    { ["engine/base/a.h"] = "typedef struct b *(*done)(struct a *a);\n// typedef struct a a;\n" } },

  { "a good header", "headers", { ["engine/base/a.h"] = HEADER } },
  { "a header without its noun is found", "headers",
    { ["engine/base/a.h"] = replace(HEADER, "/// Thing: a noun.", "// helpers") }, "engine/base/a.h:1: a header begins with" },
  { "a header without threads is found", "headers",
    { ["engine/base/a.h"] = replace(HEADER, "Threads", "Thread") }, "engine/base/a.h:1: the comment at the top" },
  { "a header without a guard is found", "headers",
    { ["engine/base/a.h"] = replace(HEADER, "#pragma once", "") }, "engine/base/a.h:1: no #pragma once" },

  { "a decision owns no memory", "calls",
    { ["engine/policy/a.c"] = "int f(void)\n{\n    return malloc(3) != 0;\n}\n" },
    "engine/policy/a.c:3: policy must not call malloc" },
  { "a search asks its world for the time", "calls",
    { ["engine/search/a.c"] = "x = clock_now_us();\n" }, "engine/search/a.c:1: search must not call clock_now_us" },
  { "a member or a longer name is no call", "calls",
    { ["engine/policy/a.c"] = "x = world->time(w); y = buffer_free(b); // malloc(1)\n" } },

  { "every folder has a README", "readmes",
    { ["engine/base/a.c"] = "", ["engine/README.md"] = "a\nb\nc\n" }, "engine/base/README.md:1: this folder has no README" },
  { "a title alone is no README", "readmes",
    { ["engine/README.md"] = "# engine\n\n" }, "engine/README.md:1: this README says nothing" },
  { "a README with content is fine", "readmes", { ["suppliers/README.md"] = "# a\nb\nc\n" } },

  { "a link leads to a file", "markdown_links", { ["a/b.md"] = "see [c](../c.md#top)\n", ["c.md"] = "" } },
  { "a broken link is found", "markdown_links",
    { ["a/b.md"] = "\nsee [c](c.md)\n", ["c.md"] = "" }, "a/b.md:2: the link to c.md leads nowhere" },
  { "a link in an example is none", "markdown_links", { ["a.md"] = "```\n[c](d.md)\n```\n`[c](d.md)` [e](https://x.example)\n" } },

  { "work put off is found", "leftovers",
    { ["a.lua"] = "\n-- TO" .. "DO later\n" }, "a.lua:2: TO" .. "DO: do it" },
  { "work put off in a script without suffix is found", "leftovers",
    { ["tests/run"] = "# FIX" .. "ME\n" }, "tests/run:1: FIX" .. "ME: do it" },
  { "a longer word is none", "leftovers", { ["a.md"] = "MASTO" .. "DON\n" } },
}

local function findings_of(rule, files)
  local tree, findings = { root = ".", paths = {}, text = files }, {}
  for path in pairs(files) do
    tree.paths[#tree.paths + 1] = path
  end
  table.sort(tree.paths)
  rules[rule](tree, findings)
  local found = {}
  for _, finding in ipairs(findings) do
    found[#found + 1] = string.format("%s:%d: %s", finding.path, finding.line, finding.message)
  end
  return found
end

local function verdict(found, expected)
  if not expected then
    return #found == 0
  end
  return #found == 1 and found[1]:sub(1, #expected) == expected
end

local failed, covered = 0, {}
for number, case in ipairs(cases) do
  local name, rule, files, expected = case[1], case[2], case[3], case[4]
  local found = findings_of(rule, files)
  if verdict(found, expected) then
    print(string.format("ok %d - lint: %s", number, name))
  else
    failed = failed + 1
    print(string.format("not ok %d - lint: %s", number, name))
    print("# expected " .. (expected or "nothing"))
    print("# found    " .. (#found > 0 and table.concat(found, "\n#          ") or "nothing"))
  end
  covered[rule] = covered[rule] or expected ~= nil
end

for index, rule in ipairs(rules.all) do
  local is_covered = covered[rule] == true
  failed = failed + (is_covered and 0 or 1)
  print(string.format("%s %d - lint: the rule %s has a case in which it fails", is_covered and "ok" or "not ok", #cases + index, rule))
end
print("1.." .. #cases + #rules.all)
os.exit(failed == 0 and 0 or 1)
