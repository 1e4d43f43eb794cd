;;; ide-mcp-mention.el --- Mention files to an agent  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Mentions the file of a buffer, a path, or files in a list such as Dired.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'ide-mcp-guard)
(require 'ide-mcp-log)
(require 'ide-mcp-wire)
(require 'ide-mcp-files)
(require 'ide-mcp-terminal)

(defcustom ide-mcp-path-functions '((dired-mode . dired-get-marked-files)
                                    (ibuffer-mode . ide-mcp--ibuffer-files)
                                    (treemacs-mode . ide-mcp--treemacs-files)
                                    (neotree-mode . ide-mcp--neotree-files))
  "Alist from major modes to functions that return the marked paths.
Without marks, they return a list of the path at point."
  :type '(alist :key-type symbol :value-type function)
  :group 'ide-mcp)

;;;###autoload
(defun ide-mcp-mention (&optional path from to)
  "Mention the file, or the lines of the region, in the prompt of the agent.
In a list of files, such as Dired, it is the file at point, or the marked ones.
With a prefix argument, you are asked for the file and for its lines.  A program
can give a PATH with its lines FROM and TO, which count from 1.  This turns
`ide-mcp-mode' on."
  (interactive (and current-prefix-arg (ide-mcp--read-mention)))
  (let ((paths (mapcar #'ide-mcp--mentionable
                       (cond (path (list (expand-file-name path)))
                             ((ide-mcp--paths-here))
                             ((ide-mcp--file) (list (ide-mcp--file)))
                             (t (ide-mcp--refuse "This buffer has no file: C-u M-x ide-mcp-mention asks for one")))))
        (lines (cond (from (unless (<= 1 from (or to from))
                             (ide-mcp--refuse "There are no lines %d to %d (the first is 1)" from (or to from)))
                           (vector (1- from) (1- (or to from))))
                     ((and (not path) (ide-mcp--file) (use-region-p))
                      (cl-flet ((line (position) (1- (line-number-at-pos position t))))
                        (vector (line (region-beginning)) (line (1- (region-end)))))))))
    (ide-mcp--turn-on)
    (dolist (path paths)
      (ide-mcp-tell :cmd "mention" :path path :lines lines :conn ide-mcp--target))
    (unless (delq nil (mapcar #'cdr ide-mcp--agents))
      (ide-mcp--say "No agent is attached: the mention waits up to 30 s for one"))))

(defun ide-mcp--read-mention ()
  "Ask for a file and its lines, and return the arguments of `ide-mcp-mention'."
  (let* ((path (read-file-name "Mention: " nil nil t))
         (lines (if (file-directory-p path)
                    ""
                  (string-trim (read-string "Lines, such as 3 or 3-9 (empty for all): ")))))
    (unless (string-match (rx bos (? (group (+ digit)) (? (* " ") (any " -") (* " ") (group (+ digit)))) eos) lines)
      (ide-mcp--refuse "These are not line numbers: %s" lines))
    (cons path (mapcar #'string-to-number (delq nil (list (match-string 1 lines) (match-string 2 lines)))))))

(defun ide-mcp--mentionable (path)
  "Return PATH, or signal an error if an agent cannot read it here."
  (cond ((file-remote-p path) (ide-mcp--refuse "Agents cannot read a file on another machine: %s" path))
        ((or (file-exists-p path) (find-buffer-visiting path)) (directory-file-name path))
        (t (ide-mcp--refuse "There is no file %s" path))))

;;; Lists of files

(defun ide-mcp--paths-here ()
  "Return the paths that are marked or at point in a list of files.
Return nil in another buffer."
  (when-let ((entry (seq-find (lambda (entry) (derived-mode-p (car entry))) ide-mcp-path-functions)))
    (or (mapcar #'expand-file-name (delq nil (funcall (cdr entry))))
        (ide-mcp--refuse "There is no file at point"))))

(declare-function ibuffer-current-buffer "ibuffer")
(declare-function ibuffer-get-marked-buffers "ibuffer")
(declare-function treemacs--prop-at-point "ext:treemacs")
(declare-function neo-buffer--get-filename-current-line "ext:neotree")

(defun ide-mcp--ibuffer-files ()
  "Return the files of the marked buffers, or of the buffer at point."
  (mapcar #'buffer-file-name (or (ibuffer-get-marked-buffers) (list (ibuffer-current-buffer t)))))

(defun ide-mcp--treemacs-files ()
  "Return the file at point in Treemacs."
  (list (treemacs--prop-at-point :path)))

(defun ide-mcp--neotree-files ()
  "Return the file at point in NeoTree."
  (list (neo-buffer--get-filename-current-line)))

(provide 'ide-mcp-mention)
;;; ide-mcp-mention.el ends here
