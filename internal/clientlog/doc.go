// Package clientlog records what client libraries log during a run of locktest, so that it goes
// to the stored run and not to the screen.
//
// It reaches the loggers that belong to the whole program: go-redis', the default of package log
// and the default of package log/slog. Outside of runs they write as before. A library with a
// logger of its own has to be given a [Log].
package clientlog
