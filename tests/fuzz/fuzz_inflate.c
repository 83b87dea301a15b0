// Any bytes as a compressed body: caps hold, and what is accepted is accepted whole: a body cut anywhere is refused.
#include "script/inflate.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CEILING = 1 << 20, RATIO = 200, SLACK = 64 << 10 };

static enum inflate_result run(struct text encoding, struct text body, size_t ceiling, struct buffer *out)
{
    struct text plain = { NULL, 0 };

    buffer_init(out, ceiling);
    enum inflate_result result = inflate_body(encoding, body, out, &plain);
    require(out->length <= ceiling);
    require(out->length <= body.length * RATIO + SLACK);
    require(result != INFLATE_OK || text_equals(plain, buffer_text(out)));
    return result;
}

static void check_one(struct text encoding, struct text body, size_t cut)
{
    struct buffer out;
    struct buffer other;

    enum inflate_result result = run(encoding, body, CEILING, &out);
    require(result != INFLATE_UNKNOWN_ENCODING);
    if (result == INFLATE_OK) {
        require(run(encoding, body, out.length, &other) == INFLATE_OK); // a cap that it just reaches
        buffer_fini(&other);
        if (out.length > 0) {
            require(run(encoding, body, out.length - 1, &other) == INFLATE_TOO_LARGE);
            buffer_fini(&other);
        }
        // Cut between two members it is whole again, with less in it.
        bool is_whole = run(encoding, (struct text){ body.data, cut % body.length }, CEILING, &other) == INFLATE_OK;
        require(!is_whole || (other.length <= out.length && text_equals_c(encoding, "gzip")));
        buffer_fini(&other);
    }
    buffer_fini(&out);
}

// The first byte chooses the encoding and where the body is cut.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1) {
        struct text body = { (const char *)data + 1, size - 1 };
        check_one(data[0] % 2 == 0 ? TEXT("gzip") : TEXT("deflate"), body, data[0]);
    }
    return 0;
}
