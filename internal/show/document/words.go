package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word of more than mostLetters characters, such as the name of a lock, would fill the page. Of
// such a word the begin and the end are shown. Lines of code are shown whole.
const (
	mostLetters  = 160
	firstLetters = 100
	lastLetters  = 40
)

// Short cuts the words of a text that are too long for a line.
func Short(text string) string {
	if len(text) <= mostLetters {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		n := strings.IndexFunc(text, unicode.IsSpace)
		if n < 0 {
			n = len(text)
		}
		b.WriteString(shortWord(text[:n]))
		_, space := utf8.DecodeRuneInString(text[n:])
		b.WriteString(text[n : n+space])
		text = text[n+space:]
	}
	return b.String()
}

func shortWord(word string) string {
	if utf8.RuneCountInString(word) <= mostLetters {
		return word
	}
	runes := []rune(word)
	return string(runes[:firstLetters]) + "…" + string(runes[len(runes)-lastLetters:])
}
