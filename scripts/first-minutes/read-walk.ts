// Reads the console commands of a document or of one of its sections, each with the output shown below it.

export interface WalkCommand {
  readonly text: string
  /** The machine in the prompt; absent for `$ ` and `# `. */
  readonly machine?: string
  /** Whether it runs while the last command of another block still runs; such a block begins with ```console alongside. */
  readonly alongside?: true
  /** The output that the document shows for the command. */
  readonly shown: readonly string[]
}

const CONSOLE = /^```console( alongside)?\n([\s\S]*?)^```$/gm
const NAMED_FILE = /^```yaml\n# ([a-z-]+\.yaml)\n([\s\S]*?)^```$/gm
/** `$ ` for a user, `# ` for root, or `NAME# ` for root on a machine of that name. */
const PROMPT = /^(?:\$|([a-z0-9-]*)#) /

/** Returns the commands of one section of the document in order. */
export const readWalk = (document: string, heading: string): WalkCommand[] =>
  readCommands(readSection(document, heading))

export function readSection(document: string, heading: string): string {
  const begin = document.indexOf(`\n## ${heading}\n`)
  if (begin === -1) throw new Error(`there is no section "${heading}"`)
  const end = document.indexOf('\n## ', begin + 1)
  return document.slice(begin, end === -1 ? undefined : end)
}

/** Returns the files that a text shows: blocks whose first line is a comment with the name of the file. */
export const readFiles = (text: string): { readonly name: string; readonly content: string }[] =>
  [...text.matchAll(NAMED_FILE)].map(([, name = '', content = '']) => ({ name, content }))

/** Returns all commands of a text in order. */
export const readCommands = (text: string): WalkCommand[] =>
  [...text.matchAll(CONSOLE)].flatMap(([, alongside, block = '']) =>
    readBlock(block).map((command) => (alongside === undefined ? command : { ...command, alongside: true })),
  )

function readBlock(block: string): WalkCommand[] {
  const commands: { text: string; machine?: string; shown: string[] }[] = []
  for (const line of block.trimEnd().split('\n')) {
    const last = commands.at(-1)
    if (last !== undefined && !isComplete(last.text)) last.text += `\n${line}`
    else if (PROMPT.test(line))
      commands.push({ text: line.replace(PROMPT, ''), ...machineOf(line), shown: [] })
    else if (last === undefined) throw new Error(`a console block begins without a command: ${line}`)
    else last.shown.push(line)
  }
  return commands
}

function machineOf(line: string): { machine?: string } {
  const [, machine = ''] = PROMPT.exec(line) ?? []
  return machine === '' ? {} : { machine }
}

/** Whether a command is complete: it continues while a quote or a here-document is open, and after a backslash. */
function isComplete(text: string): boolean {
  const [, word] = /<<'?([A-Z]+)'?/.exec(text) ?? []
  if (word !== undefined) return text.endsWith(`\n${word}`)
  return !text.endsWith('\\') && !hasOpenQuote(text)
}

function hasOpenQuote(text: string): boolean {
  let open = ''
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === '\\' && open !== "'") at += 1
    else if (open === '' && (char === '"' || char === "'")) open = char
    else if (char === open) open = ''
  }
  return open !== ''
}
