// Package browsertest is for tests that look at pages in a real browser: headless Chromium,
// started once for the tests of a package. It opens pages, does what a reader does, and
// knows nothing of what the pages are about.
//
//	func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }
//
//	page := browsertest.Open(t, file, browsertest.Desktop)
//	page.Press("n")
//	title := browsertest.Eval[string](page, `document.title`)
//
// When the test ends, the page must have thrown nothing, complained of nothing in the
// console and asked for nothing but itself.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// names are what the browser is called, as in scripts/deps.sh.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

var errNone = errors.New("no browser (sh scripts/deps.sh chromium installs one, CHROME names another)")

// find is the browser that $CHROME names, or the first of its kind that is installed.
func find() (string, error) {
	wanted := names
	if named := os.Getenv("CHROME"); named != "" {
		wanted = []string{named}
	}
	for _, name := range wanted {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNone
}

// one is the browser of the tests of a package.
var one struct {
	sync.Mutex
	browser context.Context
	end     []context.CancelFunc
}

// Run runs the tests of a package. The browser that they started ends with them.
func Run(m *testing.M) int {
	defer func() {
		for _, end := range one.end {
			defer end()
		}
	}()
	return m.Run()
}

// need returns the browser's context, and starts the browser if it does not run yet.
func need(t testing.TB) context.Context {
	t.Helper()
	path, err := find()
	if err != nil {
		t.Fatal(err)
	}
	one.Lock()
	defer one.Unlock()
	if one.browser == nil {
		if err := start(path); err != nil {
			t.Fatal(err)
		}
	}
	return one.browser
}

// start starts the browser. Its profile and what else it writes are removed with it; the
// kernel ends it if we die.
func start(path string) error {
	dir, err := os.MkdirTemp("", "lockstorm-browser-")
	if err != nil {
		return err
	}
	one.end = append(one.end, func() { remove(dir) })
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.Env("TMPDIR="+dir),
		chromedp.Flag("headless", "new"), chromedp.Flag("hide-scrollbars", false))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which does not work for root
	}
	processes, stop := chromedp.NewExecAllocator(context.Background(), options...)
	browser, end := chromedp.NewContext(processes)
	one.end = append(one.end, stop, end)
	if err := chromedp.Do(browser); err != nil {
		return fmt.Errorf("%s does not start: %w", path, err)
	}
	one.browser = browser
	return nil
}

// remove removes a directory in which processes that are about to end may still write.
func remove(dir string) {
	for range 50 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
