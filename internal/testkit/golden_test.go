package testkit

import "testing"

// Law: of two texts that differ the first line that does is told, and of those that do
// not nothing.
func TestTheFirstLineThatDiffersIsTold(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"a\nb\n", "a\nb\n", ""},
		{"", "", ""},
		{"a\nb\nc\n", "a\nB\nC\n", "line 2:\nwas  b\nis   B"},
		{"a\n", "a\nb\n", "line 2:\nwas  \nis   b"},
		{"a\nb", "a", "line 2:\nwas  b\nis   (nothing: the text ends before)"},
	} {
		if got := FirstDifference(c.was, c.is); got != c.want {
			t.Errorf("of %q and %q is told\n%s\nwant\n%s", c.was, c.is, got, c.want)
		}
	}
}
