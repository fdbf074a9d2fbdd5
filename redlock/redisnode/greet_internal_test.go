package redisnode

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawReply draws a reply in Redis' second protocol.
func drawReply(t *rapid.T, depth int) string {
	word := rapid.StringMatching(`[a-z]{0,9}`)
	kinds := []string{"+", "-", ":", "$", "null", "*"}
	if depth == 0 {
		kinds = kinds[:5]
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "$":
		text := rapid.StringN(0, 20, 40).Draw(t, "text")
		return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
	case "null":
		return "$-1\r\n"
	case "*":
		n := rapid.IntRange(0, 4).Draw(t, "length")
		var b strings.Builder
		fmt.Fprintf(&b, "*%d\r\n", n)
		for range n {
			b.WriteString(drawReply(t, depth-1))
		}
		return b.String()
	default:
		return kind + word.Draw(t, "word") + "\r\n"
	}
}

// A reply is read as it came, and nothing of what comes behind it.
func TestOneReplyIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := drawReply(t, 2), drawReply(t, 2)
		r := bufio.NewReader(strings.NewReader(first + second))
		for _, want := range []string{first, second} {
			got, err := readReply(r, nil)
			if err != nil || string(got) != want {
				t.Fatalf("got %q, %v, want %q", got, err, want)
			}
		}
	})
}

func TestWhatIsNoReply(t *testing.T) {
	for _, text := range []string{
		"", "+OK", "HTTP/1.1 400 Bad Request\r\n", "\r\n", "$x\r\n", "*99999999\r\n", "$5\r\nab\r\n", "*2\r\n+OK\r\n",
	} {
		if got, err := readReply(bufio.NewReader(strings.NewReader(text)), nil); err == nil {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}
