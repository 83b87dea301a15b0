#include "cli/pasted_options.h"

#include <stddef.h>

static const struct pasted_option OPTIONS[] = {
    { 'X', "request", true, MEANS_METHOD, NULL },
    { 'H', "header", true, MEANS_HEADER, NULL },
    { 'd', "data", true, MEANS_DATA, NULL },
    { 0, "data-ascii", true, MEANS_DATA, NULL },
    { 0, "data-binary", true, MEANS_DATA, NULL },
    { 0, "data-raw", true, MEANS_DATA_RAW, NULL },
    { 0, "data-urlencode", true, MEANS_DATA_URLENCODE, NULL },
    { 0, "json", true, MEANS_DATA_JSON, NULL },
    { 'u', "user", true, MEANS_USER, NULL },
    { 0, "basic", false, MEANS_PASSED_OVER, NULL },
    { 0, "oauth2-bearer", true, MEANS_BEARER, NULL },
    { 'b', "cookie", true, MEANS_COOKIE, NULL },
    { 'A', "user-agent", true, MEANS_AGENT, NULL },
    { 'e', "referer", true, MEANS_REFERER, NULL },
    { 'G', "get", false, MEANS_QUERY, NULL },
    { 'I', "head", false, MEANS_HEAD, NULL },
    { 0, "url", true, MEANS_URL, NULL },
    { ':', "next", false, MEANS_NEXT, NULL },
    { 'F', "form", true, MEANS_REFUSED, "a script sends json, form or body, and no multipart form" },
    { 0, "form-string", true, MEANS_REFUSED, "a script sends json, form or body, and no multipart form" },
    { 'T', "upload-file", true, MEANS_REFUSED, "a script sends json, form or body, and no file" },
    { 'K', "config", true, MEANS_REFUSED, "options in a file are not read; paste them into the command" },
    { 0, "digest", false, MEANS_REFUSED, "a login by digest needs `sign`, and a challenge that no script sees" },
    { 0, "ntlm", false, MEANS_REFUSED, "a login by NTLM is of a connection, which no script sees" },
    { 0, "negotiate", false, MEANS_REFUSED, "a login by SPNEGO is of a connection, which no script sees" },
    { 0, "aws-sigv4", true, MEANS_NOTED, "the signature is left out: write it as `sign(request, ctx)`" },
    { 'k', "insecure", false, MEANS_NOTED,
      "certificates are always checked; `network.ca_file` names those that are trusted" },
    { 'L', "location", false, MEANS_NOTED, "a redirect is not followed; `normalise` sees it as an answer" },
    { 0, "location-trusted", false, MEANS_NOTED, "a redirect is not followed; `normalise` sees it as an answer" },
    { 'x', "proxy", true, MEANS_NOTED, "a proxy is of the settings: suppliers.NAME.accounts.main.proxy" },
    { 'E', "cert", true, MEANS_NOTED, "a client certificate is of the settings: suppliers.NAME.accounts.main.tls" },
    { 0, "key", true, MEANS_NOTED, "a client certificate is of the settings: suppliers.NAME.accounts.main.tls" },
    { 0, "cacert", true, MEANS_NOTED, "certificates to trust are of the settings: network.ca_file" },
    { 'm', "max-time", true, MEANS_NOTED, "how long to wait is the engine's affair; the script's `ceiling` has a say" },
    { 0, "connect-timeout", true, MEANS_NOTED,
      "how long to wait is the engine's affair; the script's `ceiling` has a say" },
    { 0, "retry", true, MEANS_NOTED, "asking again is the engine's affair" },
    { 0, "resolve", true, MEANS_NOTED, "names are looked up by the engine" },
    { 'c', "cookie-jar", true, MEANS_NOTED,
      "cookies are not kept from one request to the next; a session is a `login`" },
    { 'r', "range", true, MEANS_NOTED, "a range is a header: range" },
    { 0, "compressed", false, MEANS_PASSED_OVER, NULL }, // the engine always offers it
    { 's', "silent", false, MEANS_PASSED_OVER, NULL },
    { 'S', "show-error", false, MEANS_PASSED_OVER, NULL },
    { 'v', "verbose", false, MEANS_PASSED_OVER, NULL },
    { 'i', "include", false, MEANS_PASSED_OVER, NULL },
    { 'f', "fail", false, MEANS_PASSED_OVER, NULL },
    { 0, "fail-with-body", false, MEANS_PASSED_OVER, NULL },
    { 'g', "globoff", false, MEANS_PASSED_OVER, NULL },
    { 'N', "no-buffer", false, MEANS_PASSED_OVER, NULL },
    { '#', "progress-bar", false, MEANS_PASSED_OVER, NULL },
    { '4', "ipv4", false, MEANS_PASSED_OVER, NULL },
    { '6', "ipv6", false, MEANS_PASSED_OVER, NULL },
    { '0', "http1.0", false, MEANS_PASSED_OVER, NULL },
    { 0, "http1.1", false, MEANS_PASSED_OVER, NULL },
    { 0, "http2", false, MEANS_PASSED_OVER, NULL },
    { 0, "http3", false, MEANS_PASSED_OVER, NULL },
    { 0, "path-as-is", false, MEANS_PASSED_OVER, NULL },
    { 0, "trace-time", false, MEANS_PASSED_OVER, NULL },
    { 'o', "output", true, MEANS_PASSED_OVER, NULL },
    { 'O', "remote-name", false, MEANS_PASSED_OVER, NULL },
    { 'w', "write-out", true, MEANS_PASSED_OVER, NULL },
    { 'D', "dump-header", true, MEANS_PASSED_OVER, NULL },
    { 0, "max-redirs", true, MEANS_PASSED_OVER, NULL },
};

const struct pasted_option *pasted_option_named(struct text name)
{
    for (size_t i = 0; i < COUNT_OF(OPTIONS); i++) {
        if (text_equals_c(name, OPTIONS[i].name)) {
            return &OPTIONS[i];
        }
    }
    return NULL;
}

const struct pasted_option *pasted_option_lettered(char letter)
{
    for (size_t i = 0; i < COUNT_OF(OPTIONS) && letter != '\0'; i++) {
        if (OPTIONS[i].letter == letter) {
            return &OPTIONS[i];
        }
    }
    return NULL;
}
