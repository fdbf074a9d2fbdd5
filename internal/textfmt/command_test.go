package textfmt

import (
	"os/exec"
	"strings"
	"testing"
)

func TestCommand(t *testing.T) {
	for want, args := range map[string][]string{
		"lockstorm replay runs/crash-restart-sim-1": {"replay", "runs/crash-restart-sim-1"},
		"lockstorm replay 'my runs/1'":              {"replay", "my runs/1"},
		`lockstorm check 'it'\''s.jsonl' ''`:        {"check", "it's.jsonl", ""},
		"lockstorm check läufe/1":                   {"check", "läufe/1"},
	} {
		got := Command(args...)
		if got != want || !IsCommand(got) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A shell has the word as it was.
func TestShellsTakeQuotedWords(t *testing.T) {
	for _, word := range []string{"plain", "a b", "it's", "$HOME", "`id`", "a\"b", "a\\b", "*", "~", "#x", "a;b|c&d", "a\nb", "", "{1,2}", "!x"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quoted(word)).Output()
		if got := string(out); err != nil || got != word {
			t.Errorf("%s: a shell takes it for %q, %v", strings.TrimSpace(Quoted(word)), got, err)
		}
	}
}
