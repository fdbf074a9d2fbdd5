package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// sweeps are the measurements: the directory in results, the sweep, and its flags.
var sweeps = [][]string{
	{"reference", "restart-delay", "--runs", "9604"},
	{"reference", "restart-delay-price", "--runs", "200"},
	{"reference", "restart-boundary", "--runs", "50"},
	{"reference", "drift", "--runs", "1000"},
	{"reference", "drift-edge", "--runs", "9604"},
	{"reference", "restart-delay-reference", "--runs", "20"},
	{"process", "restart-delay-reference", "--runs", "3", "--backend", "process"},
}

// measureSweeps makes all sweeps, and stores them when the last one is done. The directory measurements
// keeps what is done meanwhile, so that a stopped measurement goes on.
func measureSweeps(ctx context.Context, c *checkout) error {
	partly := c.path("measurements")
	for _, s := range sweeps {
		dir := filepath.Join(partly, s[0], s[1])
		_, code, err := c.lockstorm(ctx, append(append([]string{"sweep"}, s[1:]...), "--out", dir)...)
		if err == nil && code != 0 {
			err = fmt.Errorf("%s does not fit its formula; remove %s to measure it again", s[1], dir)
		}
		if err != nil {
			return err
		}
	}
	for _, s := range sweeps {
		into := c.path("results", s[0], s[1])
		if err := os.RemoveAll(into); err != nil {
			return err
		}
		for _, kind := range []string{"outcomes.jsonl", "*.csv", "summary.md", "*.svg"} {
			files, _ := filepath.Glob(filepath.Join(partly, s[0], s[1], kind))
			for _, file := range files {
				if err := c.move(file, "results", s[0], s[1], filepath.Base(file)); err != nil {
					return err
				}
			}
		}
	}
	return os.RemoveAll(partly)
}

var (
	madeBy   = regexp.MustCompile("(?m)^Made by (`[^`]*`)")
	findings = regexp.MustCompile(`(?m)^- [A-Z].*$`)
)

// writeMeasurements puts the findings of each sweep between its markers on the page, whose text is written
// by hand.
func writeMeasurements(c *checkout) (string, error) {
	text, err := os.ReadFile(c.page("measurements"))
	if err != nil {
		return "", err
	}
	page := string(text)
	for _, s := range sweeps {
		name := s[0] + "/" + s[1]
		summary, err := os.ReadFile(c.path("results", name, "summary.md"))
		if err != nil {
			return "", err
		}
		made := madeBy.FindSubmatch(summary)
		if made == nil {
			return "", fmt.Errorf("results/%s/summary.md does not say what made it", name)
		}
		begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		before, rest, marked := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !marked || !closed { // the page does not tell of it
			continue
		}
		page = before + begin + string(made[1]) + ":\n\n" + strings.Join(findings.FindAllString(string(summary), -1), "\n") + "\n" + end + after
	}
	return page, nil
}
