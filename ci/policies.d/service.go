// A service of Go: it answers with what was sent to it, keeps it in a file, and ends by SIGTERM.
package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	http.HandleFunc("/", func(answer http.ResponseWriter, asked *http.Request) {
		body, err := io.ReadAll(asked.Body)
		if err == nil && len(body) > 0 {
			err = os.WriteFile("kept", body, 0o644)
		}
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		answer.Write(body)
	})
	server := http.Server{Addr: os.Args[1]}
	ended := make(chan struct{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		server.Shutdown(context.Background())
		close(ended)
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
	<-ended
}
