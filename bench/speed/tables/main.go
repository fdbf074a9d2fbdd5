// Tables reads what the benchmarks of package speed have printed, round after round, from
// its input, and prints tables of it in Markdown. Figures are medians of the rounds with
// benchstat's intervals, of 95 %. A ratio is that of two locks in the same round, whose
// median and interval are then taken: what slows a whole round down says nothing about it.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/lockstorm/lockstorm/bench/speed"
)

// more is how many times more than the others a round measures the lines of one client that are
// held to a target: where the machine is not still a ratio is known the better the more pairs
// there are, one right after the other.
const more = 4

// round lists the patterns of the benchmarks, those of one network after the other.
func round() (patterns []string) {
	for _, n := range speed.Networks() {
		for _, s := range speed.Subjects() {
			if s.On(n) {
				patterns = append(patterns, fmt.Sprintf("AcquireRelease/net=%s/clients=/lock=%s$", n.Name, s.Name))
			}
		}
	}
	for range more {
		patterns = append(patterns, compared()...)
	}
	return patterns
}

// compared are the patterns of the lines of one client that are held to a target.
func compared() (patterns []string) {
	for _, t := range targets {
		for _, l := range []line{t.to, t.of} {
			pattern := fmt.Sprintf("AcquireRelease/net=%s/clients=%s$/lock=%s$", l.net, l.clients, l.lock)
			if l.clients == "1" && !slices.Contains(patterns, pattern) {
				patterns = append(patterns, pattern)
			}
		}
	}
	return patterns
}

func main() {
	log.SetFlags(0)
	short := flag.Bool("short", false, "print only the table of README.md")
	lines := flag.Bool("lines", false, "print which benchmarks make a round, each to be run by a process of its own, and read nothing")
	flag.Parse()
	if *lines {
		for _, pattern := range round() {
			fmt.Println(pattern)
		}
		return
	}
	rounds, err := read(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if *short {
		fmt.Print(rounds.short())
		return
	}
	fmt.Print(rounds.long())
}
