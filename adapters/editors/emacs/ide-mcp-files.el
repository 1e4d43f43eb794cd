;;; ide-mcp-files.el --- Files that agents open and write  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What happens to buffers when agents open, save and write their files.

;;; Code:

(require 'cl-lib)
(require 'project)
(require 'seq)
(require 'subr-x)
(require 'url-util)
(require 'ide-mcp-guard)
(require 'ide-mcp-log)
(require 'ide-mcp-wire)
(require 'ide-mcp-view)

(defconst ide-mcp--copied-line (* 1024 1024)
  "The longest line, in characters, of a file that agents can open.
In a longer one a key would take more than 0.3 s, so a copy with broken lines
is shown.")

(defconst ide-mcp--most-unseen (* 32 1024 1024)
  "The maximum size of files loaded for agents and unseen by you, in bytes.
It is twice the largest file.  Without this limit, 30 files of 15 MiB took
600 MB.")

(defconst ide-mcp--least-unseen (* 64 1024)
  "The minimum number of bytes for which an unseen file counts.
So there are at most 512 of them: a buffer takes memory besides its text.")

(defvar-local ide-mcp--foreign nil
  "Non-nil in a buffer that an agent opened: its project is not an open folder.")
(put 'ide-mcp--foreign 'permanent-local t)
(defvar-local ide-mcp--unseen nil
  "Non-nil in a buffer loaded for an agent, until you press a key in it.
An agent can show a file while nobody is there.")
(put 'ide-mcp--unseen 'permanent-local t)

;;; The state of Emacs

(defun ide-mcp--file ()
  "Return the path of the file of the current buffer on this machine, or nil."
  (and buffer-file-name (not (file-remote-p buffer-file-name)) buffer-file-name))

(defun ide-mcp--uri (&optional path)
  "Return the URI of the file PATH, or of the file of the current buffer.
The drive of a Windows path is the first part, and keeps its colon."
  (let ((path (or path buffer-file-name)) drive)
    (when (string-match-p (rx bos (or (: (any "a-zA-Z") ":" (any "/\\")) "\\\\")) path)
      (setq path (string-replace "\\" "/" path)))
    (when (string-match-p (rx bos (any "a-zA-Z") ":/") path)
      (setq drive (concat "/" (upcase (substring path 0 2))) path (substring path 2)))
    (concat "file://" drive (url-hexify-string path (cons ?/ url-unreserved-chars)))))

(defun ide-mcp--map-files (function)
  "Return a vector of the non-nil results of FUNCTION in each buffer of a file."
  (vconcat (cl-loop for buffer in (buffer-list)
                    for result = (with-current-buffer buffer
                                   (and (ide-mcp--file) (funcall function)))
                    when result collect result)))

(defun ide-mcp--folders ()
  "Return the folder in which Emacs started, and the projects of the open files."
  (let ((projects (seq-uniq (ide-mcp--map-files
                             (lambda ()
                               (and (not ide-mcp--foreign)
                                    (ide-mcp--for-project (project-current))))))))
    (seq-uniq (vconcat (mapcar (lambda (folder) (directory-file-name (expand-file-name folder)))
                               (cons command-line-default-directory
                                     (mapcar #'project-root projects)))))))

(defun ide-mcp--send-folders ()
  "Send the open folders, unless `ide-mcp-config' has others."
  (unless (plist-member ide-mcp-config :folders)
    (ide-mcp-tell :cmd "folders" :folders (ide-mcp--folders))))

(defun ide-mcp--tab ()
  "Return the current buffer as a tab, for getOpenEditors."
  (list :uri (ide-mcp--uri)
        :label (file-name-nondirectory buffer-file-name)
        :isDirty (if (buffer-modified-p) t :false)
        :isActive (if (eq (current-buffer) (window-buffer)) t :false)
        :languageId (ide-mcp--language)))

(defun ide-mcp--language ()
  "Return the language of the current buffer."
  (string-remove-suffix "-mode" (symbol-name major-mode)))

(defun ide-mcp--save ()
  "Save the current buffer, and fail where Emacs would ask."
  (let ((coding-system-for-write buffer-file-coding-system)
        (inhibit-interaction t)
        (warning-minimum-level :emergency))
    (cond ((not (buffer-modified-p)))
          ((ide-mcp--by-program-p) (error "Not saved: a program such as gpg writes this file"))
          ((not (verify-visited-file-modtime))
           (error "Not saved: the file has changed on disk as well"))
          ((check-coding-systems-region (point-min) (point-max) (list coding-system-for-write))
           (error "Not saved: %s cannot encode every character" coding-system-for-write)))
    (let ((file-name-handler-alist nil)) (save-buffer))))

;;; Files that an agent opens

(defun ide-mcp--watch ()
  "Count the current buffer as unseen, until the person presses a key in it."
  (setq ide-mcp--unseen t)
  (add-hook 'pre-command-hook #'ide-mcp--mark-seen nil t))

(defun ide-mcp--mark-seen ()
  "Remember that the person has seen the current buffer."
  (setq ide-mcp--unseen nil)
  (remove-hook 'pre-command-hook #'ide-mcp--mark-seen t))

(put 'ide-mcp--mark-seen 'permanent-local-hook t)

(defun ide-mcp--unseen-bytes (except)
  "Return the bytes of the unseen buffers, except those of the buffer EXCEPT.
Count them now, because a buffer can follow its file, and can be killed."
  (cl-loop for buffer in (buffer-list)
           unless (or (eq buffer except) (not (buffer-local-value 'ide-mcp--unseen buffer)))
           sum (with-current-buffer buffer
                 (save-restriction
                   (widen)
                   (max ide-mcp--least-unseen (1- (position-bytes (point-max))))))))

(defun ide-mcp--check-file (path unseen &optional buffer)
  "Signal an error unless PATH is a regular file that can be opened.
If UNSEEN is non-nil, the person has not looked at it, and it must fit into the
limit.  BUFFER has the old text of the file."
  (let ((size (ide-mcp--guarded
                (and (file-regular-p path) (file-readable-p path)
                     (file-attribute-size (file-attributes (file-truename path)))))))
    (cond ((not size) (error "There is no file %s" path))
          ((> size ide-mcp--most-bytes) (error "The file is larger than 16 MiB: %s" path))
          ((and unseen (> (+ (max ide-mcp--least-unseen size) (ide-mcp--unseen-bytes buffer))
                          ide-mcp--most-unseen))
           (error "Agents can open only %d MiB of files that the person has not seen: show one with makeFrontmost"
                  (/ ide-mcp--most-unseen 1024 1024))))))

(defun ide-mcp--visit (path)
  "Return a buffer with the file PATH, which an agent names."
  (ide-mcp--check-file path t)
  (let ((program (find-file-name-handler path 'insert-file-contents))
        text reason)
    (with-temp-buffer
      (ide-mcp--guarded (insert-file-contents path))
      (setq reason (ide-mcp--too-large path)
            text (and (ide-mcp--long-line-p ide-mcp--copied-line) (buffer-string))))
    (if text
        (let ((name (format "*copy: %s*" (ide-mcp--name path))))
          (when (get-buffer name) (ide-mcp--kill name))
          (with-current-buffer (ide-mcp--view name path text)
            (ide-mcp--watch)
            (setq buffer-read-only t
                  header-line-format
                  (ide-mcp--header "A copy with no highlighting and broken lines: %s" reason))
            (current-buffer)))
      (let (buffer)
        (ide-mcp--with-mode-of (if reason "" path)
          (let ((interpreter-mode-alist (unless reason interpreter-mode-alist))
                (find-file-hook (remq #'ide-mcp--send-folders find-file-hook)))
            (setq buffer (find-file-noselect path t program))))
        (with-current-buffer buffer
          (setq ide-mcp--foreign t)
          (ide-mcp--watch)
          (cond (program (setq buffer-read-only t))
                (reason (ide-mcp--tame)
                        (ide-mcp--say "%s has no highlighting: %s" (buffer-name) reason))
                (t (ide-mcp--guarded
                     (let ((enable-local-variables :safe))
                       (with-demoted-errors "ide-mcp: %S" (hack-local-variables 'no-mode))))))
          buffer)))))

(defun ide-mcp--up-to-date (buffer)
  "Return BUFFER, read again if its file has changed and its text has not.
Undo brings back the old text.  Return nil if there is no BUFFER, or if its
file now has a line so long that a copy must be shown."
  (when buffer
    (with-current-buffer buffer
      (if (or (buffer-modified-p) (verify-visited-file-modtime) (ide-mcp--by-program-p))
          buffer
        (ide-mcp--check-file buffer-file-name ide-mcp--unseen buffer)
        (let ((text (car (ide-mcp--read-again))))
          (unwind-protect
              (unless (with-current-buffer text (ide-mcp--long-line-p ide-mcp--copied-line))
                (let ((large (ide-mcp--too-large buffer-file-name)))
                  (undo-boundary)
                  (ide-mcp--guarded (revert-buffer t t t))
                  (undo-boundary)
                  (when ide-mcp--unseen (setq buffer-undo-list nil)) ; nobody has seen the old text
                  (unless large (ide-mcp--tame-again)))
                buffer)
            (ide-mcp--kill text)))))))

;;; Files that an agent writes

(defun ide-mcp--expect-edit (path &optional state text)
  "Read the file PATH again once an agent has written it.
If the person accepted a proposal, TEXT is what they accepted, and STATE that
of the buffer with which it was compared."
  (when-let ((buffer (ide-mcp--buffer path)))
    (with-current-buffer buffer
      (cond ((ide-mcp--by-program-p)
             (ide-mcp--say "An agent may write a file whose buffer stays as it is: %s" path))
            ((not (buffer-modified-p))
             (unless (ide-mcp--too-large path)
               (add-hook 'after-revert-hook #'ide-mcp--tame-again nil t))
             (auto-revert-mode))
            (text (ide-mcp--take-in buffer state text 25))
            (t (ide-mcp--say "An agent may write a file that you have not saved: %s" path))))))

(defun ide-mcp--tame-again ()
  "Leave the major mode of a buffer whose file an agent has made too large."
  (when (and (ide-mcp--too-large buffer-file-name) (not (eq major-mode 'fundamental-mode)))
    (fundamental-mode)
    (ide-mcp--tame)))

(defun ide-mcp--state (path)
  "Return the buffer of PATH and the state of its text, or nil."
  (when-let ((buffer (ide-mcp--buffer path)))
    (cons buffer (buffer-chars-modified-tick buffer))))

(defun ide-mcp--take-in (buffer state text tries)
  "Replace the unsaved text of BUFFER by TEXT, which was accepted for it.
The proposal was compared with that unsaved text.  Wait until the file has
TEXT, TRIES times 0.2 s at most, and do nothing if BUFFER no longer has STATE."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((accepted (ide-mcp--lines-of text)) read)
        (cond ((not (equal state (cons buffer (buffer-chars-modified-tick))))
               (ide-mcp--say "%s keeps your changes: they are newer than the proposal"
                             (buffer-name)))
              ((and (not (verify-visited-file-modtime))
                    (setq read (ide-mcp--read-again))
                    (equal (with-current-buffer (car read) (buffer-string)) accepted))
               (ide-mcp--replace read))
              ((> tries 0)
               (run-with-timer 0.2 nil #'ide-mcp--take-in buffer state text (1- tries)))
              (t (ide-mcp--say "%s keeps your changes: the file is not the accepted text"
                               (buffer-name))))
        (when read (ide-mcp--kill (car read)))))))

(defun ide-mcp--read-again ()
  "Return a buffer with the file of the current one, its coding and its time."
  (let ((path buffer-file-name)
        (coding-system-for-read
         (and buffer-file-coding-system
              (coding-system-change-eol-conversion buffer-file-coding-system nil)))
        (buffer (generate-new-buffer " *ide-mcp file*")))
    (ide-mcp--guarded
      (with-current-buffer buffer
        (let ((attributes (file-attributes (file-truename path))))
          (when (and (file-regular-p path)
                     (<= (file-attribute-size attributes) ide-mcp--most-bytes))
            (insert-file-contents path)
            (when (eq (char-after (point-min)) #xfeff) (delete-region 1 2)))
          (list buffer last-coding-system-used (file-attribute-modification-time attributes)))))))

(defun ide-mcp--replace (read)
  "Replace the text of the current buffer by that of READ.  You can undo it."
  (pcase-let ((`(,text ,coding ,time) read)
              (inhibit-read-only t))
    (set-visited-file-modtime time) ; first, otherwise the change asks about the file
    (save-restriction
      (widen)
      (undo-boundary)
      (ide-mcp--guarded (replace-buffer-contents text ide-mcp--patience))
      (undo-boundary))
    (setq buffer-file-coding-system coding)
    (set-buffer-modified-p nil)
    (auto-revert-mode)
    (ide-mcp--say "The accepted text replaces your unsaved changes; undo brings them back: %s"
                  (buffer-name))))

(provide 'ide-mcp-files)
;;; ide-mcp-files.el ends here
