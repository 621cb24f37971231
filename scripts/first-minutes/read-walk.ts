// Reads the console commands of a document or of one of its sections, each with the output shown below it.

export interface WalkCommand {
  readonly text: string
  /** The output that the document shows for the command. */
  readonly shown: readonly string[]
}

const CONSOLE = /^```console\n([\s\S]*?)^```$/gm

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
  return block
    .split(/^\$ /m)
    .filter((each) => each !== '')
    .map((each) => {
      const lines = each.trimEnd().split('\n')
      const ends = lines.findIndex((_, at) => isComplete(lines.slice(0, at + 1).join('\n')))
      return { text: lines.slice(0, ends + 1).join('\n'), shown: lines.slice(ends + 1) }
    })
}

/** Whether a command is complete: it continues on the next line while a quote is open. */
const isComplete = (text: string): boolean => text.split("'").length % 2 === 1
