package textfmt

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 tries": Count(0, "try"), "1 try": Count(1, "try"), "2 tries": Count(2, "try"),
		"3 grants": Count(3, "grant"), "4 accesses": Count(4, "access"), "5 keys": Count(5, "key"),
		"2.5 tries a grant": Ratio(10, 4, "tries a grant"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 224995: "224,995", -123456: "-123,456", 1234567: "1,234,567"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for _, v := range []struct {
		all  []string
		want string
	}{{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a and b"}, {[]string{"a", "b", "c"}, "a, b and c"}} {
		if got := List(v.all); got != v.want {
			t.Errorf("%q: %q, want %q", v.all, got, v.want)
		}
	}
}

func TestWhole(t *testing.T) {
	for _, want := range []string{"0s", "-5s", "1ns", "10s", "1m10s", "5m", "10m", "20m10s", "1h", "10h", "1h10m", "1h0m10s", "30h20m"} {
		d, err := time.ParseDuration(want)
		if got := Whole(d); err != nil || got != want {
			t.Errorf("%q, want %q (%v)", got, want, err)
		}
	}
}

func TestDurationHasThreeDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 7: "7ns", 1234567: "1.23ms", 2 * time.Millisecond: "2ms", 1234 * time.Millisecond: "1.23s",
		1005 * time.Second: "16m45s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}

func TestToken(t *testing.T) {
	for token, want := range map[string]string{
		"":                     "",
		"0123456789abcdef0123": "01234567",
		"0123456789abcde":      "0123456789abcde",
		"svc-payments-00020":   "svc-payments-00020",
		"äöü-äöü-äöü-äöü-äöü-äöü-äöü": "äöü-äöü-…-äöü-äöü",
		"\x1b[31mevil\"":                `\x1b[31mevil\"`,
		"<script>alert(1)</script></p>": "<script>…ipt></p>",
	} {
		if got := Token(token); got != want {
			t.Errorf("%q: got %s, want %s", token, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       {""},
		"one two three":          {"one two", "three"},
		"one twoo three":         {"one twoo", "three"},
		"incomprehensible words": {"incomprehensible", "words"},
		"so incomprehensible":    {"so", "incomprehensible"},
	} {
		if got := Lines(text, 8); !slices.Equal(got, want) {
			t.Errorf("%q in lines of 8: %q, want %q", text, got, want)
		}
	}
}

// A name that has no room on a line is cut in its middle.
func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"invoice-7":             "invoice-7",
		strings.Repeat("ä", 64): strings.Repeat("ä", 64),
		strings.Repeat("a", 9_990) + "0123456789": strings.Repeat("a", 40) + "…aaaaaa0123456789",
	} {
		if got := Name(name); got != want {
			t.Errorf("a name of %d bytes is %q, want %q", len(name), got, want)
		}
	}
}

// What a terminal shows stays; what it obeys, or cannot show, is escaped.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"a b\tc\n✓ … 10⁹":           "a b\tc\n✓ … 10⁹",
		"\x1b[31mred\x1b[0m":        `\x1b[31mred\x1b[0m`,
		"over\rwritten\b":           `over\rwritten\b`,
		"\u202eleft \u200b\u009b2J": `\u202eleft \u200b\u009b2J`,
		"\xff\xc3(":                 `\xff\xc3(`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
	}
}
