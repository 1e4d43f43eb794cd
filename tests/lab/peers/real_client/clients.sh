# shellcheck shell=bash
# What differs between the clients: package, program, configuration. Sourced by real_client.sh and driver.sh. A client
# is named by its program and version, such as claude-2.1.332.

# Prints the npm package of the client $1.
client_package() {
    case $1 in
        claude-*) printf '@anthropic-ai/claude-code@%s\n' "${1#claude-}" ;;
        opencode-*) printf 'opencode-ai@%s\n' "${1#opencode-}" ;;
        # There is a package for each kind of machine, with its own versions.
        kilo-*) printf '@kilocode/cli-%s@%s\n' "$(node -p 'process.platform + "-" + process.arch')" "${1#kilo-}" ;;
    esac
}

# Sets `program` to the command of client $1, which is installed in folder $2. Install scripts of packages are not run,
# so this is the native program for this processor if the package has one. Returns 1 if the package has no program for
# this machine.
client_program() {
    local modules=$2/node_modules kind arch candidate
    kind=$(node -p process.platform)
    arch=$(node -p process.arch)
    for candidate in "$modules/@anthropic-ai/claude-code-$kind-$arch/claude" \
        "$modules/opencode-$kind-$arch-baseline/bin/opencode" "$modules/opencode-$kind-$arch/bin/opencode" \
        "$modules/@kilocode/cli-$kind-$arch/bin/kilo"; do
        if [ -x "$candidate" ]; then
            program=("$candidate")
            return
        fi
    done
    program=(node "$modules/@anthropic-ai/claude-code/cli.js")
    [ -e "${program[1]}" ]
}

# Configures client $1 below the empty home $2, for project $3 and the model API at port $4. Adds the client's
# arguments to `program`, and its variables to `environment`.
configure_client() {
    local client=$1 home=$2 project=$3 api=$4
    case $client in
        claude-*) configure_claude ;;
        opencode-*) configure_opencode opencode ;;
        # Kilo Code is a fork of opencode.
        kilo-*) configure_opencode kilo ;;
    esac
}

# Makes Claude Code start without questions: onboarding is over, the folder is trusted, and the key is approved, by its
# last 20 characters.
configure_claude() {
    local key=sk-ant-api03-stand-in-for-a-key-that-opens-nothing
    mkdir -p "$home/.claude"
    cat >"$home/.claude.json" <<JSON
{
    "hasCompletedOnboarding": true,
    "lastOnboardingVersion": "${client#claude-}",
    "theme": "dark",
    "customApiKeyResponses": {"approved": ["${key: -20}"], "rejected": []},
    "projects": {
        "$project": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []}
    }
}
JSON
    environment+=("ANTHROPIC_API_KEY=$key" "ANTHROPIC_BASE_URL=http://127.0.0.1:$api" DISABLE_AUTOUPDATER=1
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1)
    program+=(--ide)
    # Version 2 begins in auto mode, which proposes no diff.
    [[ $client == claude-1.* || $begins_in_auto_mode == true ]] || program+=(--permission-mode default)
}

# Configures opencode, or the fork of it with the name $1.
configure_opencode() {
    mkdir -p "$home/.config/$1"
    cat >"$home/.config/$1/$1.json" <<JSON
{
    "autoupdate": false,
    "share": "disabled",
    "model": "stand-in/model",
    "small_model": "stand-in/model",
    "provider": {
        "stand-in": {
            "npm": "@ai-sdk/anthropic",
            "name": "Stand-in",
            "options": {"baseURL": "http://127.0.0.1:$api/v1", "apiKey": "opens nothing"},
            "models": {"model": {"name": "Model"}}
        }
    }
}
JSON
    environment+=(OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1)
}
