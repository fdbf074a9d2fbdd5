package plots

import (
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
)

// Law: a chart on a page uses only the page's colours, fits into it, and can be read as a
// table with rows of equal length.
func TestPageHasNoColoursOfItsOwn(t *testing.T) {
	for name, c := range samples {
		svg, err := Page(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if left := regexp.MustCompile(`(fill|stroke):\s*(#|rgb|white|black)[^;"]*`).Find(svg); left != nil {
			t.Errorf("%s: %s is left", name, left)
		}
		if strings.Contains(string(svg), ` id="`) {
			t.Errorf("%s has an id, which another picture may have", name)
		}
		if err := xml.Unmarshal(svg, new(struct{})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		head, rows := Data(c)
		for _, r := range rows {
			if len(r) != len(head) {
				t.Errorf("%s: %d cells below %d heads", name, len(r), len(head))
			}
		}
	}
}

func TestHeatIsAStopOfThePage(t *testing.T) {
	for i := range 1001 {
		c := Screen.heatColor(float64(i) / 1000)
		text := "#" + hex(c.R) + hex(c.G) + hex(c.B)
		if paint, err := pageColor(text); err != nil || !strings.HasPrefix(paint, "color-mix(") && i > 0 {
			t.Fatalf("%v is %q, %v", c, paint, err)
		}
	}
	if _, err := pageColor("#123456"); err == nil {
		t.Error("a colour of nobody is taken")
	}
}

func hex(v uint8) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[v>>4], digits[v&15]})
}
