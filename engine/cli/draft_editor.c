// Settings of editors and of luacheck for a folder of suppliers.

#include "cli/draft.h"

// The globals that a script finds. tests/e2e/new_test.lua holds this list against the sources' own .luacheckrc.
static const char GLOBALS[] =
    "    \"assert\", \"error\", \"ipairs\", \"next\", \"pairs\", \"pcall\", \"xpcall\", \"rawequal\", \"rawget\", "
    "\"require\",\n"
    "    \"select\", \"tonumber\", \"tostring\", \"type\", \"unpack\", \"string\", \"table\", \"math\", \"bit\",\n"
    "    \"setmetatable\", \"getmetatable\",\n"
    "    \"json\", \"url\", \"crypto\", \"time\", \"money\", \"log\", \"fail\", \"map\", \"filter\", \"first\", "
    "\"get\",\n"
    "    \"lookup\", \"sorted_pairs\", \"xml\", \"soap\", \"form\",\n"
    "    \"text\", \"decimal\", \"integer\", \"flag\", \"raw\", \"map_of\", \"plan\", \"up\", \"const\", \"ref\", "
    "\"asked\",\n";

void draft_write_luarc(struct text scripts_dir, struct buffer *out)
{
    buffer_printf(out,
                  "{\n"
                  "  \"runtime.version\": \"LuaJIT\",\n"
                  "  \"runtime.path\": [\"%.*s/?.lua\"],\n"
                  "  \"runtime.builtin\": {\n"
                  "    \"io\": \"disable\",\n"
                  "    \"os\": \"disable\",\n"
                  "    \"ffi\": \"disable\",\n"
                  "    \"jit\": \"disable\",\n"
                  "    \"debug\": \"disable\",\n"
                  "    \"package\": \"disable\",\n"
                  "    \"coroutine\": \"disable\"\n"
                  "  },\n"
                  "  \"workspace.library\": [\"%.*s/types\"],\n"
                  "  \"diagnostics.disable\": [\"lowercase-global\"]\n"
                  "}\n",
                  TEXT_ARGS(scripts_dir), TEXT_ARGS(scripts_dir));
}

void draft_write_luacheckrc(struct text suppliers_dir, struct text scripts_dir, struct buffer *out)
{
    buffer_printf(out,
                  "std = \"luajit\"\n"
                  "max_line_length = false\n"
                  "codes = true\n"
                  "\n"
                  "-- What a script sees in its sandbox.\n"
                  "stds.sandbox = {\n"
                  "  globals = {},\n"
                  "  read_globals = {\n"
                  "%s"
                  "  },\n"
                  "}\n"
                  "\n"
                  "files[\"%.*s\"] = { std = \"sandbox\" }\n"
                  "files[\"%.*s\"] = { std = \"sandbox\" }\n"
                  "exclude_files = { \"%.*s/types\" }\n",
                  GLOBALS, TEXT_ARGS(suppliers_dir), TEXT_ARGS(scripts_dir), TEXT_ARGS(scripts_dir));
}
