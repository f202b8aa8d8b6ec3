//! Hashing, encryption and opening of files as WebAssembly: the page puts bytes into our memory, calls an operation, and
//! reads its output. The formats are those of the program `veriplex`: files under a key, version 1.

use std::sync::{Mutex, MutexGuard, PoisonError};

use veriplex::mac::Mac;
use veriplex::seekable::{Message, Seekable};
use veriplex::tree::Tree;
use veriplex::{Key, TAG_LEN, digest, label};

/// What encrypted files begin with, before the salt.
const HEADER: &[u8; 10] = b"VERIPLEX\x01\0";
const SALT_LEN: usize = 32;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts a result where [`output`] is, and says whether it is one: otherwise the error is there, as text.
fn give(result: Result<Vec<u8>, String>) -> bool {
    let good = result.is_ok();
    *lock(&OUTPUT) = result.unwrap_or_else(String::into_bytes);
    good
}

/// Room for an input of so many bytes.
// SAFETY: no other symbol in the module has this name; so it is for those below.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(len: usize) -> *mut u8 {
    let mut input = lock(&INPUT);
    *input = vec![0; len];
    input.as_mut_ptr()
}

/// Where the output of the last operation is.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    lock(&OUTPUT).as_ptr()
}

/// Its length.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn output_len() -> usize {
    lock(&OUTPUT).len()
}

/// The input's digests, as `veriplex sum` and `veriplex digest` print them, in two lines.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn hash() -> bool {
    let input = lock(&INPUT);
    let sum = Tree::new(label!("veriplex.sum.v1")).digest(&input);
    let digest = digest::digest(label!("veriplex.digest.v1"), &input);
    give(Ok(format!("{sum}\n{digest}").into_bytes()))
}

/// The name of the code that computes the permutation.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn backend() -> bool {
    give(Ok(veriplex::backend().into()))
}

/// Encrypts an input of key (32 bytes), salt (32 bytes, random) and plaintext.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn encrypt() -> bool {
    give(encrypted(&lock(&INPUT)).ok_or_else(|| "there is no key and no salt".to_owned()))
}

/// Opens an input of key (32 bytes) and encrypted file.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> bool {
    give(opened(&lock(&INPUT)).map_err(str::to_owned))
}

fn message(key: &Key, salt: &[u8; SALT_LEN]) -> Message {
    Seekable::<SALT_LEN>::new(label!("veriplex.file.seekable.v1"), key).message(salt, HEADER)
}

fn header_mac(key: &Key, salt: &[u8; SALT_LEN]) -> Mac {
    let mut mac = Mac::new(label!("veriplex.file.header.v1"), key);
    mac.update(HEADER);
    mac.update(salt);
    mac
}

fn encrypted(input: &[u8]) -> Option<Vec<u8>> {
    let (key, rest) = input.split_first_chunk::<32>()?;
    let (salt, plaintext) = rest.split_first_chunk::<SALT_LEN>()?;
    let key = Key::from(*key);
    let mut file = [HEADER.as_slice(), salt].concat();
    file.extend(header_mac(&key, salt).finalize().as_bytes());
    file.extend(message(&key, salt).seal_vec(plaintext));
    Some(file)
}

fn opened(input: &[u8]) -> Result<Vec<u8>, &'static str> {
    let (key, file) = input.split_first_chunk::<32>().ok_or("there is no key")?;
    let key = Key::from(*key);
    let rest = file
        .strip_prefix(HEADER)
        .ok_or("this is no file that was encrypted with a key (version 1)")?;
    let (salt, rest) = rest.split_first_chunk::<SALT_LEN>().ok_or("the file was cut")?;
    let (tag, sealed) = rest.split_first_chunk::<TAG_LEN>().ok_or("the file was cut")?;
    (header_mac(&key, salt).verify(tag))
        .map_err(|_| "the key is another one, or the file's beginning was changed")?;
    (message(&key, salt).open_vec(sealed)).map_err(|_| "the file was changed or cut")
}
