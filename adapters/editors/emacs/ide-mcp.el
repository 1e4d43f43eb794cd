;;; ide-mcp.el --- Let coding agents such as Claude Code attach  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 the ide-mcp authors

;; Author: the ide-mcp authors
;; Version: 0.2.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, processes
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; `ide-mcp-mode' starts the process `ide-mcp sidecar', which serves agents such
;; as Claude Code.  Agents in the folder in which Emacs started, or in the
;; project of an open file, find Emacs by themselves, and agents in a terminal
;; of Emacs in every folder.  They receive the selection, the problems of Flymake
;; and the open files, and show proposed changes in Emacs.
;;
;; What an agent names, sends or leaves in a file is not trusted: see "The words of
;; others" below.
;;
;; Emacs and the process exchange lines of JSON: docs/sidecar.md has the table.

;;; Code:

(require 'cl-lib)
(require 'diff)
(require 'flymake)
(require 'json)
(require 'let-alist)
(require 'project)
(require 'smerge-mode)
(require 'subr-x)
(require 'url-util)

(defgroup ide-mcp nil "Coding agents that attach to Emacs." :group 'tools)

(defcustom ide-mcp-command '("ide-mcp" "sidecar")
  "Command of the sidecar, as a list of words.
For an agent in a container:
  (\"docker\" \"exec\" \"-i\" \"NAME\" \"ide-mcp\" \"sidecar\")
with (:pid nil :folders [\"/workspace\"]), the folders of the container, in
`ide-mcp-config'."
  :type '(repeat string))

(defcustom ide-mcp-config nil
  "Plist of further members of the configuration, from docs/sidecar.md.
They replace those of the package, and a nil value leaves a member out.  For
example, with (:consent t) Emacs asks you before an agent attaches."
  :type 'plist)

(defcustom ide-mcp-answers nil
  "Alist of functions for your own tools, prompts and resources.
The keys are the names and URIs which `ide-mcp-config' offers.  A function
receives the arguments as an alist.  The result is the answer, and an error
is a failure."
  :type '(alist :key-type string :value-type function))

(defcustom ide-mcp-show-function #'ide-mcp-show
  "Function that shows a proposal, and returns a function that closes the view.
It receives the event `diff' of docs/sidecar.md as an alist, with `client',
the name of the agent, and with the functions `accept', which receives the
text, and `reject'.  The first call of these counts.  `accept' returns nil if
the proposal has ended before.  The function that closes the view returns a
buffer, if it leaves a text of the person in one, or nil."
  :type 'function)

(defconst ide-mcp--idle-delay 0.5
  "Time in seconds without a key after which a view may open or close.
Otherwise another buffer would take the keys that the person types.  A proposal
is accepted after the same time at the earliest: a key within it was on its way
before the text could be seen.")

;; The limits of what Emacs is given to show: a key has to be answered in half a second.
;; Measured with Emacs 28.2 on a terminal, while other programs computed.

(defconst ide-mcp--most-bytes (* 16 1024 1024)
  "The largest file that is opened for an agent, as the largest proposal.")

(defconst ide-mcp--most-compared (* 1024 1024)
  "The number of characters up to which a text is compared.")

(defconst ide-mcp--most-colored (* 128 1024)
  "The number of characters up to which a text gets a major mode.
The end of 256 KiB takes 0.8 s in Ruby, and 0.5 s in a shell script.")

(defconst ide-mcp--cc-modes '(c-mode c++-mode c-or-c++-mode objc-mode java-mode idl-mode pike-mode
                              awk-mode csharp-mode)
  "Modes of CC Mode, in whose place a proposal gets `ide-mcp--c-mode'.
No size bounds their time: a key takes 3.5 s in 32 KiB of quotes, and 0.9 s in
8 KiB of them, but 25 s in 4 KiB of \"a::b<c>\" in C++, and 2 s in 1 KiB.")

(defconst ide-mcp--slow-modes `((perl-mode ,@ide-mcp--cc-modes) . 32768)
  "Modes that are slower, with the number of characters of the largest file.
A smaller one is as slow as when the person opens it.")

(defconst ide-mcp--most-c (* 64 1024)
  "The number of characters up to which a proposal gets `ide-mcp--c-mode'.
The end takes 0.25 s in 64 KiB of quotes, and 0.5 s in 128 KiB.")

(defconst ide-mcp--most-perl (* 8 1024)
  "The number of characters up to which a proposal gets the mode of Perl.
Its end takes 0.25 s in 8 KiB of quotes, 0.5 s in 16 KiB, and 1 s in 32 KiB.")

(defconst ide-mcp--deepest 50
  "The depth of parentheses up to which a text gets a major mode.
CC Mode needs 98 s to show the end of 128 KiB of opening parentheses.  Modes for
other languages look for their beginnings too.")

(defconst ide-mcp--longest-line (* 64 1024)
  "The longest line that gets a major mode, in characters.
In a line of JavaScript of 64 KiB a key takes 0.15 s, with 256 KiB 0.5 s, and
with 15 MiB more than 30 s.  Without a major mode, `end-of-line' takes 4 s with
15 MiB, so a view breaks longer lines.")

(defconst ide-mcp--copied-line (* 1024 1024)
  "The longest line of a file that is opened itself, in characters.
Above, a key would take more than 0.3 s, so the file is shown as a view.")

(defconst ide-mcp--folded-line 4000 "The length in characters of the pieces of a broken line.")

(defconst ide-mcp--most-changes 1000
  "The number of changed places that are marked.
The marks of 1,000 places take 0.06 s, and those of 10,000 0.5 s; a key in these
takes up to 0.7 s.")

(defconst ide-mcp--patience 0.15
  "Time in seconds for a comparison, and for the words of its changes.
That of 300,000 changed lines takes a second.")

(defconst ide-mcp--largest-odd-line (* 2 1024 1024)
  "The longest event with half a surrogate pair, in characters.
No library reads it: Emacs needs 0.15 s for each MiB.")

(defconst ide-mcp--most-kept 8
  "The number of withdrawn texts, into which the person typed, that stay.
With so many, further proposals fail until the person saves or kills one: a text
of 16 MiB stays for each key that a hand on the move types into a new view, and
what was typed is never thrown away.")

(defconst ide-mcp--most-unseen (* 32 1024 1024)
  "The number of bytes that agents can load into buffers that nobody has seen.
It is two files of the largest size.  30 files of 15 MiB took 600 MB.")

(defconst ide-mcp--least-unseen (* 64 1024)
  "The number of bytes for which a file counts at least that nobody has seen.
So there are at most 512: a buffer takes memory beside its text.")

(defconst ide-mcp--release '(:version "0.2.0" :base nil :sums nil)
  "The release of which this package is a part.
Releasing fills in where its programs are, and an alist of their SHA-256 sums.")

(defvar ide-mcp--started nil "The command of the sidecar, or why there is none.")
(defvar ide-mcp--work nil "The folder of `ide-mcp-install' while it runs.")
(defvar ide-mcp--process nil "The process of the sidecar.")
(defvar ide-mcp--pieces nil "The pieces of the unfinished line, the last one first.")
(defvar ide-mcp--lines nil "The lines that were not handled yet, in order.")
(defvar ide-mcp--busy nil "Non-nil while a line is handled.")
(defvar ide-mcp--listening nil "The event with the port and the path of the lock file.")
(defvar ide-mcp--deaths nil "The times at which processes died, the last one first.")
(defvar ide-mcp--problem nil "The last error of the sidecar.")
(defvar ide-mcp--agents nil
  "Alist from connections to the names of agents, or nil if they are not attached.")
(defvar ide-mcp--paused nil "Non-nil if files and selections are hidden from agents.")
(defvar-local ide-mcp--proposal nil "The proposal of this buffer.")
(defvar ide-mcp--proposals nil "Alist from calls to functions that close views, or nil.")
(defvar ide-mcp--waiting nil
  "Alist from keys to functions that wait until the person does not type.
The key is the call of a proposal, or `consent' with the connection of an agent.
It is nil for a function that closes a view.")
(defvar ide-mcp--undecided nil
  "The `num-input-keys' at which a view ended without a decision of the person.
No proposal is shown before the next key: the person may be about to accept the
text that was there, and would accept another one unread.")

(defvar-local ide-mcp--foreign nil
  "Non-nil in a buffer that an agent opened, whose folder is no open folder.")
(put 'ide-mcp--foreign 'permanent-local t)

(defvar-local ide-mcp--unseen nil
  "Non-nil in a buffer that was loaded for an agent, until a key is pressed in it.
An agent can show a file while nobody is there.")
(put 'ide-mcp--unseen 'permanent-local t)

(defvar ide-mcp--answered nil
  "The time of the last answer to a question, after which Emacs has no idle time.")

;;;###autoload
(define-minor-mode ide-mcp-mode
  "Let coding agents such as Claude Code attach to Emacs."
  :global t
  :lighter (:eval (concat " " (string-replace "%" "%%" (ide-mcp--status))))
  (cancel-function-timers #'ide-mcp--send-selection)
  (remove-hook 'find-file-hook #'ide-mcp--send-folders)
  (advice-remove 'flymake-make-report-fn #'ide-mcp--announcing)
  (ide-mcp--stop)
  (when ide-mcp-mode
    (if (stringp (setq ide-mcp--started (ide-mcp--command)))
        (ide-mcp--give-up ide-mcp--started)
      (run-with-idle-timer 0.05 t #'ide-mcp--send-selection)
      (add-hook 'find-file-hook #'ide-mcp--send-folders)
      (advice-add 'flymake-make-report-fn :filter-return #'ide-mcp--announcing)
      (ide-mcp--start))))

(defun ide-mcp-status ()
  "Show the port, the attached agents, and what to update."
  (interactive)
  (message "Port %s: %s%s" (alist-get 'port ide-mcp--listening) (ide-mcp--status)
           (if-let ((advice (and ide-mcp--listening
                                 (ide-mcp--advice (alist-get 'version ide-mcp--listening)))))
               (concat ".  " advice)
             "")))

;;;###autoload
(defun ide-mcp-mention ()
  "Mention the file, or the lines of the region, in the prompt of the agent.
This turns `ide-mcp-mode' on."
  (interactive)
  (let ((path (or (ide-mcp--file) (user-error "No file"))))
    (unless ide-mcp-mode (ide-mcp-mode))
    (when ide-mcp-mode ; else it has said why not
      (cl-flet ((line (position) (1- (line-number-at-pos position t))))
        (ide-mcp-send :cmd "mention" :path path
                      :lines (and (use-region-p)
                                  (vector (line (region-beginning)) (line (1- (region-end)))))))
      (unless (delq nil (mapcar #'cdr ide-mcp--agents))
        (ide-mcp--say "No agent is attached: the mention waits up to 30 s for one")))))

(defun ide-mcp-pause ()
  "Hide files and selections from agents, or end this pause."
  (interactive)
  (unless ide-mcp-mode (user-error "The mode is off: M-x ide-mcp-mode"))
  (ide-mcp-send :cmd (if ide-mcp--paused "resume" "pause")))

(defun ide-mcp--status ()
  "Return a text with the attached agents."
  (let ((names (delq nil (mapcar #'cdr ide-mcp--agents)))
        (waiting (seq-count #'car ide-mcp--waiting)))
    (concat "⧉ " (cond (names (ide-mcp--line (string-join names ", ") 48))
                       (ide-mcp--listening "no agent")
                       (ide-mcp-mode "starting")
                       (t "stopped"))
            (cond ((> waiting 0) (format " (%d waiting)" waiting))
                  (ide-mcp--paused " (paused)")))))

;;; The program

(defun ide-mcp--release (member)
  "Return MEMBER of the release of which this package is a part."
  (plist-get ide-mcp--release member))

(defun ide-mcp--own (name)
  "Return the path of the file NAME, a program that `ide-mcp-install' makes."
  (expand-file-name (concat name (if (eq system-type 'windows-nt) ".exe" ""))
                    (locate-user-emacs-file "ide-mcp-program/")))

(defun ide-mcp--command ()
  "Return `ide-mcp-command' with the fetched program if PATH has none.
Return a text if neither is there."
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
  "Return which side to update if a program has VERSION, or nil.
A program understands an earlier package."
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

(defun ide-mcp--target ()
  "Return the name of this system among the programs of a release."
  (if (eq system-type 'windows-nt)
      "x86_64-pc-windows-gnu"
    (let ((processor (car (split-string system-configuration "-"))))
      (concat (pcase processor ("amd64" "x86_64") ("arm64" "aarch64") (_ processor))
              "-"
              (pcase system-type
                ('gnu/linux "unknown-linux-musl")
                ('darwin "apple-darwin")
                (other (symbol-name other)))))))

;;;###autoload
(defun ide-mcp-install ()
  "Fetch the program `ide-mcp' of the version of this package.
Its SHA-256 sum is part of the package.  The program lies in the folder
ide-mcp-program of `user-emacs-directory', and serves if PATH has no other."
  (interactive)
  (let* ((version (ide-mcp--release :version))
         (target (ide-mcp--target))
         (name (format "ide-mcp-%s-%s" version target))
         (windows (eq system-type 'windows-nt))
         (program (concat name (if windows "/ide-mcp.exe" "/ide-mcp")))
         (sum (alist-get target (ide-mcp--release :sums) nil nil #'equal))
         (own (ide-mcp--own "ide-mcp"))
         (new (ide-mcp--own (format "new-%d" (emacs-pid)))))
    (cond ((not (ide-mcp--release :base))
           (user-error "No release has this package: put ide-mcp in PATH, as its README says"))
          (ide-mcp--work (user-error "The program is on its way"))
          ((not sum)
           (user-error "Run cargo install ide-mcp-cli: the release has no program for %s" target)))
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
         "--speed-limit" "1" "--speed-time" "60" "--output" ,archive
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
            ;; It has to start in the folder where it stays, before it takes the place of another one.
            (make-directory (file-name-directory own) t)
            (copy-file unpacked new t)
            (set-file-modes new #o755)
            (let ((problem "run cargo install ide-mcp-cli: it does not start here: "))
              (ide-mcp--step
               (list new "--version") problem
               (lambda (text)
                 (unless (equal text (concat "ide-mcp " version)) (error "%s%s" problem text))
                 (rename-file new own t)
                 (ide-mcp--end-work)
                 (ide-mcp--say "Installed %s in %s.  %s" version
                               (abbreviate-file-name (file-name-directory own))
                               (if-let ((other (executable-find "ide-mcp")))
                                   (format "But %s is in PATH, and goes first" other)
                                 (format "M-x ide-mcp-mode %s" (if ide-mcp-mode
                                                                   "twice starts it again"
                                                                 "starts it"))))))))))))))

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
  "Remove what `ide-mcp-install' leaves but the program."
  (remove-hook 'kill-emacs-hook #'ide-mcp--end-work)
  (when ide-mcp--work (delete-directory ide-mcp--work t))
  (setq ide-mcp--work nil)
  (let ((new (ide-mcp--own (format "new-%d" (emacs-pid)))))
    (when (file-exists-p new) (delete-file new))
    (ignore-errors (delete-directory (file-name-directory new))))) ; if it is empty

(defun ide-mcp-uninstall ()
  "Remove the program that `ide-mcp-install' has fetched."
  (interactive)
  (let* ((own (ide-mcp--own "ide-mcp"))
         (folder (file-name-directory own)))
    (unless (file-exists-p folder) (user-error "Nothing was installed by M-x ide-mcp-install"))
    (when (and ide-mcp-mode (equal own (car ide-mcp--started))) (ide-mcp-mode -1))
    (delete-directory folder t)
    (ide-mcp--say "Removed %s" (abbreviate-file-name folder))))

;;; The process

(defun ide-mcp--start ()
  "Start the sidecar, which takes over the port of the one that died."
  (let ((default-directory command-line-default-directory))
    (setq ide-mcp--pieces nil
          ide-mcp--problem "The sidecar died too often"
          ide-mcp--process
          (make-process :name "ide-mcp" :command ide-mcp--started :connection-type 'pipe
                        :coding 'utf-8-unix :noquery t :stderr (get-buffer-create " *ide-mcp*")
                        :filter #'ide-mcp--filter :sentinel #'ide-mcp--sentinel)))
  (apply #'ide-mcp-send
         (append ide-mcp-config
                 (list
                  :protocol 1 :name "Emacs" :version emacs-version :pid (emacs-pid)
                  :folders (ide-mcp--folders) :resume (alist-get 'lock ide-mcp--listening)
                  :tools ["openDiff" "getDiagnostics" "getOpenEditors" "checkDocumentDirty"
                          "saveDocument" "openFile" "getCurrentSelection" "getLatestSelection"
                          "getWorkspaceFolders"]
                  :prompts [(:name "review" :description "Review the open file"
                             :arguments [(:name "focus")])]
                  :resources [(:uri "emacs://next-error"
                               :description "The buffer of the last build or search")]))))

(defun ide-mcp--stop ()
  "Stop the sidecar, which rejects the open diffs."
  (when (process-live-p ide-mcp--process)
    (process-send-eof ide-mcp--process)
    (setq ide-mcp--listening nil)) ; a dead process left its lock file: take that over
  (setq ide-mcp--process nil ide-mcp--deaths nil)
  (ide-mcp--forget))

(defun ide-mcp--sentinel (process _change)
  "Start the sidecar again if its PROCESS died, but at most 5 times a minute."
  (when (and (eq process ide-mcp--process) (not (process-live-p process)))
    (ide-mcp--forget)
    (push (float-time) ide-mcp--deaths)
    (if (and (/= (process-exit-status process) 2)
             (> (- (car ide-mcp--deaths) (or (nth 5 ide-mcp--deaths) 0)) 60))
        (ide-mcp--start)
      (ide-mcp--give-up ide-mcp--problem))))

(defun ide-mcp--give-up (problem)
  "Turn `ide-mcp-mode' off because of PROBLEM."
  (ide-mcp-mode -1)
  (display-warning 'ide-mcp (concat problem ".  Start again with M-x ide-mcp-mode.")))

(defun ide-mcp--forget ()
  "Close the views and forget the agents: no call is open any more."
  (mapc #'ide-mcp--close (mapcar #'car ide-mcp--proposals))
  (setq ide-mcp--agents nil
        ide-mcp--waiting (seq-remove #'car ide-mcp--waiting)
        ide-mcp--lines nil)
  (ide-mcp--go-on))

(defun ide-mcp--filter (process text)
  "Handle the lines that TEXT from PROCESS ends.
A handler can wait for the person.  The lines that arrive meanwhile come after
it, and those that arrive during a question of `ide-mcp--go-on' come at once."
  (when (eq process ide-mcp--process)
    (let ((pieces (split-string text "\n")) lines)
      (push (pop pieces) ide-mcp--pieces)
      (dolist (piece pieces)
        (push (apply #'concat (nreverse ide-mcp--pieces)) lines)
        (setq ide-mcp--pieces (list piece)))
      (setq ide-mcp--lines (append ide-mcp--lines (nreverse lines))))
    (unless ide-mcp--busy
      (let ((ide-mcp--busy t))
        (while ide-mcp--lines
          (let ((line (pop ide-mcp--lines)))
            (ide-mcp--attempt nil (lambda () (ide-mcp--handle (ide-mcp--parse line)))))))
      (ide-mcp--go-on))
    (force-mode-line-update t)))

(defun ide-mcp--parse (line)
  "Return the event in LINE."
  (condition-case nil
      (ide-mcp--parse-json line)
    (json-error
     (condition-case nil
         (ide-mcp--parse-nul line)
       (json-error
        (if (length< line ide-mcp--largest-odd-line)
            (let ((json-false nil)) (json-read-from-string line))
          (when (string-match (rx bos "{\"event\":\"" (+ (any "a-z_")) "\",\"conn\":" (+ digit)
                                  ",\"call\":" (group (+ digit)))
                              line)
            (ide-mcp-send :cmd "fail" :call (string-to-number (match-string 1 line))
                          :message "Emacs cannot read a text of this size"))
          (error "An agent sent a text of a size that Emacs cannot read")))))))

(defun ide-mcp--parse-json (line)
  "Return the event in LINE, which has no NUL and no half of a surrogate pair."
  (json-parse-string line :object-type 'alist :null-object nil :false-object nil))

(defun ide-mcp--parse-nul (line)
  "Return the event in LINE, in which another character stands for NUL meanwhile."
  (let* ((gc-cons-threshold (* 64 1024 1024)) ; 25 collections for 350,000 NULs
         (stand-in (seq-find (lambda (code)
                               (not (seq-some (lambda (form)
                                                (string-search (format form code) line))
                                              '("%c" "\\u%x" "\\u%X"))))
                             (number-sequence #xfdd0 #xfdef)))
         (text (string (or stand-in (signal 'json-error nil)))))
    (cl-labels ((with-nul (value)
                  (cond ((stringp value) (string-replace text "\0" value))
                        ((consp value) (cons (with-nul (car value)) (with-nul (cdr value))))
                        ((vectorp value) (vconcat (mapcar #'with-nul value)))
                        (t value))))
      (with-nul (ide-mcp--parse-json
                 (string-replace "\\u0000" text (string-replace "\\\\" "\\u005c" line)))))))

(defun ide-mcp-send (&rest members)
  "Send MEMBERS, a plist, as a command of docs/sidecar.md without its nil values.
The first value of a name counts.  A character that JSON does not have becomes a
question mark."
  (let* ((object (cl-loop for (name value) on members by #'cddr
                          when (and value (eq value (plist-get members name)))
                          append (list name value)))
         (line (condition-case nil
                   (json-serialize object)
                 (wrong-type-argument (let ((json-false :false)) (json-encode object)))))
         (others (rx (or (any (#xD800 . #xDFFF)) (not (any (0 . #x10FFFF))))))
         (line (replace-regexp-in-string others "?" line)))
    (when ide-mcp--process ; nil would be the process of the current buffer
      (ignore-errors ; a dead process has a sentinel, which starts another one
        (process-send-string ide-mcp--process (concat line "\n"))))))

(defun ide-mcp--reply (process &rest members)
  "Send MEMBERS, if PROCESS, which asked, runs: the next one has other numbers."
  (when (eq process ide-mcp--process)
    (apply #'ide-mcp-send members)))

;;; The words of others

;; An agent, or what it has read, can choose each name and each text that arrives here.
;; A path means a file of this machine, whatever it looks like: with handlers, Emacs would
;; start `ssh' or `sudo' for "/ssh:HOST:/x", and `gpg' for "x.gpg".  No text chooses a
;; major mode or sets a variable, and nothing that is done for an agent asks you a question:
;; your keys would answer it.

(defvar warning-minimum-level) ; of warnings.el

(defmacro ide-mcp--guarded (&rest body)
  "Evaluate BODY, which handles a file or a text that an agent names.
A question is an error, handlers of file names and what a text or a folder asks
for are off, and warnings open no window.  `vc' would run `git', with the
settings of the folder."
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

(defun ide-mcp--line (text &optional length)
  "Return TEXT as one line of at most LENGTH characters, or 200.
What breaks a line, controls a terminal or turns the direction becomes a
question mark."
  (let ((length (or length 200))
        (text (replace-regexp-in-string
               (rx (any (0 . 31) (127 . #x9f) #xad #x61c (#x200b . #x200f) (#x2028 . #x202e)
                        (#x2060 . #x206f) #xfeff (#xfff9 . #xfffb) (#xe0000 . #xe007f)))
               "?" (substring-no-properties text))))
    (if (length> text length) (concat (substring text 0 (1- length)) "…") text)))

(defun ide-mcp--kill (buffer)
  "Kill BUFFER, which is one of ours, without a question, if the person did not."
  (when (buffer-live-p (get-buffer buffer))
    (with-current-buffer buffer
      (let ((kill-buffer-query-functions nil)) (kill-buffer)))))

(defun ide-mcp--say (format &rest values)
  "Show the text that FORMAT makes of VALUES as a line in the echo area."
  (message "%s" (ide-mcp--line (apply #'format format values))))

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
  "Return non-nil if a program stands between the current buffer and its file.
Examples are `gpg' and `gzip'."
  (find-file-name-handler buffer-file-name 'write-region))

(defun ide-mcp--long-line-p (length)
  "Return non-nil if a line of the current buffer has more than LENGTH characters.
It looks at one place for each LENGTH characters."
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
  "Return non-nil if parentheses reach DEPTH, wherever they are."
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
              truncate-lines nil)) ; finding the end of a line that is cut takes seconds

(defun ide-mcp--mode (path)
  "Return the major mode for the name PATH if it only colors a text, or nil.
Others read or run what a text names: Org fetches a SETUPFILE, Diff looks for
the files in its headers, and modes for documents and archives start programs."
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
  "Evaluate BODY guarded, so that only PATH and a #! line choose a major mode."
  (declare (indent 1) (debug t))
  `(let ((auto-mode-alist
          (when-let ((mode (ide-mcp--mode ,path))) (list (cons "" mode)))))
     (ide-mcp--guarded ,@body)))

(defun ide-mcp--choose-mode (path)
  "Choose the major mode of the current buffer, a view, for PATH.
The hooks are for files: a view gets no language server."
  (ide-mcp--with-mode-of path
    (let ((auto-mode-alist (ide-mcp--without-cc auto-mode-alist))
          (interpreter-mode-alist (ide-mcp--without-cc interpreter-mode-alist))
          (buffer-file-name path))
      (delay-mode-hooks (set-auto-mode)))
    (font-lock-mode)))

(defun ide-mcp--without-cc (modes)
  "Return the alist MODES with `ide-mcp--c-mode' in place of the modes of CC Mode."
  (mapcar (pcase-lambda (`(,key . ,mode))
            (cons key (if (memq mode ide-mcp--cc-modes) 'ide-mcp--c-mode mode)))
          modes))

(define-derived-mode ide-mcp--c-mode prog-mode "C*"
  "The colors of a proposed text in C or a language like it.
Its time grows with the text alone, since it knows words, comments and strings."
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

;;; Events

(defun ide-mcp--handle (event)
  "Handle EVENT."
  (let-alist event
    (ide-mcp--attempt
     .call
     (lambda ()
       (when (and (equal .event "diff") (not .label))
         (signal 'error '("update ide-mcp: this sidecar does not judge what agents name")))
       (dolist (path (list .path .old_path))
         (when path (ide-mcp--check-path path)))
       (pcase .event
         ("listening" (ide-mcp--listen event))
         ("connected" (ide-mcp--join event))
         ("closed" (ide-mcp--leave .conn))
         ("status" (ide-mcp--catch-up event))
         ("diff" (ide-mcp--propose event))
         ("diff_closed" (ide-mcp--close .call .reason))
         ((or "call" "prompt" "resource")
          (let ((answer (lambda ()
                          (ide-mcp--reply ide-mcp--process :cmd "respond" :call .call
                                          :result (ide-mcp--answer (or .tool .name .uri)
                                                                   .arguments .path)))))
            (if (and (equal .tool "openFile") (ide-mcp--frontmost-p .arguments))
                (ide-mcp--wait .call answer)
              (funcall answer))))
         ("call_ended" (setf (alist-get .call ide-mcp--waiting nil t) nil))
         ("edit_expected" (ide-mcp--expect-edit .path))
         ("mention_expired" (ide-mcp--say "No agent took the mention of %s" .path))
         ("consent"
          (setf (alist-get .conn ide-mcp--agents) nil)
          (ide-mcp--wait (cons 'consent .conn) (lambda () (ide-mcp--consent .conn .client))))
         ("error" (ide-mcp--say "ide-mcp: %s" (setq ide-mcp--problem (ide-mcp--line .message))))
         ("paused"
          (setq ide-mcp--paused t)
          (ide-mcp--say "Files and selections are hidden from agents"))
         ("resumed"
          (setq ide-mcp--paused nil)
          (ide-mcp--say "Agents see files and selections again")))))))

(defun ide-mcp--attempt (call function)
  "Call FUNCTION.  If it fails, answer CALL with the failure."
  (let ((process ide-mcp--process))
    (condition-case problem
        (funcall function)
      ((error quit)
       (let ((text (error-message-string problem)))
         (ide-mcp--say "ide-mcp: %s" text)
         (when (and call (eq process ide-mcp--process))
           (setf (alist-get call ide-mcp--proposals nil t) nil)
           (ide-mcp-send :cmd "fail" :call call :message text)))))))

(defun ide-mcp--listen (event)
  "Give the environment of EVENT to the processes of Emacs."
  (setq ide-mcp--listening event)
  (when-let ((advice (ide-mcp--advice (alist-get 'version event))))
    (ide-mcp--say "ide-mcp: %s" advice))
  (with-temp-buffer ; the current buffer can have an environment of its own
    (pcase-dolist (`(,name . ,value) (alist-get 'environment event))
      (setenv (symbol-name name) value)))
  (when ide-mcp--paused (ide-mcp-send :cmd "pause")) ; of the sidecar before this one
  (ide-mcp--send-selection))

(defun ide-mcp--join (agent)
  "Attach AGENT, unless it waits for the consent of the person or is a model."
  (let-alist agent
    (setf (alist-get .conn ide-mcp--agents)
          (unless (or .consent .model)
            (ide-mcp--line (format "%s %s" (or .client "agent") (or .version "")) 130)))))

(defun ide-mcp--leave (conn)
  "Forget the agent with the number CONN, and the question that waits about it."
  (setf (alist-get conn ide-mcp--agents nil t) nil
        (alist-get (cons 'consent conn) ide-mcp--waiting nil t #'equal) nil))

(defun ide-mcp--catch-up (status)
  "Make up for events that were left out before STATUS."
  (let-alist status
    (dolist (call (mapcar #'car ide-mcp--proposals))
      (unless (seq-contains-p .calls call) (ide-mcp--close call)))
    (setq ide-mcp--waiting (seq-filter (pcase-lambda (`(,key . ,_))
                                         (or (not (integerp key)) (seq-contains-p .calls key)))
                                       ide-mcp--waiting))
    (let ((conns (mapcar (lambda (agent) (alist-get 'conn agent)) .agents)))
      (dolist (conn (mapcar #'car ide-mcp--agents))
        (unless (memq conn conns) (ide-mcp--leave conn))))
    (mapc #'ide-mcp--join .agents)
    (setq ide-mcp--paused .paused)))

(defun ide-mcp--consent (conn client)
  "Ask the person whether CLIENT with the number CONN attaches.
The answer is a word with Enter, since you may go on typing after a pause.  No
completion takes a part of it, and it has no history and no default."
  (let* ((process ide-mcp--process)
         (asks (lambda () (and (eq process ide-mcp--process) (assq conn ide-mcp--agents))))
         answer)
    (while (and (not (member answer '("allow" "refuse"))) (funcall asks))
      (setq answer (condition-case nil
                       (let ((inhibit-quit nil))
                         (string-trim (read-string (ide-mcp--question client) nil t)))
                     (quit "refuse"))))
    (clear-this-command-keys t)
    (message nil) ; the answered question
    (setq ide-mcp--answered (current-time))
    (when (funcall asks)
      (ide-mcp-send :cmd (if (equal answer "allow") "allow" "disconnect") :conn conn))))

(defun ide-mcp--question (client)
  "Return the question about CLIENT, in which a name cannot look like our words."
  (format "An agent that %s asks to attach.  Let it attach?  Type allow or refuse, and Enter: "
          (if client
              (format "calls itself \"%s\"" (string-replace "\"" "'" (ide-mcp--line client 64)))
            "has no name")))

(defun ide-mcp--expect-edit (path &optional state text)
  "Read the file PATH again once an agent has written it.
TEXT was accepted for it, when its buffer had STATE."
  (when-let ((buffer (ide-mcp--buffer path)))
    (with-current-buffer buffer
      (cond ((ide-mcp--by-program-p)
             (ide-mcp--say "An agent may write this file, which stays as it is here: %s" path))
            ((not (buffer-modified-p))
             (unless (ide-mcp--too-large path)
               (add-hook 'after-revert-hook #'ide-mcp--tame-again nil t))
             (auto-revert-mode))
            (text (ide-mcp--take-in buffer state text 25))
            (t (ide-mcp--say "An agent may write this file, which is not saved: %s" path))))))

(defun ide-mcp--tame-again ()
  "Leave the major mode of a buffer that an agent has made too large for it."
  (when (and (ide-mcp--too-large buffer-file-name) (not (eq major-mode 'fundamental-mode)))
    (fundamental-mode)
    (ide-mcp--tame)))

(defun ide-mcp--state (path)
  "Return the state of the text in the buffer of PATH, or nil."
  (when-let ((buffer (ide-mcp--buffer path)))
    (cons buffer (buffer-chars-modified-tick buffer))))

(defun ide-mcp--take-in (buffer state text tries)
  "Take the accepted TEXT into BUFFER, whose unsaved changes you compared it with.
It happens once the file has the text, if BUFFER still has STATE.  The agent has
TRIES times 0.2 s to write the file."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((accepted (ide-mcp--lines-of text)) read)
        (cond ((not (equal state (cons buffer (buffer-chars-modified-tick))))
               (ide-mcp--say "Your changes stay, since they are newer than the proposal: %s"
                             (buffer-name)))
              ((and (not (verify-visited-file-modtime))
                    (setq read (ide-mcp--read-again))
                    (equal (with-current-buffer (car read) (buffer-string)) accepted))
               (ide-mcp--replace read))
              ((> tries 0)
               (run-with-timer 0.2 nil #'ide-mcp--take-in buffer state text (1- tries)))
              (t (ide-mcp--say "Your changes stay, since the file has another text: %s"
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
  "Replace the text of the current buffer by READ, the file.  You can undo it."
  (pcase-let ((`(,text ,coding ,time) read)
              (inhibit-read-only t))
    (set-visited-file-modtime time) ; first, or the change would ask about the file
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

(defun ide-mcp--propose (event)
  "Show the proposal of EVENT, once the person does not type."
  (let-alist event
    (let ((view (list .call)) state)
      (push view ide-mcp--proposals)
      (ide-mcp--wait
       .call
       (lambda ()
         (ide-mcp--check-kept)
         (setq state (ide-mcp--state .path))
         (cl-flet ((decide (verdict &optional text)
                     (ide-mcp--decide event view state verdict text)))
           (when-let ((close (funcall
                              ide-mcp-show-function
                              `((client . ,(or (alist-get .conn ide-mcp--agents) "an agent"))
                                (accept . ,(lambda (text) (decide "accept" text)))
                                (reject . ,(lambda () (decide "reject")))
                                . ,event))))
             (setcdr view (lambda (reason) (ide-mcp--withdraw close .label reason))))))))))

(defun ide-mcp--decide (event view state verdict &optional text)
  "Answer the diff of EVENT with VERDICT and TEXT, unless its VIEW has ended.
STATE is that of the buffer of the file when the view was shown.  Return nil if
the view has ended."
  (let-alist event
    (cond ((memq view ide-mcp--proposals)
           (setf (alist-get .call ide-mcp--proposals nil t) nil)
           (when (equal verdict "accept")
             (ide-mcp--expect-edit .path state (or text .contents)))
           (ide-mcp-send :cmd "answer" :call .call :verdict verdict
                         :contents (unless (equal text .contents) text))
           t)
          ((equal verdict "accept") (ide-mcp--say "The proposal has ended: %s" .path) nil))))

(defun ide-mcp--withdraw (close name reason)
  "Call CLOSE for the view of a proposal for NAME that has ended by REASON."
  (setq ide-mcp--undecided num-input-keys)
  (let ((kept (funcall close)))
    (ide-mcp--say "%s.%s  The next one comes after your next key"
                  (format (if (member reason '("close_tab" "closeAllDiffTabs" "cancelled"))
                              "The agent withdrew %s"
                            "The proposal for %s has ended")
                          name)
                  (if (bufferp kept) (format "  Your text is in %s." (buffer-name kept)) ""))))

(defun ide-mcp--close (call &optional reason)
  "End the proposal CALL by REASON, and close its view in a pause of the person.
The closing comes before all else that waits, and so before the next view."
  (let ((close (alist-get call ide-mcp--proposals)))
    (setf (alist-get call ide-mcp--proposals nil t) nil
          (alist-get call ide-mcp--waiting nil t) nil)
    (ide-mcp--mark-ended call)
    (when close (push (cons nil (lambda () (funcall close reason))) ide-mcp--waiting))))

(defun ide-mcp--mark-ended (call)
  "Say in the view of the proposal CALL, which stays for a while, that it ended."
  (dolist (buffer (buffer-list))
    (let-alist (buffer-local-value 'ide-mcp--proposal buffer)
      (when (and .call (equal .call call))
        (with-current-buffer buffer
          (setq header-line-format (ide-mcp--header "Ended: nothing is accepted.  %s" .label))
          (force-mode-line-update))))))

(defun ide-mcp--wait (key function)
  "Call FUNCTION, for a call or another KEY, once the person does not type."
  (setq ide-mcp--waiting (append ide-mcp--waiting (list (cons key function)))))

(defun ide-mcp--go-on ()
  "Call the functions that wait, unless the person types or reviews a proposal.
A proposal also waits for a key after the end of one without a decision."
  (cancel-function-timers #'ide-mcp--go-on)
  (while (and ide-mcp--waiting
              (time-less-p ide-mcp--idle-delay
                          (or (current-idle-time) (time-since ide-mcp--answered)))
              (equal (this-single-command-keys) [])
              (not (input-pending-p)) ; typed while Emacs was busy
              (not (or (active-minibuffer-window) cursor-in-echo-area isearch-mode
                       (equal (terminal-name) "initial_terminal") ; a daemon without a frame
                       (seq-some #'cdr ide-mcp--proposals)
                       (and (eql ide-mcp--undecided num-input-keys)
                            (assq (car (car ide-mcp--waiting)) ide-mcp--proposals)))))
    (pcase-let ((`(,key . ,function) (pop ide-mcp--waiting)))
      (ide-mcp--attempt (and (integerp key) key) function))
    (force-mode-line-update t))
  (when ide-mcp--waiting
    (let ((rest (- ide-mcp--idle-delay (float-time (or (current-idle-time) 0)))))
      (run-with-timer (if (> rest 0) (+ rest 0.01) 0.2) nil #'ide-mcp--go-on))))

;;; The state of Emacs

(defun ide-mcp--file ()
  "Return the path of the file of the current buffer on this machine, or nil."
  (and buffer-file-name (not (file-remote-p buffer-file-name)) buffer-file-name))

(defun ide-mcp--uri (&optional path)
  "Return the URI of the file PATH, or of that of the current buffer.
The drive of a path of Windows is the first part, and keeps its colon."
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

(defun ide-mcp--text ()
  "Return the text of the current buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun ide-mcp--folders ()
  "Return the folder in which Emacs started, and the projects of the open files."
  (let ((projects (seq-uniq (ide-mcp--map-files
                             (lambda () (and (not ide-mcp--foreign) (project-current)))))))
    (seq-uniq (vconcat (mapcar (lambda (folder) (directory-file-name (expand-file-name folder)))
                               (cons command-line-default-directory
                                     (mapcar #'project-root projects)))))))

(defun ide-mcp--send-folders ()
  "Send the open folders, unless `ide-mcp-config' has others."
  (unless (plist-member ide-mcp-config :folders)
    (ide-mcp-send :cmd "folders" :folders (ide-mcp--folders))))

(defun ide-mcp--position (position)
  "Return the line and the column of POSITION, from 0, in UTF-16 units."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char position)
      (let ((before (buffer-substring-no-properties (progn (forward-line 0) (point)) position)))
        (vector (1- (line-number-at-pos))
                (/ (length (encode-coding-string before 'utf-16be-unix)) 2))))))

(defun ide-mcp--send-selection ()
  "Send the selection.  In a buffer without a file, that of before stays."
  (with-current-buffer (window-buffer)
    (when-let ((file (ide-mcp--file)))
      (let ((start (if (use-region-p) (region-beginning) (point)))
            (end (if (use-region-p) (region-end) (point))))
        (ide-mcp-send :cmd "select" :path file
                      :start (ide-mcp--position start) :end (ide-mcp--position end)
                      ;; The sidecar cuts a text above 256 KiB.
                      :text (buffer-substring-no-properties start (min end (+ start 262145))))))))

(defun ide-mcp--answer (name arguments path)
  "Answer the tool, the prompt or the resource NAME with ARGUMENTS.
PATH is the file among the arguments."
  (let ((buffer (and path (ide-mcp--buffer path))))
    (let-alist arguments
      (pcase name
        ((app (lambda (name) (cdr (assoc name ide-mcp-answers))) (and answer (guard answer)))
         (funcall answer arguments))
        ("getDiagnostics"
         (if (not .uri)
             (ide-mcp--map-files (lambda () (and (flymake-diagnostics) (ide-mcp--problems))))
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

(defun ide-mcp--announcing (report)
  "Return REPORT, a function of Flymake, which then announces the new problems."
  (let ((buffer (current-buffer)))
    (lambda (&rest arguments)
      (apply report arguments)
      (when (buffer-live-p buffer)
        (with-current-buffer buffer
          (when (ide-mcp--file)
            (ide-mcp-send :cmd "diagnostics_changed" :uris (vector (ide-mcp--uri)))))))))

(defun ide-mcp--problems (&optional uri)
  "Return the problems of the current buffer.
The agent that asked for URI receives its own spelling."
  (list :uri (or uri (ide-mcp--uri))
        :diagnostics (vconcat (mapcar #'ide-mcp--problem (flymake-diagnostics)))))

(defun ide-mcp--problem (diagnostic)
  "Return DIAGNOSTIC of Flymake in the current buffer as an object."
  (cl-flet ((place (position)
              (pcase-let ((`[,line ,column] (ide-mcp--position position)))
                (list :line line :character column))))
    (list :message (flymake-diagnostic-text diagnostic)
          :severity (pcase (symbol-name (flymake-diagnostic-type diagnostic))
                      ((rx "error") "Error")
                      ((rx "warn") "Warning")
                      (_ "Information"))
          :source (format "%s" (flymake-diagnostic-backend diagnostic))
          :range (list :start (place (flymake-diagnostic-beg diagnostic))
                       :end (place (flymake-diagnostic-end diagnostic))))))

(defun ide-mcp--tab ()
  "Return the current buffer as a tab of VS Code."
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
          ((ide-mcp--by-program-p) (error "The person saves this file: a program writes it"))
          ((not (verify-visited-file-modtime))
           (error "The person saves this file: it has changed on disk"))
          ((check-coding-systems-region (point-min) (point-max) (list coding-system-for-write))
           (error "The person saves this file: %s does not have each character"
                  coding-system-for-write)))
    (let ((file-name-handler-alist nil)) (save-buffer))))

(defun ide-mcp--frontmost-p (arguments)
  "Return non-nil if openFile with ARGUMENTS shows the file."
  (or (not (assq 'makeFrontmost arguments)) (alist-get 'makeFrontmost arguments)))

(defun ide-mcp--watch ()
  "Count the current buffer as unseen, until the person presses a key in it."
  (setq ide-mcp--unseen t)
  (add-hook 'pre-command-hook #'ide-mcp--look nil t))

(defun ide-mcp--look ()
  "Note that the person looks at the current buffer."
  (setq ide-mcp--unseen nil)
  (remove-hook 'pre-command-hook #'ide-mcp--look t))
(put 'ide-mcp--look 'permanent-local-hook t)

(defun ide-mcp--unseen-bytes (except)
  "Return the bytes of the unseen buffers, without the buffer EXCEPT.
They are those of now, since a buffer can follow its file, and can be killed."
  (cl-loop for buffer in (buffer-list)
           unless (or (eq buffer except) (not (buffer-local-value 'ide-mcp--unseen buffer)))
           sum (with-current-buffer buffer
                 (save-restriction
                   (widen)
                   (max ide-mcp--least-unseen (1- (position-bytes (point-max))))))))

(defun ide-mcp--check-file (path unseen &optional buffer)
  "Signal an error unless PATH is a plain file that can be opened.
If UNSEEN is non-nil, the person has not looked at it.  BUFFER has its text of
before."
  (let ((size (ide-mcp--guarded
                (and (file-regular-p path) (file-readable-p path)
                     (file-attribute-size (file-attributes (file-truename path)))))))
    (cond ((not size) (error "There is no file %s" path))
          ((> size ide-mcp--most-bytes) (error "The file is larger than 16 MiB: %s" path))
          ((and unseen (> (+ (max ide-mcp--least-unseen size) (ide-mcp--unseen-bytes buffer))
                          ide-mcp--most-unseen))
           (error "The person has not looked at %d MiB of files that agents opened: show one with makeFrontmost"
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
  "Return BUFFER, read again if only its file has changed.
Undo brings back the text of before.  Return nil if there is no BUFFER, or if
its file now has a line so long that a copy is shown."
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
                  (when ide-mcp--unseen (setq buffer-undo-list nil)) ; of a text that nobody knows
                  (unless large (ide-mcp--tame-again)))
                buffer)
            (ide-mcp--kill text)))))))

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
        ;; Not in place of the terminal of an agent.
        (pop-to-buffer buffer (and (with-current-buffer (window-buffer) (ide-mcp--file))
                                   '((display-buffer-reuse-window display-buffer-same-window))))
        (goto-char (point-min))
        (forward-line (1- (or .startLine 1)))
        (when (and .startText (search-forward .startText nil t))
          (push-mark (match-beginning 0) t t)
          (when .endText (search-forward .endText nil t))
          (when .selectToEndOfLine (end-of-line)))
        (ide-mcp--send-selection)
        (concat "Opened file: " path)))))

;;; The view of a proposal

(defvar-local ide-mcp--shown nil "The time at which the proposal of this buffer was on the screen.")
(defvar-local ide-mcp--kept nil "Non-nil in a buffer with what the person typed into a proposal.")
(put 'ide-mcp--kept 'permanent-local t)
(defvar-local ide-mcp--reason nil "The reason for which this view has no colors.")
(defvar-local ide-mcp--line-number 1 "The number of the line in which the marking is.")

(define-minor-mode ide-mcp-proposal-mode
  "Decide on a proposed text, which can be edited.
Killing the buffer rejects the proposal."
  :keymap (list (cons (kbd "C-c C-c") #'ide-mcp-accept)
                (cons (kbd "C-c C-k") #'kill-current-buffer)))

(defun ide-mcp-accept ()
  "Accept the proposal with the text of this buffer.
A proposal that has only just appeared is not accepted."
  (interactive nil ide-mcp-proposal-mode)
  (when (process-live-p ide-mcp--process) ; the agent may have withdrawn it while Emacs was busy
    (accept-process-output ide-mcp--process 0 nil t))
  (if (time-less-p (time-since ide-mcp--shown) ide-mcp--idle-delay)
      (ide-mcp--say "Not accepted, since the proposal has only just appeared: read it, and accept it again")
    (let-alist ide-mcp--proposal
      (let ((text (ide-mcp--unfolded)))
        (when (funcall .accept (cond ((equal text (ide-mcp--lines-of .contents)) .contents)
                                     ((ide-mcp--dos-p .contents)
                                      (decode-coding-string
                                       (encode-coding-string text 'utf-8-emacs-dos)
                                       'utf-8-emacs-unix))
                                     (t text)))
          (kill-buffer)))))) ; the view of a proposal that has ended is closed after a pause

(defun ide-mcp--dos-p (text)
  "Return non-nil if each line of TEXT ends as in DOS."
  (and (string-search "\r\n" text)
       (not (string-match-p (rx (or bos (not "\r")) "\n") text))))

(defun ide-mcp--lines-of (text)
  "Return TEXT without the CRs of its line ends, if each line has one."
  (if (ide-mcp--dos-p text)
      ;; `string-replace' takes 1.3 s for 16 MiB.
      (decode-coding-string (encode-coding-string text 'utf-8-emacs-unix) 'utf-8-emacs-dos)
    text))

(defun ide-mcp--name (path)
  "Return the name of the file PATH for titles."
  (ide-mcp--line (file-name-nondirectory path) 64))

(defun ide-mcp--header (format &rest values)
  "Return the header line with the text that FORMAT makes of VALUES."
  (string-replace "%" "%%" (concat " " (ide-mcp--line (apply #'format format values) 400))))

(defun ide-mcp--end-of (name columns)
  "Return NAME in at most so many COLUMNS, and no less than 10: its end."
  (let ((rest name))
    (while (> (string-width rest) (max columns 10))
      (setq rest (concat "…" (substring rest 2))))
    rest))

(defun ide-mcp--fold ()
  "Break the long lines of the current buffer, for the eye only."
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
  "Return the text of the current buffer without the ends of `ide-mcp--fold'."
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
  "Remove the ends of `ide-mcp--fold' from the current buffer."
  (save-excursion
    (goto-char (point-min))
    (let (place)
      (while (setq place (text-property-any (point) (point-max) 'ide-mcp-fold t))
        (goto-char place)
        (delete-region place (next-single-property-change
                              place 'ide-mcp-fold nil (point-max)))))))

(defun ide-mcp--view (name path text)
  "Return a buffer NAME with TEXT, in the major mode for PATH unless too large."
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

(defun ide-mcp-show (proposal)
  "Show PROPOSAL in a buffer that can be edited, with the file beside it.
See `ide-mcp-show-function'."
  (let ((windows (current-window-configuration)) buffers close)
    (unwind-protect
        (setq close (ide-mcp--guarded
                      (ide-mcp--show proposal windows
                                     (lambda (buffer) (push buffer buffers) buffer))))
      (unless close ; nothing of a view that failed is left
        (dolist (buffer buffers)
          (with-current-buffer buffer (setq kill-buffer-hook nil))
          (ide-mcp--kill buffer))
        (set-window-configuration windows)))))

(defun ide-mcp--show (proposal windows made)
  "Show PROPOSAL, which ends with WINDOWS, and call MADE with each buffer."
  (let-alist proposal
    (let* ((name (ide-mcp--line .label 64))
           (old (funcall made (ide-mcp--view (format "*file: %s*" name) .path
                                             (ide-mcp--old-text .old_path .old))))
           (new (funcall made (ide-mcp--view (format "*proposal: %s*" name) .path .contents)))
           (colors (or (buffer-local-value 'ide-mcp--reason old)
                       (buffer-local-value 'ide-mcp--reason new)))
           (marks (ide-mcp--compare old new))
           (decide (concat (if .outside "OUTSIDE of the open folders.  " "")
                           "C-c C-c accepts, C-c C-k rejects.  "))
           (end (lambda ()
                  (funcall .reject)
                  (when (get-buffer-window new) (set-window-configuration windows))
                  (ide-mcp--kill old))))
      (with-current-buffer new
        (ide-mcp-proposal-mode)
        (setq ide-mcp--proposal proposal
              header-line-format
              ;; The right end is cut: what decides stands first, and of a long name the end.
              (ide-mcp--header "%s%s, proposed by %s%s"
                               decide (ide-mcp--end-of name (- (frame-width) (length decide) 1)) .client
                               (cond (marks (format ".  The text has no highlighting: %s" marks))
                                     (colors (format ".  The code has no colors: %s" colors))
                                     (t ""))))
        (add-hook 'kill-buffer-hook end nil t))
      (let ((ignore-window-parameters t)) (delete-other-windows))
      (pop-to-buffer-same-window old)
      (setq buffer-read-only t)
      (pop-to-buffer new '(display-buffer-pop-up-window))
      (redisplay t) ; its colors can take time, in which nobody has seen the text
      (setq ide-mcp--shown (current-time))
      (lambda () (ide-mcp--end new end name)))))

(defun ide-mcp--end (view end name)
  "End the VIEW of a withdrawn proposal for the file NAME, by the function END.
If the person has typed into it, it stays as a text of the person, and is
returned.  It is shown if it had the keys, so that these go nowhere else."
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
                     buffer-offer-save t ; Emacs asks about it before it ends
                     header-line-format
                     (ide-mcp--header "The proposal has ended: what you typed is in no file")))
             (when selected (pop-to-buffer view '(display-buffer-pop-up-window)))
             view))))

(defun ide-mcp--check-kept ()
  "Signal an error if the person keeps too many texts of withdrawn proposals."
  (when (>= (seq-count (lambda (buffer)
                         (and (buffer-local-value 'ide-mcp--kept buffer)
                              (not (buffer-file-name buffer))))
                       (buffer-list))
            ide-mcp--most-kept)
    (error "The person has %d texts of withdrawn proposals, and saves or kills one of *withdrawn: …* first"
           ide-mcp--most-kept)))

(defun ide-mcp--old-text (path text)
  "Return the text of the file PATH: that of its buffer, or TEXT if it has none."
  (if-let ((buffer (ide-mcp--buffer path)))
      (with-current-buffer buffer (ide-mcp--text))
    (or text "")))

(defun ide-mcp--compare (old new)
  "Mark the differences of the buffers OLD and NEW, and go to the first one.
Return the reason for which nothing is marked, or nil."
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
                                      (append (ide-mcp--mark old line1 count1 'diff-removed)
                                              (ide-mcp--mark new line2 count2 'diff-added)))
                                    hunks)))
               (pcase-dolist (`(,start1 ,end1 ,start2 ,end2) places)
                 ;; The words of a region take 20 ms, and those of a large region minutes.
                 (when (and (< (+ (- end1 start1) (- end2 start2)) 2000) (time-less-p nil end))
                   (smerge-refine-regions start1 end1 start2 end2 nil nil
                                          '((face . smerge-refined-removed))
                                          '((face . smerge-refined-added)))))
               (pcase-dolist (`(,buffer . ,place) (and places `((,old . ,(car (car places)))
                                                                (,new . ,(nth 2 (car places))))))
                 (with-current-buffer buffer (goto-char place))))
             nil))))

(defun ide-mcp--hunks (old new)
  "Return the changes from OLD to NEW, each as two lines with their counts.
Return a text if there is no comparison."
  (let ((files (mapcar (lambda (_) (make-temp-file "ide-mcp-")) '(1 2)))
        (coding-system-for-write 'utf-8-emacs-unix)
        (end (time-add nil ide-mcp--patience)))
    (unwind-protect
        (with-temp-buffer
          (cl-loop for file in files for buffer in (list old new)
                   do (with-current-buffer buffer (write-region nil nil file nil 'silent)))
          (let* ((default-directory temporary-file-directory)
                 (diff (make-process :name "ide-mcp diff" :buffer (current-buffer)
                                     :command `(,diff-command "-a" "-U0" ,@files)
                                     :connection-type 'pipe :coding 'utf-8-emacs-unix
                                     :noquery t :sentinel #'ignore)))
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
  "Show COUNT lines from LINE of BUFFER in FACE, and return their start and end.
BUFFER is at the line `ide-mcp--line-number', and its lines come in order."
  (with-current-buffer buffer
    (let ((start (if (zerop count) (1+ line) line)))
      (forward-line (- start ide-mcp--line-number))
      (setq ide-mcp--line-number start)
      (let ((end (save-excursion (forward-line count) (point))))
        (overlay-put (make-overlay (point) end) 'face face)
        (list (point-marker) end)))))

(provide 'ide-mcp)
;;; ide-mcp.el ends here
