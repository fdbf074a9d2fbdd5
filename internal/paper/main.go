// Command paper recomputes the figures that README.md and docs claim, with a tenth of the runs, and
// compares them with the committed ones. "make paper" starts it.
//
// docs/evidence/claims.yaml lists the claims: the texts that pages show, the command that
// recomputes them, and what its result is compared with. Results are kept by a hash of the
// program and the command, so that a stopped paper can be continued.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/lockstorm/lockstorm/internal/files"
)

// options are the flags.
type options struct {
	root, keep, page string
	binary           string   // of the command; empty: it is built
	names            []string // of claims; empty: all
}

// errDisagree is returned if a figure disagrees with the committed one.
var errDisagree = errors.New("figures disagree")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := recompute(ctx, parse(), os.Stdout, os.Stderr)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "paper:", err)
	switch {
	case errors.Is(err, errDisagree):
		os.Exit(1)
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "the same command continues from here")
		os.Exit(3)
	}
	os.Exit(2)
}

func parse() (o options) {
	flag.StringVar(&o.root, "root", ".", "`directory` of the project")
	flag.StringVar(&o.keep, "keep", "runs/paper", "`directory` for results and what commands write")
	flag.StringVar(&o.page, "page", "", "`file` for the page, if no claims are named; none if empty")
	flag.StringVar(&o.binary, "binary", "", "`file` of the command, such as a released one; it is built if empty")
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, "usage: paper [flags] [names of claims]\n\nrecomputes the figures of the claims, and prints the lines of the page of those that are named; exit codes: 0 they agree, 1 some disagree, 2 something failed, 3 stopped\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	o.names = flag.Args()
	return o
}

// recompute recomputes the claims, prints the disagreements, and writes the page. If it is stopped, the
// page has the results so far.
func recompute(ctx context.Context, o options, out, progress io.Writer) error {
	claims, err := loadClaims(o.root)
	if err != nil {
		return err
	}
	chosen, err := choose(claims, o.names)
	if err != nil {
		return err
	}
	p, err := open(ctx, o, progress)
	if err != nil {
		return err
	}
	defer p.close()
	var all []judged
	for i, c := range chosen {
		_, _ = fmt.Fprintf(progress, "claim %d of %d: %s\n", i+1, len(chosen), c.Name)
		results, err := p.recompute(ctx, c)
		if err != nil && ctx.Err() == nil {
			return err
		}
		all = append(all, judged{c, results})
	}
	if o.page != "" && len(o.names) == 0 {
		if err := files.WriteWhole(o.page, []byte(paperPage(all, madeWith()))); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(o.names) > 0 {
		if _, err := io.WriteString(out, linesOf(all)); err != nil {
			return err
		}
	}
	list := disagreements(all)
	for _, d := range list {
		if _, err := fmt.Fprintln(out, d); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		return fmt.Errorf("%d %w", len(list), errDisagree)
	}
	_, err = fmt.Fprintf(out, "all figures of %d claims agree\n", len(all))
	return err
}

// choose returns the claims with the names, or all without names.
func choose(claims []Claim, names []string) ([]Claim, error) {
	if len(names) == 0 {
		return claims, nil
	}
	var chosen []Claim
	for _, n := range names {
		i := slices.IndexFunc(claims, func(c Claim) bool { return c.Name == n })
		if i < 0 {
			return nil, fmt.Errorf("unknown claim %q (see %s)", n, claimsFile)
		}
		chosen = append(chosen, claims[i])
	}
	return chosen, nil
}

func madeWith() string {
	return fmt.Sprintf("%s on %d cores (%s/%s)", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
}
