package plots

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Names of curves are keys of stored results, so a picture translates them.

// plainWords are attributes of curves in plain words.
var plainWords = map[string]string{
	"plain":        "not extended",
	"aof-everysec": "AOF synced every second",
	"aof-always":   "AOF always synced",
}

var (
	failing = regexp.MustCompile(`^(\d+|n) (crash|lose power)$`)
	varied  = regexp.MustCompile(`^(\S+)=[n.]+(?:[a-zµ]+)?$`)

	numbers = []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
)

// inWords puts the attributes of a curve, or of a picture's curves, into plain words: "aof-always,
// 1 lose power" becomes "AOF always synced, one node loses power".
func inWords(name string) string {
	parts := strings.Split(name, attribute)
	for i, p := range parts {
		if words, known := plainWords[p]; known {
			parts[i] = words
		}
		if m := failing.FindStringSubmatch(p); m != nil {
			parts[i] = failures(m[1], m[2])
		}
		if m := varied.FindStringSubmatch(p); m != nil {
			parts[i] = "by " + m[1]
		}
	}
	return strings.Join(parts, attribute)
}

func failures(count, what string) string {
	n, err := strconv.Atoi(count)
	switch {
	case err != nil:
		return "by how many nodes " + what
	case n == 1 && what == "crash":
		return "one node crashes"
	case n == 1:
		return "one node loses power"
	case n < len(numbers):
		count = numbers[n]
	}
	return count + " nodes " + what
}

// mostLetters is the length of a name that is measured to fit it. A longer one never fits.
const mostLetters = 200

// fitted cuts a text that is wider than it may be.
func fitted(s text.Style, words string, width vg.Length) string {
	runes := []rune(words)
	runes = runes[:min(len(runes), mostLetters)]
	for cut := len(runes) < utf8.RuneCountInString(words); cut || s.Width(words) > width; cut = false {
		if len(runes) == 0 {
			break
		}
		runes = runes[:len(runes)-1]
		words = string(runes) + "…"
	}
	return words
}
