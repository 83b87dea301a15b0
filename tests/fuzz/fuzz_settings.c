// Any bytes as a settings file: findings or settings, never a crash, and never one without the other.

#include "app/settings_apply.h"
#include "app/settings_yaml.h"

static void on_finding(void *context, const struct failure *failure)
{
    size_t *findings = context;
    (*findings)++;
    require(failure->message[0] != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings settings = { 0 };
    struct settings_reader reader;
    struct settings_node *root = NULL;
    struct arena scratch;
    size_t findings = 0;

    arena_init(&settings.arena, 16 * 1024 * 1024);
    arena_init(&scratch, 16 * 1024 * 1024);
    settings_reader_init(&reader, &settings, &scratch, on_finding, &findings);
    enum status status = settings_yaml_parse(&scratch, "fuzz.yaml", (struct text){ (const char *)data, size },
                                             on_finding, &findings, &root);
    require((status == STATUS_OK) == (root != NULL));
    require(status != STATUS_INVALID || findings > 0);
    if (root != NULL) {
        settings_apply(&reader, root);
        settings_reader_finish(&reader);
        require(reader.findings == findings);
    }
    arena_fini(&scratch);
    arena_fini(&settings.arena);
    return 0;
}
