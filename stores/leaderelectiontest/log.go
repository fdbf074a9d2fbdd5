package leaderelectiontest

import (
	"context"
	"log/slog"

	"k8s.io/klog/v2"
)

func init() { klog.SetSlogLogger(slog.New(current{})) }

// current is the handler that is the default of log/slog when something is logged, and not the one
// that was the default when client-go got its logger: locktest has one for each run.
type current struct{}

func now() slog.Handler { return slog.Default().Handler() }

func (current) Enabled(ctx context.Context, l slog.Level) bool  { return now().Enabled(ctx, l) }
func (current) Handle(ctx context.Context, r slog.Record) error { return now().Handle(ctx, r) }
func (current) WithAttrs(attrs []slog.Attr) slog.Handler        { return now().WithAttrs(attrs) }
func (current) WithGroup(name string) slog.Handler              { return now().WithGroup(name) }
