package main

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/report/account"
	"github.com/lockstorm/lockstorm/storm"
)

// sign is a verdict in one character.
func sign(v checker.Verdict) string { return account.Sign(v) }

// signs are the verdicts over all runs, see [account.Signs].
func signs(t storm.Tally) string { return account.Signs(t) }

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

// signLegend explains the signs.
const signLegend = account.SignLegend

// codes explains the codes, on one line.
func codes() string { return account.Codes() }

// codesWithin explains the codes, on lines of a width.
func codesWithin(width int) string { return account.CodesWithin(width) }
