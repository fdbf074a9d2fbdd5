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
)

func main() {
	log.SetFlags(0)
	short := flag.Bool("short", false, "the table of README.md alone")
	flag.Parse()
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
