package aof

import (
	"testing"
	"time"
)

// A disk that has been stuck has what it had before, as far as that is remembered, and
// never less than what the server has read from it.
func TestLosePowerOfAStuckDisk(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		stuck time.Duration
		want  string
	}{{0, "0123"}, {500 * time.Millisecond, "012"}, {1500 * time.Millisecond, "01"}, {2500 * time.Millisecond, "0"}, {time.Hour, "0"}} {
		f, write := server(t)
		write("0")
		f.syncing, f.syncs = true, []length{{bytes: 1}}
		for i, text := range []string{"1", "2", "3"} {
			write(text)
			f.enterSync(now.Add(time.Duration(i-2) * time.Second))
		}
		write("4")
		must(t, f.CutUnsynced(now.Add(-c.stuck)))
		f.mustHold(t, c.want)
		must(t, f.LosePower(Loss{Stuck: 2 * time.Second}, func() bool { return true }))
		f.mustHold(t, c.want)
	}
}

// What is torn is behind all that was synced, and the next loss cuts it off.
func TestTornTail(t *testing.T) {
	f, write := server(t)
	write("synced,")
	f.syncing = true
	f.sync()
	write("not")
	must(t, f.LosePower(Loss{Torn: true}, func() bool { return true }))
	f.mustHold(t, "synced,"+torn)
	must(t, f.LosePower(Loss{Torn: true}, func() bool { return false })) // it is down
	f.mustHold(t, "synced,"+torn)
	must(t, f.LosePower(Loss{}, func() bool { return true }))
	f.mustHold(t, "synced,")
}
