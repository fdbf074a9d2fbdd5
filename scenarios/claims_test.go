package scenarios

import (
	"strings"
	"testing"
)

// Every claim has a source with an address.
func TestSourcesOfClaims(t *testing.T) {
	check := func(of string, claims []Claim) {
		for _, c := range claims {
			if !strings.HasPrefix(c.Link(), "http") {
				t.Errorf("%s: %s has no address", of, c.Article())
			}
		}
	}
	for _, s := range AllSeries() {
		check(s.Name+" (series)", s.Claims)
	}
	for _, topic := range Topics() {
		for _, r := range topic.Rows {
			check(r.Name, r.Claims)
		}
	}
	for _, c := range Contenders() {
		check(c.Name, c.Claims)
	}
	for _, u := range UntestedClaims() {
		check("untested", []Claim{u.Claim})
	}
}

// A voice of several authors names each, with the year of what is not of today, and the same words once.
func TestVoices(t *testing.T) {
	voices := Voices([]Claim{
		{By: "redis.io", When: 2026, Says: "safe"}, {By: "Kleppmann", When: 2016, Says: "unsafe"}, {By: "valkey.io", When: 2026, Says: "safe"},
		{By: "Kleppmann", When: 2016, Says: "unsafe"}, {By: "Chubby", When: 2006, Says: "a delay suffices"}, {By: "Kleppmann", When: 2016, Says: "not with fences"},
	})
	for i, want := range []string{"unsafe; not with fences", "", "safe (redis.io, valkey.io); a delay suffices (Chubby 2006)"} {
		if got := voices[i].Says(); got != want {
			t.Errorf("%s: %q, want %q", voices[i].Name, got, want)
		}
	}
	if got := (Claim{By: "a/b.c#12"}).Link(); got != "https://github.com/a/b.c/issues/12" {
		t.Errorf("the issue is at %s", got)
	}
}
