//! A program.

fn main() {
    let digest = veriplex::digest::digest(veriplex::label!("dependent"), &std::env::args().count().to_le_bytes());
    println!("{:?}", digest.as_bytes());
}
