// A collector made of OpenTelemetry's own modules: it takes OTLP over HTTP and gRPC and hands it on as JSON, as its
// configuration says (peers.py).
//
//	collector --config FILE
package main

import (
	"log"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry"
)

func main() {
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "0"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
			DefaultScheme:     "file",
		}},
	}
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}

func factories() (otelcol.Factories, error) {
	receivers := []receiver.Factory{otlpreceiver.NewFactory()}
	exporters := []exporter.Factory{otlphttpexporter.NewFactory()}
	// Of itself it says nothing but why it has ended.
	nothing := telemetry.NewFactory(func() component.Config { return &struct{}{} })
	all := otelcol.Factories{Telemetry: nothing}
	var err error
	if all.Receivers, err = otelcol.MakeFactoryMap(receivers...); err != nil {
		return all, err
	}
	all.Exporters, err = otelcol.MakeFactoryMap(exporters...)
	return all, err
}
