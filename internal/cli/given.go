package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// givenWords returns the flags that were given on the command line as words that give them again, for
// which keep returns true.
func givenWords(set *pflag.FlagSet, keep func(name string) bool) (words []string) {
	set.Visit(func(f *pflag.Flag) {
		if !keep(f.Name) {
			return
		}
		for _, value := range flagValues(f) {
			switch {
			case f.Value.Type() != "bool":
				words = append(words, "--"+f.Name, value)
			case value == "true":
				words = append(words, "--"+f.Name)
			default:
				words = append(words, "--"+f.Name+"="+value)
			}
		}
	})
	return words
}

// flagValues returns the values to give a flag, one after another. A list prints itself between brackets,
// which it does not accept.
func flagValues(f *pflag.Flag) []string {
	text := f.Value.String()
	switch f.Value.Type() {
	case "stringArray":
		return f.Value.(pflag.SliceValue).GetSlice()
	case "stringSlice":
		text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	}
	return []string{text}
}

// isEmptyList reports whether a list was given with nothing in it.
func isEmptyList(set *pflag.FlagSet, name string) bool {
	list, is := set.Lookup(name).Value.(pflag.SliceValue)
	return is && set.Changed(name) && len(list.GetSlice()) == 0
}

// but returns a function for [givenWords] that keeps all flags except these.
func but(names ...string) func(name string) bool {
	return func(name string) bool { return !slices.Contains(names, name) }
}

// tail returns words as they stand behind others in a command line.
func tail(words []string) (text string) {
	for _, w := range words {
		text += " " + textfmt.Quoted(w)
	}
	return text
}
