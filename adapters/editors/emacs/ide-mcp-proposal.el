;;; ide-mcp-proposal.el --- Proposals of agents  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A proposal waits until you do not type.  You accept it, with your changes, or reject it.

;;; Code:

(require 'cl-lib)
(require 'let-alist)
(require 'seq)
(require 'subr-x)
(require 'ide-mcp-guard)
(require 'ide-mcp-wire)
(require 'ide-mcp-files)
(require 'ide-mcp-view)

(defcustom ide-mcp-show-function #'ide-mcp-show
  "Function that shows a proposal, and returns a function that closes the view.
It receives the event `diff' of docs/sidecar.md as an alist, with `client',
the name of the agent, and with the functions `accept', which receives the
text, and `reject'.  The first call of these counts.  `accept' returns nil if
the proposal has ended before.  The function that closes the view returns a
buffer, if it leaves a text of the person in one, or nil."
  :type 'function
  :group 'ide-mcp)

(defconst ide-mcp--idle-delay 0.5
  "Time in seconds without a key after which a view may open or close.
Otherwise another buffer would take the keys that the person types.  A proposal
is accepted after the same time at the earliest: a key within it was on its way
before the text could be seen.")

(defconst ide-mcp--most-kept 8
  "The number of withdrawn texts, into which the person typed, that stay.
With so many, further proposals fail until the person saves or kills one: a text
of 16 MiB stays for each key that a hand on the move types into a new view, and
what was typed is never thrown away.")

(defvar-local ide-mcp--proposal nil "The proposal of this buffer.")
(defvar ide-mcp--undecided nil
  "The `num-input-keys' at which a view ended without a decision of the person.
No proposal is shown before the next key: the person may be about to accept the
text that was there, and would accept another one unread.")
(defvar ide-mcp--answered nil
  "The time of the last answer to a question, after which Emacs has no idle time.")
(defvar-local ide-mcp--shown nil "The time at which the proposal of this buffer was on the screen.")
(defvar-local ide-mcp--kept nil "Non-nil in a buffer with what the person typed into a proposal.")
(put 'ide-mcp--kept 'permanent-local t)

(define-minor-mode ide-mcp-proposal-mode
  "Decide on a proposed text, which can be edited.
Killing the buffer rejects the proposal."
  :keymap (list (cons (kbd "C-c C-c") #'ide-mcp-accept)
                (cons (kbd "C-c C-k") #'kill-current-buffer)))

(defun ide-mcp-accept ()
  "Accept the proposal with the text of this buffer.
A proposal that has only just appeared is not accepted."
  (interactive nil ide-mcp-proposal-mode)
  (when (process-live-p ide-mcp--process) ; the agent may have withdrawn it while Emacs was busy
    (accept-process-output ide-mcp--process 0 nil t))
  (if (time-less-p (time-since ide-mcp--shown) ide-mcp--idle-delay)
      (ide-mcp--say "Not accepted, since the proposal has only just appeared: read it, and accept it again")
    (let-alist ide-mcp--proposal
      (let ((text (ide-mcp--unfolded)))
        (when (funcall .accept (cond ((equal text (ide-mcp--lines-of .contents)) .contents)
                                     ((ide-mcp--dos-p .contents)
                                      (decode-coding-string
                                       (encode-coding-string text 'utf-8-emacs-dos)
                                       'utf-8-emacs-unix))
                                     (t text)))
          (kill-buffer)))))) ; the view of a proposal that has ended is closed after a pause

;;; From the agent

(defun ide-mcp--propose (event)
  "Show the proposal of EVENT, once the person does not type."
  (let-alist event
    (let ((view (list .call)) state)
      (push view ide-mcp--proposals)
      (ide-mcp--wait
       .call
       (lambda ()
         (ide-mcp--check-kept)
         (setq state (ide-mcp--state .path))
         (cl-flet ((decide (verdict &optional text)
                     (ide-mcp--decide event view state verdict text)))
           (when-let ((close (funcall
                              ide-mcp-show-function
                              `((client . ,(or (alist-get .conn ide-mcp--agents) "an agent"))
                                (accept . ,(lambda (text) (decide "accept" text)))
                                (reject . ,(lambda () (decide "reject")))
                                . ,event))))
             (setcdr view (lambda (reason) (ide-mcp--withdraw close .label reason))))))))))

(defun ide-mcp--decide (event view state verdict &optional text)
  "Answer the diff of EVENT with VERDICT and TEXT, unless its VIEW has ended.
STATE is that of the buffer of the file when the view was shown.  Return nil if
the view has ended."
  (let-alist event
    (cond ((memq view ide-mcp--proposals)
           (setf (alist-get .call ide-mcp--proposals nil t) nil)
           (when (equal verdict "accept")
             (ide-mcp--expect-edit .path state (or text .contents)))
           (ide-mcp-tell :cmd "answer" :call .call :verdict verdict
                         :contents (unless (equal text .contents) text))
           t)
          ((equal verdict "accept") (ide-mcp--say "The proposal has ended: %s" .path) nil))))

(defun ide-mcp--withdraw (close name reason)
  "Call CLOSE for the view of a proposal for NAME that has ended by REASON."
  (setq ide-mcp--undecided num-input-keys)
  (let ((kept (funcall close)))
    (ide-mcp--say "%s.%s  The next one comes after your next key"
                  (format (if (member reason '("close_tab" "closeAllDiffTabs" "cancelled"))
                              "The agent withdrew %s"
                            "The proposal for %s has ended")
                          name)
                  (if (bufferp kept) (format "  Your text is in %s." (buffer-name kept)) ""))))

(defun ide-mcp--close (call &optional reason)
  "End the proposal CALL by REASON, and close its view in a pause of the person.
The closing comes before all else that waits, and so before the next view."
  (let ((close (alist-get call ide-mcp--proposals)))
    (setf (alist-get call ide-mcp--proposals nil t) nil
          (alist-get call ide-mcp--waiting nil t) nil)
    (ide-mcp--mark-ended call)
    (when close (push (cons nil (lambda () (funcall close reason))) ide-mcp--waiting))))

(defun ide-mcp--mark-ended (call)
  "Say in the view of the proposal CALL, which stays for a while, that it ended."
  (dolist (buffer (buffer-list))
    (let-alist (buffer-local-value 'ide-mcp--proposal buffer)
      (when (and .call (equal .call call))
        (with-current-buffer buffer
          (setq header-line-format (ide-mcp--header "Ended: nothing is accepted.  %s" .label))
          (force-mode-line-update))))))

(defun ide-mcp--attempt (call function)
  "Call FUNCTION.  If it fails, answer CALL with the failure."
  (let ((process ide-mcp--process))
    (condition-case problem
        (funcall function)
      ((error quit)
       (let ((text (error-message-string problem)))
         (ide-mcp--say "ide-mcp: %s" text)
         (when (and call (eq process ide-mcp--process))
           (setf (alist-get call ide-mcp--proposals nil t) nil)
           (ide-mcp-tell :cmd "fail" :call call :message text)))))))

;;; Pauses of the person

(defun ide-mcp--wait (key function)
  "Call FUNCTION, for a call or another KEY, once the person does not type."
  (setq ide-mcp--waiting (append ide-mcp--waiting (list (cons key function)))))

(defun ide-mcp--go-on ()
  "Call the functions that wait, unless the person types or reviews a proposal.
A proposal also waits for a key after the end of one without a decision."
  (cancel-function-timers #'ide-mcp--go-on)
  (while (and ide-mcp--waiting
              (time-less-p ide-mcp--idle-delay
                          (or (current-idle-time) (time-since ide-mcp--answered)))
              (equal (this-single-command-keys) [])
              (not (input-pending-p)) ; typed while Emacs was busy
              (not (or (active-minibuffer-window) cursor-in-echo-area isearch-mode
                       (equal (terminal-name) "initial_terminal") ; a daemon without a frame
                       (seq-some #'cdr ide-mcp--proposals)
                       (and (eql ide-mcp--undecided num-input-keys)
                            (assq (car (car ide-mcp--waiting)) ide-mcp--proposals)))))
    (pcase-let ((`(,key . ,function) (pop ide-mcp--waiting)))
      (ide-mcp--attempt (and (integerp key) key) function))
    (force-mode-line-update t))
  (when ide-mcp--waiting
    (let ((rest (- ide-mcp--idle-delay (float-time (or (current-idle-time) 0)))))
      (run-with-timer (if (> rest 0) (+ rest 0.01) 0.2) nil #'ide-mcp--go-on))))

;;; The view

(defun ide-mcp-show (proposal)
  "Show PROPOSAL in a buffer that can be edited, with the file beside it.
See `ide-mcp-show-function'."
  (let ((windows (current-window-configuration)) buffers close)
    (unwind-protect
        (setq close (ide-mcp--guarded
                      (ide-mcp--show proposal windows
                                     (lambda (buffer) (push buffer buffers) buffer))))
      (unless close ; nothing of a view that failed is left
        (dolist (buffer buffers)
          (with-current-buffer buffer (setq kill-buffer-hook nil))
          (ide-mcp--kill buffer))
        (set-window-configuration windows)))))

(defun ide-mcp--show (proposal windows made)
  "Show PROPOSAL, which ends with WINDOWS, and call MADE with each buffer."
  (let-alist proposal
    (let* ((name (ide-mcp--line .label 64))
           (old (funcall made (ide-mcp--view (format "*file: %s*" name) .path
                                             (ide-mcp--old-text .old_path .old))))
           (new (funcall made (ide-mcp--view (format "*proposal: %s*" name) .path .contents)))
           (colors (or (buffer-local-value 'ide-mcp--reason old)
                       (buffer-local-value 'ide-mcp--reason new)))
           (marks (ide-mcp--compare old new))
           (decide (concat (if .outside "OUTSIDE of the open folders.  " "")
                           "C-c C-c accepts, C-c C-k rejects.  "))
           (end (lambda ()
                  (funcall .reject)
                  (when (get-buffer-window new) (set-window-configuration windows))
                  (ide-mcp--kill old))))
      (with-current-buffer new
        (ide-mcp-proposal-mode)
        (setq ide-mcp--proposal proposal
              header-line-format
              ;; The right end is cut: what decides stands first, and of a long name the end.
              (ide-mcp--header "%s%s, proposed by %s%s"
                               decide (ide-mcp--end-of name (- (frame-width) (length decide) 1)) .client
                               (cond (marks (format ".  The text has no highlighting: %s" marks))
                                     (colors (format ".  The code has no colors: %s" colors))
                                     (t ""))))
        (add-hook 'kill-buffer-hook end nil t))
      (let ((ignore-window-parameters t)) (delete-other-windows))
      (pop-to-buffer-same-window old)
      (setq buffer-read-only t)
      (pop-to-buffer new '(display-buffer-pop-up-window))
      (redisplay t) ; its colors can take time, in which nobody has seen the text
      (setq ide-mcp--shown (current-time))
      (lambda () (ide-mcp--end new end name)))))

(defun ide-mcp--end (view end name)
  "End the VIEW of a withdrawn proposal for the file NAME, by the function END.
If the person has typed into it, it stays as a text of the person, and is
returned.  It is shown if it had the keys, so that these go nowhere else."
  (cond ((not (buffer-live-p view)) nil)
        ((not (buffer-modified-p view)) (ide-mcp--kill view) nil)
        (t (let ((selected (eq view (window-buffer))))
             (with-current-buffer view
               (remove-hook 'kill-buffer-hook end t)
               (save-current-buffer (funcall end))
               (ide-mcp-proposal-mode -1)
               (ide-mcp--unfold)
               (rename-buffer (format "*withdrawn: %s*" name) t)
               (setq ide-mcp--proposal nil
                     ide-mcp--kept t
                     buffer-offer-save t ; Emacs asks about it before it ends
                     header-line-format
                     (ide-mcp--header "The proposal has ended: what you typed is in no file")))
             (when selected (pop-to-buffer view '(display-buffer-pop-up-window)))
             view))))

(defun ide-mcp--check-kept ()
  "Signal an error if the person keeps too many texts of withdrawn proposals."
  (when (>= (seq-count (lambda (buffer)
                         (and (buffer-local-value 'ide-mcp--kept buffer)
                              (not (buffer-file-name buffer))))
                       (buffer-list))
            ide-mcp--most-kept)
    (error "The person has %d texts of withdrawn proposals, and saves or kills one of *withdrawn: …* first"
           ide-mcp--most-kept)))

(defun ide-mcp--old-text (path text)
  "Return the text of the file PATH: that of its buffer, or TEXT if it has none."
  (if-let ((buffer (ide-mcp--buffer path)))
      (with-current-buffer buffer (ide-mcp--text))
    (or text "")))

(provide 'ide-mcp-proposal)
;;; ide-mcp-proposal.el ends here
