;;; ide-mcp.el --- Let coding agents such as Claude Code attach  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; Version: 0.2.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, processes
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; `ide-mcp-mode' starts the process `ide-mcp sidecar', which serves agents such
;; as Claude Code.  Agents in the folder in which Emacs started, or in the
;; project of an open file, find Emacs by themselves, and agents in a terminal
;; of Emacs in every folder.  They receive the selection, the problems of Flymake
;; and the open files, and show proposed changes in Emacs.
;;
;; What an agent names, sends or leaves in a file is not trusted: see ide-mcp-guard.el.

;;; Code:

(require 'let-alist)
(require 'seq)
(require 'subr-x)
(require 'ide-mcp-guard)
(require 'ide-mcp-log)
(require 'ide-mcp-hooks)
(require 'ide-mcp-wire)
(require 'ide-mcp-program)
(require 'ide-mcp-files)
(require 'ide-mcp-context)
(require 'ide-mcp-proposal)
(require 'ide-mcp-terminal)
(require 'ide-mcp-agents)
(require 'ide-mcp-mention)
(require 'ide-mcp-tools)
(require 'ide-mcp-doctor)

;; Transient takes long to load, so the menu is loaded when it is used.
(autoload 'ide-mcp-menu "ide-mcp-menu" "Show the commands for coding agents." t)

(defvar ide-mcp-command-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("o" . ide-mcp-open) ("t" . ide-mcp-toggle) ("f" . ide-mcp-focus) ("s" . ide-mcp-send)
                     ("e" . ide-mcp-interrupt) ("m" . ide-mcp-mention) ("g" . ide-mcp-agents) ("h" . ide-mcp-pause)
                     ("a" . ide-mcp-accept) ("r" . ide-mcp-reject) ("n" . ide-mcp-next)
                     ("p" . ide-mcp-previous) ("l" . ide-mcp-proposals)
                     ("i" . ide-mcp-status) ("d" . ide-mcp-doctor) ("L" . ide-mcp-log) ("?" . ide-mcp-menu)))
      (define-key map (kbd key) command))
    map)
  "Keys of the commands.  Bind this map to a key of your choice.")
;;;###autoload (autoload 'ide-mcp-command-map "ide-mcp" "Keys of the commands." nil 'keymap)
(fset 'ide-mcp-command-map ide-mcp-command-map)

(defcustom ide-mcp-lighter '(:eval (concat " " (ide-mcp-mode-line)))
  "What the mode line shows of `ide-mcp-mode', or nil for nothing.
Packages for the mode line can call `ide-mcp-mode-line' in another place."
  :type 'sexp
  :group 'ide-mcp
  :risky t)

(defvar ide-mcp--paused nil "Non-nil if files and selections are hidden from agents.")
(defvar ide-mcp--pieces nil "The pieces of the unfinished line, the newest first.")
(defvar ide-mcp--lines nil "The lines that are not handled yet, in order.")
(defvar ide-mcp--busy nil "Non-nil while a line is handled.")
(defvar ide-mcp--deaths nil "The times at which processes died, the newest first.")

;;;###autoload
(define-minor-mode ide-mcp-mode
  "Let coding agents such as Claude Code attach to Emacs.
`ide-mcp-toggle' starts one in a terminal of Emacs.  If none attaches,
`ide-mcp-doctor' says why."
  :global t
  :group 'ide-mcp
  :lighter ide-mcp-lighter
  (cancel-function-timers #'ide-mcp--send-selection)
  (remove-hook 'find-file-hook #'ide-mcp--send-folders)
  (advice-remove 'flymake-make-report-fn #'ide-mcp--announcing)
  (remove-hook 'flycheck-after-syntax-check-hook #'ide-mcp--announce)
  (ide-mcp--stop)
  (when ide-mcp-mode
    (if (stringp (setq ide-mcp--started (ide-mcp--command)))
        (ide-mcp--give-up ide-mcp--started)
      (dolist (pause (list 0.05 ide-mcp--pause))
        (run-with-idle-timer pause t #'ide-mcp--send-selection))
      (add-hook 'find-file-hook #'ide-mcp--send-folders)
      (advice-add 'flymake-make-report-fn :filter-return #'ide-mcp--announcing)
      (add-hook 'flycheck-after-syntax-check-hook #'ide-mcp--announce)
      (ide-mcp--start))))

;;;###autoload
(defun ide-mcp-status ()
  "Show the port, the attached agents, and what to update."
  (interactive)
  (message "Port %s: %s%s" (alist-get 'port ide-mcp--listening) (ide-mcp--status)
           (if-let ((advice (and ide-mcp--listening
                                 (ide-mcp--advice (alist-get 'version ide-mcp--listening)))))
               (concat ".  " advice)
             "")))

;;;###autoload
(defun ide-mcp-pause ()
  "Hide files and selections from agents, or end this pause.
Proposals still arrive."
  (interactive)
  (unless ide-mcp-mode (ide-mcp--refuse "The mode is off: M-x ide-mcp-mode turns it on"))
  (ide-mcp-tell :cmd (if ide-mcp--paused "resume" "pause")))

(defun ide-mcp-mode-line ()
  "Return the attached agents as a construct of the mode line."
  (string-replace "%" "%%" (ide-mcp--status)))

(defun ide-mcp--status ()
  "Return a string with the attached agents, and with what waits."
  (let ((names (mapcar (pcase-lambda (`(,conn . ,name))
                         (if (eql conn ide-mcp--target) (concat "→" name) name))
                       (seq-filter #'cdr ide-mcp--agents)))
        (waiting (+ (seq-count #'car ide-mcp--waiting) (ide-mcp--hidden))))
    (concat "⧉ " (cond (names (ide-mcp--line (string-join names ", ") 48))
                       (ide-mcp--listening "no agent")
                       (ide-mcp-mode "starting")
                       (t "stopped"))
            (cond ((> waiting 0) (format " (%d waiting)" waiting))
                  (ide-mcp--paused " (paused)")))))

;;; The process

(defun ide-mcp--start ()
  "Start the sidecar, which takes over the port of one that died."
  (let ((default-directory command-line-default-directory))
    (setq ide-mcp--pieces nil
          ide-mcp--problem "The sidecar died too often"
          ide-mcp--process
          (make-process :name "ide-mcp" :command ide-mcp--started :connection-type 'pipe
                        :coding 'utf-8-unix :noquery t :stderr (get-buffer-create " *ide-mcp*")
                        :filter #'ide-mcp--filter :sentinel #'ide-mcp--sentinel)))
  (apply #'ide-mcp-tell
         (append (list :own (ide-mcp--own-tools))
                 ide-mcp-config
                 (list
                  :protocol 1 :name "Emacs" :version emacs-version :pid (emacs-pid)
                  :folders (ide-mcp--folders) :resume (alist-get 'lock ide-mcp--listening)
                  :tools `[,@(and ide-mcp-diffs '("openDiff")) "getDiagnostics" "getOpenEditors" "checkDocumentDirty"
                          "saveDocument" "openFile" "getCurrentSelection" "getLatestSelection"
                          "getWorkspaceFolders"]
                  :prompts [(:name "review" :description "Review the open file"
                             :arguments [(:name "focus")])]
                  :resources [(:uri "emacs://next-error"
                               :description "The buffer of the last build or search")]))))

(defun ide-mcp--stop ()
  "Stop the sidecar, which rejects the open diffs."
  (when (process-live-p ide-mcp--process)
    (process-send-eof ide-mcp--process)
    (setq ide-mcp--listening nil)) ; if it is dead, the next one takes over its lock file
  (setq ide-mcp--process nil ide-mcp--deaths nil)
  (ide-mcp--forget))

(defun ide-mcp--sentinel (process _change)
  "Start the sidecar again if its PROCESS died, but at most 5 times a minute."
  (when (and (eq process ide-mcp--process) (not (process-live-p process)))
    (ide-mcp--log 'error "the sidecar ended with the status %s" (process-exit-status process))
    (ide-mcp--forget)
    (push (float-time) ide-mcp--deaths)
    (if (and (/= (process-exit-status process) 2)
             (> (- (car ide-mcp--deaths) (or (nth 5 ide-mcp--deaths) 0)) 60))
        (ide-mcp--start)
      (ide-mcp--give-up ide-mcp--problem))))

(defun ide-mcp--give-up (problem)
  "Turn `ide-mcp-mode' off because of PROBLEM."
  (setq ide-mcp--problem problem)
  (ide-mcp-mode -1)
  (display-warning 'ide-mcp (concat problem ".  Start again with M-x ide-mcp-mode.")))

(defun ide-mcp--forget ()
  "Close the views and forget the agents: no call is open any more."
  (mapc #'ide-mcp--close (mapcar #'car ide-mcp--proposals))
  (setq ide-mcp--target nil)
  (mapc (lambda (conn) (ide-mcp--leave `((conn . ,conn)))) (mapcar #'car ide-mcp--agents))
  (setq ide-mcp--pids nil
        ide-mcp--waiting (seq-remove #'car ide-mcp--waiting)
        ide-mcp--lines nil)
  (ide-mcp--go-on))

(defun ide-mcp--filter (process text)
  "Handle the lines that TEXT from PROCESS completes.
A handler can wait for the person, and lines that arrive meanwhile are handled
after it.  But lines that arrive during a question of `ide-mcp--go-on' are
handled at once."
  (when (eq process ide-mcp--process)
    (let ((pieces (split-string text "\n")) lines)
      (push (pop pieces) ide-mcp--pieces)
      (dolist (piece pieces)
        (push (apply #'concat (nreverse ide-mcp--pieces)) lines)
        (setq ide-mcp--pieces (list piece)))
      (setq ide-mcp--lines (append ide-mcp--lines (nreverse lines))))
    (unless ide-mcp--busy
      (let ((ide-mcp--busy t))
        (while ide-mcp--lines
          (let ((line (pop ide-mcp--lines)))
            (ide-mcp--attempt nil (lambda () (ide-mcp--handle (ide-mcp--parse line)))))))
      (ide-mcp--go-on))
    (force-mode-line-update t)))

;;; Events

(defun ide-mcp--handle (event)
  "Handle EVENT."
  (let-alist event
    (ide-mcp--log 'debug "gets %s%s%s" .event (if .conn (format " of %s" .conn) "") (if .call (format ", call %s" .call) ""))
    (ide-mcp--attempt
     .call
     (lambda ()
       (when (and (equal .event "diff") (not .label))
         (signal 'error '("update ide-mcp: this sidecar does not check what agents name")))
       (dolist (path (list .path .old_path))
         (when path (ide-mcp--check-path path)))
       (pcase .event
         ("listening" (ide-mcp--listen event))
         ("connected" (ide-mcp--join event))
         ("ide_connected" (setf (alist-get .conn ide-mcp--pids) .pid))
         ("closed" (ide-mcp--leave event))
         ("status" (ide-mcp--catch-up event))
         ("diff" (ide-mcp--propose event))
         ("diff_closed" (ide-mcp--close .call .reason))
         ((or "call" "prompt" "resource")
          (let ((answer (lambda ()
                          (ide-mcp--reply ide-mcp--process :cmd "respond" :call .call
                                          :result (ide-mcp--answer (or .tool .name .uri)
                                                                   .arguments .path)))))
            (if (and (equal .tool "openFile") (ide-mcp--frontmost-p .arguments))
                (ide-mcp--wait .call answer)
              (funcall answer))))
         ("call_ended" (setf (alist-get .call ide-mcp--waiting nil t) nil))
         ("edit_expected" (ide-mcp--expect-edit .path))
         ("mention_expired" (ide-mcp--say "No agent took the mention of %s" .path))
         ("consent"
          (setf (alist-get .conn ide-mcp--agents) nil)
          (ide-mcp--wait (cons 'consent .conn) (lambda () (ide-mcp--consent .conn .client))))
         ("error" (ide-mcp--say "ide-mcp: %s" (setq ide-mcp--problem (ide-mcp--line .message))))
         ("problem" (ide-mcp--log 'warn "agent %s: %s" .conn .message))
         ("lock_file" (ide-mcp--log 'warn "the lock file: %s %s" .state (or .problem "")))
         ("gap" (ide-mcp--log 'warn "%s events were left out" .events))
         ((or "paused" "resumed") (ide-mcp--set-paused (equal .event "paused"))))))))

(defun ide-mcp--listen (event)
  "Give the environment in EVENT to all later processes of Emacs."
  (setq ide-mcp--listening event)
  (when-let ((advice (ide-mcp--advice (alist-get 'version event))))
    (ide-mcp--say "ide-mcp: %s" advice))
  (with-temp-buffer ; because the current buffer can have an environment of its own
    (pcase-dolist (`(,name . ,value) (alist-get 'environment event))
      (setenv (symbol-name name) value)))
  (when ide-mcp--paused (ide-mcp-tell :cmd "pause")) ; as the last sidecar was
  (ide-mcp--send-selection t)
  (ide-mcp--run-hook 'ide-mcp-listening-functions event))

(defun ide-mcp--set-paused (paused)
  "Remember whether agents are PAUSED: files and selections are hidden."
  (unless (eq paused ide-mcp--paused)
    (setq ide-mcp--paused paused)
    (unless paused (ide-mcp--send-selection t))
    (ide-mcp--say (if paused "Files and selections are hidden from agents" "Agents see files and selections again"))
    (ide-mcp--run-hook (if paused 'ide-mcp-paused-functions 'ide-mcp-resumed-functions) nil)))

(defun ide-mcp--catch-up (status)
  "Catch up with the events that were left out before STATUS."
  (let-alist status
    (dolist (call (mapcar #'car ide-mcp--proposals))
      (unless (seq-contains-p .calls call) (ide-mcp--close call)))
    (setq ide-mcp--waiting (seq-filter (pcase-lambda (`(,key . ,_))
                                         (or (not (integerp key)) (seq-contains-p .calls key)))
                                       ide-mcp--waiting))
    (let ((conns (mapcar (lambda (agent) (alist-get 'conn agent)) .agents)))
      (dolist (conn (mapcar #'car ide-mcp--agents))
        (unless (memq conn conns) (ide-mcp--leave `((conn . ,conn))))))
    (mapc #'ide-mcp--join .agents)
    (ide-mcp--set-paused .paused)))

(provide 'ide-mcp)
;;; ide-mcp.el ends here
