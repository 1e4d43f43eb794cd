;;; ide-mcp-tools.el --- Tools of Emacs for a model  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What Emacs knows better than a search in files: the symbols of a file by Imenu, the
;; references of a language server by Xref, and the files of the project.  A model has them
;; only if you set `ide-mcp-model-tools', and if it connects by `ide-mcp mcp-config'.

;;; Code:

(require 'cl-lib)
(require 'imenu)
(require 'let-alist)
(require 'project)
(require 'seq)
(require 'subr-x)
(require 'xref)
(require 'ide-mcp-guard)
(require 'ide-mcp-wire)
(require 'ide-mcp-files)

(defcustom ide-mcp-model-tools nil
  "Tools for the model of an agent that has connected by `ide-mcp mcp-config'.
Their answers are limited in size, and name only files in the open folders.
A change takes effect when `ide-mcp-mode' is turned on."
  :type '(set (const symbols) (const references) (const files))
  :group 'ide-mcp)

(defconst ide-mcp--most-lines 200 "The maximum number of lines in an answer to a model.")
(defconst ide-mcp--most-answer (* 32 1024) "The maximum size of an answer to a model, in bytes.")

(defconst ide-mcp--tools
  (let ((path '(:type "string" :description "The absolute path of the file, or its path in the open folder")))
    `((symbols
       :description "The symbols of a file, such as functions and types, with their lines"
       :schema (:type "object" :required ["path"] :properties (:path ,path)))
      (references
       :description "Where a symbol is used in the project, from the language server"
       :schema (:type "object" :required ["path" "line" "symbol"]
                :properties (:path ,path
                             :line (:type "integer" :description "The line of the file that has the symbol, from 1")
                             :symbol (:type "string" :description "The symbol as that line has it"))))
      (files
       :description "The files of the open projects, without those that git ignores"
       :schema (:type "object"
                :properties (:part (:type "string" :description "A part of the path; without it, all files are listed"))))))
  "The tools, each with the members of an own tool of docs/sidecar.md.")

(defun ide-mcp--own-tools ()
  "Return the tools of the person, and those for the model, as a vector, or nil."
  (let ((tools (vconcat (plist-get ide-mcp-config :own)
                        (mapcar (lambda (tool)
                                  (append (list :name (symbol-name tool) :models t)
                                          (alist-get tool ide-mcp--tools)))
                                ide-mcp-model-tools))))
    (unless (equal tools []) tools)))

(defun ide-mcp--tool-named (name)
  "Return the tool NAME for models if the person has turned it on, or nil."
  (seq-find (lambda (tool) (equal name (symbol-name tool))) ide-mcp-model-tools))

(defun ide-mcp--use-tool (tool arguments)
  "Return the answer of TOOL for ARGUMENTS."
  (let-alist arguments
    (pcase tool
      ('files (ide-mcp--listed "files" (ide-mcp--project-files .part)))
      ((guard (not (stringp .path))) (error "The path is missing"))
      ('symbols (ide-mcp--listed "symbols" (ide-mcp--symbols (ide-mcp--tool-buffer .path))))
      ('references
       (unless (and (natnump .line) (stringp .symbol)) (error "The line or the symbol is missing"))
       (ide-mcp--listed "places" (ide-mcp--references (ide-mcp--tool-buffer .path) .line .symbol))))))

(defun ide-mcp--listed (what lines)
  "Return the answer with LINES, which are WHAT: how many, and as many as fit."
  (let ((what (if (= (length lines) 1) (string-remove-suffix "s" what) what))
        (bytes 0) (count 0) shown)
    (while (and (nth count lines) (< count ide-mcp--most-lines)
                (< (setq bytes (+ bytes (string-bytes (nth count lines)) 1)) ide-mcp--most-answer))
      (push (nth count lines) shown)
      (setq count (1+ count)))
    (string-join (cons (if (= count (length lines))
                           (format "%d %s" count what)
                         (format "%d %s, of which these are the first %d" (length lines) what count))
                       (nreverse shown))
                 "\n")))

(defun ide-mcp--inside-p (path)
  "Return non-nil if PATH lies in an open folder, with its links resolved."
  (ide-mcp--guarded
    (seq-some (lambda (folder) (file-in-directory-p path folder)) (ide-mcp--folders))))

(defun ide-mcp--short (path)
  "Return PATH relative to its open folder, as one line."
  (ide-mcp--line
   (if-let ((folder (seq-find (lambda (folder) (string-prefix-p (file-name-as-directory folder) path))
                              (ide-mcp--folders))))
       (substring path (length (file-name-as-directory folder)))
     path)
   400))

(defun ide-mcp--tool-buffer (path)
  "Return a buffer with the file PATH, which a model names, in an open folder."
  (when (file-name-absolute-p path) (ide-mcp--check-path path)) ; before it is expanded
  (let ((below (expand-file-name path command-line-default-directory)))
    (ide-mcp--check-path below)
    (unless (ide-mcp--inside-p below) (error "The file is in no open folder: %s" below))
    (or (ide-mcp--buffer below) (ide-mcp--visit below))))

(defun ide-mcp--symbols (buffer)
  "Return a line for each symbol of BUFFER."
  (with-current-buffer buffer
    (save-excursion
      (save-restriction
        (widen)
        (let (lines)
          (cl-labels ((walk (index parents)
                        (pcase-dolist (`(,name . ,place) index)
                          (let ((names (append parents (list (substring-no-properties name)))))
                            (cond ((consp place) (if (imenu--subalist-p (cons name place))
                                                     (walk place names)
                                                   (note names (car place))))
                                  (t (note names place))))))
                      (note (names place)
                        (let ((position (if (overlayp place) (overlay-start place) place)))
                          (when (and (number-or-marker-p position) (> position 0))
                            (push (cons (line-number-at-pos position) (string-join names "/")) lines)))))
            (walk (ide-mcp--guarded
                    (condition-case nil
                        (funcall imenu-create-index-function)
                      (imenu-unavailable nil)))
                  nil))
          (mapcar (pcase-lambda (`(,line . ,name)) (ide-mcp--line (format "%d: %s" line name) 400))
                  (seq-sort-by #'car #'< lines)))))))

(defun ide-mcp--references (buffer line symbol)
  "Return a line for each use of SYMBOL, which LINE of BUFFER has."
  (with-current-buffer buffer
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (forward-line (1- line))
        (let ((case-fold-search nil))
          ;; A whole word is better: `def' also occurs in `undefined'.
          (unless (or (re-search-forward (concat "\\_<" (regexp-quote symbol) "\\_>") (line-end-position) t)
                      (search-forward symbol (line-end-position) t))
            (error "The line %d does not have the symbol" line))
          (goto-char (match-beginning 0)))
        (let* ((inhibit-interaction t)
               (backend (xref-find-backend))
               (name (and (not (memq backend '(nil etags elisp))) ; these search all files, for an unknown time
                          (xref-backend-identifier-at-point backend))))
          (cond ((memq backend '(nil etags elisp)) (error "No language server has this file: M-x eglot starts one"))
                ((not name) (error "There is no symbol at this place"))
                (t (delq nil (mapcar #'ide-mcp--reference (xref-backend-references backend name))))))))))

(defun ide-mcp--reference (item)
  "Return a line for ITEM, a result of Xref, or nil if outside the open folders."
  (let* ((location (xref-item-location item))
         (path (expand-file-name (xref-location-group location))))
    (when (and (not (file-remote-p path)) (ide-mcp--inside-p path))
      (format "%s:%s: %s" (ide-mcp--short path) (xref-location-line location)
              (ide-mcp--line (string-trim (substring-no-properties (xref-item-summary item))))))))

(defun ide-mcp--project-files (text)
  "Return the files of the open projects with TEXT in their paths.
Check that they exist in an open folder: this can be only a part of a project,
and its git settings can name another work tree, whose files git lists as if
they were here."
  (ide-mcp--for-project
    (let* ((folders (ide-mcp--folders))
           (projects (seq-uniq (delq nil (mapcar (lambda (folder) (project-current nil folder)) folders))))
           (paths (seq-mapcat #'project-files projects)))
      (unless projects (error "No open folder is a project"))
      (seq-filter (lambda (path) (or (not (stringp text)) (string-search text path)))
                  (mapcar #'ide-mcp--short
                          (ide-mcp--guarded
                            (seq-filter (lambda (path)
                                          (and (seq-some (lambda (folder)
                                                           (string-prefix-p (file-name-as-directory folder) path))
                                                         folders)
                                               (file-exists-p path)))
                                        paths)))))))

(provide 'ide-mcp-tools)
;;; ide-mcp-tools.el ends here
