vim9script
# The program `ide-mcp`, which serves the agents: where it is, how it is fetched, and whether it is as new as this plugin.
# `:help ide-mcp-program`

import autoload './ui.vim'

const root = expand('<sfile>:p:h:h:h')
const extension = has('win32') ? '.exe' : ''
# A relative path is ignored, as XDG asks: with it, the program would come from the folder in which Vim was started.
const data = has('win32') ? $LOCALAPPDATA : $XDG_DATA_HOME =~ '^/' ? $XDG_DATA_HOME : expand('~/.local/share')
const folder = data .. '/vim-ide-mcp'

# What Install() fetches.
export const path = $'{folder}/bin/ide-mcp{extension}'

var is_installing = false

# Returns the contents of `release.json`: the version of this plugin and, in a release, the address of its programs and
# their SHA-256 sums by target. Reads the file each time, since a plugin manager can have updated the plugin while Vim
# runs.
const Release = (): dict<any> => readfile($'{root}/release.json')->join('')->json_decode()

# Returns the target triple of this system, by which a release names its programs.
def Target(): string
  if has('win32') | return 'x86_64-pc-windows-gnu' | endif
  const [system, processor] = system('uname -s -m')->split()[: 1]
  return get({amd64: 'x86_64', arm64: 'aarch64'}, processor, processor) .. '-'
    .. get({Linux: 'unknown-linux-musl', Darwin: 'apple-darwin'}, system, system)
enddef

# Returns the command with the program to run: the one in PATH, or else the one that Install() has fetched. Fails if
# there is neither.
export def Find(command: list<string>): list<string>
  if executable(command[0]) | return command | endif
  if command[0] != 'ide-mcp' | throw $'{command[0]} is not in PATH: see `:help ide-mcp-options`' | endif
  if !executable(path)
    throw 'ide-mcp is not in PATH: '
      .. (has_key(Release(), 'base') ? '`:IdeMcp install` fetches it' : 'see `:help ide-mcp-program`')
  endif
  return [path] + command[1 :]
enddef

const Numbers = (version: string): list<number> => matchlist(version, '^\v(\d+)\.(\d+)\.(\d+)')[1 : 3]
  ->mapnew((_, digits) => str2nr(digits))

# Returns how to update the program of a command, for the end of a sentence.
def Update(command: list<string>, mine: dict<any>): string
  if command[0] == path && has_key(mine, 'base') | return ': :IdeMcp install' | endif
  const is_named = fnamemodify(command[0], ':t:r') == 'ide-mcp' # and not `docker`
  return is_named ? ', ' .. exepath(command[0])->fnamemodify(':~') : ''
enddef

# Returns what to update if a program of this version is older than the plugin, or newer in the first or second number.
# Otherwise returns an empty string: a program that is newer in the third number understands the plugin.
export def Advice(version: string, command: list<string>): string
  const [mine, other] = [Release(), Numbers(version)]
  for [i, number] in Numbers(mine.version)->items()
    const difference = get(other, i, -1) - number
    if difference > 0 && i == 2 | return '' | endif
    if difference != 0
      const way = difference < 0 ? 'program' .. Update(command, mine)
        : filereadable($'{root}/ide-mcp.version') ? 'plugin: ide-mcp plugin vim' : 'plugin, by your plugin manager'
      return $'program {version ?? "unknown"}, plugin {mine.version}: update the {way}'
    endif
  endfor
  return ''
enddef

# Runs a command. Passes its output to `Then` or, if it fails, `problem` and the reason to `Fail`. `more` are options of
# the job.
export def Run(command: list<string>, problem: string, Fail: func, Then: func, more: dict<any> = {})
  var [output, process, is_over] = ['', null_job, false]
  const Keep = (_, text: string) => {
    output ..= text
  }
  const End = () => {
    # job_status() can make Vim call this function again.
    if ch_status(process) != 'closed' || job_status(process) != 'dead' || is_over | return | endif
    is_over = true
    const status = job_info(process).exitval
    try
      if status != 0 | throw problem .. (trim(output) ?? $'{command[0]} failed with status {status}') | endif
      Then(trim(output))
    catch
      Fail(v:exception)
    endtry
  }
  process = job_start(command, extendnew(more, {mode: 'raw', err_io: 'out', out_cb: Keep, close_cb: (_) => End(),
    exit_cb: (_, _) => End()}))
enddef

# Returns the command that prints the SHA-256 sum of a file.
def SumOf(archive: string): list<string>
  const commands = [['sha256sum', archive], ['shasum', '-a', '256', archive], ['certutil', '-hashfile', archive, 'SHA256']]
    ->filter((_, command) => executable(command[0]) == 1)
  if empty(commands) | throw 'install sha256sum first: it checks the download' | endif
  return commands[0]
enddef

# Downloads the program of a release to the folder `work`, checks and unpacks it there, and puts it into its place.
def Fetch(mine: dict<any>, work: string, Fail: func(string), Done: func())
  const [archive, name] = [$'{work}/archive', $'ide-mcp-{mine.version}-{Target()}']
  # The new program must run in its final folder before it replaces the old one.
  const Put = (_) => {
    const [new, problem] = [New(), 'run cargo install ide-mcp-cli: it does not start here: ']
    mkdir($'{folder}/bin', 'p', 0o755)
    writefile(readblob($'{work}/{name}/ide-mcp{extension}'), new)
    setfperm(new, 'rwxr-xr-x')
    Run([new, '--version'], problem, Fail, (text) => {
      if text != $'ide-mcp {mine.version}' | throw problem .. text | endif
      if rename(new, path) != 0
        # Windows cannot replace a running program, but can rename it.
        const is_aside = rename(path, Old()) == 0
        if rename(new, path) != 0
          if is_aside | rename(Old(), path) | endif
          throw path .. ' cannot be replaced'
        endif
      endif
      Done()
    })
  }
  const Check = (text) => {
    if tolower(text)->matchstr('\x\{64}') !=# mine.sums[Target()]
      throw 'try again, the download is not the archive of this release'
    endif
    const unpack = ['tar', '-xf', archive, '-C', work, $'{name}/ide-mcp{extension}']
    Run(unpack, 'the archive cannot be unpacked: ', Fail, Put)
  }
  mkdir(work, 'p', 0o700)
  const fetch = ['curl', '--fail', '--silent', '--show-error', '--location', '--connect-timeout', '30', '--speed-limit', '1',
    '--speed-time', '60', '--max-filesize', '67108864', '--output', archive,
    $'{mine.base}/{name}.{has("win32") ? "zip" : "tar.gz"}']
  Run(fetch, 'try again, the download failed: ', Fail, (_) => Run(SumOf(archive), '', Fail, Check))
enddef

# Returns the path of a new program that was not run yet.
const New = (): string => $'{folder}/bin/new-{getpid()}{extension}'

# Returns the path of a program that was replaced while it ran.
const Old = (): string => $'{folder}/bin/old-{getpid()}{extension}'

# Returns why nothing can be fetched, or an empty string.
def Refusal(mine: dict<any>): string
  const other = exepath('ide-mcp')
  if !has_key(mine, 'base')
    return other == '' ? 'this plugin is not from a release: put ide-mcp in PATH (:help ide-mcp-program)'
      : 'nothing to install: PATH has ' .. fnamemodify(other, ':~')
  endif
  if is_installing | return 'the program is already being fetched' | endif
  for tool in ['curl', 'tar']
    if !executable(tool) | return $'install {tool} first, or put ide-mcp in PATH' | endif
  endfor
  const is_there = has_key(mine.sums, Target())
  return is_there ? '' : 'run cargo install ide-mcp-cli: the release has no program for ' .. Target()
enddef

# Fetches the program of this version, and then calls `Done` with a message for the person.
export def Install(Done: func(string))
  const [mine, work] = [Release(), tempname()]
  const refusal = Refusal(mine)
  if refusal != '' | ui.Warn(refusal) | return | endif
  const End = () => {
    is_installing = false
    delete(work, 'rf')
    delete(New())
    # Removes programs that were replaced earlier. Windows keeps one that still runs; it is removed the next time.
    const bin = $'{folder}/bin'
    for name in isdirectory(bin) ? readdir(bin, (name) => name =~ '^old-') : [] | delete($'{bin}/{name}') | endfor
  }
  const Fail = (problem: string) => {
    End()
    for empty in [$'{folder}/bin', folder] | delete(empty, 'd') | endfor
    ui.Warn('not installed: ' .. problem)
  }
  is_installing = true
  ui.Say('fetching ide-mcp ' .. mine.version)
  try
    Fetch(mine, work, Fail, () => {
      End()
      const other = exepath('ide-mcp')
      Done($'installed {mine.version} in {fnamemodify(path, ":~:h")}'
        .. (other == '' ? '' : $', but {fnamemodify(other, ":~")} is in PATH, and goes first'))
    })
  catch
    Fail(v:exception)
  endtry
enddef

# Removes what Install() has fetched.
export def Uninstall()
  if !isdirectory(folder) | ui.Warn('nothing was installed by :IdeMcp install') | return | endif
  if delete(folder, 'rf') == 0 | ui.Say('removed ' .. folder) | else | ui.Warn(folder .. ' cannot be removed') | endif
enddef
