//! A service of Rust: it answers with what was sent to it, keeps it in a file, and ends when it is
//! told `end`.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// Answers one request; returns what was sent with it.
fn answer(mut stream: TcpStream) -> std::io::Result<Vec<u8>> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&body)?;
    Ok(body)
}

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).expect("an address");
    let listener = TcpListener::bind(address)?;
    for stream in listener.incoming() {
        let stream = stream?;
        let served = std::thread::spawn(move || answer(stream));
        let body = served.join().expect("the thread ends")?;
        let mut kept = OpenOptions::new().create(true).append(true).open("kept")?;
        kept.write_all(&body)?;
        if body == b"end" {
            break;
        }
    }
    Ok(())
}
