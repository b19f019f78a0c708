// Prometheus without its command: its own handlers for remote write and OTLP, its scraper, its storage and its queries.
// The command itself needs the clients of twenty clouds to find targets there, which take many minutes to build.
//
//	prometheus ADDRESS FOLDER SCRAPED [native]
//
// Takes remote write at /api/v1/write and OTLP at /v1/metrics; scrapes SCRAPED ten times a second (`native`: asks for native
// histograms), and answers /query?query=PROMQL with the sum of the result.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"time"

	remoteapi "github.com/prometheus/client_golang/exp/api/remote"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/storage/remote"
	"github.com/prometheus/prometheus/tsdb"
)

const scraping = `
global: {scrape_interval: 500ms, scrape_timeout: 500ms, scrape_native_histograms: %t}
scrape_configs: [{job_name: squall}]
`

func main() {
	address, folder, scraped := os.Args[1], os.Args[2], os.Args[3]
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	database, err := tsdb.Open(folder, logger, nil, tsdb.DefaultOptions(), nil)
	check(err)
	isNative := len(os.Args) > 4 && os.Args[4] == "native"
	settings, err := config.Load(fmt.Sprintf(scraping, isNative), logger)
	check(err)

	// It would look for targets every 5 s.
	options := &scrape.Options{DiscoveryReloadInterval: model.Duration(100 * time.Millisecond)}
	scraper, err := scrape.NewManager(options, logger, nil, nil, database, prometheus.NewRegistry())
	check(err)
	check(scraper.ApplyConfig(settings))
	targets := make(chan map[string][]*targetgroup.Group, 1)
	target := model.LabelSet{model.AddressLabel: model.LabelValue(scraped)}
	targets <- map[string][]*targetgroup.Group{"squall": {{Targets: []model.LabelSet{target}}}}
	go func() { check(scraper.Run(targets)) }()

	types := []remoteapi.WriteMessageType{remoteapi.WriteV1MessageType}
	http.Handle("/api/v1/write", remote.NewWriteHandler(logger, prometheus.NewRegistry(), database, types, false, false))
	current := func() config.Config { return *settings }
	otlp := remote.NewOTLPWriteHandler(logger, prometheus.NewRegistry(), database, current, remote.OTLPOptions{})
	http.Handle("/v1/metrics", otlp)
	http.HandleFunc("/query", func(answer http.ResponseWriter, request *http.Request) {
		sum, err := query(database, request.FormValue("query"))
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(answer, sum)
	})
	log.Fatal(http.ListenAndServe(address, nil))
}

// The sum of a query's values now.
func query(database *tsdb.DB, text string) (float64, error) {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: 10 * time.Second})
	found, err := engine.NewInstantQuery(context.Background(), database, nil, text, time.Now())
	if err != nil {
		return 0, err
	}
	defer found.Close()
	vector, err := found.Exec(context.Background()).Vector()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, sample := range vector {
		sum += sample.F
	}
	return sum, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
