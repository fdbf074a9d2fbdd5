package textfmt

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestValues(t *testing.T) {
	long := strings.Repeat("a", 9_990) + "0123456789"
	for _, c := range []struct{ got, want string }{
		{Count(0, "try"), "0 tries"}, {Count(1, "try"), "1 try"}, {Count(3, "grant"), "3 grants"}, {Count(4, "access"), "4 accesses"}, {Count(5, "key"), "5 keys"},
		{Ratio(10, 4, "try"), "2.5 tries"}, {Ratio(4, 4, "try"), "1 try"},
		{Grouped(0), "0"}, {Grouped(999), "999"}, {Grouped(1000), "1,000"}, {Grouped(-123456), "-123,456"}, {Grouped(1234567), "1,234,567"},
		{List(nil), ""}, {List([]string{"a"}), "a"}, {List([]string{"a", "b", "c"}), "a, b and c"},
		{Duration(0), "0s"}, {Duration(7), "7ns"}, {Duration(1234567), "1.23ms"}, {Duration(1234 * time.Millisecond), "1.23s"}, {Duration(1005 * time.Second), "16m45s"},
		{Token(""), ""}, {Token("0123456789abcdef0123"), "01234567"}, {Token("0123456789abcde"), "0123456789abcde"}, {Token("svc-payments-00020"), "svc-payments-00020"},
		{Token("äöü-äöü-äöü-äöü-äöü-äöü-äöü"), "äöü-äöü-…-äöü-äöü"}, {Token("\x1b[31mevil\""), `\x1b[31mevil\"`},
		{Name("invoice-7"), "invoice-7"}, {Name(strings.Repeat("ä", 64)), strings.Repeat("ä", 64)}, {Name(long), strings.Repeat("a", 40) + "…aaaaaa0123456789"},
		// What a terminal shows stays; what it obeys, or cannot show, is escaped.
		{Printable("a b\tc\n✓ … 10⁹"), "a b\tc\n✓ … 10⁹"}, {Printable("\x1b[31mred\x1b[0m"), `\x1b[31mred\x1b[0m`}, {Printable("over\rwritten\b"), `over\rwritten\b`},
		{Printable("\u202eleft \u200b\u009b2J"), `\u202eleft \u200b\u009b2J`}, {Printable("\xff\xc3("), `\xff\xc3(`},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
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
