package textfmt

import "strings"

// own is the command that other commands of ours begin with.
const own = "lockstorm "

// Command is a command line of ours, of words that a shell takes as they are.
func Command(args ...string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(own))
	for _, a := range args {
		b.WriteString(" " + Quoted(a))
	}
	return b.String()
}

// IsCommand reports whether a text is a command that people copy, which no line may break:
// what a terminal itself breaks is copied whole.
func IsCommand(text string) bool { return strings.HasPrefix(text, own) }

// Quoted is a word as a shell takes it for one: what a shell would part, or read something
// else into, stands in quotes.
func Quoted(word string) string {
	if word != "" && strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// special reports whether a character may mean something to a shell.
func special(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r >= 0xA0:
		return false
	}
	return !strings.ContainsRune("_@%+=:,./-", r)
}
