;;; ide-mcp-agents.el --- The attached agents  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Attaches agents, if you like after your consent, and chooses the one that gets your mentions.

;;; Code:

(require 'let-alist)
(require 'seq)
(require 'subr-x)
(require 'ide-mcp-guard)
(require 'ide-mcp-log)
(require 'ide-mcp-hooks)
(require 'ide-mcp-wire)
(require 'ide-mcp-proposal)
(require 'ide-mcp-terminal)

(defun ide-mcp--join (agent)
  "Add AGENT, unless it waits for the consent of the person or is a model."
  (let-alist agent
    (when .pid (setf (alist-get .conn ide-mcp--pids) .pid)) ; only the event `status' has it here
    (let ((known (alist-get .conn ide-mcp--agents))
          (name (unless (or .consent .model)
                  (ide-mcp--line (format "%s %s" (or .client "agent") (or .version "")) 130))))
      (setf (alist-get .conn ide-mcp--agents) name)
      (when (and name (not known))
        (ide-mcp--run-hook 'ide-mcp-connected-functions `((client . ,name) . ,agent))))))

(defun ide-mcp--leave (event)
  "Forget the agent that has left with EVENT, and the question about it."
  (let-alist event
    (let ((name (alist-get .conn ide-mcp--agents)))
      (when (eql .conn ide-mcp--target)
        (setq ide-mcp--target nil)
        (ide-mcp--say "The agent that you chose for mentions has left: they go to the one that attached last"))
      (setf (alist-get .conn ide-mcp--agents nil t) nil
            (alist-get .conn ide-mcp--pids nil t) nil
            (alist-get (cons 'consent .conn) ide-mcp--waiting nil t #'equal) nil)
      (when name (ide-mcp--run-hook 'ide-mcp-closed-functions `((client . ,name) . ,event))))))

(defun ide-mcp--consent (conn client)
  "Ask the person whether CLIENT, on the connection CONN, may attach.
The answer is a whole word and Enter, because single keys could be meant for
what the person is typing.  For the same reason there is no completion, no
history and no default."
  (let* ((process ide-mcp--process)
         (asks (lambda () (and (eq process ide-mcp--process) (assq conn ide-mcp--agents))))
         answer)
    (while (and (not (member answer '("allow" "refuse"))) (funcall asks))
      (setq answer (condition-case nil
                       (let ((inhibit-quit nil))
                         (string-trim (read-string (ide-mcp--question client) nil t)))
                     (quit "refuse"))))
    (clear-this-command-keys t)
    (message nil) ; the answered question
    (setq ide-mcp--answered (current-time))
    (when (funcall asks)
      (ide-mcp-tell :cmd (if (equal answer "allow") "allow" "disconnect") :conn conn))))

(defun ide-mcp--question (client)
  "Return the question about CLIENT, whose name cannot pass for our words."
  (format "An agent %s asks to attach.  Let it attach?  Type allow or refuse, and Enter: "
          (if (string-blank-p (or client ""))
              "without a name"
            (format "that calls itself \"%s\"" (string-replace "\"" "'" (ide-mcp--line client 64))))))

;;; To choose one

;;;###autoload
(defun ide-mcp-agents ()
  "Choose an attached agent to get your mentions, or to be disconnected.
Without a choice, the agent that attached last gets them."
  (interactive)
  (let* ((process ide-mcp--process)
         (agents (or (sort (seq-filter #'cdr ide-mcp--agents) (lambda (one other) (< (car one) (car other))))
                     (ide-mcp--refuse "No agent is attached")))
         (agent (nth (ide-mcp--choose
                      "Agent" (mapcar (pcase-lambda (`(,conn . ,name))
                                        (concat (ide-mcp--agent-label conn name)
                                                (if (eql conn ide-mcp--target) " (gets your mentions)" "")))
                                      agents))
                     agents))
         (conn (car agent))
         (is-target (eql conn ide-mcp--target))
         (choice (ide-mcp--choose (ide-mcp--agent-label conn (cdr agent))
                                  (list (if is-target
                                            "Send mentions to the agent that attached last"
                                          "Send mentions to this agent")
                                        "Disconnect it"))))
    ;; Events arrive while you choose.  The next process numbers its agents from 1 again.
    (unless (and (eq process ide-mcp--process) (alist-get conn ide-mcp--agents))
      (ide-mcp--refuse "The agent has left"))
    (pcase choice
      (0 (setq ide-mcp--target (unless is-target conn))
         (ide-mcp--say "Mentions go to %s" (if is-target "the agent that attached last" (cdr agent))))
      (1 (ide-mcp-tell :cmd "disconnect" :conn conn)))))

(defun ide-mcp--agent-label (conn name)
  "Return NAME with the terminal or the process of the agent on CONN.
Two agents of the same program have the same name."
  (let* ((pid (alist-get conn ide-mcp--pids))
         (terminal (and pid (seq-find (lambda (buffer) (eql pid (process-id (get-buffer-process buffer))))
                                      (ide-mcp--terminals)))))
    (concat (truncate-string-to-width name (max 8 (- (frame-width) 56)) nil nil "…")
            (cond (terminal (format ", %s" (buffer-name terminal)))
                  (pid (format ", process %d" pid))))))

(provide 'ide-mcp-agents)
;;; ide-mcp-agents.el ends here
