;;; ide-mcp.el --- Let coding agents attach to Emacs  -*- lexical-binding: t; -*-

;; Version: 0.1.0
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
;; Emacs and the process exchange lines of JSON: docs/sidecar.md has the table.

;;; Code:

(require 'cl-lib)
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
text, and `reject'.  The first call of these counts."
  :type 'function)

(defconst ide-mcp--idle-delay 0.5
  "Time in seconds without a key after which a view may open or close.
Otherwise another buffer would take the keys that the person types.")

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
(defvar ide-mcp--proposals nil "Alist from calls to functions that close views, or nil.")
(defvar ide-mcp--waiting nil
  "Alist from keys to functions that wait until the person does not type.
The key is the call of a proposal, or `consent' with the connection of an agent.
It is nil for a function that closes a view.")

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
  (cond ((not ide-mcp-mode))
        ((executable-find (car ide-mcp-command))
         (run-with-idle-timer 0.05 t #'ide-mcp--send-selection)
         (add-hook 'find-file-hook #'ide-mcp--send-folders)
         (advice-add 'flymake-make-report-fn :filter-return #'ide-mcp--announcing)
         (ide-mcp--start))
        (t (ide-mcp--give-up (format "%s is not installed: see the README of ide-mcp"
                                     (car ide-mcp-command))))))

(defun ide-mcp-status ()
  "Show the port and the attached agents."
  (interactive)
  (message "Port %s: %s" (alist-get 'port ide-mcp--listening) (ide-mcp--status)))

(defun ide-mcp-mention ()
  "Mention the file, or the lines of the region, in the prompt of the agent."
  (interactive)
  (cl-flet ((line (position) (1- (line-number-at-pos position t))))
    (ide-mcp-send :cmd "mention" :path (or (ide-mcp--file) (user-error "No file"))
                  :lines (and (use-region-p)
                              (vector (line (region-beginning)) (line (1- (region-end))))))))

(defun ide-mcp-pause ()
  "Hide files and selections from agents, or end this pause."
  (interactive)
  (ide-mcp-send :cmd (if ide-mcp--paused "resume" "pause")))

(defun ide-mcp--status ()
  "Return a text with the attached agents."
  (let ((names (delq nil (mapcar #'cdr ide-mcp--agents)))
        (waiting (seq-count #'car ide-mcp--waiting)))
    (concat "⧉ " (cond (names (string-join names ", "))
                       (ide-mcp--listening "no agent")
                       (ide-mcp-mode "starting")
                       (t "stopped"))
            (cond ((> waiting 0) (format " (%d proposal waits)" waiting))
                  (ide-mcp--paused " (paused)")))))

;;; The process

(defun ide-mcp--start ()
  "Start the sidecar, which takes over the port of the one that died."
  (let ((default-directory command-line-default-directory))
    (setq ide-mcp--pieces nil
          ide-mcp--problem "The sidecar died too often"
          ide-mcp--process
          (make-process :name "ide-mcp" :command ide-mcp-command :connection-type 'pipe
                        :coding 'utf-8-unix :noquery t :stderr (get-buffer-create " *ide-mcp*")
                        :filter #'ide-mcp--filter :sentinel #'ide-mcp--sentinel)))
  (apply #'ide-mcp-send
         (append ide-mcp-config
                 (list
                  :name "Emacs" :version emacs-version :pid (emacs-pid)
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
  "Return the event in LINE.  `json-parse-string' refuses a text with a NUL."
  (condition-case nil
      (json-parse-string line :object-type 'alist :null-object nil :false-object nil)
    (json-error (let ((json-false nil)) (json-read-from-string line)))))

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

;;; Events

(defun ide-mcp--handle (event)
  "Handle EVENT."
  (let-alist event
    (ide-mcp--attempt
     .call
     (lambda ()
       (pcase .event
         ("listening" (ide-mcp--listen event))
         ("connected" (ide-mcp--join event))
         ("closed" (ide-mcp--leave .conn))
         ("status" (ide-mcp--catch-up event))
         ("diff" (ide-mcp--propose event))
         ("diff_closed" (ide-mcp--close .call))
         ((or "call" "prompt" "resource")
          (ide-mcp--reply ide-mcp--process :cmd "respond" :call .call
                          :result (ide-mcp--answer (or .tool .name .uri) .arguments .path)))
         ("edit_expected" (ide-mcp--expect-edit .path))
         ("mention_expired" (message "No agent took the mention of %s" .path))
         ("consent"
          (setf (alist-get .conn ide-mcp--agents) nil)
          (ide-mcp--wait (cons 'consent .conn) (lambda () (ide-mcp--consent .conn .client))))
         ("error" (message "ide-mcp: %s" (setq ide-mcp--problem .message)))
         ("paused" (setq ide-mcp--paused t))
         ("resumed" (setq ide-mcp--paused nil)))))))

(defun ide-mcp--attempt (call function)
  "Call FUNCTION.  If it fails, answer CALL with the failure."
  (let ((process ide-mcp--process))
    (condition-case problem
        (funcall function)
      ((error quit)
       (let ((text (error-message-string problem)))
         (message "ide-mcp: %s" text)
         (when (and call (eq process ide-mcp--process))
           (setf (alist-get call ide-mcp--proposals nil t) nil)
           (ide-mcp-send :cmd "fail" :call call :message text)))))))

(defun ide-mcp--listen (event)
  "Give the environment of EVENT to the processes of Emacs."
  (setq ide-mcp--listening event)
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
            (format "%s %s" (or .client "agent") (or .version ""))))))

(defun ide-mcp--leave (conn)
  "Forget the agent with the number CONN, and the question that waits about it."
  (setf (alist-get conn ide-mcp--agents nil t) nil
        (alist-get (cons 'consent conn) ide-mcp--waiting nil t #'equal) nil))

(defun ide-mcp--catch-up (status)
  "Make up for events that were left out before STATUS."
  (let-alist status
    (dolist (call (mapcar #'car ide-mcp--proposals))
      (unless (seq-contains-p .calls call) (ide-mcp--close call)))
    (let ((conns (mapcar (lambda (agent) (alist-get 'conn agent)) .agents)))
      (dolist (conn (mapcar #'car ide-mcp--agents))
        (unless (memq conn conns) (ide-mcp--leave conn))))
    (mapc #'ide-mcp--join .agents)
    (setq ide-mcp--paused .paused)))

(defun ide-mcp--consent (conn client)
  "Ask the person whether CLIENT with the number CONN attaches."
  (let ((process ide-mcp--process)
        (allowed (with-local-quit (y-or-n-p (format "Let %s attach? " (or client "an agent"))))))
    (clear-this-command-keys t)
    (setq ide-mcp--answered (current-time))
    (when (assq conn ide-mcp--agents)
      (ide-mcp--reply process :cmd (if allowed "allow" "disconnect") :conn conn))))

(defun ide-mcp--expect-edit (path)
  "Read the file PATH again once an agent has written it."
  (when-let ((buffer (find-buffer-visiting path)))
    (with-current-buffer buffer
      (if (buffer-modified-p)
          (message "An agent may write this file, which is not saved: %s" path)
        (auto-revert-mode)))))

(defun ide-mcp--propose (event)
  "Show the proposal of EVENT, once the person does not type."
  (let-alist event
    (let ((view (list .call)))
      (push view ide-mcp--proposals)
      (ide-mcp--wait
       .call
       (lambda ()
         (setcdr view (funcall ide-mcp-show-function
                               `((client . ,(or (alist-get .conn ide-mcp--agents) "an agent"))
                                 (accept . ,(lambda (text)
                                              (ide-mcp--decide event view "accept" text)))
                                 (reject . ,(lambda () (ide-mcp--decide event view "reject")))
                                 . ,event))))))))

(defun ide-mcp--decide (event view verdict &optional text)
  "Answer the diff of EVENT with VERDICT and TEXT, unless its VIEW has ended."
  (let-alist event
    (cond ((memq view ide-mcp--proposals)
           (setf (alist-get .call ide-mcp--proposals nil t) nil)
           (when (equal verdict "accept") (ide-mcp--expect-edit .path))
           (ide-mcp-send :cmd "answer" :call .call :verdict verdict
                         :contents (unless (equal text .contents) text)))
          ((equal verdict "accept") (message "The proposal has ended: %s" .path)))))

(defun ide-mcp--close (call)
  "End the proposal CALL, and close its view once the person does not type.
The closing comes before all else that waits, and so before the next view."
  (let ((close (alist-get call ide-mcp--proposals)))
    (setf (alist-get call ide-mcp--proposals nil t) nil
          (alist-get call ide-mcp--waiting nil t) nil)
    (when close (push (cons nil close) ide-mcp--waiting))))

(defun ide-mcp--wait (key function)
  "Call FUNCTION, for a call or another KEY, once the person does not type."
  (setq ide-mcp--waiting (append ide-mcp--waiting (list (cons key function)))))

(defun ide-mcp--go-on ()
  "Call the functions that wait, unless the person types or reviews a proposal."
  (cancel-function-timers #'ide-mcp--go-on)
  (while (and ide-mcp--waiting
              (time-less-p ide-mcp--idle-delay
                          (or (current-idle-time) (time-since ide-mcp--answered)))
              (equal (this-single-command-keys) [])
              (not (or (active-minibuffer-window) cursor-in-echo-area isearch-mode
                       (equal (terminal-name) "initial_terminal") ; a daemon without a frame
                       (seq-some #'cdr ide-mcp--proposals))))
    (pcase-let ((`(,key . ,function) (pop ide-mcp--waiting)))
      (ide-mcp--attempt (and (integerp key) key) function))
    (force-mode-line-update t))
  (when ide-mcp--waiting (run-with-timer 0.2 nil #'ide-mcp--go-on)))

;;; The state of Emacs

(defun ide-mcp--file ()
  "Return the path of the file of the current buffer on this machine, or nil."
  (and buffer-file-name (not (file-remote-p buffer-file-name)) buffer-file-name))

(defun ide-mcp--uri ()
  "Return the URI of the file of the current buffer."
  (concat "file://" (url-hexify-string buffer-file-name (cons ?/ url-unreserved-chars))))

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
  (let ((projects (seq-uniq (ide-mcp--map-files #'project-current))))
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
  (let ((buffer (and path (find-buffer-visiting path))))
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
                       (save-buffer)
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

(defun ide-mcp--open-file (arguments path)
  "Answer openFile for PATH with ARGUMENTS."
  (let-alist arguments
    (unless (and path (file-readable-p path)) (error "There is no file %s" .filePath))
    (let ((buffer (let ((enable-local-variables :safe)) (find-file-noselect path)))
          (case-fold-search nil))
      (if (and (assq 'makeFrontmost arguments) (not .makeFrontmost))
          (with-current-buffer buffer
            (list :success t :filePath path :languageId (ide-mcp--language)
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

(defvar-local ide-mcp--proposal nil "The proposal of this buffer.")

(define-minor-mode ide-mcp-proposal-mode
  "Decide on a proposed text, which can be edited.
Killing the buffer rejects the proposal."
  :keymap (list (cons (kbd "C-c C-c") #'ide-mcp-accept)
                (cons (kbd "C-c C-k") #'kill-current-buffer)))

(defun ide-mcp-accept ()
  "Accept the proposal with the text of this buffer."
  (interactive nil ide-mcp-proposal-mode)
  (let-alist ide-mcp--proposal
    (funcall .accept (if (ide-mcp--dos-p .contents)
                         (string-replace "\n" "\r\n" (ide-mcp--text))
                       (ide-mcp--text))))
  (kill-buffer))

(defun ide-mcp--dos-p (text)
  "Return non-nil if each line of TEXT ends as in DOS."
  (and (string-search "\r\n" text)
       (not (string-match-p (rx (or bos (not "\r")) "\n") text))))

(defun ide-mcp--view (name path text)
  "Return a buffer NAME with TEXT in the major mode for the file PATH."
  (with-current-buffer (generate-new-buffer name)
    (insert text)
    (goto-char (point-min))
    (let ((buffer-file-name path)
          (enable-local-variables nil))
      (delay-mode-hooks (set-auto-mode))) ; no language server for this buffer
    (font-lock-mode)
    (set-buffer-modified-p nil)
    (setq buffer-undo-list nil)
    (current-buffer)))

(defun ide-mcp-show (proposal)
  "Show PROPOSAL in a buffer that can be edited, with the file beside it.
See `ide-mcp-show-function'."
  (let-alist proposal
    (let* ((windows (current-window-configuration))
           (name (file-name-nondirectory .path))
           (old (ide-mcp--view (format "*file: %s*" name) .path (ide-mcp--old-text .old_path)))
           (new (ide-mcp--view (format "*proposal: %s*" name) .path
                               (if (ide-mcp--dos-p .contents)
                                   (string-replace "\r\n" "\n" .contents)
                                 .contents)))
           (header (format " %s%s: C-c C-c accepts, C-c C-k rejects.  Proposed by %s"
                           (if .outside "OUTSIDE of the open folders: " "") name .client)))
      (with-current-buffer new
        (ide-mcp-proposal-mode)
        (setq ide-mcp--proposal proposal
              header-line-format (string-replace "%" "%%" header))
        (add-hook 'kill-buffer-hook
                  (lambda ()
                    (funcall .reject)
                    (when (get-buffer-window new) (set-window-configuration windows))
                    (kill-buffer old))
                  nil t))
      (ide-mcp--compare old new)
      (let ((ignore-window-parameters t)) (delete-other-windows))
      (pop-to-buffer-same-window old)
      (setq buffer-read-only t)
      (pop-to-buffer new '(display-buffer-pop-up-window))
      (lambda () (kill-buffer new)))))

(defun ide-mcp--old-text (path)
  "Return the text of the file PATH, as its buffer has it."
  (if-let ((buffer (find-buffer-visiting path)))
      (with-current-buffer buffer (ide-mcp--text))
    (with-temp-buffer
      (when (file-readable-p path) (insert-file-contents path))
      (buffer-string))))

(defun ide-mcp--compare (old new)
  "Highlight the differences of the buffers OLD and NEW, and go to the first one."
  (with-current-buffer (diff-no-select old new "-U0" t (generate-new-buffer " *ide-mcp diff*"))
    (goto-char (point-max))
    (cl-flet ((number (group) (string-to-number (or (match-string group) "1"))))
      (while (re-search-backward (rx bol "@@ -" (group (+ digit)) (? "," (group (+ digit)))
                                     " +" (group (+ digit)) (? "," (group (+ digit))) " @@")
                                 nil t)
        (let ((regions (append (ide-mcp--mark old (number 1) (number 2) 'diff-removed)
                               (ide-mcp--mark new (number 3) (number 4) 'diff-added))))
          (pcase-let ((`(,start1 ,end1 ,start2 ,end2) regions))
            ;; The words of a region take 20 ms, and those of a large region minutes.
            (when (and (< (+ (- end1 start1) (- end2 start2)) 2000)
                       (< (how-many "^@@ " (point-min)) 20))
              (smerge-refine-regions start1 end1 start2 end2 nil nil
                                     '((face . smerge-refined-removed))
                                     '((face . smerge-refined-added))))))))
    (kill-buffer)))

(defun ide-mcp--mark (buffer line count face)
  "Show COUNT lines from LINE of BUFFER in FACE, and return their start and end."
  (with-current-buffer buffer
    (goto-char (point-min))
    (forward-line (if (zerop count) line (1- line)))
    (let ((end (save-excursion (forward-line count) (point))))
      (overlay-put (make-overlay (point) end) 'face face)
      (list (point-marker) end))))

(provide 'ide-mcp)
;;; ide-mcp.el ends here
