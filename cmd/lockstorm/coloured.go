package main

import (
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
)

// coloured is what is said of a conclusion, in its colour.
func coloured(on terminal.Screen, o runner.Conclusion, text string) string {
	switch o {
	case runner.AsExpected:
		return on.Good(text)
	case runner.Contradiction:
		return on.Bad(text)
	}
	return on.Strong(text)
}
