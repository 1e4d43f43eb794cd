/* An editor with its own sockets: idemcp_new. It accepts every proposed text, and ends when its standard input ends.
 *
 *     cc own_sockets.c -I../include -L../../../../target/release -lidemcp -o own_sockets
 *     LD_LIBRARY_PATH=../../../../target/release ./own_sockets "$PWD" ~/.claude/ide
 */
#include <ide_mcp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST = 64 };
static struct pollfd on[MOST] = {{STDIN_FILENO, POLLIN, 0}}; /* then the listener, then the connections */
static int64_t conns[MOST];
static nfds_t n = 2;

static void on_event(idemcp *ed, int kind) {
    int64_t call = idemcp_number(ed, "call", 0);
    if (kind == IDEMCP_DIFF) idemcp_accept(ed, call, NULL, 0);
    else if (kind == IDEMCP_CALL) idemcp_fail(ed, call, "this editor does not have the tool");
}

/* Reads once per turn. If bytes are left, poll(2) reports the socket again. */
static void read_some(idemcp *ed, nfds_t i) {
    static uint8_t bytes[65536];
    if (!idemcp_wants_input(ed, conns[i])) return;
    ssize_t got = read(on[i].fd, bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) idemcp_feed(ed, conns[i], bytes, (size_t)got);
    else idemcp_feed_eof(ed, conns[i]);
}

static void write_all(idemcp *ed) {
    const uint8_t *out;
    size_t len;
    for (int64_t conn; (conn = idemcp_next_output(ed, &out, &len)) > 0;) {
        nfds_t i = 2;
        while (conns[i] != conn) i++;
        if (!out) {
            close(on[i].fd);
            on[i] = on[--n], conns[i] = conns[n];
            continue;
        }
        ssize_t put = send(on[i].fd, out, len, MSG_NOSIGNAL);
        if (put >= 0) idemcp_written(ed, conn, (size_t)put);
        else if (errno != EAGAIN && errno != EINTR) idemcp_feed_eof(ed, conn);
    }
    for (nfds_t i = 2; i < n; i++)
        on[i].events = (short)((idemcp_wants_output(ed, conns[i]) ? POLLOUT : 0) | (idemcp_wants_input(ed, conns[i]) ? POLLIN : 0));
}

int main(int argc, char **argv) {
    char folder[6000], text[8000], lock[4096], why[256];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    unsigned char dice[16];
    if (argc < 3) return fprintf(stderr, "usage: own_sockets FOLDER LOCK_DIRECTORY\n"), 1;
    int random = open("/dev/urandom", O_RDONLY);
    on[1] = (struct pollfd){socket(AF_INET, SOCK_STREAM, 0), POLLIN, 0};
    if (read(random, dice, 16) != 16 || bind(on[1].fd, (void *)&at, size) || listen(on[1].fd, 16) ||
        getsockname(on[1].fd, (void *)&at, &size)) return perror("own_sockets"), 1;
    close(random);
    if (idemcp_quote(folder, sizeof folder, argv[1], IDEMCP_ZT) >= sizeof folder) return 1;
    int used = snprintf(text, sizeof text, "{\"name\":\"own sockets\",\"folders\":[%s],\"tools\":[\"openDiff\"],"
                        "\"port\":%d,\"token\":\"", folder, ntohs(at.sin_port));
    for (int i = 0; i < 16; i++) used += snprintf(text + used, sizeof text - (size_t)used, "%02x", dice[i]);
    snprintf(text + used, sizeof text - (size_t)used, "\"}");
    idemcp *ed = idemcp_new(text, IDEMCP_ZT, why, sizeof why);
    if (!ed) return fprintf(stderr, "%s\n", why), 1;
    snprintf(lock, sizeof lock, "%s/%d.lock", argv[2], ntohs(at.sin_port));
    int file = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (dprintf(file, "%s", idemcp_lock_file(ed, NULL)) < 0 || close(file) < 0) return perror(lock), 1;
    while (!idemcp_is_over(ed)) {
        int kind;
        while ((kind = idemcp_next(ed)) > 0) on_event(ed, kind);
        write_all(ed);
        int64_t within = idemcp_timeout(ed);
        if (poll(on, n, within > 60000 ? 60000 : (int)within) <= 0) continue;
        if (on[0].revents && read(STDIN_FILENO, text, sizeof text) <= 0) on[0].fd = -1, unlink(lock), idemcp_quit(ed);
        for (nfds_t i = 2; i < n; i++) if (on[i].revents) read_some(ed, i);
        int taken = on[1].revents && n < MOST ? accept(on[1].fd, NULL, NULL) : -1;
        if (taken < 0 || fcntl(taken, F_SETFL, O_NONBLOCK) < 0) continue;
        conns[n] = idemcp_connect(ed);
        on[n++] = (struct pollfd){taken, POLLIN, 0};
    }
    close(on[1].fd);
    return idemcp_free(ed), 0;
}
