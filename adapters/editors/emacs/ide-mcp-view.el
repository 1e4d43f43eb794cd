;;; ide-mcp-view.el --- Buffers with proposed texts  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The buffers of a proposal, with the proposed text and with the file beside it: their
;; limits of size, their colors, and the marks of their changes.

;;; Code:

(require 'cl-lib)
(require 'diff)
(require 'seq)
(require 'smerge-mode)
(require 'subr-x)
(require 'ide-mcp-guard)

(defconst ide-mcp--most-compared (* 1024 1024)
  "The largest text that is compared, in characters.")

(defconst ide-mcp--folded-line 4000 "The length of the pieces of a broken line, in characters.")

(defconst ide-mcp--most-inline 40
  "The maximum number of removed lines of a change shown in the proposal itself.
You cannot put the cursor into them, so more would push the rest off the
screen.")

(defconst ide-mcp--most-changes 1000
  "The maximum number of changed places that are marked.
To mark 1,000 places takes 0.06 s, and 10,000 take 0.5 s, with up to 0.7 s for
each key.")

(defvar-local ide-mcp--reason nil "Why this view has no colors, or nil.")
(defvar-local ide-mcp--line-number 1 "The number of the line at point, while changes are marked.")

(defun ide-mcp--view (name path text)
  "Return a buffer NAME with TEXT, in the mode for PATH unless it is too large."
  (with-current-buffer (generate-new-buffer name)
    (insert (ide-mcp--lines-of text))
    (goto-char (point-min))
    (let ((reason (ide-mcp--too-large path t)))
      (if (not reason)
          (ide-mcp--choose-mode path)
        (ide-mcp--tame)
        (ide-mcp--fold)
        (goto-char (point-min)))
      (setq ide-mcp--reason reason))
    (set-buffer-modified-p nil)
    (setq buffer-undo-list nil)
    (current-buffer)))

(defun ide-mcp--name (path)
  "Return the name of the file PATH for titles."
  (ide-mcp--line (file-name-nondirectory path) 64))

(defun ide-mcp--header (format &rest values)
  "Return the header line with FORMAT and VALUES as its text."
  (string-replace "%" "%%" (concat " " (ide-mcp--line (apply #'format format values) 400))))

(defun ide-mcp--end-of (name columns)
  "Return NAME, without its beginning if it is longer than COLUMNS, or than 10."
  (let ((rest name))
    (while (> (string-width rest) (max columns 10))
      (setq rest (concat "…" (substring rest 2))))
    rest))

;;; Long lines

(defun ide-mcp--fold ()
  "Break the long lines of the current buffer, only for display."
  (goto-char (point-min))
  (while (> (- (point-max) (point)) ide-mcp--longest-line)
    (let ((start (point)))
      (forward-char (1+ ide-mcp--longest-line))
      (if (search-backward "\n" start t)
          (forward-char)
        (goto-char start)
        (dotimes (_ (/ ide-mcp--longest-line ide-mcp--folded-line))
          (forward-char ide-mcp--folded-line)
          (insert (propertize "\\\n" 'ide-mcp-fold t 'rear-nonsticky t)))))))

(defun ide-mcp--folded-p ()
  "Return non-nil if `ide-mcp--fold' has broken a line of the current buffer."
  (text-property-any (point-min) (point-max) 'ide-mcp-fold t))

(defun ide-mcp--unfolded ()
  "Return the text of the current buffer without the breaks of `ide-mcp--fold'."
  (save-restriction
    (widen)
    (if (ide-mcp--folded-p)
        (let ((buffer (current-buffer)))
          (with-temp-buffer
            (insert-buffer-substring buffer)
            (ide-mcp--unfold)
            (ide-mcp--text)))
      (ide-mcp--text))))

(defun ide-mcp--unfold ()
  "Remove the breaks of `ide-mcp--fold' from the current buffer."
  (save-excursion
    (goto-char (point-min))
    (let (place)
      (while (setq place (text-property-any (point) (point-max) 'ide-mcp-fold t))
        (goto-char place)
        (delete-region place (next-single-property-change
                              place 'ide-mcp-fold nil (point-max)))))))

;;; Changes

(defun ide-mcp--compare (old new inline)
  "Mark the differences of the buffers OLD and NEW, and go to the first one.
If INLINE is non-nil, NEW also shows the removed lines of OLD.  If nothing is
marked, return the reason, otherwise nil."
  (let ((hunks (or (seq-some (lambda (buffer)
                               (with-current-buffer buffer
                                 (cond ((ide-mcp--folded-p) ide-mcp--reason)
                                       ((> (buffer-size) ide-mcp--most-compared)
                                        (format "more than %d KiB"
                                                (/ ide-mcp--most-compared 1024))))))
                             (list old new))
                   (ide-mcp--hunks old new))))
    (cond ((stringp hunks) hunks)
          ((length> hunks ide-mcp--most-changes)
           (format "more than %d places differ" ide-mcp--most-changes))
          (t (dolist (buffer (list old new))
               (with-current-buffer buffer
                 (goto-char (point-min))
                 (setq ide-mcp--line-number 1)))
             (let* ((end (time-add nil ide-mcp--patience))
                    (places (mapcar (pcase-lambda (`(,line1 ,count1 ,line2 ,count2))
                                      (let ((removed (ide-mcp--mark old line1 count1 'diff-removed))
                                            (added (ide-mcp--mark new line2 count2 'diff-added)))
                                        (ide-mcp--store-hunk removed added inline)
                                        (append (seq-take removed 2) (seq-take added 2))))
                                    hunks)))
               (pcase-dolist (`(,start1 ,end1 ,start2 ,end2) places)
                 ;; To compare the words of a region takes 20 ms, and minutes if it is large.
                 (when (and (< (+ (- end1 start1) (- end2 start2)) 2000) (time-less-p nil end))
                   (smerge-refine-regions start1 end1 start2 end2 nil nil
                                          '((face . smerge-refined-removed))
                                          '((face . smerge-refined-added)))))
               (pcase-dolist (`(,buffer . ,place) (and places `((,old . ,(car (car places)))
                                                                (,new . ,(nth 2 (car places))))))
                 (with-current-buffer buffer (goto-char place))))
             nil))))

(defun ide-mcp--hunks (old new)
  "Return the places that differ in OLD and NEW, as two lines with their counts.
If the comparison takes too long, return a string that says so."
  (let ((files (mapcar (lambda (_) (make-temp-file "ide-mcp-")) '(1 2)))
        (coding-system-for-write 'utf-8-emacs-unix)
        ;; On a busy machine, each part of the output can wait for a processor: with the 4 KiB of Emacs 28, up to 0.2 s.
        (read-process-output-max (* 64 1024)))
    (unwind-protect
        (with-temp-buffer
          (cl-loop for file in files for buffer in (list old new)
                   do (with-current-buffer buffer (write-region nil nil file nil 'silent)))
          (let* ((default-directory temporary-file-directory)
                 (diff (make-process :name "ide-mcp diff" :buffer (current-buffer)
                                     :command `(,diff-command "-a" "-U0" ,@files)
                                     :connection-type 'pipe :coding 'utf-8-emacs-unix
                                     :noquery t :sentinel #'ignore))
                 (end (time-add nil ide-mcp--patience)))
            (while (and (process-live-p diff) (time-less-p nil end))
              (accept-process-output diff 0.01 nil t))
            (if (process-live-p diff)
                (progn (delete-process diff) "the comparison takes too long")
              (while (accept-process-output diff 0 nil t))
              (goto-char (point-min))
              (cl-flet ((number (group) (string-to-number (or (match-string group) "1"))))
                (cl-loop while (re-search-forward
                                (rx bol "@@ -" (group (+ digit)) (? "," (group (+ digit)))
                                    " +" (group (+ digit)) (? "," (group (+ digit))) " @@")
                                nil t)
                         collect (list (number 1) (number 2) (number 3) (number 4)))))))
      (mapc #'delete-file files))))

(defun ide-mcp--mark (buffer line count face)
  "Show COUNT lines from LINE of BUFFER in FACE.
Return their start and end, and the overlay.  Call this for lines in increasing
order: point in BUFFER is at the line `ide-mcp--line-number'."
  (with-current-buffer buffer
    (let ((start (if (zerop count) (1+ line) line)))
      (forward-line (- start ide-mcp--line-number))
      (setq ide-mcp--line-number start)
      (let ((end (save-excursion (forward-line count) (point))))
        (let ((overlay (make-overlay (point) end)))
          (overlay-put overlay 'face face)
          (list (point-marker) end overlay))))))

(defun ide-mcp--store-hunk (removed added inline)
  "Store the text of REMOVED in the overlay of ADDED, and show it if INLINE.
Both are results of `ide-mcp--mark'."
  (pcase-let* ((`(,start ,end) removed)
               (`(,_ ,_ ,overlay) added)
               (text (with-current-buffer (marker-buffer start) (buffer-substring-no-properties start end))))
    (overlay-put overlay 'ide-mcp-hunk text)
    (when (and inline (not (equal text "")))
      (let* ((lines (split-string (string-remove-suffix "\n" text) "\n"))
             (shown (seq-take lines ide-mcp--most-inline)))
        (overlay-put overlay 'before-string
                     (concat (propertize (concat (string-join shown "\n") "\n") 'face 'diff-removed)
                             (when (length> lines ide-mcp--most-inline)
                               (propertize (format "… and %d lines more\n" (- (length lines) ide-mcp--most-inline))
                                           'face 'shadow))))))))

(provide 'ide-mcp-view)
;;; ide-mcp-view.el ends here
