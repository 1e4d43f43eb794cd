;;; ide-mcp-guard.el --- Limits for what an agent names and sends  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; An agent, or what it has read, can choose every name and every text that arrives here.
;; A path means a file of this machine, whatever it looks like: with handlers, Emacs would
;; start `ssh' or `sudo' for "/ssh:HOST:/x", and `gpg' for "x.gpg".  No text chooses a
;; major mode or sets a variable, and nothing that is done for an agent asks you a question:
;; your keys would answer it.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'warnings)

(defgroup ide-mcp nil "Coding agents that attach to Emacs." :group 'tools)

;; The limits of what Emacs has to show, so that it answers a key in half a second.
;; Measured with Emacs 28.2 in a terminal, on a busy machine.

(defconst ide-mcp--most-bytes (* 16 1024 1024)
  "The largest file that is opened for an agent: as large as a proposal can be.")

(defconst ide-mcp--most-colored (* 128 1024)
  "The largest text that gets a major mode, in characters.
To show the end of 256 KiB takes 0.8 s in Ruby, and 0.5 s in a shell script.")

(defconst ide-mcp--cc-modes '(c-mode c++-mode c-or-c++-mode objc-mode java-mode idl-mode pike-mode
                              awk-mode csharp-mode)
  "Modes of CC Mode, instead of which a proposal gets `ide-mcp--c-mode'.
No limit of size would help: a key takes 3.5 s in 32 KiB of quotes, and 0.9 s
in 8 KiB of them, but 25 s in 4 KiB of \"a::b<c>\" in C++, and 2 s in 1 KiB.")

(defconst ide-mcp--slow-modes `((perl-mode ,@ide-mcp--cc-modes) . 32768)
  "Modes that are slower, and the largest file that gets them, in characters.
A smaller one is as slow as when the person opens it.")

(defconst ide-mcp--most-c (* 64 1024)
  "The largest proposal that gets `ide-mcp--c-mode', in characters.
To show its end takes 0.25 s in 64 KiB of quotes, and 0.5 s in 128 KiB.")

(defconst ide-mcp--most-perl (* 8 1024)
  "The largest proposal that gets the mode of Perl, in characters.
To show its end takes 0.25 s in 8 KiB of quotes, 0.5 s in 16 KiB, and 1 s in
32 KiB.")

(defconst ide-mcp--deepest 50
  "The deepest nesting of parentheses with which a text gets a major mode.
CC Mode needs 98 s to show the end of 128 KiB of opening parentheses.  Modes
for other languages also look for the outermost one.")

(defconst ide-mcp--longest-line (* 64 1024)
  "The longest line, in characters, with which a text gets a major mode.
In a line of JavaScript of 64 KiB a key takes 0.15 s, with 256 KiB 0.5 s, and
with 15 MiB more than 30 s.  Without a major mode, `end-of-line' takes 4 s with
15 MiB, so a view breaks longer lines.")

(defconst ide-mcp--patience 0.15
  "The maximum time in seconds to compare two texts, and then their words.
To compare 300,000 changed lines takes a second.")

(defmacro ide-mcp--guarded (&rest body)
  "Evaluate BODY, which handles a file or a text that an agent names.
A question is an error, and warnings open no window.  Handlers of file names
are off, and so is what a text or a folder can ask for.  VC is off, because it
would run git with the settings of the folder."
  (declare (indent 0) (debug t))
  `(let ((inhibit-interaction t)
         (file-name-handler-alist nil)
         (format-alist nil)
         (enable-local-variables nil)
         (enable-local-eval nil)
         (enable-dir-local-variables nil)
         (enable-remote-dir-locals nil)
         (magic-mode-alist nil)
         (magic-fallback-mode-alist nil)
         (large-file-warning-threshold nil)
         (find-file-suppress-same-file-warnings t)
         (vc-follow-symlinks nil)
         (vc-handled-backends nil)
         (create-lockfiles nil)
         (warning-minimum-level :emergency))
     ,@body))

(defmacro ide-mcp--for-project (&rest body)
  "Evaluate BODY, the search for a project, without running what it names.
Emacs 28 would evaluate forms in .dir-locals.el without asking, and git would
start the file system monitor that its settings name."
  (declare (indent 0) (debug t))
  `(let ((enable-dir-local-variables nil)
         (process-environment (append '("GIT_CONFIG_COUNT=1" "GIT_CONFIG_KEY_0=core.fsmonitor"
                                        "GIT_CONFIG_VALUE_0=false")
                                      process-environment)))
     ,@body))

;;; Texts

(defun ide-mcp--line (text &optional length)
  "Return TEXT as one line of at most LENGTH characters, or 200.
Line breaks, control characters and marks that change the direction of writing
become question marks."
  (let ((length (or length 200))
        (text (replace-regexp-in-string
               (rx (any (0 . 31) (127 . #x9f) #xad #x61c (#x200b . #x200f) (#x2028 . #x202e)
                        (#x2060 . #x206f) #xfeff (#xfff9 . #xfffb) (#xe0000 . #xe007f)))
               "?" (substring-no-properties text))))
    (if (length> text length) (concat (substring text 0 (1- length)) "…") text)))

(defun ide-mcp--text ()
  "Return the text of the current buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun ide-mcp--dos-p (text)
  "Return non-nil if each line of TEXT ends with CR LF."
  (and (string-search "\r\n" text)
       (not (string-match-p (rx (or bos (not "\r")) "\n") text))))

(defun ide-mcp--lines-of (text)
  "Return TEXT without the CRs of its line ends, if each line has one."
  (if (ide-mcp--dos-p text)
      ;; `string-replace' takes 1.3 s for 16 MiB.
      (decode-coding-string (encode-coding-string text 'utf-8-emacs-unix) 'utf-8-emacs-dos)
    text))

;;; Files and buffers

(defun ide-mcp--kill (buffer)
  "Kill BUFFER, one of ours, without a question, unless it is already dead."
  (when (buffer-live-p (get-buffer buffer))
    (with-current-buffer buffer
      (let ((kill-buffer-query-functions nil)) (kill-buffer)))))

(defun ide-mcp--check-path (path)
  "Signal an error if Emacs would take PATH as a file of another machine."
  (unless (and (file-name-absolute-p path)
               (not (string-match-p (rx (or (: bos "~") (any (0 . 31) 127))) path))
               (not (string-match-p (rx bos (+ "/") (or "[" (: (* (not "/")) ":")))
                                    (let ((file-name-handler-alist nil))
                                      (expand-file-name path)))))
    (error "Not the name of a file of this machine: %s" path)))

(defun ide-mcp--buffer (path)
  "Return the buffer of the file PATH, or nil."
  (ide-mcp--guarded (find-buffer-visiting path)))

(defun ide-mcp--by-program-p ()
  "Return non-nil if a program, such as gpg or gzip, writes the current file."
  (find-file-name-handler buffer-file-name 'write-region))

(defun ide-mcp--long-line-p (length)
  "Return non-nil if a line of the current buffer is longer than LENGTH.
This looks at one place for each LENGTH characters."
  (save-excursion
    (goto-char (point-min))
    (let (long)
      (while (and (not long) (> (- (point-max) (point)) length))
        (let ((start (point)))
          (forward-char (1+ length))
          (if (search-backward "\n" start t)
              (forward-char)
            (setq long t))))
      long)))

;;; Major modes

(defun ide-mcp--too-large (path &optional view)
  "Return why the current buffer is too large for the mode of PATH, or nil.
VIEW is non-nil if it is a view."
  (let* ((mode (ide-mcp--mode path))
         (most (cond ((not (memq mode (car ide-mcp--slow-modes))) ide-mcp--most-colored)
                     ((not view) (cdr ide-mcp--slow-modes))
                     ((eq mode 'perl-mode) ide-mcp--most-perl)
                     (t ide-mcp--most-c))))
    (cond ((ide-mcp--long-line-p ide-mcp--longest-line)
           (format "a line of more than %d KiB" (/ ide-mcp--longest-line 1024)))
          ((> (buffer-size) most) (format "more than %d KiB" (/ most 1024)))
          ((or (ide-mcp--deeper-p ide-mcp--deepest)
               (ide-mcp--deeper-p (* -4 ide-mcp--deepest))) ; a shell has "case x in a) b)"
           (format "parentheses deeper than %d" ide-mcp--deepest)))))

(defun ide-mcp--deeper-p (depth)
  "Return non-nil if parentheses reach DEPTH, even in strings and comments."
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?\" "." table)
    (modify-syntax-entry ?\\ "." table)
    (with-syntax-table table
      (save-excursion
        (= depth (car (parse-partial-sexp (point-min) (point-max) depth)))))))

(defun ide-mcp--tame ()
  "Show the current buffer, which is too large for a major mode, without delay."
  (setq-local bidi-paragraph-direction 'left-to-right
              bidi-inhibit-bpa t
              truncate-lines nil)) ; to find the end of a truncated line takes seconds

(defun ide-mcp--mode (path)
  "Return the major mode for the name PATH if it only colors a text, or nil.
Other modes read or run what a text names: Org fetches a SETUPFILE, Diff looks
for the files in its headers, and modes for documents and archives start
programs."
  (let* ((name (file-name-sans-versions path))
         (find (lambda (fold)
                 (let ((case-fold-search fold))
                   (assoc-default name auto-mode-alist #'string-match-p))))
         (mode (or (funcall find nil) (and auto-mode-case-fold (funcall find t)))))
    (when (and mode (symbolp mode) (fboundp mode)
               (not (eq mode 'org-mode))) ; which takes 1.5 s to load
      (autoload-do-load (symbol-function mode) mode)
      (while (and (symbolp (symbol-function mode)) (symbol-function mode))
        (setq mode (symbol-function mode)))
      (and (or (memq mode '(c-or-c++-mode conf-mode-maybe))
               ;; Emacs 30 takes several modes as a list, and earlier ones take no list.
               (seq-some (lambda (parent) (provided-mode-derived-p mode parent))
                         '(prog-mode text-mode conf-mode)))
           (not (provided-mode-derived-p mode 'org-mode))
           mode))))

(defmacro ide-mcp--with-mode-of (path &rest body)
  "Evaluate BODY guarded: only the name PATH and a #! line choose a major mode."
  (declare (indent 1) (debug t))
  `(let ((auto-mode-alist
          (when-let ((mode (ide-mcp--mode ,path))) (list (cons "" mode)))))
     (ide-mcp--guarded ,@body)))

(defun ide-mcp--choose-mode (path)
  "Choose the major mode of the current buffer, a view, for PATH.
Do not run the hooks of the mode, which are for files: a view must not get a
language server."
  (ide-mcp--with-mode-of path
    (let ((auto-mode-alist (ide-mcp--without-cc auto-mode-alist))
          (interpreter-mode-alist (ide-mcp--without-cc interpreter-mode-alist))
          (buffer-file-name path))
      (delay-mode-hooks (set-auto-mode)))
    (font-lock-mode)))

(defun ide-mcp--without-cc (modes)
  "Return the alist MODES with `ide-mcp--c-mode' instead of modes of CC Mode."
  (mapcar (pcase-lambda (`(,key . ,mode))
            (cons key (if (memq mode ide-mcp--cc-modes) 'ide-mcp--c-mode mode)))
          modes))

(define-derived-mode ide-mcp--c-mode prog-mode "C*"
  "The colors of a proposed text in C or a language like it.
It colors only keywords, comments and strings, so its time grows only with the
size of the text."
  :interactive nil
  :syntax-table (let ((table (make-syntax-table)))
                  (pcase-dolist (`(,character . ,entry)
                                 '((?/ . ". 124b") (?* . ". 23") (?\n . "> b") (?_ . "_")
                                   (?\" . "\"") (?\\ . "\\") (?' . ".") (?# . ".") (?< . ".")
                                   (?> . ".") (?& . ".") (?| . ".") (?% . ".") (?+ . ".") (?- . ".")
                                   (?= . ".") (?$ . "_")))
                    (modify-syntax-entry character entry table))
                  table)
  (setq-local comment-start "// " comment-end ""
              syntax-propertize-function
              (syntax-propertize-rules
               ((rx (group "'") (or (: "\\" nonl (* (not (any "'\n")))) (not (any "'\\\n"))) (group "'"))
                (1 "\"") (2 "\"")))
              font-lock-defaults
              `(((,(rx symbol-start
                       (or "abstract" "assert" "auto" "bool" "break" "case" "catch" "char" "class" "const"
                           "constexpr" "continue" "default" "delete" "do" "double" "else" "enum" "explicit"
                           "export" "extends" "extern" "false" "final" "finally" "float" "for" "friend" "goto"
                           "if" "implements" "import" "inline" "instanceof" "int" "interface" "long"
                           "namespace" "native" "new" "noexcept" "null" "nullptr" "operator" "override"
                           "package" "private" "protected" "public" "register" "return" "short" "signed"
                           "sizeof" "static" "struct" "super" "switch" "synchronized" "template" "this"
                           "throw" "throws" "true" "try" "typedef" "typename" "union" "unsigned" "using"
                           "virtual" "void" "volatile" "while")
                       symbol-end)
                  . font-lock-keyword-face)
                 (,(rx bol (* (any " \t")) "#" (* (any " \t")) (+ (any "a-z")))
                  . font-lock-preprocessor-face)))))

(provide 'ide-mcp-guard)
;;; ide-mcp-guard.el ends here
