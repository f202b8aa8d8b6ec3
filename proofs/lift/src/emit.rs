//! Writes a kernel as a Cryptol module.

use crate::machine::{Code, Data, Effect, End, Machine, Operand, Register, Segment, VECTOR, Value};
use crate::table::{Buffer, Kernel, Level};
use crate::{Error, Lifted, sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Lifts the kernel of a level.
///
/// # Errors
///
/// At the first thing that is not allowed, with its offset.
pub fn lift(kernel: &Kernel, level: &Level, code: &[u8]) -> Result<Lifted, Error> {
    let target = level.target;
    let instructions = (target.decode)(code)?;
    let needs = kernel.levels.get(&level.name);
    for instruction in instructions.values() {
        let lacks = |feature: &&String| !needs.is_some_and(|needs| needs.features.contains(feature));
        if let Some(feature) = instruction.features.iter().find(lacks) {
            let reason = format!(
                "its level does not have the feature {feature}: {}",
                instruction.text
            );
            return Err(Error::new(instruction.offset, reason));
        }
    }
    let mut passed = BTreeSet::new();
    let code_at = Code {
        target,
        instructions: &instructions,
    };
    let in_memory = needs.is_some_and(|needs| needs.state_in_memory)
        || kernel
            .arguments
            .iter()
            .any(|argument| argument.pointers().is_some());
    let entry = code_at.run(0, Machine::at_call(kernel, target, false), false, &mut passed)?;
    let functions = match entry.end {
        End::Return => {
            let mut text = straight(&entry, "run");
            if kernel.in_place() {
                let again = code_at.run(0, Machine::at_call(kernel, target, true), false, &mut passed)?;
                text += &straight(&again, "run_in_place");
            }
            text
        }
        End::Test { body, exit } => {
            let cut = Loop::cut(&code_at, entry, (body, exit), &mut passed, in_memory)?;
            let mut text = cut.live_type() + &cut.entry() + &cut.step("step") + &cut.exit();
            if kernel.in_place() {
                let entry = code_at.run(0, Machine::at_call(kernel, target, true), false, &mut passed)?;
                let again = Loop::cut(&code_at, entry, (body, exit), &mut passed, in_memory)?;
                if (again.entry(), again.exit()) != (cut.entry(), cut.exit()) {
                    return Err(Error::new(
                        0,
                        "in place, the code before or after the loop differs",
                    ));
                }
                text += &again.step("step_in_place");
            }
            text
        }
    };
    if let Some(&offset) = instructions.keys().find(|offset| !passed.contains(offset)) {
        return Err(Error::new(offset, "an instruction that no call executes"));
    }
    let mut module = String::new();
    let _ = write!(
        module,
        "/*\n * veriplex_{name} for {level}, from its machine code: written by `veriplex-lift`, not to be edited.\n *\n \
         * bytes   {len}\n * sha256  {hash}\n */\nmodule {module} where\n\nimport {isa}\nimport isa::Memory\n{functions}",
        name = level.symbol(kernel),
        level = level.name,
        len = code.len(),
        hash = sha256(code),
        module = kernel.name,
        isa = target.module,
    );
    Ok(Lifted {
        name: kernel.name.clone(),
        level: level.name.clone(),
        bytes: code.len(),
        instructions: instructions.len(),
        constants: instructions
            .values()
            .flat_map(|instruction| &instruction.effects)
            .filter_map(constants)
            .collect(),
        module,
    })
}

/// The operation of an effect and its constants, if it has any.
fn constants(effect: &Effect) -> Option<(&'static str, Vec<u64>)> {
    let (function, constants) = match effect {
        Effect::Compute {
            function, operands, ..
        } => {
            let constant = |operand: &Operand| match operand {
                Operand::Constant(value, _) => Some(*value),
                _ => None,
            };
            (*function, operands.iter().filter_map(constant).collect())
        }
        Effect::StorePart { function, part, .. } => (*function, vec![*part]),
        Effect::Add { constant, .. } => {
            let function = if *constant < 0 { "sub" } else { "add" };
            (function, vec![constant.unsigned_abs()])
        }
        _ => return None,
    };
    (!constants.is_empty()).then_some((function, constants))
}

/// A kernel with a loop, cut at the test of its counter.
struct Loop {
    entry: Segment,
    step: Segment,
    exit: Segment,
    /// The registers that carry data from one test to the next, as they are at the test.
    live: Vec<(Register, Data)>,
}

impl Loop {
    fn cut(
        code: &Code<'_>,
        entry: Segment,
        (body, exit): (u64, u64),
        passed: &mut BTreeSet<u64>,
        in_memory: bool,
    ) -> Result<Self, Error> {
        // What every iteration finds in the registers. Where iterations differ, it is unknown and must not be used.
        let mut head = entry.machine.clone();
        for (register, value) in &mut head.registers {
            if let Value::Data(data) = value {
                data.definition = code.target.view_name(data.view(*register));
            }
        }
        let step = loop {
            let step = code.run(body, head.clone(), true, passed)?;
            if step.end != (End::Test { body, exit }) {
                return Err(Error::new(
                    body,
                    "an iteration that does not end at the test of the counter",
                ));
            }
            let next = step.machine.in_next_iteration();
            let mut changed = false;
            for (register, value) in &mut head.registers {
                let found = &next[register];
                let same = match (found, &*value) {
                    (Value::Data(found), Value::Data(value)) => found.has_shape_of(value),
                    _ => found == value,
                };
                if !same && *value != Value::Unknown {
                    *value = Value::Unknown;
                    changed = true;
                }
            }
            if !changed {
                break step;
            }
        };
        for (segment, place) in [(&entry, 0), (&step, body)] {
            let written =
                |(buffer, contents): &(Buffer, String)| buffer.stride.is_none() && *contents != buffer.name;
            // In a kernel for lanes, or with its state in memory, an iteration may: then it returns what it leaves there.
            if !(in_memory && place == body) && segment.machine.buffers.iter().any(written) {
                return Err(Error::new(
                    place,
                    "a buffer without blocks is written before the loop ends",
                ));
            }
        }
        let mut after = head.clone();
        for (buffer, contents) in &mut after.buffers {
            buffer.name.clone_into(contents);
        }
        let exit_offset = exit;
        let exit = code.run(exit, after, false, passed)?;
        if exit.end != End::Return {
            return Err(Error::new(body, "a second loop"));
        }
        let (live, dead): (Vec<_>, Vec<_>) = head
            .registers
            .into_iter()
            .filter_map(|(register, value)| match value {
                Value::Data(data) => Some((register, data)),
                _ => None,
            })
            .partition(|(_, data)| {
                step.uses.contains(&data.definition) || exit.uses.contains(&data.definition)
            });
        // What the exit leaves in vector registers is a part of its result, and these are no argument of it.
        for (register, data) in &dead {
            if matches!(register, Register::Vector(_))
                && exit.machine.registers.get(register) == Some(&Value::Data(data.clone()))
            {
                return Err(Error::new(
                    exit_offset,
                    format!(
                        "{} is as an iteration left it",
                        code.target.register_name(*register)
                    ),
                ));
            }
        }
        Ok(Self {
            entry,
            step,
            exit,
            live,
        })
    }

    /// The live registers, which are the last argument of `step` and `exit`.
    fn head(&self) -> String {
        let names: Vec<String> = self
            .live
            .iter()
            .map(|(_, data)| data.definition.clone())
            .collect();
        wrapped("(", &names, ")")
    }

    /// The live registers as they are at the end of a segment.
    fn tuple(&self, segment: &Segment) -> String {
        let values = self
            .live
            .iter()
            .map(|(register, _)| match &segment.machine.registers[register] {
                Value::Data(data) => data.definition.clone(),
                other => unreachable!("a live register holds data, not {other:?}"),
            });
        wrapped("(", &values.collect::<Vec<_>>(), ")")
    }

    fn live_type(&self) -> String {
        let types: Vec<String> = self.live.iter().map(|(_, data)| type_of(data.bytes)).collect();
        format!(
            "\n/** The registers that carry data from one test of the counter to the next. */\ntype Live = {}\n",
            wrapped("(", &types, ")")
        )
    }

    fn entry(&self) -> String {
        let result = ("Live".to_owned(), self.tuple(&self.entry));
        function(
            "From the call to the first test of the counter.",
            "entry",
            &self.entry,
            false,
            None,
            result,
        )
    }

    fn step(&self, name: &str) -> String {
        let (mut result_type, mut result) = ("Live".to_owned(), self.tuple(&self.step));
        for (buffer, contents) in self
            .step
            .machine
            .buffers
            .iter()
            .filter(|(b, contents)| b.writable && (b.stride.is_some() || *contents != b.name))
        {
            result_type = format!("({result_type}, [{}][8])", buffer.len);
            result = format!("({result}, {contents})");
        }
        let what = "An iteration, from one test of the counter to the next, on the current block.";
        function(
            what,
            name,
            &self.step,
            true,
            Some(self.head()),
            (result_type, result),
        )
    }

    fn exit(&self) -> String {
        let what = "From the last test of the counter to the return: the state, and what remains in vector registers.";
        function(
            what,
            "exit",
            &self.exit,
            false,
            Some(self.head()),
            returned(&self.exit),
        )
    }
}

/// A kernel without a loop.
fn straight(segment: &Segment, name: &str) -> String {
    let what = "From the call to the return: the state, and what remains in vector registers.";
    function(what, name, segment, false, None, returned(segment))
}

/// A function of the module. Its arguments are the buffers that the segment may use (the fixed ones, and within the
/// loop a block of each of the others) and the live registers.
fn function(
    what: &str,
    name: &str,
    segment: &Segment,
    in_loop: bool,
    live: Option<String>,
    (result_type, result): (String, String),
) -> String {
    let given = || {
        segment
            .machine
            .buffers
            .iter()
            .map(|(buffer, _)| buffer)
            .filter(|b| in_loop || b.stride.is_none())
    };
    let mut types: Vec<String> = given().map(|buffer| format!("[{}][8]", buffer.len)).collect();
    let mut names: Vec<String> = given().map(|buffer| buffer.name.clone()).collect();
    if let Some(head) = live {
        types.push("Live".to_owned());
        names.push(head);
    }
    let mut text = format!(
        "\n/** {what} */\n{name} : {} -> {result_type}\n{name} {} =\n  {result}\n",
        types.join(" -> "),
        names.join(" ")
    );
    if !segment.definitions.is_empty() {
        text.push_str("  where\n");
    }
    for definition in &segment.definitions {
        let line = format!("    {} = {}", definition.name, definition.expression);
        let _ = writeln!(text, "{line:<60} // {}", definition.comment);
    }
    text
}

/// The type and the value of what a return leaves in buffers and vector registers.
fn returned(segment: &Segment) -> (String, String) {
    let mut types = Vec::new();
    let mut values = Vec::new();
    for (buffer, contents) in segment
        .machine
        .buffers
        .iter()
        .filter(|(b, _)| b.writable && b.stride.is_none())
    {
        types.push(format!("[{}][8]", buffer.len));
        values.push(contents.clone());
    }
    let widest = segment.machine.widest_left();
    let left: Vec<String> = segment.machine.left().map(|data| data.read_as(widest)).collect();
    types.push(format!("[{}]{}", left.len(), type_of(widest)));
    values.push(wrapped("[", &left, "]"));
    (
        format!("({})", types.join(", ")),
        format!("({})", values.join(", ")),
    )
}

/// A list, eight to a line.
fn wrapped(open: &str, items: &[String], close: &str) -> String {
    let lines: Vec<String> = items.chunks(8).map(|chunk| chunk.join(", ")).collect();
    format!("{open}{}{close}", lines.join(",\n      "))
}

fn type_of(bytes: u8) -> String {
    match bytes {
        VECTOR => "Vector".to_owned(),
        _ => format!("[{}]", 8 * u32::from(bytes)),
    }
}
