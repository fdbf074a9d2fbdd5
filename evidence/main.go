// Command evidence regenerates the stored results in results and the pages in docs/evidence, before a
// release:
//
//	go -C evidence run . [-stored | -missing] PAGE…
//	go -C evidence run . mutants DIFF…
//
// It measures what a page is about with the programs of this checkout, stores the results, and writes the
// page of them. With -stored it only writes the page, of the results that are stored. With -missing the page
// agreement measures only rows of which nothing is stored. Pages on real servers need an idle machine; what they
// need besides is installed by scripts/deps.sh.
//
// With diffs of your own it writes nothing: it plants each defect, which a file of git diff has, and prints how many
// runs it takes to find a violation of each property. Paths are relative to the checkout's root.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// page is a page of docs/evidence.
type page struct {
	name, what string

	// measure renews the stored results; nil: others do.
	measure func(context.Context, *checkout) error
	// write returns the page of the stored results; nil: measure writes it.
	write func(*checkout) (string, error)
}

var pages = []page{
	{"debate", "the rows of the debate (make bless renews the results)", nil, writeDebate},
	{"compare", "the locks compared (make bless renews the results)", nil, writeCompare},
	{"agreement", "the debate, and locks in stores, on real servers beside the simulator (40 minutes)", measureAgreement, writeAgreement},
	{"published", "published results, on real servers and in the simulator (13 minutes)", measurePublished, writePublished},
	{"measurements", "all sweeps (30 minutes; continues where it was stopped)", measureSweeps, writeMeasurements},
	{"mutants", "planted defects, hunted (10 minutes)", measureMutants, writeMutants},
	{"conformance", "runs compared with the specification that is proved (1 hour; continues where it was stopped)", measureConformance, writeConformance},
	{"scoreboard", "Go locks on Redis in storms (7 minutes)", measureScoreboard(redisBoard), writeScoreboard(redisBoard)},
	{"scoreboard-stores", "Go locks in stores in storms (15 minutes)", measureScoreboard(storeBoard), writeScoreboard(storeBoard)},
	{"scoreboard-languages", "locks of other languages in storms (45 minutes)", measureLanguages, writeLanguages},
	{"bench", "speed and price (40 minutes)", measureBench, nil},
}

func main() {
	stored := flag.Bool("stored", false, "write pages of the stored results, without measuring")
	missing := flag.Bool("missing", false, "measure only what is not stored (agreement)")
	flag.Usage = usage
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Args(), *stored, *missing)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "go -C evidence run . [-stored | -missing] PAGE…")
	fmt.Fprintln(os.Stderr, "go -C evidence run . mutants DIFF…   (hunts defects of your own; paths from the checkout's root)")
	for _, p := range pages {
		fmt.Fprintf(os.Stderr, "  %-21s%s\n", p.name, p.what)
	}
}

func run(ctx context.Context, names []string, stored, missing bool) error {
	if len(names) == 0 {
		usage()
		return errors.New("name a page")
	}
	if i := slices.IndexFunc(names, func(name string) bool { return name != "agreement" }); missing && i >= 0 {
		return fmt.Errorf("-missing is for the page agreement, which stores single rows: %s is measured as a whole", names[i])
	}
	if names[0] == "mutants" && len(names) > 1 && strings.HasSuffix(names[1], ".diff") {
		c, err := openCheckout()
		if err != nil {
			return err
		}
		defer c.close()
		return c.huntDiffs(ctx, os.Stdout, names[1:])
	}
	for _, name := range names { // all names before the first measurement
		if !slices.ContainsFunc(pages, func(p page) bool { return p.name == name }) {
			usage()
			return fmt.Errorf("there is no page %q", name)
		}
	}
	c, err := openCheckout()
	if err != nil {
		return err
	}
	defer c.close()
	c.missing = missing
	for _, p := range pages {
		if !slices.Contains(names, p.name) {
			continue
		}
		if err := c.renew(ctx, p, stored); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// checkout is the checkout that this program belongs to.
type checkout struct {
	root string
	temp string // for what is not stored yet

	missing bool // measure only what is not stored
}

func openCheckout() (*checkout, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "evidence", "go.mod")); err != nil {
		return nil, errors.New("run it as go -C evidence run . PAGE…, in a checkout")
	}
	temp, err := os.MkdirTemp("", "lockstorm-evidence-")
	return &checkout{root: root, temp: temp}, err
}

func (c *checkout) close() { _ = os.RemoveAll(c.temp) }

// path returns a path of the checkout.
func (c *checkout) path(names ...string) string {
	return filepath.Join(append([]string{c.root}, names...)...)
}

func (c *checkout) page(name string) string { return c.path("docs", "evidence", name+".md") }

// renew renews a page.
func (c *checkout) renew(ctx context.Context, p page, stored bool) error {
	switch {
	case stored && p.write == nil:
		return errors.New("no results of it are stored: leave out -stored")
	case !stored && p.measure != nil:
		if err := p.measure(ctx, c); err != nil {
			return err
		}
	}
	if p.write == nil {
		return nil
	}
	text, err := p.write(c)
	if err != nil {
		return err
	}
	return os.WriteFile(c.page(p.name), []byte(text), 0o644)
}

// lockstorm runs the command of this checkout with the servers of all stores. It has no version, so that
// results do not name the commit before the one that stores them. It returns the exit code of a verdict.
func (c *checkout) lockstorm(ctx context.Context, args ...string) (out []byte, code int, err error) {
	program := filepath.Join(c.temp, "lockstorm")
	if _, err := os.Stat(program); err != nil {
		if _, err := c.run(ctx, "go", "-C", "stores", "build", "-buildvcs=false", "-o", program, "./cmd/lockstorm"); err != nil {
			return nil, 0, err
		}
	}
	out, err = c.run(ctx, program, args...)
	if exit := new(exec.ExitError); errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 3) {
		return out, exit.ExitCode(), nil
	}
	return out, 0, err
}

// run runs a program in the root of the checkout, and returns what it prints. Its progress is shown.
func (c *checkout) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	fmt.Fprintln(os.Stderr, "$", filepath.Base(name), strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.root, &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{filepath.Base(name)}, args...), " "), err, lastLines(out.Bytes(), 30))
	}
	return out.Bytes(), nil
}

// lastLines returns the end of a text.
func lastLines(text []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// move replaces a file of the checkout by a new one.
func (c *checkout) move(from string, to ...string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	path := c.path(to...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
