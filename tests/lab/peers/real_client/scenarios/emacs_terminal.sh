# shellcheck shell=bash
# The client in a terminal of Emacs, opened by the package: it attaches, hides and comes back, takes a mention from
# Dired, and its proposal is accepted by a key in another window. Of two agents, the chosen one takes the mention.
# Clients: claude-2.*
# Needs: emacs
root=$(cd "$here/../../../.." && pwd)

write_client_program "$work/agent"
cat >"$work/init.el" <<LISP
(add-to-list 'load-path "$root/adapters/editors/emacs")
(require 'ide-mcp)
(setq ide-mcp-agent-command '("$work/agent")
      ide-mcp-terminal-size 75
      ide-mcp-layout 'inline
      suggest-key-bindings nil
      extended-command-suggest-shorter nil)
(global-set-key (kbd "<f5>") #'ide-mcp-toggle)
(global-set-key (kbd "<f6>") #'ide-mcp-accept)
(global-set-key (kbd "<f7>") #'ide-mcp-focus)
(advice-add 'ide-mcp--handle :before
            (lambda (event) (write-region (concat (json-serialize event) "\n") nil "$events" t)))
(ide-mcp-mode)
LISP
start_editor_in_terminal emacs -nw -Q -l "$work/init.el" a.txt
tmux_socket=$tmux_socket.editor # the client is in there too
tmux_run resize-window -x 150 -y 45

# Runs a command of the package, or evaluates an expression.
type_command() {
    case $1 in
        \(*) tmux_run send-keys M-: "$1" Enter ;;
        *) tmux_run send-keys M-x "$1" Enter ;;
    esac
}

press F5
expect_attached
sleep 4 # no message says when the client begins to accept pushes
press F5
expect_not_on_screen 'shortcuts|❯' 10
press F5
expect_screen '❯' 10
press F7 # back in the file

type_command '(progn (dired ".") (dired-goto-file (expand-file-name "b.txt")))'
type_command ide-mcp-mention
expect_screen '@b.txt' 20
press F7
tmux_run send-keys C-c C-c # in a terminal of Emacs, this is C-c; it clears the prompt
expect_not_on_screen '@b.txt' 10
press F7

# A text is typed, and submitted with a prefix argument.
type_command '(ide-mcp-send "what are")'
expect_screen '❯.*what +are' 10
type_command '(ide-mcp-send " these berries" t)'
expect_model 'these berries'

press F7
submit 'write new.txt with proposed'
expect_event '"contents":"proposed' 20
expect_screen 'C-c C-c accepts' 20
press F7 # the terminal
sleep 1  # a view accepts nothing in its first half second
press F6
expect_file new.txt proposed
expect_screen '❯' 20

type_command '(ide-mcp-open nil "second")'
expect_attached
sleep 4
type_command ide-mcp-agents
sleep 1
tmux_run send-keys 1 Enter
sleep 1
tmux_run send-keys 1 Enter
sleep 1
type_command '(ide-mcp-mention "a.txt" 1 2)'
type_command '(ide-mcp-open)'
expect_screen '@a.txt#L1-2' 20
