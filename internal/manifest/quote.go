package manifest

import (
	"fmt"
	"strings"
)

// shellWord quotes text as one word of a POSIX shell. It leaves alone what needs no quotes.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,@%+", r)
	}
	if text != "" && strings.TrimFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// shellWords quotes words, and puts a blank between two of them.
func shellWords(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, shellWord(w))
	}
	return strings.Join(quoted, " ")
}

// yamlWord quotes text as a string of YAML, of printable ASCII in one line.
func yamlWord(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// literal doubles each dollar: Kubernetes and compose replace $(NAME), ${NAME} and $NAME in the words of
// a command, and take two dollars for one.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// yamlLiteral quotes text as a string in which nothing is replaced.
func yamlLiteral(text string) string { return yamlWord(literal(text)) }
