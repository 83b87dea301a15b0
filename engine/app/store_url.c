#include "app/store_url.h"

#include <stdio.h>

static enum status refuse(struct failure *why, const char *message, const char *help)
{
    failure_set(why, "store.url %s", message);
    failure_help(why, "%s", help);
    return STATUS_INVALID;
}

static bool keep(char *out, size_t size, struct text text)
{
    if (text.length == 0 || text.length >= size || memchr(text.data, '\0', text.length) != NULL) {
        return false;
    }
    memcpy(out, text.data, text.length);
    out[text.length] = '\0';
    return true;
}

static bool read_number(struct text text, uint64_t least, uint64_t most, uint64_t *number)
{
    return text_to_u64(text, number) && *number >= least && *number <= most;
}

static enum status read_database(struct text text, struct store_url *out, struct failure *why)
{
    uint64_t number = 0;

    if (!read_number(text, 0, STORE_DATABASE_MAX, &number)) {
        return refuse(why, "has a database that is no number", "write it as redis://host:6379/0");
    }
    out->database = (uint32_t)number;
    return STATUS_OK;
}

static enum status read_path(struct text rest, struct store_url *out, struct failure *why)
{
    struct text query;
    struct text path = text_split(rest, '?', &query);

    if (path.length == 0 || path.data[0] != '/' || !keep(out->path, sizeof out->path, path)) {
        return refuse(why, "has no path, or one of more than 107 bytes",
                      "write it as unix:///run/redis/redis.sock?db=0");
    }
    if (query.data == NULL) {
        return STATUS_OK;
    }
    if (!text_starts_with(query, TEXT("db="))) {
        return refuse(why, "has something else than db= behind its ?", "write it as unix:///run/redis/redis.sock?db=0");
    }
    return read_database((struct text){ query.data + 3, query.length - 3 }, out, why);
}

/// `host`, `host:port`, `[address]`, `[address]:port`.
static enum status read_host(struct text place, struct store_url *out, struct failure *why)
{
    static const char HELP[] = "write it as redis://host:6379/0, an IPv6 address in brackets";
    struct text port = { 0 };
    struct text host;
    uint64_t number = STORE_PORT;

    if (place.length > 0 && place.data[0] == '[') {
        host = text_split((struct text){ place.data + 1, place.length - 1 }, ']', &port);
        bool is_bare = port.data == NULL || (port.length > 0 && port.data[0] != ':');
        if (is_bare) {
            return refuse(why, "has an address without its closing bracket", HELP);
        }
        port = port.length > 0 ? (struct text){ port.data + 1, port.length - 1 } : (struct text){ 0 };
    } else {
        host = text_split(place, ':', &port);
    }
    if (!keep(out->host, sizeof out->host, host)) {
        return refuse(why, "has no host", HELP);
    }
    if (port.data != NULL && !read_number(port, 1, UINT16_MAX, &number)) {
        return refuse(why, "has a port that is no number from 1 to 65535", HELP);
    }
    out->port = (uint16_t)number;
    return STATUS_OK;
}

enum status store_url_read(struct text url, struct store_url *out, struct failure *why)
{
    static const char REDIS[] = "redis://", UNIX[] = "unix://", TLS[] = "rediss://";

    *out = (struct store_url){ 0 };
    if (text_starts_with(url, text_of(UNIX))) {
        return read_path((struct text){ url.data + sizeof UNIX - 1, url.length - (sizeof UNIX - 1) }, out, why);
    }
    if (text_starts_with(url, text_of(TLS))) {
        return refuse(why, "wants TLS, which this engine does not speak to a store",
                      "let a proxy on this machine speak it and name that one: engine/store/README.md shows how");
    }
    if (!text_starts_with(url, text_of(REDIS))) {
        return refuse(why, "is neither redis:// nor unix://",
                      "write it as redis://host:6379/0 or unix:///run/redis/redis.sock?db=0");
    }
    struct text database;
    struct text place =
        text_split((struct text){ url.data + sizeof REDIS - 1, url.length - (sizeof REDIS - 1) }, '/', &database);
    if (memchr(url.data, '@', url.length) != NULL) {
        return refuse(why, "has a user or a password in it",
                      "put the password into a secret, name that in store.password_env, and the user in store.user");
    }
    enum status status = read_host(place, out, why);
    if (status != STATUS_OK || database.length == 0) {
        return status;
    }
    return read_database(database, out, why);
}

void store_url_print(const struct store_url *url, char out[STORE_PLACE_MAX])
{
    bool is_v6 = strchr(url->host, ':') != NULL;

    if (url->path[0] != '\0') {
        snprintf(out, STORE_PLACE_MAX, "%s", url->path);
    } else {
        snprintf(out, STORE_PLACE_MAX, is_v6 ? "[%s]:%u" : "%s:%u", url->host, (unsigned)url->port);
    }
}
