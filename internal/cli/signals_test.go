package cli

import (
	"os"
	"syscall"
	"testing"
)

// Law: the first signal ends the command's context. That under which it rounds off ends
// with it, but after Ctrl-C with the next signal, whichever.
func TestFirstAndSecondSignal(t *testing.T) {
	for _, c := range []struct {
		signals []os.Signal
		patient bool
	}{
		{[]os.Signal{os.Interrupt}, true},
		{[]os.Signal{os.Interrupt, os.Interrupt}, false},
		{[]os.Signal{os.Interrupt, syscall.SIGTERM}, false},
		{[]os.Signal{syscall.SIGTERM}, false},
	} {
		signals := make(chan os.Signal)
		ctx, stop := asked(t.Context(), signals)
		for _, s := range c.signals {
			if ctx.Err() != nil && patient(ctx).Err() != nil {
				t.Fatalf("%v: all has ended before the last signal", c.signals)
			}
			signals <- s
			<-ctx.Done()
		}
		if c.patient {
			want(t, "the context for rounding off", patient(ctx).Err(), nil)
			stop()
		}
		<-patient(ctx).Done()
	}
}
