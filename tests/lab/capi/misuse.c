/* Calls every function with arguments that no editor should pass; no call may crash the program. If you start the
 * program with an argument, it passes a length beyond the end of a buffer, which valgrind and AddressSanitizer must
 * find. */
#include <ide_mcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES "{\"name\":\"E\",\"folders\":[\"/w\"],\"port\":4711,\"token\":\"0123456789abcdef\"}"
#define MOST ((size_t)100728832) /* the longest string that is allowed */
#define LISTENING "{\"name\":\"E\",\"folders\":[\"/w\"]}"

#define CHECK(holds) \
    do { \
        if (!(holds)) fprintf(stderr, "line %d: %s\n", __LINE__, #holds), exit(1); \
    } while (0)

static idemcp *ed;

/* Passes invalid strings, and checks the reason that the library gives. */
static void wrong_texts(void) {
    char *exact = malloc(2);
    CHECK(exact);
    memcpy(exact, "{}", 2);
    CHECK(idemcp_do(ed, exact, 2) == IDEMCP_INVALID && strstr(idemcp_error(ed), "cmd"));
    free(exact);
    CHECK(idemcp_do(ed, NULL, 0) == IDEMCP_MISUSE && strstr(idemcp_error(ed), "NULL"));
    CHECK(idemcp_do(ed, "", 0) == IDEMCP_INVALID);
    CHECK(idemcp_do(ed, "\xff", 1) == IDEMCP_INVALID && strstr(idemcp_error(ed), "UTF-8"));
    CHECK(idemcp_do(ed, "{}", SIZE_MAX - 1) == IDEMCP_INVALID && strstr(idemcp_error(ed), "bytes"));
    CHECK(idemcp_do(ed, "{}", SIZE_MAX / 2) == IDEMCP_INVALID);
    char *most = calloc(1, MOST + 1);
    CHECK(most);
    most[0] = '\xff';
    CHECK(idemcp_do(ed, most, MOST) == IDEMCP_INVALID && strstr(idemcp_error(ed), "UTF-8"));
    CHECK(idemcp_do(ed, most, MOST + 1) == IDEMCP_INVALID && strstr(idemcp_error(ed), "100728833 bytes"));
    free(most);
    CHECK(idemcp_do(ed, "{\"cmd\":\"\\u0000\"}", IDEMCP_ZT) == IDEMCP_INVALID);
    CHECK(idemcp_select(ed, "\xff", 0, 0, 0, 0, NULL, 0) == IDEMCP_INVALID);
    CHECK(idemcp_select(ed, NULL, 0, 0, 0, 0, NULL, IDEMCP_ZT) == 0);
    CHECK(idemcp_select(ed, "/w/a", UINT32_MAX, UINT32_MAX, 0, 0, "\0", 1) == 0);
    CHECK(idemcp_mention(ed, NULL, -1, 0, 0) == IDEMCP_MISUSE);
    CHECK(idemcp_mention(ed, "/w/a", INT64_MAX, 0, 0) == IDEMCP_INVALID);
    CHECK(idemcp_mention(ed, "/w/a", 0, -1, 0) == IDEMCP_INVALID);
    CHECK(idemcp_mention(ed, "/w/a", 0, 0, INT64_MIN) == IDEMCP_GONE);
    size_t len = 7;
    CHECK(!idemcp_text(ed, NULL, &len) && len == 0 && !idemcp_text(ed, ".", NULL) && !idemcp_text(ed, "\xff", NULL));
    CHECK(idemcp_number(ed, NULL, -7) == -7 && idemcp_number(ed, "no.such.member", -7) == -7);
}

static void wrong_calls(void) {
    static const int64_t calls[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    for (int i = 0; i < 5; i++) {
        CHECK(idemcp_accept(ed, calls[i], NULL, 0) == IDEMCP_GONE);
        CHECK(idemcp_accept(ed, calls[i], "\xff", 1) == IDEMCP_INVALID);
        CHECK(idemcp_reject(ed, calls[i]) == IDEMCP_GONE);
        CHECK(idemcp_respond(ed, calls[i], NULL, 7) == IDEMCP_GONE);
        CHECK(idemcp_respond(ed, calls[i], "{", 1) == IDEMCP_INVALID);
        CHECK(idemcp_fail(ed, calls[i], "m") == IDEMCP_GONE && idemcp_fail(ed, calls[i], NULL) == IDEMCP_MISUSE);
    }
}

/* Checks that each of the functions that move bytes returns this result for this connection, and does nothing. */
static void bytes(int64_t conn, int result) {
    size_t len = 7;
    CHECK(idemcp_feed(ed, conn, (const uint8_t *)"x", 1) == result && idemcp_feed_eof(ed, conn) == result);
    const uint8_t *out = (const uint8_t *)"x";
    CHECK(idemcp_written(ed, conn, SIZE_MAX) == result && !idemcp_wants_input(ed, conn) && !idemcp_wants_output(ed, conn));
    CHECK(idemcp_next_output(ed, &out, &len) == result && !out && len == 0);
    CHECK(idemcp_next_output(ed, NULL, NULL) == result);
}

/* Takes turns until the editor is over, and then still uses the handle. */
static void end(void) {
    CHECK(idemcp_quit(ed) == 0 && idemcp_quit(ed) == IDEMCP_REFUSED);
    while (!idemcp_is_over(ed)) CHECK(idemcp_next(ed) >= 0);
    CHECK(idemcp_next(ed) == 0 && idemcp_next(ed) == 0 && !idemcp_json(ed, NULL) && !idemcp_text(ed, "event", NULL));
    CHECK(idemcp_do(ed, "{\"cmd\":\"status\"}", IDEMCP_ZT) == IDEMCP_REFUSED && idemcp_quit(ed) == IDEMCP_REFUSED);
    CHECK(idemcp_timeout(ed) >= -1);
    idemcp_free(ed);
}

int main(int argc, char **argv) {
    (void)argv;
    char why[256] = "", tiny[5] = "xxxx";
    CHECK(idemcp_abi() == IDEMCP_ABI && idemcp_version()[1] == '.');
    CHECK(!ed && idemcp_next(ed) == IDEMCP_MISUSE && idemcp_fd(ed) == IDEMCP_MISUSE && idemcp_is_over(ed));
    CHECK(idemcp_timeout(ed) == IDEMCP_MISUSE && idemcp_quit(ed) == IDEMCP_MISUSE && !idemcp_json(ed, NULL));
    CHECK(!idemcp_text(ed, "a", NULL) && idemcp_number(ed, "a", 7) == 7);
    CHECK(idemcp_do(ed, "{}", 2) == IDEMCP_MISUSE && idemcp_reject(ed, 1) == IDEMCP_MISUSE && !idemcp_lock_file(ed, NULL));
    CHECK(idemcp_connect(ed) == IDEMCP_MISUSE && strstr(idemcp_error(ed), "NULL"));
    bytes(1, IDEMCP_MISUSE);
    idemcp_free(NULL);
    CHECK(idemcp_quote(why, sizeof why, "\0\"", 2) == 10 && !strcmp(why, "\"\\u0000\\\"\""));
    CHECK(idemcp_quote(why, 2, "", 0) == 2 && !why[0] && idemcp_quote(why, 3, "", 0) == 2 && !strcmp(why, "\"\""));
    CHECK(!idemcp_quote(why, 3, NULL, 0) && !why[0] && !idemcp_quote(why, 3, "\xed\xa0\x80", 3) && !why[0]);
    CHECK(idemcp_quote(NULL, 0, "a", 1) == 3 && !idemcp_quote(NULL, 9, "a", SIZE_MAX - 1));
    CHECK(!idemcp_open(NULL, 0, why, sizeof why) && strstr(why, "NULL"));
    CHECK(!idemcp_open("{}", SIZE_MAX - 1, NULL, 7) && !idemcp_new("{}", 2, why, 0) && !idemcp_new("\xff", 1, why, 1));
    CHECK(why[0] == 0 && !idemcp_new("{}", 2, tiny, sizeof tiny) && strcmp(tiny, "the ") == 0);
    CHECK(!idemcp_new(LISTENING, IDEMCP_ZT, why, sizeof why) && strstr(why, "port"));

    CHECK((ed = idemcp_new(BYTES, IDEMCP_ZT, why, sizeof why)));
    CHECK(idemcp_fd(ed) == IDEMCP_MISUSE && idemcp_timeout(ed) == 0 && idemcp_next(ed) == 0 && *idemcp_error(ed));
    wrong_texts();
    wrong_calls();
    for (int64_t conn = -1; conn < 3; conn++) bytes(conn, 0);
    int64_t conn = idemcp_connect(ed);
    if (argc > 1) {
        uint8_t *small = calloc(1, 8);
        (void)idemcp_feed(ed, conn, small, 64);
        free(small);
    }
    CHECK(conn > 0 && idemcp_wants_input(ed, conn) && idemcp_feed(ed, conn, NULL, 7) == IDEMCP_MISUSE);
    CHECK(idemcp_feed(ed, conn, (const uint8_t *)"GET", 3) == 0 && idemcp_written(ed, conn, SIZE_MAX) == 0);
    CHECK(idemcp_feed(ed, conn, (const uint8_t *)"x", SIZE_MAX) == IDEMCP_INVALID && idemcp_feed_eof(ed, conn) == 0);
    CHECK(idemcp_next(ed) == 0 && idemcp_feed_eof(ed, conn) == 0);
    const uint8_t *out;
    size_t len;
    CHECK(idemcp_next_output(ed, &out, &len) == conn && !out && len == 0);
    bytes(conn, 0);
    CHECK(strlen(idemcp_lock_file(ed, &len)) == len);
    end();

    CHECK((ed = idemcp_open(LISTENING, IDEMCP_ZT, why, sizeof why)));
    CHECK(idemcp_fd(ed) > 2 && idemcp_next(ed) == IDEMCP_LISTENING && idemcp_number(ed, "port", 0) > 0);
    CHECK(!strcmp(idemcp_text(ed, "event", NULL), "listening") && idemcp_json(ed, &len) == idemcp_json(ed, NULL));
    CHECK(idemcp_text(ed, "port", NULL) == idemcp_text(ed, "port", NULL) && idemcp_number(ed, "lock", -7) == -7);
    wrong_texts();
    wrong_calls();
    bytes(1, IDEMCP_MISUSE);
    CHECK(idemcp_connect(ed) == IDEMCP_MISUSE && !idemcp_lock_file(ed, &len) && len == 0);
    end();
    CHECK((ed = idemcp_open(LISTENING, IDEMCP_ZT, why, sizeof why)));
    idemcp_free(ed);
    return 0;
}
