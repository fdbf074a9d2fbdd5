package nemesis

import "github.com/lockstorm/lockstorm/internal/form"

// FieldError is a value of a setting or plan that cannot be. Path leads to it, as in
// "plan[2].crash.node".
type FieldError = form.FieldError

// MaxDuration is the longest duration, positive or negative, that a setting or plan can name.
const MaxDuration = form.MaxDuration

// field puts one more step in front of the path to a wrong value.
func field(name string, err error) error { return form.In(name, err) }
