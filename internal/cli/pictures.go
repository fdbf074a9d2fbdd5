package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
)

// violations are the stored runs for which pictures are drawn: for each property the first run that
// violated it and the first that left it open. Drawing all takes longer than running them; check
// draws any other run.
type violations struct {
	seen map[pictured]bool
	runs []stored
}

type pictured struct {
	property checker.Property
	verdict  checker.Verdict
}

func (a *violations) add(r stored) {
	first := false
	for _, f := range r.Report.Findings {
		v := pictured{f.Property, f.Verdict}
		if (f.Verdict == checker.Violated || f.Verdict == checker.Unknown) && !a.seen[v] {
			a.seen[v], first = true, true
		}
	}
	if first && r.dir != "" {
		a.runs = append(a.runs, r)
	}
}

// draw draws the pictures into the directories of their runs.
func (a *violations) draw(problems io.Writer) []results.Drawn {
	var all []results.Drawn
	bar := terminal.NewBar(problems, "pictures", int64(len(a.runs)), terminal.Steps)
	defer bar.Done()
	for _, r := range a.runs {
		open := func() (io.ReadCloser, error) { return os.Open(filepath.Join(r.dir, results.HistoryFile)) }
		drawn, err := results.Draw(r.Report, open, func(name string) string { return filepath.Join(r.dir, results.PictureFile(name)) })
		if err != nil {
			complain(problems, fmt.Errorf("no picture: %w", err))
		}
		all = append(all, drawn...)
		bar.Step()
	}
	return all
}

// printDrawn prints the paths of the pictures.
func printDrawn(out io.Writer, list []results.Drawn) {
	for i, d := range list {
		codes := make([]string, len(d.Properties))
		for i, p := range d.Properties {
			codes[i] = p.Code()
		}
		printPicture(out, i == 0, strings.Join(codes, ", "), d.Path)
	}
}

// printPicture prints the path of a picture, after an empty line if it is the first.
func printPicture(out io.Writer, first bool, of, path string) {
	if first {
		_, _ = fmt.Fprintln(out)
	}
	_, _ = fmt.Fprintf(out, "picture of %s: %s\n", of, path)
}
