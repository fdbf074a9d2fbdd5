package front

import (
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/playground"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
)

var figureFile = flag.String("figures", "", "file to write the figures of the playground to, as a page")

// mostProgram is the largest size of the compressed program, in bytes.
const mostProgram = 4_000_000

func TestPlaygroundSize(t *testing.T) {
	if size := sizeOf(t, "dist/lockstorm.wasm.gz"); size > mostProgram {
		t.Errorf("the program has %d bytes, and may have %d", size, mostProgram)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestPlaygroundFigures measures the page. By default it only shows that this works.
func TestPlaygroundFigures(t *testing.T) {
	visits, runs, opened := 1, 20, 2
	out := io.Discard
	if *figureFile != "" {
		visits, runs, opened = 7, 500, 100
		f, err := os.Create(*figureFile)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		out = f
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	say("# The playground\n\nMade by `make playground-figures`, with headless Chromium on %d cores. How it is [used and built](../playground.md).\n", runtime.GOMAXPROCS(0))
	say("## Size\n\n| file | bytes | compressed by gzip |\n|---|---:|---:|")
	sizes(t, say)
	address := served(t, "")
	say("\n## Time\n\nEach visit is a new window of a browser that has nothing of the page. Times are in milliseconds since navigation began: least, median and greatest of %d visits.\n\n| | least | median | greatest |\n|---|---:|---:|---:|", visits)
	loading(t, address, visits, say)
	p := visit(t, address, "/debate", browsertest.Desktop)
	say("\n## Runs\n\nRuns per second of %d seeds: in the page, on all its workers, and by this machine's own program, on all cores.\n\n| row | in the page | program | ratio |\n|---|---:|---:|---:|", runs)
	speed(t, p, runs, say)
	say("\n## Memory\n\nMiB. The program's memory is that of one worker.\n\n| | page | program |\n|---|---:|---:|")
	memory(t, address, opened, say)
}

// sizes lists the files that a visitor loads.
func sizes(t *testing.T, say func(string, ...any)) {
	t.Helper()
	files, err := filepath.Glob("dist/*")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("dist/assets/*")
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, f := range append(files, more...) {
		if info, err := os.Stat(f); err != nil || info.IsDir() {
			continue
		}
		plain, packed := sizeOf(t, f), sizeOf(t, f)
		name := strings.TrimPrefix(f, "dist/")
		if strings.HasSuffix(f, ".gz") {
			plain, name = unpackedSize(t, f), strings.TrimSuffix(name, ".gz")
		} else {
			packed = packedSize(t, f)
		}
		total += packed
		say("| %s | %d | %d |", name, plain, packed)
	}
	say("| all | | %d |", total)
}

func unpackedSize(t *testing.T, path string) int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, r)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

func packedSize(t *testing.T, path string) int64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c counter
	w := gzip.NewWriter(&c)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return c.n
}

// loading measures visits.
func loading(t *testing.T, address string, visits int, say func(string, ...any)) {
	t.Helper()
	var rows, verdict, opened, slider, longest []float64
	for range visits {
		p := visit(t, address, "/debate", browsertest.Desktop)
		rows = append(rows, browsertest.Eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
		p = browsertest.Visit(t, address+"#/numbers", browsertest.Desktop)
		p.Until(`document.querySelector(".outcome dl")`)
		verdict = append(verdict, browsertest.Eval[float64](p, `performance.getEntriesByName("first-outcome")[0].startTime`))
		p.Until(`/ runs in /.test(document.querySelector(".runs .soft").textContent) && document.querySelector(".squares")?.children.length === 200`)
		slider = append(slider, browsertest.Eval[float64](p, turned))
		longest = append(longest, browsertest.Eval[float64](p, `new Promise((done) => { new PerformanceObserver((l) => done(Math.max(0, ...l.getEntries().map((e) => e.duration)))).observe({ type: "longtask", buffered: true }); setTimeout(() => done(0), 500); })`))
		p = browsertest.Visit(t, address+"#/run?seed=1&scenario="+packedRow(t, "crash-restart"), browsertest.Desktop)
		p.Until(`lockstorm.timelines.length === 1`)
		opened = append(opened, browsertest.Eval[float64](p, `lockstorm.timelines[0].ready`))
	}
	for _, m := range []struct {
		what string
		list []float64
	}{
		{"the rows are there", rows}, {"first verdict, of the sliders' first runs", verdict}, {"a run of a link is drawn", opened},
		{"from moving a slider to the verdicts of 200 runs", slider}, {"longest time for which the page did not react, while sliders moved", longest},
	} {
		slices.Sort(m.list)
		say("| %s | %.0f | %.0f | %.0f |", m.what, m.list[0], m.list[len(m.list)/2], m.list[len(m.list)-1])
	}
}

// turned moves a slider, and returns how long it takes until all its runs are counted.
const turned = `(async () => {
	const field = document.querySelector(".knob input[type=number]"), count = document.querySelector(".runs .soft"), begin = performance.now();
	count.textContent = "";
	field.value = "1100";
	field.dispatchEvent(new Event("change"));
	while (!(/ runs in /.test(count.textContent) && playground.current.scenario.includes("ttl: 1.1s") && document.querySelector(".squares")?.children.length === 200)) await new Promise((done) => setTimeout(done, 5));
	return performance.now() - begin;
})()`

// speed compares the page with this program.
func speed(t *testing.T, p *browsertest.Page, runs int, say func(string, ...any)) {
	t.Helper()
	for _, name := range []string{"calm", "crash-restart", "pause-then-write", "delayed-restart"} {
		e, err := runner.Prepare(simulated.Backend(), mustFind(t, name))
		if err != nil {
			t.Fatal(err)
		}
		inPage := fmt.Sprintf(`playground.measured(%q, %d)`, scenario(t, name), runs)
		browsertest.Eval[float64](p, inPage) // until the browser has compiled what is hot
		page := float64(runs) / browsertest.Eval[float64](p, inPage) * 1000
		began := time.Now()
		if _, err := (runner.Batch{Experiment: e, First: 1, Runs: runs}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		native := float64(runs) / time.Since(began).Seconds()
		say("| %s | %.0f | %.0f | %.2f |", name, page, native, page/native)
	}
}

// memory measures the page at its beginning, after 1,000 runs, and after runs were opened and closed.
func memory(t *testing.T, address string, opened int, say func(string, ...any)) {
	t.Helper()
	p := visit(t, address, "/debate", browsertest.Desktop)
	show := func(what string) {
		page := browsertest.Eval[float64](p, `performance.memory.usedJSHeapSize`)
		program := asked[playground.MemoryUse](p, "memory", playground.None{})
		say("| %s | %.0f | %.0f |", what, page/(1<<20), float64(program.Bytes)/(1<<20))
	}
	show("at the beginning")
	browsertest.Eval[float64](p, fmt.Sprintf(`playground.measured(%q, 1000)`, scenario(t, "crash-restart")))
	show("after 1,000 runs")
	for seed := range opened {
		browsertest.Eval[any](p, fmt.Sprintf(`void playground.open(%q, %dn)`, scenario(t, "crash-restart"), seed+1))
		p.Until(fmt.Sprintf(`lockstorm.timelines.length === 1 && document.querySelector("h2.title").textContent.endsWith("seed %d")`, seed+1))
	}
	browsertest.Eval[any](p, `void (location.hash = "#/yours")`)
	p.Until(`document.documentElement.dataset.shown === "/yours"`)
	show(fmt.Sprintf("after %d opened runs", opened))
}
