package plots

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// saved returns a file of a chart.
func saved(t *testing.T, c Chart, format Format, style Style, about About) []byte {
	t.Helper()
	content, err := Encode(c, format, style, about)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Law: a picture says in its metadata what it shows and how it was made.
func TestMetadata(t *testing.T) {
	c := delays(400, 31)
	c.Title = `a "title" with <marks> & ρ`
	c.Curves[0].Runs[0] = 40
	var picture struct {
		Title    string `xml:"title"`
		Desc     string `xml:"desc"`
		Metadata struct {
			RDF struct {
				Description struct {
					Title   string `xml:"title>Alt>li"`
					Command string `xml:"command"`
					Seed    uint64 `xml:"seed"`
					Runs    string `xml:"runs"`
					Formula string `xml:"formula"`
					Program string `xml:"program"`
					Drawer  string `xml:"creator>Seq>li"`
				} `xml:"Description"`
			} `xml:"RDF"`
		} `xml:"metadata"`
	}
	if err := xml.Unmarshal(saved(t, c, SVG, Screen, made), &picture); err != nil {
		t.Fatal(err)
	}
	d := picture.Metadata.RDF.Description
	if picture.Title != c.Title || d.Title != c.Title || d.Command != made.Command || d.Seed != made.Seed || d.Runs != "40 to 400 runs per point" || d.Formula != made.Formula {
		t.Errorf("the SVG has %+v", picture)
	}
	if d.Program != "Lockstorm v1.2.0, revision 3f2a" || d.Drawer != "Lockstorm v1.3.0" {
		t.Errorf("the SVG was made by %q and drawn by %q", d.Program, d.Drawer)
	}
	for _, line := range []string{"Made: " + made.Made, "Command: " + made.Command, "Seed: 7"} {
		if !slices.Contains(strings.Split(picture.Desc, "\n"), line) {
			t.Errorf("the SVG does not say %q: %s", line, picture.Desc)
		}
	}
	bits, pdf := saved(t, c, PNG, Screen, made), saved(t, c, PDF, Screen, made)
	for _, text := range []string{"Command\x00\x00\x00\x00\x00" + made.Command, "Title\x00\x00\x00\x00\x00" + c.Title, "Seed\x00\x00\x00\x00\x007", "Program\x00\x00\x00\x00\x00Lockstorm v1.2.0, revision 3f2a", "Software\x00\x00\x00\x00\x00Lockstorm v1.3.0"} {
		if !bytes.Contains(bits, []byte(text)) {
			t.Errorf("the PNG does not say %q", text)
		}
	}
	for _, text := range []string{"/Title (\xfe\xff", "/Subject (\xfe\xff", "<lockstorm:command>" + made.Command, "<lockstorm:seed>7<", "<lockstorm:program>Lockstorm v1.2.0, revision 3f2a<", "/Creator (\xfe\xff\x00L"} {
		if !bytes.Contains(pdf, []byte(text)) {
			t.Errorf("the PDF does not say %q", text)
		}
	}
}

// Law: an SVG needs no font. Each text is the outlines of its letters, as wide as it was laid out.
func TestOutlines(t *testing.T) {
	for name, c := range samples {
		made := string(saved(t, c, SVG, Screen, About{}))
		if strings.Contains(made, "<text") || strings.Contains(made, "font-") {
			t.Errorf("%s: a text needs a font", name)
		}
		var labels []string
		for _, m := range regexp.MustCompile(`aria-label="([^"]*)"`).FindAllStringSubmatch(made, -1) {
			labels = append(labels, m[1])
		}
		if want := textElement.FindAllString(svg(t, c), -1); len(labels) != len(want) {
			t.Errorf("%s: %d texts, want %d", name, len(labels), len(want))
		}
		for _, m := range regexp.MustCompile(`href="#(glyph-\d+)"`).FindAllStringSubmatch(made, -1) {
			if strings.Count(made, `id="`+m[1]+`"`) != 1 {
				t.Errorf("%s: %s is not defined once", name, m[1])
			}
		}
		if err := xml.Unmarshal([]byte(made), new(struct{})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"AVAVA", "a node comes back", "T (1 + ρr)"} {
		letters := layOut(text)
		last := letters[len(letters)-1]
		got := float64(last.x)/float64(face().UnitsPerEm())*titleSize + float64(textStyle(titleSize).Width(string([]rune(text)[len(letters)-1:])))
		if want := float64(textStyle(titleSize).Width(text)); math.Abs(got-want) > 1e-3 {
			t.Errorf("%q is %v wide, and was laid out for %v", text, got, want)
		}
	}
}

// Law: a title is as wide as the picture at most, whatever its length.
func TestTitlesAreWrapped(t *testing.T) {
	c := delays(400, 31)
	for _, word := range []string{"W", "i", "restart", "Ж"} {
		c.Title = strings.TrimSpace(strings.Repeat(word+" ", 150/len(word)))
		for _, m := range textElement.FindAllStringSubmatch(svg(t, c), -1) {
			x, err := strconv.ParseFloat(m[1], 64)
			if err != nil || m[5] != "13" {
				continue
			}
			if right := x + float64(textStyle(titleSize).Width(m[7])); right > float64(pixels(Width)-border)+0.01 {
				t.Errorf("a line of %q ends at %v", word, right)
			}
		}
	}
}

// Law: the CSV of a chart has every point, exactly.
func TestCSV(t *testing.T) {
	c := delays(400, 31)
	table, err := csv.NewReader(bytes.NewReader(saved(t, c, CSV, Screen, made))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"curve", "restart delay [TTL]", "probability of a violation", "interval low", "interval high", "formula", "runs", "lockstorm"}; !slices.Equal(table[0], want) {
		t.Errorf("the head is %q", table[0])
	}
	n := 1
	for _, one := range c.Curves {
		for i, p := range one.Points {
			want := []float64{p.X, p.Y, p.Lo, p.Hi, one.Formula[i].Y}
			for j, v := range want {
				if got, err := strconv.ParseFloat(table[n][j+1], 64); err != nil || got != v {
					t.Fatalf("row %d is %q, want %v", n, table[n], want)
				}
			}
			if got := table[n][6:]; !slices.Equal(got, []string{"400", made.Program}) {
				t.Errorf("row %d ends with %q", n, got)
			}
			n++
		}
	}
	if n != len(table) {
		t.Errorf("%d rows, want %d", len(table), n)
	}
	for name, c := range samples {
		if _, err := csv.NewReader(bytes.NewReader(saved(t, c, CSV, Screen, made))).ReadAll(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFormatsAndStyles(t *testing.T) {
	if list, err := ParseFormats([]string{"pdf", " SVG", "pdf"}); err != nil || !slices.Equal(list, []Format{PDF, SVG}) {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := ParseFormats([]string{"eps"}); err == nil || !strings.Contains(err.Error(), `unknown format "eps": want one of svg, png, pdf, csv`) {
		t.Error(err)
	}
	if _, err := ParseStyle("grey"); err == nil || !strings.Contains(err.Error(), "want screen or print") {
		t.Error(err)
	}
	if _, err := ParseFormats([]string{"parquet"}); (err == nil) != (writeParquet != nil) || err != nil && !errors.Is(err, ErrNoParquet) {
		t.Error(err)
	}
	if _, err := Encode(samples["delays"], "eps", Screen, made); err == nil {
		t.Error("a format that does not exist is written")
	}
}

// Law: maps apply in the order of the calls on a canvas: the last one first.
func TestAffine(t *testing.T) {
	for _, m := range []affine{identity, {a: 0, b: 1, c: -1, d: 0, e: 3, f: 4}} {
		back := m.after(affine{a: 1, d: 1, e: 5, f: 7})
		if x, y := back.a*0+back.c*0+back.e, back.b*0+back.d*0+back.f; x != m.a*5+m.c*7+m.e || y != m.b*5+m.d*7+m.f {
			t.Errorf("%v after a translation leads to %v, %v", m, x, y)
		}
	}
}
