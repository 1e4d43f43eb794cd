/* An editor on poll(2), with one file that has one diagnostic. You are the person; type one key per line: s selects
 * some text, m mentions the file, a accepts the proposed text, r rejects it, q quits.
 *
 *     cc poll_editor.c -I../include -L../../../../target/release -lidemcp -o poll_editor
 *     LD_LIBRARY_PATH=../../../../target/release ./poll_editor "$PWD"
 */
#include <ide_mcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[4200], uri[4300], file[26000]; /* the file, its URI, and the URI as JSON */
static int64_t diff; /* the diff that the person sees; 0 for none */

static void check(idemcp *ed, int64_t result) {
    if (result < 0) fprintf(stderr, "%s\n", idemcp_error(ed));
}

/* Prints a string from an agent without its control characters, which could control the terminal: those of ASCII, and
 * U+0080 to U+009F, whose two bytes begin with C2. */
static void print_safe(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool is_long = *at == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0;
        bool is_control = is_long || *at == 0x7F || (*at < ' ' && *at != '\n' && *at != '\t');
        putchar(is_control ? '?' : *at);
        at += is_long;
    }
    putchar('\n');
}

static void on_call(idemcp *ed, int64_t call) {
    const char *tool = idemcp_text(ed, "tool", NULL), *of = idemcp_text(ed, "arguments.uri", NULL);
    char json[27000];
    if (strcmp(tool, "getDiagnostics") == 0 && of && strcmp(of, uri) != 0) {
        check(ed, idemcp_fail(ed, call, "the diagnostics of this file are unknown")); /* [] would mean that there are none */
    } else if (strcmp(tool, "getDiagnostics") == 0) {
        snprintf(json, sizeof json,
                 "[{\"uri\":%s,\"diagnostics\":[{\"message\":\"not a word\",\"severity\":\"Error\",\"range\":"
                 "{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":0,\"character\":5}}}]}]", file);
        check(ed, idemcp_respond(ed, call, json, IDEMCP_ZT));
    } else if (strcmp(tool, "getOpenEditors") == 0) {
        snprintf(json, sizeof json, "{\"tabs\":[{\"uri\":%s,\"isActive\":true,\"label\":\"hello.txt\"}]}", file);
        check(ed, idemcp_respond(ed, call, json, IDEMCP_ZT));
    } else if (strcmp(tool, "openFile") == 0) {
        printf("open %s\n", idemcp_text(ed, "arguments.filePath", NULL));
        check(ed, idemcp_respond(ed, call, NULL, 0));
    } else {
        check(ed, idemcp_fail(ed, call, "this editor does not have the tool"));
    }
}

static void on_event(idemcp *ed, int kind) {
    int64_t call = idemcp_number(ed, "call", 0);
    if (kind == IDEMCP_CALL) {
        on_call(ed, call);
    } else if (kind == IDEMCP_DIFF && diff != 0) {
        check(ed, idemcp_fail(ed, call, "another diff is open")); /* so the agent asks in its terminal */
    } else if (kind == IDEMCP_DIFF) {
        diff = call; /* answered later, by the person */
        printf("diff %s\n", idemcp_text(ed, "path", NULL)); /* has no control characters: the library has checked it */
        print_safe(idemcp_text(ed, "contents", NULL));
    } else if (kind == IDEMCP_DIFF_CLOSED && diff == call) {
        diff = 0;
        printf("closed: %s\n", idemcp_text(ed, "reason", NULL));
    } else {
        printf("%s\n", idemcp_json(ed, NULL));
    }
}

/* Returns false at the end of standard input. */
static bool on_key(idemcp *ed) {
    char key[64] = "q";
    bool is_open = fgets(key, sizeof key, stdin) != NULL;
    if (key[0] == 's') check(ed, idemcp_select(ed, path, 0, 0, 0, 5, "hello", IDEMCP_ZT));
    if (key[0] == 'm') check(ed, idemcp_mention(ed, path, 0, 2, 0));
    if (key[0] == 'a') check(ed, idemcp_accept(ed, diff, NULL, 0)), diff = 0;
    if (key[0] == 'r') check(ed, idemcp_reject(ed, diff)), diff = 0;
    if (key[0] == 'q') check(ed, idemcp_quit(ed));
    return is_open && key[0] != 'q';
}

int main(int argc, char **argv) {
    char folder[24100], config[25000], why[256];
    snprintf(path, sizeof path, "%.4000s", argc > 1 ? argv[1] : "/");
    idemcp_quote(folder, sizeof folder, path, IDEMCP_ZT);
    snprintf(config, sizeof config, "{\"name\":\"poll editor\",\"folders\":[%s],\"tools\":[\"openDiff\","
             "\"getDiagnostics\",\"getOpenEditors\",\"openFile\"]}", folder);
    idemcp *ed = idemcp_open(config, IDEMCP_ZT, why, sizeof why);
    if (!ed) return fprintf(stderr, "%s\n", why), 1;
    strcat(path, "/hello.txt");
    snprintf(uri, sizeof uri, "file://%s", path);
    idemcp_quote(file, sizeof file, uri, IDEMCP_ZT);
    setvbuf(stdin, NULL, _IONBF, 0); /* poll sees what stdio has not read */
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (struct pollfd on[2] = {{idemcp_fd(ed), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};;) {
        int kind;
        while ((kind = idemcp_next(ed)) > 0) on_event(ed, kind);
        check(ed, kind);
        if (idemcp_is_over(ed)) break;
        if (poll(on, 2, -1) > 0 && on[1].revents && !on_key(ed)) on[1].fd = -1;
    }
    idemcp_free(ed);
    return 0;
}
