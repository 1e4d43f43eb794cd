# shellcheck shell=bash
# Emacs with its plugin: a selection is shown, a proposal is accepted with a change, the model reads the
# output of the last build, and another proposal is rejected.
# Clients: claude-2.*
# Needs: emacs
root=$(cd "$here/../../../.." && pwd)
cat >"$work/init.el" <<LISP
(add-to-list 'load-path "$root/adapters/editors/emacs")
(require 'ide-mcp)
(advice-add 'ide-mcp--handle :before
            (lambda (event) (write-region (concat (json-serialize event) "\n") nil "$events" t)))
(ide-mcp-mode)
LISP
start_editor_in_terminal emacs -nw -Q -l "$work/init.el" b.txt
start_client_and_settle
type_in_editor M-\< C-Space C-n C-e
expect_screen '2 lines selected' 10
submit 'what is this'
expect_model blackberry
submit 'write new.txt with proposed'
expect_event '"contents":"proposed' 20
sleep 2 # the view waits for a pause, and accepts nothing in its first half second
type_in_editor M-\< altered Enter C-c C-c
expect_file new.txt $'altered\nproposed'
type_in_editor M-: '(compile "echo b.txt:2: damson is wrong")' Enter
sleep 1 # for the build
submit 'call ReadMcpResourceTool {"server":"ide","uri":"emacs://next-error"}'
expect_model 'damson is wrong'
submit 'write other.txt with unwanted'
expect_event '"contents":"unwanted' 20
sleep 2 # the view waits for a pause, and accepts nothing in its first half second
type_in_editor C-c C-k
expect_screen 'other.txt' 10
expect_no_file other.txt
