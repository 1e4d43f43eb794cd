;;; ide-mcp-menu.el --- A menu of the commands  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A menu with the letters of `ide-mcp-command-map', where a new agent gets its arguments.

;;; Code:

(require 'transient)
(require 'ide-mcp-terminal)

(defun ide-mcp--open-from-menu (arguments)
  "Open the terminal with the ARGUMENTS of the menu."
  (interactive (list (transient-args 'ide-mcp-menu)))
  (ide-mcp-open arguments))

;;;###autoload (autoload 'ide-mcp-menu "ide-mcp-menu" "Show the commands for coding agents." t)
(transient-define-prefix ide-mcp-menu ()
  "Show the commands for coding agents."
  ["Arguments of a new agent"
   ("-c" "Continue the last conversation" "--continue")
   ("-r" "Choose an earlier conversation" "--resume")
   ("-m" "Model" "--model=")]
  [["Terminal"
    ("o" "open" ide-mcp--open-from-menu)
    ("t" "show or hide" ide-mcp-toggle)
    ("f" "go there, or back" ide-mcp-focus)
    ("s" "send the region or a text" ide-mcp-send)
    ("e" "interrupt, by Escape" ide-mcp-interrupt)]
   ["Proposal"
    ("a" "accept" ide-mcp-accept)
    ("r" "reject" ide-mcp-reject)
    ("n" "next" ide-mcp-next)
    ("p" "previous" ide-mcp-previous)
    ("l" "list" ide-mcp-proposals)]
   ["Agent"
    ("m" "mention this file" ide-mcp-mention)
    ("g" "choose an agent" ide-mcp-agents)
    ("h" "hide files, or show them again" ide-mcp-pause)]
   ["State"
    ("i" "status" ide-mcp-status)
    ("d" "doctor" ide-mcp-doctor)
    ("L" "log" ide-mcp-log)]])

(provide 'ide-mcp-menu)
;;; ide-mcp-menu.el ends here
