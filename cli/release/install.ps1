# Installs ide-mcp @VERSION@ for you alone, in %LOCALAPPDATA%\Programs\ide-mcp, and adds that folder to your PATH. It
# checks the archive against the sum in this script, and never needs an administrator.
#
#   powershell -ExecutionPolicy Bypass -File install.ps1               installs
#   powershell -ExecutionPolicy Bypass -File install.ps1 -Uninstall    removes what it installed
param([switch] $Uninstall, [string] $From = '@BASE@', [string] $Into = "$env:LOCALAPPDATA\Programs\ide-mcp")

$ErrorActionPreference = 'Stop'
# The progress bar of Windows PowerShell makes a download many times slower.
$ProgressPreference = 'SilentlyContinue'
$version = '@VERSION@'
$sums = @'
@SUMS@
'@

# The folder is named in PATH, so it must be a whole path.
$Into = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Into).TrimEnd('\')

# The user's PATH as the registry has it, with its variables unexpanded.
$key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)
$folders = @("$($key.GetValue('Path', '', 'DoNotExpandEnvironmentNames'))" -split ';' | Where-Object { $_ -and $_ -ne $Into })

# Only this method tells running programs, such as the Explorer, that the variable has changed.
function Set-UserPath([string[]] $To) {
    $key.SetValue('Path', ($To -join ';'), 'ExpandString')
    [Environment]::SetEnvironmentVariable('IDE_MCP_INSTALLER', $null, 'User')
}

# What an archive contains. The last one has the sign of an installation, so that it is removed last. Everything else in
# the folder belongs to the user.
$ours = 'ide-mcp.exe', 'LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'man', 'completions'
$isOurs = Test-Path -LiteralPath "$Into\completions\ide-mcp.ps1"

if ($Uninstall) {
    if (-not $isOurs) { throw "ide-mcp: this script has installed nothing in $Into" }
    # Remove first what may be in use: if that fails, the rest stays, and this script can be run again.
    try {
        Get-ChildItem -LiteralPath $Into -Filter '*.old.exe' | Remove-Item -Force
        foreach ($name in $ours) {
            if (Test-Path -LiteralPath "$Into\$name") { Remove-Item -Recurse -Force -LiteralPath "$Into\$name" }
        }
    } catch {
        throw "ide-mcp: end the editors and agents that use it, and try again ($_)"
    }
    if (Get-ChildItem -Force -LiteralPath $Into) {
        Write-Host "ide-mcp: removed from $Into, where other files are left"
        return
    }
    Remove-Item -Force -LiteralPath $Into
    Set-UserPath $folders
    Write-Host "ide-mcp: removed from $Into"
    return
}

if ($version.StartsWith('@')) { throw 'ide-mcp: this is only the template: take the installer of a release' }
if (-not $isOurs -and (Get-ChildItem -Force -LiteralPath $Into -ErrorAction SilentlyContinue)) {
    throw "ide-mcp: $Into has other files in it: pass -Into FOLDER with a folder for ide-mcp alone"
}
if (-not $From) { throw 'ide-mcp: this release does not say where to download from: pass -From URL' }
# 64-bit programs for x86 also run on Windows for ARM.
$target = 'x86_64-pc-windows-gnu'
$sum = ($sums -split "`r?`n" | Where-Object { $_.EndsWith(" $target") }) -replace ' .*'
if (-not $sum) { throw "ide-mcp: this release has no program for $target; build it: cargo install ide-mcp-cli" }
$name = "ide-mcp-$version-$target"

$work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $work | Out-Null
try {
    Write-Host "ide-mcp: $From/$name.zip"
    # Windows PowerShell on an old system does not offer TLS 1.2 (3072) by itself.
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor 3072
    Invoke-WebRequest -UseBasicParsing -Uri "$From/$name.zip" -OutFile "$work\archive.zip"
    $found = (Get-FileHash -Algorithm SHA256 -LiteralPath "$work\archive.zip").Hash.ToLower()
    if ($found -ne $sum) {
        throw "ide-mcp: the download is not the archive of this release (SHA-256 $found, expected $sum): nothing was installed"
    }
    Expand-Archive -LiteralPath "$work\archive.zip" -DestinationPath $work
    New-Item -ItemType Directory -Force -Path $Into | Out-Null
    Get-ChildItem -LiteralPath "$work\$name" | Where-Object { $_.Name -ne 'ide-mcp.exe' } | Copy-Item -Recurse -Force -Destination $Into
    # The program comes last, so that a failure before it leaves the old program in place. Windows does not let us remove
    # a program that runs, but lets us rename it; then the next update removes it.
    if (Test-Path -LiteralPath "$Into\ide-mcp.exe") {
        Rename-Item -LiteralPath "$Into\ide-mcp.exe" -NewName "$([IO.Path]::GetRandomFileName()).old.exe"
    }
    Copy-Item -LiteralPath "$work\$name\ide-mcp.exe" -Destination $Into
    Get-ChildItem -LiteralPath $Into -Filter '*.old.exe' | Remove-Item -Force -ErrorAction SilentlyContinue
} finally {
    Remove-Item -Recurse -Force -LiteralPath $work
}
& "$Into\ide-mcp.exe" --version | Out-Null
if ($LASTEXITCODE -ne 0) { throw "ide-mcp: $Into\ide-mcp.exe is installed, but does not start" }
Set-UserPath ($folders + $Into)
$env:Path = "$env:Path;$Into"
Write-Host "ide-mcp: installed $version in $Into; try: ide-mcp demo"
