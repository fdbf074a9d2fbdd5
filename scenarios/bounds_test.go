package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/scenarios"
)

// Sizes that take memory before a run begins are bounded, and the error names the field.
func TestSizesAreBounded(t *testing.T) {
	for want, change := range map[string]func(*scenarios.Scenario){
		"clients: 10001 of them: want up to 10000":                                                  func(s *scenarios.Scenario) { s.Clients = slices.Repeat(s.Clients[:1], 10_001) },
		"clients[0].resource: 257 bytes: want up to 256, for it stands in every event of a history": func(s *scenarios.Scenario) { s.Clients[0].Resource = strings.Repeat("r", 257) },
		"clients[0].resources: 100001: want 0 to 100000":                                            func(s *scenarios.Scenario) { s.Clients[0].Resources = 100_001 },
		"clients[2].resources: 300000 resources in all: want up to 262144": func(s *scenarios.Scenario) {
			s.Clients = slices.Repeat(s.Clients[:1], 3)
			for i := range s.Clients {
				s.Clients[i].Resource, s.Clients[i].Resources = strings.Repeat("r", i+1), 100_000
			}
		},
		"": func(s *scenarios.Scenario) {
			s.Clients = slices.Repeat(s.Clients[:1], 10_000)
			for i := range s.Clients {
				s.Clients[i].Resources = 100_000 // all the same
			}
		},
	} {
		s, err := scenarios.Find("calm")
		if err != nil {
			t.Fatal(err)
		}
		s.Clients = slices.Clone(s.Clients)
		change(&s)
		got := ""
		if err := s.Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
