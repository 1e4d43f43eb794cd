;;; ide-mcp-menu.el --- Keys and a menu for the commands  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A keymap that no key has, for a key of yours:
;;
;;   (global-set-key (kbd "C-c a") 'ide-mcp-command-map)
;;
;; and a menu with the same letters, where the agent gets its arguments.

;;; Code:

(require 'transient)
(require 'ide-mcp-log)

(defvar ide-mcp-command-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("o" . ide-mcp-open) ("t" . ide-mcp-toggle) ("f" . ide-mcp-focus) ("s" . ide-mcp-send)
                     ("m" . ide-mcp-mention) ("g" . ide-mcp-agents) ("h" . ide-mcp-pause)
                     ("a" . ide-mcp-accept) ("r" . ide-mcp-reject) ("n" . ide-mcp-next)
                     ("p" . ide-mcp-previous) ("l" . ide-mcp-proposals)
                     ("i" . ide-mcp-status) ("d" . ide-mcp-doctor) ("?" . ide-mcp-menu)))
      (define-key map (kbd key) command))
    map)
  "Keys of the commands.  Bind it to a key of yours.")
(fset 'ide-mcp-command-map ide-mcp-command-map)

(defun ide-mcp--open-from-menu (arguments)
  "Open the terminal with the ARGUMENTS of the menu."
  (interactive (list (transient-args 'ide-mcp-menu)))
  (ide-mcp-open arguments))

(declare-function ide-mcp-open "ide-mcp-terminal")

;;;###autoload (autoload 'ide-mcp-menu "ide-mcp-menu" nil t)
(transient-define-prefix ide-mcp-menu ()
  "Show the commands for coding agents."
  ["Arguments of a new agent"
   ("-c" "Go on with the last conversation" "--continue")
   ("-r" "Choose an earlier conversation" "--resume")
   ("-m" "Model" "--model=")]
  [["Terminal"
    ("o" "open" ide-mcp--open-from-menu)
    ("t" "show or hide" ide-mcp-toggle)
    ("f" "go there, or back" ide-mcp-focus)
    ("s" "send the region or a text" ide-mcp-send)]
   ["Proposal"
    ("a" "accept" ide-mcp-accept)
    ("r" "reject" ide-mcp-reject)
    ("n" "next" ide-mcp-next)
    ("p" "previous" ide-mcp-previous)
    ("l" "list" ide-mcp-proposals)]
   ["Agent"
    ("m" "mention this file" ide-mcp-mention)
    ("g" "choose an agent" ide-mcp-agents)
    ("h" "hide files, or no longer" ide-mcp-pause)]
   ["State"
    ("i" "status" ide-mcp-status)
    ("d" "doctor" ide-mcp-doctor)
    ("L" "log" ide-mcp-log)]])

(provide 'ide-mcp-menu)
;;; ide-mcp-menu.el ends here
