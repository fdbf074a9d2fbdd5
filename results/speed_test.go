package results_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/results"
)

var operations = flag.Int("operations", 100_000, "operations in the long histories that are judged")

// A history of many operations is judged from its file, whatever its packing, in memory
// that does not grow with it. With -v it says how long that takes:
//
//	go test ./results -count 1 -run TestLongHistories -v -args -operations 10000000
func TestLongHistories(t *testing.T) {
	for _, p := range historytest.Packings {
		t.Run(p.Name, func(t *testing.T) { judgeLong(t, p) })
	}
}

func judgeLong(t *testing.T, p historytest.Packing) {
	path := filepath.Join(t.TempDir(), results.HistoryFile+p.Ending)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := p.Write(file, func(w io.Writer) error { return historytest.Grants(w, *operations/2) }); err != nil {
		t.Fatal(err)
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // as in the command
	debug.FreeOSMemory()                              // what the tests before have left
	forgetPeak()
	before := peak()
	began := time.Now()
	report, err := unpacked(file)
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	if v := report.Verdicts()[checker.Lease]; v != checker.Holds {
		t.Errorf("lease exclusion: %v", v)
	}
	if report.Measurements.Grants != *operations/2 {
		t.Errorf("%d grants of %d", report.Measurements.Grants, *operations/2)
	}
	const most = 100 << 20
	used := peak() - before
	if used > most {
		t.Errorf("%d bytes of memory", used)
	}
	t.Logf("%-5s %d operations, %d MB: %.1f s, %.0f ns an event, %d MB of memory at most", p.Name, *operations, size>>20, took.Seconds(),
		float64(took.Nanoseconds())/float64(*operations)/2, used>>20)
}

// forgetPeak lets the kernel count the most memory from now on.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) }

// peak is the most memory, in bytes, that the process has had; 0 where the kernel does
// not say.
func peak() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status)
	if found == nil {
		return 0
	}
	kilobytes, _ := strconv.Atoi(string(found[1]))
	return kilobytes << 10
}

// BenchmarkJudge is the time of one event that is read and judged.
func BenchmarkJudge(b *testing.B) {
	for _, p := range historytest.Packings {
		b.Run(p.Name, func(b *testing.B) {
			grants := max(1, b.N/historytest.EventsPerGrant)
			var file bytes.Buffer
			if err := p.Write(&file, func(w io.Writer) error { return historytest.Grants(w, grants) }); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := unpacked(&file); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
