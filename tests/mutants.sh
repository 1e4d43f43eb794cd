#!/usr/bin/env bash
# Changes the state machines, one small change at a time, and fails if the tests do not notice a change.
# .cargo/mutants.toml lists the changes that need not be noticed, with the reasons. Works on a copy in
# target/mutants, so the sources may be edited meanwhile.
#
# All modules take many hours on two cores, so the work is kept. tests/mutants.txt has a line for each
# module that has passed: the module, a digest of its files and of its row below, the commit, and the number
# of changes. Without arguments, the modules run whose digest is another; with arguments, these run in any
# case. A change of a test repeats no module. A run that was interrupted goes on where it ended.
# Run: tests/mutants.sh [MODULE…], with the first words of rows below.
set -euo pipefail
cd "$(dirname "$0")/.."

# Module, files below src or adapters, features, targets of the tests for the module, and names of tests
# if a selection saves time.
table='
frame       ws/frame.rs                    simd lib    ws::frame
utf8        ws/utf8.rs                     simd lib    ws::utf8
close       ws/close.rs                    std  lib    ws::close
head        ws/head.rs                     std  lib    ws::
request     ws/request.rs                  std  lib    ws::re
response    ws/response.rs                 std  lib    ws::re
receiver    ws/receiver.rs                 std  lib    ws::receiver
output      ws/output.rs                   mcp  lib,it ws
stream      ws/stream.rs                   mcp  lib,it ws
roles       ws/server.rs,ws/client.rs      mcp  lib,it ws
ws_rest     ws/event.rs,ws/limits.rs,ws/mask.rs,ws/message.rs,ws/protocol_error.rs,ws/send_error.rs,ws/sender.rs,ws/status.rs mcp lib,it ws
buf         buf.rs                         mcp  lib,it buf ws_ flow
time        time.rs,keepalive.rs           mcp  lib,it time keepalive ws_
message     rpc/message.rs                 mcp  lib    rpc::message
id          rpc/id.rs                      mcp  lib    rpc::
depth       rpc/depth.rs                   mcp  lib    rpc::depth
single_pass rpc/single_pass.rs,rpc/name.rs mcp  lib    rpc::
rpc_rest    rpc/code.rs,rpc/digest.rs,rpc/error.rs,rpc/handle.rs,rpc/invalid_message.rs,rpc/limits.rs,rpc/object.rs,rpc/refusal.rs,rpc/write.rs mcp lib,it rpc:: mcp_ errors
table       mcp/table.rs,mcp/sorted.rs     mcp  lib    mcp::
incoming    mcp/incoming/*.rs              mcp  lib,it mcp::incoming mcp_invariants mcp_scripts
outgoing    mcp/outgoing.rs                mcp  lib,it mcp::outgoing mcp_invariants mcp_scripts mcp_client
batch       mcp/batch.rs                   mcp  lib,it batch mcp_server
session     mcp/session.rs,mcp/inbound.rs,mcp/lines.rs,mcp/forward.rs mcp lib,it mcp
mcp_server  mcp/server/*.rs                mcp  lib,it mcp
mcp_client  mcp/client/*.rs,mcp/listing.rs mcp  lib,it mcp
context     mcp/context/*.rs,mcp/content.rs,mcp/root.rs,mcp/tools.rs,mcp/params.rs mcp lib,it mcp
form        mcp/form/*.rs                  mcp  lib,it mcp
mcp_rest    mcp/logging.rs,mcp/peer_fault.rs,mcp/progress.rs,mcp/timeout.rs,mcp/version.rs mcp lib,it mcp
arguments   ide/tool/arguments.rs          ide  lib    ide::
open_calls  ide/server/open_calls.rs       ide  lib,it open_calls ide_server host_privacy::direct
server      ide/server/mod.rs,ide/server/inbound.rs,ide/server/outbound.rs,ide/server/open_call.rs,ide/server/roots.rs ide lib,it ide_ host_ conformance
admission   ide/server/config.rs,ide/server/consent.rs,ide/server/expected_edits.rs,ide/server/peer.rs,ide/server/policy.rs,ide/server/quirks.rs ide lib,it ide_ host_ threats conformance
host        ide/host/mod.rs,ide/host/attached.rs,ide/host/connections.rs,ide/host/handle.rs,ide/host/wire.rs ide lib,it ide:: ide_ host_ turn
host_pushes ide/host/config.rs,ide/host/deadlines.rs,ide/host/debounce.rs,ide/host/mentions.rs,ide/host/pause.rs,ide/host/unauthenticated.rs ide lib,it ide:: ide_ host_
privacy     ide/host/edits.rs,ide/host/filter.rs,ide/host/secrets.rs ide lib,it ide:: ide_ host_
push        ide/push/*.rs,ide/pending.rs   ide  lib,it ide:: ide_ host_ conformance
ide_client  ide/client/*.rs                ide  lib,it ide:: ide_ conformance
lock_file   ide/discovery/lock_file/*.rs   ide  lib    ide::discovery
discovery   ide/discovery/client_env.rs,ide/discovery/launch_env.rs,ide/discovery/leftover.rs,ide/discovery/locate.rs,ide/discovery/matching/*.rs,ide/discovery/mcp_config.rs,ide/discovery/reconnect.rs,ide/discovery/token.rs ide lib,it ide::discovery threats conformance
paths       ide/paths/*.rs                 ide  lib    ide::paths
driver      adapters/driver/src/**/*.rs    -    lib
embed       adapters/embed/src/**/*.rs     -    lib,it
'

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-mutants >/dev/null || cargo install --quiet --locked --root "$tools" cargo-mutants@27.1.0

root=$PWD
known=$root/tests/mutants.txt
commit=$(git rev-parse --short=8 HEAD)
work=$root/${MUTANTS_DIR:-target/mutants}
export CARGO_TARGET_DIR=$work/build
rm -rf "$work/tree"
mkdir -p "$work/tree"
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from - | tar --extract --directory "$work/tree"
cd "$work/tree"
# The dependency exists only for its feature, which is requested below; without the dependency, each
# change builds the library once and not twice.
sed -i '/^ide-mcp = { path = "\.", features/d' Cargo.toml
shopt -s globstar

failed=()
mapfile -t rows < <(sed '/^$/d' <<<"$table")
for row in "${rows[@]}"; do
    read -r module files features targets filters <<<"$row"
    [ $# -eq 0 ] || [[ " $* " == *" $module "* ]] || continue
    changes=() digested=()
    IFS=, read -ra files <<<"$files"
    for file in "${files[@]}"; do
        [[ $file == adapters/* ]] || file=src/$file
        changes+=(--file "$file")
        # shellcheck disable=SC2206 # The file is a pattern.
        digested+=($file)
    done
    package=ide-mcp
    [[ ${files[0]} != adapters/* ]] || package=ide-mcp-$(cut -d / -f 2 <<<"${files[0]}")
    changes+=(--package "$package")
    digest=$(cat "${digested[@]}" - <<<"$row" | sha256sum | cut -c 1-16)
    if [ $# -eq 0 ] && passed=$(grep "^$module $digest " "$known"); then
        printf '%s has passed: %s\n' "$module" "$passed"
        continue
    fi
    printf '\n== %s\n' "$module"

    run=(cargo mutants --in-place --output "$work/$module" "${changes[@]}")
    [ "$features" = - ] || run+=(--no-default-features --features "testing,$features")
    # The changes that an interrupted run of these sources has done are not repeated.
    if [ "$(cat "$work/$module/digest" 2>/dev/null)" = "$digest" ]; then
        run+=(--iterate)
    else
        rm -rf "${work:?}/$module"
        mkdir -p "$work/$module"
        echo "$digest" >"$work/$module/digest"
    fi
    IFS=, read -ra targets <<<"$targets"
    for target in "${targets[@]}"; do
        if [ "$target" = lib ]; then run+=(--cargo-arg=--lib); else run+=("--cargo-arg=--test=$target"); fi
    done
    read -ra filters <<<"$filters"
    run+=(-- -- "${filters[@]}")
    status=0
    "${run[@]}" || status=$?
    case $status in
        # 3: some tests took more than five times their usual time; these changes count as noticed
        # too.
        0 | 2 | 3) ;;
        *) exit "$status" ;;
    esac
    if [ -s "$work/$module/mutants.out/missed.txt" ]; then
        failed+=("$module")
    else
        count=$(cargo mutants --list "${changes[@]}" | wc -l)
        touch "$known"
        sed -i "/^$module /d" "$known"
        printf '%s %s %s %s\n' "$module" "$digest" "$commit" "$count" >>"$known"
        sort --output "$known" "$known"
    fi
done
[ ${#failed[@]} -eq 0 ] || { printf '\nmissed in: %s\n' "${failed[*]}" >&2; exit 1; }
