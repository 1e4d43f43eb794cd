;;; ide-mcp-context.el --- What agents see of Emacs  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The selection, the problems, and the answers to what agents ask.

;;; Code:

(require 'cl-lib)
(require 'flymake)
(require 'let-alist)
(require 'subr-x)
(require 'ide-mcp-guard)
(require 'ide-mcp-wire)
(require 'ide-mcp-files)
(require 'ide-mcp-tools)

(defcustom ide-mcp-answers nil
  "Alist of functions for your own tools, prompts and resources.
The keys are the names and URIs that `ide-mcp-config' offers.  A function
receives the arguments as an alist.  The result is the answer, and an error
is a failure."
  :type '(alist :key-type string :value-type function)
  :group 'ide-mcp)

;;; The selection

(defconst ide-mcp--most-moving (* 16 1024)
  "The largest region, in characters, of which each change is sent at once.
A larger one is sent when you pause: the largest takes 40 to 90 ms, as JSON and
through a pipe that is full.")

(defconst ide-mcp--pause 0.5 "The time in seconds without a key that counts as a pause.")

(defvar ide-mcp--sent nil "What `ide-mcp--send-selection' sent last: the file, its state and the region.")
(defvar-local ide-mcp--counted nil "The number of the line at a position, for a state of this buffer.")

(defun ide-mcp--send-selection (&optional again)
  "Send the selection, if it has changed or AGAIN is non-nil.
In a buffer without a file, agents keep the selection from before."
  (with-current-buffer (window-buffer)
    (when-let ((file (ide-mcp--file)))
      (let* ((region (use-region-p))
             (start (if region (region-beginning) (point)))
             (end (if region (region-end) start))
             (state (list file (buffer-chars-modified-tick) start end)))
        (unless (and (not again)
                     (or (equal state ide-mcp--sent)
                         (and (> (- end start) ide-mcp--most-moving)
                              (time-less-p (or (current-idle-time) 0) ide-mcp--pause))))
          (setq ide-mcp--sent state)
          (let ((first (ide-mcp--position start)))
            (ide-mcp-tell :cmd "select" :path file
                          :start first :end (if region (ide-mcp--position end) first)
                          ;; The sidecar cuts a text above 256 KiB.
                          :text (if region
                                    (buffer-substring-no-properties start (min end (+ start 262145)))
                                  ""))))))))

(defun ide-mcp--position (position)
  "Return the line and the column of POSITION, from 0, in UTF-16 units."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char position)
      (forward-line 0)
      (let ((before (buffer-substring-no-properties (point) position)))
        (vector (1- (ide-mcp--line-here))
                (if (multibyte-string-p before)
                    (/ (length (encode-coding-string before 'utf-16be-unix)) 2)
                  (length before)))))))

(defun ide-mcp--line-here ()
  "Return the number of the line that begins at point.
Count from the last place if it is near: the person mostly moves by a few
lines."
  (let* ((tick (buffer-chars-modified-tick))
         (line (pcase ide-mcp--counted
                 ((and `(,(pred (eql tick)) ,place ,line) (guard (< (abs (- place (point))) 50000)))
                  (if (< place (point))
                      (+ line (count-lines place (point)))
                    (- line (count-lines (point) place))))
                 (_ (line-number-at-pos)))))
    (setq ide-mcp--counted (list tick (point) line))
    line))

;;; Answers

(defun ide-mcp--answer (name arguments path)
  "Answer the tool, the prompt or the resource NAME with ARGUMENTS.
PATH is the file among the arguments."
  (let ((buffer (and path (ide-mcp--buffer path))))
    (let-alist arguments
      (pcase name
        ((app (lambda (name) (cdr (assoc name ide-mcp-answers))) (and answer (guard answer)))
         (funcall answer arguments))
        ((app ide-mcp--tool-named (and tool (guard tool))) (ide-mcp--use-tool tool arguments))
        ("getDiagnostics"
         (if (not .uri)
             (ide-mcp--map-files (lambda () (and (ide-mcp--has-problems-p) (ide-mcp--problems))))
           (vector (if buffer
                       (with-current-buffer buffer (ide-mcp--problems .uri))
                     (list :uri .uri :diagnostics [])))))
        ("getOpenEditors" (list :tabs (ide-mcp--map-files #'ide-mcp--tab)))
        ((or "checkDocumentDirty" "saveDocument")
         (if (not buffer)
             (list :success :false :message (format "Document not open: %s" path))
           (with-current-buffer buffer
             (append (list :success t :filePath path)
                     (if (equal name "checkDocumentDirty")
                         (list :isDirty (if (buffer-modified-p) t :false) :isUntitled :false)
                       (ide-mcp--save)
                       (list :saved t :message "Document saved successfully"))))))
        ("openFile" (ide-mcp--open-file arguments path))
        ("review" (format "Review the file that is open in the editor, above all %s."
                          (or .focus "the selected lines")))
        ("emacs://next-error" (if (buffer-live-p next-error-last-buffer)
                                  (with-current-buffer next-error-last-buffer (ide-mcp--text))
                                ""))
        (_ (error "No function for %s in `ide-mcp-answers'" name))))))

(defun ide-mcp--frontmost-p (arguments)
  "Return non-nil if openFile with ARGUMENTS is to show the file."
  (or (not (assq 'makeFrontmost arguments)) (alist-get 'makeFrontmost arguments)))

(defun ide-mcp--open-file (arguments path)
  "Answer openFile for PATH with ARGUMENTS."
  (let-alist arguments
    (let ((buffer (or (ide-mcp--up-to-date (ide-mcp--buffer path)) (ide-mcp--visit path)))
          (case-fold-search nil))
      (if (not (ide-mcp--frontmost-p arguments))
          (with-current-buffer buffer
            (list :success t :filePath path
                  :languageId (ide-mcp--language)
                  :lineCount (save-restriction (widen) (count-lines (point-min) (point-max)))))
        ;; Not in the window of an agent's terminal.
        (pop-to-buffer buffer (and (with-current-buffer (window-buffer) (ide-mcp--file))
                                   '((display-buffer-reuse-window display-buffer-same-window))))
        (goto-char (point-min))
        (forward-line (1- (or .startLine 1)))
        (when (and .startText (search-forward .startText nil t))
          (push-mark (match-beginning 0) t t)
          (when .endText (search-forward .endText nil t))
          (when .selectToEndOfLine (end-of-line)))
        (ide-mcp--send-selection t)
        (concat "Opened file: " path)))))

;;; Problems

(defvar flycheck-current-errors)
(declare-function flycheck-error-buffer "ext:flycheck")
(declare-function flycheck-error-checker "ext:flycheck")
(declare-function flycheck-error-level "ext:flycheck")
(declare-function flycheck-error-message "ext:flycheck")
(declare-function flycheck-error-region-for-mode "ext:flycheck")

(defun ide-mcp--announcing (report)
  "Return REPORT of Flymake, with an announcement of the new problems after it."
  (let ((buffer (current-buffer)))
    (lambda (&rest arguments)
      (apply report arguments)
      (when (buffer-live-p buffer) (with-current-buffer buffer (ide-mcp--announce))))))

(defun ide-mcp--announce ()
  "Tell agents that the problems of the current buffer have changed."
  (when (ide-mcp--file)
    (ide-mcp-tell :cmd "diagnostics_changed" :uris (vector (ide-mcp--uri)))))

(defun ide-mcp--has-problems-p ()
  "Return non-nil if Flymake or Flycheck has a problem in the current buffer."
  (or (flymake-diagnostics) (bound-and-true-p flycheck-current-errors)))

(defun ide-mcp--problems (&optional uri)
  "Return the problems of the current buffer.
If an agent asked for URI, the answer spells it as the agent did."
  (list :uri (or uri (ide-mcp--uri))
        :diagnostics (vconcat (mapcar #'ide-mcp--problem (flymake-diagnostics))
                              (delq nil (mapcar #'ide-mcp--flycheck-problem
                                                (bound-and-true-p flycheck-current-errors))))))

(defun ide-mcp--problem (diagnostic)
  "Return DIAGNOSTIC of Flymake in the current buffer, as sent to agents."
  (ide-mcp--problem-of (flymake-diagnostic-text diagnostic) (flymake-diagnostic-type diagnostic)
                       (flymake-diagnostic-backend diagnostic)
                       (flymake-diagnostic-beg diagnostic) (flymake-diagnostic-end diagnostic)))

(defun ide-mcp--flycheck-problem (problem)
  "Return PROBLEM of Flycheck as sent to agents, or nil if in another buffer."
  (when (eq (flycheck-error-buffer problem) (current-buffer))
    (pcase-let ((`(,start . ,end) (or (flycheck-error-region-for-mode problem 'symbols)
                                      (cons (point-min) (point-min)))))
      (ide-mcp--problem-of (or (flycheck-error-message problem) "") (flycheck-error-level problem)
                           (flycheck-error-checker problem) start end))))

(defun ide-mcp--problem-of (text level source start end)
  "Return the problem TEXT of LEVEL and SOURCE from START to END, for agents."
  (cl-flet ((place (position)
              (pcase-let ((`[,line ,column] (ide-mcp--position position)))
                (list :line line :character column))))
    (list :message text
          :severity (pcase (symbol-name level)
                      ((rx "error") "Error")
                      ((rx "warn") "Warning")
                      (_ "Information"))
          :source (format "%s" source)
          :range (list :start (place start) :end (place end)))))

(provide 'ide-mcp-context)
;;; ide-mcp-context.el ends here
