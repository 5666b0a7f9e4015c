//! Thirty prompts a task, from templates and lists of words.

/// Number of prompts of a task.
pub const COUNT: usize = 30;

const NAMES: [&str; 10] = [
    "Alice Novak",
    "Ben Okafor",
    "Chiara Rossi",
    "David Kim",
    "Elena Petrova",
    "Farid Haddad",
    "Greta Lindqvist",
    "Hugo Martin",
    "Ines Costa",
    "Jonas Weber",
];
const TRADES: [&str; 6] = ["baker", "nurse", "pilot", "teacher", "carpenter", "chemist"];
const CITIES: [&str; 7] = ["Lisbon", "Oslo", "Nairobi", "Kyoto", "Prague", "Toronto", "Lima"];
const CLASSES: [&str; 5] = ["wizard", "ranger", "thief", "paladin", "bard"];
const PLACES: [&str; 6] =
    ["a frozen harbour", "an old mine", "the desert court", "a library", "the marsh", "a sky ship"];
const TABLES: [(&str, &str, &str); 6] = [
    ("employees", "name, salary, department", "salary"),
    ("orders", "id, customer, total", "total"),
    ("books", "title, author, year", "year"),
    ("cities", "name, country, population", "population"),
    ("songs", "title, artist, seconds", "seconds"),
    ("players", "name, team, goals", "goals"),
];
const QUESTIONS: [&str; 5] = [
    "List all rows with {column} above 100.",
    "How many rows are there?",
    "What is the average {column}?",
    "Show the five rows with the highest {column}.",
    "Delete the rows whose {column} is zero.",
];
const FUNCTIONS: [&str; 10] = [
    "returns the sum of a list of numbers",
    "checks whether a number is prime",
    "reverses a string",
    "returns the n-th Fibonacci number",
    "counts the vowels of a text",
    "merges two sorted lists",
    "returns the largest element of a list",
    "removes duplicates from a list",
    "converts Celsius to Fahrenheit",
    "checks whether a text is a palindrome",
];
const STYLES: [&str; 3] =
    ["Keep it short.", "Add a type annotation to each parameter.", "Handle empty input."];

/// A person whom a prompt describes.
pub struct Person {
    /// The name.
    pub name: &'static str,
    /// The age in years.
    pub age: usize,
    /// The trade.
    pub job: &'static str,
    /// The city.
    pub city: &'static str,
}

/// Returns person `index`.
pub fn person(index: usize) -> Person {
    Person {
        name: NAMES[index % NAMES.len()],
        age: 21 + index * 7 % 50,
        job: TRADES[index % TRADES.len()],
        city: CITIES[index % CITIES.len()],
    }
}

/// Wraps a question in the model's template, up to the start of the answer.
pub fn chat(question: &str) -> String {
    format!(
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face\
         <|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    )
}

/// Asks for a person as JSON, with an example or without one.
pub fn person_as_json(index: usize, example: bool) -> String {
    let Person { name, age, job, city } = person(index);
    let example = if example {
        "Example: Maria Silva is a 40 year old cook who lives in Rome.\n\
         {\"name\": \"Maria Silva\", \"age\": 40, \"job\": \"cook\", \"city\": \"Rome\"}\n\n"
    } else {
        ""
    };
    chat(&format!(
        "Write the facts as a JSON object with the keys name, age, job and city.\n\n{example}\
         {name} is a {age} year old {job} who lives in {city}."
    ))
}

/// Asks for a character of a game.
pub fn character(index: usize) -> String {
    let (class, place) = (CLASSES[index % CLASSES.len()], PLACES[index % PLACES.len()]);
    chat(&format!(
        "Create a character for a role-playing game: a {class} from {place}. Answer with a JSON \
         object with the keys name, class, level, armor and weapons."
    ))
}

/// Begins a JSON file, without a schema, as DOMINO's prompts do.
pub fn any_json(index: usize) -> String {
    let Person { name, job, .. } = person(index);
    let begin = [
        format!("A JSON file describing {name}, who is a {job}:"),
        format!("A JSON file of {name} with friends:"),
        format!("The settings of {name}'s editor in JSON:"),
    ];
    format!("{}\n", begin[index % 3])
}

/// Begins an XML file.
pub fn xml(index: usize) -> String {
    let Person { name, job, .. } = person(index);
    format!("An XML file describing {name}, who is a {job}:\n")
}

/// Begins a program in C.
pub fn c_program(index: usize) -> String {
    let task = FUNCTIONS[index % FUNCTIONS.len()];
    let style = ["int", "long", "double"][index / FUNCTIONS.len()];
    format!("A C function of type {style} that {task}:\n```c\n")
}

/// Asks for the steps and the answer of a sum in words, as JSON. The prompt is a list of questions
/// and answers, of which the last is open.
pub fn steps(index: usize) -> String {
    let mut prompt = String::new();
    for (question, answer) in SOLVED {
        prompt += &format!("Q: {question}\nA: {answer}\n\n");
    }
    prompt + &format!("Q: {}\nA:", sum_in_words(index).0)
}

/// Asks for the same in the model's template, with an empty object as the only example.
pub fn steps_without_examples(index: usize) -> String {
    chat(&format!(
        "{} Answer with a JSON object that has a list \"thoughts\" of objects with \"step\", \
         \"calculation\" and \"result\", and a number \"answer\".",
        sum_in_words(index).0
    ))
}

/// Questions with answers in the form that is asked for.
const SOLVED: [(&str, &str); 3] = [
    (
        "Mia has 3 apples and buys 5 more. Then Mia gives 2 away. How many apples does Mia have?",
        "{\"thoughts\": [{\"step\": \"Add the apples that Mia buys\", \"calculation\": \"3 + 5\", \
         \"result\": 8}, {\"step\": \"Take away the apples that Mia gives away\", \
         \"calculation\": \"8 - 2\", \"result\": 6}], \"answer\": 6}",
    ),
    (
        "A box holds 4 pens. Leo buys 3 boxes and loses 2 pens. How many pens are left?",
        "{\"thoughts\": [{\"step\": \"Multiply pens and boxes\", \"calculation\": \"4 * 3\", \
         \"result\": 12}, {\"step\": \"Take away the lost pens\", \"calculation\": \"12 - 2\", \
         \"result\": 10}], \"answer\": 10}",
    ),
    (
        "Eva runs 2 km on Monday and 6 km on Tuesday. How many km does Eva run?",
        "{\"thoughts\": [{\"step\": \"Add both days\", \"calculation\": \"2 + 6\", \"result\": 8}], \
         \"answer\": 8}",
    ),
];

/// A question about small numbers, and its answer.
pub fn sum_in_words(index: usize) -> (String, i64) {
    const THINGS: [&str; 5] = ["books", "coins", "eggs", "cards", "stamps"];
    let name = NAMES[index % NAMES.len()].split(' ').next().unwrap_or_default();
    let things = THINGS[index / 2 % THINGS.len()];
    let (a, b, c) = ((index * 3 % 7 + 4) as i64, (index % 5 + 2) as i64, (index % 3 + 1) as i64);
    match index % 4 {
        0 => (
            format!(
                "{name} has {a} {things} and buys {b} more. Then {name} gives {c} away. How many \
                 {things} does {name} have?"
            ),
            a + b - c,
        ),
        1 => (
            format!(
                "A box holds {a} {things}. {name} buys {b} boxes and loses {c} {things}. How many \
                 {things} are left?"
            ),
            a * b - c,
        ),
        2 => (
            format!(
                "{name} runs {a} km on Monday, {b} km on Tuesday and {c} km on Friday. How many km \
                 does {name} run?"
            ),
            a + b + c,
        ),
        _ => (
            format!(
                "{name} earns {a} dollars a day for {b} days. How many dollars does {name} earn?"
            ),
            a * b,
        ),
    }
}

/// Asks a question about a table in SQL. The answer's fence is open if `fenced`.
pub fn query(index: usize, fenced: bool) -> String {
    let (table, columns, column) = TABLES[index % TABLES.len()];
    let question = QUESTIONS[index / TABLES.len()].replace("{column}", column);
    let fence = if fenced { "```sql\n" } else { "" };
    chat(&format!("The table {table} has the columns {columns}. {question} Answer in SQL only."))
        + fence
}

/// Asks for a function in Python. The answer's fence is open if `fenced`.
pub fn function(index: usize, fenced: bool) -> String {
    let (task, style) = (FUNCTIONS[index % FUNCTIONS.len()], STYLES[index / FUNCTIONS.len()]);
    let fence = if fenced { "```python\n" } else { "" };
    chat(&format!("Write a Python function that {task}. {style} Answer with code only.")) + fence
}

/// The tools of [`tool`]: their names and the schemas of their arguments.
pub const TOOLS: [(&str, &str); 2] = [
    (
        "get_weather",
        r#"{"type": "object", "properties": {"city": {"type": "string", "maxLength": 40}}, "required": ["city"], "additionalProperties": false}"#,
    ),
    (
        "add",
        r#"{"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"], "additionalProperties": false}"#,
    ),
];

/// Asks a question that the first tool answers (even index) or the second (odd).
pub fn tool(index: usize) -> String {
    let city = CITIES[index % CITIES.len()];
    let question = if index % 2 == 0 {
        format!("What is the weather in {city}?")
    } else {
        format!("What is {} plus {}?", 13 + index * 37 % 90, 5 + index * 11 % 60)
    };
    let tools = TOOLS.map(|(name, arguments)| {
        format!("{{\"name\": \"{name}\", \"parameters\": {arguments}}}\n")
    });
    chat(&format!(
        "You may call one or more functions. They are given in <tools> and </tools>:\n<tools>\n\
         {}</tools>\nFor each call write a JSON object with the name and the arguments in \
         <tool_call> and </tool_call>.\n\n{question}",
        tools.concat()
    ))
}

/// A text that is cut inside a token, and its next word or words.
pub const CUT: [(&str, &str); COUNT] = [
    ("The capital of France is Par", "is"),
    ("Once upon a ti", "me"),
    ("Please visit our website at http:", "//"),
    ("The quick brown fox jumps over the la", "zy"),
    ("def main():\n    retu", "rn"),
    ("import numpy as n", "p"),
    ("for i in ran", "ge"),
    ("She looked out of the win", "dow"),
    ("The Pacific is the largest oce", "an"),
    ("{\"first_name\": \"Ann\", \"last_na", "me"),
    ("Monday, Tuesday, Wednes", "day"),
    ("Water boils at one hundred degr", "ees"),
    ("The opposite of hot is co", "ld"),
    ("SELECT name FROM users WHE", "RE"),
    ("Thank you very mu", "ch"),
    ("The president of the United Sta", "tes"),
    ("print(\"Hello, wor", "ld"),
    ("Two plus two equals fo", "ur"),
    ("The Earth goes around the su", "n"),
    ("Ladies and gentle", "men"),
    ("He opened the door and walked into the ro", "om"),
    ("A triangle has three si", "des"),
    ("The chemical symbol for water is H", "2"),
    ("In the summer the weather is very ho", "t"),
    ("if __name__ == \"__ma", "in"),
    ("January, February, Mar", "ch"),
    ("The teacher asked the stud", "ents"),
    ("Bread, milk and but", "ter"),
    ("To be, or not to ", "be"),
    ("Apples and oranges are both fru", "it"),
];
