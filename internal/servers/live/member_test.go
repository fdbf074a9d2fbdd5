package live

import (
	"context"
	"testing"
	"time"
)

// A request that its caller cancels says nothing of its member. One whose time is over does.
func TestCanceledRequestsSayNothingOfTheirMember(t *testing.T) {
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errRunOver)
	late, end := context.WithTimeout(t.Context(), 0)
	defer end()
	late2, end2 := context.WithTimeout(canceled, time.Hour)
	defer end2()
	for name, c := range map[string]struct {
		ctx  context.Context
		want bool
	}{"none": {t.Context(), false}, "canceled": {canceled, true}, "late": {late, false}, "canceled before it is late": {late2, true}} {
		if got := Canceled(c.ctx); got != c.want {
			t.Errorf("%s: canceled %v, want %v", name, got, c.want)
		}
	}
}
