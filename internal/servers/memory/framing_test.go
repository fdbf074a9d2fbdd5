package memory

import (
	"testing"

	"pgregory.net/rapid"
)

// Law: however what is asked is cut into pieces, a command ends in the piece that has its last
// byte.
func TestCommandsAreToldApart(t *testing.T) {
	commands := []string{
		"*1\r\n$4\r\nPING\r\n",
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n",
		"*2\r\n$4\r\nECHO\r\n$8\r\n*1\r\n$1\r\n\r\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		text, ends := "", map[int]bool{}
		for _, c := range rapid.SliceOfN(rapid.SampledFrom(commands), 1, 10).Draw(t, "commands") {
			text += c
			ends[len(text)] = true
		}
		var f framing
		for from := 0; from < len(text); {
			to := rapid.IntRange(from+1, len(text)).Draw(t, "end of a piece")
			want := 0
			for at := from + 1; at <= to; at++ {
				if ends[at] {
					want++
				}
			}
			if got := f.ends([]byte(text[from:to])); got != want {
				t.Fatalf("%q of %q ends %d commands, want %d", text[from:to], text, got, want)
			}
			from = to
		}
	})
}
