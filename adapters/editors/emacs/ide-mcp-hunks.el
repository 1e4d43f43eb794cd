;;; ide-mcp-hunks.el --- The changes of a proposal one by one  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Goes from change to change in a proposal, takes one out, or compares the texts in Ediff.
;; The proposal is then accepted as a whole, with the changes that are left.

;;; Code:

(require 'seq)
(require 'ide-mcp-log)
(require 'ide-mcp-layout)

(defvar ediff-keep-variants)
(declare-function ediff-really-quit "ediff-util")

(defvar-local ide-mcp--unmarked nil "Why the changes of this proposal are not marked, or nil.")
(defvar-local ide-mcp--ediff nil "The control buffer of the Ediff of this proposal.")

(defun ide-mcp--check-compared ()
  "Refuse a command unless this buffer has a proposal that was compared."
  (unless ide-mcp--old (ide-mcp--refuse "There is no proposal in this buffer"))
  (when ide-mcp--unmarked (ide-mcp--refuse "The texts are not compared: %s" ide-mcp--unmarked)))

(defun ide-mcp--hunk-overlays ()
  "Return the overlays of the changed places in the current buffer, in order."
  (ide-mcp--check-compared)
  (sort (seq-filter (lambda (overlay) (overlay-get overlay 'ide-mcp-hunk))
                    (overlays-in (point-min) (1+ (point-max))))
        (lambda (one other) (< (overlay-start one) (overlay-start other)))))

(defun ide-mcp-next-hunk (&optional count)
  "Go to the next change of this proposal, or COUNT further."
  (interactive "p")
  (dotimes (_ (abs (or count 1)))
    (let ((places (mapcar #'overlay-start (ide-mcp--hunk-overlays))))
      (goto-char (or (if (< (or count 1) 0)
                         (seq-find (lambda (place) (< place (point))) (reverse places))
                       (seq-find (lambda (place) (> place (point))) places))
                     (ide-mcp--refuse "There is no other change there"))))))

(defun ide-mcp-previous-hunk (&optional count)
  "Go to the previous change of this proposal, or COUNT back."
  (interactive "p")
  (ide-mcp-next-hunk (- (or count 1))))

(defun ide-mcp-undo-hunk ()
  "Take the change at point out of this proposal: the lines of the file come back."
  (interactive)
  (let ((overlay (or (seq-find (lambda (overlay)
                                 (and (<= (overlay-start overlay) (point))
                                      (or (< (point) (overlay-end overlay))
                                          (= (overlay-start overlay) (overlay-end overlay) (point)))))
                               (ide-mcp--hunk-overlays))
                     (ide-mcp--refuse "There is no change here: C-c C-n goes to the next one"))))
    (goto-char (overlay-start overlay))
    (delete-region (point) (overlay-end overlay))
    (save-excursion (insert (overlay-get overlay 'ide-mcp-hunk)))
    (delete-overlay overlay)))

(defun ide-mcp-ediff ()
  "Compare this proposal with its file in Ediff.
There, `a' takes the text of the file for a change, and `q' comes back.
\\[ide-mcp-accept] and `ide-mcp-reject' decide from there, too."
  (interactive)
  (ide-mcp--check-compared)
  (let ((new (current-buffer))
        (old ide-mcp--old)
        (windows (current-window-configuration)))
    (dolist (overlay (overlays-in (point-min) (1+ (point-max)))) ; Ediff has colors of its own
      (when (overlay-get overlay 'before-string) (overlay-put overlay 'before-string nil)))
    (ediff-buffers old new
                   (list (lambda ()
                           (let ((control (current-buffer)))
                             (with-current-buffer new (setq ide-mcp--ediff control)))
                           (add-hook 'ediff-after-quit-hook-internal
                                     (lambda ()
                                       (when (buffer-live-p new)
                                         (with-current-buffer new (setq ide-mcp--ediff nil))
                                         (set-window-configuration windows)))
                                     nil t)
                           (setq-local ediff-keep-variants t))))))

(defun ide-mcp--end-ediff (view)
  "End the Ediff of the proposal in the buffer VIEW, if there is one."
  (let ((control (buffer-local-value 'ide-mcp--ediff view)))
    (when (buffer-live-p control)
      (with-current-buffer view (setq ide-mcp--ediff nil))
      (with-current-buffer control (ignore-errors (ediff-really-quit nil))))))

(provide 'ide-mcp-hunks)
;;; ide-mcp-hunks.el ends here
