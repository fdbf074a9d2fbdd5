// Package ci is what a run of continuous integration amounts to: suites of checks, what
// became of each, and the one command that repeats it. It knows neither who has checked
// nor who is told: report/junit, report/github and the command write it, each in the form
// of its readers.
package ci
