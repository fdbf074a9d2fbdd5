package locktest

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// goroutine is a goroutine in a dump of all stacks.
type goroutine struct {
	number, bubble int
	state          string // such as "running" or "sync.Mutex.Lock"
	durable        bool   // blocked so that virtual time may advance
	frames         []frame
	creator        int // the goroutine that started it; 0: unknown
}

// frame is a call on a stack. The last frame of a goroutine is the statement that started
// it.
type frame struct {
	function string
	place    string // file:line
}

// Marks in the first line of a goroutine's stack trace. The bubble's number follows its mark.
const (
	durableMark = " (durable)"
	bubbleMark  = "synctest bubble "
)

// maxDump bounds the dump of all stacks, in bytes. Goroutines beyond it are not seen.
const maxDump = 4 << 20

// newestBubble returns the goroutines of the bubble that was started last.
func newestBubble() []goroutine {
	dump := make([]byte, maxDump)
	var newest []goroutine
	for text := range strings.SplitSeq(string(dump[:runtime.Stack(dump, true)]), "\n\n") {
		g := parseGoroutine(strings.TrimSpace(text))
		if len(newest) > 0 && g.bubble > newest[0].bubble {
			newest = nil
		}
		if g.bubble > 0 && (len(newest) == 0 || g.bubble == newest[0].bubble) {
			newest = append(newest, g)
		}
	}
	return newest
}

// parseGoroutine parses a stack trace as package runtime prints it:
//
//	goroutine 7 [chan receive (durable), 2 minutes, synctest bubble 1]:
//	example.com/orders.(*Lock).Acquire(...)
//		/home/me/orders/lock.go:31 +0x25
//	created by example.com/orders.Start in goroutine 6
//		/home/me/orders/lock.go:12 +0x8b
func parseGoroutine(text string) goroutine {
	lines := strings.Split(text, "\n")
	var g goroutine
	head, rest, _ := strings.Cut(lines[0], " [")
	_, _ = fmt.Sscanf(head, "goroutine %d", &g.number)
	rest = strings.TrimSuffix(rest, "]:")
	g.state, _, _ = strings.Cut(rest, ",")
	g.state, g.durable = strings.CutSuffix(g.state, durableMark)
	if _, number, found := strings.Cut(rest, bubbleMark); found {
		_, _ = fmt.Sscanf(number, "%d", &g.bubble)
	}
	for i := 1; i+1 < len(lines); i += 2 {
		f := frame{function: lines[i]}
		f.place, _, _ = strings.Cut(strings.TrimSpace(lines[i+1]), " ")
		if started, found := strings.CutPrefix(f.function, "created by "); found {
			var creator string
			f.function, creator, _ = strings.Cut(started, " in goroutine ")
			_, _ = fmt.Sscanf(creator, "%d", &g.creator)
		} else if end := strings.LastIndex(f.function, "("); end > 0 {
			f.function = f.function[:end] // without the arguments
		}
		g.frames = append(g.frames, f)
	}
	return g
}

// mentions reports whether a function on the stack has a name that contains part, in upper
// or lower case.
func (g goroutine) mentions(part string) bool {
	return slices.ContainsFunc(g.frames, func(f frame) bool {
		return strings.Contains(strings.ToLower(f.function), part)
	})
}

// userCode tells functions of the user apart from those of libraries.
type userCode struct {
	pkg    string // of the function that builds the lock
	module string // the main module of the program
}

// codeOf returns the code to which a function belongs.
func codeOf(f any) userCode {
	code := userCode{pkg: packageOf(runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name())}
	if info, ok := debug.ReadBuildInfo(); ok {
		code.module = info.Main.Path
	}
	return code
}

// packageOf returns the package of a function's full name.
func packageOf(function string) string {
	dir, last := path.Split(function)
	name, _, _ := strings.Cut(last, ".")
	return dir + name
}

// The path of this package and of its module.
var (
	ownPackage = reflect.TypeFor[Config]().PkgPath()
	ownModule  = path.Dir(ownPackage)
)

// has reports whether a function is the user's.
func (u userCode) has(function string) bool {
	pkg := packageOf(function)
	switch {
	case pkg == u.pkg:
		return true
	case pkg == ownPackage:
		return false
	case pkg+"_test" == u.pkg:
		return true
	}
	return within(pkg, u.module) && !within(pkg, ownModule)
}

func within(pkg, module string) bool {
	return module != "" && (pkg == module || strings.HasPrefix(pkg, module+"/"))
}

// line returns the newest call of the user's code on the stack of a goroutine or, if there is
// none, on that of the goroutine that started it, and so on.
func (u userCode) line(g goroutine, all []goroutine) (frame, bool) {
	for range all {
		for _, f := range g.frames {
			if u.has(f.function) {
				return f, true
			}
		}
		i := slices.IndexFunc(all, func(other goroutine) bool { return other.number == g.creator })
		if i < 0 {
			break
		}
		g = all[i]
	}
	return frame{}, false
}

// String returns the place and the function, as in "lock.go:31 (orders.(*Lock).Acquire)".
func (f frame) String() string {
	return fmt.Sprintf("%s (%s)", path.Base(f.place), path.Base(f.function))
}

// maxShownFrames is how many calls of a stack are shown.
const maxShownFrames = 12

// short returns the newest calls of the stack, without their arguments, up to the call by
// this module.
func (g goroutine) short(code userCode) string {
	frames := g.frames
	if i := slices.IndexFunc(frames, func(f frame) bool { return within(packageOf(f.function), ownModule) && !code.has(f.function) }); i > 0 {
		frames = frames[:i]
	}
	var b strings.Builder
	for _, f := range frames[:min(len(frames), maxShownFrames)] {
		fmt.Fprintf(&b, "\n\t%s\n\t\t%s", path.Base(f.function), f.place)
	}
	if more := len(frames) - maxShownFrames; more > 0 {
		fmt.Fprintf(&b, "\n\t… and %d more", more)
	}
	return b.String()
}

// calls reports whether a goroutine is a client's, and so within a call of the lock or of a hold.
func (g goroutine) calls() bool { return g.mentions("live.(*taskgroup).start") }

// maxShownStacks is how many different stacks are shown.
const maxShownStacks = 5

// stacks returns the stacks of goroutines, equal ones once.
func stacks(list []goroutine, code userCode) string {
	var texts []string
	count := map[string]int{}
	for _, g := range list {
		text := " [" + g.state + "]:" + g.short(code)
		if count[text]++; count[text] == 1 {
			texts = append(texts, text)
		}
	}
	var b strings.Builder
	for _, text := range texts[:min(len(texts), maxShownStacks)] {
		fmt.Fprintf(&b, "\n\n%s%s", textfmt.Count(count[text], "goroutine"), text)
	}
	if more := len(texts) - maxShownStacks; more > 0 {
		fmt.Fprintf(&b, "\n\nand %d more stacks", more)
	}
	return b.String()
}
