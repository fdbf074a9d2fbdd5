package main

import (
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/storm"
)

// coloured is what is said of a conclusion, in its colour.
func coloured(on terminal.Screen, o storm.Conclusion, text string) string {
	switch o {
	case storm.AsExpected:
		return on.Good(text)
	case storm.Contradiction:
		return on.Bad(text)
	}
	return on.Strong(text)
}
