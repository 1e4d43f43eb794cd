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
(require 'ide-mcp-log)
(require 'ide-mcp-hooks)
(require 'ide-mcp-wire)
(require 'ide-mcp-files)
(require 'ide-mcp-view)
(require 'ide-mcp-layout)
(require 'ide-mcp-hunks)

(defcustom ide-mcp-diffs t
  "Non-nil if agents propose changes in Emacs, and not in their terminals.
A change takes effect when `ide-mcp-mode' is turned on."
  :type 'boolean
  :group 'ide-mcp)

(defcustom ide-mcp-show-function #'ide-mcp-show
  "Function that shows a proposal, and returns a function that closes the view.
It receives the event `diff' of docs/sidecar.md as an alist, with `client',
the name of the agent, and with the functions `accept', which receives the
text, and `reject'.  Only the first call of one of these counts.  `accept'
returns nil if the proposal has already ended.  The function that closes the
view returns the buffer in which it leaves a text that you have typed, or nil."
  :type 'function
  :group 'ide-mcp)

(defconst ide-mcp--idle-delay 0.5
  "Time in seconds without a key after which a view may open or close.
Otherwise another buffer would take the keys that the person types.  A proposal
must be on the screen for the same time before it can be accepted: a key
pressed earlier was not meant for it.")

(defconst ide-mcp--most-kept 8
  "The maximum number of withdrawn texts, edited by the person, that are kept.
With so many, further proposals fail until the person saves or kills one.  What
was typed is never thrown away, but one stray key in a new view is enough to
keep a text of up to 16 MiB.")

(defvar ide-mcp--proposals nil
  "Alist from calls to lists of two: a function and the event.
The function closes the view, and is nil until there is one.")
(defvar ide-mcp--waiting nil
  "Alist from keys to functions that wait until the person does not type.
The key is the number of a call, or `consent' and the connection of an agent,
or nil for a function that closes a view.")
(defvar-local ide-mcp--proposal nil "The proposal of this buffer.")
(defvar ide-mcp--undecided nil
  "The value of `num-input-keys' when a view ended without a decision.
No proposal is shown before the next key: the person may be about to accept the
text that was there, and would accept another one unread.")
(defvar ide-mcp--answered nil
  "The time of the last answer to a question: Emacs has no idle time after it.")
(defvar-local ide-mcp--kept nil "Non-nil in a buffer with what the person typed into a proposal.")
(put 'ide-mcp--kept 'permanent-local t)

(defvar ide-mcp-proposal-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'ide-mcp-accept)
    (define-key map (kbd "C-c C-k") #'kill-current-buffer)
    (define-key map (kbd "C-c C-n") #'ide-mcp-next-hunk)
    (define-key map (kbd "C-c C-p") #'ide-mcp-previous-hunk)
    (define-key map (kbd "C-c C-o") #'ide-mcp-undo-hunk)
    (define-key map (kbd "C-c C-e") #'ide-mcp-ediff)
    map)
  "Keys in a proposal.")

(define-minor-mode ide-mcp-proposal-mode
  "Accept or reject a proposal, whose text you can edit.
Killing the buffer rejects the proposal."
  :group 'ide-mcp)

;;; Commands, which work from every window

;;;###autoload
(defun ide-mcp-accept ()
  "Accept the proposal on the screen, as you have edited it.
In its first half second it is not accepted: you cannot have read it yet."
  (interactive)
  (when (process-live-p ide-mcp--process) ; the agent may have withdrawn it while Emacs was busy
    (accept-process-output ide-mcp--process 0 nil t))
  (with-current-buffer (ide-mcp--view-on-screen)
    (if (time-less-p (time-since ide-mcp--shown) ide-mcp--idle-delay)
        (ide-mcp--say "Not accepted: the proposal has just opened.  Read it first")
      (let-alist ide-mcp--proposal
        (let ((text (ide-mcp--unfolded)))
          (when (funcall .accept (cond ((equal text (ide-mcp--lines-of .contents)) .contents)
                                       ((ide-mcp--dos-p .contents)
                                        (decode-coding-string
                                         (encode-coding-string text 'utf-8-emacs-dos)
                                         'utf-8-emacs-unix))
                                       (t text)))
            (kill-buffer))))))) ; the view of a proposal that has ended is closed after a pause

;;;###autoload
(defun ide-mcp-reject ()
  "Reject the proposal on the screen."
  (interactive)
  (ide-mcp--kill (ide-mcp--view-on-screen)))

;;;###autoload
(defun ide-mcp-next (&optional step)
  "Show the next proposal, or the first one if none is on the screen.
What you typed into the current one stays in it.  With a prefix argument STEP,
go that many further."
  (interactive "p")
  (let* ((calls (ide-mcp--open-calls))
         (view (ide-mcp--view-on-screen t))
         (place (and view (seq-position calls (alist-get 'call (buffer-local-value 'ide-mcp--proposal view)))))
         (step (or step 1)))
    (cond ((not place) (ide-mcp--go-to (if (> step 0) (car calls) (car (last calls)))))
          ((cdr calls) (ide-mcp--go-to (nth (mod (+ place step) (length calls)) calls)))
          (t (ide-mcp--say "There is no other proposal")))))

;;;###autoload
(defun ide-mcp-previous (&optional step)
  "Show the previous proposal, or go back by STEP."
  (interactive "p")
  (ide-mcp-next (- (or step 1))))

;;;###autoload
(defun ide-mcp-proposals ()
  "Choose one of the proposals that are shown or wait, and show it."
  (interactive)
  (let* ((calls (ide-mcp--open-calls))
         (view (ide-mcp--view-on-screen t)))
    (ide-mcp--go-to
     (nth (ide-mcp--choose "Proposal"
                           (mapcar (lambda (call)
                                     (pcase-let ((`(,_ ,event) (alist-get call ide-mcp--proposals)))
                                       (format "%s%s, %s%s"
                                               (if (alist-get 'outside event) "OUTSIDE: " "")
                                               (alist-get 'label event)
                                               (alist-get 'client event)
                                               (if (and view (eq view (ide-mcp--view-of call))) "" " (waits)"))))
                                   calls))
          calls))))

(defun ide-mcp--open-calls ()
  "Return the numbers of the open proposals, the oldest first."
  (or (sort (mapcar #'car ide-mcp--proposals) #'<)
      (ide-mcp--refuse "There is no proposal")))

(defun ide-mcp--view-of (call)
  "Return the buffer with the proposal CALL, or nil."
  (seq-find (lambda (buffer)
              (let-alist (buffer-local-value 'ide-mcp--proposal buffer) (and .call (eql .call call))))
            (buffer-list)))

(defun ide-mcp--view-on-screen (&optional or-none)
  "Return the buffer of the proposal that the person sees.
Signal an error if there is none, or return nil if OR-NONE is non-nil."
  (let ((views (seq-filter (lambda (buffer) (buffer-local-value 'ide-mcp--proposal buffer))
                           (cons (current-buffer)
                                 (mapcar #'window-buffer
                                         (seq-mapcat (lambda (frame) (window-list frame 'no-minibuffer))
                                                     (ide-mcp--seen-frames)))))))
    (cond ((seq-find (lambda (view) ; preferably one that has not ended
                       (assq (alist-get 'call (buffer-local-value 'ide-mcp--proposal view)) ide-mcp--proposals))
                     views))
          ((car views))
          (or-none nil)
          (ide-mcp--proposals (ide-mcp--refuse "There is no proposal on the screen: M-x ide-mcp-next shows one"))
          (t (ide-mcp--refuse "There is no proposal")))))

(defun ide-mcp--seen-frames ()
  "Return the frames that the person can see, the selected one first.
Of several frames in a terminal, only the selected one is visible."
  (cons (selected-frame) (seq-filter #'display-graphic-p (visible-frame-list))))

(defun ide-mcp--go-to (call)
  "Show the proposal CALL at once, because the person asked for it."
  (dolist (entry ide-mcp--waiting) ; a view that has ended is closed first
    (unless (car entry)
      (setq ide-mcp--waiting (delq entry ide-mcp--waiting))
      (ide-mcp--attempt nil (cdr entry))))
  (let ((view (ide-mcp--view-of call))
        (shown (ide-mcp--view-on-screen t))
        (entry (assq call ide-mcp--waiting))
        (ide-mcp--asked t))
    (cond ((not (assq call ide-mcp--proposals)) (ide-mcp--refuse "The proposal has ended"))
          ((and view (eq view shown)) (pop-to-buffer view))
          ((not (or view entry)) (ide-mcp--refuse "The view of this proposal is your own: go there yourself"))
          (t (when shown (ide-mcp--put-aside shown))
             (when view (ide-mcp--hide view)) ; the person may have closed a part of its windows
             (setq ide-mcp--waiting (delq entry ide-mcp--waiting))
             (ide-mcp--attempt call (if view (lambda () (ide-mcp--guarded (ide-mcp--display view))) (cdr entry)))
             (force-mode-line-update t)))))

(defun ide-mcp--put-aside (view)
  "Remove the proposal in the buffer VIEW from the screen, and let it wait again."
  (ide-mcp--hide view)
  (ide-mcp--wait (alist-get 'call (buffer-local-value 'ide-mcp--proposal view))
                 (lambda ()
                   (when (buffer-live-p view) (ide-mcp--guarded (ide-mcp--display view))))))

;;; From the agent

(defun ide-mcp--propose (event)
  "Show the proposal of EVENT, once the person does not type."
  (let-alist event
    (let* ((event `((client . ,(or (alist-get .conn ide-mcp--agents) "an agent")) . ,event))
           (view (list .call nil event))
           state)
      (push view ide-mcp--proposals)
      (ide-mcp--run-hook 'ide-mcp-proposal-functions event)
      (ide-mcp--wait
       .call
       (lambda ()
         (ide-mcp--check-kept)
         (setq state (ide-mcp--state .path))
         (cl-flet ((decide (verdict &optional text)
                     (ide-mcp--decide event view state verdict text)))
           (when-let ((close (funcall
                              ide-mcp-show-function
                              `((accept . ,(lambda (text) (decide "accept" text)))
                                (reject . ,(lambda () (decide "reject")))
                                . ,event))))
             (setcar (cdr view) (lambda (reason) (ide-mcp--withdraw close .label reason))))))))))

(defun ide-mcp--decide (event view state verdict &optional text)
  "Answer the diff of EVENT with VERDICT and TEXT, unless its VIEW has ended.
STATE is that of the file's buffer when the view was shown.  Return nil if the
view has ended."
  (let-alist event
    (cond ((memq view ide-mcp--proposals)
           (setf (alist-get .call ide-mcp--proposals nil t) nil
                 (alist-get .call ide-mcp--waiting nil t) nil)
           (when (equal verdict "accept")
             (ide-mcp--expect-edit .path state (or text .contents)))
           (ide-mcp-tell :cmd "answer" :call .call :verdict verdict
                         :contents (unless (equal text .contents) text))
           (ide-mcp--run-hook 'ide-mcp-decided-functions `((verdict . ,verdict) . ,event))
           t)
          ((equal verdict "accept") (ide-mcp--say "Nothing is accepted, the proposal has ended: %s" .path) nil))))

(defun ide-mcp--withdraw (close name reason)
  "Call CLOSE for the view of a proposal for NAME, which ended for REASON."
  (setq ide-mcp--undecided num-input-keys)
  (let ((kept (funcall close)))
    (ide-mcp--say "%s.%s  The next proposal waits for a key"
                  (format (if (member reason '("close_tab" "closeAllDiffTabs" "cancelled"))
                              "The agent withdrew %s"
                            "The proposal for %s has ended")
                          name)
                  (if (bufferp kept) (format "  Your text is in %s." (buffer-name kept)) ""))))

(defun ide-mcp--close (call &optional reason)
  "End the proposal CALL for REASON, and close its view when the person pauses.
The view closes before all else that waits, and so before the next view opens."
  (pcase-let ((`(,close ,event) (alist-get call ide-mcp--proposals)))
    (setf (alist-get call ide-mcp--proposals nil t) nil
          (alist-get call ide-mcp--waiting nil t) nil)
    (ide-mcp--mark-ended call)
    (when event (ide-mcp--run-hook 'ide-mcp-decided-functions `((verdict . "withdrawn") . ,event)))
    (when close (push (cons nil (lambda () (funcall close reason))) ide-mcp--waiting))))

(defun ide-mcp--mark-ended (call)
  "Say in the view of the proposal CALL, which is still open, that it has ended."
  (when-let ((view (ide-mcp--view-of call)))
    (with-current-buffer view
      (setq header-line-format
            (ide-mcp--header "Ended: nothing is accepted.  %s" (alist-get 'label ide-mcp--proposal)))
      (force-mode-line-update))))

(defun ide-mcp--attempt (call function)
  "Call FUNCTION.  If it fails, answer CALL with the failure."
  (let ((process ide-mcp--process))
    (condition-case problem
        (funcall function)
      ((error quit)
       (let ((text (error-message-string problem)))
         (ide-mcp--log 'error "%s" text)
         (ide-mcp--say "ide-mcp: %s" text)
         (when (and call (eq process ide-mcp--process))
           (setf (alist-get call ide-mcp--proposals nil t) nil)
           (ide-mcp-tell :cmd "fail" :call call :message text)))))))

;;; Pauses of the person

(defun ide-mcp--wait (key function)
  "Let FUNCTION wait, with KEY, until the person does not type."
  (setq ide-mcp--waiting (append ide-mcp--waiting (list (cons key function)))))

(defun ide-mcp--reviewing-p ()
  "Return non-nil if the person is reviewing a proposal, not put aside."
  (seq-some (pcase-lambda (`(,call ,close)) (and close (not (assq call ide-mcp--waiting))))
            ide-mcp--proposals))

(defun ide-mcp--hidden ()
  "Return the number of proposals whose windows the person has closed."
  (seq-count (pcase-lambda (`(,call ,close))
               (when-let ((view (and close (not (assq call ide-mcp--waiting)) (ide-mcp--view-of call))))
                 (not (get-buffer-window view t))))
             ide-mcp--proposals))

(defun ide-mcp--go-on ()
  "Call the functions that wait, unless the person types or reviews a proposal.
If a proposal ended without a decision, the next one also waits for a key."
  (cancel-function-timers #'ide-mcp--go-on)
  (while (and ide-mcp--waiting
              (time-less-p ide-mcp--idle-delay
                          (or (current-idle-time) (time-since ide-mcp--answered)))
              (equal (this-single-command-keys) [])
              (not (input-pending-p)) ; typed while Emacs was busy
              (not (or (active-minibuffer-window) cursor-in-echo-area isearch-mode
                       (equal (terminal-name) "initial_terminal") ; a daemon without a frame
                       (ide-mcp--reviewing-p)
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
See `ide-mcp-show-function', and `ide-mcp-layout' for the windows."
  (let ((windows (current-window-configuration)) buffers close)
    (unwind-protect
        (setq close (ide-mcp--guarded
                      (ide-mcp--show proposal (lambda (buffer) (push buffer buffers) buffer))))
      (unless close ; a view that failed leaves nothing behind
        (dolist (buffer buffers)
          (with-current-buffer buffer (setq kill-buffer-hook nil))
          (ide-mcp--kill buffer))
        (set-window-configuration windows)))))

(defun ide-mcp--show (proposal made)
  "Show PROPOSAL, and call MADE with each buffer."
  (let-alist proposal
    (let* ((name (ide-mcp--line .label 64))
           (old (funcall made (ide-mcp--view (format "*file: %s*" name) .path
                                             (ide-mcp--old-text .old_path .old))))
           (new (funcall made (ide-mcp--view (format "*proposal: %s*" name) .path .contents)))
           (colors (or (buffer-local-value 'ide-mcp--reason old)
                       (buffer-local-value 'ide-mcp--reason new)))
           (marks (ide-mcp--compare old new (eq ide-mcp-layout 'inline)))
           (decide (concat (if .outside "OUTSIDE of the open folders.  " "")
                           "C-c C-c accepts, C-c C-k rejects.  "))
           (end (lambda ()
                  (funcall .reject)
                  (ide-mcp--end-ediff new)
                  (ide-mcp--hide new)
                  (ide-mcp--kill old))))
      (with-current-buffer old (setq buffer-read-only t))
      (with-current-buffer new
        (ide-mcp-proposal-mode)
        (setq ide-mcp--proposal proposal
              ide-mcp--old old
              ide-mcp--unmarked marks
              header-line-format
              ;; The right end is cut, so the keys that decide stand first.  A long name loses its beginning.
              (ide-mcp--header "%s%s, proposed by %s%s"
                               decide (ide-mcp--end-of name (- (frame-width) (length decide) 1)) .client
                               (cond (marks (format ".  The text has no highlighting: %s" marks))
                                     (colors (format ".  The code has no colors: %s" colors))
                                     (t ""))))
        (add-hook 'kill-buffer-hook end nil t))
      (ide-mcp--display new)
      (lambda () (ide-mcp--end new end name)))))

(defun ide-mcp--end (view end name)
  "Close the VIEW of a withdrawn proposal for the file NAME, by the function END.
If the person has typed into it, keep its buffer as a text of the person's, and
return it.  If it was selected, it stays on the screen, so that the next keys
go nowhere else."
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
                     buffer-offer-save t ; Emacs asks about it before it exits
                     header-line-format
                     (ide-mcp--header "The proposal has ended: what you typed is in no file")))
             (when selected (pop-to-buffer view '(display-buffer-pop-up-window)))
             view))))

(defun ide-mcp--check-kept ()
  "Signal an error if too many texts of withdrawn proposals are kept."
  (when (>= (seq-count (lambda (buffer)
                         (and (buffer-local-value 'ide-mcp--kept buffer)
                              (not (buffer-file-name buffer))))
                       (buffer-list))
            ide-mcp--most-kept)
    (error "Save or kill one of the %d buffers *withdrawn: …* first" ide-mcp--most-kept)))

(defun ide-mcp--old-text (path text)
  "Return the text of the file PATH: that of its buffer, or TEXT if it has none."
  (if-let ((buffer (ide-mcp--buffer path)))
      (with-current-buffer buffer (ide-mcp--text))
    (or text "")))

(provide 'ide-mcp-proposal)
;;; ide-mcp-proposal.el ends here
