package checker

import "fmt"

// Verdict is the result for one property of one history.
type Verdict uint8

// The verdicts.
const (
	// Holds: the history shows the property.
	Holds Verdict = iota + 1
	// Violated: the history breaks it.
	Violated
	// Unknown: the history is incomplete, or the search took too long. It never counts as
	// a pass.
	Unknown
	// NotApplicable: the history has nothing that the property is about.
	NotApplicable
)

var verdictNames = [...]string{Holds: "holds", Violated: "violated", Unknown: "unknown", NotApplicable: "n/a"}

func (v Verdict) valid() bool { return v >= Holds && int(v) < len(verdictNames) }

func (v Verdict) String() string {
	if !v.valid() {
		return fmt.Sprintf("Verdict(%d)", uint8(v))
	}
	return verdictNames[v]
}

// MarshalText prints the verdict by name.
func (v Verdict) MarshalText() ([]byte, error) {
	if !v.valid() {
		return nil, fmt.Errorf("checker: no verdict %d", uint8(v))
	}
	return []byte(verdictNames[v]), nil
}

// UnmarshalText reads a verdict by name.
func (v *Verdict) UnmarshalText(text []byte) error {
	for c := Holds; c.valid(); c++ {
		if verdictNames[c] == string(text) {
			*v = c
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q: want holds, violated, unknown or n/a", text)
}
