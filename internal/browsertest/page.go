package browsertest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Screen is what a page is looked at with.
type Screen struct {
	Width, Height int64 // pixels of the page
	Dark          bool  // the system asks for dark colours
	Touch         bool  // a phone
}

// Desktop is the screen that most tests need.
var Desktop = Screen{Width: 1400, Height: 1000}

// Page is a page in a window of its own. A step that goes wrong ends the test.
type Page struct {
	t   testing.TB
	ctx context.Context

	origin string // of a page on a server; requests to it are not complained of

	mu         sync.Mutex
	complaints []string
	requests   int // to the origin
}

// patience is how long a step may take before it counts as hung.
const patience = 2 * time.Minute

// Open opens a file, or a file and an anchor in it ("page.html#s-run"), and waits until it
// has been read.
func Open(t testing.TB, file string, s Screen) *Page {
	t.Helper()
	return (&Page{t: t}).open(address(t, file), s)
}

// Visit opens a page on a server ("http://127.0.0.1:1234/"), which may ask that server for more.
func Visit(t testing.TB, page string, s Screen) *Page {
	t.Helper()
	u, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	return (&Page{t: t, origin: u.Scheme + "://" + u.Host + "/"}).open(page, s)
}

func (p *Page) open(address string, s Screen) *Page {
	p.t.Helper()
	ctx, end := chromedp.NewContext(need(p.t), chromedp.WithListener(p.hear))
	p.t.Cleanup(end)
	p.ctx = ctx
	if err := chromedp.Do(ctx); err != nil { // the window, which lives as long as this context
		p.t.Fatal(err)
	}
	p.do(s.emulate())
	p.do(chromedp.Navigate(address))
	p.t.Cleanup(func() {
		for _, c := range p.Complaints() {
			p.t.Errorf("the page %s: %s", path.Base(address), c)
		}
	})
	return p
}

func address(t testing.TB, file string) string {
	t.Helper()
	path, anchor, _ := strings.Cut(file, "#")
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: path, Fragment: anchor}).String()
}

func (s Screen) emulate() chromedp.Action[chromedp.Void] {
	options := []chromedp.EmulateViewportOption{chromedp.EmulateScale(1)}
	if s.Touch {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	return chromedp.Steps(chromedp.EmulateViewport(s.Width, s.Height, options...), s.media())
}

// media is what the system asks of pages: colours, and to do without motion.
func (s Screen) media() chromedp.Action[chromedp.Void] {
	colours := "light"
	if s.Dark {
		colours = "dark"
	}
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: colours}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		return err
	})
}

// hear records the browser's messages about mistakes of the page.
func (p *Page) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.complain("%s", e.ExceptionDetails.Text+thrown(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.complain("console: %s", said(e.Args))
		}
	case *log.EventEntryAdded:
		p.complain("%s: %s", e.Entry.Source, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		p.asked(e.Request.URL, e.Type)
	}
}

// asked counts a request to the page's origin, and complains of any other.
func (p *Page) asked(address string, of network.ResourceType) {
	switch {
	case p.origin != "" && strings.HasPrefix(address, p.origin):
		p.mu.Lock()
		p.requests++
		p.mu.Unlock()
	case of != network.ResourceTypeDocument && !strings.HasPrefix(address, "data:") && !(p.origin != "" && strings.HasPrefix(address, "blob:"+p.origin)):
		p.complain("asks for %s", address)
	}
}

// Requests returns how many requests were made to the page's origin so far.
func (p *Page) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception == nil {
		return ""
	}
	return " " + d.Exception.Description
}

func said(args []*runtime.RemoteObject) string {
	all := make([]string, len(args))
	for i, a := range args {
		all[i] = string(a.Value) + a.Description
	}
	return strings.Join(all, " ")
}

func (p *Page) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, fmt.Sprintf(format, args...))
}

// Complaints returns the exceptions, console messages and requests so far.
func (p *Page) Complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.complaints)
}

func (p *Page) do(a chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	if err := chromedp.Do(ctx, a); err != nil {
		p.t.Fatal(err)
	}
}

// Eval is what an expression of JavaScript is on the page. A promise is waited for.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	v, err := eval[T](p, expression)
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func eval[T any](p *Page, expression string) (T, error) {
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Settle waits until requested frames have been drawn.
func (p *Page) Settle() {
	p.t.Helper()
	Eval[bool](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// Until waits until an expression is true, also if the page leads to another meanwhile.
func (p *Page) Until(expression string) {
	p.t.Helper()
	begin := time.Now()
	for {
		is, err := eval[bool](p, "!!("+expression+")")
		var lost *cdproto.Error
		switch {
		case errors.As(err, &lost) && lost.Code == navigated:
		case err != nil:
			p.t.Fatalf("%s: %v", expression, err)
		case is:
			return
		}
		if time.Since(begin) > patience {
			p.t.Fatalf("never true: %s", expression)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// navigated is the protocol's code of an evaluation that its page did not live to see. What the expression
// itself throws has none.
const navigated = -32000

// Keys that are no letters.
const (
	Up     = kb.ArrowUp
	Down   = kb.ArrowDown
	Left   = kb.ArrowLeft
	Right  = kb.ArrowRight
	Home   = kb.Home
	End    = kb.End
	Escape = kb.Escape
)

// Press presses keys, one after another, wherever the focus is.
func (p *Page) Press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
	p.Settle()
}

// Point moves the pointer to a place of the window.
func (p *Page) Point(x, y float64) {
	p.t.Helper()
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	p.Settle()
}

// Click presses the button of the pointer at a place of the window.
func (p *Page) Click(x, y float64) {
	p.t.Helper()
	p.do(chromedp.MouseClickXY(x, y))
	p.Settle()
}

// Drag presses the button at a place and lets go of it at another.
func (p *Page) Drag(x, y, toX, toY float64) {
	p.t.Helper()
	held := func(o *input.DispatchMouseEventParams) { o.Buttons = 1 }
	p.do(chromedp.Steps(
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x, y, chromedp.ButtonLeft, held, chromedp.ClickCount(1)),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, (x+toX)/2, (y+toY)/2, chromedp.ButtonLeft, held),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, toX, toY, chromedp.ButtonLeft, held),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, toX, toY, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	))
	p.Settle()
}

// Wheel turns the wheel at a place, with Ctrl or without.
func (p *Page) Wheel(x, y, down float64, ctrl bool) {
	p.t.Helper()
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, x, y, func(o *input.DispatchMouseEventParams) {
		o.DeltaX, o.DeltaY = 1e-6, down // the protocol asks for both, and the library leaves out what is 0
		if ctrl {
			o.Modifiers = int64(chromedp.ModifierCtrl)
		}
	}))
	p.Settle()
}

// Resize goes on looking at the page with another screen.
func (p *Page) Resize(s Screen) {
	p.t.Helper()
	p.do(s.emulate())
	p.Settle()
}

// Shot keeps a picture of what is in the window, as a PNG.
func (p *Page) Shot(file string) {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(file, png, 0o666)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
