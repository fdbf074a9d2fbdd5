package plots

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"time"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pdf draws the figure on a page of its size, with texts as text in an embedded font. The library's
// own canvas (plot/vg/vgpdf) can set no metadata, not even the date, so its bytes differ from run to
// run; it also knows only Western letters.
func (f *figure) pdf(s size, about About) ([]byte, error) {
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: s.printed(s.width).Points(), Ht: s.printed(s.height).Points()}})
	doc.SetCatalogSort(true)
	doc.SetCreationDate(epoch)
	doc.SetModificationDate(epoch)
	doc.SetTitle(about.Title, true)
	doc.SetSubject(about.text(), true)
	doc.SetCreator(about.software(), true)
	doc.SetXmpMetadata(about.xmp())
	doc.SetMargins(0, 0, 0)
	doc.SetAutoPageBreak(false, 0)
	doc.AddUTF8FontFromBytes(pdfFont, "", liberationsansregular.TTF)
	doc.AddPage()
	// fpdf rounds coordinates, so a circle does not quite close: a mitre there would be a spike.
	doc.SetLineJoinStyle("round")
	doc.TransformBegin()
	doc.TransformScale(100*s.scale, 100*s.scale, 0, 0)
	c := &pdfCanvas{doc: doc, height: s.height, stack: []pdfState{{at: identity}}}
	vg.Initialize(c)
	if err := f.draw(draw.NewCanvas(c, s.width, s.height)); err != nil {
		return nil, err
	}
	doc.TransformEnd()
	var out bytes.Buffer
	err := doc.Output(&out)
	return out.Bytes(), err
}

const pdfFont = "liberation sans"

// epoch stands for the date, which is no part of a picture.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// affine maps (x, y) to (a x + c y + e, b x + d y + f).
type affine struct{ a, b, c, d, e, f float64 }

var identity = affine{a: 1, d: 1}

// after returns the map that first applies n.
func (m affine) after(n affine) affine {
	return affine{
		m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b,
		m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d,
		m.a*n.e + m.c*n.f + m.e, m.b*n.e + m.d*n.f + m.f,
	}
}

// pdfState is what Push keeps.
type pdfState struct {
	color  color.Color
	width  vg.Length
	dashes []vg.Length
	offset vg.Length
	at     affine
}

// pdfCanvas is a page of a PDF.
type pdfCanvas struct {
	doc    *fpdf.Fpdf
	height vg.Length
	stack  []pdfState
}

func (c *pdfCanvas) state() *pdfState { return &c.stack[len(c.stack)-1] }

func (c *pdfCanvas) SetLineWidth(w vg.Length) { c.state().width = w }

func (c *pdfCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.state().dashes, c.state().offset = pattern, offset
}

func (c *pdfCanvas) SetColor(hue color.Color) { c.state().color = hue }

func (c *pdfCanvas) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	c.state().at = c.state().at.after(affine{a: cos, b: sin, c: -sin, d: cos})
}

func (c *pdfCanvas) Translate(by vg.Point) {
	c.state().at = c.state().at.after(affine{a: 1, d: 1, e: by.X.Points(), f: by.Y.Points()})
}

func (c *pdfCanvas) Scale(x, y float64) { c.state().at = c.state().at.after(affine{a: x, d: y}) }

func (c *pdfCanvas) Push() { c.stack = append(c.stack, *c.state()) }

func (c *pdfCanvas) Pop() { c.stack = c.stack[:len(c.stack)-1] }

// place returns a point on the page, whose y points downward.
func (c *pdfCanvas) place(p vg.Point) (x, y float64) {
	m := c.state().at
	px, py := p.X.Points(), p.Y.Points()
	return m.a*px + m.c*py + m.e, c.height.Points() - (m.b*px + m.d*py + m.f)
}

func (c *pdfCanvas) Stroke(path vg.Path) {
	s := c.state()
	if s.width <= 0 {
		return
	}
	r, g, b, alpha := channelsOf(s.color)
	c.doc.SetDrawColor(r, g, b)
	c.doc.SetAlpha(alpha, "Normal")
	c.doc.SetLineWidth(s.width.Points())
	var dashes []float64
	for _, d := range s.dashes {
		dashes = append(dashes, d.Points())
	}
	c.doc.SetDashPattern(dashes, s.offset.Points())
	c.trace(path)
	c.doc.DrawPath("D")
}

func (c *pdfCanvas) Fill(path vg.Path) {
	c.fillWith(c.state().color)
	c.trace(path)
	c.doc.DrawPath("F")
}

func (c *pdfCanvas) fillWith(hue color.Color) {
	r, g, b, alpha := channelsOf(hue)
	c.doc.SetFillColor(r, g, b)
	c.doc.SetTextColor(r, g, b)
	c.doc.SetAlpha(alpha, "Normal")
}

// channelsOf returns a colour from 0 to 255, and its opacity from 0 to 1.
func channelsOf(hue color.Color) (r, g, b int, alpha float64) {
	if hue == nil {
		hue = color.Black
	}
	n := color.NRGBAModel.Convert(hue).(color.NRGBA)
	return int(n.R), int(n.G), int(n.B), float64(n.A) / 0xff
}

// trace draws a path.
func (c *pdfCanvas) trace(path vg.Path) {
	for _, part := range path {
		x, y := c.place(part.Pos)
		switch part.Type {
		case vg.MoveComp:
			c.doc.MoveTo(x, y)
		case vg.LineComp:
			c.doc.LineTo(x, y)
		case vg.ArcComp:
			c.arc(part)
		case vg.CurveComp:
			c.curve(part.Control, x, y)
		case vg.CloseComp:
			c.doc.ClosePath()
		}
	}
}

func (c *pdfCanvas) curve(control []vg.Point, x, y float64) {
	x0, y0 := c.place(control[0])
	if len(control) == 1 {
		c.doc.CurveTo(x0, y0, x, y)
		return
	}
	x1, y1 := c.place(control[1])
	c.doc.CurveBezierCubicTo(x0, y0, x1, y1, x, y)
}

// arc draws an arc as Bézier curves, each of a right angle at most. The first line of a path's arc
// leads to its begin.
func (c *pdfCanvas) arc(part vg.PathComp) {
	n := int(math.Ceil(math.Abs(part.Angle) / (math.Pi / 2)))
	step := part.Angle / float64(max(n, 1))
	reach := vg.Length(4.0 / 3 * math.Tan(step/4))
	at := func(angle float64) (on, along vg.Point) {
		sin, cos := math.Sincos(angle)
		radius := vg.Point{X: part.Radius * vg.Length(cos), Y: part.Radius * vg.Length(sin)}
		return part.Pos.Add(radius), vg.Point{X: -radius.Y, Y: radius.X}
	}
	begin, _ := at(part.Start)
	c.doc.LineTo(c.place(begin))
	for i := range n {
		from, out := at(part.Start + float64(i)*step)
		to, in := at(part.Start + float64(i+1)*step)
		x, y := c.place(to)
		c.curve([]vg.Point{from.Add(out.Scale(reach)), to.Sub(in.Scale(reach))}, x, y)
	}
}

func (c *pdfCanvas) FillString(f font.Face, at vg.Point, text string) {
	c.fillWith(c.state().color)
	c.doc.SetFont(pdfFont, "", f.Font.Size.Points())
	x, y := c.place(at)
	m := c.state().at
	c.doc.TransformBegin()
	c.doc.TransformRotate(math.Atan2(m.b, m.a)*180/math.Pi, x, y)
	c.doc.Text(x, y, text)
	c.doc.TransformEnd()
}

// DrawImage is part of the interface. No picture has an image.
func (c *pdfCanvas) DrawImage(vg.Rectangle, image.Image) { panic("no picture has an image") }
