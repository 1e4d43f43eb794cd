;;; ide-mcp-hooks.el --- Tell your configuration what happens  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The hooks of the package.  Their functions receive an alist: the event of docs/sidecar.md.
;; If the event is about an agent, `client' is its name, as in the mode line.

;;; Code:

(require 'ide-mcp-guard)
(require 'ide-mcp-log)

(defcustom ide-mcp-listening-functions nil
  "Functions that are called when agents can attach, with the event `listening'.
Its `port' is that of Emacs."
  :type 'hook
  :group 'ide-mcp)

(defcustom ide-mcp-connected-functions nil
  "Functions that are called when an agent is attached, with the event `connected'."
  :type 'hook
  :group 'ide-mcp)

(defcustom ide-mcp-closed-functions nil
  "Functions that are called when an attached agent has left.
They receive `conn', `client' and, if it is known, the `reason'."
  :type 'hook
  :group 'ide-mcp)

(defcustom ide-mcp-proposal-functions nil
  "Functions that are called with a new proposal, the event `diff'.
It may be shown later."
  :type 'hook
  :group 'ide-mcp)

(defcustom ide-mcp-decided-functions nil
  "Functions that are called at the end of a proposal, with the event `diff'.
Its `verdict' is \"accept\", \"reject\" or \"withdrawn\"."
  :type 'hook
  :group 'ide-mcp)

(defcustom ide-mcp-paused-functions nil
  "Functions that are called when agents no longer see files and selections."
  :type 'hook
  :group 'ide-mcp)

(defcustom ide-mcp-resumed-functions nil
  "Functions that are called when agents see files and selections again."
  :type 'hook
  :group 'ide-mcp)

(defun ide-mcp--run-hook (hook event)
  "Call the functions of HOOK with EVENT.  Show their errors and go on."
  (condition-case problem
      (run-hook-with-args hook event)
    (error (ide-mcp--say "%s: %s" hook (error-message-string problem)))))

(provide 'ide-mcp-hooks)
;;; ide-mcp-hooks.el ends here
