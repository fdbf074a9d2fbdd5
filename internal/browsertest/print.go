package browsertest

import (
	"bytes"
	"context"
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
	return len(pageObject.FindAll(printed.Bytes(), -1))
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
