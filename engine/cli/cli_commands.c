#include "cli/cli_commands.h"

#include <string.h>

// clang-format off
static const struct cli_command commands[] = {
    { .name = "serve",
      .usage = "[-c FILE]...",
      .summary = "run the engine until SIGTERM or Ctrl-C",
      .example = "lastcall serve -c lastcall.yaml",
      .help = "Reads the settings, checks all scripts and serves searches. On SIGTERM it is no longer ready,\n"
              "finishes the searches it has and exits with 0; at a second signal they reply at once with what\n"
              "they have, a third one cuts them. It exits with 6 when it took longer than `shutdown.flush` to\n"
              "end.\n",
      .options = "config",
      .exits = "36",
      .run = cmd_serve },
    { .name = "search",
      .usage = "SEARCH.json [--url URL] [--budget MS]",
      .summary = "send a search to a running engine and draw its waterfall",
      .example = "lastcall search search.json --budget 1500",
      .help = "SEARCH.json is the body of POST /v1/search; - reads it from standard input. The waterfall has a\n"
              "line for each supplier on a time axis from the arrival of the search to its deadline: who\n"
              "answered when, who was cut by which bound and where it stood. --budget can only shorten the\n"
              "budget that the file asks for. Exit code 7: nobody answered in time (504).\n",
      .options = "json no-color url budget width",
      .arguments = "json",
      .exits = "3457",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_search },
    { .name = "check",
      .usage = "[NAME]... [-c FILE]... [--secrets] [--strict]",
      .summary = "load settings and all scripts, open no socket, report every finding",
      .example = "lastcall check --secrets\nlastcall check acme",
      .help = "Settings, rules, scripts, plans, ceilings and fixtures: all findings at once, each with file and line,\n"
              "and exit code 1; 3 when the settings cannot be read, or a file ran for too long while it was loaded.\n"
              "With names, what these suppliers need is looked at and nothing else: what is wrong elsewhere is a\n"
              "warning at most. Before they go live, check without names.\n"
              "--secrets makes a finding of each secret that is not set. --strict makes findings of warnings, too,\n"
              "of suppliers without fixtures, without an odd-… one or without `docs`, and of what is declared and\n"
              "never used.\n",
      .options = "config json no-color secrets strict",
      .arguments = "suppliers",
      .exits = "13",
      .most_arguments = CLI_MAX_ARGUMENTS,
      .run = cmd_check },
    { .name = "new",
      .usage = "NAME [--product flights|hotels] [--from CURL.txt] [-c FILE]...",
      .summary = "write the first version of a supplier, and its first fixture",
      .example = "lastcall new acme --product hotels\nlastcall new acme --from curl.txt",
      .help = "Writes suppliers/NAME.lua and suppliers/NAME.test/ok-….json, which pass `lastcall check` and\n"
              "`lastcall test NAME`, and the settings of editors (.luarc.json, .luacheckrc) where they are\n"
              "missing. With --from, the request is that of a curl command which was copied from a browser or\n"
              "from documentation; - reads it from standard input. What looks like a secret becomes a declared\n"
              "secret, and its value is written nowhere; what looks like a date, an airport or a number of\n"
              "travellers becomes a field of the search, and each such guess is told. Nothing is written over.\n",
      .options = "config json no-color product from",
      .exits = "3",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_new },
    { .name = "test",
      .usage = "[NAME]... [-c FILE]... [--update]",
      .summary = "run the fixtures of suppliers",
      .example = "lastcall test duffel",
      .help = "Plays suppliers/NAME.test/*.json through the scripts, without a socket, and tells what came that\n"
              "was not expected. Without a name all suppliers are tested. --update writes what came into the\n"
              "fixtures.\n",
      .options = "config json no-color update",
      .arguments = "suppliers",
      .exits = "13",
      .most_arguments = CLI_MAX_ARGUMENTS,
      .run = cmd_test },
    { .name = "try",
      .usage = "NAME SEARCH.json [--body FILE [--status N]]... [-c FILE]...",
      .summary = "run one supplier's script for one search, and show everything that goes by",
      .example = "lastcall try acme search.json\nlastcall try acme search.json --body answer.json",
      .help = "A live call of one supplier, without a running engine: each request as it was sent, what came\n"
              "back, where the time went, what the script made of it, which fields of the answer it never reads,\n"
              "and how much of the ceiling was used. Secrets are shown as ***. SEARCH.json is the body of POST\n"
              "/v1/search, of which `query` is enough, or a fixture; - reads standard input. NAME may be\n"
              "switched off, dark or of mode test. With --body nothing is sent: the file answers the first\n"
              "request (of a login, if there is one), further ones the next requests; secrets are made up,\n"
              "and the clock is a fixture's, or that of the day before the dates of the search when they are over.\n"
              "A search that is skipped, by `sells` or by `skip`, tries nothing: exit code 8.\n",
      .options = "config json no-color width body status header login keep all",
      .arguments = "suppliers json",
      .exits = "1378",
      .least_arguments = 2,
      .most_arguments = 2,
      .run = cmd_try },
    { .name = "record",
      .usage = "NAME SEARCH.json [--as ok-NAME] [--body FILE [--status N]]... [--force]",
      .summary = "do what `try` does, and keep it as a fixture",
      .example = "lastcall record acme search.json --body answer.json\n"
                 "lastcall record acme search.json --as ok-one-way",
      .help = "The whole exchange becomes suppliers/NAME.test/ok-NAME.json, with its bodies beside it: logins,\n"
              "parts and steps, in their order, and what came of them as the expectation. Secrets, tokens and\n"
              "cookies are replaced by those of a test. The new fixture is run at once, and removed when it does\n"
              "not pass. What did not answer is called odd-NAME. With --body it is made of saved answers. Without\n"
              "--as it is named by the search (ok-one-way, ok-return, ok-stay) or by what came of it (odd-refused),\n"
              "and replaces the ok fixture that `lastcall new` invented. --force is not needed for that one.\n",
      .options = "config json no-color body status header login as force",
      .arguments = "suppliers json",
      .exits = "137",
      .least_arguments = 2,
      .most_arguments = 2,
      .run = cmd_record },
    { .name = "mock",
      .usage = "[NAME[/FIXTURE]]... [-c FILE]... [--settings FILE]",
      .summary = "play the fixtures of suppliers over HTTP, for an engine to ask",
      .example = "lastcall mock --settings lastcall.mock.yaml\n"
                 "lastcall mock acme/odd-busy --fault drip=5%,status_503=2%",
      .help = "Each supplier with fixtures gets a port of its own from --listen on, and each request the answer\n"
              "of the exchange that fits it best: method and path must fit (pieces with digits, such as dates,\n"
              "may differ); then the fewest differences in query, body and headers count. Fixtures odd-... play\n"
              "only for requests that are theirs word for word, or when they are named. --settings writes the\n"
              "settings that lead suppliers here and, beside them, FILE.env with the test values of secrets.\n"
              "A line tells each request, the exchange that answered it, and what differed. It runs until\n"
              "Ctrl-C or SIGTERM. The farm program plays it (LASTCALL_FARM names another than the one beside\n"
              "this program); faults and models of latency are in examples/farm/README.md.\n",
      .options = "config json no-color listen settings latency fault tls seed strict once",
      .arguments = "fixtures",
      .exits = "13",
      .most_arguments = CLI_MAX_ARGUMENTS,
      .run = cmd_mock },
    { .name = "config",
      .usage = "show [--origin] [-c FILE]...",
      .summary = "show the settings in force, and who said so",
      .example = "lastcall config show --origin",
      .help = "Prints all settings as YAML that can be loaded again: those built in, those of the files (later\n"
              "ones win) and those of variables LASTCALL__SECTION__KEY. --origin puts a comment behind each:\n"
              "who said it, and over whom it won, with file and line; it also shows what scripts say of their\n"
              "options and limits. Secrets stand there by the names of their variables, never by value.\n",
      .options = "config json no-color origin",
      .arguments = "show",
      .exits = "3",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_config },
    { .name = "explain",
      .usage = "SEARCH_ID|CODE [--admin URL]",
      .summary = "draw what became of a recent search, or say what an error code means",
      .example = "lastcall explain E0421",
      .help = "Asks a running engine for the record of a search: who was asked, answered, was cut by what and\n"
              "where it stood. The engine keeps the newest 1,024. A token is taken from LASTCALL_ADMIN_TOKEN.\n"
              "A code as `error[E0421]` has, its number or its name, needs no engine; `lastcall explain codes` lists\n"
              "them.\n",
      .options = "json no-color admin width",
      .arguments = "codes",
      .exits = "45",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_explain },
    { .name = "status",
      .usage = "[--check] [--admin URL]",
      .summary = "say how a running engine is",
      .example = "lastcall status --check",
      .help = "Generation, readiness, script threads, attribution, which script runs for each supplier and\n"
              "which are off and why, what is stale (on the disk, but not what runs), and what a restart would\n"
              "do. --check makes the exit code 1 when something is stale or the engine is not ready. A token is\n"
              "taken from LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width check",
      .exits = "145",
      .run = cmd_status },
    { .name = "reload",
      .usage = "[--shadow|--promote|--drop|--retry NAME] [--why TEXT] [--admin URL]",
      .summary = "let a running engine read its scripts and settings again",
      .example = "lastcall reload --why \"new fares\"",
      .help = "Waits until the new generation runs, and tells what changed. What is broken on the disk keeps\n"
              "its last good version, and is told with file and line: exit code 1, as for settings that need a\n"
              "restart. 5: refused, and nothing has changed. --retry lets a script run again that was rolled\n"
              "back or that failed its trial; `settings` is a name, too. With --shadow the file of that\n"
              "supplier is from now on not what runs, but its shadow: it reads the same answers for nobody, and\n"
              "the report tells each field that it makes something else of; say so before you change the file.\n"
              "--promote lets the shadow run, --drop holds it back until its file changes. A token is taken\n"
              "from LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width why retry shadow promote drop",
      .exits = "145",
      .run = cmd_reload },
    { .name = "rollback",
      .usage = "GENERATION [--why TEXT] [--admin URL]",
      .summary = "let a running engine run an earlier generation again",
      .example = "lastcall rollback 41 --why \"acme answers nothing\"",
      .help = "Scripts and settings of that generation run again, as a new generation. What lies on the disk is\n"
              "left as it is and does not run until it changes, or until `lastcall reload --retry NAME`. The\n"
              "last 10 are kept. Exit codes are those of reload. A token is taken from LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width why",
      .exits = "145",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_rollback },
    { .name = "history",
      .usage = "[--events] [--admin URL]",
      .summary = "list what a running engine ran: when, by whom and why",
      .example = "lastcall history --events",
      .help = "The last 32 generations, the newest first: * runs, - is not kept and cannot be rolled back to.\n"
              "Then who asked for it, the versions that it brought, - before what it took away, and why.\n"
              "--events lists the last 256 things that one should know of instead. A token is taken from\n"
              "LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width events",
      .exits = "45",
      .run = cmd_history },
    { .name = "suppliers",
      .usage = "[--admin URL]",
      .summary = "list all suppliers of a running engine: who is on, off, failing, slow",
      .example = "lastcall suppliers",
      .help = "A line for each account: its mode; whether it is asked, and who has switched it off, why, until\n"
              "when; its breaker and when it is tried again; until when it is parked because its supplier wants\n"
              "no requests; how long half and 95 % of its answers take; calls since the start, the share that\n"
              "was answered, how many are out now; its script. A token is taken from LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width",
      .exits = "45",
      .run = cmd_suppliers },
    { .name = "disable",
      .usage = "NAME --why TEXT [--for TIME] [--account NAME] [--admin URL]",
      .summary = "switch a supplier off in a running engine",
      .example = "lastcall disable acme --why \"answers nonsense\" --for 30m",
      .help = "From now on searches do not ask it: its outcome is `disabled`, with who and why. What is under way\n"
              "goes on. It wins over `enabled` in the settings and stays over reloads, until its time is over or\n"
              "`lastcall enable NAME`; with `state_dir` also over restarts, and the answer says whether. The name\n"
              "counts: of a supplier that is removed it waits until one of that name is back. A token is taken\n"
              "from LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width why for account",
      .arguments = "suppliers",
      .exits = "45",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_disable },
    { .name = "enable",
      .usage = "NAME [--account NAME] [--why TEXT] [--admin URL]",
      .summary = "take back that a supplier was switched off in a running engine",
      .example = "lastcall enable acme",
      .help = "Takes back `disable` and `drain` of the supplier and of its accounts; with --account of that one\n"
              "only. What the settings switch off stays off, and the answer says so: exit code 5. A token is\n"
              "taken from LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width why account",
      .arguments = "suppliers",
      .exits = "45",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_enable },
    { .name = "drain",
      .usage = "NAME [--wait TIME] [--for TIME] [--account NAME] [--why TEXT] [--admin URL]",
      .summary = "switch a supplier off, and see what is under way of it to its end",
      .example = "lastcall drain acme --why maintenance --wait 30s",
      .help = "As `disable`, and it tells how many attempts are still out; those that nobody waits for any more\n"
              "are ended. --wait waits until none is, and ends with 6 when some still are after that time.\n"
              "`lastcall enable NAME` takes it back. A token is taken from LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width why for account wait",
      .arguments = "suppliers",
      .exits = "456",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_drain },
    { .name = "breaker",
      .usage = "NAME [open|close|reset] [--for TIME] [--why TEXT] [--account NAME] [--admin URL]",
      .summary = "show the breakers of a supplier in a running engine, or set them",
      .example = "lastcall breaker acme close --why \"they have mended it\"",
      .help = "open: it refuses, then tries the supplier out as after failures; close: it lets everything pass\n"
              "and begins to count anew. With --for it is held so for that time, whatever becomes of calls. reset:\n"
              "as new, and held no more. open and close want --why. Without a word it shows how they stand. A\n"
              "token is taken from LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width why for account",
      .arguments = "suppliers open|close|reset",
      .exits = "45",
      .least_arguments = 1,
      .most_arguments = 2,
      .run = cmd_breaker },
    { .name = "purge",
      .usage = "NAME [--account NAME] [--why TEXT] [--admin URL]",
      .summary = "forget what a supplier said last, in a running engine",
      .example = "lastcall purge acme --why \"its prices were wrong\"",
      .help = "Its answers in the store are gone, those of one account with --account: until it has answered again,\n"
              "no search gets a last known offer of it. Engines that share the store lose them as well. A token is\n"
              "taken from LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width why account",
      .arguments = "suppliers",
      .exits = "45",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_purge },
    { .name = "ceiling",
      .usage = "NAME TIME|none --for TIME --why TEXT [--admin URL]",
      .summary = "wait longer or shorter for a supplier of a running engine, for a time",
      .example = "lastcall ceiling acme 900ms --for 2h --why \"their deploy\"",
      .help = "Its answers are worth waiting for so long after a search's arrival, whatever rules, settings and\n"
              "script say; scale and limit of rules still apply, and `ceiling_from` in replies is `override`. It\n"
              "ends by itself, or with none. What shall stay belongs into the settings. A token is taken from\n"
              "LASTCALL_ADMIN_TOKEN.\n",
      .options = "json no-color admin width why for",
      .arguments = "suppliers none",
      .exits = "45",
      .least_arguments = 2,
      .most_arguments = 2,
      .run = cmd_ceiling },
    { .name = "completion",
      .usage = "bash|zsh",
      .summary = "print what completes commands, options and names in a shell",
      .example = "source <(lastcall completion bash)",
      .help = "Completes commands, options, the suppliers of this folder, searches and codes of errors.\n",
      .arguments = "bash|zsh",
      .exits = "",
      .least_arguments = 1,
      .most_arguments = 1,
      .run = cmd_completion },
    { .name = "help",
      .usage = "[COMMAND]",
      .summary = "say what a command does and which options it takes",
      .example = "lastcall help search",
      .options = "json",
      .arguments = "commands",
      .exits = "",
      .most_arguments = 1,
      .run = cmd_help },
    { .name = "version",
      .usage = "",
      .summary = "print the version",
      .example = "lastcall version",
      .options = "json",
      .exits = "",
      .run = cmd_version },
};

static const struct cli_option_row option_rows[] = {
    { 'c', "config", "FILE", OPTION_FILE, 0, 0, 0,
      "settings; may be repeated, later ones win (default: lastcall.yaml, if there is one)" },
    { 0, "json", NULL, OPTION_FLAG, offsetof(struct cli_options, is_json), 0, 0, "print JSON" },
    { 0, "no-color", NULL, OPTION_FLAG, offsetof(struct cli_options, is_colourless), 0, 0,
      "no colours (also with NO_COLOR set, or when not on a terminal)" },
    { 0, "url", "URL", OPTION_TEXT, offsetof(struct cli_options, url), 0, 0,
      "where the engine listens (default: http://127.0.0.1:8080)" },
    { 0, "admin", "URL", OPTION_TEXT, offsetof(struct cli_options, admin), 0, 0,
      "where the engine's admin listener is (default: http://127.0.0.1:8081)" },
    { 0, "budget", "MS", OPTION_NUMBER, offsetof(struct cli_options, budget_ms), 1, 600000,
      "milliseconds the search may take" },
    { 0, "width", "N", OPTION_NUMBER, offsetof(struct cli_options, width), CLI_WIDTH_MIN, CLI_WIDTH_MAX,
      "columns to draw on (default: COLUMNS, else the terminal's, else 100)" },
    { 0, "why", "TEXT", OPTION_TEXT, offsetof(struct cli_options, why), 0, 0,
      "the reason, for the history and the events" },
    { 0, "account", "ACCOUNT", OPTION_TEXT, offsetof(struct cli_options, account), 0, 0,
      "the account that it is about (default: all of the supplier's)" },
    { 0, "for", "TIME", OPTION_TEXT, offsetof(struct cli_options, lasts), 0, 0,
      "how long it lasts, as 90s, 30m, 2h or 7d (default: until it is taken back)" },
    { 0, "wait", "TIME", OPTION_TEXT, offsetof(struct cli_options, waits), 0, 0,
      "wait for so long that nothing is under way any more, as 30s or 2m" },
    { 0, "retry", "NAME", OPTION_TEXT, offsetof(struct cli_options, retry), 0, 0,
      "a script that is held back and shall be tried again" },
    { 0, "check", NULL, OPTION_FLAG, offsetof(struct cli_options, is_checking), 0, 0,
      "exit with 1 when something is stale or the engine is not ready" },
    { 0, "product", "flights|hotels", OPTION_TEXT, offsetof(struct cli_options, product), 0, 0,
      "what it sells: flights or hotels (default: flights, or what the pasted request speaks of)" },
    { 0, "origin", NULL, OPTION_FLAG, offsetof(struct cli_options, has_origin), 0, 0,
      "say where each setting comes from, and what it wins over" },
    { 0, "from", "FILE", OPTION_TEXT, offsetof(struct cli_options, from), 0, 0,
      "a pasted curl command; - is standard input" },
    { 0, "events", NULL, OPTION_FLAG, offsetof(struct cli_options, is_events), 0, 0,
      "what happened, in place of what ran" },
    { 0, "shadow", "NAME", OPTION_TEXT, offsetof(struct cli_options, shadow), 0, 0,
      "the supplier whose file is a shadow of what runs; shows its report" },
    { 0, "promote", "NAME", OPTION_TEXT, offsetof(struct cli_options, promote), 0, 0,
      "the supplier whose shadow shall run" },
    { 0, "drop", "NAME", OPTION_TEXT, offsetof(struct cli_options, drop), 0, 0,
      "the supplier whose shadow shall end" },
    { 0, "secrets", NULL, OPTION_FLAG, offsetof(struct cli_options, has_secrets), 0, 0,
      "missing secrets are findings" },
    { 0, "strict", NULL, OPTION_FLAG, offsetof(struct cli_options, is_strict), 0, 0,
      "warnings and what nobody tests or uses are findings; of mock: only what fits exactly is answered" },
    { 0, "listen", "ADDRESS:PORT", OPTION_TEXT, offsetof(struct cli_options, listen), 0, 0,
      "where the first supplier is played; others take the ports behind it (default: 127.0.0.1:9000)" },
    { 0, "settings", "FILE", OPTION_TEXT, offsetof(struct cli_options, settings), 0, 0,
      "write settings that lead suppliers to the mock, and FILE.env with test values of secrets" },
    { 0, "latency", "PROFILE", OPTION_TEXT, offsetof(struct cli_options, latency), 0, 0,
      "recorded (after_ms of the fixtures, the default), none, or a model around it: lognormal,sigma=0.5" },
    { 0, "fault", "FAULT[=SHARE]", OPTION_TEXT, offsetof(struct cli_options, fault), 0, 0,
      "faults in place of answers: drip=5%,reset_body=1% (without a share: always)" },
    { 0, "tls", "DIR", OPTION_TEXT, offsetof(struct cli_options, tls), 0, 0,
      "speak TLS, by a test authority that is kept in DIR (ca.pem)" },
    { 0, "seed", "N", OPTION_NUMBER, offsetof(struct cli_options, seed), 0, UINT64_MAX,
      "what latencies and faults are drawn from (default: 1)" },
    { 0, "once", "N", OPTION_NUMBER, offsetof(struct cli_options, once), 1, UINT64_MAX, "end after so many requests" },
    { 0, "update", NULL, OPTION_FLAG, offsetof(struct cli_options, is_updating), 0, 0,
      "write what came into the fixtures" },
    { 0, "body", "FILE", OPTION_LIST, offsetof(struct cli_options, bodies), 0, 0,
      "a saved answer in place of a live call; again for each further request" },
    { 0, "status", "N", OPTION_LIST, offsetof(struct cli_options, statuses), 100, 599,
      "the HTTP status of the --body before it (default: 200)" },
    { 0, "header", "TEXT", OPTION_LIST, offsetof(struct cli_options, headers), 0, 0,
      "\"Name: value\", a header of the --body before it; may be repeated" },
    { 0, "login", "JSON", OPTION_TEXT, offsetof(struct cli_options, login), 0, 0,
      "with --body: a login that is there already, such as '\"test-login\"'" },
    { 0, "keep", "DIR", OPTION_TEXT, offsetof(struct cli_options, keep), 0, 0,
      "where the bodies are saved (default: a new folder in the temporary directory)" },
    { 0, "all", NULL, OPTION_FLAG, offsetof(struct cli_options, shows_all), 0, 0,
      "cut neither bodies nor offers nor lists" },
    { 0, "as", "FIXTURE", OPTION_TEXT, offsetof(struct cli_options, as), 0, 0,
      "the fixture's name: ok-… for what must not fail, odd-… for all else" },
    { 0, "force", NULL, OPTION_FLAG, offsetof(struct cli_options, is_forced), 0, 0,
      "replace a fixture of that name, and keep one that does not pass" },
};
// clang-format on

const struct cli_command *cli_commands(size_t *count)
{
    *count = COUNT_OF(commands);
    return commands;
}

const struct cli_option_row *cli_option_rows(size_t *count)
{
    *count = COUNT_OF(option_rows);
    return option_rows;
}

const struct cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

bool cli_command_takes(const struct cli_command *command, const char *option)
{
    size_t length = strlen(option);
    const char *rest = command->options == NULL ? "" : command->options;

    while (*rest != '\0') {
        size_t word = strcspn(rest, " ");
        if (word == length && strncmp(rest, option, length) == 0) {
            return true;
        }
        rest += word;
        rest += strspn(rest, " ");
    }
    return false;
}
