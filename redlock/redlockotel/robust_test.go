package redlockotel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redlockotel"
)

// recorded returns telemetry on the machine's clocks, with what records its spans.
func recorded(t testing.TB, options ...sdk.TracerProviderOption) (*redlockotel.Telemetry, *tracetest.SpanRecorder) {
	t.Helper()
	r := tracetest.NewSpanRecorder()
	telemetry, err := redlockotel.New(env.System(), redlockotel.Options{
		TracerProvider: sdk.NewTracerProvider(append(options, sdk.WithSpanProcessor(r))...), MeterProvider: noop.NewMeterProvider(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return telemetry, r
}

// Providers may be set when there is telemetry already.
func TestGlobalProviders(t *testing.T) {
	telemetry, err := redlockotel.New(env.System(), redlockotel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	otel.SetTracerProvider(sdk.NewTracerProvider(sdk.WithSpanProcessor(r)))
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	o := telemetry.Observer(nil)
	o.Observe(env.Event{Step: env.StepAcquire, Token: "0123456789"})
	_, _ = telemetry.Nodes(refusing{}).Send(1, env.Command{Op: env.OpSet, Token: "0123456789"}, 0).Next(context.Background(), 0)
	o.Observe(env.Event{Step: env.StepRefused, Token: "0123456789", Err: redlock.ErrNoQuorum})
	if n := len(r.Ended()); n != 2 {
		t.Errorf("%d spans, want that of the try and that of a request", n)
	}
	if got := measured(t, reader); len(got) != 2 {
		t.Errorf("measured %v", got)
	}
}

func TestNoRuntime(t *testing.T) {
	if _, err := redlockotel.New(nil, redlockotel.Options{}); err == nil || err.Error() != "redlockotel: no runtime" {
		t.Errorf("got %v", err)
	}
}

// Open spans end when the telemetry is closed, and none begins after that.
func TestCloseEndsWhatIsOpen(t *testing.T) {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) { c.lock(m) }) // the world ends, and its client with it
	if open := len(c.recorder.Started()) - len(c.recorder.Ended()); open != 1 {
		t.Errorf("%d spans are open, want that of the hold", open)
	}
	c.client.Close()
	wantAllEnded(t, c.recorder)
	if got := c.measured()["redlock.hold.active{}"]; got != 0 {
		t.Errorf("%d are held", got)
	}
	if text := c.tree(); !strings.Contains(text, "abandoned !") {
		t.Errorf("got\n%s", text)
	}
	before := len(c.recorder.Started())
	o := c.client.Observer(nil)
	for _, step := range env.Steps() {
		o.Observe(env.Event{Step: step, Resource: "r", Token: "0123456789"})
	}
	c.client.Close()
	if after := len(c.recorder.Started()); after != before {
		t.Errorf("%d spans have begun after Close", after-before)
	}
}

// Spans never contain a token, not even from an error that quotes it.
func TestNoTokenIsTold(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef01234567"
	telemetry, r := recorded(t)
	o := telemetry.Observer(nil)
	quotes := fmt.Errorf("ERR unknown command 'EVALSHA', with args beginning with: '%s'", token)
	event := func(step env.Step) {
		o.Observe(env.Event{Step: step, Resource: "r", Token: token, Err: quotes, Answer: env.Lost})
	}
	event(env.StepAcquire)
	round := telemetry.Nodes(refusing{quotes}).Send(1, env.Command{Op: env.OpSet, Token: token}, 0)
	_, _ = round.Next(context.Background(), 0)
	for _, step := range []env.Step{
		env.StepGranted, env.StepExtend, env.StepExtendFailed, env.StepLost, env.StepBeforeRelease, env.StepReleased, env.StepAcquire, env.StepRefused,
	} {
		event(step)
	}
	wantAllEnded(t, r)
	told := 0
	for _, s := range r.Ended() {
		text := fmt.Sprint(s.Name(), s.Attributes(), s.Events(), s.Status())
		if strings.Contains(text, "012345678") {
			t.Errorf("%s tells the token: %s", s.Name(), text)
		}
		told += strings.Count(text, "beginning with: '01234567'")
	}
	if told != 5 {
		t.Errorf("%d errors are told, want 5", told)
	}
}

// refusing are nodes that refuse everything with an error.
type refusing struct{ err error }

func (r refusing) Len() int                                             { return 1 }
func (r refusing) Send(env.NodeSet, env.Command, env.Instant) env.Round { return r }
func (r refusing) Next(context.Context, env.Instant) (env.Reply, error) {
	return env.Reply{Node: 1, Answer: env.Failed, Err: r.err}, nil
}
