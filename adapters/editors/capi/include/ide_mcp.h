/* ide_mcp.h - coding agents attach to an editor that is not written in Rust.
 *
 *     char why[256];
 *     idemcp *ed = idemcp_open("{\"name\":\"My Editor\",\"folders\":[\"/w\"],\"tools\":[\"openDiff\"]}",
 *                              IDEMCP_ZT, why, sizeof why);
 *     // Each time that idemcp_fd(ed) is readable:
 *     int kind;
 *     while ((kind = idemcp_next(ed)) > 0)
 *         if (kind == IDEMCP_DIFF)
 *             show(idemcp_number(ed, "call", 0), idemcp_text(ed, "path", NULL), idemcp_text(ed, "contents", NULL));
 *     // Once the person has decided: idemcp_accept(ed, call, NULL, 0) or idemcp_reject(ed, call).
 *
 * docs/sidecar.md describes the configuration, the events and the commands with their members. For all functions:
 *
 *  - No function waits, except for the disk: for the lock file, and for a file that an agent names. None changes
 *    signals, prints, or calls you back. None starts a thread, except that on Windows idemcp_open starts one that only
 *    waits for sockets. Use a handle from one thread at a time.
 *  - Do not trust an agent. The path of an event is absolute, on this machine, has no control character, and leads to
 *    a plain file or to nothing yet; the file of a call that loads it, as a diff does, has at most 16 MiB. A call with
 *    any other path fails before you hear of it. Without a listener (idemcp_new) the library looks at no disk, so look
 *    yourself before you open a path. The names of clients and tabs are one line of at most 64 characters, but an
 *    agent wrote them: never use one as a command or a format.
 *  - idemcp_text(ed, "old", ...) reads the file of a diff, and only when you ask for it. Ask if you do not have the
 *    file open. NULL means that there is no file, or none that can be read; without a listener it is always NULL.
 *    idemcp_json has every member, so it reads the file too. An agent may have many proposals for large files: ask
 *    for the text of one when you show it, and do not keep the others.
 *  - A string that you pass is UTF-8: an address and a length in bytes, or the length IDEMCP_ZT if it ends with a NUL.
 *    A string without a length parameter ends with a NUL. The library copies the string. NULL stands for no string.
 *  - A string that you get belongs to the handle, until idemcp_next or idemcp_free unless the function says otherwise.
 *    A NUL follows it, and it may contain others: its length in bytes is in *len, unless len is NULL. NULL means that
 *    there is no string.
 *  - Lines and columns count from 0, columns in UTF-16 units. Paths are absolute.
 *  - A negative result is a number of idemcp_refusal; idemcp_error says why. The handle has not changed, but after a
 *    refusal of idemcp_next, or IDEMCP_PANIC, you can only free it. NULL instead of a handle is refused.
 *  - As long as IDEMCP_ABI has the same value, later versions only add functions, events and members. Ignore the
 *    kinds of events that you do not know.
 */
#ifndef IDE_MCP_H
#define IDE_MCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IDEMCP_ABI 1u          /* the version of this interface */
#define IDEMCP_ZT ((size_t)-1) /* as a length: the string ends with a NUL */

typedef struct idemcp idemcp; /* an editor, its connections and its lock file */

/* The kinds of events with their members, from the table of docs/sidecar.md; a member with ? may be absent. */
enum idemcp_kind {
    IDEMCP_NOTHING = 0, /* the end of the turn */
    IDEMCP_LISTENING = 1, /* protocol, version, port, lock?, environment */
    IDEMCP_CONSENT = 2, /* conn, client?, version?, model */
    IDEMCP_CONNECTED = 3, /* conn, client?, version? */
    IDEMCP_MODEL_CONNECTED = 4, /* conn, client?, version? */
    IDEMCP_IDE_CONNECTED = 5, /* conn, pid? */
    IDEMCP_ROOTS = 6, /* conn, roots */
    IDEMCP_PERMISSION_MODE = 7, /* conn, mode */
    IDEMCP_DIFF = 8, /* conn, call, tab, label, path, old_path, outside, old?, contents */
    IDEMCP_DIFF_CLOSED = 9, /* conn, call, tab, reason */
    IDEMCP_CALL = 10, /* conn, call, tool, arguments, path? */
    IDEMCP_PROMPT = 11, /* conn, call, name, arguments */
    IDEMCP_RESOURCE = 12, /* conn, call, uri */
    IDEMCP_REQUEST = 31, /* conn, call, method, params, path? */
    IDEMCP_CALL_ENDED = 13, /* conn, call, reason */
    IDEMCP_EDIT_EXPECTED = 14, /* conn, edit, path */
    IDEMCP_EDIT_ENDED = 15, /* conn, edit, path, reason */
    IDEMCP_FORM_ANSWER = 16, /* line, conn, action?, content?, error? */
    IDEMCP_NOTIFICATION = 17, /* conn, method, params? */
    IDEMCP_PROBLEM = 18, /* conn, message */
    IDEMCP_MENTION_EXPIRED = 19, /* path */
    IDEMCP_HIDDEN = 20, /* path */
    IDEMCP_TRUNCATED = 21, /* path */
    IDEMCP_PAUSED = 22,
    IDEMCP_RESUMED = 23,
    IDEMCP_STATUS = 24, /* line?, agents, calls, forms, paused, refused, wrong_tokens, ended */
    IDEMCP_GAP = 25, /* events, calls */
    IDEMCP_LOCK_FILE = 26, /* state, problem? */
    IDEMCP_CLOSED = 27, /* conn, reason */
    IDEMCP_ERROR = 28, /* line?, message */
    IDEMCP_STOPPING = 29, /* reason */
    IDEMCP_OVER = 30
};

/* Why a function does nothing. */
enum idemcp_refusal {
    IDEMCP_MISUSE = -1,  /* NULL instead of a handle or a string, or a function that this handle does not have */
    IDEMCP_INVALID = -2, /* a string that is not UTF-8, has over 100,728,832 bytes, or is wrong for its purpose */
    IDEMCP_GONE = -3,    /* the call has ended or was answered, or the agent has gone */
    IDEMCP_REFUSED = -4, /* not possible now: during a pause, for a hidden file, after idemcp_quit */
    IDEMCP_IO = -5,      /* the lock file was not updated; from idemcp_next: the system failed, only free the handle */
    IDEMCP_PANIC = -6    /* a bug in the library: you can only free the handle */
};

/* Returns the version of the library's interface. If it differs from IDEMCP_ABI, this header does not fit. */
uint32_t idemcp_abi(void);
/* Returns the version of the library, such as "0.2.0". The string stays valid forever. */
const char *idemcp_version(void);

/* Writes a text as a JSON string, with quotation marks, escapes (of at most 6 bytes) and a NUL. Returns the length
 * without the NUL: 0 if the text is NULL, too long or not UTF-8, and size or more if there was not enough room. */
size_t idemcp_quote(char *to, size_t size, const char *text, size_t len);

/* ---- Start and end ---- */

/* Listens on 127.0.0.1 and publishes the lock file. config is the JSON object of the configuration. The first event
 * is IDEMCP_LISTENING. If that fails, the result is NULL, nothing listens, and error (which may be NULL) has the
 * reason, cut to error_size with its NUL. You own the handle: free it with idemcp_free. */
idemcp *idemcp_open(const char *config, size_t len, char *error, size_t error_size);

/* Returns the descriptor to watch for reading, level-triggered, as long as the handle lives. It is readable as long
 * as a turn is due, even after a command: take the turn in the callback of your loop. Do not read from it or close
 * it. On Windows it is a SOCKET, for WSAPoll and whatever else waits for sockets. A handle of idemcp_new has none,
 * and you get IDEMCP_MISUSE, which is -1. */
int idemcp_fd(idemcp *ed);

/* Returns how many milliseconds there are until the next turn is due, for a loop that does not watch the descriptor:
 * 0 for now, negative for no limit. In such a loop connections need turns too: take one every 20 ms at the latest. */
int64_t idemcp_timeout(idemcp *ed);

/* Ends the editor cleanly: removes the lock file of idemcp_open, rejects open diffs, closes the connections. Go on
 * taking turns until IDEMCP_OVER, which follows within a few seconds. A second call is refused. */
int idemcp_quit(idemcp *ed);

/* Returns true after the event IDEMCP_OVER, or if you can only free the handle. */
bool idemcp_is_over(const idemcp *ed);
/* Frees the handle at any time: the lock file is removed, and agents lose their connections. NULL does nothing. */
void idemcp_free(idemcp *ed);
/* Returns why the last refusal happened, until the next one; "" before the first. Never NULL. */
const char *idemcp_error(const idemcp *ed);

/* ---- Events: a turn is idemcp_next until 0 ---- */

/* Returns the kind of the next event, or IDEMCP_NOTHING at the end of the turn. The first call of a turn reads and
 * writes the connections. You may run a command at any time, even between two events. */
int idemcp_next(idemcp *ed);

/* Returns a member of the event as a string: a string as it is, any other value as JSON. "arguments.uri" is the
 * member uri of the JSON object in the member arguments. NULL for null, and if there is no such member. */
const char *idemcp_text(idemcp *ed, const char *member, size_t *len);

/* Returns a member of the event as a number, 1 for true and 0 for false; otherwise if there is no such number. */
int64_t idemcp_number(idemcp *ed, const char *member, int64_t otherwise);
/* Returns the whole event as a JSON object, with its name in the member event. */
const char *idemcp_json(idemcp *ed, size_t *len);

/* ---- Commands ---- */

/* Accepts a diff, with the text if the person has changed it (otherwise NULL), or rejects it. The agent writes the
 * file. */
int idemcp_accept(idemcp *ed, int64_t call, const char *contents, size_t len);
int idemcp_reject(idemcp *ed, int64_t call);

/* Answers a call with JSON as VS Code does (NULL is "OK"), or a prompt or a resource, which need JSON. A call of
 * getDiagnostics also takes what a language server wrote: diagnostics and reports of LSP 3.17. JSON that cannot be
 * used fails the call at once: idemcp_error names the member, such as `result[0].diagnostics[2].range`. */
int idemcp_respond(idemcp *ed, int64_t call, const char *json, size_t len);
/* Answers a diff, a call, a prompt or a resource with a failure. message is for the model. */
int idemcp_fail(idemcp *ed, int64_t call, const char *message);

/* The person selected some text or moved the cursor: call this for every change. Pass NULL for the path when no file
 * has the focus. text may be NULL for a cursor. */
int idemcp_select(idemcp *ed, const char *path, uint32_t line, uint32_t column, uint32_t end_line, uint32_t end_column,
                  const char *text, size_t len);

/* Mentions a file in the prompt of an agent. A negative first_line means the whole file, and conn 0 the agent that
 * attached last. */
int idemcp_mention(idemcp *ed, const char *path, int64_t first_line, int64_t last_line, int64_t conn);

/* Runs any command in JSON, such as {"cmd":"timeout","call":7,"within":60000}. Returns the number of the command,
 * from 1; the events IDEMCP_FORM_ANSWER and IDEMCP_STATUS have it as their line. */
int64_t idemcp_do(idemcp *ed, const char *json, size_t len);

/* ---- Without sockets: for loops that have their own connections, and for tests ---- */

/* Creates an editor without network and disk. Its configuration must have the port on which you listen, and a token.
 * The result and error are as for idemcp_open. One turn:
 *
 *  1. Call idemcp_connect for each accepted connection. Pass its bytes to idemcp_feed while idemcp_wants_input, and
 *     its end to idemcp_feed_eof.
 *  2. Call idemcp_next until 0.
 *  3. Call idemcp_next_output until 0, in each turn. Write the bytes to the connection's socket, and tell
 *     idemcp_written how many it took; if there are no bytes, close the socket.
 *  4. Wait for a socket, but no longer than idemcp_timeout: for input while idemcp_wants_input, for room while
 *     idemcp_wants_output.
 *
 * A handle of idemcp_open refuses the functions below. A connection that has ended has no input and no output. */
idemcp *idemcp_new(const char *config, size_t len, char *error, size_t error_size);

/* Returns the contents of the lock file. Publish them as PORT.lock with mode 0600, again after the command folders,
 * and remove the file at the end. */
const char *idemcp_lock_file(idemcp *ed, size_t *len);
/* Adds an accepted connection, and returns its number, from 1. No other connection ever gets this number. */
int64_t idemcp_connect(idemcp *ed);
/* Returns true if the connection takes more bytes now. */
bool idemcp_wants_input(idemcp *ed, int64_t conn);
/* Takes bytes of a connection, at most 256 KiB in one call and only while idemcp_wants_input. */
int idemcp_feed(idemcp *ed, int64_t conn, const uint8_t *bytes, size_t len);
/* Call this at the end of a connection: the peer sends nothing more, or the last write has failed. After a failed
 * write, or a second end, nothing more is written to it. */
int idemcp_feed_eof(idemcp *ed, int64_t conn);
/* Returns true if bytes of the connection wait for room in its socket. */
bool idemcp_wants_output(idemcp *ed, int64_t conn);
/* Returns the next connection with output, and writes the address and the number of the bytes, which live until the
 * next function on the handle. NULL means that the connection has ended: close its socket. Returns 0 at the end of
 * the turn. */
int64_t idemcp_next_output(idemcp *ed, const uint8_t **bytes, size_t *len);
/* Reports that the socket took the first len bytes of the connection's last output. Call it once for each output;
 * other functions may come in between. What the socket did not take is offered again: at once, or in the next turn if
 * it took nothing. So is an output that you have not reported yet: do not write it a second time. */
int idemcp_written(idemcp *ed, int64_t conn, size_t len);
#ifdef __cplusplus
}
#endif
#endif
