/* Triggers the panic of the feature planted-panic. Afterwards every function fails with IDEMCP_PANIC, and freeing the
 * handle still removes its lock file. */
#include <ide_mcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds) \
    do { \
        if (!(holds)) printf("line %d: %s\n", __LINE__, #holds), exit(1); \
    } while (0)

static void panics(idemcp *ed, int kind) {
    CHECK(ed && idemcp_next(ed) == kind);
    const char *text = idemcp_text(ed, "event", NULL);
    CHECK(idemcp_do(ed, "panic", IDEMCP_ZT) == IDEMCP_PANIC);
    CHECK(strstr(idemcp_error(ed), "planted") && strstr(idemcp_error(ed), "handle.rs"));
    CHECK(kind == IDEMCP_NOTHING || !strcmp(text, "listening"));
    CHECK(idemcp_is_over(ed) && idemcp_next(ed) == IDEMCP_PANIC && idemcp_fd(ed) == IDEMCP_PANIC);
    CHECK(idemcp_timeout(ed) == IDEMCP_PANIC && idemcp_quit(ed) == IDEMCP_PANIC);
    CHECK(!idemcp_text(ed, "event", NULL) && idemcp_number(ed, "port", -7) == -7 && !idemcp_json(ed, NULL));
    CHECK(idemcp_accept(ed, 1, NULL, 0) == IDEMCP_PANIC && idemcp_reject(ed, 1) == IDEMCP_PANIC);
    CHECK(idemcp_respond(ed, 1, NULL, 0) == IDEMCP_PANIC);
    CHECK(idemcp_fail(ed, 1, "m") == IDEMCP_PANIC && idemcp_select(ed, NULL, 0, 0, 0, 0, NULL, 0) == IDEMCP_PANIC);
    CHECK(idemcp_mention(ed, "/w/a", -1, 0, 0) == IDEMCP_PANIC && idemcp_do(ed, "{}", 2) == IDEMCP_PANIC);
    CHECK(!idemcp_lock_file(ed, NULL) && idemcp_connect(ed) == IDEMCP_PANIC && !idemcp_wants_input(ed, 1));
    CHECK(idemcp_feed(ed, 1, (const uint8_t *)"a", 1) == IDEMCP_PANIC && idemcp_feed_eof(ed, 1) == IDEMCP_PANIC);
    CHECK(idemcp_next_output(ed, NULL, NULL) == IDEMCP_PANIC && idemcp_written(ed, 1, 1) == IDEMCP_PANIC);
    CHECK(!idemcp_wants_output(ed, 1));
    CHECK(strstr(idemcp_error(ed), "planted"));
    idemcp_free(ed);
}

int main(void) {
    panics(idemcp_new("{\"name\":\"E\",\"folders\":[],\"port\":1,\"token\":\"0123456789abcdef\"}", IDEMCP_ZT, NULL, 0),
           IDEMCP_NOTHING);
    panics(idemcp_open("{\"name\":\"E\",\"folders\":[]}", IDEMCP_ZT, NULL, 0), IDEMCP_LISTENING);
    /* Another handle still works. */
    idemcp *ed = idemcp_open("{\"name\":\"E\",\"folders\":[]}", IDEMCP_ZT, NULL, 0);
    CHECK(ed && idemcp_next(ed) == IDEMCP_LISTENING);
    idemcp_free(ed);
    return 0;
}
