;;; ide-mcp-terminal.el --- The terminal of an agent  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Starts an agent in a terminal of Emacs, or of another program, shows and hides it, and
;; types texts into it.  The agent attaches only to this Emacs.

;;; Code:

(require 'project)
(require 'seq)
(require 'subr-x)
(require 'ide-mcp-guard)
(require 'ide-mcp-log)
(require 'ide-mcp-wire)

(defcustom ide-mcp-agent-command '("claude")
  "Command of the agent that `ide-mcp-open' starts, as a list of words."
  :type '(repeat string)
  :group 'ide-mcp)

(defcustom ide-mcp-terminal 'auto
  "The terminal in which `ide-mcp-open' starts the agent.
With `auto' it is the first of the packages vterm, eat and ghostel that is
installed, or else term, which is a part of Emacs.

A list of words is the command of another program, such as
  (\"tmux\" \"split-window\" \"-h\" \"-c\" \"{folder}\")
where the command of the agent follows, or replaces {command}.

A function receives the name of a buffer, the command as a list of words, and
the folder.  The variables of the agent are in `process-environment'.  It
returns the buffer, or nil if the terminal is not one of Emacs."
  :type '(choice (const auto) (const term) (const vterm) (const eat) (const ghostel)
                 function (repeat string))
  :group 'ide-mcp)

(defcustom ide-mcp-terminal-window 'right
  "The side of the frame where the terminal of the agent is.
`display-buffer-alist' can show it in any other place: its name is
\"*agent: FOLDER*\"."
  :type '(choice (const right) (const left) (const top) (const bottom))
  :group 'ide-mcp)

(defcustom ide-mcp-terminal-size 0.4
  "The width or height of the terminal, in cells, or as a part of the frame."
  :type 'number
  :group 'ide-mcp)

(defcustom ide-mcp-terminal-folder 'project
  "The folder in which the agent starts.
With `project' it is the root of the project of the current buffer.  With
`working', or outside of a project, it is the folder in which Emacs started.
A function without arguments returns another one."
  :type '(choice (const project) (const working) function)
  :group 'ide-mcp)

(defvar-local ide-mcp--terminal nil
  "The folder and the name of the terminal of an agent in this buffer.")
(put 'ide-mcp--terminal 'permanent-local t)

;;; Commands

;;;###autoload
(defun ide-mcp-open (&optional arguments name)
  "Show the terminal of the agent, and start the agent if it does not run.
There is one for each folder, and one more for each NAME.  ARGUMENTS go to the
agent, as a list of words, or as a string that is split as in a shell.
With a prefix argument, you are asked for both."
  (interactive (and current-prefix-arg
                    (list (read-string (format "Arguments for %s: " (car ide-mcp-agent-command)))
                          (read-string "Name of another terminal (empty for the one of the folder): "))))
  (let* ((words (if (stringp arguments) (ide-mcp--words arguments) arguments))
         (name (and name (not (string-blank-p name)) name))
         (folder (ide-mcp--terminal-folder))
         (buffer (seq-find (lambda (buffer)
                             (equal (buffer-local-value 'ide-mcp--terminal buffer) (cons folder name)))
                           (ide-mcp--terminals))))
    (cond ((and buffer words)
           (ide-mcp--refuse "The agent runs already, without these arguments: C-u M-x ide-mcp-open starts another one"))
          (buffer (ide-mcp--show-terminal buffer))
          (t (ide-mcp--start-terminal folder name words)))))

;;;###autoload
(defun ide-mcp-toggle (&optional arguments)
  "Hide the terminal of the agent, or show it.
The agent keeps running in a hidden one.  If no agent runs, start one with
ARGUMENTS, as `ide-mcp-open' does."
  (interactive)
  (let* ((buffer (ide-mcp--current-terminal))
         (window (and buffer (get-buffer-window buffer))))
    (cond (window (quit-restore-window window 'bury))
          (buffer (ide-mcp--show-terminal buffer))
          (t (ide-mcp-open arguments)))))

;;;###autoload
(defun ide-mcp-focus (&optional arguments)
  "Go to the terminal of the agent, or back if you are there.
If no agent runs, start one with ARGUMENTS, as `ide-mcp-open' does."
  (interactive)
  (let ((buffer (ide-mcp--current-terminal)))
    (cond ((not buffer) (ide-mcp-open arguments))
          ((not (eq buffer (window-buffer))) (ide-mcp--show-terminal buffer))
          ((get-mru-window nil nil t) (select-window (get-mru-window nil nil t)))
          (t (bury-buffer)))))

;;;###autoload
(defun ide-mcp-send (text &optional enter)
  "Paste TEXT, or the region, into the terminal of the agent.
With a prefix argument, ENTER follows.  Characters that act as keys, such as
Escape, are left out."
  (interactive (list (if (use-region-p)
                         (buffer-substring-no-properties (region-beginning) (region-end))
                       (read-string "Text for the agent: "))
                     current-prefix-arg))
  (ide-mcp--in-terminal "Typed into" (lambda ()
                                       (ide-mcp--paste (ide-mcp--without-keys text))
                                       (when enter (ide-mcp--press "\r")))))

;;;###autoload
(defun ide-mcp-interrupt ()
  "Press Escape in the terminal of the agent, which interrupts the agent."
  (interactive)
  (ide-mcp--in-terminal "Pressed Escape in" (lambda () (ide-mcp--press "\e"))))

;;; Which terminal

(defun ide-mcp--terminals ()
  "Return the buffers with a running agent, the most recently used first."
  (seq-filter (lambda (buffer)
                (and (buffer-local-value 'ide-mcp--terminal buffer)
                     (process-live-p (get-buffer-process buffer))))
              (buffer-list)))

(defun ide-mcp--current-terminal ()
  "Return the terminal of the current buffer or its folder, or nil."
  (let ((terminals (ide-mcp--terminals))
        (folder (ide-mcp--terminal-folder)))
    (or (car (memq (current-buffer) terminals))
        (seq-find (lambda (buffer)
                    (equal (car (buffer-local-value 'ide-mcp--terminal buffer)) folder))
                  terminals))))

(defun ide-mcp--terminal-folder ()
  "Return the folder of the terminal for the current buffer."
  (let* ((project (and (eq ide-mcp-terminal-folder 'project)
                       (not (file-remote-p default-directory))
                       (ide-mcp--for-project (project-current))))
         (folder (cond (ide-mcp--terminal (car ide-mcp--terminal))
                       (project (project-root project))
                       ((functionp ide-mcp-terminal-folder) (funcall ide-mcp-terminal-folder))
                       (t command-line-default-directory))))
    (directory-file-name (expand-file-name folder))))

;;; To start one

(defconst ide-mcp--terminal-kinds '(term vterm eat ghostel) "The terminals of Emacs that this package knows.")

(defun ide-mcp--start-terminal (folder name words)
  "Start the agent with WORDS as its arguments in FOLDER, in the terminal NAME."
  (let* ((environment (ide-mcp--environment))
         (process-environment (append environment process-environment))
         (default-directory (file-name-as-directory folder))
         (command (append ide-mcp-agent-command words))
         (kind (ide-mcp--terminal-kind))
         (title (ide-mcp--line (format "agent: %s%s"
                                       (if (equal folder "/") "/" (file-name-nondirectory folder))
                                       (if name (format " (%s)" name) ""))))
         buffer)
    (unless (executable-find (car command))
      (ide-mcp--refuse "%s is not in PATH: install it, or name the agent in `ide-mcp-agent-command'" (car command)))
    (while (get-buffer (format "*%s*" title)) (setq title (concat title "+")))
    (cond ((memq kind ide-mcp--terminal-kinds) (setq buffer (ide-mcp--start-kind kind title command)))
          ((functionp kind) (setq buffer (funcall kind (format "*%s*" title) command folder)))
          ((consp kind) (ide-mcp--start-elsewhere kind folder environment command))
          (t (ide-mcp--refuse "There is no terminal %S: see `ide-mcp-terminal'" kind)))
    (when buffer
      (with-current-buffer buffer
        (setq ide-mcp--terminal (cons folder name)
              default-directory (file-name-as-directory folder)))
      (when-let ((process (get-buffer-process buffer)))
        (add-function :after (process-sentinel process) #'ide-mcp--end-terminal))
      (ide-mcp--show-terminal buffer))))

(defun ide-mcp--words (text)
  "Split TEXT into words as a shell does, but without any expansion.
`split-string-shell-command' would stop at a semicolon or an ampersand."
  (let (words)
    (with-temp-buffer
      (insert text)
      (goto-char (point-min))
      (while (progn (skip-chars-forward " \t\n") (not (eobp)))
        (let (parts)
          (while (looking-at (rx (or (: "'" (group (* (not "'"))) "'")
                                     (: "\"" (group (* (or (: "\\" anything) (not (any "\\\""))))) "\"")
                                     (: "\\" (group anything))
                                     (group (+ (not (any " \t\n'\"\\")))))))
            (goto-char (match-end 0))
            (push (cond ((match-string 1))
                        ((match-string 2)
                         (replace-regexp-in-string (rx "\\" (group (any "\"\\$`"))) "\\1" (match-string 2)))
                        ((match-string 3))
                        (t (match-string 4)))
                  parts))
          (unless (or (eobp) (looking-at (rx (any " \t\n"))))
            (ide-mcp--refuse "A quotation mark is not closed: %s" text))
          (push (apply #'concat (nreverse parts)) words))))
    (nreverse words)))

(defun ide-mcp--environment ()
  "Return the variables of an agent that attaches to this Emacs, as a list.
This turns `ide-mcp-mode' on."
  (ide-mcp--turn-on)
  (let ((end (time-add nil 5)))
    (while (and (not ide-mcp--listening) (process-live-p ide-mcp--process) (time-less-p nil end))
      (accept-process-output ide-mcp--process 0.1)))
  (unless ide-mcp--listening (ide-mcp--refuse "The sidecar does not listen: M-x ide-mcp-doctor may say why"))
  (mapcar (pcase-lambda (`(,name . ,value)) (if value (format "%s=%s" name value) (symbol-name name)))
          (alist-get 'environment ide-mcp--listening)))

(defun ide-mcp--terminal-kind ()
  "Return the terminal that `ide-mcp-terminal' means."
  (if (not (eq ide-mcp-terminal 'auto))
      ide-mcp-terminal
    (cond ((and (locate-library "vterm") (locate-library "vterm-module")) 'vterm) ; without the module, it asks to compile it
          ((locate-library "eat") 'eat)
          ((locate-library "ghostel") 'ghostel)
          (t 'term))))

(declare-function term-char-mode "term")
(defvar vterm-shell)
(defvar vterm-eval-cmds)
(declare-function vterm "ext:vterm")
(declare-function vterm-send-string "ext:vterm")
(declare-function eat-make "ext:eat")
(declare-function eat-term-send-string "ext:eat")
(declare-function eat-term-send-string-as-yank "ext:eat")
(defvar eat-terminal)
(declare-function ghostel-exec "ext:ghostel")
(declare-function ghostel-paste-string "ext:ghostel")
(declare-function ghostel-send-string "ext:ghostel")

(defun ide-mcp--start-kind (kind title command)
  "Start COMMAND in a terminal of KIND, and return its buffer, *TITLE*.
A terminal takes the size of its window, so the window is opened first."
  (require kind)
  (let* ((windows (current-window-configuration))
         (name (format "*%s*" title))
         (place (get-buffer-create name))
         started)
    (unwind-protect
        (progn
          (ide-mcp--show-terminal place)
          (let* ((window (selected-window))
                 (dedicated (window-dedicated-p)))
            (set-window-dedicated-p window nil) ; vterm shows its buffer itself, here
            (pcase kind
              ('vterm (let ((vterm-shell (mapconcat #'shell-quote-argument command " ")))
                        (with-current-buffer place (rename-buffer (generate-new-buffer-name (concat " " name))))
                        (vterm name)
                        (with-current-buffer name (setq-local vterm-eval-cmds nil))
                        (advice-add 'vterm--set-directory :before-while #'ide-mcp--may-move-p)))
              ('eat (apply #'eat-make title (car command) nil (cdr command)))
              ('ghostel (ghostel-exec place (car command) (cdr command)))
              ('term (apply #'make-term title (car command) nil (cdr command))
                     (with-current-buffer place
                       (add-function :around (process-filter (get-buffer-process place)) #'ide-mcp--filter-output)
                       (ide-mcp-terminal-mode)
                       (term-char-mode))))
            (when (window-live-p window) (set-window-dedicated-p window dedicated)))
          (setq started (get-buffer name)))
      (unless (eq started place) (kill-buffer place))
      (unless started (set-window-configuration windows)))))

(defun ide-mcp--may-move-p (&rest _)
  "Return non-nil unless the current buffer has the terminal of an agent.
What an agent prints, such as a file, must not move its terminal to another
folder or machine."
  (not ide-mcp--terminal))

(define-minor-mode ide-mcp-terminal-mode
  "Keep a few keys for Emacs in the terminal of an agent, which gets all others."
  :group 'ide-mcp
  :keymap (list (cons (kbd "M-x") #'execute-extended-command)
                (cons (kbd "M-:") #'eval-expression)
                (cons (kbd "C-x") ctl-x-map)))

(defun ide-mcp--start-elsewhere (words folder environment command)
  "Start COMMAND with ENVIRONMENT in FOLDER by WORDS, another terminal.
A server such as that of tmux does not pass our variables on, so `env' sets
them.  Tmux takes a semicolon at the end of a word as the end of its command,
so such a semicolon gets a backslash."
  (let* ((is-tmux (equal (file-name-nondirectory (car words)) "tmux"))
         (plain (lambda (word) (if is-tmux (replace-regexp-in-string ";\\'" "\\;" word t t) word)))
         (whole (mapcar plain (append (list "env")
                                      (seq-mapcat (lambda (entry)
                                                    (if (string-search "=" entry) (list entry) (list "-u" entry)))
                                                  environment)
                                      command)))
         (output (generate-new-buffer " *ide-mcp-terminal*")))
    (make-process
     :name "ide-mcp-terminal" :buffer output :connection-type 'pipe :noquery t
     :command (append (seq-mapcat (lambda (word)
                                    (if (equal word "{command}")
                                        whole
                                      (list (string-replace "{folder}" (funcall plain folder) word))))
                                  words)
                      (unless (member "{command}" words) whole))
     :sentinel (lambda (process _change)
                 (unless (process-live-p process)
                   (unless (eq 0 (process-exit-status process))
                     (ide-mcp--say "%s failed: %s" (car words)
                                   (with-current-buffer output (string-trim (buffer-string)))))
                   (kill-buffer output))))))

(defun ide-mcp--show-terminal (buffer)
  "Show the terminal in BUFFER, and go there."
  (pop-to-buffer buffer '((display-buffer-reuse-window ide-mcp--display-at-side))))

(defun ide-mcp--display-at-side (buffer alist)
  "Show BUFFER at `ide-mcp-terminal-window', as an action of `display-buffer'.
The size is added to ALIST only here: otherwise it would also apply to other
actions that the person has set."
  (display-buffer-in-side-window
   buffer
   `((side . ,ide-mcp-terminal-window)
     (,(if (memq ide-mcp-terminal-window '(left right)) 'window-width 'window-height) . ,ide-mcp-terminal-size)
     (window-parameters (no-delete-other-windows . t))
     . ,alist)))

(defun ide-mcp--end-terminal (process &rest _)
  "Remove the terminal of PROCESS, an agent, if it has ended without a failure."
  (let ((buffer (process-buffer process)))
    (when (and (not (process-live-p process)) (buffer-live-p buffer))
      (if (eq 0 (process-exit-status process))
          (let ((window (get-buffer-window buffer t)))
            (when (window-live-p window) (quit-restore-window window 'bury))
            (ide-mcp--kill buffer))
        (with-current-buffer buffer
          (when ide-mcp-terminal-mode (ide-mcp-terminal-mode -1))
          (rename-buffer (generate-new-buffer-name (concat (buffer-name) " (ended)"))))))))

;;; To type into it

(defun ide-mcp--in-terminal (done act)
  "Call ACT in the terminal of the agent.  If it is hidden, say what was DONE."
  (let ((buffer (or (ide-mcp--current-terminal)
                    (car (ide-mcp--terminals))
                    (ide-mcp--refuse "There is no terminal of an agent in Emacs: M-x ide-mcp-open opens one"))))
    (with-current-buffer buffer (funcall act))
    (unless (get-buffer-window buffer) (ide-mcp--say "%s %s" done (buffer-name buffer)))))

(defun ide-mcp--without-keys (text)
  "Return TEXT without characters that act as keys, and without its last line ends."
  (string-trim-right
   (replace-regexp-in-string (rx (any (0 . 8) (11 . 31) (127 . #x9f) (#x3fff80 . #x3fffff))) ""
                             (replace-regexp-in-string (rx (or "\r\n" (any #x2028 #x2029))) "\n"
                                                       (substring-no-properties text)))
   "\n+"))

(defun ide-mcp--press (key)
  "Send KEY, Enter or Escape, to the terminal in the current buffer."
  (cond ((derived-mode-p 'vterm-mode) (vterm-send-string key))
        ((derived-mode-p 'eat-mode) (eat-term-send-string eat-terminal key))
        ((derived-mode-p 'ghostel-mode) (ghostel-send-string key))
        (t (process-send-string nil key))))

(defun ide-mcp--paste (text)
  "Paste TEXT into the terminal in the current buffer."
  (let ((process (get-buffer-process (current-buffer))))
    (cond ((derived-mode-p 'vterm-mode) (vterm-send-string text t))
          ((derived-mode-p 'eat-mode) (eat-term-send-string-as-yank eat-terminal text))
          ((derived-mode-p 'ghostel-mode) (ghostel-paste-string text))
          ((process-get process 'ide-mcp-pastes)
           (process-send-string process (concat "\e[200~" text "\e[201~")))
          ;; A program without bracketed paste would take the end of a line as Enter.
          (t (process-send-string process (replace-regexp-in-string (rx (+ (any "\n\t"))) " " text))))))

(defun ide-mcp--filter-output (filter process output)
  "Call FILTER, that of `term', with the OUTPUT of PROCESS.
Remember whether the program wants bracketed paste.  Replace CHA by CR and CUF,
because up to Emacs 30 `term' goes one column too far for it.  Sequences that
would send `term' to another folder become question marks: they can be in a
file that the agent prints."
  (let* ((text (replace-regexp-in-string (rx (or "\032" "\eAnSiT")) "?"
                                         (concat (process-get process 'ide-mcp-rest) output) t t))
         (end (string-match (rx "\e" (? (or "A" "An" "AnS" "AnSi" (: "[" (** 0 20 (any "?0-9;"))))) eos) text))
         (whole (substring text 0 end))
         (start 0))
    (process-put process 'ide-mcp-rest (and end (substring text end)))
    (while (string-match (rx "\e[?" (* (+ digit) ";") "2004" (* ";" (+ digit)) (group (any "hl"))) whole start)
      (setq start (match-end 0))
      (process-put process 'ide-mcp-pastes (equal (match-string 1 whole) "h")))
    (funcall filter process
             (replace-regexp-in-string
              (rx "\e[" (* digit) "G")
              (lambda (sequence)
                (let ((column (string-to-number (substring sequence 2))))
                  (if (> column 1) (format "\r\e[%dC" (1- column)) "\r")))
              whole t t))))

(provide 'ide-mcp-terminal)
;;; ide-mcp-terminal.el ends here
