;;; ide-mcp-doctor.el --- Why no agent attaches  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Shows the state of the package, and what `ide-mcp doctor' finds: it looks as an agent would
;; that starts in the folder of the current buffer.

;;; Code:

(require 'cl-lib)
(require 'let-alist)
(require 'seq)
(require 'subr-x)
(require 'ide-mcp-guard)
(require 'ide-mcp-log)
(require 'ide-mcp-wire)
(require 'ide-mcp-program)
(require 'ide-mcp-terminal)

(defvar ide-mcp-mode) ; of ide-mcp.el

;;;###autoload
(defun ide-mcp-doctor ()
  "Show whether an agent in this folder can find Emacs, and if not, why.
The program attaches for a moment to each editor that an agent could find,
unless agents need your consent."
  (interactive)
  (let* ((command (or ide-mcp--started (ide-mcp--command)))
         (buffer (get-buffer-create "*ide-mcp doctor*"))
         (output (generate-new-buffer " *ide-mcp doctor*"))
         (folder default-directory))
    (with-current-buffer buffer
      (special-mode)
      (setq default-directory folder)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (dolist (finding (ide-mcp--own-findings command)) (ide-mcp--insert-finding finding))))
    (pop-to-buffer buffer)
    (when (and (consp command) (equal (car (last command)) "sidecar"))
      (setq header-line-format " ide-mcp doctor is looking…")
      (let ((default-directory (if (file-remote-p folder) command-line-default-directory folder)))
        (make-process
         :name "ide-mcp-doctor" :buffer output :connection-type 'pipe :noquery t :coding 'utf-8-unix
         :stderr (get-buffer-create " *ide-mcp*")
         :command `(,@(butlast command) "doctor" "--json"
                    ;; With consent, you would be asked about the doctor, and about the next agent 10 s later.
                    ,@(and (plist-get ide-mcp-config :consent) '("--no-connect")))
         :sentinel (lambda (process _change)
                     (unless (process-live-p process)
                       (let ((lines (with-current-buffer output (split-string (buffer-string) "\n" t))))
                         (kill-buffer output)
                         (when (buffer-live-p buffer) (ide-mcp--show-findings buffer lines))))))))))

(defun ide-mcp--own-findings (command)
  "Return findings about the package, its COMMAND and the agent."
  (let ((version (alist-get 'version ide-mcp--listening))
        (agent (car ide-mcp-agent-command)))
    (cl-flet ((finding (status message &optional advice)
                `((status . ,status) (message . ,message) (advice . ,advice))))
      `(,(cond ((stringp command) (finding "problem" command))
               ((not (bound-and-true-p ide-mcp-mode))
                (finding "problem" "The mode is off" "M-x ide-mcp-mode turns it on."))
               ((not version) (finding "problem" (or ide-mcp--problem "The sidecar does not listen yet")))
               (t (finding "ok" (format "The sidecar %s listens on the port %s, with %d agents"
                                        version (alist-get 'port ide-mcp--listening)
                                        (seq-count #'cdr ide-mcp--agents)))))
        ,@(when-let ((advice (and (consp command) version (ide-mcp--advice version))))
            (list (finding "warning" advice)))
        ,(if-let ((path (executable-find agent)))
             (finding "ok" (format "M-x ide-mcp-open starts %s" path))
           (finding "warning" (format "%s is not in PATH" agent)
                    "Install it, or name the agent in `ide-mcp-agent-command'."))))))

(defun ide-mcp--show-findings (buffer lines)
  "Add the findings in LINES of JSON to BUFFER."
  (with-current-buffer buffer
    (setq header-line-format nil)
    (let ((inhibit-read-only t))
      (goto-char (point-max))
      (dolist (line lines)
        (let-alist (ide-mcp--parse line)
          (pcase .event
            ("finding" (ide-mcp--insert-finding
                        `((status . ,.status) (message . ,.message) (meaning . ,(unless (equal .status "ok") .meaning))
                          (advice . ,.advice) (command . ,.command))))
            ("verdict"
             (save-excursion
               (goto-char (point-min))
               (insert (format "An agent in %s %s.\n\n" (ide-mcp--line .cwd)
                               (pcase .verdict
                                 ("attaches" (format "attaches to %s" (ide-mcp--line .name)))
                                 ("fails" "finds the editor, and is refused or cannot reach it")
                                 ("refrains" "does not attach by itself, because of a variable")
                                 ("must_choose" "must choose between several editors: type /ide there")
                                 ("finds_nothing" "finds no editor")
                                 (_ "may find the editor"))))))
            ("error" (ide-mcp--insert-finding `((status . "problem") (message . ,.message)))))))
      (unless lines (insert "\nThe program printed nothing: see the buffer \" *ide-mcp*\".\n"))
      (goto-char (point-min)))))

(defun ide-mcp--insert-finding (finding)
  "Insert FINDING of the doctor at point."
  (let-alist finding
    (insert (propertize (format "%-8s" .status)
                        'face (pcase .status ("problem" 'error) ("warning" 'warning) ("ok" 'success)))
            (ide-mcp--line .message) "\n")
    (dolist (text (list .meaning .advice .command))
      (when text (insert "        " (ide-mcp--line text 400) "\n")))))

(provide 'ide-mcp-doctor)
;;; ide-mcp-doctor.el ends here
