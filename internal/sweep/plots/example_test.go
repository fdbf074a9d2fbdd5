package plots_test

import (
	"fmt"
	"os"

	"github.com/lockstorm/lockstorm/internal/sweep/plots"
)

func ExampleSave() {
	dir, err := os.MkdirTemp("", "lockstorm-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	chart := plots.Curves{
		Title: "A node comes back empty before a lease has ended",
		X:     plots.Axis{Name: "restart delay", Unit: "TTL"},
		Y:     plots.Axis{Name: "probability of a violation", From: 0, To: 1},
		Curves: []plots.Curve{{
			Name:    "plain",
			Points:  []plots.Point{{X: 0, Y: 1, Lo: 0.96, Hi: 1}, {X: 0.5, Y: 0.52, Lo: 0.42, Hi: 0.61}, {X: 1, Y: 0, Lo: 0, Hi: 0.04}},
			Formula: []plots.XY{{X: 0, Y: 1}, {X: 0.98, Y: 0}, {X: 1, Y: 0}},
		}},
		Marks: []plots.Mark{{X: 0.98, Label: "safe delay"}},
	}
	if err := plots.Save(dir, "restart", chart, []plots.Format{plots.SVG, plots.PNG}, plots.Print, plots.About{Command: "lockstorm sweep restart-delay"}); err != nil {
		fmt.Println(err)
		return
	}
	files, err := os.ReadDir(dir)
	fmt.Println(files[0].Name(), files[1].Name(), err)
	// Output: restart.png restart.svg <nil>
}
