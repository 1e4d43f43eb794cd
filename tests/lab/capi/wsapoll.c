/* An editor on Windows that waits only for the descriptor, with WSAPoll: it answers one bad request with 400, and quits.
 * Exits with 0 and prints nothing if all is well; each kind of failure has a status of its own. */
#include <winsock2.h>
#include <ide_mcp.h>
#include <stdio.h>
#include <string.h>

static SOCKET connect_raw(idemcp *ed) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((u_short)idemcp_number(ed, "port", 0))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    SOCKET peer = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(peer, (struct sockaddr *)&at, sizeof at) != 0) return INVALID_SOCKET;
    send(peer, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27, 0);
    return peer;
}

int main(int argc, char **argv) {
    char config[512], error[256], answer[13] = "";
    SOCKET peer = INVALID_SOCKET;
    snprintf(config, sizeof config, "{\"name\":\"E\",\"folders\":[\"C:/w\"],\"lock_dir\":\"%s\"}", argc > 1 ? argv[1] : "");
    idemcp *ed = idemcp_open(config, IDEMCP_ZT, error, sizeof error);
    if (!ed) return puts(error), 2;
    for (int turns = 0; !idemcp_is_over(ed); turns++) {
        WSAPOLLFD on = {(SOCKET)idemcp_fd(ed), POLLIN, 0};
        /* The descriptor alone must be enough to wake up; a loop that spins takes too many turns. */
        if (WSAPoll(&on, 1, 20000) != 1 || turns > 50) return printf("turn %d: %s\n", turns, idemcp_error(ed)), 3;
        for (int kind; (kind = idemcp_next(ed)) > 0;)
            if (kind == IDEMCP_LISTENING) peer = connect_raw(ed);
        u_long more = 0;
        if (!answer[0] && peer != INVALID_SOCKET && ioctlsocket(peer, FIONREAD, &more) == 0 && more >= 12) {
            recv(peer, answer, 12, 0);
            idemcp_quit(ed);
        }
    }
    idemcp_free(ed);
    return strcmp(answer, "HTTP/1.1 400") == 0 ? 0 : 4;
}
