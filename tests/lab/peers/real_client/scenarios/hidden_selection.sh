# shellcheck shell=bash
# A selection in a secret file, in an ignored file or during a pause is not part of a prompt. The selection from before
# the pause comes back.
# Clients: claude-*
printf 'PASSWORD=persimmon\n' >"$project/.env"
printf 'quince of a build\n' >"$project/built.txt"
printf 'built.txt\n' >"$project/.gitignore"
start_editor
start_client_and_settle
for file in .env built.txt; do
    send_commands '{"cmd":"select","path":"b.txt","start":[0,0],"end":[0,7]}'
    expect_screen '1 line selected' 10
    send_commands "{\"cmd\":\"select\",\"path\":\"$file\",\"start\":[0,0],\"end\":[0,9]}"
    expect_event '"event":"hidden"' 10
    expect_not_on_screen '1 line selected' 10
    submit "what is in $file"
    expect_model "what is in $file"
done
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}'
expect_screen '1 line selected' 10
send_commands '{"cmd":"pause"}'
expect_event '"event":"paused"' 10
expect_not_on_screen '1 line selected' 10
submit 'and now'
expect_model 'and now'
expect_not_in_model marmalade
expect_not_in_model persimmon
expect_not_in_model PASSWORD
expect_not_in_model quince
send_commands '{"cmd":"resume"}'
expect_screen '1 line selected' 10
submit 'once more'
expect_model marmalade
