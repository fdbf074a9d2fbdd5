package textfmt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Count prints a number of things, as in "1 try" and "0 tries".
func Count(n int, thing string) string { return fmt.Sprintf("%d %s", n, Plural(n, thing)) }

// Plural names one thing, or so many of them.
func Plural(n int, thing string) string {
	switch {
	case n == 1:
		return thing
	case strings.HasSuffix(thing, "ss"):
		return thing + "es"
	case strings.HasSuffix(thing, "y") && !strings.HasSuffix(thing, "ey"):
		return strings.TrimSuffix(thing, "y") + "ies"
	}
	return thing + "s"
}

// Grouped prints a number as in "224,995".
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// List is a list as in "a, b and c".
func List(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// Duration prints a duration to three digits or so.
func Duration(d time.Duration) string {
	for unit := time.Second; unit > 1; unit /= 10 {
		if d >= 100*unit {
			return Whole(d.Round(unit))
		}
	}
	return Whole(d)
}

// Instant prints an instant of a run, to four digits or so.
func Instant[T ~int64](at T) string { return FourDigits(time.Duration(at)) }

// FourDigits prints a duration to four digits or so.
func FourDigits(d time.Duration) string {
	for unit := 10 * time.Millisecond; unit > 1; unit /= 10 {
		if d.Abs() >= 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.String()
}

// Whole prints a duration as a person writes it who gives one: "5m" and not "5m0s".
func Whole(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// Ratio prints how many things there are for each of others, to three digits, as in "2.5 tries" and
// "1 try". of is not 0.
func Ratio(n, of int, thing string) string {
	each := strconv.FormatFloat(float64(n)/float64(of), 'g', 3, 64)
	if each == "1" {
		return "1 " + thing
	}
	return each + " " + Plural(0, thing)
}

// Each prints how many there are for each of something, to two places, as in "2.50";
// a dash for each of nothing.
func Each(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(n)/float64(of))
}

// Token shortens a token to what a person compares: a random one, of 16 hexadecimal digits or more,
// to the first 8; another of more than 24 characters to its start and end. Characters that a
// terminal does not show are escaped.
func Token(token string) string {
	if len(token) >= 16 && strings.Trim(token, "0123456789abcdefABCDEF") == "" {
		return token[:8]
	}
	shown := token
	if runes := []rune(token); len(runes) > 24 {
		shown = string(runes[:8]) + "…" + string(runes[len(runes)-8:])
	}
	quoted := strconv.Quote(shown)
	return quoted[1 : len(quoted)-1]
}

// Name shortens a name of more than 64 characters to its start and end.
func Name(name string) string {
	const most, begin, end = 64, 40, 16
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	runes := []rune(name)
	return string(runes[:begin]) + "…" + string(runes[len(runes)-end:])
}

// Lines breaks a text between its words into lines of so many bytes at most. A word that
// is longer has a line of its own.
func Lines(text string, width int) []string {
	return LinesOf(text, width, func(text string) int { return len(text) })
}

// LinesOf breaks a text as [Lines] does, by a length of its parts that is measured
// otherwise than in bytes.
func LinesOf(text string, width int, length func(string) int) (list []string) {
	for length(text) > width {
		at := -1 // the last space up to which it fits, or else the first
		for i := 1; i < len(text); i++ {
			if text[i] != ' ' {
				continue
			}
			if length(text[:i]) > width && at > 0 {
				break
			}
			at = i
		}
		if at < 1 {
			break
		}
		list, text = append(list, text[:at]), text[at+1:]
	}
	return append(list, text)
}

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

// Sentence begins with a capital.
func Sentence(text string) string {
	r := slices.Clone([]byte(text))
	if len(r) > 0 && 'a' <= r[0] && r[0] <= 'z' {
		r[0] -= 'a' - 'A'
	}
	return string(r)
}

// Printable returns a text with escapes in place of characters that a terminal does not show, or obeys.
func Printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case unicode.IsGraphic(r), r == '\n', r == '\t':
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		text = text[size:]
	}
	return b.String()
}
