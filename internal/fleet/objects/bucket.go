package objects

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is a store in a bucket, below a prefix.
type bucket struct {
	client *minio.Client
	creds  *credentials.Credentials
	name   string
	prefix string // "" or ends in a slash
}

const (
	connectTimeout  = 10 * time.Second
	responseTimeout = time.Minute // until an answer begins
	attempts        = 3           // of each request
)

// openBucket opens the bucket of s3://BUCKET[/PREFIX]. The endpoint is that of AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL,
// else Amazon's; the region that of AWS_REGION or AWS_DEFAULT_REGION. Without one, Amazon's servers are asked for the
// bucket's region.
func openBucket(location string) (*bucket, error) {
	name, prefix, _ := strings.Cut(strings.TrimPrefix(location, schemeS3), "/")
	if name == "" || strings.ContainsAny(name, "@:?") {
		return nil, errors.New("the location of a bucket is s3://BUCKET/PREFIX; credentials and endpoint are set by the " +
			"variables AWS_*")
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	host, secure, lookup := "s3.amazonaws.com", true, minio.BucketLookupDNS
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return nil, errors.New("AWS_ENDPOINT_URL must have the form https://HOST, without credentials; set these by " +
				"the other variables AWS_*")
		}
		// MinIO, Ceph and others have no host name for each bucket. They ignore the region, but it is part of the
		// signature.
		host, secure, lookup = u.Host, u.Scheme == "https", minio.BucketLookupPath
		region = cmp.Or(region, "us-east-1")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	transport.ResponseHeaderTimeout = responseTimeout
	transport.DisableCompression = true // an object is stored as it is
	b := &bucket{name: name, prefix: prefix, creds: credentials.NewChainCredentials(providers())}
	var err error
	b.client, err = minio.New(host, &minio.Options{Creds: b.creds, Secure: secure, Region: region, BucketLookup: lookup,
		Transport: transport, MaxRetries: attempts})
	return b, err
}

// providers are where credentials are looked for: variables, the files of profiles (keys, SSO, credential_process), and
// the role of the machine.
func providers() []credentials.Provider {
	list := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	roles := []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI"}
	asks := os.Getenv("AWS_EC2_METADATA_DISABLED") != "true"
	for _, name := range roles {
		asks = asks || os.Getenv(name) != ""
	}
	if asks {
		list = append(list, &credentials.IAM{Client: &http.Client{Timeout: connectTimeout}})
	}
	return list
}

// signed returns an error if there are no credentials: the library would send requests without a signature.
func (b *bucket) signed() error {
	v, err := b.creds.GetWithContext(b.client.CredContext())
	if err == nil && v.AccessKeyID == "" {
		err = errors.New("no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
	}
	return err
}

// List sends one request for each 1,000 names.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if err := b.signed(); err != nil {
			yield(Object{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // ends the goroutine of the library
		below := minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}
		for o := range b.client.ListObjects(ctx, b.name, below) {
			if o.Err != nil {
				yield(Object{}, explained(o.Err))
				return
			}
			name, ok := strings.CutPrefix(o.Key, b.prefix)
			if ok && !yield(Object{name, o.Size, o.LastModified}, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(Object{}, explained(ctx.Err()))
		}
	}
}

// body is the content of an object that arrives.
type body struct{ io.ReadCloser }

// Read explains errors.
func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the object did not arrive completely; try again")
	case !errors.Is(err, io.EOF):
		err = explained(err)
	}
	return n, err
}

// Read sends one request.
func (b *bucket) Read(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := b.signed(); err != nil {
		return nil, err
	}
	core := minio.Core{Client: b.client} // one request for each object
	in, _, _, err := core.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, explained(err)
	}
	return body{in}, nil
}

// Put sends one request.
func (b *bucket) Put(ctx context.Context, name string, data []byte) error {
	return b.put(ctx, name, bytes.NewReader(data), int64(len(data)))
}

func (b *bucket) put(ctx context.Context, name string, content io.Reader, size int64) error {
	if err := b.signed(); err != nil {
		return err
	}
	// What is stored has checksums of its own, and not every server has those of newer libraries.
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, content, size,
		minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true})
	return explained(err)
}

// PutFile sends the file while it is read.
func (b *bucket) PutFile(ctx context.Context, name, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := b.put(ctx, name, f, info.Size()); err != nil {
		return err
	}
	f.Close() // Windows removes no open file
	return os.Remove(file)
}

// Remove sends one request.
func (b *bucket) Remove(ctx context.Context, name string) error {
	if err := b.signed(); err != nil {
		return err
	}
	return explained(b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}))
}

// explained adds the way out to an error of the library, without what it says of requests. A missing object becomes
// fs.ErrNotExist.
func explained(err error) error {
	var answer minio.ErrorResponse
	var dns *net.DNSError
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &dns):
		return fmt.Errorf("the host %s is not known: %v; check the network and AWS_ENDPOINT_URL", dns.Name, dns.Err)
	case errors.As(err, &network):
		return fmt.Errorf("no connection: %w; check the network and AWS_ENDPOINT_URL", network)
	case errors.As(err, &answer):
		return refused(answer)
	}
	return err
}

// refused returns an error for an answer of the server.
func refused(answer minio.ErrorResponse) error {
	what := answer.Code
	if answer.Message != "" {
		what += ": " + answer.Message
	}
	switch answer.Code {
	case minio.NoSuchKey, "NotFound":
		return fmt.Errorf("%s: %w", what, fs.ErrNotExist)
	case minio.NoSuchBucket:
		return fmt.Errorf("%s; create the bucket, or correct its name", what)
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		return fmt.Errorf("%s; set AWS_REGION to the region of the bucket", what)
	}
	if answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized ||
		strings.Contains(answer.Code, "Token") || strings.Contains(answer.Message, "access key") {
		return fmt.Errorf("%s; check the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE), and "+
			"that they permit to list, to read, and, if something is stored, to write and to remove", what)
	}
	return errors.New(what)
}
