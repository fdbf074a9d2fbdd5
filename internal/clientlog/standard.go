package clientlog

import (
	"context"
	"io"
	"log"
	"log/slog"
)

// captureStandard puts a switch before the default loggers of packages log and log/slog, and returns
// what removes it.
func captureStandard() (undo func()) {
	writer, flags, logger := log.Writer(), log.Flags(), slog.Default()
	lines := &lineSwitch{writer}
	records := &recordSwitch{otherwise: logger.Handler(), derive: func(h slog.Handler) slog.Handler { return h }}
	setStandard(slog.New(records), lines, flags)
	return func() {
		if slog.Default().Handler() == slog.Handler(records) {
			setStandard(logger, log.Writer(), log.Flags())
		}
		if log.Writer() == io.Writer(lines) {
			log.SetOutput(writer)
		}
	}
}

// setStandard sets the default loggers. [slog.SetDefault] makes the logger of package log write to
// slog, so that is set afterwards.
func setStandard(logger *slog.Logger, writer io.Writer, flags int) {
	slog.SetDefault(logger)
	log.SetOutput(writer)
	log.SetFlags(flags)
}

// lineSwitch writes lines to the logs that want them, or else to where they went before.
type lineSwitch struct{ otherwise io.Writer }

// Write implements [io.Writer].
func (s *lineSwitch) Write(line []byte) (int, error) {
	if captured := wanting(); len(captured) > 0 {
		return logs(captured).Write(line)
	}
	return s.otherwise.Write(line)
}

// recordSwitch handles records as lineSwitch does lines.
type recordSwitch struct {
	otherwise slog.Handler
	derive    func(slog.Handler) slog.Handler // adds the attributes and groups of the logger
}

// Enabled implements [slog.Handler]. The level that the program has set applies to what is recorded,
// too.
func (s *recordSwitch) Enabled(ctx context.Context, level slog.Level) bool {
	return s.otherwise.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (s *recordSwitch) Handle(ctx context.Context, r slog.Record) error {
	if captured := wanting(); len(captured) > 0 {
		return s.derive(slog.NewTextHandler(logs(captured), &slog.HandlerOptions{Level: r.Level})).Handle(ctx, r)
	}
	return s.otherwise.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (s *recordSwitch) WithAttrs(attrs []slog.Attr) slog.Handler {
	return s.with(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

// WithGroup implements [slog.Handler].
func (s *recordSwitch) WithGroup(name string) slog.Handler {
	return s.with(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (s *recordSwitch) with(more func(slog.Handler) slog.Handler) slog.Handler {
	return &recordSwitch{more(s.otherwise), func(h slog.Handler) slog.Handler { return more(s.derive(h)) }}
}
