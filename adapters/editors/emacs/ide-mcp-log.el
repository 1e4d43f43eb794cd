;;; ide-mcp-log.el --- Messages, choices and the log  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Messages to the person, choices, and a log of what Emacs and the sidecar exchange.  The
;; log has the names of commands and events, and none of your texts.

;;; Code:

(require 'seq)
(require 'ide-mcp-guard)

(defcustom ide-mcp-log-level 'warn
  "The least severe level that `ide-mcp-log' shows.
The messages that you see in the echo area have the level `info'."
  :type '(choice (const :tag "Nothing" nil) (const error) (const warn) (const info) (const debug))
  :group 'ide-mcp)

(defconst ide-mcp--most-logged (* 64 1024) "The maximum size of the log, in characters.")

(defun ide-mcp--log (level format &rest values)
  "Write FORMAT with VALUES into the log, if LEVEL is severe enough."
  (let ((levels '(error warn info debug)))
    (when (memq ide-mcp-log-level (memq level levels))
      (with-current-buffer (get-buffer-create "*ide-mcp log*")
        (let ((inhibit-read-only t))
          (unless (derived-mode-p 'special-mode) (special-mode))
          (save-excursion
            (goto-char (point-max))
            (insert (format-time-string "%T.%3N ") (format "%-5s " level)
                    (ide-mcp--line (apply #'format format values) 400) "\n")
            (when (> (buffer-size) ide-mcp--most-logged)
              (goto-char (- (point-max) (/ ide-mcp--most-logged 2)))
              (delete-region (point-min) (line-beginning-position)))))))))

;;;###autoload
(defun ide-mcp-log ()
  "Show the log: see `ide-mcp-log-level'."
  (interactive)
  (let ((buffer (get-buffer "*ide-mcp log*")))
    (if buffer
        (pop-to-buffer buffer)
      (ide-mcp--say "The log is empty: `ide-mcp-log-level' is %s" ide-mcp-log-level))))

(defun ide-mcp--say (format &rest values)
  "Show FORMAT with VALUES as a line in the echo area."
  (let ((text (ide-mcp--line (apply #'format format values))))
    (ide-mcp--log 'info "%s" text)
    (message "%s" text)))

(defun ide-mcp--refuse (format &rest values)
  "Refuse a command of the person with FORMAT and VALUES as the reason."
  (user-error "%s" (ide-mcp--line (concat "ide-mcp: " (apply #'format format values)))))

(defun ide-mcp--choose (prompt texts)
  "Ask the person by PROMPT for one of TEXTS, and return its index, from 0.
The person can also type its number, from 1.  Each is cut to fit on one line:
if a name wrapped, its end could look like another choice."
  (let* ((completions-format 'one-column)
         (columns (- (frame-width) 8))
         (choices (seq-map-indexed (lambda (text place)
                                     (truncate-string-to-width
                                      (format "%d: %s" (1+ place) (ide-mcp--line text)) columns nil nil "…"))
                                   texts))
         (choice (minibuffer-with-setup-hook (if (or (bound-and-true-p vertico-mode) (bound-and-true-p icomplete-mode))
                                                 #'ignore ; they show the choices themselves
                                               #'minibuffer-completion-help)
                   (completing-read (concat (truncate-string-to-width prompt (/ columns 2) nil nil "…") ": ")
                                    choices nil t))))
    (or (seq-position choices choice) (ide-mcp--refuse "Nothing is chosen"))))

(provide 'ide-mcp-log)
;;; ide-mcp-log.el ends here
