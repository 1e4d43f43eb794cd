;;; ide-mcp-wire.el --- Lines of JSON to and from the sidecar  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Emacs and the sidecar exchange lines of JSON, which docs/sidecar.md describes.  This file
;; has the state of the process, and reads and writes the lines.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'seq)
(require 'ide-mcp-guard)
(require 'ide-mcp-log)

(defcustom ide-mcp-config nil
  "Plist of further members of the configuration, from docs/sidecar.md.
They replace those of the package, and a nil value leaves a member out.  For
example, with (:consent t) Emacs asks you before an agent attaches."
  :type 'plist
  :group 'ide-mcp)

(defconst ide-mcp--largest-odd-line (* 2 1024 1024)
  "The longest event with half a surrogate pair that is read, in characters.
The fast parser refuses it, and the slow one needs 0.15 s for each MiB.")

(defvar ide-mcp--process nil "The process of the sidecar.")
(defvar ide-mcp--listening nil "The event with the port and the path of the lock file.")
(defvar ide-mcp--problem nil "The last error of the sidecar.")
(defvar ide-mcp--agents nil
  "Alist from connections to names of agents, or to nil if not attached.")
(defvar ide-mcp--pids nil "Alist from connections to the process ids that agents reported.")
(defvar ide-mcp--target nil
  "The agent that gets the mentions, or nil for the one that attached last.")

(defun ide-mcp-tell (&rest members)
  "Send MEMBERS, a plist, as a command of docs/sidecar.md.
Leave out nil values, and all values of a name except the first.  A character
that JSON cannot encode becomes a question mark."
  (let* ((object (cl-loop for (name value) on members by #'cddr
                          when (and value (eq value (plist-get members name)))
                          append (list name value)))
         (line (condition-case nil
                   (json-serialize object)
                 (wrong-type-argument
                  (let ((json-false :false)
                        (others (rx (or (any (#xD800 . #xDFFF)) (not (any (0 . #x10FFFF)))))))
                    (replace-regexp-in-string others "?" (json-encode object)))))))
    (ide-mcp--log 'debug "sends %s" (or (plist-get members :cmd) "the configuration"))
    (when ide-mcp--process ; nil would mean the process of the current buffer
      (ignore-errors ; if the process died, its sentinel starts another one
        (process-send-string ide-mcp--process (concat line "\n"))))))

;; The mode can be off or not loaded: a command of another file may be the first that runs.
(defvar ide-mcp-mode) ; of ide-mcp.el
(declare-function ide-mcp-mode "ide-mcp")

(defun ide-mcp--turn-on ()
  "Turn `ide-mcp-mode' on, unless it is on already."
  (unless (bound-and-true-p ide-mcp-mode) (ide-mcp-mode))
  (unless ide-mcp-mode (ide-mcp--refuse "%s" (or ide-mcp--problem "The sidecar cannot start"))))

(defun ide-mcp--reply (process &rest members)
  "Send MEMBERS if PROCESS, which asked, is still there.
The next one numbers its calls from 1 again."
  (when (eq process ide-mcp--process)
    (apply #'ide-mcp-tell members)))

;;; Lines that arrive

(defun ide-mcp--parse (line)
  "Return the event in LINE."
  (condition-case nil
      (ide-mcp--parse-json line)
    (json-error
     (condition-case nil
         (ide-mcp--parse-nul line)
       (json-error
        (if (length< line ide-mcp--largest-odd-line)
            (let ((json-false nil)) (json-read-from-string line))
          (when (string-match (rx bos "{\"event\":\"" (+ (any "a-z_")) "\",\"conn\":" (+ digit)
                                  ",\"call\":" (group (+ digit)))
                              line)
            (ide-mcp-tell :cmd "fail" :call (string-to-number (match-string 1 line))
                          :message "Emacs cannot read a text of this size"))
          (error "An agent sent a text of a size that Emacs cannot read")))))))

(defun ide-mcp--parse-json (line)
  "Return the event in LINE, which has no NUL and no half surrogate pair."
  (json-parse-string line :object-type 'alist :null-object nil :false-object nil))

(defun ide-mcp--parse-nul (line)
  "Return the event in LINE, with another character instead of NUL meanwhile."
  (let* ((gc-cons-threshold (* 64 1024 1024)) ; otherwise 25 collections for 350,000 NULs
         (stand-in (seq-find (lambda (code)
                               (not (seq-some (lambda (form)
                                                (string-search (format form code) line))
                                              '("%c" "\\u%x" "\\u%X"))))
                             (number-sequence #xfdd0 #xfdef)))
         (text (string (or stand-in (signal 'json-error nil)))))
    (cl-labels ((with-nul (value)
                  (cond ((stringp value) (string-replace text "\0" value))
                        ((consp value) (cons (with-nul (car value)) (with-nul (cdr value))))
                        ((vectorp value) (vconcat (mapcar #'with-nul value)))
                        (t value))))
      (with-nul (ide-mcp--parse-json
                 (string-replace "\\u0000" text (string-replace "\\\\" "\\u005c" line)))))))

(provide 'ide-mcp-wire)
;;; ide-mcp-wire.el ends here
