;;; ide-mcp-program.el --- Fetch the program of the release  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Finds the program `ide-mcp', fetches the one of this package's release, and says whether
;; the program or the package is too old.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'ide-mcp-guard)
(require 'ide-mcp-log)

(defcustom ide-mcp-command '("ide-mcp" "sidecar")
  "Command of the sidecar, as a list of words.
For an agent in a container:
  (\"docker\" \"exec\" \"-i\" \"NAME\" \"ide-mcp\" \"sidecar\")
with (:pid nil :folders [\"/workspace\"]), the folders of the container, in
`ide-mcp-config'."
  :type '(repeat string)
  :group 'ide-mcp)

(defvar ide-mcp-mode) ; of ide-mcp.el
(declare-function ide-mcp-mode "ide-mcp")

(defconst ide-mcp--release '(:version "0.2.0" :base nil :sums nil)
  "The release that this package belongs to.
A release fills in the address of its programs, and an alist of their SHA-256
sums.")

(defvar ide-mcp--started nil "The command of the sidecar, or why there is none.")
(defvar ide-mcp--work nil "The folder of `ide-mcp-install' while it runs.")

(defun ide-mcp--release (member)
  "Return MEMBER of `ide-mcp--release'."
  (plist-get ide-mcp--release member))

(defun ide-mcp--own (name)
  "Return the path of the program NAME in the folder of `ide-mcp-install'."
  (expand-file-name (concat name (if (eq system-type 'windows-nt) ".exe" ""))
                    (locate-user-emacs-file "ide-mcp-program/")))

(defun ide-mcp--command ()
  "Return `ide-mcp-command', with the fetched program if PATH has none.
If there is neither, return a string that says so."
  (pcase-let ((`(,program . ,words) ide-mcp-command)
              (own (ide-mcp--own "ide-mcp")))
    (cond ((executable-find program) ide-mcp-command)
          ((not (equal program "ide-mcp"))
           (format "%s is not in PATH: see the README of ide-mcp" program))
          ((file-executable-p own) (cons own words))
          (t (format "ide-mcp is not in PATH: %s"
                     (if (ide-mcp--release :base)
                         "M-x ide-mcp-install fetches it"
                       "see the README of ide-mcp"))))))

(defun ide-mcp--advice (version)
  "Return whether to update the program with VERSION or the package, or nil.
A program that is newer only in the third number understands the package."
  (let* ((own (ide-mcp--release :version))
         (mine (version-to-list own))
         (other (ignore-errors (version-to-list version)))
         (path (car ide-mcp--started)))
    (cond
     ((version-list-< other mine)
      (format "program %s, package %s: update the program%s" (or version "unknown") own
              (cond ((and (equal path (ide-mcp--own "ide-mcp")) (ide-mcp--release :base))
                     ": M-x ide-mcp-install")
                    ((equal (file-name-base path) "ide-mcp") ; and not `docker'
                     (concat ", " (abbreviate-file-name (executable-find path))))
                    (t ""))))
     ((version-list-< (seq-take mine 2) (seq-take other 2))
      (format "program %s, package %s: update the package%s" version own
              (if (locate-file "ide-mcp.version" (list (file-name-directory (locate-library "ide-mcp"))))
                  ": ide-mcp plugin emacs"
                ", by your package manager"))))))

(defun ide-mcp--platform ()
  "Return the target triple of this system, which names its program in a release."
  (if (eq system-type 'windows-nt)
      "x86_64-pc-windows-gnu"
    (let ((processor (car (split-string system-configuration "-"))))
      (concat (pcase processor ("amd64" "x86_64") ("arm64" "aarch64") (_ processor))
              "-"
              (pcase system-type
                ('gnu/linux "unknown-linux-musl")
                ('darwin "apple-darwin")
                (other (symbol-name other)))))))

;;; To fetch it

;;;###autoload
(defun ide-mcp-install ()
  "Fetch the program `ide-mcp' of the version of this package.
Its SHA-256 sum is part of the package.  The program goes to the folder
ide-mcp-program of `user-emacs-directory', and is used if PATH has no other."
  (interactive)
  (let* ((version (ide-mcp--release :version))
         (platform (ide-mcp--platform))
         (name (format "ide-mcp-%s-%s" version platform))
         (windows (eq system-type 'windows-nt))
         (program (concat name (if windows "/ide-mcp.exe" "/ide-mcp")))
         (sum (alist-get platform (ide-mcp--release :sums) nil nil #'equal))
         (own (ide-mcp--own "ide-mcp"))
         (new (ide-mcp--own (format "new-%d" (emacs-pid)))))
    (cond ((and (not (ide-mcp--release :base)) (executable-find "ide-mcp"))
           (user-error "Nothing to install: PATH has %s" (abbreviate-file-name (executable-find "ide-mcp"))))
          ((not (ide-mcp--release :base))
           (user-error "This package is not from a release: put ide-mcp in PATH, as its README says"))
          (ide-mcp--work (user-error "The program is already being fetched"))
          ((not sum)
           (user-error "Run cargo install ide-mcp-cli: the release has no program for %s" platform)))
    (dolist (tool '("curl" "tar"))
      (unless (executable-find tool)
        (user-error "Install %s first, or put ide-mcp in PATH" tool)))
    (setq ide-mcp--work (make-temp-file "ide-mcp-" t))
    (add-hook 'kill-emacs-hook #'ide-mcp--end-work)
    (ide-mcp--say "Fetching ide-mcp %s" version)
    (let ((archive (expand-file-name "archive" ide-mcp--work))
          (unpacked (expand-file-name program ide-mcp--work)))
      (ide-mcp--step
       `("curl" "--fail" "--silent" "--show-error" "--location" "--connect-timeout" "30"
         "--speed-limit" "1" "--speed-time" "60" "--max-filesize" "67108864" "--output" ,archive
         ,(concat (ide-mcp--release :base) "/" name (if windows ".zip" ".tar.gz")))
       "try again, the download failed: "
       (lambda (_)
         (unless (equal sum (with-temp-buffer
                              (set-buffer-multibyte nil)
                              (insert-file-contents-literally archive)
                              (secure-hash 'sha256 (current-buffer))))
           (error "Try again, the download is not the archive of this release"))
         (ide-mcp--step
          `("tar" "-xf" ,archive "-C" ,ide-mcp--work ,program)
          "the archive cannot be unpacked: "
          (lambda (_)
            ;; The new program must run in its final folder before it replaces the old one.
            (make-directory (file-name-directory own) t)
            (copy-file unpacked new t)
            (set-file-modes new #o755)
            (let ((problem "run cargo install ide-mcp-cli: it does not start here: "))
              (ide-mcp--step
               (list new "--version") problem
               (lambda (text)
                 (unless (equal text (concat "ide-mcp " version)) (error "%s%s" problem text))
                 (ide-mcp--put-in-place own new)
                 (ide-mcp--end-work)
                 (ide-mcp--say "Installed %s in %s.  %s" version
                               (abbreviate-file-name (file-name-directory own))
                               (if-let ((other (executable-find "ide-mcp")))
                                   (format "But %s is in PATH, and goes first" other)
                                 (format "M-x ide-mcp-mode %s" (if ide-mcp-mode
                                                                   "twice starts it again"
                                                                 "starts it"))))))))))))))

(defun ide-mcp--put-in-place (own new)
  "Replace the program OWN by NEW, and keep OWN if that fails."
  (condition-case nil (rename-file new own t)
    (error ; Windows cannot replace a running program, but can rename it
     (let ((old (ide-mcp--own (format "old-%d" (emacs-pid)))))
       (rename-file own old t)
       (condition-case problem (rename-file new own t)
         (error
          (rename-file old own t)
          (signal (car problem) (cdr problem))))))))

(defun ide-mcp--step (command problem then)
  "Run COMMAND for `ide-mcp-install', and call THEN with what it has printed.
If that fails, nothing is installed, and PROBLEM begins the reason."
  (cl-flet ((act (function)
              (condition-case failure
                  (funcall function)
                (error
                 (ide-mcp--end-work)
                 (ide-mcp--say "Not installed: %s" (error-message-string failure))))))
    (let ((buffer (generate-new-buffer " *ide-mcp-install*"))
          (default-directory temporary-file-directory))
      (act (lambda ()
             (make-process
              :name "ide-mcp-install" :command command :buffer buffer :connection-type 'pipe
              :noquery t
              :sentinel
              (lambda (process _change)
                (unless (process-live-p process)
                  (let ((text (with-current-buffer buffer (string-trim (buffer-string)))))
                    (kill-buffer buffer)
                    (act (lambda ()
                           (unless (eq 0 (process-exit-status process))
                             (error "%s%s" problem (if (equal text "") "it was killed" text)))
                           (funcall then text))))))))))))

(defun ide-mcp--end-work ()
  "Remove all that `ide-mcp-install' has made, except the program."
  (remove-hook 'kill-emacs-hook #'ide-mcp--end-work)
  (when ide-mcp--work (delete-directory ide-mcp--work t))
  (setq ide-mcp--work nil)
  (let ((new (ide-mcp--own (format "new-%d" (emacs-pid)))))
    (when (file-exists-p new) (delete-file new))
    ;; Programs that were replaced earlier.  Windows keeps one that still runs; it is removed the next time.
    (dolist (old (file-expand-wildcards (ide-mcp--own "old-*"))) (ignore-errors (delete-file old)))
    (ignore-errors (delete-directory (file-name-directory new))))) ; if it is empty

;;;###autoload
(defun ide-mcp-uninstall ()
  "Remove the program that `ide-mcp-install' has fetched."
  (interactive)
  (let* ((own (ide-mcp--own "ide-mcp"))
         (folder (file-name-directory own)))
    (unless (file-exists-p folder) (user-error "Nothing was installed by M-x ide-mcp-install"))
    (when (and ide-mcp-mode (equal own (car ide-mcp--started))) (ide-mcp-mode -1))
    (delete-directory folder t)
    (ide-mcp--say "Removed %s" (abbreviate-file-name folder))))

(provide 'ide-mcp-program)
;;; ide-mcp-program.el ends here
