package fuzz

import (
	"encoding/json"
	"fmt"
)

// storedNearMiss is a [NearMiss] as JSON: what was not measured is left out.
type storedNearMiss struct {
	Votes    *int64 `json:"votes,omitempty"`
	Gap      *int64 `json:"gap,omitempty"`      // nanoseconds
	Validity *int64 `json:"validity,omitempty"` // nanoseconds
}

// MarshalJSON writes what [NearMiss.UnmarshalJSON] reads.
func (n NearMiss) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedNearMiss{n.votes.stored(), n.gap.stored(), n.validity.stored()})
}

// UnmarshalJSON reads distances of at least 0. It returns an error for any other.
func (n *NearMiss) UnmarshalJSON(text []byte) error {
	var s storedNearMiss
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	for _, one := range []struct {
		name string
		from *int64
		to   *distance
	}{{"votes", s.Votes, &n.votes}, {"gap", s.Gap, &n.gap}, {"validity", s.Validity, &n.validity}} {
		*one.to = 0
		switch {
		case one.from == nil:
		case *one.from < 0 || *one.from >= unmeasured-1:
			return fmt.Errorf("near: %s of %d: want 0 to %d", one.name, *one.from, unmeasured-2)
		default:
			*one.to = distance(*one.from + 1)
		}
	}
	return nil
}

func (d distance) stored() *int64 {
	if d == 0 {
		return nil
	}
	return new(int64(d - 1))
}
