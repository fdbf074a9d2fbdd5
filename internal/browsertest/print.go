package browsertest

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"regexp"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Paper is a size of paper in inches.
type Paper struct{ Width, Height float64 }

// The papers on which most people print.
var (
	A4     = Paper{8.27, 11.69}
	Letter = Paper{8.5, 11}
)

// pageObject is a page in the text of a PDF. The parent of all pages has the type Pages.
var pageObject = regexp.MustCompile(`/Type\s*/Page[^s]`)

// PrintedPages prints the page to a PDF, with its colours, and returns how many pages that has.
func (p *Page) PrintedPages(on Paper) int {
	p.t.Helper()
	return len(pageObject.FindAll(p.pdf(on), -1))
}

// mark is a colour that no page has, and what a PDF has for it.
const mark = "rgb(17, 34, 51)"

var marked = regexp.MustCompile(`\.0667 \.1333 \.2 rg`)

// PrintedPagesWith returns how many printed pages have a text of the elements that a selector finds.
func (p *Page) PrintedPagesWith(selector string, on Paper) (pages int) {
	p.t.Helper()
	Eval[any](p, fmt.Sprintf(`(() => { const s = document.createElement("style"); s.id = "mark"; s.textContent = %q; document.head.append(s); })()`,
		selector+" { color: "+mark+" !important; }"))
	text := p.pdf(on)
	Eval[any](p, `document.getElementById("mark").remove()`)
	for {
		_, rest, found := bytes.Cut(text, []byte("stream\n"))
		if !found {
			return pages
		}
		if r, err := zlib.NewReader(bytes.NewReader(rest)); err == nil {
			content, _ := io.ReadAll(r) // what is no content of a page does not have the colour
			if marked.Match(content) {
				pages++
			}
		}
		_, text, _ = bytes.Cut(rest, []byte("endstream"))
	}
}

// pdf prints the page.
func (p *Page) pdf(on Paper) []byte {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	var printed bytes.Buffer
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		r, err := cdp.Call(ctx, t, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: on.Width, PaperHeight: on.Height, PrintBackground: new(true)})
		if err == nil {
			printed.Write(r.Data)
		}
		return err
	}))
	if err != nil {
		p.t.Fatal(err)
	}
	return printed.Bytes()
}

// PrintMedia shows the page as it is printed, until it is resized.
func (p *Page) PrintMedia() {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}))
	p.Settle()
}
