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
 *  - No function waits, but for a disk: that of the lock file, and that of a file which an agent names. None touches a
 *    signal, prints, or calls the editor back. None starts a thread, but on Windows idemcp_open one, which waits for
 *    sockets and does nothing else. One thread at a time uses a handle.
 *  - An agent is a stranger. A path of an event is absolute, on this machine, has no control character, and leads to a
 *    plain file of at most 16 MiB or to nothing yet: a call with another path fails before there is an event. Without a
 *    listener (idemcp_new) the library looks at no disk: look yourself before you open a path. The names of clients and
 *    tabs are one line of at most 64 characters, but still words of a stranger: no command, no format.
 *  - idemcp_text(ed, "old", ...) reads the file of a diff, and only when you ask for it. Ask if you do not have the file
 *    open. NULL means that there is no file, or none that can be read; without a listener there is always none.
 *    idemcp_json has every member, and so reads the file too. An agent can have many proposals for large files: ask for
 *    the text of one when you show it, and keep no others.
 *  - A text that the editor passes is UTF-8: an address and a length in bytes, or the length IDEMCP_ZT if a NUL ends
 *    the text. A parameter without a length ends with a NUL. The library copies the text. NULL stands for no text.
 *  - A text that a function returns belongs to the handle, until idemcp_next or idemcp_free if nothing else is said. A
 *    NUL follows it, and it can contain others: its length in bytes is in *len, unless len is NULL. NULL is no text.
 *  - Lines and columns count from 0, columns in UTF-16 units. Paths are absolute.
 *  - A negative result is a number of idemcp_refusal, and idemcp_error has the reason. The handle has not changed, but
 *    after a refusal of idemcp_next, or IDEMCP_PANIC, it can only be freed. NULL in place of a handle is refused.
 *  - As long as IDEMCP_ABI has the same value, later versions add functions, events and members, and change none. The
 *    editor passes over the kinds of events that it does not know.
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
#define IDEMCP_ZT ((size_t)-1) /* the length of a text that a NUL ends */

typedef struct idemcp idemcp; /* an editor, its connections and its lock file */

/* The kinds of events with their members, from the table of docs/sidecar.md; a member with ? can be absent. */
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

/* The reasons for which a function does nothing. */
enum idemcp_refusal {
    IDEMCP_MISUSE = -1,  /* NULL in place of a handle or of a text, or a function that this handle does not have */
    IDEMCP_INVALID = -2, /* a text that is not UTF-8, has over 100,728,832 bytes, or is wrong for its purpose */
    IDEMCP_GONE = -3,    /* the call has ended or was answered, or the agent is gone */
    IDEMCP_REFUSED = -4, /* refused in this state: during a pause, for a hidden file, after idemcp_quit */
    IDEMCP_IO = -5,      /* the system failed; after idemcp_next the handle can only be freed */
    IDEMCP_PANIC = -6    /* a defect of the library: the handle can only be freed */
};

/* Returns the ABI of the library. If it differs from IDEMCP_ABI, this header does not fit the library. */
uint32_t idemcp_abi(void);
/* Returns the version of the library, such as "0.2.0". The text stays. */
const char *idemcp_version(void);

/* Writes a text as a JSON string, with quotation marks, escapes (of at most 6 bytes) and a NUL. Returns the length
 * without the NUL: 0 if the text is NULL, too long or not UTF-8, and size or more if there was no room. */
size_t idemcp_quote(char *to, size_t size, const char *text, size_t len);

/* ---- Begin and end ---- */

/* Listens on 127.0.0.1 and publishes the lock file. config is the JSON object of the configuration. The first event is
 * IDEMCP_LISTENING. After a failure the result is NULL, nothing listens, and error (or NULL) has the reason, cut to
 * error_size with its NUL. The editor owns the handle, and ends it with idemcp_free. */
idemcp *idemcp_open(const char *config, size_t len, char *error, size_t error_size);

/* Returns the descriptor to watch for reading, level-triggered, as long as the handle lives. It is readable as long as
 * a turn is due, also after a command: take the turn in the callback of the loop. Do not read from it or close it. On
 * Windows it is a SOCKET, for WSAPoll and whatever else waits for sockets. For a handle of idemcp_new there is none:
 * IDEMCP_MISUSE, which is -1. */
int idemcp_fd(idemcp *ed);

/* Returns the milliseconds until the next turn is due, for a loop that does not watch the descriptor: 0 for now, negative
 * for no limit. In such a loop connections need turns as well: take one every 20 ms at the latest. */
int64_t idemcp_timeout(idemcp *ed);

/* Ends the editor in good order: removes the lock file of idemcp_open, rejects open diffs, closes the connections.
 * Continue with turns until IDEMCP_OVER, which follows within a few seconds. Refuses the second time. */
int idemcp_quit(idemcp *ed);

/* Returns true after the event IDEMCP_OVER, and if the handle can only be freed. */
bool idemcp_is_over(const idemcp *ed);
/* Frees the handle at any time: the lock file is removed, and agents lose their connections. NULL has no effect. */
void idemcp_free(idemcp *ed);
/* Returns the reason of the latest refusal, until the next one; "" before the first. Never NULL. */
const char *idemcp_error(const idemcp *ed);

/* ---- Events: a turn is idemcp_next until 0 ---- */

/* Returns the kind of the next event, or IDEMCP_NOTHING at the end of the turn. The first call of a turn reads and
 * writes the connections. A command can come at any time, also between two events. */
int idemcp_next(idemcp *ed);

/* Returns a member of the event as text: a text as it is, another value as JSON. "arguments.uri" is the member uri of
 * the JSON object in the member arguments. NULL for null and for no such member. */
const char *idemcp_text(idemcp *ed, const char *member, size_t *len);

/* Returns a member of the event as a number, 1 for true and 0 for false; otherwise if there is no such number. */
int64_t idemcp_number(idemcp *ed, const char *member, int64_t otherwise);
/* Returns the whole event as a JSON object, with its name in the member event. */
const char *idemcp_json(idemcp *ed, size_t *len);

/* ---- Commands ---- */

/* Accepts a diff, with the text if the person has changed it, or NULL; or rejects it. The agent writes the file. */
int idemcp_accept(idemcp *ed, int64_t call, const char *contents, size_t len);
int idemcp_reject(idemcp *ed, int64_t call);

/* Answers a call with JSON as VS Code has it (NULL is "OK"), or a prompt or a resource, which need JSON. A call of
 * getDiagnostics also takes what a language server wrote: diagnostics and reports of LSP 3.17. JSON that cannot be used
 * fails the call at once: idemcp_error names the member, such as `result[0].diagnostics[2].range`. */
int idemcp_respond(idemcp *ed, int64_t call, const char *json, size_t len);
/* Answers a diff, a call, a prompt or a resource with a failure. message is for the model. */
int idemcp_fail(idemcp *ed, int64_t call, const char *message);

/* The person selected a text, or moved the cursor: call the function for every change. Without a path, no file has the
 * focus. text can be NULL for a cursor. */
int idemcp_select(idemcp *ed, const char *path, uint32_t line, uint32_t column, uint32_t end_line, uint32_t end_column,
                  const char *text, size_t len);

/* Mentions a file in the prompt of an agent. A negative first_line: the whole file. conn 0: the latest agent. */
int idemcp_mention(idemcp *ed, const char *path, int64_t first_line, int64_t last_line, int64_t conn);

/* Executes any command in JSON, such as {"cmd":"timeout","call":7,"within":60000}. Returns the number of the command,
 * from 1, which the events IDEMCP_FORM_ANSWER and IDEMCP_STATUS have as their line. */
int64_t idemcp_do(idemcp *ed, const char *json, size_t len);

/* ---- Without sockets: for loops with connections of their own, and for tests ---- */

/* Creates an editor without network and disk. Its configuration has the port on which the editor listens, and a token.
 * The result and error are as for idemcp_open. One turn:
 *
 *  1. idemcp_connect for each accepted connection. Bytes of each connection that idemcp_wants_input go to idemcp_feed,
 *     and the end of a connection to idemcp_feed_eof.
 *  2. idemcp_next until 0.
 *  3. idemcp_next_output until 0, in each turn. Write the bytes to the socket of the connection, and report
 *     to idemcp_written how many it took; or close the socket, if there are none.
 *  4. Wait for a socket, for at most idemcp_timeout: for input while idemcp_wants_input, for room while
 *     idemcp_wants_output.
 *
 * The functions below refuse for a handle of idemcp_open. A connection that is over has no input and no output. */
idemcp *idemcp_new(const char *config, size_t len, char *error, size_t error_size);

/* Returns the text of the lock file. The editor publishes it as PORT.lock with the mode 0600, again after the command
 * folders, and removes it at the end. */
const char *idemcp_lock_file(idemcp *ed, size_t *len);
/* Adds an accepted connection, and returns its number, from 1. No other connection gets the number. */
int64_t idemcp_connect(idemcp *ed);
/* Returns true if the connection takes more bytes now. */
bool idemcp_wants_input(idemcp *ed, int64_t conn);
/* Takes bytes of a connection, at most 256 KiB in one call and only while idemcp_wants_input. */
int idemcp_feed(idemcp *ed, int64_t conn, const uint8_t *bytes, size_t len);
/* Takes the end of a connection: the peer sends nothing more, or the last write has failed. After a failed write, or a
 * second end, nothing more is written to it. */
int idemcp_feed_eof(idemcp *ed, int64_t conn);
/* Returns true if bytes of the connection wait for room in its socket. */
bool idemcp_wants_output(idemcp *ed, int64_t conn);
/* Returns the next connection with output, and writes the address and the number of the bytes, which live until the next
 * function on the handle. NULL: the connection is over, and its socket is to be closed. Returns 0 at the end of the turn. */
int64_t idemcp_next_output(idemcp *ed, const uint8_t **bytes, size_t *len);
/* Takes note that the socket took the first len bytes of the last output of the connection; once, and also after other
 * functions. What the socket did not take comes again: at once, or in the next turn if it took nothing. So does an output
 * that is not reported yet: do not write it a second time. */
int idemcp_written(idemcp *ed, int64_t conn, size_t len);
#ifdef __cplusplus
}
#endif
#endif
