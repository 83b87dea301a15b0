// The store over a Redis that speaks TLS, through the proxy whose configuration is among the examples.
#include "unit/app_store_redis_stage.h"

#include "support/certificate.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char HAPROXY[] = "/usr/sbin/haproxy", CONFIGURATION[] = "examples/shared-store/haproxy-tls.cfg";

static pid_t start_proxy(uint16_t port, const char *authority, const char *name, const char *socket)
{
    char number[16];
    pid_t process = fork();

    assert_true(process >= 0);
    if (process > 0) {
        return process;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nowhere = open("/dev/null", O_RDWR);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    snprintf(number, sizeof number, "%u", (unsigned)port);
    setenv("STORE_SOCKET", socket, 1);
    setenv("STORE_HOST", "127.0.0.1", 1);
    setenv("STORE_PORT", number, 1);
    setenv("STORE_CA", authority, 1);
    setenv("STORE_NAME", name, 1);
    execl(HAPROXY, HAPROXY, "-f", CONFIGURATION, (char *)NULL);
    _exit(127);
}

static void through(const struct redis_server *server, uint16_t port, const char *authority, const char *name,
                    bool is_trusted)
{
    char socket[128], url[160];
    int ended = 0;

    snprintf(socket, sizeof socket, "%s/proxy", server->directory);
    snprintf(url, sizeof url, "unix://%s?db=3", socket);
    pid_t proxy = start_proxy(port, authority, name, socket);
    struct store *store = open_at(url, NULL, "open sesame");
    if (is_trusted) {
        wait_up(store, true);
        assert_int_equal(keep(store, "q", "acme", 4), STORE_FOUND);
        assert_int_equal(look(store, STORE_READ, "q", "acme"), STORE_FOUND);
    } else {
        wait_trouble(store, "closed the connection"); // the proxy's server is not who it says
        assert_false(report_of(store).is_up);
        assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_FAULT);
    }
    store->ops->close(&store, 1000000);
    assert_int_equal(kill(proxy, SIGTERM), 0);
    assert_int_equal(waitpid(proxy, &ended, 0), proxy);
    unlink(socket);
}

static void a_proxy_speaks_tls_for_the_engine_and_checks_whom_it_speaks_to(void **state)
{
    struct certificate_authority *authority = certificate_authority_create();
    struct certificate_authority *other = certificate_authority_create();
    char certificate[] = "/tmp/lastcall-store-cert-XXXXXX", key[] = "/tmp/lastcall-store-key-XXXXXX";
    struct redis_server server;
    char port[16];
    (void)state;

    SKIP_WITHOUT_REDIS();
    if (access(HAPROXY, X_OK) != 0) {
        print_message("skipped: haproxy is not installed here\n");
        skip();
    }
    certificate_authority_issue(authority, "store.test", 2, certificate, key);
    uint16_t tls_port = redis_server_free_port();
    snprintf(port, sizeof port, "%u", (unsigned)tls_port);
    redis_server_start(&server,
                       (const char *const[]){ "--tls-port", port, "--tls-cert-file", certificate, "--tls-key-file", key,
                                              "--tls-ca-cert-file", authority->file, "--tls-auth-clients", "no",
                                              "--requirepass", "open sesame", NULL });
    through(&server, tls_port, authority->file, "store.test", true);
    through(&server, tls_port, authority->file, "elsewhere.test", false);
    through(&server, tls_port, other->file, "store.test", false);
    redis_server_stop(&server);
    unlink(certificate);
    unlink(key);
    certificate_authority_destroy(&authority);
    certificate_authority_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_proxy_speaks_tls_for_the_engine_and_checks_whom_it_speaks_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
