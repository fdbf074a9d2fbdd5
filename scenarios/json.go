package scenarios

import "github.com/lockstorm/lockstorm/internal/form"

// MarshalJSON writes the content of [Scenario.Print] as JSON, so that [Parse] can
// read it. Members are in alphabetical order.
func (s Scenario) MarshalJSON() ([]byte, error) { return form.JSON(s) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Scenario) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	*s = parsed
	return err
}

// Encoded is a scenario with its JSON, for callers that write the same scenario many times:
// encoding
// takes as long as a small run.
type Encoded struct {
	Scenario
	text []byte // nil: it is made when it is asked for
}

// Encoded returns the scenario with its JSON.
func (s Scenario) Encoded() (Encoded, error) {
	text, err := s.MarshalJSON()
	return Encoded{s, text}, err
}

// MarshalJSON is [Scenario.MarshalJSON].
func (e Encoded) MarshalJSON() ([]byte, error) {
	if e.text == nil {
		return e.Scenario.MarshalJSON()
	}
	return e.text, nil
}
