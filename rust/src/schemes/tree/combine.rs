//! The levels above chaining values that come piece by piece.

use super::{CV_LEN, Error, MAX_LEVELS, Nodes, Shape, Tree};

impl Tree {
    /// Starts to compute an output from chaining values of a level that come piece by piece, in order:
    /// [`Tree::combine_into`] without all of them in memory.
    ///
    /// ```
    /// use veriplex::{label, tree::Tree};
    ///
    /// let tree = Tree::new(label!("com.example.tree"));
    /// let message = [7; 20_000];
    /// let mut combiner = tree.combiner(0)?;
    /// for chunk in message.chunks(4096) {
    ///     let mut value = [0; 32];
    ///     tree.chaining_values_into(0, chunk, &mut value)?;
    ///     combiner.update(&value)?;
    /// }
    /// let mut digest = [0; 32];
    /// combiner.finalize_into(20_000, &mut digest)?;
    /// assert_eq!(digest, *tree.digest(&message).as_bytes());
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LimitReached`] for a level above 7: no message has chaining values there.
    pub fn combiner(&self, level: usize) -> Result<Combiner, Error> {
        if level >= MAX_LEVELS - 1 {
            return Err(Error::LimitReached);
        }
        Ok(Combiner {
            nodes: Nodes::new(self.clone(), ()),
            level,
            values_len: 0,
        })
    }
}

/// An output in the making from the chaining values of one level, made by [`Tree::combiner`]. It holds one transcript for
/// each level above, and no values.
#[derive(Clone, Debug)]
pub struct Combiner {
    nodes: Nodes<()>,
    level: usize,
    values_len: u64,
}

impl Combiner {
    /// Takes the next chaining values, 32 bytes for each [`Tree::unit_len`] of the message.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if `values` is not a multiple of 32 bytes; [`Error::LimitReached`] if they are more than a
    /// message below 2^64 bytes has. Nothing is taken then.
    pub fn update(&mut self, values: &[u8]) -> Result<(), Error> {
        if !values.len().is_multiple_of(CV_LEN) {
            return Err(Error::BufferLength);
        }
        let most = Shape::new(u64::MAX).len_of(self.level + 1);
        let values_len = self.values_len.saturating_add(values.len() as u64);
        if values_len > most {
            return Err(Error::LimitReached);
        }
        self.values_len = values_len;
        self.nodes.push(self.level + 1, values, Tree::for_each_batch);
        Ok(())
    }

    /// The output for a message of `len` bytes, all of whose chaining values were given.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if there were not 32 bytes for each [`Tree::unit_len`] of the message;
    /// [`Error::LimitReached`] if the message has no chaining values of this level, because it is not longer than a unit.
    pub fn finalize_into(mut self, len: u64, output: &mut [u8]) -> Result<(), Error> {
        let shape = Shape::new(len);
        if self.level >= shape.top {
            return Err(Error::LimitReached);
        }
        if self.values_len != shape.len_of(self.level + 1) {
            return Err(Error::BufferLength);
        }
        self.nodes.len = len;
        self.nodes.finish(self.level + 1, output);
        Ok(())
    }
}
