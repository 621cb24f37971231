// Reads the console commands of a document or of one of its sections, each with the output shown below it.

export interface WalkCommand {
  readonly text: string
  /** The output that the document shows for the command. */
  readonly shown: readonly string[]
}

const CONSOLE = /^```console\n([\s\S]*?)^```$/gm
/** `$ ` for a user, `# ` for root, or `NAME# ` for root on a machine of that name. */
const PROMPT = /^(?:\$|[a-z0-9-]*#) /

/** Returns the commands of one section of the document in order. */
export function readWalk(document: string, heading: string): WalkCommand[] {
  const begin = document.indexOf(`\n## ${heading}\n`)
  if (begin === -1) throw new Error(`there is no section "${heading}"`)
  const end = document.indexOf('\n## ', begin + 1)
  return readCommands(document.slice(begin, end === -1 ? undefined : end))
}

/** Returns all commands of a text in order. */
export const readCommands = (text: string): WalkCommand[] =>
  [...text.matchAll(CONSOLE)].flatMap(([, block = '']) => readBlock(block))

function readBlock(block: string): WalkCommand[] {
  const commands: { text: string; shown: string[] }[] = []
  for (const line of block.trimEnd().split('\n')) {
    const last = commands.at(-1)
    if (last !== undefined && !isComplete(last.text)) last.text += `\n${line}`
    else if (PROMPT.test(line)) commands.push({ text: line.replace(PROMPT, ''), shown: [] })
    else if (last === undefined) throw new Error(`a console block begins without a command: ${line}`)
    else last.shown.push(line)
  }
  return commands
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
