package aof

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// server returns a server's file, and a function that appends to it as the server does.
func server(t *testing.T) (f *File, write func(text string)) {
	t.Helper()
	f = In(t.TempDir())
	return f, func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(f.path()), 0o700); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(f.path(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *File) mustHold(t *testing.T, want string) {
	t.Helper()
	if got, _ := os.ReadFile(f.path()); string(got) != want {
		t.Errorf("the file has %q, want %q", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Writes after the last sync are lost. A second power loss takes nothing more.
func TestCutUnsynced(t *testing.T) {
	f, write := server(t)
	write("synced,")
	must(t, f.cutTo(f.onDisk(time.Now()))) // for nobody has said that it is not
	f.mustHold(t, "synced,")
	f.syncing = true
	f.recordSync()
	write("not")
	must(t, f.cutTo(f.onDisk(time.Now())))
	f.mustHold(t, "synced,")
	write("later,")
	must(t, f.cutTo(f.onDisk(time.Now())))
	f.mustHold(t, "synced,")
}

// A file can be restored to each state that it had, including the empty one, and then has a
// new journal.
func TestCutBack(t *testing.T) {
	for n, want := range []string{"", "a", "ab", "abc"} {
		f, write := server(t)
		before := []time.Time{time.Now()}
		for _, text := range []string{"a", "b", "c"} {
			write(text)
			f.recordSize()
			before = append(before, time.Now())
		}
		must(t, f.CutBack(before[n]))
		f.mustHold(t, want)
		must(t, f.Prepare(false)) // it starts with that
		f.mustHold(t, want)
		write("x")
		f.recordSize()
		must(t, f.CutBack(time.Now()))
		f.mustHold(t, want+"x")
	}
}

// Data that a power loss has taken does not come back as zeros, even if the journal has a
// time at which it was there.
func TestCutBackToWhatIsLost(t *testing.T) {
	f, write := server(t)
	write("synced,")
	f.syncing = true
	f.recordSync()
	write("not")
	f.recordSize()
	then := time.Now()
	must(t, f.cutTo(f.onDisk(time.Now())))
	must(t, f.CutBack(then))
	f.mustHold(t, "synced,")
}

// A start finds what the server keeps, and once what it was restored to.
func TestPrepare(t *testing.T) {
	f, write := server(t)
	must(t, f.Prepare(false)) // there is nothing yet
	write("a")
	must(t, f.Prepare(true))
	f.mustHold(t, "a")
	f.recordSize()
	must(t, f.CutBack(time.Now()))
	must(t, f.Prepare(false))
	f.mustHold(t, "a")
	must(t, f.Prepare(false))
	f.mustHold(t, "")
}

// Close ends a watch while it records files.
func TestWatchEnds(t *testing.T) {
	f, write := server(t)
	write("a")
	w := NewWatch()
	w.SyncFrom(f, time.Hour)
	w.SyncFrom(f, 0) // the first one counts
	w.Journal([]*File{f})
	write("b")
	w.Close()
	w.Close()
	if f.Synced() != 1 {
		t.Errorf("%d bytes are synced, want what was there when it was first asked", f.Synced())
	}
}

// A disk that has been stuck has an earlier state, as far as it is remembered, and never
// less than what the server has loaded from it.
func TestLosePowerOfAStuckDisk(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		stuck time.Duration
		want  string
	}{{0, "0123"}, {500 * time.Millisecond, "012"}, {1500 * time.Millisecond, "01"}, {2500 * time.Millisecond, "0"}, {time.Hour, "0"}} {
		f, write := server(t)
		write("0")
		f.syncing, f.syncs = true, []sizeAt{{bytes: 1}}
		for i, text := range []string{"1", "2", "3"} {
			write(text)
			f.addSync(now.Add(time.Duration(i-2) * time.Second))
		}
		write("4")
		must(t, f.cutTo(f.onDisk(now.Add(-c.stuck))))
		f.mustHold(t, c.want)
		must(t, f.LosePower(Loss{Stuck: 2 * time.Second}, func() bool { return true }))
		f.mustHold(t, c.want)
	}
}

// A torn record comes after all synced data, and the next power loss removes it. Syncs during a
// kill that takes long do not make the file forget what was on the disk before.
func TestLosePowerWhileTheKillTakesLong(t *testing.T) {
	f, write := server(t)
	f.syncing = true
	write("old")
	now := time.Now()
	f.addSync(now.Add(-5 * time.Second))
	write("young")
	must(t, f.LosePower(Loss{Stuck: 1500 * time.Millisecond}, func() bool {
		for second := range time.Duration(15) {
			f.addSync(now.Add(second * time.Second))
		}
		return true
	}))
	f.mustHold(t, "old")
}

func TestTornTail(t *testing.T) {
	f, write := server(t)
	write("synced,")
	f.syncing = true
	f.recordSync()
	write("not")
	must(t, f.LosePower(Loss{Torn: true}, func() bool { return true }))
	f.mustHold(t, "synced,"+tornRecord)
	must(t, f.LosePower(Loss{Torn: true}, func() bool { return false })) // it is down
	f.mustHold(t, "synced,"+tornRecord)
	must(t, f.LosePower(Loss{}, func() bool { return true }))
	f.mustHold(t, "synced,")
}
