package scenarios

import (
	"errors"
	"reflect"
	"time"

	"github.com/lockstorm/lockstorm/internal/form"
)

// Limits bound measurements of all runs together. A measurement outside its limit contradicts the
// scenario, as an unexpected verdict does. If its 95 % interval contains the limit, the runs are
// too few to decide.
type Limits struct {
	// AcquireP50 is the bound of the median time of the tries that got the lock; of many runs, the median of
	// theirs.
	AcquireP50 *TimeLimit `yaml:"acquire_p50,omitempty"`

	// AcquireP99 is the bound of the 99th percentile of these times; of many runs, the median of theirs.
	AcquireP99 *TimeLimit `yaml:"acquire_p99,omitempty"`

	// Availability is the bound of the share of the time in which a wanted resource was held.
	Availability *ShareLimit `yaml:"availability,omitempty"`

	// LongestOutage is the bound of the longest time of any run in which a resource was wanted but neither
	// held nor granted.
	LongestOutage *TimeLimit `yaml:"longest_outage,omitempty"`

	// LongestWait is the bound of the longest time of any run for which a client tried.
	LongestWait *TimeLimit `yaml:"longest_wait,omitempty"`

	// LostUpdateShare is the bound of the share of the updates of guarded resources that were lost.
	LostUpdateShare *ShareLimit `yaml:"lost_update_share,omitempty"`

	// ForgottenGrantShare is the bound of the share of the acknowledged grants whose entry a new leader
	// of the store did not have.
	ForgottenGrantShare *ShareLimit `yaml:"forgotten_grant_share,omitempty"`
}

// TimeLimit is the bounds of a duration. 0 means no bound.
type TimeLimit struct {
	// Min is the shortest allowed duration.
	Min time.Duration `yaml:"min,omitempty" want:"0s.."`

	// Max is the longest allowed duration.
	Max time.Duration `yaml:"max,omitempty" want:"0s.."`
}

// ShareLimit is the bounds of a share. 0 means no bound.
type ShareLimit struct {
	// Min is the smallest allowed share.
	Min float64 `yaml:"min,omitempty" want:"0..1"`

	// Max is the largest allowed share.
	Max float64 `yaml:"max,omitempty" want:"0..1"`
}

// Consistent returns an error for a limit without bounds, or whose max is below its min.
func (l TimeLimit) Consistent() error { return consistent(l.Min, l.Max) }

// Consistent returns an error for a limit without bounds, or whose max is below its min.
func (l ShareLimit) Consistent() error { return consistent(l.Min, l.Max) }

func consistent[T float64 | time.Duration](least, most T) error {
	switch {
	case least == 0 && most == 0:
		return errors.New("want min, max or both, above 0")
	case most > 0 && most < least:
		return errors.New("max is below min")
	}
	return nil
}

// NamedLimit is a limit of the measurement with this name in JSON. Min and Max are in its unit,
// nanoseconds for durations; 0 means no bound.
type NamedLimit struct {
	Name     string
	Min, Max float64
}

// List returns the limits that are stated.
func (l Limits) List() (list []NamedLimit) {
	v := reflect.ValueOf(l)
	for _, f := range form.Fields(v.Type()) {
		switch limit := v.FieldByIndex(f.Index).Interface().(type) {
		case *TimeLimit:
			if limit != nil {
				list = append(list, NamedLimit{f.Name, float64(limit.Min), float64(limit.Max)})
			}
		case *ShareLimit:
			if limit != nil {
				list = append(list, NamedLimit{f.Name, limit.Min, limit.Max})
			}
		}
	}
	return list
}
