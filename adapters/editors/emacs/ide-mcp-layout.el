;;; ide-mcp-layout.el --- Windows for a proposal  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Shows a proposal in the windows that you want, and brings back your own windows
;; afterwards.  The terminal of an agent stays where it is.

;;; Code:

(require 'seq)
(require 'tab-bar)
(require 'ide-mcp-guard)
(require 'ide-mcp-log)
(require 'ide-mcp-terminal)

(defcustom ide-mcp-layout 'auto
  "How a proposal is shown.
With `side-by-side' or `stacked', the file and the proposal take the place of
your windows; with `auto', the one of these two that `split-width-threshold'
chooses.  With `tab' they are in a tab of their own.  With `inline' the
proposal is alone, and the removed lines stand above the added ones.  With
`ediff' you take the changes one by one in Ediff."
  :type '(choice (const auto) (const side-by-side) (const stacked) (const tab) (const inline)
                 (const ediff))
  :group 'ide-mcp)

(defcustom ide-mcp-select-proposal t
  "Non-nil if a new proposal takes the cursor.
Otherwise the cursor and your window stay, and the proposal opens below them;
with the layout `tab' it opens when you call `ide-mcp-next'."
  :type 'boolean
  :group 'ide-mcp)

(defvar ide-mcp--asked nil "Non-nil while a proposal is shown that the person asked for.")
(defvar-local ide-mcp--old nil "The buffer with the file beside this proposal.")
(defvar-local ide-mcp--restore nil "The function that brings back the windows, while this proposal is shown.")
(defvar-local ide-mcp--shown nil "The time since which the proposal of this buffer is on the screen.")

(declare-function ide-mcp-ediff "ide-mcp-hunks")

(defun ide-mcp--display (new)
  "Show the proposal in the buffer NEW, unless it would steal the cursor."
  (let* ((old (buffer-local-value 'ide-mcp--old new))
         (selected (selected-window))
         (keeps (not (or ide-mcp-select-proposal ide-mcp--asked)))
         (tab (and (eq ide-mcp-layout 'tab) (buffer-name new)))
         (room (and keeps (not tab) (not (window-parameter nil 'window-side))
                    (ignore-errors (split-window (window-main-window) nil 'below))))
         (windows (current-window-configuration))
         restore window)
    (if (and keeps (not room) (or tab (not (window-parameter nil 'window-side))))
        (ide-mcp--say "A proposal waits: M-x ide-mcp-next shows %s" (buffer-name new))
      (unwind-protect
          (progn
            (cond (tab (setq restore (ide-mcp--open-tab tab selected)
                             window (ide-mcp--fill (selected-window) old new)))
                  (room (setq restore (lambda () (mapc #'ide-mcp--delete-window (list room window)))
                              window (ide-mcp--fill room old new)))
                  (t (setq restore (lambda () (ide-mcp--bring-back windows old new))
                           window (ide-mcp--fill (ide-mcp--clear) old new))))
            (select-window (if keeps selected window)))
        (if window
            (with-current-buffer new (setq ide-mcp--restore restore))
          (when restore (funcall restore)))) ; a function of the person's has failed
      (redisplay t) ; coloring takes time, and before that nobody has seen the text
      (with-current-buffer new (setq ide-mcp--shown (current-time)))
      (when (and (eq ide-mcp-layout 'ediff) (not keeps)) (with-current-buffer new (ide-mcp-ediff))))))

(defun ide-mcp--bring-back (windows old new)
  "Bring WINDOWS back if NEW is shown.
If the selected window shows neither OLD nor NEW, it stays selected."
  (when (get-buffer-window new)
    (let ((now (selected-window))
          (elsewhere (not (memq (window-buffer) (list old new)))))
      (set-window-configuration windows)
      (when (and elsewhere (window-live-p now)) (select-window now)))))

(defun ide-mcp--hide (view)
  "Remove the proposal in the buffer VIEW from the screen."
  (with-current-buffer view
    (let ((restore ide-mcp--restore))
      (setq ide-mcp--restore nil ide-mcp--shown nil)
      (when restore (funcall restore)))))

(defun ide-mcp--clear ()
  "Delete the other windows, except those with the terminal of an agent.
Return the window that is left: the selected one, unless that is such a
terminal or at a side of the frame."
  (let ((ignore-window-parameters t)
        (base (if (or (window-parameter nil 'window-side) (ide-mcp--terminal-p (selected-window)))
                  (or (seq-find (lambda (window)
                                  (not (or (window-parameter window 'window-side)
                                           (ide-mcp--terminal-p window))))
                                (window-list nil 'no-minibuffer))
                      (split-window (window-main-window) nil 'left))
                (selected-window))))
    (dolist (window (window-list nil 'no-minibuffer))
      (unless (or (eq window base) (ide-mcp--terminal-p window))
        (ignore-errors (delete-window window))))
    base))

(defun ide-mcp--terminal-p (window)
  "Return non-nil if WINDOW has the terminal of an agent."
  (buffer-local-value 'ide-mcp--terminal (window-buffer window)))

(defun ide-mcp--fill (window old new)
  "Show the buffers OLD and NEW in place of WINDOW, and return that of NEW."
  (let ((second (if (eq ide-mcp-layout 'inline)
                    window
                  (condition-case nil
                      (split-window window nil (if (ide-mcp--wide-p window) 'right 'below))
                    (error window))))) ; there is room only for the proposal
    (set-window-dedicated-p window nil)
    (unless (eq second window) (set-window-buffer window old))
    (set-window-buffer second new)
    second))

(defun ide-mcp--wide-p (window)
  "Return non-nil if WINDOW should be split side by side."
  (pcase ide-mcp-layout
    ('side-by-side t)
    ('stacked nil)
    (_ (and split-width-threshold (>= (window-width window) split-width-threshold)))))

(defun ide-mcp--open-tab (name selected)
  "Open a tab NAME.  Return a function to close it and go back to SELECTED."
  (let ((had-bar tab-bar-mode)
        (tab-bar-new-tab-choice t))
    (select-window (or (seq-find (lambda (window) (not (window-parameter window 'window-side)))
                                 (window-list nil 'no-minibuffer))
                       (selected-window)))
    (tab-bar-new-tab)
    (tab-bar-rename-tab name)
    (let ((ignore-window-parameters t)) (delete-other-windows))
    (lambda ()
      (ignore-errors (tab-bar-close-tab-by-name name)) ; the person may have closed it
      (when (window-live-p selected) (select-window selected))
      (unless (or had-bar (cdr (funcall tab-bar-tabs-function))) (tab-bar-mode -1)))))

(defun ide-mcp--delete-window (window)
  "Delete WINDOW if it is there with a side of a proposal."
  (when (and (window-live-p window)
             (string-match-p (rx bos "*" (or "file" "proposal") ": ") (buffer-name (window-buffer window))))
    (ignore-errors (delete-window window))))

(provide 'ide-mcp-layout)
;;; ide-mcp-layout.el ends here
