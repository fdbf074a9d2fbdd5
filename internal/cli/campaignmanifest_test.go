package cli

import (
	"strings"
	"testing"
)

func TestCampaignManifest(t *testing.T) {
	dir := t.TempDir()
	nats := []string{"--machines", "8", "--nats", "nats://ci:4222", "--creds", "ci.creds", "--campaign", "delay"}
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"workers by Slurm":      {append(nats, "--slurm"), []string{"#SBATCH --job-name=delay\n#SBATCH --array=1-8\n", "#SBATCH --mem=2048M\n#SBATCH --time=1440\n", "exec lockstorm work --nats nats://ci:4222 --creds ci.creds --campaign delay --workers 1 --once\n"}},
		"workers by Kubernetes": {append(nats, "--kubernetes", "--image", "ci/lockstorm", "--workers", "2", "--secret", "ours"), []string{"completions: 8\n", "memory: 4096Mi\n", `secretName: "ours"`}},
		"workers by compose":    {append(nats, "--compose", "--image", "ci/lockstorm", "--memory", "500"), []string{"replicas: 8\n", "memory: 500M\n", `file: "ci.creds"`}},
		"a sweep":               {[]string{"--slurm", "--machines", "2", "--out", dir, "sweep", "restart-delay", "--points", "1"}, []string{"exec lockstorm sweep restart-delay --points 1 --parallel 1 --shard auto/2 --out "}},
		"an exploration":        {[]string{"--kubernetes", "--image", "x", "--machines", "2", "--claim", "c", "explore", "crash-restart"}, []string{`- "/results/part-$(JOB_COMPLETION_INDEX).json"`, `name: "lockstorm-merge"`}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, problems := command(t, append([]string{"campaign", "manifest"}, c.args...)...)
			want(t, "exit code", code, exitAsExpected)
			want(t, "problems", problems, "")
			wantIn(t, out, c.want...)
		})
	}
}

func TestCampaignManifestRejectsBadInput(t *testing.T) {
	for says, args := range map[string]string{
		"[slurm kubernetes compose] is required":                   "--machines 2 --nats nats://ci",
		"[kubernetes slurm] were all set":                          "--slurm --kubernetes --machines 2 --nats nats://ci",
		"--machines 0: want the number of machines":                "--slurm --nats nats://ci",
		"1001 machines: want 1 to 1000":                            "--slurm --machines 1001 --nats nats://ci",
		"--workers 0: want at least 1":                             "--slurm --machines 2 --workers 0 --nats nats://ci",
		"--memory 0: want at least 1 MiB":                          "--slurm --machines 2 --memory 0 --nats nats://ci",
		"--image: want an image with lockstorm":                    "--compose --machines 2 --nats nats://ci",
		"--image needs --kubernetes or --compose":                  "--slurm --machines 2 --image x --nats nats://ci",
		"--creds needs --nats":                                     "--slurm --machines 2 --creds x sweep drift",
		"--secret needs --kubernetes":                              "--slurm --machines 2 --secret x --nats nats://ci",
		"--time needs --slurm or --kubernetes":                     "--compose --image x --machines 2 --time 1h --nats nats://ci",
		"--out needs --slurm or --compose, and no --nats":          "--slurm --machines 2 --out x --nats nats://ci",
		"--claim needs --kubernetes, and no --nats":                "--slurm --machines 2 --claim x sweep drift",
		"other users can see a password":                           "--slurm --machines 2 --nats nats://me:secret@ci",
		"the campaign has the command":                             "--slurm --machines 2 --nats nats://ci sweep drift",
		"want the URL of NATS servers, or a command to divide":     "--slurm --machines 2",
		`unknown command that can be divided without --nats "deba`: "--slurm --machines 2 --out x debate",
		`sweep: unknown sweep "drif"`:                              "--slurm --machines 2 --out x sweep drif",
		"sweep: want the name of one sweep or scenario":            "--slurm --machines 2 --out x sweep",
		"flags of the manifest come before the command":            "--slurm --machines 2 sweep drift --out x",
		`explore: unknown scenario "cal"`:                          "--slurm --machines 2 --out x explore cal",
		"explore: want the name of one sweep or scenario":          "--slurm --machines 2 --out x explore calm crash-restart",
		"want a directory for the parts":                           "--slurm --machines 2 sweep drift",
	} {
		code, out, problems := command(t, append([]string{"campaign", "manifest"}, strings.Fields(args)...)...)
		if code != exitBadInput || out != "" || strings.Count(problems, "\n") != 1 || !strings.Contains(problems, says) || strings.Contains(problems, "secret@") {
			t.Errorf("%s: exit code %d, want %s, got %s", args, code, says, problems)
		}
	}
}
