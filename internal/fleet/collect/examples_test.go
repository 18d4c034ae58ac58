package collect

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

const examples = "../../../examples/collect"

// scraped returns the metrics of a server.
func scraped(t *testing.T) string {
	t.Helper()
	h := NewServer(openStore(t, t.TempDir(), Options{}), testOptions)
	h.SetConfigs(&Configs{byPackage: map[string]signed{"com.a": {expires: time.Now().UnixMilli()}}})
	post(h, packed(line("aa-s1-0", "com.a", "ab")))
	w := httptest.NewRecorder()
	h.metrics(w, nil)
	return w.Body.String()
}

// TestAlertsNameMetrics checks that the collector has the metrics of examples/collect/alerts.yml.
func TestAlertsNameMetrics(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(examples, "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text := scraped(t)
	named := regexp.MustCompile(`tracegen_collect_\w+`).FindAllString(string(rules), -1)
	if len(named) < 8 {
		t.Errorf("only %q are named", named)
	}
	for _, name := range named {
		if family := strings.TrimSuffix(name, "_bucket"); !strings.Contains(text, "# TYPE "+family+" ") {
			t.Errorf("the alerts name %s, which is not in\n%s", name, text)
		}
	}
}

// example copies a file of examples/collect to a directory, with texts replaced.
func example(t *testing.T, dir, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(strings.NewReplacer(replace...).Replace(string(text))), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// checked runs a checker, which must accept its input if good is set, and refuse it otherwise.
func checked(t *testing.T, good bool, input string, program string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		oracle.Require(t, fmt.Errorf("%s: %w", program, oracle.ErrMissing))
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); (err == nil) != good {
		t.Errorf("%s %q: %v\n%s", program, args, err, out)
	}
}

// TestPromtool has Prometheus's own tool check the metrics, the rules and their tests, and the configuration.
func TestPromtool(t *testing.T) {
	nightly.Only(t, "tools")
	text := scraped(t)
	checked(t, true, text, "promtool", "check", "metrics")
	checked(t, false, strings.Replace(text, " counter\n", " number\n", 1), "promtool", "check", "metrics")
	dir := t.TempDir()
	example(t, dir, "alerts.yml")
	tests := example(t, dir, "alerts_test.yml")
	checked(t, true, "", "promtool", "test", "rules", tests)
	checked(t, true, "", "promtool", "check", "config", example(t, dir, "prometheus.yml"))
	example(t, dir, "alerts.yml", "0.01 *", "0.1 *")
	checked(t, false, "", "promtool", "test", "rules", tests)
}

// TestHaproxy has HAProxy check its configuration.
func TestHaproxy(t *testing.T) {
	nightly.Only(t, "tools")
	dir := t.TempDir()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	var both bytes.Buffer
	_ = pem.Encode(&both, &pem.Block{Type: "CERTIFICATE", Bytes: der}) // a buffer takes all
	_ = pem.Encode(&both, &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	file := filepath.Join(dir, "collect.pem")
	if err := os.WriteFile(file, both.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	checked(t, true, "", "haproxy", "-c", "-f", example(t, dir, "haproxy.cfg", "/etc/haproxy/collect.pem", file))
	checked(t, false, "", "haproxy", "-c", "-f", example(t, dir, "haproxy.cfg", "/etc/haproxy/collect.pem", file,
		"balance source", "balance sauce"))
}

// TestUnit has systemd check its unit, and the collector the options in it.
func TestUnit(t *testing.T) {
	nightly.Only(t, "tools")
	dir := t.TempDir()
	tool := oracle.BuildTool(t)
	unit := example(t, dir, "tracegen-collect.service", "/usr/local/bin/tracegen", tool)
	checked(t, true, "", "systemd-analyze", "verify", unit)
	checked(t, true, "", "systemd-analyze", "security", "--offline=true", "--threshold=25", unit)
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(strings.ReplaceAll(string(text), "\\\n", ""), "\nExecStart="+tool+" ")
	command, _, _ = strings.Cut(command, "\n")
	args := strings.Fields(command)
	if !slices.Contains(args, "collect") {
		t.Fatalf("the command is %q", args)
	}
	checked(t, true, "", tool, append(args, "--help")...)
	checked(t, false, "", tool, append(args, "--halp")...)
}
