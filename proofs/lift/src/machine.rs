//! An abstract machine. It runs a kernel with symbols for data, and refuses whatever would make the kernel's time or
//! addresses depend on data: there is no operation for it.
//!
//! A register holds something public (an address inside a buffer, the counter) or data, never both. Data flows from
//! definition to definition; it cannot become an address, and no branch can depend on it. So every run of an accepted
//! kernel executes the same instructions at the same addresses, whatever the secrets are.

use crate::table::{Buffer, Kernel};
use crate::{Error, Target};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Size in bytes of the vector registers that both instruction sets have: Cryptol's type `Vector`.
pub const VECTOR: u8 = 16;

/// A register, by the number that its instruction set gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    Vector(u8),
    General(u8),
}

/// The low bytes of a register, as an instruction reads or writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub register: Register,
    pub bytes: u8,
}

/// Base plus constant; with an index, the base is the start of the blocks of a lane.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub base: Register,
    pub index: Option<Register>,
    pub offset: i64,
}

/// What a definition is made of.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    Register(View),
    /// Memory, with its size in bytes.
    Memory(Address, u8),
    /// A constant, with the size in bits of its Cryptol number.
    Constant(u64, u8),
}

/// What an instruction does. A kernel can do nothing else.
#[derive(Clone, Debug)]
pub enum Effect {
    /// `destination = function operands`, with a function of the instruction set's Cryptol module. The register's
    /// higher bytes become zero, or are kept.
    Compute {
        destination: View,
        function: &'static str,
        operands: Vec<Operand>,
        keeps_above: bool,
    },
    /// Loads consecutive words into the destinations, by a definition of one of the modules; the higher bytes become
    /// zero.
    Load {
        destinations: Vec<View>,
        function: &'static str,
        address: Address,
    },
    /// Stores the sources to consecutive words.
    Store {
        sources: Vec<View>,
        function: &'static str,
        address: Address,
    },
    /// Stores 16 bytes of the source, selected by a constant, by a definition of the Cryptol module.
    StorePart {
        source: View,
        function: &'static str,
        part: u64,
        address: Address,
    },
    /// Loads a pointer from an argument that points to pointers: the start of a lane's blocks, to which an index is
    /// added; or, before the loop, the address of its first block, which the kernel then moves from block to block.
    LoadPointer {
        register: Register,
        address: Address,
        moves: bool,
    },
    /// Sets an index to zero. It is the distance of the current block from the first.
    SetIndex {
        register: Register,
    },
    /// Moves an address or an index, or counts down.
    Add {
        register: Register,
        constant: i64,
    },
    /// Sets the flags to whether this register is zero.
    Compare {
        register: Register,
    },
    /// Leaves nothing useful in the flags.
    ClobberFlags,
    Jump {
        target: u64,
    },
    /// Branches on the flags, or on a register.
    Branch {
        target: u64,
        if_zero: bool,
        register: Option<Register>,
    },
    /// Returns to the caller; `link` is the register that holds the return address, if it is not on the stack.
    Return {
        link: Option<Register>,
    },
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub offset: u64,
    pub len: u64,
    /// The disassembly.
    pub text: String,
    /// The CPU features that it needs, by their names in Rust, except those that every CPU has.
    pub features: Vec<String>,
    pub effects: Vec<Effect>,
}

/// What a register holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// What it held when the kernel was called.
    Caller,
    /// This offset in a buffer, or in its current block.
    Address { buffer: usize, offset: i64 },
    /// The start of the blocks of a buffer, whichever block is the current one.
    Start { buffer: usize },
    /// The stride times the number of iterations so far, plus this.
    Index(i64),
    /// n - i in the current iteration i, minus this.
    Count(i64),
    /// The value of a definition.
    Data(Data),
    /// Different in each iteration: it may not be used.
    Unknown,
}

/// A definition in the low bytes of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    pub definition: String,
    pub bytes: u8,
    /// Are the register's higher bytes zero? Otherwise they are as at the call.
    pub zero_above: bool,
}

impl Data {
    #[must_use]
    pub fn view(&self, register: Register) -> View {
        View {
            register,
            bytes: self.bytes,
        }
    }

    #[must_use]
    pub fn has_shape_of(&self, other: &Self) -> bool {
        (self.bytes, self.zero_above) == (other.bytes, other.zero_above)
    }

    /// Its low bytes, or all of it and zeros above, in Cryptol.
    #[must_use]
    pub fn read_as(&self, bytes: u8) -> String {
        let bits = 8 * u32::from(bytes);
        match bytes.cmp(&self.bytes) {
            Ordering::Less => format!("(low`{{{bits}}} {})", self.definition),
            Ordering::Equal => self.definition.clone(),
            Ordering::Greater => format!("(zext`{{{bits}}} {})", self.definition),
        }
    }
}

/// One line of a Cryptol function.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: String,
    pub expression: String,
    pub comment: String,
}

/// The machine between two instructions.
#[derive(Clone, Debug)]
pub struct Machine {
    pub registers: BTreeMap<Register, Value>,
    flags: Option<Value>,
    /// Each buffer, and the definition of its current contents.
    pub buffers: Vec<(Buffer, String)>,
    /// Buffers that hold pointers, each with the buffer that its first pointer points to. The other pointers' buffers
    /// follow that one.
    pointers: BTreeMap<usize, usize>,
    /// The distance from one block to the next in the buffers of lanes.
    lane_stride: i64,
}

/// Where a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Return,
    /// At a test of the counter: the next instruction if it is not zero, and if it is.
    Test {
        body: u64,
        exit: u64,
    },
}

/// A run from some instruction to the next test of the counter, or to the return.
#[derive(Clone, Debug)]
pub struct Segment {
    pub definitions: Vec<Definition>,
    pub machine: Machine,
    pub end: End,
    /// The earlier definitions that were read: those of the registers at the test.
    pub uses: BTreeSet<String>,
}

impl Machine {
    /// The machine at the call. With `in_place`, arguments that may share a buffer do.
    #[must_use]
    pub fn at_call(kernel: &Kernel, target: &Target, in_place: bool) -> Self {
        let mut registers: BTreeMap<_, _> = (target.vectors().map(Register::Vector))
            .chain(target.generals().map(Register::General))
            .map(|register| (register, Value::Caller))
            .collect();
        let mut buffers: Vec<(Buffer, String)> = Vec::new();
        let mut pointers = BTreeMap::new();
        let mut lane_stride = 0;
        for (argument, &number) in kernel.arguments.iter().zip(target.arguments) {
            let owner = argument.may_be().filter(|_| in_place).unwrap_or(&argument.name);
            let value = match (argument.buffer(), argument.pointers()) {
                (None, Some(count)) => {
                    let name = format!("{}_pointers", argument.name);
                    let table = Buffer {
                        name: name.clone(),
                        len: 8 * i64::from(count),
                        stride: None,
                        writable: false,
                    };
                    let index = buffers.len();
                    buffers.push((table, name));
                    for lane in 0..count {
                        let buffer = argument.of_lane(&format!("{owner}_{lane}"));
                        lane_stride = buffer.stride.unwrap_or(0);
                        let at = share(&mut buffers, buffer);
                        pointers.entry(index).or_insert(at);
                    }
                    Value::Address {
                        buffer: index,
                        offset: 0,
                    }
                }
                (None, None) => Value::Count(0),
                (Some(buffer), _) => {
                    let name = owner.to_owned();
                    Value::Address {
                        buffer: share(&mut buffers, Buffer { name, ..buffer }),
                        offset: 0,
                    }
                }
            };
            registers.insert(Register::General(number), value);
        }
        Self {
            registers,
            flags: None,
            buffers,
            pointers,
            lane_stride,
        }
    }

    /// The kernel's data in vector registers.
    pub fn left(&self) -> impl Iterator<Item = &Data> {
        self.registers
            .iter()
            .filter_map(|(register, value)| match (register, value) {
                (Register::Vector(_), Value::Data(data)) => Some(data),
                _ => None,
            })
    }

    /// The size in bytes of the widest of these.
    #[must_use]
    pub fn widest_left(&self) -> u8 {
        self.left().map(|data| data.bytes).max().unwrap_or(VECTOR)
    }

    /// The registers at the test that ends an iteration, in terms of the next one: blocks and counter are one further.
    #[must_use]
    pub fn in_next_iteration(&self) -> BTreeMap<Register, Value> {
        let mut registers = self.registers.clone();
        for value in registers.values_mut() {
            match value {
                Value::Address { buffer, offset } => {
                    *offset -= self.buffers[*buffer].0.stride.unwrap_or(0);
                }
                Value::Index(more) => *more -= self.lane_stride,
                Value::Count(less) => *less -= 1,
                _ => (),
            }
        }
        registers
    }
}

/// The place of a buffer among all: a new one, unless an argument before has one of this name.
fn share(buffers: &mut Vec<(Buffer, String)>, buffer: Buffer) -> usize {
    let known = buffers.iter().position(|(known, _)| known.name == buffer.name);
    let index = known.unwrap_or(buffers.len());
    match known {
        Some(index) => buffers[index].0.writable |= buffer.writable,
        None => buffers.push((buffer.clone(), buffer.name)),
    }
    index
}

/// The code of a kernel, ready to run.
#[derive(Debug)]
pub struct Code<'a> {
    pub target: &'a Target,
    pub instructions: &'a BTreeMap<u64, Instruction>,
}

/// A run in progress.
struct Run<'a> {
    target: &'a Target,
    machine: Machine,
    definitions: Vec<Definition>,
    defined: BTreeSet<String>,
    uses: BTreeSet<String>,
    /// May blocks be used?
    in_loop: bool,
}

impl Code<'_> {
    /// Runs from `start` until the counter is tested or the kernel returns. Adds the instructions on the way to
    /// `passed`.
    ///
    /// # Errors
    ///
    /// At the first thing that is not allowed.
    pub fn run(
        &self,
        start: u64,
        machine: Machine,
        in_loop: bool,
        passed: &mut BTreeSet<u64>,
    ) -> Result<Segment, Error> {
        let mut run = Run {
            target: self.target,
            machine,
            definitions: Vec::new(),
            defined: BTreeSet::new(),
            uses: BTreeSet::new(),
            in_loop,
        };
        let mut seen = BTreeSet::new();
        let mut at = start;
        loop {
            let instruction = self
                .instructions
                .get(&at)
                .ok_or_else(|| Error::new(at, "the code continues where no instruction begins"))?;
            if !seen.insert(at) {
                return Err(Error::new(at, "a loop without the counter"));
            }
            passed.insert(at);
            let next = at + instruction.len;
            let flow = run
                .execute(instruction, next)
                .map_err(|reason| Error::new(at, reason))?;
            match flow {
                Flow::On(place) => at = place,
                Flow::End(end) => {
                    return Ok(Segment {
                        definitions: run.definitions,
                        machine: run.machine,
                        end,
                        uses: run.uses,
                    });
                }
            }
        }
    }
}

enum Flow {
    On(u64),
    End(End),
}

impl Run<'_> {
    #[allow(clippy::too_many_lines)] // one arm per effect
    fn execute(&mut self, instruction: &Instruction, next: u64) -> Result<Flow, String> {
        let mut flow = Flow::On(next);
        for effect in &instruction.effects {
            match effect {
                Effect::Compute {
                    destination,
                    function,
                    operands,
                    keeps_above,
                } => {
                    let mut expression = (*function).to_owned();
                    for operand in operands {
                        let text = match operand {
                            Operand::Register(view) => self.data(*view)?,
                            Operand::Memory(address, bytes) => {
                                format!("({})", self.load("load", 1, *bytes, *address)?)
                            }
                            Operand::Constant(value, 64) => format!("{value:#018x}"),
                            Operand::Constant(value, _) => value.to_string(),
                        };
                        expression.push(' ');
                        expression.push_str(&text);
                    }
                    let zero_above = !keeps_above || self.is_zero_above(*destination)?;
                    self.define(*destination, expression, zero_above, instruction);
                }
                Effect::Load {
                    destinations,
                    function,
                    address,
                } => {
                    let bytes = destinations[0].bytes;
                    let expression = self.load(function, destinations.len(), bytes, *address)?;
                    match destinations[..] {
                        [destination] => self.define(destination, expression, true, instruction),
                        _ => {
                            for (i, destination) in destinations.iter().enumerate() {
                                self.define(*destination, format!("({expression}).{i}"), true, instruction);
                            }
                        }
                    }
                }
                Effect::Store {
                    sources,
                    function,
                    address,
                } => {
                    self.store(sources, function, *address, instruction)?;
                }
                Effect::StorePart {
                    source,
                    function,
                    part,
                    address,
                } => {
                    let value = format!("({function} {} {part})", self.data(*source)?);
                    self.put(*address, VECTOR, 1, "store", &[value], instruction)?;
                }
                Effect::LoadPointer {
                    register,
                    address,
                    moves,
                } => {
                    let (buffer, at) = self.place(*address, 1, 8)?;
                    let first = self.machine.pointers.get(&buffer);
                    let first = *first.ok_or("an address from memory that holds no pointers")?;
                    if at % 8 != 0 {
                        return Err("parts of two pointers".into());
                    }
                    let lane = usize::try_from(at / 8).map_err(|e| e.to_string())?;
                    let buffer = first + lane;
                    let value = match (moves, self.in_loop) {
                        (false, _) => Value::Start { buffer },
                        (true, false) => Value::Address { buffer, offset: 0 },
                        (true, true) => return Err("the address of the first block, in the loop".into()),
                    };
                    self.machine.registers.insert(*register, value);
                }
                Effect::SetIndex { register } => {
                    self.machine.registers.insert(*register, Value::Index(0));
                }
                Effect::Add { register, constant } => match self.machine.registers.get_mut(register) {
                    Some(Value::Address { offset, .. } | Value::Index(offset)) => *offset += constant,
                    Some(Value::Count(less)) => *less -= constant,
                    _ => return Err("arithmetic on neither an address nor the counter".into()),
                },
                Effect::Compare { register } => {
                    self.machine.flags = self.machine.registers.get(register).cloned();
                }
                Effect::ClobberFlags => self.machine.flags = None,
                Effect::Jump { target } => flow = Flow::On(*target),
                Effect::Branch {
                    target,
                    if_zero,
                    register,
                } => {
                    let tested = match register {
                        Some(register) => self.machine.registers.get(register),
                        None => self.machine.flags.as_ref(),
                    };
                    // The entry has not counted yet; an iteration has counted once.
                    if tested != Some(&Value::Count(i64::from(self.in_loop))) {
                        return Err("a branch on something other than the counter".into());
                    }
                    let (exit, body) = if *if_zero {
                        (*target, next)
                    } else {
                        (next, *target)
                    };
                    flow = Flow::End(End::Test { body, exit });
                }
                Effect::Return { link } => {
                    self.check_return(*link)?;
                    flow = Flow::End(End::Return);
                }
            }
        }
        Ok(flow)
    }

    /// A register's contents in Cryptol. They must be data.
    fn data(&mut self, view: View) -> Result<String, String> {
        let name = self.target.view_name(view);
        match self.machine.registers.get(&view.register) {
            Some(Value::Data(data)) if view.bytes > data.bytes && !data.zero_above => Err(format!(
                "{name} is read, but only its low {} bytes were written",
                data.bytes
            )),
            Some(Value::Data(data)) => {
                let data = data.clone();
                self.read(&data.definition);
                Ok(data.read_as(view.bytes))
            }
            Some(Value::Caller) => Err(format!("{name} is read before anything is written to it")),
            Some(Value::Unknown) => Err(format!(
                "{name} is read, but differs from one iteration to the next"
            )),
            _ => Err(format!(
                "{name} is used as data, but is an address or the counter"
            )),
        }
    }

    /// Are the register's bytes above the view zero? If not, they must be the caller's.
    fn is_zero_above(&self, view: View) -> Result<bool, String> {
        match self.machine.registers.get(&view.register) {
            Some(Value::Data(data)) if data.bytes <= view.bytes => Ok(data.zero_above),
            Some(Value::Caller) => Ok(false),
            _ => Err(format!(
                "{} is written, but its higher bytes are kept",
                self.target.view_name(view)
            )),
        }
    }

    fn read(&mut self, definition: &str) {
        if !self.defined.contains(definition) {
            self.uses.insert(definition.to_owned());
        }
    }

    fn define(&mut self, view: View, expression: String, zero_above: bool, instruction: &Instruction) {
        let definition = format!("{}_{:03x}", self.target.view_name(view), instruction.offset);
        self.push(&definition, expression, instruction);
        let data = Data {
            definition,
            bytes: view.bytes,
            zero_above,
        };
        self.machine.registers.insert(view.register, Value::Data(data));
    }

    fn push(&mut self, name: &str, expression: String, instruction: &Instruction) {
        self.defined.insert(name.to_owned());
        self.definitions.push(Definition {
            name: name.to_owned(),
            expression,
            comment: format!("{:03x}  {}", instruction.offset, instruction.text),
        });
    }

    /// The buffer and offset of `words` words of `bytes` bytes, which must lie inside it.
    #[allow(clippy::match_same_arms)] // an address, and a start with an index
    fn place(&self, address: Address, words: usize, bytes: u8) -> Result<(usize, i64), String> {
        let name = self.target.register_name(address.base);
        let value = |register: Register| self.machine.registers.get(&register);
        let (buffer, offset) = match (value(address.base), address.index.map(value)) {
            (Some(Value::Address { buffer, offset }), None) => (buffer, offset),
            (Some(Value::Start { buffer }), Some(Some(Value::Index(offset)))) => (buffer, offset),
            _ => return Err(format!("{name} is used as an address, but is not one")),
        };
        let at = offset + address.offset;
        let end = at + i64::from(bytes) * i64::try_from(words).map_err(|e| e.to_string())?;
        let declared = &self.machine.buffers[*buffer].0;
        if at < 0 || end > declared.len {
            return Err(format!(
                "bytes {at} to {} of {}, which has {}",
                end - 1,
                declared.name,
                declared.len
            ));
        }
        if declared.stride.is_some() && !self.in_loop {
            return Err(format!("a block of {}, outside the loop", declared.name));
        }
        Ok((*buffer, at))
    }

    fn load(&mut self, function: &str, words: usize, bytes: u8, address: Address) -> Result<String, String> {
        let (buffer, at) = self.place(address, words, bytes)?;
        let contents = self.machine.buffers[buffer].1.clone();
        self.read(&contents);
        Ok(format!("{} {contents}", access(function, at, bytes)))
    }

    fn store(
        &mut self,
        sources: &[View],
        function: &str,
        address: Address,
        instruction: &Instruction,
    ) -> Result<(), String> {
        let bytes = sources[0].bytes;
        self.place(address, sources.len(), bytes)?;
        let values = (sources.iter().map(|source| self.data(*source))).collect::<Result<Vec<_>, _>>();
        self.put(address, bytes, sources.len(), function, &values?, instruction)
    }

    /// Writes `words` words with these definitions.
    fn put(
        &mut self,
        address: Address,
        bytes: u8,
        words: usize,
        function: &str,
        values: &[String],
        instruction: &Instruction,
    ) -> Result<(), String> {
        let (buffer, at) = self.place(address, words, bytes)?;
        let declared = &self.machine.buffers[buffer].0;
        if !declared.writable {
            return Err(format!("a store to {}, which is read-only", declared.name));
        }
        let name = format!("{}_{:03x}", declared.name, instruction.offset);
        let mut expression = format!(
            "{} {}",
            access(function, at, bytes),
            self.machine.buffers[buffer].1
        );
        for value in values {
            expression.push(' ');
            expression += value;
        }
        let before = self.machine.buffers[buffer].1.clone();
        self.read(&before);
        self.push(&name, expression, instruction);
        self.machine.buffers[buffer].1 = name;
        Ok(())
    }

    /// The callee-saved registers must be unchanged, and the vector registers known.
    fn check_return(&self, link: Option<Register>) -> Result<(), String> {
        for register in self.target.callee_saved.iter().copied().chain(link) {
            if self.machine.registers.get(&register) != Some(&Value::Caller) {
                return Err(format!(
                    "{} is not as the caller left it",
                    self.target.register_name(register)
                ));
            }
        }
        let widest = self.machine.widest_left();
        for (register, value) in &self.machine.registers {
            let why = match (register, value) {
                // No result includes it, so no theorem could say that it is wiped.
                (Register::Vector(_), Value::Unknown) => "is as an iteration left it",
                (Register::Vector(_), Value::Data(data)) if data.bytes < widest && !data.zero_above => {
                    "is left with only its low bytes written, beside wider ones"
                }
                _ => continue,
            };
            return Err(format!("{} {why}", self.target.register_name(*register)));
        }
        Ok(())
    }
}

/// A load or store of words of `bytes` bytes, at an offset in a buffer.
fn access(function: &str, at: i64, bytes: u8) -> String {
    match bytes {
        VECTOR => format!("{function}`{{{at}}}"),
        _ => format!("{function}_wide`{{{at}, {bytes}}}"),
    }
}
