# shellcheck shell=bash
# The client shows a form of the editor in the terminal, and the answer of the person comes back, the
# second time too.
# Clients: claude-2.*
start_editor
start_client_and_settle
for suite in failed all; do
    send_commands '{"cmd":"form","form":{"message":"Which tests should run?","requestedSchema":{"type":"object","properties":{"suite":{"type":"string","title":"Suite","enum":["all","failed"]},"note":{"type":"string","title":"Note"}},"required":["suite"]}}}'
    expect_screen 'Which tests should run\?' 10
    expect_screen '❯ \* Suite: .*not set' 10
    # The client ignores keys in the first moments of a form.
    sleep 1
    press Right
    expect_screen '❯ ◯ all' 10
    [ "$suite" = all ] || press Down
    expect_screen "❯ ◯ $suite" 10
    press Enter
    expect_screen "✔ Suite: $suite" 10
    expect_screen '❯ +Note: Type something' 10
    note_and_accept quince
    expect_event "\"event\":\"form_answer\".*\"action\":\"accept\",\"content\":\{\"note\":\"quince\",\"suite\":\"$suite\"\}" 10
    expect_not_on_screen 'Which tests should run' 10
done
