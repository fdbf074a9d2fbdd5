package textfmt

import (
	"os/exec"
	"strings"
	"testing"
)

// A shell has the word as it was.
func TestShellsTakeQuotedWords(t *testing.T) {
	for _, word := range []string{"plain", "a b", "it's", "$HOME", "`id`", "a\"b", "a\\b", "*", "~", "#x", "a;b|c&d", "a\nb", "", "{1,2}", "!x"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quoted(word)).Output()
		if got := string(out); err != nil || got != word {
			t.Errorf("%s: a shell takes it for %q, %v", strings.TrimSpace(Quoted(word)), got, err)
		}
	}
	if got, want := Command("replay", "my runs/1", "läufe"), "lockstorm replay 'my runs/1' läufe"; got != want || !IsCommand(got) {
		t.Errorf("got %s, want %s", got, want)
	}
}
