package redisserver

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// A server that shows the time of the machine, whatever it is told, is found out.
func TestClockThatIsNotHeeded(t *testing.T) {
	c := NewFakeClock(filepath.Join(t.TempDir(), "clock"))
	if err := c.Load(); err != nil {
		t.Fatal(err)
	}
	if err := c.Settle(func() (time.Time, error) { return time.Now(), nil }); !errors.Is(err, ErrFakeTimeIgnored) {
		t.Errorf("got %v", err)
	}
	loaded := time.Now()
	if err := c.Settle(func() (time.Time, error) { return loaded.Add(-far), nil }); err != nil {
		t.Error(err)
	}
}
